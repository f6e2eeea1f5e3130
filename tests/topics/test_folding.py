import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq, minimize
from sklearn.exceptions import ConvergenceWarning

from memdlib.topics import folding
from memdlib.topics.folding import fold_in
from tests.topics.reference import documents, objective, parameters, step


def even(Q):
    return np.full(len(Q), 1 / len(Q))


@pytest.mark.parametrize("n_topics", [2, 3, 8])
def test_against_a_general_solver(n_topics):
    X, _, Q = documents(n=12, n_topics=n_topics, seed=n_topics)
    theta, gap = fold_in(X, Q, even(Q))
    assert gap.max() < 1e-8 * X.sum(axis=1).max()
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-14)
    assert theta.min() >= 0
    for counts, found, certified in zip(X, theta, gap, strict=True):
        seen = counts > 0

        def loss(t, counts=counts, seen=seen):
            return -counts[seen] @ np.log(t @ Q[:, seen])

        peer = minimize(
            loss,
            even(Q),
            method="SLSQP",
            bounds=[(0, 1)] * n_topics,
            constraints={"type": "eq", "fun": lambda t: t.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        ).x
        peer = np.maximum(peer, 0) / np.maximum(peer, 0).sum()
        assert loss(found) <= loss(peer) + certified + 1e-9
        np.testing.assert_allclose(found, peer, rtol=1e-7, atol=2e-3)


def test_two_topics_by_the_root_of_the_derivative():
    Q = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    counts = np.array([5.0, 3.0, 4.0])

    def slope(t):
        return counts @ ((Q[0] - Q[1]) / (t * Q[0] + (1 - t) * Q[1]))

    t = brentq(slope, 0, 1, xtol=1e-14)
    for kind in (np.asarray, sparse.csr_array):
        theta, _ = fold_in(kind(counts[None]), Q, even(Q))
        np.testing.assert_allclose(theta, [[t, 1 - t]], rtol=1e-7, atol=1e-6)
    theta, _ = fold_in(np.array([[0.0, 0.0, 2.0]]), Q, even(Q))
    np.testing.assert_allclose(theta, [[0, 1]], rtol=1e-7, atol=1e-9)


def test_em_never_gets_beyond_the_certificate():
    X, _, _ = documents(n=30, seed=5)
    Q = parameters(30, 25, 6)[1]
    theta, gap = fold_in(X, Q, even(Q))
    other = np.full(theta.shape, 1 / 6)
    for _ in range(3000):
        other = step(X, other, Q)[0]
    gain = objective(X, other, Q) - objective(X, theta, Q)
    assert gain <= gap.sum()


def test_more_topics_than_words_have_a_middle():
    Q = parameters(1, 6, 9, seed=3)[1]
    theta, gap = fold_in(np.array([[3.0, 2, 0, 0, 0, 0]]), Q, even(Q))
    assert gap[0] < 5e-9
    twice = np.vstack([Q, Q])
    double, _ = fold_in(np.array([[3.0, 2, 0, 0, 0, 0]]), twice, even(twice))
    np.testing.assert_allclose(double[0, :9], double[0, 9:], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(
        double[0, :9] + double[0, 9:], theta[0], rtol=1e-7, atol=1e-3
    )


def test_what_tells_nothing_is_passed_over():
    Q = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0]])
    prior = np.array([0.7, 0.3, 0.0])
    X = np.array([[0, 0, 0, 0], [0, 0, 0, 9], [3, 4, 1, 0], [3, 4, 1, 50.0]])
    theta, gap = fold_in(X, Q, prior)
    np.testing.assert_array_equal(theta[:2], [prior, prior])
    np.testing.assert_allclose(theta[2], [0.75, 0.25, 0], rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(theta[2], theta[3])
    assert gap[0] == gap[1] == 0 and not theta[2:, 2].any()


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_only_shares_of_counts_matter(scale):
    X, _, Q = documents(n=6)
    theta, _ = fold_in(X, Q, even(Q))
    np.testing.assert_allclose(
        fold_in(scale * X, Q, even(Q))[0], theta, rtol=1e-7, atol=1e-7
    )


def test_extreme_members():
    rng = np.random.default_rng([92, 9])
    Q = 10.0 ** rng.uniform(-250, 0, size=(4, 30))
    Q /= Q.sum(axis=1, keepdims=True)
    X = 10.0 ** rng.uniform(-12, 6, size=(20, 30))
    theta, gap = fold_in(X, Q, even(Q))
    assert (gap <= 1e-9 * X.sum(axis=1)).all() and np.isfinite(theta).all()


def test_a_solver_that_is_stopped_says_so(monkeypatch):
    monkeypatch.setattr(folding, "_MAX_STEPS", 3)
    X, _, Q = documents(n=4)
    with pytest.warns(ConvergenceWarning, match="certified to .* nats a count only; c"):
        theta, gap = fold_in(X, Q, even(Q))
    monkeypatch.undo()
    best, _ = fold_in(X, Q, even(Q))
    for x, t, b, g in zip(X, theta, best, gap, strict=True):
        assert objective(x[None], b[None], Q) <= objective(x[None], t[None], Q) + g


@pytest.mark.parametrize("tiny", [5e-324, 1e-308])
def test_a_count_lost_beside_the_others_moves_nothing(tiny):
    Q = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    with_it, gap = fold_in(np.array([[3e5, tiny, 1e5]]), Q, even(Q))
    without, _ = fold_in(np.array([[3e5, 0.0, 1e5]]), Q, even(Q))
    np.testing.assert_allclose(with_it, without, rtol=0, atol=1e-9)
    assert gap[0] < 1e-3


@pytest.mark.parametrize("large", [1e306, 1e308])
def test_counts_that_have_no_sum_are_refused(large):
    Q = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    counts = np.array([[1.0, 1.0, 0.0], [large, large, large]])
    message = "row 1 of the counts, .* divide the row by its largest value"
    with pytest.raises(ValueError, match=message):
        fold_in(counts, Q, even(Q))
    theta, _ = fold_in(counts / counts.max(axis=1, keepdims=True), Q, even(Q))
    np.testing.assert_allclose(theta[1].sum(), 1, rtol=1e-14)
