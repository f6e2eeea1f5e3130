import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdlib.densities.moment_problem import (
    InfeasibleMomentsError,
    NotConvergedError,
    _replace,
    match_moments,
    possible_range,
)
from memdlib.densities.support import powers, read_support


def match(mu, support, n_nodes=128, tol=1e-8):
    mu = np.atleast_2d(mu)
    m = mu.shape[1]
    return match_moments(
        mu,
        lambda u: powers(u, m),
        read_support(support),
        n_nodes,
        smooth=True,
        tol=tol,
        describe=lambda i, j: f"density {i}: E u^{range(1, m + 1)[j]}",
    )


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


def test_the_finer_grid_catches_a_coarse_one():
    # a narrow density: eight nodes do not see it
    mean, sd = 0.1, 0.02
    mu = [mean, mean**2 + sd**2]
    found = match(mu, (-1, 1), n_nodes=40)
    assert found.residual[0] < 1e-8
    np.testing.assert_allclose(
        found.natural[0], [-mean / sd**2, 0.5 / sd**2], rtol=1e-5
    )
    with pytest.raises(NotConvergedError, match=r"E u\^2 were matched to .*raise n_no"):
        match(mu, (-1, 1), n_nodes=4)


@pytest.mark.parametrize(
    ("mu", "support", "message"),
    [
        (
            [1.5],
            (-1, 1),
            r"density 0: E u\^1 = 1\.5 must lie strictly between -1 and 1",
        ),
        ([1.0], (-1, 1), r"E u\^1 = 1 must lie strictly between -1 and 1"),
        ([0.5, 0.2], (-1, 1), r"E u\^2 = 0\.2 must lie strictly between 0\.25 and 1"),
        ([0.0, 0.5, 0.9], (-1, 1), r"E u\^3 = 0\.9 must .*between -0\.25 and 0\.25"),
        (
            [0.0, 0.0],
            [-1, 0, 1],
            r"E u\^2 = 0 must .*between 0 and 1 to occur on th",
        ),
        ([0.0, 1.0, 0.0, 0.9], (-np.inf, np.inf), r"E u\^4 = 0\.9 must lie strictly"),
        ([0.0, 1.0, 0.0, 4.0], (-np.inf, np.inf), r"no maximum on .-inf, inf.*u\^4 is"),
        ([1.0, 2.5], (0, np.inf), r"the entropy has no maximum on \[0, inf\).*E u\^2"),
        ([1.0, 1.0], (0, np.inf), r"E u\^2 = 1 must lie strictly between 1 and"),
    ],
)
def test_impossible_moments_are_named(mu, support, message):
    with pytest.raises(InfeasibleMomentsError, match=message):
        match(mu, support)


def test_the_first_of_many_is_named():
    good = [[0.1, 0.3]] * 5
    with pytest.raises(InfeasibleMomentsError, match=r"density 3: E u\^2 = 0\.001"):
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
    assert match([0.0, 1.0, 0.0, 3.0 - 1e-6], line).natural[0, 3] > 0
    with pytest.raises(InfeasibleMomentsError, match="no maximum"):
        match([0.0, 1.0, 0.0, 3.05], line)
    assert match([0.0, 1.0, 0.7, 3.05], line).natural[0, 3] > 0


@pytest.mark.parametrize("skewness", [-0.05, 0.05])
def test_a_tail_on_either_side_is_seen(skewness):
    with pytest.raises(InfeasibleMomentsError, match="no maximum on .-inf, inf"):
        match([0.0, 1.0, skewness, 3.3], (-np.inf, np.inf))


def test_in_a_history_the_last_value_stays():
    history, rows = np.array([[5.0, 5.0, 5.0], [4.0, 3.0, 2.0]]), np.array([1])
    longer = _replace(history, np.array([[9.0], [8.0], [7.0]]), rows)
    assert longer.T.tolist() == [[5, 4, 4], [9, 8, 7], [5, 2, 2]]
    shorter = _replace(history, np.array([[9.0]]), rows)
    assert shorter.T.tolist() == [[5, 4], [9, 9], [5, 2]]


def test_residual_gap_and_constant():
    rng = np.random.default_rng([37, 1])
    x = rng.beta(2, 3, size=(400, 20)) * 2 - 1
    mu = np.stack([(x**j).mean(axis=0) for j in range(1, 5)], axis=1)
    found = match(mu, (-1, 1))
    assert found.residual.max() < 1e-10
    assert found.gap.max() < 1e-9
    nodes, weights = np.polynomial.legendre.leggauss(300)
    p = np.exp(-found.constant[:, None] - found.natural @ powers(nodes, 4).T)
    np.testing.assert_allclose(p @ weights, 1, rtol=1e-10)
    np.testing.assert_allclose(p @ (weights[:, None] * powers(nodes, 4)), mu, atol=1e-9)
    assert (np.diff(found.history, axis=0) <= 1e-12).all()
    basis = np.polynomial.legendre.legvander(nodes, 4)[:, 1:] * np.sqrt([3, 5, 7, 9])
    for row in (0, 19):
        covariance = np.cov(basis.T, aweights=p[row] * weights, ddof=0)
        np.testing.assert_allclose(found.covariance[row], covariance, atol=1e-9)
        condition = np.linalg.cond(covariance)
        assert found.condition[row] == pytest.approx(condition, rel=1e-6)
