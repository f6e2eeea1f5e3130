import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from memdlib.generative.recommended.weights import fit_mixture_weights


def told(seed, n, J, spread):
    """Log-likelihoods of n rows by J models, some far apart."""
    rng = np.random.default_rng([46, seed])
    return -spread * rng.exponential(size=(n, 1)) - spread * rng.random((n, J))


def objective(weights, log_q, counts):
    """F by its definition, nats in all."""
    p = np.exp(log_q) @ weights
    return counts @ np.log(p) + np.log(weights).mean()


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 6), st.floats(0.01, 20))
def test_no_weights_are_better_by_more_than_the_gap(seed, n, J, spread):
    log_q = told(seed, n, J, spread)
    counts = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    found = fit_mixture_weights(log_q, counts)
    assert found.gap <= 1e-8
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights > 0).all()
    assert found.log_loss == pytest.approx(
        -np.average(np.log(np.exp(log_q) @ found.weights), weights=counts)
    )
    reached = objective(found.weights, log_q, counts)
    for other in np.random.default_rng([seed, 1]).dirichlet(np.ones(J), 50):
        better = objective(np.maximum(other, 1e-300), log_q, counts) - reached
        assert better <= (counts.sum() + 1) * 1e-8 + 1e-9


@pytest.mark.parametrize(("n", "J", "spread"), [(40, 5, 1.0), (300, 6, 3.0)])
def test_weights_are_those_of_sequential_quadratic_programming(n, J, spread):
    log_q = told(7, n, J, spread)
    ones = np.ones(n)
    theirs = minimize(
        lambda w: -objective(w, log_q, ones) / n,
        np.full(J, 1 / J),
        bounds=[(1e-9, 1)] * J,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = fit_mixture_weights(log_q).weights
    np.testing.assert_allclose(ours, theirs.x, rtol=0, atol=1e-4)


def test_weights_are_a_fixed_point_of_the_em_algorithm():
    log_q = told(3, 80, 4, 2.0)
    w = fit_mixture_weights(log_q, tol=1e-12).weights
    share = np.exp(log_q) * w
    share /= share.sum(axis=1, keepdims=True)
    np.testing.assert_allclose((share.sum(axis=0) + 0.25) / 81, w, rtol=1e-6)


def test_counts_are_copies():
    log_q = told(5, 30, 3, 2.0)
    counts = 1 + np.arange(30) % 3
    one = fit_mixture_weights(log_q, counts)
    two = fit_mixture_weights(log_q.repeat(counts, axis=0))
    np.testing.assert_allclose(one.weights, two.weights, rtol=0, atol=1e-9)


def test_a_model_that_foresees_nothing_keeps_its_share_of_one_row():
    log_q = np.tile([0.0, -800.0], (9, 1))
    np.testing.assert_allclose(fit_mixture_weights(log_q).weights, [0.95, 0.05])


@pytest.mark.parametrize(
    "bad", [np.zeros(3), np.zeros((0, 2)), np.array([[0.0, -np.inf]])]
)
def test_what_is_no_likelihood(bad):
    with pytest.raises(ValueError, match="one row and one model at least, all finite"):
        fit_mixture_weights(bad)
