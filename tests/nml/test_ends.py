import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, optimize

from memdlib.nml.ends import (
    CONVENTIONS,
    _log_irwin_hall,
    exponential_complexity,
    gaussian_complexity,
    geometric_complexity,
)

SCALES, MEANS = (0.5, 2.0), (0.5, 4.0)


def normal_loglik(y, mean, scale):
    squares = sum((v - mean) ** 2 for v in y) / (2 * scale**2)
    return -squares - len(y) * math.log(scale * math.sqrt(2 * math.pi))


def gauss(n, **ranges):
    return math.exp(gaussian_complexity(n, **ranges))


def expon(n, **ranges):
    return math.exp(exponential_complexity(n, **ranges))


def geometric(n, largest_sum):
    return math.exp(geometric_complexity(n, largest_sum=largest_sum))


@pytest.mark.parametrize(
    ("complexity", "value"),
    [
        (gauss(2, mean_range=(-1.5, 1.5), scale=1), 1.6925687506),
        (gauss(2, mean_range=(-1.5, 1.5), scale=1, counted="parameter"), 2.6925687506),
        (gauss(1, scale_range=(0.1, 10)), 2.2286327329),
        (gauss(2, scale_range=(0.5, 2)), 1.0199783897),
        (gauss(3, scale_range=(0.5, 2)), 1.2824359308),
        (gauss(38, scale_range=(0.1, 10)), 15.9462262501),
        (gauss(2, mean_range=(-1, 1), scale_range=(0.5, 2)), 0.7025979783),
        (gauss(3, mean_range=(-1, 1), scale_range=(0.5, 2)), 1.3876229682),
        (gauss(38, mean_range=(-2, 2), scale_range=(0.1, 5)), 327.1712753876),
        (gauss(38, mean_range=(-2, 2), scale_range=(0.1, math.inf)), 333.8482401914),
        (expon(1, mean_range=(0.5, 4)), 0.7649837923),
        (expon(2, mean_range=(0.5, 4)), 1.1256872401),
        (expon(3, mean_range=(0.5, 4)), 1.3976455257),
        (expon(38, mean_range=(0.1, 10)), 11.3004352268),
        (expon(1, mean_range=(0.1, 0.9), upper=1), 1.2517802238),
        (expon(2, mean_range=(0.1, 0.9), upper=1), 1.9599662138),
        (expon(3, mean_range=(0.1, 0.9), upper=1), 2.4765297627),
        (expon(5, mean_range=(0.05, 0.95), upper=1), 4.4909042890),
        (geometric(2, 8), 2.0291318392),
        (geometric(3, 9), 2.2185863986),
        (geometric(38, 380), 9.5287331171),
    ],
)
def test_known_complexities(complexity, value):
    assert complexity == pytest.approx(value, rel=2e-10)


def test_gaussian_of_two_observations_by_quadrature():
    def likelihood(d, m):
        # mean m and standard deviation d at y = m -+ d
        return 2 * math.exp(normal_loglik([m - d, m + d], m, d))

    total = 2 * integrate.dblquad(likelihood, -1, 1, *SCALES, epsabs=1e-10)[0]
    found = gauss(2, mean_range=(-1, 1), scale_range=SCALES)
    assert found == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("counted", CONVENTIONS)
def test_exponential_by_quadrature_over_the_data(counted):
    a, b = MEANS
    for n in (1, 2):

        def likelihood(s, n=n):
            # the data with sum s have volume s^(n - 1) / (n - 1)!
            mean = min(max(s / n, a), b)
            return s ** (n - 1) * math.exp(-s / mean) / mean**n

        edges = [n * a, n * b]
        if counted == "parameter":
            edges = [0.0, *edges, 300.0]
        total = sum(
            integrate.quad(likelihood, *pair, epsabs=1e-13)[0]
            for pair in pairwise(edges)
        )
        found = expon(n, mean_range=MEANS, counted=counted)
        assert found == pytest.approx(total, rel=1e-10)


def rate_of_mean(mean):
    def gap(rate):
        return 1 / rate - 1 / math.expm1(rate) - mean

    ends = (1e-7, 500) if mean < 0.5 else (-500, -1e-7)
    return optimize.brentq(gap, *ends)


def test_truncated_exponential_by_quadrature_over_the_data():
    def entropy(mean):
        # by its definition, with the rate from a root of the mean
        if abs(mean - 0.5) < 1e-6:
            return 0.0
        rate = rate_of_mean(mean)
        return math.log(-math.expm1(-rate) / rate) + rate * mean

    one = integrate.quad(lambda y: math.exp(-entropy(y)), 0.1, 0.9, points=[0.5])[0]
    found = expon(1, mean_range=(0.1, 0.9), upper=1)
    assert found == pytest.approx(one, rel=1e-9)

    def two(s):
        # length of the segment y1 + y2 = s in the unit square
        return min(s, 2 - s) * math.exp(-2 * entropy(s / 2))

    total = sum(integrate.quad(two, *e)[0] for e in ((0.3, 1.0), (1.0, 1.6)))
    found = expon(2, mean_range=(0.3, 1.6), upper=2)
    assert found == pytest.approx(total, rel=1e-9)


def test_irwin_hall_against_exact_sums():
    for n in (1, 2, 3, 12, 40):
        for s in np.array([0.01, 0.3, 0.5, 0.77, 0.999]) * n:
            # the alternating sum cancels 160 digits at n = 40
            with mp.workdps(250):
                terms = [
                    (-1) ** k * mp.binomial(n, k) * (mp.mpf(float(s)) - k) ** (n - 1)
                    for k in range(math.floor(s) + 1)
                ]
                exact = float(mp.log(mp.fsum(terms) / mp.factorial(n - 1)))
            assert _log_irwin_hall(np.array(s), n) == pytest.approx(exact, rel=1e-12)
    assert np.isneginf(_log_irwin_hall(np.array([-0.1, 3.1]), 3)).all()


def test_geometric_by_enumeration_of_all_data():
    largest = 7
    total = 0.0
    for y in np.ndindex(*(largest + 1,) * 3):
        s = sum(y)
        if s <= largest:
            p = 3 / (3 + s)
            total += p**3 * (1 - p) ** s
    assert geometric(3, largest) == pytest.approx(total, rel=1e-13)
