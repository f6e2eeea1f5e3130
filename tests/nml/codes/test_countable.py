import math
import re

import numpy as np
import pytest

from memdlib.nml.codes.countable import geometric_complexity


# Of nml.md, section 4: C, not its logarithm.
@pytest.mark.parametrize(
    ("n", "largest_sum", "value"),
    [(2, 8, 2.0291318392), (3, 9, 2.2185863986), (38, 380, 9.5287331171)],
)
def test_known_complexities(n, largest_sum, value):
    found = geometric_complexity(n, largest_sum=largest_sum)
    assert math.exp(found) == pytest.approx(value, rel=2e-10)


def test_geometric_by_enumeration_of_all_data():
    largest = 7
    total = 0.0
    for y in np.ndindex(*(largest + 1,) * 3):
        s = sum(y)
        if s <= largest:
            p = 3 / (3 + s)
            total += p**3 * (1 - p) ** s
    found = geometric_complexity(3, largest_sum=largest)
    assert math.exp(found) == pytest.approx(total, rel=1e-13)
    assert geometric_complexity(5, largest_sum=0) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
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
