"""Statements of *Correlated features*, each tried twice."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg, optimize, special, stats

from memdlib import ConditionalMaxEntClassifier
from memdlib.families import MultivariateNormal
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.pooled import PooledMoments
from tests.book.distributions import flattest


@pytest.mark.wrong("own covariances gain nothing", "lost, w", "lost, 0 * w")
def test_prop_co_pooled_witness():
    rng, model = np.random.default_rng([17, 1]), MultivariateNormal()
    for _ in range(50):
        K, d = rng.integers((2, 1), 5)
        w, a = rng.dirichlet(np.ones(K)), rng.normal(size=(K, d, d + 2))
        own, means = a @ np.swapaxes(a, 1, 2), rng.normal(size=(K, d))
        pooled = np.broadcast_to(np.tensordot(w, own, axes=1), own.shape)
        apart, shared = (model.mean_parameters(means, C) for C in (own, pooled))
        lost = w @ (model.entropy(shared) - model.entropy(apart))
        assert_allclose(lost, w @ model.kl(apart, shared), rtol=1e-8)


def test_prop_co_pooled_second():
    """Rivals of the same pooled matrix: other covariances, and a uniform density."""
    rng = np.random.default_rng([17, 2])
    for _ in range(30):
        w, root = rng.dirichlet(np.ones(3)), rng.normal(size=(2, 4))
        C = root @ root.T
        E = rng.normal(size=(3, 2, 2))
        E = E + np.swapaxes(E, 1, 2)
        E -= np.tensordot(w, E, axes=1)
        E *= 0.5 * np.linalg.eigvalsh(C)[0] / np.abs(E).sum()
        best = np.log(2 * np.pi * np.e) + 0.5 * np.log(np.linalg.det(C))
        for t in (-1.0, -0.1, 0.1, 1.0):
            volumes = np.linalg.det(C + t * E)
            assert np.log(2 * np.pi * np.e) + 0.5 * w @ np.log(volumes) < best
        assert np.log(12 * np.sqrt(np.linalg.det(C))) < best


@pytest.mark.wrong("coordinates of variance two", "white.T, np", "white.T, 2 * np")
def test_thm_co_whitened_witness():
    rng, normal, K = np.random.default_rng([17, 3]), MultivariateNormal(), 3
    for n, d in ((9, 25), (40, 6)) * 10:
        y = np.arange(n) % K
        X = (
            rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
            + rng.normal(size=(K, d))[y]
        )
        model = CorrelatedMeMdClassifier(correlation_shrinkage=0.3).fit(X, y)
        w, means = (
            model.class_prior_,
            np.array([X[y == k].mean(axis=0) for k in range(K)]),
        )
        C = (X - means[y]).T @ (X - means[y]) / n * (0.7 + 0.3 * np.eye(d))
        mu = normal.mean_parameters(means, np.broadcast_to(C, (K, d, d)))
        J = model.scores_
        assert_allclose(J.sum(), normal.js_gm(mu, w), rtol=1e-9)
        sd = np.sqrt(np.diag(C))
        white = np.linalg.inv(linalg.sqrtm(C / np.outer(sd, sd)).real) / sd
        assert_allclose(white @ C @ white.T, np.eye(d), rtol=0, atol=1e-6)
        assert_allclose(J, w @ ((means - w @ means) @ white.T) ** 2, rtol=1e-9)
        # no rotation has correlations with the features of a larger sum
        turned = stats.ortho_group(d, seed=n).rvs(20) @ white
        sums = np.einsum("rij,ji->r", turned, C / sd)
        assert sums.max() < np.trace(white @ C / sd)


@pytest.mark.wrong("divergences before whitening add up", "/ sd @ half", "/ sd")
@pytest.mark.wrong("nearest to every feature", "near.sum() > 1 + left", "near[0] > 1")
def test_thm_co_whitened_second():
    """Mahalanobis distances, all sets of coordinates, and a triangular map."""
    rng, w = np.random.default_rng([17, 4]), np.array([0.5, 0.3, 0.2])
    for _ in range(25):
        root, means = rng.normal(size=(5, 8)), rng.normal(size=(3, 5))
        C = root @ root.T
        sd = np.sqrt(np.diag(C))
        values, vectors = np.linalg.eigh(C / np.outer(sd, sd))
        half = vectors / np.sqrt(values) @ vectors.T
        M = means / sd @ half
        pairs, squares = 0.0, np.zeros(5)
        for k, i in combinations(range(3), 2):
            gap = means[k] - means[i]
            pairs += w[k] * w[i] * gap @ np.linalg.solve(C, gap)
            squares += w[k] * w[i] * (M[k] - M[i]) ** 2
        J = w @ (M - w @ M) ** 2
        assert_allclose(J.sum(), pairs, rtol=1e-9)
        for size in (1, 2, 3, 4):
            sets = map(list, combinations(range(5), size))
            best = max(sets, key=lambda A, squares=squares: squares[A].sum())
            assert set(best) == set(np.argsort(-J)[:size])
    R = np.array([[1, 0.8], [0.8, 1]])
    near = np.diag(linalg.sqrtm(R))
    left = np.linalg.cholesky(R)[1, 1]  # what the first feature does not explain
    assert_allclose([*near, left], [2 / np.sqrt(5), 2 / np.sqrt(5), 0.6], rtol=1e-12)
    assert near.sum() > 1 + left


@pytest.mark.wrong("no eigenvalue is below 1.1 shares", ">= share", ">= 1.1 * share")
@pytest.mark.wrong("the strength of the penalty is the share", " / (1 - share)", "")
def test_prop_co_relaxed_witness():
    rng = np.random.default_rng([17, 5])
    for n, d in ((6, 15), (20, 5)) * 20:
        X, share = rng.normal(size=(n, d)), rng.uniform(0.05, 0.95)
        pooled = PooledMoments.of(X, np.zeros(n, dtype=int), 1, np.ones(n))
        root = pooled.inverse_root(share)(np.eye(d))
        covariance = np.linalg.inv(root @ root)
        R, tau = pooled.residuals.T @ pooled.residuals, share / (1 - share)
        level = (1 + tau) * covariance  # where the gradient of the dual vanishes
        assert_allclose(R + tau * np.eye(d), level, rtol=0, atol=1e-9 * (1 + tau))
        least = np.linalg.eigvalsh(covariance)[0]
        assert least >= share * (1 - 1e-9)
        assert (least < share * (1 + 1e-9)) == (n < d)  # fewer rows: singular


def test_prop_co_relaxed_second():
    """A search over precision matrices of two features."""
    rng = np.random.default_rng([17, 6])
    for _ in range(8):
        r, share = rng.uniform((-1, 0.1), (1, 0.9))
        R, tau = np.array([[1, r], [r, 1]]), share / (1 - share)

        def factor(c):
            return np.array([[np.exp(c[0]), 0], [c[1], np.exp(c[2])]])

        def penalised(c, R=R, tau=tau):
            precision, log_det = factor(c) @ factor(c).T, 2 * (c[0] + c[2])
            dual = 0.5 * np.sum(precision * R) - 0.5 * log_det
            return dual + tau * 0.5 * (np.trace(precision) - log_det - 2)

        L = factor(optimize.minimize(penalised, np.zeros(3), tol=1e-14).x)
        expected = [[1, (1 - share) * r], [(1 - share) * r, 1]]
        assert_allclose(np.linalg.inv(L @ L.T), expected, rtol=0, atol=1e-4)


@pytest.mark.filterwarnings("ignore:accuracy is")  # there is no intercept
@pytest.mark.wrong("one multiplier is an inverse temperature", "* above > 0", "> 0")
@pytest.mark.wrong("the multipliers are temperatures", "dot(beta,", "dot(1 / beta,")
def test_prop_co_multipliers_witness():
    rng, signs = np.random.default_rng([17, 9]), set()
    for _ in range(40):
        y = rng.integers(2, size=60)
        own = np.arange(60), y
        scores = rng.normal(size=(3, 60, 2)) * rng.uniform(0.5, 20)
        scores[:, *own] += rng.uniform(-0.6, 1.5, size=(3, 1))
        lead = np.diff(scores, axis=2)[..., 0].T
        fit = ConditionalMaxEntClassifier(C=np.inf, fit_intercept=False, tol=1e-7)
        beta = np.diff(fit.fit(lead, y).coef_, axis=0)[0]
        p = special.softmax(np.tensordot(beta, scores, 1), axis=1)
        expects = (p * scores).sum(axis=2).mean(axis=1)
        observes = scores[:, *own].mean(axis=1)
        assert_allclose(expects, observes, rtol=0, atol=1e-6 * scores.std())
        # steps along which no constraint and no row's sum changes
        steps = linalg.null_space(lead.T) @ rng.normal(size=(57, 20))
        steps *= 1e-3 * p.min() / np.abs(steps).max(axis=0)
        others = p + steps.T[:, :, None] * [-1, 1]
        entropies = special.entr(others).sum(axis=(1, 2))
        assert entropies.max() <= special.entr(p).sum() + 1e-12
        above = observes[0] - scores[0].mean()
        assert np.diff(fit.fit(lead[:, :1], y).coef_, axis=0).item() * above > 0
        signs.add(above > 0)
    assert signs == {True, False}


def test_prop_co_multipliers_second():
    """A search over all posteriors of four rows, and a grid of multipliers."""
    rng = np.random.default_rng([17, 10])
    for sign in (1, -1):
        scores = 3 * rng.normal(size=(2, 4, 3))
        scores[1] *= sign
        levels = 0.6 * scores[..., 0].mean(axis=1) + 0.4 * scores.mean(axis=(1, 2))
        A = np.vstack([np.kron(np.eye(4), np.ones(3)), scores.reshape(2, 12) / 4])
        b = np.append(np.ones(4), levels)
        found = flattest(A, b, np.ones(12))

        def posterior(beta, scores=scores):
            return special.softmax(np.tensordot(beta, scores, 1), axis=1).ravel()

        beta = optimize.root(
            lambda t, A=A, b=b: A[4:] @ posterior(t) - b[4:], [0.1, 0.1], tol=1e-12
        ).x
        assert_allclose(found, posterior(beta), rtol=0, atol=1e-4)
        one = scores[0] - scores[0].mean(axis=1, keepdims=True)
        level, grid = sign * one.max(axis=1).mean() / 2, np.linspace(-9, 9, 3601)
        losses = special.logsumexp(np.multiply.outer(grid, one), axis=2).mean(axis=1)
        place = (losses - grid * level).argmin()
        assert 0 < place < 3600
        assert sign * grid[place] > 0
