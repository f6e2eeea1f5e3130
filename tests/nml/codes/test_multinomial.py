import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.nml import (
    multinomial_codelength,
    multinomial_complexity,
    szpankowski_complexity,
    two_part_codelength,
)


def two_outcomes(n):
    """The sum that defines C(2, n), in 50 digits."""
    share = [mp.mpf(h) / n for h in range(n + 1)]
    return mp.fsum(
        mp.binomial(n, h) * p**h * (1 - p) ** (n - h) for h, p in enumerate(share)
    )


def recurrence(n, n_levels):
    before, now = mp.mpf(1), two_outcomes(n)
    for k in range(1, n_levels - 1):
        before, now = now, now + mp.mpf(n) / k * before
    return now if n_levels > 1 else before


@pytest.mark.parametrize("n", [1, 2, 3, 7, 38, 200, 1000])
def test_two_outcomes_in_fifty_digits(n):
    found = multinomial_complexity(n, 2)
    assert found == pytest.approx(float(mp.log(two_outcomes(n))), rel=1e-14)


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


def compositions(n, n_levels):
    """All vectors of counts that sum to n."""
    if n_levels == 1:
        return [(n,)]
    return [
        (first, *rest)
        for first in range(n + 1)
        for rest in compositions(n - first, n_levels - 1)
    ]


@pytest.mark.parametrize(("n", "n_levels"), [(1, 4), (5, 3), (7, 4), (4, 6)])
def test_the_sum_over_all_counts(n, n_levels):
    total = 0.0
    for counts in compositions(n, n_levels):
        sequences = math.factorial(n) / math.prod(map(math.factorial, counts))
        total += sequences * math.prod((k / n) ** k for k in counts)
    found = multinomial_complexity(n, n_levels)
    assert found == pytest.approx(math.log(total), abs=1e-13)


def test_a_million_samples_and_a_hundred_thousand_outcomes():
    """The recurrence in 50 digits, from Stirling's expansion of C(2, n)."""
    n = 10**6
    q = mp.sqrt(mp.pi * n / 2)
    q += -mp.mpf(1) / 3 + mp.sqrt(mp.pi / (2 * n)) / 12 - mp.mpf(4) / (135 * n)
    q += mp.sqrt(mp.pi / (2 * mp.mpf(n) ** 3)) / 288
    two = 1 + q
    assert multinomial_complexity(n, 2) == pytest.approx(float(mp.log(two)), rel=1e-13)
    before, now = mp.mpf(1), two
    for k in range(1, 10**5 - 1):
        before, now = now, now + mp.mpf(n) / k * before
    found = multinomial_complexity(n, 10**5)
    assert found == pytest.approx(float(mp.log(now)), rel=1e-13)


@given(st.integers(1, 300), st.integers(1, 30))
def test_more_samples_or_outcomes_are_more_complex(n, n_levels):
    found = multinomial_complexity(n, n_levels)
    assert found < multinomial_complexity(n, n_levels + 1) + 1e-14
    assert found <= multinomial_complexity(n + 1, n_levels) + 1e-14
    assert found <= n * math.log(n_levels) + 1e-13


def test_nothing_to_tell():
    assert multinomial_complexity(0, 9) == 0.0
    assert multinomial_complexity(9, 1) == 0.0
    assert multinomial_codelength([0, 0]) == 0.0
    assert multinomial_codelength([7]) == 0.0
    assert two_part_codelength([0, 0]) == 0.0
    assert math.copysign(1.0, multinomial_codelength([7])) == 1.0


def test_labels_of_leukemia_patients():
    found = multinomial_codelength([27, 11])
    assert found == pytest.approx(22.8638306867 + 2.1292784450, abs=1e-9)
    assert multinomial_codelength(np.array([11, 27])) == pytest.approx(found, rel=1e-15)
    two_part = two_part_codelength([27, 11])
    assert two_part == pytest.approx(22.8638306867 + math.log(38) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "n_levels", "error", "digits"),
    [
        (1, 2, 6.4e-3, 1e-4),
        (5, 2, 1.0e-3, 1e-4),
        (38, 2, 6.5e-5, 1e-6),
        (200, 2, 5.9e-6, 1e-7),
        (100, 100, 0.76, 1e-2),
        (9, 1, 0.0, 1e-15),
    ],
)
def test_szpankowski(n, n_levels, error, digits):
    found = szpankowski_complexity(n, n_levels) - multinomial_complexity(n, n_levels)
    assert found == pytest.approx(error, abs=digits)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: multinomial_complexity(-1, 2), "n=-1 must be an integer, 0 or more"),
        (lambda: multinomial_complexity(1.5, 2), "n=1.5 must be an integer"),
        (lambda: multinomial_complexity(38.0, 2), "n=38.0 must be an integer"),
        (lambda: multinomial_complexity(True, 2), "n=True must be an integer"),
        (lambda: multinomial_complexity([3], 2), "n=.3. must be an integer"),
        (lambda: multinomial_complexity(3, 0), "n_levels=0 must be an integer, 1 or"),
        (lambda: multinomial_complexity(3, math.inf), "n_levels=inf must be"),
        (lambda: szpankowski_complexity(0, 2), "n=0 must be an integer, 1 or more"),
        (lambda: multinomial_codelength([]), "counts has shape"),
        (lambda: multinomial_codelength([[1]]), "counts has shape"),
        (lambda: multinomial_codelength([1, -2]), "counts holds -2.0; give nonneg"),
        (lambda: two_part_codelength([0.5]), "counts holds 0.5"),
        (lambda: two_part_codelength([math.inf]), "counts holds inf"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n_levels", [2, 3, 4, 7])
def test_szpankowski_is_off_by_the_order_that_it_says(n_levels):
    """Four times the samples leave an eighth of the error."""
    errors = [
        szpankowski_complexity(n, n_levels) - float(mp.log(recurrence(n, n_levels)))
        for n in (80, 320)
    ]
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.2)
    assert 0 < abs(errors[0]) * 80**1.5 < n_levels**3


@pytest.mark.parametrize(
    "counts",
    [[5, 0, 2, 9], (3, 3, 1), np.array([4.0, 11.0], dtype=np.float32), [1], [0, 1]],
)
def test_code_lengths_are_entropies_and_what_the_parameters_cost(counts):
    n, n_levels = int(sum(counts)), len(counts)
    entropy = -mp.fsum(k * mp.log(mp.mpf(int(k)) / n) for k in counts if k)
    one = multinomial_codelength(counts)
    assert one == pytest.approx(float(entropy + mp.log(recurrence(n, n_levels))))
    two = two_part_codelength(counts)
    assert two == pytest.approx(float(entropy) + (n_levels - 1) / 2 * math.log(n))
    assert type(one) is float and type(two) is float
    assert math.copysign(1.0, one) == math.copysign(1.0, two) == 1.0


def test_approximations_take_one_observation_or_one_outcome():
    # Stirling: log Gamma(1 / 2) is half of log pi
    assert szpankowski_complexity(1, 1) == pytest.approx(0.0, abs=1e-15)
    assert szpankowski_complexity(1, 2) == pytest.approx(math.log(2), abs=0.01)
    for arguments in ((1, 0), (1.0, 2), (1, True)):
        with pytest.raises(ValueError, match="must be an integer, 1 or more"):
            szpankowski_complexity(*arguments)
