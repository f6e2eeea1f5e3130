import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, optimize, special

from memdlib.nml.ends import (
    CONVENTIONS,
    _log_irwin_hall,
    exponential_complexity,
    gaussian_complexity,
    gaussian_mean_complexity,
    gaussian_scale_complexity,
    geometric_complexity,
    truncated_exponential_complexity,
)

SCALES, MEANS = (0.5, 2.0), (0.5, 4.0)


def normal_loglik(y, mean, scale):
    squares = sum((v - mean) ** 2 for v in y) / (2 * scale**2)
    return -squares - len(y) * math.log(scale * math.sqrt(2 * math.pi))


def integrate_box(function, ends):
    return integrate.nquad(
        function, ends, opts={"epsabs": 1e-10, "epsrel": 1e-9, "limit": 200}
    )[0]


# C, not its logarithm.
@pytest.mark.parametrize(
    ("log_complexity", "value"),
    [
        (gaussian_mean_complexity(2, mean_range=(-1.5, 1.5), scale=1), 1.6925687506),
        (
            gaussian_mean_complexity(
                2, mean_range=(-1.5, 1.5), scale=1, counted="parameter"
            ),
            2.6925687506,
        ),
        (gaussian_scale_complexity(1, scale_range=(0.1, 10)), 2.2286327329),
        (gaussian_scale_complexity(2, scale_range=(0.5, 2)), 1.0199783897),
        (gaussian_scale_complexity(3, scale_range=(0.5, 2)), 1.2824359308),
        (gaussian_scale_complexity(38, scale_range=(0.1, 10)), 15.9462262501),
        (
            gaussian_complexity(2, mean_range=(-1, 1), scale_range=(0.5, 2)),
            0.7025979783,
        ),
        (
            gaussian_complexity(3, mean_range=(-1, 1), scale_range=(0.5, 2)),
            1.3876229682,
        ),
        (
            gaussian_complexity(38, mean_range=(-2, 2), scale_range=(0.1, 5)),
            327.1712753876,
        ),
        (
            gaussian_complexity(38, mean_range=(-2, 2), scale_range=(0.1, math.inf)),
            333.8482401914,
        ),
        (exponential_complexity(1, mean_range=(0.5, 4)), 0.7649837923),
        (exponential_complexity(2, mean_range=(0.5, 4)), 1.1256872401),
        (exponential_complexity(3, mean_range=(0.5, 4)), 1.3976455257),
        (exponential_complexity(38, mean_range=(0.1, 10)), 11.3004352268),
        (truncated_exponential_complexity(1, mean_range=(0.1, 0.9)), 1.2517802238),
        (truncated_exponential_complexity(2, mean_range=(0.1, 0.9)), 1.9599662138),
        (truncated_exponential_complexity(3, mean_range=(0.1, 0.9)), 2.4765297627),
        (truncated_exponential_complexity(5, mean_range=(0.05, 0.95)), 4.4909042890),
        (geometric_complexity(2, largest_sum=8), 2.0291318392),
        (geometric_complexity(3, largest_sum=9), 2.2185863986),
        (geometric_complexity(38, largest_sum=380), 9.5287331171),
    ],
)
def test_known_complexities(log_complexity, value):
    assert math.exp(log_complexity) == pytest.approx(value, rel=2e-10)


@pytest.mark.parametrize("counted", CONVENTIONS)
def test_gaussian_mean_by_quadrature_over_the_data(counted):
    def likelihood(d, m):
        # y = m - d, m + d: the Jacobian of (y1, y2) by (m, d) is 2
        return 2 * math.exp(normal_loglik([m - d, m + d], min(max(m, -1.5), 1.5), 1))

    pieces = [(-1.5, 1.5)]
    if counted == "parameter":
        pieces += [(-12, -1.5), (1.5, 12)]
    total = sum(integrate_box(likelihood, [(-9, 9), piece]) for piece in pieces)
    found = gaussian_mean_complexity(
        2, mean_range=(-1.5, 1.5), scale=1.0, counted=counted
    )
    assert math.exp(found) == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("counted", CONVENTIONS)
