from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.moment_problems import Problem, is_matched
from memdlib import MaxEntDensity
from memdlib.densities import InfeasibleMomentsError

LINE, HALF, LEFT = (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0)


def normal_moments(mean, sd, m):
    """Rounded to floats from exact ones, by E x^(j+1) = a E x^j + j s^2 E x^(j-1)."""
    mean, sd = Fraction(mean), Fraction(sd)
    exact = [Fraction(1), mean]
    for j in range(1, m):
        exact.append(mean * exact[j] + j * sd**2 * exact[j - 1])
    return [float(x) for x in exact[1:]]


@settings(max_examples=25)
@given(st.floats(-2, 2), st.floats(0.7, 4), st.integers(3, 7))
def test_a_normal_density_whatever_the_number_of_its_moments(mean, sd, m):
    found = MaxEntDensity(m).from_moments(normal_moments(mean, sd, m))
    law = stats.norm(mean, sd)
    assert found.natural_params_[2:].tolist() == [0.0] * (m - 2)
    assert found.residual_ < 1e-8
    assert found.entropy_ == pytest.approx(law.entropy(), abs=1e-8)
    x = mean + sd * np.array([-30.0, -2.0, 0.1, 3.0, 1e9])
    np.testing.assert_allclose(found.logpdf(x), law.logpdf(x), rtol=1e-6)


def test_parameters_of_the_standard_normal_density():
    found = MaxEntDensity(3).from_moments([[0.0, 1.0, 0.0], [1.0, 2.0, 4.0]])
    expected = [[0.0, 0.5, 0.0], [-1.0, 0.5, 0.0]]
    np.testing.assert_allclose(found.natural_params_, expected, rtol=0, atol=1e-14)
    half = 0.5 * np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(found.entropy_, half, rtol=1e-14)
    np.testing.assert_allclose(found.ppf(0.975), [1.959964, 2.959964], rtol=1e-6)
    np.testing.assert_allclose(found.std(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize(("support", "sign"), [(HALF, 1.0), (LEFT, -1.0)])
def test_an_exponential_density(m, support, sign):
    scale = 2.0
    mu = [sign**j * mp.factorial(j) * scale**j for j in range(1, m + 1)]
    found = MaxEntDensity(m, support).from_moments(np.array(mu, dtype=float))
    expected = [sign / scale] + [0.0] * (m - 1)
    np.testing.assert_allclose(found.natural_params_, expected, rtol=0, atol=1e-12)
    assert found.entropy_ == pytest.approx(1.0 + np.log(scale), abs=1e-12)
    far = sign * np.array([1.0, 50.0, 1e8])
    law = stats.expon(scale=scale)
    np.testing.assert_allclose(found.logpdf(far), law.logpdf(sign * far), rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_a_quartic_density_has_its_fifth_moment_and_no_other(shift):
    def weight(x):
        return mp.exp(x / 2 + x**2 - x**4)

    ends = [-mp.inf, -1, 0, 1, mp.inf]
    with mp.workdps(30):
        mass = mp.quad(weight, ends)
        mu = [
            mp.quad(lambda x, j=j: (x + shift) ** j * weight(x), ends) / mass
            for j in range(1, 6)
        ]
    mu = np.array(mu, dtype=float)
    found = MaxEntDensity(5).from_moments(mu)
    assert found.natural_params_[4] == 0.0
    # -u/2 - u^2 + u^4 with u = x - shift
    lam = np.polynomial.Polynomial([0, -0.5, -1, 0, 1])(
        np.polynomial.Polynomial([-shift, 1])
    ).coef[1:]
    np.testing.assert_allclose(found.natural_params_[:4], lam, rtol=0, atol=1e-9)
    for change in (-1e-3, 1e-9):
        moved = mu.copy()
        moved[4] += change * found.std() ** 5
        with pytest.raises(
            InfeasibleMomentsError, match=rf"difference of {change:g}\)"
        ):
            MaxEntDensity(5).from_moments(moved)


@pytest.mark.parametrize("third", [1e-3, -1e-3, 1e-6, 1e-9, 1e-12])
def test_a_near_miss_on_the_line_has_none(third):
    with pytest.raises(InfeasibleMomentsError, match=r"is 0 and not .* an even number"):
        MaxEntDensity(3).from_moments([0.0, 1.0, third])


def test_odd_moments_whose_even_ones_have_none():
    with pytest.raises(
        InfeasibleMomentsError, match=r"4 moments, which does not exist"
    ):
        MaxEntDensity(5).from_moments([0.0, 1.0, 0.0, 5.0, 0.0])


@pytest.mark.parametrize(
    ("mu", "support"),
    [([0.0, 1.0, 0.0, 3.0 - 1e-7], LINE), ([1.0, 2.0, 6.0, 24.0 - 1e-4], HALF)],
)
def test_a_near_miss_from_below_has_a_density_of_its_own(mu, support):
    found = MaxEntDensity(4, support).from_moments(mu)
    assert found.natural_params_[-1] > 0
    assert found.residual_ < 1e-9


def test_rounding_of_moments_about_zero_is_no_miss():
    mu = np.array(normal_moments(100.3, 1.7, 3))
    assert MaxEntDensity(3).from_moments(mu).natural_params_[2] == 0.0
    # in units of the standard deviation a millionth, more than rounding leaves in doubt
    with pytest.raises(InfeasibleMomentsError, match="difference of 1e-06"):
        MaxEntDensity(3).from_moments([*mu[:2], mu[2] + 1e-6 * 1.7**3])


def test_a_symmetric_sample_has_the_third_moment_of_a_normal_density():
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    found = MaxEntDensity(3).fit(x + 3.0)
    law = stats.norm(3.0, x.std())
    assert found.entropy_ == pytest.approx(law.entropy(), abs=1e-13)
    assert float(found.cdf(3.7)) == pytest.approx(law.cdf(3.7), abs=1e-10)


# In modes so narrow that Newton's method loses them from every other start.
NARROW = [
    [
        -0.6771238529332609,
        0.5346052830097953,
        -0.43876902572128296,
        0.3745703958653437,
        -0.32812972217660585,
        0.29297696598168343,
        -0.2652454616408897,
        0.24262185365795141,
        -0.2236503048445866,
        0.20738504864101404,
    ],
    [
        1.290110762327035,
        1.7974433010594595,
        2.648554172371777,
        4.057992485464482,
        6.389043154640802,
        10.258539056235836,
        16.718299537982087,
        27.570361683672747,
        45.916678596998835,
        77.12109014264351,
    ],
]


@pytest.mark.parametrize("mu", NARROW)
def test_ten_moments_that_are_reached_from_the_uniform_density(mu):
    problem = Problem(np.array(mu), (-1.0, 2.0), possible=True)
    found = MaxEntDensity(10, problem.support).from_moments(mu)
    assert found.residual_ < 1e-8 and is_matched(found, problem)
