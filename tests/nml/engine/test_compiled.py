import math
from itertools import product

import numpy as np
import pytest

from memdlib.nml._engine import compiled
from memdlib.nml._engine.enumeration import enumerated_complexity, interior_counts
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.separation import on_boundary
from memdlib.nml._engine.statistic_table import statistic_lattice, tabulated_complexity

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
            assert compiled.available() == fast
            found.append([enumerated_complexity(model)])
            if lattice is not None:
                found[-1].append(tabulated_complexity(model, lattice))
        assert found[1] == pytest.approx(found[0], abs=1e-12)
        assert found[0] == pytest.approx([found[0][0]] * len(found[0]), abs=1e-12)


@pytest.mark.parametrize("fast", [False, True])
def test_the_largest_level_changes_fastest(choose, fast):
    choose(fast)
    model = level_model(np.array([2, 5, 3]), np.arange(1.0, 4.0), 2, False)
    ones = interior_counts(model, (3, 6, 4), 0, 36)[0]
    place = np.array([24.0, 1.0, 6.0]) @ ones
    assert (np.diff(place) > 0).all()


@pytest.mark.parametrize("counts", [(2, 4, 2), (3, 4, 2), (1, 1, 1), (2, 2, 2)])
@pytest.mark.parametrize("fast", [False, True])
def test_every_interior_vector_and_half_of_its_own_mirror(choose, counts, fast):
    """Label counts in all, of which each or its mirror image is in the first half."""
    choose(fast)
    model = level_model(np.array(counts), np.arange(1.0, 4.0), 1, False)
    expected = {}
    for k in product(*(range(n + 1) for n in counts)):
        if not on_boundary(model, np.array(k, float)[:, None])[0]:
            expected[k] = math.prod(map(math.comb, counts, k))
    sizes = tuple(n + 1 for n in counts)
    half = (math.prod(sizes) + 1) // 2
    parts = [
        interior_counts(model, sizes, first, min(first + 5, half))
        for first in range(0, half, 5)
    ]
    found = {}
    for ones, log_weight in parts:
        for k, weight in zip(ones.T.astype(int).tolist(), log_weight, strict=True):
            mirror = tuple(n - j for n, j in zip(counts, k, strict=True))
            for key in (tuple(k), mirror):
                found[key] = found.get(key, 0.0) + math.exp(weight)
    assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("fast", [False, True])
def test_counts_that_mirror_themselves(choose, fast):
    """Even counts, an odd product of sizes: the literal sum over label sequences."""
    choose(fast)
    counts, x = (2, 2), np.array([1.0, 2.0])
    b = np.linspace(-12.0, 12.0, 24001)
    log_p = -np.logaddexp(0.0, -np.outer(x, b))
    log_q = -np.logaddexp(0.0, np.outer(x, b))
    total = 0.0
    for k in product(range(3), repeat=2):
        k, n = np.array(k), np.array(counts)
        likelihood = np.exp((k @ log_p + (n - k) @ log_q).max())
        total += math.prod(map(math.comb, counts, k.tolist())) * likelihood
    model = level_model(np.array(counts), x, 1, False)
    assert enumerated_complexity(model) == pytest.approx(math.log(total), abs=1e-5)
    table = tabulated_complexity(model, statistic_lattice(model))
    assert table == pytest.approx(math.log(total), abs=1e-5)


def test_tables_grow_by_a_level():
    tables, ends = np.zeros(9), np.array([1, 3, 9])
    tables[0] = 1.0
    binomials = np.array([[1.0, 3.0, 0.0], [1.0, 2.0, 1.0]])
    compiled.fill_tables(tables, ends, binomials, np.array([1, 2]), np.array([1, 3]))
    assert tables[1:3].tolist() == [1.0, 3.0]
    assert tables[3:].tolist() == [1.0, 3.0, 0.0, 2.0, 6.0, 0.0]


def test_the_likeliest_counts_of_the_levels():
    tables, ends = np.array([1.0, 1.0, 9.0, 1.0, 0.0]), np.array([1, 5])
    binomials = np.array([[1.0, 9.0, 1.0], [1.0, 2.0, 1.0]])
    counts, shifts = np.array([2, 2]), np.array([1, 1])
    # of the sums j + k, weighted by the products of their binomials
    found = compiled.likeliest(np.arange(5), tables, ends, binomials, counts, shifts)
    assert found.tolist() == [[0, 1, 1, 1, 2], [0, 0, 1, 2, 2]]


def test_numpy_is_chosen_without_numba(choose):
    choose(False)
    assert not compiled.available()

    def function():
        """Stay as it is."""

    assert compiled.compile_if_possible(function) is function
