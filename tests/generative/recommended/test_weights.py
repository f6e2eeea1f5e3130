import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from memdlib.generative.recommended import weights as weights_module
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


@pytest.mark.parametrize(("n", "J"), [(1, 1), (1, 3), (7, 2), (20, 5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gap_of_equal_weights_is_that_of_the_largest_slope(n, J, weighted):
    log_q = told([9, n], n, J, 2.0)
    counts = np.random.default_rng([46, n]).uniform(0.2, 3.0, n) if weighted else None
    found = fit_mixture_weights(log_q, counts, tol=10.0)
    c, q = np.ones(n) if counts is None else counts, np.exp(log_q)
    slopes = [
        (sum(c[i] * q[i, j] / q[i].mean() for i in range(n)) + 1) / (1 + c.sum())
        for j in range(J)
    ]
    assert found.gap == pytest.approx(np.log(max(slopes)), abs=1e-12)
    assert found.n_iter == 0
    np.testing.assert_allclose(found.weights, 1 / J, rtol=1e-15)
    loss = -np.average(np.log(q.mean(axis=1)), weights=c)
    assert found.log_loss == pytest.approx(loss, rel=1e-12)
    again = fit_mixture_weights(log_q, counts, tol=float(np.log(max(slopes))) + 1e-12)
    assert again.n_iter == 0


def test_a_closer_tolerance_takes_more_steps():
    log_q = told(11, 50, 5, 3.0)
    rough, fine = (fit_mixture_weights(log_q, tol=tol) for tol in (1e-2, 1e-10))
    assert 1e-10 < rough.gap <= 1e-2
    assert 0.0 <= fine.gap <= 1e-10
    assert 1 <= rough.n_iter < fine.n_iter


def test_rows_that_no_model_foresees_move_the_loss_alone():
    log_q = told(12, 30, 4, 2.0)
    below = np.random.default_rng([46, 12]).uniform(1e3, 1e5, (30, 1))
    one, two = fit_mixture_weights(log_q), fit_mixture_weights(log_q - below)
    np.testing.assert_allclose(two.weights, one.weights, rtol=0, atol=1e-7)
    assert two.log_loss == pytest.approx(one.log_loss + below.mean(), rel=1e-9)


def test_a_single_model_has_all_the_weight():
    found = fit_mixture_weights([[-1.0], [-4.0]], [3.0, 1.0])
    assert found.weights.tolist() == [1.0]
    assert (found.log_loss, found.gap, found.n_iter) == (1.75, 0.0, 0)


def test_a_gap_out_of_reach_is_told(monkeypatch):
    monkeypatch.setattr(weights_module, "_MAX_ITER", 2)
    message = (
        r"^the weights of 4 models are within [0-9.e+-]+ nats a row of the best ones "
        r"after 2 steps, not within tol=1e-13$"
    )
    with pytest.raises(RuntimeError, match=message):
        fit_mixture_weights(told(13, 37, 4, 5.0), tol=1e-13)


@pytest.mark.parametrize("tol", [0.0, -1.0, np.nan])
def test_a_tolerance_is_above_zero(tol):
    with pytest.raises(ValueError, match="tol"):
        fit_mixture_weights(np.zeros((2, 2)), tol=tol)


def test_the_tolerance_is_the_one_documented():
    default = inspect.signature(fit_mixture_weights).parameters["tol"].default
    assert f"tol : float > 0, default={default:.0e}".replace("e-0", "e-") in (
        fit_mixture_weights.__doc__
    )
