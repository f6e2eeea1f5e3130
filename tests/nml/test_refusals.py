"""What every code refuses, and what the messages name."""

import math
import re
from functools import partial

import numpy as np
import pytest

from memdlib import nml

LOG_C = nml.conditional_complexity
DRAWN = partial(nml.conditional_complexity_estimate, method="monte-carlo")
GAUSS = nml.gaussian_complexity
BOTH = {"mean_range": (0, 1), "scale_range": (1, 2)}
EXPON = nml.exponential_complexity
CASES = [
    (LOG_C, ([3, -1], 1), "level_counts holds -1.0"),
    (LOG_C, ([3, 0.5], 1), "level_counts holds 0.5"),
    (LOG_C, ([3, math.nan], 1), "level_counts contains NaN"),
    (LOG_C, ([[1, 2], [0, 0]], 1), "level_counts sums to 0"),
    (LOG_C, ([1e20, 5], 1), "level_counts sums to 1e+20"),
    (LOG_C, ([3, 1], 1.5), "n_moments=1.5 must be an integer"),
    (partial(LOG_C, level_values=[1, 1]), ([3, 1], 1), "level_values holds 1.0"),
    (partial(LOG_C, level_values=[1]), ([3, 1], 1), "level_values has shape (1,)"),
    (partial(LOG_C, level_values=[1e20, 5]), ([3, 1], 1), "too uneven for 1 param"),
    (partial(LOG_C, method="best"), ([3], 1), "method='best'"),
    (partial(LOG_C, method="exact"), ([10**4] * 5, 3), "would take 5e+19 terms"),
    (partial(DRAWN, n_draws=32), ([3] * 3, 1), "32 draws are worth"),
    (DRAWN, ([1] * 40, 5), "658008 sets of 5 l"),
    (nml.conditional_error, ([2], [3], 1), "ones holds 3.0"),
    (nml.conditional_error, ([2], [1, 1], 1), "ones has shape (2,)"),
    (nml.conditional_codelength, ([[1.0]], [1], 1), "x has shape (1, 1)"),
    (nml.conditional_codelength, ([1.0], [2], 1), "labels holds 2.0"),
    (nml.conditional_codelength, ([1.0], [0, 1], 1), "labels has shape (2,)"),
    (nml.count_levels, ([[0.5]], [0]), "levels is of float64"),
    (
        partial(nml.count_levels, n_levels=2),
        ([[2]], [0]),
        "levels holds 2, but n_levels is 2",
    ),
    (
        partial(nml.feature_codelengths, n_moments=[]),
        ([[2]], [[1]]),
        "n_moments is empty",
    ),
    (nml.multinomial_complexity, (-1, 2), "n=-1 must be an integer, 0 or more"),
    (nml.multinomial_codelength, ([1, -2],), "counts holds -2.0"),
    (nml.discrete_complexity, (3, [0, 1, 1], 1), "two or more distinct numbers"),
    (nml.discrete_complexity, (10**5, range(9), 5), "5000150001 partial types"),
    (nml.discrete_codelength, ([1, 2], [0, 1, 2], 1), "expected (3,)"),
    (partial(nml.geometric_complexity, largest_sum=math.inf), (2,), "largest_sum=inf"),
    (partial(GAUSS, scale=1), (3,), "because every stretch of mea"),
    (GAUSS, (3,), "because every doubling of the scale"),
    (partial(GAUSS, **BOTH), (1,), "n=1 must be an integer, 2 or"),
    (partial(GAUSS, **BOTH, restrict="parameter"), (3,), "restrict='parameter' must"),
    (partial(GAUSS, mean_range=(0, 1), scale=0), (3,), "scale=0 must be a float"),
    (partial(GAUSS, scale_range=(1, math.inf)), (3,), "0 < low < high < 1e+100"),
    (partial(EXPON, mean_range=(0.5, 1), upper=1), (3,), "0 < low < high < 1;"),
]


@pytest.mark.parametrize(("call", "arguments", "message"), CASES)
def test_messages_name_what_is_wrong(call, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(*arguments)


def test_what_is_at_the_edge_passes():
    assert nml.conditional_complexity([2**51], 1) > 0
    assert nml.multinomial_complexity(0, 1) == nml.multinomial_complexity(5, 1) == 0
    assert nml.conditional_error([2], [2], 1) == 0
    assert nml.count_levels([[1]], [True], n_levels=2)[1].tolist() == [[0, 1]]
    assert nml.geometric_complexity(1, largest_sum=0) == 0
    assert np.isfinite(
        nml.gaussian_complexity(2, mean_range=(0, 1), scale_range=(1e-99, math.inf))
    )
