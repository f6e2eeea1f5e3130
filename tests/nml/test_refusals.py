"""What every code refuses, and what the messages say."""

import math
import re

import numpy as np
import pytest
from scipy import sparse

from memdlib.nml import (
    alphabet_codelength,
    alphabet_complexity,
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    exponential_complexity,
    feature_codelengths,
    gaussian_complexity,
    gaussian_mean_complexity,
    gaussian_scale_complexity,
    geometric_complexity,
    multinomial_codelength,
    multinomial_complexity,
    truncated_exponential_complexity,
)


def refused(call, *arguments, match, **options):
    return pytest.param(call, arguments, options, match, id=f"{call.__name__} {match}")


CASES = [
    *(
        refused(conditional_complexity, counts, 1, match=match)
        for counts, match in (
            ([3, -1], "level_counts holds -1.0; give nonnegative integers"),
            ([3, 0.5], "level_counts holds 0.5"),
            ([3, math.nan], "Input level_counts contains NaN"),
            ([0, 0], "level_counts sums to 0"),
            ([[1, 2], [0, 0]], "level_counts sums to 0"),
            ([], "Found array with 0 sample(s)"),
            ([[[1]]], "Found array with dim 3"),
            ([[1], [2, 3]], "inhomogeneous"),
            ([1e20, 5], "level_counts sums to 1e+20; counts are exact up to 4.5e+15"),
        )
    ),
    *(
        refused(conditional_complexity, [3, 1], m, match=f"n_moments={m!r} must be an")
        for m in (0, 1.5, math.inf, "2", True)
    ),
    *(
        refused(conditional_complexity, [3, 1], 1, values, match=match)
        for values, match in (
            ([1, 1], "level_values holds 1.0 more than once; join levels"),
            ([1, math.inf], "Input level_values contains infinity"),
            ([1], "level_values has shape (1,); give one value for each of the 2"),
            ([1e20, 5], "level values [5.0, 1e+20] are too uneven for 1 parameters"),
        )
    ),
    refused(conditional_complexity, [3], 1, None, False, "best", match="method='best'"),
    refused(
        *(conditional_complexity, [3, 2, 4], 2, [0.3, 0.1 * 3, 0.6]),
        match="0.3, 0.30000000000000004, 0.6] are too uneven for 2 parameters",
    ),
    refused(
        *(conditional_complexity, [10**4] * 5, 3, None, False, "exact"),
        match='method="exact" would take 5e+19 terms',
    ),
    *(
        refused(
            *(conditional_complexity_estimate, [3] * 3, 1, None, False),
            *("monte-carlo", n_draws),
            match=match,
        )
        for n_draws, match in (
            (0, "n_draws=0 must be an integer, 1 or more"),
            (1024.0, "n_draws=1024.0 must be an integer"),
            (32, "32 draws are worth"),
        )
    ),
    *(
        refused(conditional_error, [2], ones, 1, match=match)
        for ones, match in (
            ([3], "ones holds 3.0, more than level_counts"),
            ([0.5], "ones holds 0.5; give nonnegative integers"),
            ([math.nan], "Input ones contains NaN"),
            ([1, 1], "ones has shape (2,); give one number a level, shape (1,)"),
        )
    ),
    *(
        refused(conditional_codelength, x, labels, 1, match=match)
        for x, labels, match in (
            ([[1.0]], [1], "x has shape (1, 1)"),
            ([math.nan], [1], "Input x contains NaN"),
            ([1.0], [2], "labels holds 2.0; map the two classes to 0 and 1"),
            ([1.0], ["ALL"], "could not convert string to float"),
            ([1.0], [0, 1], "labels has shape (2,); give one class a sample, 1"),
            ([1.0, 2.0], [1, None], "Input labels contains NaN"),
        )
    ),
    *(
        refused(count_levels, levels, [0], *n_levels, match=match)
        for levels, n_levels, match in (
            ([0], (), "Expected 2D array"),
            ([[0.5]], (), "levels is of float64; give level indices"),
            ([[-1]], (), "levels is of int64; give level indices 0, 1"),
            ([[2]], (2,), "levels holds 2, but n_levels is 2; indices start at 0"),
            ([[0]], (1.0,), "n_levels=1.0 must be an integer"),
        )
    ),
    refused(feature_codelengths, [[2]], [[1]], [0], match="n_moments=0 must be"),
    refused(feature_codelengths, [[2]], [[1]], [], match="n_moments is empty"),
    *(
        refused(multinomial_complexity, *given, match=match)
        for given, match in (
            ((-1, 2), "n=-1 must be an integer, 0 or more"),
            ((38.0, 2), "n=38.0 must be an integer"),
            ((3, 0), "n_levels=0 must be an integer, 1 or more"),
        )
    ),
    refused(multinomial_codelength, [[1]], match="counts has shape (1, 1)"),
    refused(multinomial_codelength, [1, -2], match="counts holds -2.0"),
    *(
        refused(alphabet_complexity, *given, match=match)
        for given, match in (
            ((0, [0, 1], 1), "n=0 must be an integer"),
            ((3, [0, 1, 1], 1), "must be two or more distinct numbers"),
            ((3, [0], 1), "levels=[0.0] must be two or more"),
            ((3, [0, 1], 0), "n_moments=0 must be"),
            ((10**5, range(9), 5), "5000150001 partial types after level 2, too many"),
            ((2**30, [0, 1], 1), "too many to sum over"),
        )
    ),
    refused(alphabet_codelength, [1, 2], [0, 1, 2], 1, match="expected (3,)"),
    refused(alphabet_codelength, [0, 0], [0, 1], 1, match="n=0 must be"),
    *(
        refused(gaussian_mean_complexity, 3, mean_range=ends, scale=1, match=match)
        for ends, match in (
            (None, "without a bound log C is infinite, because every stretch of means"),
            ((None, 0), "mean_range=(None, 0) must be two numbers (low, high)"),
            ((0, math.inf), "the upper bound is missing and every stretch of means"),
            ((2, 1), "mean_range=(2, 1) must be two numbers (low, high), low < high"),
            ((math.nan, 1), "must be two numbers"),
            ((0, 1e101), "the upper bound is missing"),
        )
    ),
    *(
        refused(
            gaussian_mean_complexity,
            *(3,),
            mean_range=(0, 1),
            scale=scale,
            match=f"scale={scale!r} must be a finite number above zero",
        )
        for scale in (0, -1.0, math.inf, "1")
    ),
    *(
        refused(call, 3, match=f"the {end} bound is missing and {why}", **ends)
        for call, end, why, ends in (
            (
                gaussian_scale_complexity,
                *("lower", "every doubling of the scale", {"scale_range": (0, 1)}),
            ),
            (
                gaussian_complexity,
                *("lower", "every doubling of the scale"),
                {"mean_range": (0, 1), "scale_range": (0, math.inf)},
            ),
            (
                exponential_complexity,
                *("upper", "every doubling of the mean", {"mean_range": (1, math.inf)}),
            ),
            (
                truncated_exponential_complexity,
                *("lower", "means within a distance d", {"mean_range": (0, 0.5)}),
            ),
            (
                truncated_exponential_complexity,
                *("upper", "means within a distance d", {"mean_range": (0.5, 1)}),
            ),
        )
    ),
    refused(
        *(gaussian_complexity, 1),
        mean_range=(0, 1),
        scale_range=(1, 2),
        match="n=1 must be an integer, 2 or more",
    ),
    refused(
        *(exponential_complexity, 3),
        mean_range=(1, 2),
        counted="all",
        match="counted='all' must be one of",
    ),
    *(
        refused(geometric_complexity, 3, largest_sum=most, match="must be an integer")
        for most in (None, math.inf, 10**7, -1, 2.5)
    ),
]


@pytest.mark.parametrize(("call", "arguments", "options", "message"), CASES)
def test_messages_name_what_is_wrong(call, arguments, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(*arguments, **options)


def test_types_that_are_refused():
    for call in (conditional_complexity, conditional_complexity_estimate):
        with pytest.raises(TypeError, match="intercept must be an instance of"):
            call([3], 1, None, "no")
    with pytest.raises(TypeError, match="not 'complex'"):
        conditional_complexity([1j, 2], 1)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        alphabet_complexity(3, sparse.csr_array([[0, 1]]), 1)


def test_what_is_at_the_edge_passes():
    large = [2**52 - 3, 3]
    assert conditional_complexity(large, 2) == pytest.approx(
        multinomial_complexity(large[0], 2) + multinomial_complexity(3, 2)
    )
    assert conditional_error([3], np.array([True]), 1) > 0.0
    assert gaussian_mean_complexity(1, mean_range=[-9e99, 9e99], scale=1) > 200.0