def test_gaussian_scale_by_quadrature_over_the_data(counted):
    a, b = SCALES

    def one(y):
        return math.exp(normal_loglik([y], 0.0, min(max(abs(y), a), b)))

    def two(r):
        # integrand in polar coordinates, |y| = r and scale r / sqrt 2
        s = min(max(r / math.sqrt(2), a), b)
        return 2 * math.pi * r * math.exp(-r * r / (2 * s * s)) / (2 * math.pi * s * s)

    for n, likelihood, factor in ((1, one, 2.0), (2, two, 1.0)):
        edges = [a * math.sqrt(n), b * math.sqrt(n)]
        if counted == "parameter":
            edges = [0.0, *edges, 40.0]
        total = factor * sum(
            integrate.quad(likelihood, *pair, epsabs=1e-13)[0]
            for pair in pairwise(edges)
        )
        found = gaussian_scale_complexity(n, scale_range=SCALES, counted=counted)
        assert math.exp(found) == pytest.approx(total, rel=1e-10)


def test_gaussian_of_two_observations_by_quadrature():
    def likelihood(d, m):
        # mean m and standard deviation d at y = m -+ d
        return 2 * math.exp(normal_loglik([m - d, m + d], m, d))

    total = 2 * integrate_box(likelihood, [SCALES, (-1, 1)])
    found = gaussian_complexity(2, mean_range=(-1, 1), scale_range=SCALES)
    assert math.exp(found) == pytest.approx(total, rel=1e-8)


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
        found = exponential_complexity(n, mean_range=MEANS, counted=counted)
        assert math.exp(found) == pytest.approx(total, rel=1e-10)


def test_truncated_exponential_by_quadrature_over_the_data():
    def entropy(mean):
        # by its definition, with the rate from a root of the mean
        if abs(mean - 0.5) < 1e-6:
            return 0.0
        rate = rate_of_mean(mean)
        return math.log(-math.expm1(-rate) / rate) + rate * mean

    one = integrate.quad(lambda y: math.exp(-entropy(y)), 0.1, 0.9, points=[0.5])[0]
    found = truncated_exponential_complexity(1, mean_range=(0.1, 0.9))
    assert math.exp(found) == pytest.approx(one, rel=1e-9)

    def two(s):
        # length of the segment y1 + y2 = s in the unit square
        return min(s, 2 - s) * math.exp(-2 * entropy(s / 2))

    total = sum(integrate.quad(two, *e)[0] for e in ((0.3, 1.0), (1.0, 1.6)))
    found = truncated_exponential_complexity(2, mean_range=(0.15, 0.8))
    assert math.exp(found) == pytest.approx(total, rel=1e-9)


def rate_of_mean(mean):
    def gap(rate):
        return 1 / rate - 1 / math.expm1(rate) - mean

    return (
        optimize.brentq(gap, 1e-7, 500)
        if mean < 0.5
        else optimize.brentq(gap, -500, -1e-7)
    )


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


def test_long_sequences_meet_the_asymptotic_form():
    # Rissanen: C is about sqrt(n / (2 pi)) times the integral of the root of the
    # Fisher information, that of 1 / standard deviation over the means
    n = 4000
    for found, integral in (
        (gaussian_mean_complexity(n, mean_range=(0, 3), scale=2.0), 1.5),
        (gaussian_scale_complexity(n, scale_range=(1, 3)), math.sqrt(2) * math.log(3)),
        (exponential_complexity(n, mean_range=(1, 3)), math.log(3)),
    ):
        limit = math.log(math.sqrt(n / (2 * math.pi)) * integral)
        assert found == pytest.approx(limit, abs=1e-3)


def test_the_interval_close_to_its_ends():
    # the integrand of the logarithm levels off: each decade adds as much
    wide = [
        math.exp(truncated_exponential_complexity(40, mean_range=(a, 0.5)))
        for a in (1e-6, 1e-7, 1e-8)
    ]
    per_decade = np.diff(wide)
    exact = math.exp(40 * math.log(40) - 40 - special.gammaln(40)) * math.log(10)
    np.testing.assert_allclose(per_decade, exact, rtol=1e-5)
    mirrored = truncated_exponential_complexity(40, mean_range=(0.5, 1 - 2**-20))
    found = truncated_exponential_complexity(40, mean_range=(2**-20, 0.5))
    assert mirrored == pytest.approx(found, rel=1e-10)


