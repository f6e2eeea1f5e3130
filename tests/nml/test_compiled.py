import math

import numpy as np
import pytest

from memdlib.nml import compiled
from memdlib.nml.exact import enumerated_complexity
from memdlib.nml.level_model import level_model
from memdlib.nml.logit_fit import LogitSolver
from memdlib.nml.separation import on_boundary
from memdlib.nml.statistic_table import statistic_lattice, tabulated_complexity

CODINGS = [
    (np.arange(1.0, 6.0), False),
    (np.arange(1.0, 6.0), True),
    (np.arange(-2.0, 3.0), False),
    (np.array([-1.0, 0.5, 3.0, 4.0, 11.0]), False),
    (np.array([0.1, 0.7, 2.0, 9.0, 31.0]), True),
]
# Without numba the same functions run in Python, on fewer and smaller cases.
COMPILED = compiled.numba is not None
MOST = 9 if COMPILED else 2


@pytest.fixture
def choose(monkeypatch):
    """Decide by hand between the kernels and NumPy."""

    def decide(fast):
        monkeypatch.setattr(compiled, "numba", math if fast else None)

    # Python warns of the lanes that hold no case
    with np.errstate(all="ignore"):
        yield decide


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_both_ways_agree(choose, values, intercept, m):
    rng = np.random.default_rng([5, 6, m])
    for _ in range(4 if COMPILED else 1):
        counts = rng.integers(0 if COMPILED else 1, MOST + 1, size=5)
        counts[rng.integers(5)] += 1
        model = level_model(counts, values, m, intercept)
        lattice = statistic_lattice(model)
        found = []
        for fast in (False, True):
            choose(fast)
            assert (compiled.kernels() is not None) == fast
            found.append([enumerated_complexity(model)])
            if lattice is not None:
                found[-1].append(tabulated_complexity(model, lattice))
        assert found[1] == pytest.approx(found[0], abs=1e-12)
        assert found[0] == pytest.approx([found[0][0]] * len(found[0]), abs=1e-12)


# The largest logits reach 60 to 90.
HARD = [
    ([9, 9, 14, 5, 1], 3),
    ([4, 12, 13, 4, 5], 4),
    ([9, 13, 12, 3, 1], 4),
    ([10, 15, 9, 3, 1], 4),
]


@pytest.mark.parametrize(("counts", "m"), HARD)
@pytest.mark.parametrize("fast", [False, True])
def test_maxima_have_their_certificates(choose, counts, m, fast):
    choose(fast)
    model = level_model(np.array(counts), np.arange(1.0, 6.0), m, False)
    grid = np.indices(np.array(counts) + 1).reshape(5, -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)][
        :, :: 1 if COMPILED or not fast else 199
    ]
    solver = LogitSolver.of(model)
    fit = solver.fit(inside)
    found = solver.log_likelihood(inside)
    assert np.abs(fit.gap).max() < 1e-12
    assert np.abs(found - fit.log_likelihood).max() < 5e-13


def test_numpy_is_chosen_without_numba(choose):
    choose(False)
    assert compiled.kernels() is None

    def function():
        """Stay as it is."""

    assert compiled._compiled(function) is function


def test_exponentials_and_logarithms():
    with np.errstate(all="ignore"):
        rows = np.zeros((6, compiled._LANES))
        bits = rows.view(np.int64)
        rows[0] = np.linspace(-99.0, 99.0, compiled._LANES)
        compiled._exponentials(rows, bits, 1, 0, 2)
        assert rows[1] == pytest.approx(np.exp(rows[0]), rel=5e-16)
        rows[3] = 1.0 + rows[1]
        compiled._subtract_logs(rows, bits, 4, -2.0, 3, 5, 2)
        assert rows[4] == pytest.approx(2.0 * np.log(rows[3]), rel=5e-16)
