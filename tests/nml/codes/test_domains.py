import math
import re

import pytest

from memdlib.nml import (
    exponential_complexity,
    gaussian_complexity,
    gaussian_mean_complexity,
    gaussian_scale_complexity,
    geometric_complexity,
    truncated_exponential_complexity,
)
from memdlib.nml.codes.domains import count_data


def test_what_lies_beyond_both_ends_adds_one():
    assert count_data(-0.7, "data") == -0.7
    found = count_data(-0.7, "parameter")
    assert found == pytest.approx(math.log(math.exp(-0.7) + 1.0), abs=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gaussian_mean_complexity(3, mean_range=None, scale=1),
            "without a bound log C is infinite",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(0, math.inf), scale=1),
            "the upper bound is missing and every stretch of means",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(None, 0), scale=1),
            "the lower bound is missing",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(2, 1), scale=1),
            "lower end below its upper",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(math.nan, 1), scale=1),
            "the lower end must be a number",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=("a", 1), scale=1),
            "the lower end must be a number",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(math.inf, 1), scale=1),
            "the lower end must be a number",
        ),
        (
            lambda: gaussian_mean_complexity(3, mean_range=(0, 1), scale=0),
            "scale=0 must be a finite number above zero",
        ),
        (
            lambda: gaussian_mean_complexity(0, mean_range=(0, 1), scale=1),
            "n=0 must be an integer",
        ),
        (
            lambda: gaussian_mean_complexity(
                3, mean_range=(0, 1), scale=1, counted="all"
            ),
            "counted='all' must be one of",
        ),
        (
            lambda: gaussian_scale_complexity(3, scale_range=(0, 1)),
            "the lower bound is missing and every doubling of the scale",
        ),
        (
            lambda: gaussian_scale_complexity(3, scale_range=(1, math.inf)),
            "the upper bound is missing",
        ),
        (
            lambda: gaussian_complexity(
                3, mean_range=(-1, 1), scale_range=(0, math.inf)
            ),
            "the lower bound is missing and every doubling of the scale",
        ),
        (
            lambda: gaussian_complexity(
                3, mean_range=(-math.inf, 1), scale_range=(1, 2)
            ),
            "every stretch of means",
        ),
        (
            lambda: gaussian_complexity(1, mean_range=(-1, 1), scale_range=(1, 2)),
            "give n >= 2",
        ),
        (
            lambda: exponential_complexity(3, mean_range=(0.0, 4)),
            "every doubling of the mean",
        ),
        (
            lambda: exponential_complexity(3, mean_range=(1, None)),
            "the upper bound is missing",
        ),
        (
            lambda: truncated_exponential_complexity(3, mean_range=(0, 0.5)),
            "the lower bound is missing and means within a distance d",
        ),
        (
            lambda: truncated_exponential_complexity(3, mean_range=(0.5, 1)),
            "the upper bound is missing and means within a distance d",
        ),
        (
            lambda: geometric_complexity(3, largest_sum=None),
            "log C is infinite without a largest sum",
        ),
        (
            lambda: geometric_complexity(3, largest_sum=math.inf),
            "contribute like 1 / s",
        ),
        (
            lambda: geometric_complexity(3, largest_sum=2.5),
            "must be an integer, 0 or more",
        ),
    ],
)
def test_bad_input_and_infinite_complexity_are_explained(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
