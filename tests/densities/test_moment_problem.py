from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from memdlib import MaxEntDensity
from memdlib.densities.measures import InfeasibleMomentsError, measure_moments
from memdlib.densities.moment_problem import extend_history, possible_range
from memdlib.densities.power_moments import match_powers
from memdlib.densities.support import powers, read_support
from memdlib.moments.sums import translate_natural


def match(mu, support, n_nodes=128, tol=1e-8):
    mu, support = np.atleast_2d(mu).astype(float), read_support(support)
    measures = measure_moments(mu, support)
    return match_powers(measures, mu.shape[1], support, n_nodes, tol=tol)


def natural(found):
    """Natural parameters of x, of densities about zero."""
    lam = found.basis.powers(found.theta)[:, 1:] / powers(
        found.unit, found.basis.degree
    )
    return translate_natural(lam, found.origin)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_the_range_of_a_second_moment(mean, position):
    """On [0, 1]: between the square of the mean and the mean."""
    u = np.linspace(0, 1, 1001)
    low, high = possible_range(powers(u, 2), np.array([mean, 0.0]), 1)
    assert low == pytest.approx(mean**2, abs=1e-6)
    assert high == pytest.approx(mean, abs=1e-9)


def test_the_range_of_a_third_moment_is_that_of_the_hausdorff_problem():
    u, mu = np.linspace(0, 1, 2001), np.array([0.4, 0.25, 0.0])
    low, high = possible_range(powers(u, 3), mu, 2)
    # both Hankel determinants vanish at the ends
    assert low == pytest.approx(0.25**2 / 0.4, abs=1e-5)
    assert high == pytest.approx(0.25 - 0.15**2 / 0.6, abs=1e-5)
    assert possible_range(powers(u, 3), np.array([0.4, 0.1, 0.0]), 2) is None


@pytest.mark.parametrize("n_nodes", [4, 40, 256])
@pytest.mark.parametrize("sd", [0.02, 1e-3, 1e-5])
def test_a_narrow_density_is_found_whatever_the_grid(sd, n_nodes):
    mean = 0.1
    found = match([mean, mean**2 + sd**2], (-1, 1), n_nodes=n_nodes)
    assert found.residual[0] < 1e-12
    expected = [-mean / sd**2, 0.5 / sd**2]
    # the variance that rounding leaves of the moments
    left = 1e-5 + 1e-17 / sd**2
    np.testing.assert_allclose(natural(found)[0], expected, rtol=left)


@pytest.mark.parametrize(
    ("mu", "support", "message"),
    [
        ([1.5], (-1, 1), r"density 0: E x = 1\.5 must lie strictly between -1 and 1"),
        ([1.0], (-1, 1), r"E x = 1 must lie strictly between -1 and 1"),
        ([1.0], (-np.inf, 1), r"E x = 1 must be below 1, the end"),
        ([0.5, 0.2], (-1, 1), r"E x\^2 = 0\.2 must lie strictly between 0\.25 and 1"),
        ([0.5, 1.2], (-1, 1), r"E x\^2 = 1\.2 must lie strictly between 0\.25 and 1"),
        (
            [0.0, 0.5, 0.9],
            (-1, 1),
            r"E u\^3 .* between -0\.7071.* and 0\.7071",
        ),
        ([0.0, 0.0], [-1, 0, 1], r"E x\^2 = 0 must .*between 0 and 1 with E x"),
        ([1.5, 4.5], [0, 1, 2, 3], r"E x\^2 = 4\.5 .* 2\.25 and 4\.5 \(to rounding"),
        ([0.5, 0.5], (0, 1), r"E x\^2 = 0\.5 .* 0\.25 and 0\.5 \(to rounding"),
        # a point at an end of the support, hidden by rounding
        (
            [-10.4655, 167.3399025, -1789.1634036374999],
            (-13, 34),
            r"E u\^3 .* must lie strictly between 2\.66667 and",
        ),
        ([0.0, 0.04, 0.0], [-1, -0.3, 0.3, 1], r"E u\^2 .* = 0\.04 must lie strictly"),
        ([0.0, 1.0, 0.0, 0.9], (-np.inf, np.inf), r"E u\^4 .* = 0\.9 must be above 1"),
        (
            [0.0, 1.0, 0.0, 4.0],
            (-np.inf, np.inf),
            r"no maximum on .-inf, .*4 is above",
        ),
        ([0.0, 1.0, 0.0, 3.01], (-np.inf, np.inf), r"supremum .* is not attained"),
        (
            [0.0, 1.0, 0.0, 3.0 + 1e-6],
            (-np.inf, np.inf),
            r"is above 3 \(by 1e-06\), that",
        ),
        ([1.0, 2.5], (0, np.inf), r"the entropy has no maximum on \[0, inf\).*E u\^2"),
        (
            [1.0, 2.0 + 1e-6],
            (0, np.inf),
            r"\(by .*which has the others.*ask for 1 moment",
        ),
        ([-1.0, 2.0, -7.0], (-np.inf, 0), r"= -3 is below -2 \(by 1\)"),
        ([-1.0, 2.5], (-np.inf, 0), r"the entropy has no maximum on \(-inf, 0\]"),
        ([1.0, 1.0], (0, np.inf), r"E x\^2 = 1 must be above 1 with"),
        ([1.0, 1.5, 1.8], (0, np.inf), r"E u\^3 .* must be above"),
    ],
)
def test_impossible_moments_are_named(mu, support, message):
    with pytest.raises(InfeasibleMomentsError, match=message):
        match(mu, support)


