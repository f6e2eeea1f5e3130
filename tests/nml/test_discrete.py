from math import factorial, prod

import numpy as np
import pytest

from memdlib.densities.moment_problem import NotConvergedError
from memdlib.nml.discrete import discrete_codelength, discrete_complexity


def types(n, n_levels):
    """All vectors of counts that sum to n."""
    if n_levels == 1:
        return [(n,)]
    return [
        (first, *rest)
        for first in range(n + 1)
        for rest in types(n - first, n_levels - 1)
    ]


@pytest.mark.parametrize(
    ("n_levels", "n", "m", "value"),
    [
        (3, 4, 1, 1.3701471233),
        (4, 5, 1, 1.5796001514),
        (4, 5, 2, 2.5368491368),
        (5, 6, 1, 1.7400352417),
        (5, 6, 2, 2.9684052669),
        (5, 6, 3, 3.5063768006),
        (5, 38, 4, 6.6771095427),
        (2, 38, 1, 2.1292784450),
    ],
)
def test_known_complexities(n_levels, n, m, value):
    found = discrete_complexity(n, np.arange(n_levels), m)
    assert found == pytest.approx(value, abs=1e-10)


def test_merged_types_give_the_sum_over_all_types():
    for levels, m in (((0, 1, 2, 3, 4), 1), ((0, 2, 3, 5, 7), 2), ((0, 0.5, 2), 1)):
        total = 0.0
        for counts in types(4, len(levels)):
            number = factorial(4) / prod(factorial(k) for k in counts)
            total += number * np.exp(-discrete_codelength(counts, levels, m).error)
        found = discrete_complexity(4, levels, m)
        assert found == pytest.approx(np.log(total), abs=1e-12)


def test_only_order_and_relative_distances_matter():
    base = discrete_complexity(8, [0, 1, 2, 5], 2)
    for levels in ([5, 2, 0, 1], [0, -1, -2, -5], [7, 1007, 2007, 5007]):
        found = discrete_complexity(8, levels, 2)
        assert found == pytest.approx(base, rel=0, abs=1e-12)
    a = discrete_codelength([3, 0, 4, 1], [0, 1, 2, 5], 2)
    b = discrete_codelength([4, 1, 0, 3], [2, 5, 1, 0], 2)
    assert a == b


def test_levels_too_uneven_to_resolve_are_refused():
    levels = [0.0, 1e-9, 2e-9, 3.3e-9, 1.0, 1.1]
    with pytest.raises(NotConvergedError, match="too uneven"):
        discrete_complexity(6, levels, 4)
