"""What *Leukemia* and its exercises say beside the data."""

import numpy as np
import pytest

from memdlib.nml import conditional_error


@pytest.mark.wrong("with two moments as well", "error(n, k, 1)", "error(n, k, 2)")
def test_one_moment_pays_for_the_sign():
    """Exercise *The price of one sign*: however well the gene separates."""
    n = np.array([7, 8, 8, 7, 8])
    for k in ([0, 0, 0, 7, 8], [7, 8, 0, 0, 0], [0, 0, 1, 3, 7], [0, 8, 0, 7, 0]):
        ones = sum(k)
        assert conditional_error(n, k, 1) >= min(ones, 38 - ones) * np.log(2)
