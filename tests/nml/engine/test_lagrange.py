from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from memdlib.nml._engine.lagrange import (
    amplification,
    cardinals,
    pivot_levels,
    scaled,
)

VALUES = [
    (1.0, 2.0, 3.0, 4.0, 5.0),
    (1.0, 10.0, 1e3, 1e5, 1e6),
    (-7e4, -3.0, 0.25, 0.2500001, 9e7),
]


def entry(x, intercept, pivots, level, own):
    """One polynomial at one level, in fractions."""
    x = [Fraction(v) for v in x]
    found = Fraction(1) if intercept else x[level] / x[own]
    for other in pivots:
        if other != own:
            found *= (x[level] - x[other]) / (x[own] - x[other])
    return found


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_polynomials_keep_all_digits(values, intercept, p):
    sets = list(combinations(range(5), p))
    found = cardinals(np.array(values), intercept, np.array(sets).T)
    largest = amplification(values, p, intercept)
    assert found.shape == (5, p, len(sets))
    for b, pivots in enumerate(sets):
        for i, own in enumerate(pivots):
            exact = [float(entry(values, intercept, pivots, j, own)) for j in range(5)]
            assert found[:, i, b] == pytest.approx(exact, rel=1e-14, abs=0.0)
            assert np.abs(found[:, i, b]).max() <= largest * (1 + 1e-14)


@pytest.mark.parametrize("values", VALUES)
def test_pivots_are_those_of_an_elimination(values):
    """Where the polynomial that vanishes at those before is largest."""
    x = scaled(np.array(values))
    rng = np.random.default_rng([30, 1])
    log_weight = rng.normal(scale=5.0, size=(5, 20))
    found = pivot_levels(x, 3, False, log_weight)
    assert found.shape == (3, 20)
    for b in range(20):
        product = np.exp(0.5 * log_weight[:, b]) * np.abs(x)
        for pivot in found[:, b]:
            assert product[pivot] == product.max()
            product *= np.abs(x - x[pivot])


def test_scaled_values_keep_their_digits():
    x = np.array([-3.0, 1e300, 0.1])
    assert np.abs(scaled(x)).max() < 1.0
    np.testing.assert_array_equal(np.ldexp(scaled(x), 997), x)
    assert scaled(np.array([])).shape == (0,)
