import math

import numpy as np
import pytest

from memdlib.nml._engine import compiled, compiled_maxima
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.logit_fit import LogitSolver
from memdlib.nml._engine.separation import on_boundary

# Without numba the kernels run in Python, on fewer cases.
COMPILED = compiled.numba is not None
# The largest logits reach 60 to 90.
HARD = [
    ([9, 9, 14, 5, 1], 3),
    ([4, 12, 13, 4, 5], 4),
    ([9, 13, 12, 3, 1], 4),
    ([10, 15, 9, 3, 1], 4),
]


@pytest.mark.parametrize(("counts", "m"), HARD)
@pytest.mark.parametrize("fast", [False, True])
def test_maxima_have_their_certificates(monkeypatch, counts, m, fast):
    monkeypatch.setattr(compiled, "numba", math if fast else None)
    model = level_model(np.array(counts), np.arange(1.0, 6.0), m, False)
    grid = np.indices(np.array(counts) + 1).reshape(5, -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)][
        :, :: 1 if COMPILED or not fast else 199
    ]
    solver = LogitSolver.of(model)
    fit = solver.fit(inside)
    # Python warns of the lanes that hold no case
    with np.errstate(all="ignore"):
        found = solver.log_likelihood(inside)
    assert np.abs(fit.gap).max() < 1e-12
    assert np.abs(found - fit.log_likelihood).max() < 5e-13


def test_exponentials_and_logarithms():
    with np.errstate(all="ignore"):
        rows = np.zeros((6, compiled_maxima._LANES))
        bits = rows.view(np.int64)
        rows[0] = np.linspace(-99.0, 99.0, compiled_maxima._LANES)
        compiled_maxima._exponentials(rows, bits, 1, 0, 2)
        assert rows[1] == pytest.approx(np.exp(rows[0]), rel=5e-16)
        rows[3] = 1.0 + rows[1]
        compiled_maxima._subtract_logs(rows, bits, 4, -2.0, 3, 5, 2)
        assert rows[4] == pytest.approx(2.0 * np.log(rows[3]), rel=5e-16)
