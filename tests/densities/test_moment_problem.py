import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from memdlib.densities.moment_problem import evaluate_dual, solve_dual


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


def test_rows_do_not_disturb_each_other():
    features, log_weights, _, mu = problem(4, batch=50)
    together = solve_dual(features, log_weights, mu)
    for row in (0, 17, 49):
        alone = solve_dual(features, log_weights, mu[[row]])
        np.testing.assert_allclose(
            together.natural[row], alone.natural[0], rtol=0, atol=1e-11
        )
    started = solve_dual(features, log_weights, mu, start=together.natural)
    assert len(started.history) <= 2


def test_impossible_moments_leave_a_residual_and_no_warning():
    features, log_weights = np.linspace(-1, 1, 21)[:, None], np.zeros(21)
    found = solve_dual(features, log_weights, np.array([[2.0], [0.3], [-1.0]]))
    assert found.residual[0] > 0.9
    assert found.residual[1] < 1e-13
