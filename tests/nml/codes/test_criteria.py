import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from memdlib.nml import (
    conditional_codelength,
    conditional_complexity,
    conditional_error,
    feature_codelengths,
)
from memdlib.nml.codes.criteria import (
    criterion_codelengths,
    factorised_codelength,
    quotient_codelength,
)


def shtarkov(n, k):
    """Log of the sum over all k^n sequences of their largest multinomial likelihood."""
    total = Fraction(0)
    for sequence in product(range(k), repeat=n):
        counts = [sequence.count(c) for c in range(k)]
        total += math.prod(
            (Fraction(c, max(n, 1)) ** c for c in counts), start=Fraction(1)
        )
    return math.log(total)


def entropy_of(table):
    """Largest conditional likelihood, as minus its logarithm, by a loop."""
    return -sum(k * math.log(k / sum(row)) for row in table for k in row if k)


@pytest.mark.parametrize(
    "table",
    [[[2, 1], [0, 3]], [[1, 1, 1], [2, 0, 0]], [[0, 0], [3, 1], [1, 0]], [[5, 2]]],
)
def test_factorised_and_quotient_code_lengths_by_listing_sequences(table):
    sizes, k = [sum(row) for row in table], len(table[0])
    factorised = entropy_of(table) + sum(shtarkov(n, k) for n in sizes)
    assert factorised_codelength(table) == pytest.approx(factorised, rel=1e-12)
    n, levels = sum(sizes), len(table)
    quotient = entropy_of(table) + shtarkov(n, k * levels) - shtarkov(n, levels)
    assert quotient_codelength(table) == pytest.approx(quotient, rel=1e-12)


def test_one_level_is_the_multinomial():
    assert factorised_codelength([[5, 2]]) == pytest.approx(
        quotient_codelength([[5, 2]])
    )


def test_the_factorised_code_is_the_saturated_end_of_the_moments():
    rng = np.random.default_rng(12)
    level, labels = rng.integers(1, 6, size=38), rng.integers(0, 2, size=38)
    table = [
        [((level == v) & (labels == c)).sum() for c in (0, 1)] for v in range(1, 6)
    ]
    for m in (5, 6):
        found = conditional_codelength(level, labels, m)
        assert found.total == pytest.approx(factorised_codelength(table), abs=1e-11)


def test_criteria_share_the_error_and_add_their_price():
    counts = np.array([[8, 7, 8, 7, 8], [38, 0, 0, 0, 0], [0, 20, 0, 18, 0]])
    ones = np.array([[0, 0, 1, 3, 7], [11, 0, 0, 0, 0], [0, 1, 0, 10, 0]])
    found = criterion_codelengths(counts, ones, (1, 2, 3))
    exact = feature_codelengths(counts, ones, (1, 2, 3))
    assert found["nml"] == pytest.approx(exact.total, abs=1e-12)
    p = np.array([[1, 2, 3], [1, 1, 1], [1, 2, 2]])
    assert found["aic"] == pytest.approx(exact.error + p, abs=1e-12)
    assert found["bic"] == pytest.approx(exact.error + p * math.log(38) / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: criterion_codelengths([[3]], [[1]], []), "n_moments is empty"),
        (lambda: criterion_codelengths([[3]], [[1]], [0]), "n_moments=0"),
        (lambda: criterion_codelengths([[3]], [[1]], 2), "n_moments=2 must be several"),
        (lambda: criterion_codelengths([[3j]], [[1]]), "counts must be real numbers"),
        (lambda: criterion_codelengths([[3]], [[1j]]), "ones must be real numbers"),
        (lambda: factorised_codelength([3, 4]), "give levels x classes"),
        (lambda: quotient_codelength([[3], [4]]), "two classes or more"),
        (lambda: quotient_codelength([[3, 0.5]]), "class_counts holds 0.5"),
    ],
)
def test_what_cannot_be_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_more_labels_than_an_integer_of_the_machine_holds():
    half_log = 0.5 * math.log(math.pi * 1e300 / 2)
    assert factorised_codelength([[1e300, 0]]) == pytest.approx(half_log, rel=1e-14)


@pytest.mark.parametrize("intercept", [False, True])
def test_criteria_of_awkward_levels_by_their_definitions(intercept):
    """Unequal sizes, equal rows, a level at zero and moments that saturate."""
    values = [-2.0, 0.0, 1.0, 3.0]
    counts = np.array([[4, 3, 5, 2], [9, 0, 1, 7], [4, 3, 5, 2], [0, 6, 0, 0]])
    ones = np.array([[1, 1, 4, 2], [3, 0, 1, 2], [4, 0, 5, 0], [0, 2, 0, 0]])
    moments = (2, 1, 5)
    found = criterion_codelengths(counts, ones, iter(moments), values, intercept)
    assert tuple(found) == ("nml", "bic", "aic")
    for j, row in enumerate(counts):
        n = row.sum()
        levels = ((row > 0) & (intercept | (np.array(values) != 0))).sum()
        for i, m in enumerate(moments):
            p = min(m + intercept, levels)
            given = m, values, intercept
            error = conditional_error(row, ones[j], *given)
            expected = {
                "nml": error + conditional_complexity(row, *given),
                "bic": error + p / 2 * math.log(n),
                "aic": error + p,
            }
            for name, length in expected.items():
                assert found[name][j, i] == pytest.approx(length, abs=1e-9), name
    assert all(lengths.shape == (4, 3) for lengths in found.values())
    assert all(lengths.dtype == np.float64 for lengths in found.values())


def test_five_numbers_of_moments_and_no_intercept_if_nothing_else_is_said():
    counts, ones = [3, 1, 2, 1, 2, 2], [0, 0, 1, 1, 2, 1]
    found = criterion_codelengths(counts, ones)
    said = criterion_codelengths(
        [counts], [ones], [1, 2, 3, 4, 5], np.arange(1.0, 7.0), False
    )
    for name, lengths in said.items():
        np.testing.assert_array_equal(found[name], lengths)
        assert lengths.shape == (1, 5)


@pytest.mark.parametrize("table", [[[30, 4, 0], [2, 2, 9]], [[0, 7, 3, 3]] * 3])
def test_sums_over_sequences_of_more_labels(table):
    """Complexities from the recurrence of Kontkanen and Myllymaki, in its own form."""

    def complexity(n, k):
        before = 1.0
        now = sum(
            math.comb(n, h) * (h / n) ** h * (1 - h / n) ** (n - h)
            for h in range(n + 1)
        )
        for j in range(1, k - 1):
            before, now = now, now + n / j * before
        return math.log(now)

    sizes, k, n_levels = [sum(row) for row in table], len(table[0]), len(table)
    error, n = entropy_of(table), sum(sizes)
    found = factorised_codelength(np.array(table, dtype=np.float32))
    expected = error + sum(complexity(size, k) for size in sizes)
    assert found == pytest.approx(expected, rel=1e-12) and type(found) is float
    found = quotient_codelength(table)
    expected = error + complexity(n, k * n_levels) - complexity(n, n_levels)
    assert found == pytest.approx(expected, rel=1e-12) and type(found) is float
    assert math.copysign(1.0, quotient_codelength([[3, 0], [0, 0]])) == 1.0
