"""Ways to the sum: enumeration, tables, draws, and what is kept of them."""

import math
import statistics
from itertools import product

import numpy as np
import pytest

from memdlib.nml import conditional_complexity, conditional_complexity_estimate, sums
from memdlib.nml.complexity import complexities, solve
from memdlib.nml.draws import draw_complexity
from memdlib.nml.level_model import level_model
from memdlib.nml.sums import exact_complexity

CENTRED = (-1.5, -0.5, 0.5, 1.5)


def enumerated(model):
    """Log complexity by the longest way."""
    return exact_complexity(model, "saturated" if model.saturated else "enumeration")[0]


@pytest.mark.parametrize(
    "values", [(1.0, 2.0, 3.0, 4.0), CENTRED, (4.0, 3.0, 2.0, 1.0), (-3.0, 1.0, 2.0, 6)]
)
def test_what_is_kept_is_never_the_complexity_of_another_model(values):
    """Alike in counts, values or dimension, but for one of them, or the intercept."""
    solve.cache_clear()
    counts = [(2, 3, 1, 4), (4, 1, 3, 2), (3, 2, 1, 4), (2, 3, 4, 1)]
    for row, m, intercept in product(counts, (1, 2, 3), (False, True)):
        model = level_model(np.array(row), np.array(values), m, intercept)
        found = conditional_complexity(row, m, level_values=values, intercept=intercept)
        assert found == pytest.approx(enumerated(model), abs=1e-11)


def test_the_number_of_terms_decides_between_sum_and_draws():
    model = level_model(np.full(4, 33), np.arange(1.0, 5.0), 3, False)
    found = {}
    for most_terms in (34**4 // 2, 34**4 // 2 - 1):
        value, doubt, way = complexities([model], most_terms=most_terms)
        found[str(way[0])] = value[0], doubt[0]
    assert list(found) == ["enumeration", "monte-carlo"]
    (exact, rounding), (drawn, error) = found.values()
    assert abs(drawn - exact) < 5.0 * error
    assert rounding < 1e-11 and 1e-4 < error < 0.01


def test_extended_precision_beyond_the_range_of_doubles(monkeypatch):
    model = level_model(np.array([300, 200]), np.array([1.0, 2.0]), 1, False)
    found = exact_complexity(model, "table")[0]
    monkeypatch.setattr(sums, "_MOST_DOUBLE", 100)
    assert exact_complexity(model, "table")[0] == pytest.approx(found, abs=1e-12)


def test_values_that_no_scale_makes_integers_are_enumerated():
    found = conditional_complexity_estimate(
        [3, 4, 5], 1, level_values=[1.0, math.e, math.pi]
    )
    assert found.method == "enumeration"
    close = conditional_complexity_estimate([3, 4, 5], 1, level_values=[0.1, 0.2, 0.3])
    assert close.method in ("table", "enumeration")
    even = conditional_complexity_estimate([3, 4, 5], 1)
    both = close.uncertainty + even.uncertainty
    assert close.complexity == pytest.approx(even.complexity, rel=0, abs=both)


CASES = [
    ([8, 8, 8, 7, 7], 1, False),
    ([8, 8, 8, 7, 7], 3, False),
    ([8, 8, 8, 7, 7], 4, False),
    ([1, 30, 1, 20, 2], 3, False),
    ([1] * 12, 1, True),
    ([1, 2, 3, 1, 2, 3], 2, True),
]


def model_of(counts, m, intercept=False):
    values = np.sqrt(np.arange(1.0, len(counts) + 1))
    return level_model(np.array(counts), values, m, intercept)


@pytest.mark.parametrize(("counts", "m", "intercept"), CASES)
def test_draws_agree_with_the_exact_sum_within_their_error(counts, m, intercept):
    model = model_of(counts, m, intercept)
    exact = exact_complexity(model, "enumeration")[0]
    found, error = draw_complexity(model, 2**13, 1)
    assert error < 0.02 and abs(found - exact) < 5 * error


def test_the_scatter_over_seeds_is_the_standard_error():
    model = model_of([6, 5, 6, 4], 2)
    exact = exact_complexity(model, "enumeration")[0]
    found = [draw_complexity(model, 2**11, seed) for seed in range(24)]
    scores = [(value - exact) / error for value, error in found]
    # of Student's law of 15 degrees, whose variance is 15 / 13
    assert abs(statistics.mean(scores)) < 4 * math.sqrt(15 / 13 / 24)
    assert 0.6 < statistics.stdev(scores) < 1.6
