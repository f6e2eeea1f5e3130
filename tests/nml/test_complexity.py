from itertools import product

import numpy as np
import pytest

from memdlib.nml import (
    conditional_complexity,
)
from memdlib.nml.complexity import complexities, solve
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
        found = conditional_complexity(row, m, values, intercept)
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