def test_scale_is_no_unit_and_ranges_add_up():
    one = gaussian_mean_complexity(7, mean_range=(2, 5), scale=0.5)
    other = gaussian_mean_complexity(7, mean_range=(-4, 2), scale=1.0)
    assert one == pytest.approx(other, abs=1e-13)
    parts = [
        truncated_exponential_complexity(9, mean_range=r)
        for r in ((0.1, 0.31), (0.31, 0.9))
    ]
    whole = truncated_exponential_complexity(9, mean_range=(0.1, 0.9))
    assert np.logaddexp(*parts) == pytest.approx(whole, abs=1e-12)
    for counted, extra in (("data", 0.0), ("parameter", 1.0)):
        a = math.exp(exponential_complexity(9, mean_range=(1, 3), counted=counted))
        b = math.exp(exponential_complexity(9, mean_range=(10, 30), counted="data"))
        assert a == pytest.approx(b + extra, rel=1e-12)


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
    ("low", "high"),
    [
        (1.0, 1.0 + 2.0**-40),
        (0.75, 1.25),
        (3.0, 5.9),
        (3.0, 6.0),
        (3.0, 6.1),
        (0.01, 40.0),
        (1e99, 2e99),
        (1e-100, 9e99),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 5, 10**6])
def test_closed_forms_in_fifty_digits_for_any_range(n, low, high):
    a, b, h = mp.mpf(low), mp.mpf(high), mp.mpf(n) / 2
    log_ratio = mp.log(b / a)
    exponential = mp.log(log_ratio) + n * mp.log(n) - n - mp.loggamma(n)
    scale = mp.log(2 * log_ratio) + h * mp.log(h) - h - mp.loggamma(h)
    mean = mp.log((b - a) * mp.sqrt(mp.mpf(n) / (2 * mp.pi)) / mp.mpf(0.3))
    tolerance = {"rel": 1e-13, "abs": 1e-8 if n > 5 else 1e-13}
    for counted, extra in (("data", 0), ("parameter", 1)):

        def near(log_inside, extra=extra):
            expected = float(mp.log(mp.exp(log_inside) + extra))
            return pytest.approx(expected, **tolerance)

        found = exponential_complexity(n, mean_range=(low, high), counted=counted)
        assert found == near(exponential)
        found = gaussian_scale_complexity(n, scale_range=(low, high), counted=counted)
        assert found == near(scale)
        found = gaussian_mean_complexity(
            n, mean_range=(low, high), scale=0.3, counted=counted
        )
        assert found == near(mean)
        assert type(found) is float
    if n > 1:
        both = mp.log(2 * (b - a) * (1 / a - 1 / b)) + h * mp.log(n / (2 * mp.e))
        both -= mp.log(mp.pi) / 2 + mp.loggamma(mp.mpf(n - 1) / 2)
        found = gaussian_complexity(n, mean_range=(low, high), scale_range=(low, high))
        assert found == pytest.approx(float(both), **tolerance)
        both = mp.log(2 * 3 / a) + h * mp.log(n / (2 * mp.e))
        both -= mp.log(mp.pi) / 2 + mp.loggamma(mp.mpf(n - 1) / 2)
        found = gaussian_complexity(n, mean_range=(-1, 2), scale_range=(low, math.inf))
        assert found == pytest.approx(float(both), **tolerance)
        assert type(found) is float


@pytest.mark.parametrize(("n", "largest"), [(1, 50), (4, 37), (300, 40)])
def test_geometric_by_sums_in_fifty_digits(n, largest):
    terms = [
        mp.binomial(n + s - 1, s)
        * mp.mpf(n) ** n
        * mp.mpf(s) ** s
        / mp.mpf(n + s) ** (n + s)
        for s in range(largest + 1)
    ]
    expected = float(mp.log(mp.fsum(terms)))
    found = geometric_complexity(n, largest_sum=largest)
    assert found == pytest.approx(expected, abs=1e-12) and type(found) is float
