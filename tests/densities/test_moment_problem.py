import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import logsumexp, softmax

from memdlib.densities.moment_problem import (
    Matched,
    evaluate_dual,
    extend_history,
    possible_range,
    solve_dual,
)
from memdlib.densities.support import powers


def problem(seed, n_nodes=40, m=3, batch=6):
    rng = np.random.default_rng([31, seed])
    features = rng.normal(size=(n_nodes, m))
    log_weights = rng.normal(size=n_nodes)
    lam = rng.normal(size=(batch, m))
    mu = evaluate_dual(features, log_weights, np.zeros_like(lam), lam)[1]
    return features, log_weights, lam, mu


@given(st.integers(0, 10**6))
@example(5781)
@example(77789)
def test_natural_parameters_are_found_again(seed):
    features, log_weights, lam, mu = problem(seed)
    found = solve_dual(features, log_weights, mu)
    assert found.residual.max() < 1e-12
    assert found.gap.max() < 1e-11
    p = softmax(log_weights - lam @ features.T, axis=1)
    psi = logsumexp(log_weights - lam @ features.T, axis=1)
    for row in range(len(mu)):
        # rounding of moments is amplified by the inverse of their covariance
        covariance = np.cov(features.T, aweights=p[row], ddof=0)
        atol = max(1e-11, 1e-13 / np.linalg.eigvalsh(covariance)[0])
        np.testing.assert_allclose(found.natural[row], lam[row], rtol=0, atol=atol)
        assert found.log_normaliser[row] == pytest.approx(psi[row], rel=0, abs=atol)


def test_the_optimum_is_that_of_a_general_solver():
    features, log_weights, _, mu = problem(1)
    found = solve_dual(features, log_weights, mu)

    def dual(lam, target):
        return logsumexp(log_weights - features @ lam) + lam @ target

    for row, target in enumerate(mu):
        peer = optimize.minimize(dual, np.zeros(3), args=(target,), tol=1e-12)
        assert found.history[-1, row] == pytest.approx(peer.fun, abs=1e-9)
        np.testing.assert_allclose(found.natural[row], peer.x, rtol=0, atol=1e-4)


def test_the_dual_falls_and_bounds_every_entropy():
    features, log_weights, _, mu = problem(2)
    found = solve_dual(features, log_weights, mu)
    steps = np.diff(found.history, axis=0)
    assert (steps <= 1e-12).all()
    assert (steps[0] < 0).all()
    # weak duality: the entropy of any other distribution with these moments is smaller
    p = evaluate_dual(features, log_weights, mu, found.natural)[2]
    entropy = -(p * (np.log(p) - log_weights)).sum(axis=1)
    np.testing.assert_allclose(entropy, found.history[-1], rtol=0, atol=1e-11)
    rng = np.random.default_rng([31, 3])
    null = np.linalg.svd(np.column_stack([np.ones(40), features]).T)[2][4:]
    for row in range(len(mu)):
        change = rng.normal(size=len(null)) @ null
        q = p[row] + 0.5 * change * np.min(p[row] / np.abs(change))
        assert -(q * (np.log(q) - log_weights)).sum() < entropy[row]


def test_rows_do_not_disturb_each_other():
    features, log_weights, _, mu = problem(4, batch=50)
    together = solve_dual(features, log_weights, mu)
    for row in (0, 17, 49):
        alone = solve_dual(features, log_weights, mu[[row]])
        np.testing.assert_allclose(
            together.natural[row], alone.natural[0], rtol=0, atol=1e-11
        )
    started = solve_dual(features, log_weights, mu, together.natural)
    assert len(started.history) <= 2


def test_impossible_moments_leave_a_residual_and_no_warning():
    features, log_weights = np.linspace(-1, 1, 21)[:, None], np.zeros(21)
    found = solve_dual(features, log_weights, np.array([[2.0], [0.3], [-1.0]]))
    assert found.residual[0] > 0.9
    assert found.residual[1] < 1e-13
    assert found.curvature.min() >= 0


def test_the_certificates_are_what_they_say():
    u = np.linspace(-1, 1, 21)
    features, mu = np.column_stack([u, u**2]), np.array([[0.9, 0.3], [0.2, 0.3]])
    found = solve_dual(features, np.zeros(21), mu)
    lack = mu - softmax(-found.natural @ features.T, axis=1) @ features
    assert np.abs(lack[0]).min() > 0.01
    np.testing.assert_allclose(
        found.residual, np.abs(lack).max(axis=1), rtol=0, atol=1e-12
    )
    gap = np.abs((found.natural * lack).sum(axis=1))
    np.testing.assert_allclose(found.gap, gap, rtol=1e-9, atol=1e-12)


def test_the_covariance_and_its_smallest_conditional_variance():
    features, log_weights, _, mu = problem(5, batch=2)
    found = solve_dual(features, log_weights, mu)
    p = evaluate_dual(features, log_weights, mu, found.natural)[2]
    for row in range(2):
        covariance = np.cov(features.T, aweights=p[row], ddof=0)
        np.testing.assert_allclose(found.covariance[row], covariance, rtol=1e-8)
        pivots = np.diag(np.linalg.cholesky(covariance)) ** 2
        share = pivots.min() / np.diag(covariance).max()
        assert found.curvature[row] == pytest.approx(share, rel=1e-8)


def test_a_loaded_die():
    """Jaynes's die: mean 4.5 instead of 3.5."""
    faces = np.arange(1.0, 7.0)
    found = solve_dual(faces[:, None], np.zeros(6), np.array([[4.5]]))
    assert found.natural[0, 0] == pytest.approx(-0.37105, abs=1e-5)
    p = evaluate_dual(faces[:, None], np.zeros(6), np.array([[4.5]]), found.natural)[2]
    assert stats.entropy(p[0]) == pytest.approx(found.history[-1, 0])


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


def test_in_a_history_the_last_value_stays():
    history, rows = np.array([[5.0, 5.0, 5.0], [4.0, 3.0, 2.0]]), np.array([1])
    longer = extend_history(history, np.array([[9.0], [8.0], [7.0]]), rows)
    assert longer.T.tolist() == [[5, 4, 4], [9, 8, 7], [5, 2, 2]]
    shorter = extend_history(history, np.array([[9.0]]), rows)
    assert shorter.T.tolist() == [[5, 4], [9, 9], [5, 2]]


def test_the_condition_is_the_ratio_of_the_ends_of_the_spectrum():
    turn = np.linalg.qr(np.random.default_rng([31, 6]).normal(size=(2, 2)))[0]
    spectra = np.array([[4.0, 1.0], [1e-6, 1e-7], [3.0, 0.0]])
    covariance = turn * spectra[:, None] @ turn.T
    found = Matched(*[None] * 6, covariance, None).condition
    np.testing.assert_allclose(found[:2], [4.0, 10.0], rtol=1e-9)
    assert 1e14 < found[2] <= 1e15 * (1 + 1e-9)
