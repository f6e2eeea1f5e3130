import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import logsumexp, softmax

from memdlib.densities.measures import InfeasibleMomentsError
from memdlib.densities.moment_problem import (
    Matched,
    _cholesky,
    _solve,
    check_range,
    evaluate_dual,
    extend_history,
    match_functions,
    possible_range,
    solve_dual,
)
from memdlib.densities.support import Support, powers


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


def test_the_dual_at_any_parameters():
    """Value, moments and probabilities of a batch, also where exponentials overflow."""
    features, log_weights, lam, mu = problem(7, batch=3)
    lam = lam * np.array([[1.0], [1e-3], [1e4]])
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    linear = log_weights - lam @ features.T
    np.testing.assert_allclose(p, softmax(linear, axis=1), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(mean, softmax(linear, axis=1) @ features, rtol=1e-9)
    expected = logsumexp(linear, axis=1) + (lam * mu).sum(axis=1)
    np.testing.assert_allclose(value, expected, rtol=1e-10)


def test_what_is_given_to_the_dual_stays_as_it_is():
    features, log_weights, lam, mu = problem(8, batch=3)
    copies = [array.copy() for array in (features, log_weights, mu, lam)]
    solve_dual(features, log_weights, mu, lam)
    for array, copy in zip((features, log_weights, mu, lam), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_history_of_the_dual_begins_at_the_start_and_ends_at_the_solution():
    features, log_weights, lam, mu = problem(9, batch=4)
    mu[2] = np.average(features, axis=0, weights=np.exp(log_weights))
    found = solve_dual(features, log_weights, mu)
    total = logsumexp(log_weights)
    np.testing.assert_allclose(found.history[0], total, rtol=1e-12)
    np.testing.assert_allclose(found.history[:, 2], total, rtol=1e-12)
    last = found.log_normaliser + (found.natural * mu).sum(axis=1)
    np.testing.assert_allclose(found.history[-1], last, rtol=1e-12)
    again = solve_dual(features, log_weights, mu, 0.9 * lam)
    start = evaluate_dual(features, log_weights, mu, 0.9 * lam)[0]
    np.testing.assert_allclose(again.history[0], start, rtol=1e-12)
    np.testing.assert_allclose(again.natural, found.natural, rtol=0, atol=1e-10)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_a_factor_solves_what_it_was_made_of(m):
    rng = np.random.default_rng([31, 10, m])
    root = rng.normal(size=(4, m, m + 3)) * rng.uniform(0.1, 9, size=(4, m, 1))
    matrices = root @ root.swapaxes(1, 2)
    factor, curvature = _cholesky(matrices.transpose(1, 2, 0))
    right = rng.normal(size=(m, 4))
    x = _solve(factor, right)
    for b in range(4):
        expected = np.linalg.cholesky(matrices[b])
        np.testing.assert_allclose(factor[..., b], expected, rtol=1e-9, atol=1e-12)
        share = np.diag(expected).min() ** 2 / np.diag(matrices[b]).max()
        assert curvature[b] == pytest.approx(share, rel=1e-9)
        np.testing.assert_allclose(matrices[b] @ x[:, b], right[:, b], rtol=1e-7)


def test_features_that_tell_the_same_have_no_curvature():
    u = np.linspace(-1, 1, 9)
    twice = np.column_stack([u, -3.0 * u])
    found = solve_dual(twice, np.zeros(9), np.array([[0.3, -0.9], [0.0, 0.0]]))
    assert found.curvature.max() < 1e-14 and found.curvature.min() >= 0


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_a_range_is_known_to_a_billionth_of_its_width(scale):
    """Of E u and E u^2 on [0, 1] with E u = 1/4: from 1/16 to 1/4."""
    support = Support.interval(0, 1)
    values = scale * powers(np.linspace(0, 1, 21), 2)

    def told(j):
        return f"moment {j}"

    for share, possible in (
        (1e-6, True),
        (1 - 1e-6, True),
        (1e-11, False),
        (1 - 1e-11, False),
        (1.01, False),
    ):
        mu = scale * np.array([0.25, 1 / 16 + share * 3 / 16])
        if possible:
            # 1/4 is a node
            np.testing.assert_array_equal(check_range(values, mu, support, told), mu)
        else:
            with pytest.raises(
                InfeasibleMomentsError,
                match=f"^moment 1 = .* between {scale / 16:.6g} and {scale / 4:.6g} to",
            ):
                check_range(values, mu, support, told)
    for mean in (0.0, 1.2):
        with pytest.raises(
            InfeasibleMomentsError, match="^moment 0 = .* between 0 and"
        ):
            check_range(values, scale * np.array([mean, 0.5]), support, told)


def test_an_unbounded_range_is_told_from_its_finite_end():
    support = Support.interval(0, np.inf)
    values = powers(np.geomspace(1e-6, 1e4, 401), 2)
    mu = np.array([1.0, 1.5])
    np.testing.assert_array_equal(check_range(values, mu, support, str), mu)
    with pytest.raises(InfeasibleMomentsError, match=r"^1 = 0\.9 must lie .*een 1"):
        check_range(values, np.array([1.0, 0.9]), support, str)


@pytest.mark.parametrize(("n_nodes", "atol"), [(32, 2e-4), (128, 1e-8)])
def test_functions_are_matched_to_their_certificates(n_nodes, atol):
    """Of a batch on an interval: moments and covariances on a rule of its own."""
    support = Support.interval(1, 4)
    mu = np.array([[0.1, 0.4], [-0.3, 0.3], [0.0, 0.2]])

    def features(u):
        return np.column_stack([np.sin(2 * u), u**2])

    found, same = match_functions(mu, features, support, n_nodes, tol=1e-8)
    assert same is support and found.basis is None
    assert found.origin.tolist() == [2.5] * 3 and found.unit.tolist() == [1.5] * 3
    assert found.residual.max() < 1e-8 and found.gap.max() < 1e-8
    u, weights = np.polynomial.legendre.leggauss(200)
    phi = features(u)
    p = np.exp(-found.theta[:, :1] - found.theta[:, 1:] @ phi.T) * weights
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-8)
    np.testing.assert_allclose(p @ phi, mu, rtol=0, atol=1e-8)
    # features that are orthonormal under the uniform density
    wide = np.column_stack([np.ones(200), phi])
    factor = np.linalg.cholesky(wide.T @ (wide * weights[:, None]) / 2.0)
    basis = np.linalg.solve(factor, wide.T)[1:]
    for row in range(3):
        covariance = np.cov(basis, aweights=p[row], ddof=0)
        np.testing.assert_allclose(found.covariance[row], covariance, rtol=0, atol=atol)
    assert (np.diff(found.history, axis=0) < 1e-12).all()
    entropy = (p @ phi * found.theta[:, 1:]).sum(axis=1) + found.theta[:, 0]
    np.testing.assert_allclose(found.history[-1], entropy, rtol=0, atol=1e-8)
