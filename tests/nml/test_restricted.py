import math

import pytest

from memdlib.nml import restricted


def gauss(n, **ranges):
    return math.exp(restricted.gaussian_complexity(n, **ranges))


def expon(n, **ranges):
    return math.exp(restricted.exponential_complexity(n, **ranges))


def geometric(n, largest_sum):
    return math.exp(restricted.geometric_complexity(n, largest_sum=largest_sum))


@pytest.mark.parametrize(
    ("complexity", "value"),
    [
        (gauss(2, mean_range=(-1.5, 1.5), scale=1), 1.6925687506),
        (gauss(2, mean_range=(-1.5, 1.5), scale=1, restrict="parameter"), 2.6925687506),
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


@pytest.mark.parametrize(
    ("n", "value"), [(12, 11.4966786556113), (40, 21.1394081964890)]
)
def test_sums_of_many_uniform_variables_keep_their_digits(n, value):
    """By mpmath's quadrature of the definition; at n = 40 the alternating sum for the
    density of Irwin and Hall cancels 160 digits."""
    found = expon(n, mean_range=(0.01, 0.99), upper=1)
    assert found == pytest.approx(value, rel=2e-13)