def test_a_mean_next_to_an_end_has_its_steep_density():
    lower, upper, mean = -0.387, 0.691, 0.69093217
    lam = natural(match([mean], (lower, upper)))[0, 0]
    # mean = upper + 1 / lambda where the other end is out of reach
    assert lam == pytest.approx(-1.0 / (upper - mean), rel=1e-9)


def test_the_first_of_many_is_named():
    good = [[0.1, 0.3]] * 5
    with pytest.raises(InfeasibleMomentsError, match=r"density 3: E x\^2 = 0\.001"):
        match([*good[:3], [0.1, 0.001], *good], (-1, 1))


def test_moments_on_the_edge_of_levels_are_refused_however_well_they_are_matched():
    # two levels out of five carry everything: the limit is matched, but no density is
    u = np.linspace(-1, 1, 5)
    weights = np.array([0.5, 0.5, 0, 0, 0])
    with pytest.raises(InfeasibleMomentsError, match="must lie strictly between"):
        match([weights @ u**j for j in (1, 2, 3)], u.tolist())


def test_kurtosis_above_three_has_no_maximum_unless_skewed():
    """Junk's line: without skewness a normal has the largest fourth moment."""
    line = (-np.inf, np.inf)
    assert natural(match([0.0, 1.0, 0.0, 3.0 - 1e-6], line))[0, 3] > 0
    with pytest.raises(InfeasibleMomentsError, match="no maximum"):
        match([0.0, 1.0, 0.0, 3.05], line)
    assert natural(match([0.0, 1.0, 0.7, 3.05], line))[0, 3] > 0


@pytest.mark.parametrize("skewness", [-0.5, -0.05, 0.01])
def test_a_little_skewness_puts_a_small_mode_far_out(skewness):
    """The quartic has a second mode, on the side of the skewness."""
    density = MaxEntDensity(4).from_moments([0.0, 1.0, skewness, 3.3])
    lam = density.natural_params_
    assert lam[3] > 0
    slope = np.polynomial.Polynomial(lam * [1, 2, 3, 4])
    turns = np.sort(slope.roots().real)
    cuts = np.unique(np.add.outer(turns, np.linspace(-12, 12, 25)))
    for j, wanted in enumerate([1.0, 0.0, 1.0, skewness, 3.3]):
        parts = [
            integrate.quad(lambda x, j=j: x**j * density.pdf(x), *ends, epsabs=1e-14)[0]
            for ends in pairwise(cuts)
        ]
        assert sum(parts) == pytest.approx(wanted, abs=1e-8)


def test_in_a_history_the_last_value_stays():
    history, rows = np.array([[5.0, 5.0, 5.0], [4.0, 3.0, 2.0]]), np.array([1])
    longer = extend_history(history, np.array([[9.0], [8.0], [7.0]]), rows)
    assert longer.T.tolist() == [[5, 4, 4], [9, 8, 7], [5, 2, 2]]
    shorter = extend_history(history, np.array([[9.0]]), rows)
    assert shorter.T.tolist() == [[5, 4], [9, 9], [5, 2]]


def test_residual_gap_and_constant():
    rng = np.random.default_rng([37, 1])
    x = rng.beta(2, 3, size=(400, 20)) * 2 - 1
    mu = np.stack([(x**j).mean(axis=0) for j in range(1, 5)], axis=1)
    found = match(mu, (-1, 1))
    assert found.residual.max() < 1e-10
    assert found.gap.max() < 1e-9
    nodes, weights = np.polynomial.legendre.leggauss(300)
    p = np.exp(-found.basis.expand(found.theta, np.tile(nodes, (20, 1))))
    np.testing.assert_allclose(p @ weights, 1, rtol=1e-10)
    np.testing.assert_allclose(
        p @ (weights[:, None] * powers(nodes, 4)), mu, rtol=0, atol=1e-9
    )
    assert (np.diff(found.history, axis=0) <= 1e-12).all()
    basis = np.polynomial.legendre.legvander(nodes, 4)[:, 1:] * np.sqrt([3, 5, 7, 9])
    for row in (0, 19):
        covariance = np.cov(basis.T, aweights=p[row] * weights, ddof=0)
        np.testing.assert_allclose(found.covariance[row], covariance, rtol=0, atol=1e-9)
        condition = np.linalg.cond(covariance)
        assert found.condition[row] == pytest.approx(condition, rel=1e-6)
