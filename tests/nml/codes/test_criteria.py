import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from memdlib.nml import conditional_codelength, feature_codelengths
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
    # one level: the volume is sqrt(pi n / 2), and each end of the segment adds a third
    alpha = math.sqrt(math.pi * 38 / 2)
    fisher = exact.error[1] + math.log(alpha)
    assert found["fisher"][1] == pytest.approx(fisher, abs=1e-6)
    facets = exact.error[1] + math.log(alpha + 2 / 3)
    assert found["facets"][1] == pytest.approx(facets, abs=1e-6)
    assert (found["fisher"] < found["facets"]).all()


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
