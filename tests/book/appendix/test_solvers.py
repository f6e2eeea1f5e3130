"""Statements of *Solvers and calibration*, each tried twice."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy import optimize, special
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression

from memdlib import ConditionalMaxEntClassifier
from memdlib.conditional import ConditionalDual, iterative_scaling
from memdlib.datasets import simulate_text_counts
from memdlib.generative import fit_calibration
from tests.book.distributions import logistic_loss

WINE, Y = load_wine(return_X_y=True)
MEMBER, DESIGN = np.eye(3)[Y], np.column_stack([np.ones(178), WINE[:, [2, 3]]])
Z = (DESIGN[:, 1:] - DESIGN[:, 1:].mean(axis=0)) / DESIGN[:, 1:].std(axis=0)


@pytest.mark.wrong("the outer product is added", "diag(s) - np", "diag(s) + np")
def test_prop_cl_softmax_witness():
    rng = np.random.default_rng([12, 3])
    h = 1e-6 * np.eye(5)
    for _ in range(20):
        eta = 3 * rng.normal(size=5)
        s = special.softmax(eta)
        moved = [special.softmax(eta + side * h, axis=1) for side in (1, -1)]
        expected = np.diag(s) - np.outer(s, s)
        assert_allclose((moved[0] - moved[1]) / 2e-6, expected, rtol=0, atol=1e-8)
        assert_allclose(special.softmax(eta + rng.normal()), s, rtol=1e-12)
        theta = 0.1 * rng.normal(size=(3, 3))
        dual = ConditionalDual.of(DESIGN, Y, 3, np.ones(178), np.zeros(3))
        excess = special.softmax(DESIGN @ theta.T, axis=1) - MEMBER
        gradient = dual.evaluate(theta)[1]
        assert_allclose(gradient, excess.T @ DESIGN / 178, rtol=0, atol=1e-12)


def test_prop_cl_softmax_second():
    eta, shift = sympy.symbols("a b c", real=True), sympy.Symbol("Delta", real=True)
    s = [sympy.exp(v) / sum(map(sympy.exp, eta)) for v in eta]
    for k in range(3):
        for j, v in enumerate(eta):
            stated = s[k] * (int(k == j) - s[j])
            assert sympy.simplify(sympy.diff(s[k], v) - stated) == 0
        moved = s[k].subs({v: v + shift for v in eta}, simultaneous=True)
        assert sympy.simplify(moved - s[k]) == 0


@pytest.mark.wrong("a hundred times faster", "/ (2 * np.ar", "/ (200 * np.ar")
def test_prop_cl_descent_witness():
    """Against any rival: overlapping wines, and two species that a line separates."""
    rng = np.random.default_rng([12, 4])
    iris = np.column_stack([np.ones(100), *load_iris().data[:100, :2].T])
    for rows, y, K in (
        (np.column_stack([np.ones(178), Z]), Y, 3),
        (iris, np.arange(100) // 50, 2),
    ):
        dual = ConditionalDual.of(rows, y, K, np.ones(len(y)), np.zeros(3))
        L = 0.5 * np.linalg.eigvalsh(rows.T @ rows / len(y)).max()
        theta, values = np.zeros((K, 3)), []
        for _ in range(400):
            value, gradient, _ = dual.evaluate(theta)
            values.append(value)
            theta = theta - gradient / L
        assert np.all(np.diff(values) < 0)
        far = -20 * dual.evaluate(np.zeros((K, 3)))[1]
        for rival in (theta, 3 * theta, far, rng.normal(size=(K, 3))):
            bound = L * (rival**2).sum() / (2 * np.arange(1, 400))
            above = np.array(values[1:]) - dual.evaluate(rival)[0]
            assert np.all(above <= bound + 1e-12)


@pytest.mark.wrong("the curvature is at most .45", "largest <= 0.5", "largest <= 0.45")
def test_prop_cl_descent_second():
    """The largest curvature of softmax by brute force, and the bound from scratch."""
    P = np.random.default_rng([12, 5]).dirichlet(np.full(4, 0.3), size=3000)
    P[0] = [0.5, 0.5, 0, 0]
    H = np.einsum("nk,kj->nkj", P, np.eye(4)) - np.einsum("nk,nj->nkj", P, P)
    largest = np.linalg.eigvalsh(H).max()
    assert 0.49 < largest <= 0.5
    rows = np.column_stack([np.ones(178), Z])
    best = optimize.minimize(logistic_loss, np.zeros(9), (rows, Y), jac=True)
    L = 0.5 * np.linalg.norm(rows / np.sqrt(178), 2) ** 2
    at, path = np.zeros(9), []
    for _ in range(300):
        at = at - logistic_loss(at, rows, Y)[1] / L
        path.append(logistic_loss(at, rows, Y)[0] - best.fun)
    assert np.all(np.diff(path) < 0)
    assert np.all(path <= L * (best.x**2).sum() / (2 * np.arange(1, 301)))


@pytest.mark.wrong("twice the penalty", ", l2 * model.coef_", ", 2 * l2 * model.coef_")
def test_prop_cl_ridge_witness():
    rng, size = np.random.default_rng([12, 6]), np.abs(WINE).sum(axis=0)
    for l2 in (0.5, 20.0):
        model = ConditionalMaxEntClassifier(C=1 / l2, tol=1e-7).fit(WINE, Y)
        lack = MEMBER - model.predict_proba(WINE)
        assert_allclose(lack.sum(axis=0), 0, rtol=0, atol=1e-4)
        off = lack.T @ WINE
        assert_allclose(off / size, l2 * model.coef_ / size, rtol=0, atol=1e-6)
        assert_allclose(model.coef_.sum(axis=0), 0, rtol=0, atol=1e-9)

        def cost(coef, l2=l2, model=model):
            log_p = special.log_softmax(WINE @ coef.T + model.intercept_, axis=1)
            return 0.5 * l2 * (coef**2).sum() - (MEMBER * log_p).sum()

        for step in 10.0 ** rng.uniform(-4, -1, size=30):  # others do worse
            change = step * rng.normal(size=model.coef_.shape) / WINE.std(axis=0)
            assert cost(model.coef_ + change) > cost(model.coef_)


def test_prop_cl_ridge_second():
    """The steps of part 2 on separable species end where scikit-learn does."""
    iris, y, rho = load_iris().data[:100, :2], np.arange(100) // 50, 0.05
    x = (iris - iris.mean(axis=0)) / iris.std(axis=0)
    length = np.linalg.norm(np.column_stack([np.ones(100), x]) / 10, 2)
    eta = 1 / (0.5 * length**2 + rho)
    W, b = np.zeros((2, 2)), np.zeros(2)
    for _ in range(4000):
        excess = special.softmax(x @ W.T + b, axis=1) - np.eye(2)[y]
        W = (1 - eta * rho) * W - eta * excess.T @ x / 100
        b = b - eta * excess.mean(axis=0)
    # its penalty is on the difference of the coefficients
    peer = LogisticRegression(
        C=2 / (100 * rho), tol=1e-12, max_iter=1000, solver="newton-cholesky"
    ).fit(x, y)
    assert_allclose(W[1] - W[0], peer.coef_[0], rtol=1e-10)
    assert_allclose(b[1] - b[0], peer.intercept_[0], rtol=1e-5)
    assert_allclose(-excess.T @ x / 100, rho * W, rtol=1e-6)


@pytest.mark.wrong("every step gains a ninth more", "sum() / B", "sum() / B / 0.9")
def test_thm_cl_scaling_witness():
    text = simulate_text_counts(
        n_documents=60, n_words=6, n_informative=6, n_classes=3,
        document_length=6.0, lift=3.0, random_state=3,
    )  # fmt: skip
    words, y = 1.0 * (text.X.toarray() > 0), text.y
    goal = ConditionalMaxEntClassifier(C=np.inf, fit_intercept=False, tol=1e-7)
    goal = goal.fit(words, y).predict_proba(words)
    share, size, none = np.full((60, 1), 1 / 60), words.sum(axis=1).max(), np.zeros(6)
    observed = (np.eye(3)[y] * share).T @ words

    def promised(observed, expected, B):
        return special.kl_div(observed, expected).sum() / B

    for improved in (False, True):
        theta, least, gaps = np.zeros((3, 6)), np.inf, []
        for _ in range(300):
            p = special.softmax(words @ theta.T, axis=1)
            gaps.append((share * special.rel_entr(goal, p)).sum())
            assert gaps[-1] <= least
            expected = (p * share).T @ words
            least = gaps[-1] - promised(observed, expected, size) + 1e-10
            args = observed, expected, theta, none
            if improved:
                step = iterative_scaling.varying_step(
                    words, iterative_scaling.feature_sums(words), p * share, *args
                )
            else:
                step = iterative_scaling.constant_step(size, *args)
            theta = theta + step
        assert gaps[-1] < 1e-3 * gaps[0]
    # a feature for each class and B = 1: one step arrives, and gains what is promised
    given, flat, zero = np.array([[0.8], [0.2]]), np.full((2, 1), 0.5), np.zeros((2, 1))
    step = iterative_scaling.constant_step(1.0, given, flat, zero, np.zeros(1))
    assert_allclose(special.softmax(step, axis=0), given, rtol=1e-12)
    assert special.rel_entr(given, flat).sum() >= promised(given, flat, 1.0) - 1e-12


def test_thm_cl_scaling_second():
    """Both from scratch where no finite parameters are best: three rows are tied."""
    x, y = np.array([0.0, 1, 2, 3, 3, 3, 4]), np.array([0, 0, 0, 0, 1, 1, 1])
    Phi = np.zeros((7, 2, 3))
    Phi[:, 1, 0], Phi[:, 1, 1], Phi[:, 0, 2] = 0.2 * x, 1, 1 - 0.1 * x
    limit = np.where(x == 3, 2 / 3, x > 3)
    limit = np.column_stack([1 - limit, limit])
    means, total = Phi[np.arange(7), y].mean(axis=0), Phi.sum(axis=2)
    assert_allclose(np.einsum("ic,icj->j", limit, Phi) / 7, means, rtol=1e-12)
    for improved, steps in ((False, 4000), (True, 1500)):
        p, left = np.full((7, 2), 0.5), []
        for _ in range(steps):
            of_features = p[:, :, None] * Phi / 7
            delta = np.log(means / of_features.sum(axis=(0, 1))) / total.max()
            for _ in range(6 * improved):  # Newton's steps for the equation of IIS
                grown = of_features * np.exp(total[:, :, None] * delta)
                slope = (grown * total[:, :, None]).sum(axis=(0, 1))
                delta = delta - (grown.sum(axis=(0, 1)) - means) / slope
            left.append(special.rel_entr(limit, p).sum() / 7)
            p = special.softmax(np.log(p) + Phi @ delta, axis=1)
        assert np.all(np.diff(left) < 0)
        assert_allclose(p, limit, rtol=0, atol=0.05)


@pytest.mark.wrong("no row costs more than log(n + 1)", "2 * K * (n + 1)", "n + 1")
def test_prop_co_mixture_witness():
    rng = np.random.default_rng([17, 12])
    for _ in range(100):
        n, K = rng.integers((3, 2), (40, 9))
        y = rng.integers(K, size=n)
        own, scores = (np.arange(n), y), rng.normal(size=(n, K))
        scores[own] += rng.uniform(0, 5)
        scores[rng.integers(n)] *= 10.0 ** rng.integers(0, 9)
        fit = fit_calibration([scores], y)
        top = np.sort(scores, axis=1)
        start = 3.0 / np.median(top[:, -1] - top[:, -2])
        most = np.log(2 * K * (n + 1))
        new = 10.0 ** rng.integers(-2, 9) * rng.normal(size=(50, K))
        log_q = fit.log_posterior([new])
        assert log_q.min() >= -most - 1e-9
        assert np.all(log_q.argmax(axis=1) == new.argmax(axis=1))
        plain = -special.log_softmax(start * scores, axis=1)[own].mean()
        assert fit.log_loss <= plain + np.log1p(1 / (2 * n + 1)) + 1e-9
        moved = np.log(fit.multipliers[0] / start)
        assert abs(moved) <= np.sqrt(2 * n * most)


@pytest.mark.wrong("nine tenths of the bound of a row", "[np.log(K", "[0.9 * np.log(K")
@pytest.mark.wrong("nine tenths of what it adds", "np.log(1 +", "0.9 * np.log(1 +")
@pytest.mark.wrong("nine tenths of what a row may change", "np.log(m", "0.9 * np.log(m")
def test_prop_co_mixture_second():
    """The formulas on a grid of multipliers, and scores without end."""
    rng, logs = np.random.default_rng([17, 13]), np.linspace(-12, 12, 61)

    def bounds(m, K):
        return np.array([np.log(K * (m + 1)), np.log(1 + 1 / m), np.log(m * K + 1)])

    def cost(scores, m):
        p = special.softmax(scores, axis=-1)
        return -np.log((m * p + 1 / scores.shape[-1]) / (m + 1))

    for _ in range(100):
        n, K = rng.integers(2, (30, 7))
        m, y = 2 * n + 1, rng.integers(K, size=n)
        scores = rng.normal(size=(n, K)) * 10.0 ** rng.integers(-2, 4, size=(n, 1))
        start = 10.0 ** rng.uniform(-3, 3)
        beta = start * np.exp(logs)[:, None, None]
        costs = cost(beta * scores, m)
        own = costs[:, np.arange(n), y].sum(axis=1)
        best = (own + logs**2 / 2).argmin()
        plain = special.logsumexp(start * scores, axis=1) - start * scores[range(n), y]
        row, price, span = bounds(m, K)
        assert costs.max() <= row + 1e-9
        assert own[best] <= plain.sum() + n * price + 1e-9
        assert abs(logs[best]) <= np.sqrt(2 * n * row)
        assert np.ptp(costs) <= span + 1e-9
    # scores without end approach three of them: rows that are right and wrong by far
    m, K = 19, 1000
    right, wrong = cost(1e4 * np.eye(K)[:1], m)[0, :2]
    reached = np.array([wrong, right, wrong - right]) / bounds(m, K)
    assert np.all((reached > 0.98) & (reached <= 1 + 1e-12))
