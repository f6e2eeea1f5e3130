import math

import mpmath as mp
import numpy as np
import pytest

from memdlib.nml import multinomial_codelength, multinomial_complexity


def two_outcomes(n):
    """The sum that defines C(2, n), in 50 digits."""
    share = [mp.mpf(h) / n for h in range(n + 1)]
    return mp.fsum(
        mp.binomial(n, h) * p**h * (1 - p) ** (n - h) for h, p in enumerate(share)
    )


def recurrence(n, n_levels):
    sums = [mp.mpf(1), two_outcomes(n)]
    for k in range(1, n_levels - 1):
        sums.append(sums[-1] + mp.mpf(n) / k * sums[-2])
    return sums[n_levels - 1]


@pytest.mark.parametrize(
    ("n_levels", "n", "expected"),
    [
        (2, 38, 2.12927844497),
        (3, 38, 3.8374890363),
        (4, 10, 3.6365670638),
        (5, 38, 6.6771095427),
        (8, 6, 5.2646073674),
        (10, 50, 13.2375865138),
        (5, 1000, 12.8157285571),
        (100, 100, 81.9154346825),
        (2, 5, 1.8116354309 * math.log(2)),
        (5, 12, 6.8504595381 * math.log(2)),
    ],
)
def test_figures(n_levels, n, expected):
    found = multinomial_complexity(n, n_levels)
    assert found == pytest.approx(expected, abs=1e-10)
    assert found == pytest.approx(float(mp.log(recurrence(n, n_levels))), rel=1e-14)


@pytest.mark.parametrize(
    "counts",
    [[5, 0, 2, 9], (3, 3, 1), np.array([4.0, 11.0], dtype=np.float32), [1], [0, 1]],
)
def test_code_lengths_are_entropy_plus_complexity(counts):
    n = int(sum(counts))
    n_levels = len(counts)
    entropy = -mp.fsum(k * mp.log(mp.mpf(int(k)) / n) for k in counts if k)
    one = multinomial_codelength(counts)
    assert one == pytest.approx(float(entropy + mp.log(recurrence(n, n_levels))))
    assert type(one) is float and math.copysign(1.0, one) == 1.0
