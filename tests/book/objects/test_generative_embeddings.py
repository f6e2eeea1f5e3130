"""Statements of *Eight ways to read a model*."""

from functools import cache

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import kl_div, xlogy

from memdlib import PLSA
from memdlib.families import get
from memdlib.topics import (
    GenerativeEmbedding,
    fisher_scores,
    fold_in,
    free_energy_terms,
    log_likelihoods,
    maxent_scores,
    posterior_divergences,
)


def documents(n=20, d=8):
    """Documents of two classes, each with two topics of its own."""
    rng = np.random.default_rng([15, 20])
    topics = rng.dirichlet(np.full(d, 0.7), size=(2, 2))
    shares = rng.dirichlet([1, 1], size=(2, n))
    return rng.poisson(30 * shares @ topics).reshape(-1, d) + 1.0, np.repeat([0, 1], n)


@cache
def fitted():
    X, _ = documents()
    fit = PLSA(2, smoothing=0.1, tol=1e-10, max_iter=20_000, random_state=0)
    return X, fit.fit(X)


def posteriors(c, theta, Q):
    """Posteriors and expected counts, documents first."""
    q = theta[:, :, None] * Q / (theta @ Q)[:, None]
    return q, c[:, None] * q


@pytest.mark.wrong(
    "twin topics have the slope of the even share on both sides",
    "((1e-4, 1.0), (-1e-4, 0.0))",
    "((1e-4, 0.5), (-1e-4, 0.5))",
)
def test_prop_ge_gradient_witness():
    """Finite differences, topics folded in anew; the kink of twin topics."""
    X, fit = fitted()
    pi, components = fit.topic_prior_, fit.components_

    def reached(c, Q):
        theta, _ = fold_in(c[None], Q, pi)
        return xlogy(c, theta[0] @ Q).sum()

    of_words = fisher_scores(fit, X[:4])[:, 2:].reshape(4, 2, 8)
    twins = components[[0, 0]]
    for c, score in zip(X, of_words, strict=False):
        for z, w in np.ndindex(2, 8):
            step = np.zeros((2, 8))
            step[z, w] = 1e-5 * components[z, w]
            slope = reached(c, components + step) - reached(c, components - step)
            np.testing.assert_allclose(slope / (2 * step[z, w]), score[z, w], rtol=1e-3)
        for w in range(8):
            for h, share in ((1e-4, 1.0), (-1e-4, 0.0)):
                Q = twins.copy()
                Q[0, w] *= 1 + h
                slope = (reached(c, Q) - reached(c, twins)) / (h * c[w])
                np.testing.assert_allclose(slope, share, rtol=0, atol=1e-3)


@pytest.mark.wrong("the gradient is the expected counts", "C / Q", "C")
@pytest.mark.wrong("the slope does not depend on the side", "[1, 0]", "[1, 1]")
def test_prop_ge_gradient_second():
    """Posteriors written out after EM by hand; the likeliest shares of a grid."""
    X, fit = fitted()
    Q, theta = fit.components_, np.full((len(X), 2), 0.5)
    for _ in range(5000):
        theta = theta * ((X / (theta @ Q)) @ Q.T) / X.sum(axis=1, keepdims=True)
    C = posteriors(X, theta, Q)[1]
    expected = np.hstack([C.sum(axis=2) / fit.topic_prior_, (C / Q).reshape(-1, 16)])
    found = fisher_scores(fit, X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * found.max())

    share, first, c = np.linspace(0, 1, 2001)[:, None], Q[0], X[0]
    for w in range(8):
        slopes = []
        for h in (1e-6, -1e-6):
            moved = first + h * first[w] * (np.arange(8) == w)
            highest = xlogy(c, share * moved + (1 - share) * first).sum(axis=1).max()
            slopes.append((highest - xlogy(c, first).sum()) / (h * c[w]))
        np.testing.assert_allclose(slopes, [1, 0], rtol=0, atol=1e-4)


@pytest.mark.wrong("TOP is LLR", "+ np.outer(r, r)", "+ 0")
def test_prop_ge_top_witness():
    X, y = documents()
    top, llr = (
        GenerativeEmbedding(kind, PLSA(2, random_state=0)).fit(X, y).transform(X)
        for kind in ("TOP", "LLR")
    )
    r = top[:, 0]
    np.testing.assert_allclose(top @ top.T, llr @ llr.T + np.outer(r, r), rtol=1e-12)


@pytest.mark.wrong(
    "TOP is LLR and the log-odds, with all signs alike", "-parts[0]", "parts[0]"
)
def test_prop_ge_top_second():
    """Gradients and likelihoods of the two models, put together by hand."""
    X, y = documents()
    X, y = X[5:], y[5:]  # classes of unequal size
    embedding = GenerativeEmbedding("TOP", PLSA(2, random_state=0)).fit(X, y)
    parts = [fisher_scores(one, X) for one in embedding.models_]
    logs = [log_likelihoods(one, X) for one in embedding.models_]
    odds = logs[1] - logs[0] + np.log((y == 1).mean() / (y == 0).mean())
    by_hand = np.hstack([odds[:, None], -parts[0], parts[1]])
    np.testing.assert_allclose(embedding.transform(X), by_hand, rtol=1e-9, atol=1e-9)


@pytest.mark.wrong(
    "the gradient in the words is that in the prior",
    "slope, theta[:, z]",
    "slope, theta[:, z] / 0.5",
)
def test_prop_ge_literal_witness():
    """Finite differences at a fitted model."""
    X, fit = fitted()
    theta, Q = fit.transform(X), fit.components_
    joint = theta * (X.sum(axis=1) / X.sum())[:, None]  # of topic and document
    for z, w in np.ndindex(2, 8):
        moved = Q.copy()
        moved[z, w] += 1e-6
        slope = np.log(joint @ moved.sum(axis=1) / joint.sum(axis=1)) / 1e-6
        np.testing.assert_allclose(slope, theta[:, z], rtol=0, atol=1e-4)


@pytest.mark.wrong("both derivatives are alike", "topics[z] / pi[z]", "topics[z]")
def test_prop_ge_literal_second():
    """Complex steps, which have no error of differences."""
    rng = np.random.default_rng([15, 12])
    for _ in range(50):
        pi, R, Q = (
            rng.dirichlet(np.ones(3)),
            rng.random(3),
            rng.dirichlet(np.ones(4), 3),
        )
        topics = pi * R / (pi @ R)
        for z, unit in enumerate(1e-30j * np.eye(3)):
            slope = np.log(((pi + unit) * R) @ Q.sum(axis=1)).imag / 1e-30
            np.testing.assert_allclose(slope, topics[z] / pi[z], rtol=1e-12)
            words = Q + np.outer(unit, np.eye(4)[1])
            slope = np.log((pi * R) @ words.sum(axis=1)).imag / 1e-30
            np.testing.assert_allclose(slope, topics[z], rtol=1e-12)


@pytest.mark.wrong(
    "the free energy is a ninth larger at least", "-ell, rtol", "-ell / 0.9, rtol"
)
def test_prop_ge_energy_witness():
    """The terms add up to minus the log-likelihood; other posteriors give more."""
    X, fit = fitted()
    terms, ell = free_energy_terms(fit, X), log_likelihoods(fit, X)
    assert (terms[:, :2] <= 0).all()
    assert (terms[:, 2:] >= 0).all()
    np.testing.assert_allclose(terms.sum(axis=1), -ell, rtol=1e-12)
    q = np.random.default_rng([15, 13]).dirichlet([1, 1], size=(200, 40, 8))
    log_joint = np.log(fit.transform(X)[:, None, :] * fit.components_.T)
    other = (X[:, :, None] * (xlogy(q, q) - q * log_joint)).sum(axis=(2, 3))
    assert (other > -ell).all()


@pytest.mark.wrong(
    "the prior term has the sign of the entropy", "-xlogy(C, theta", "xlogy(C, theta"
)
def test_prop_ge_energy_second():
    """Each of the three parts, topic by topic, at the topics of the documents."""
    X, fit = fitted()
    theta, Q = fit.transform(X), fit.components_
    q, C = posteriors(X, theta, Q)
    parts = [xlogy(C, q), -xlogy(C, theta[:, :, None]), -xlogy(C, Q)]
    expected = np.hstack([part.sum(axis=2) for part in parts])
    np.testing.assert_allclose(free_energy_terms(fit, X), expected, rtol=0, atol=1e-9)
    likelihood = xlogy(X, theta @ Q).sum(axis=1)
    np.testing.assert_allclose(-expected.sum(axis=1), likelihood, rtol=1e-12)


@pytest.mark.wrong("the others are not there", "+ C", "+ 2 * C")
def test_prop_ge_pd_witness():
    """The change of the free energy of all, before and after."""
    X, fit = fitted()
    theta, mass = fit.transform(X), fit.topic_counts_
    found, counts = posterior_divergences(fit, X), mass[:, None] * fit.components_
    q, C = posteriors(X, theta, fit.components_)
    grown = counts + C
    moved = grown / grown.sum(axis=2, keepdims=True)
    own = (X[:, None] * (xlogy(q, q) - xlogy(q, theta[:, :, None]))).sum(axis=(1, 2))
    change = (
        own
        - xlogy(grown, moved).sum(axis=(1, 2))
        + xlogy(counts, fit.components_).sum()
    )
    np.testing.assert_allclose(found.sum(axis=1), change, rtol=0, atol=1e-8)
    assert (found[:, -2:] >= 0).all()


@pytest.mark.wrong(
    "the fit is to the words as they were", "@ np.log(new)", "@ np.log(Q[z])"
)
def test_prop_ge_pd_second():
    """Fit and cost of each topic."""
    X, fit = fitted()
    Q = fit.components_
    for c, t, found in zip(
        X, fit.transform(X), posterior_divergences(fit, X), strict=True
    ):
        for z, mass in enumerate(fit.topic_counts_):
            C = c * t[z] * Q[z] / (t @ Q)
            new = (mass * Q[z] + C) / (mass + C.sum())
            expected = [-C @ np.log(new), mass * kl_div(Q[z], new).sum()]
            np.testing.assert_allclose(
                found[[4 + z, 6 + z]], expected, rtol=0, atol=1e-8
            )


@pytest.mark.wrong(
    "the log-normaliser is finite on both sides of every parameter with a mean",
    "weight(3000.0, -0.02) > 1e10",
    "weight(3000.0, -0.02) < 1",
)
@pytest.mark.wrong(
    "at the end of the range the log-ratio needs the gradient",
    "(mean - x),",
    "(0 - x),",
)
def test_thm_ge_maxent_witness():
    """Finite differences of families, and a density at the end of its range."""
    h = 1e-6
    for name, x, means in (
        ("normal", [-1.0, 0.3, 2.0], ([0.2, 1.5], [1.0, 1.9])),
        ("poisson", [0.0, 1.0, 4.0], ([2.0], [0.7])),
        ("exponential", [0.1, 1.0, 3.0], ([2.0], [0.7])),
    ):
        family, x = get(name), np.array(x)[:, None]
        one, two = (family.natural(np.array([m])) for m in means)
        score = maxent_scores(x, one, name)[:, 0]
        for j, step in enumerate(h * np.eye(one.shape[1])):
            ahead, behind = (family.log_density(x, one + s * step) for s in (1, -1))
            slope = (ahead - behind).ravel() / (2 * h)
            np.testing.assert_allclose(slope, score[:, j], rtol=0, atol=1e-7)
        ratio = family.log_density(x, one) - family.log_density(x, two)
        linear = family.kl(*(np.array([m]) for m in means)) + score @ (one - two)[0]
        np.testing.assert_allclose(ratio.ravel(), linear, rtol=0, atol=1e-9)

    def weight(x, a):  # has a mean at a = 0, and no log-normaliser below
        return np.exp(-a * x) / (1 + x) ** 4

    norm = [integrate.quad(weight, 0, np.inf, (a,))[0] for a in (0.0, 1.0)]
    mean = integrate.quad(lambda x: x * weight(x, 0.0) / norm[0], 0, np.inf)[0]
    kl = np.log(norm[1] / norm[0]) + mean
    for x in (0.0, 0.5, 7.0):
        ratio = np.log(weight(x, 0.0) / norm[0] * norm[1] / weight(x, 1.0))
        np.testing.assert_allclose(ratio, kl - (mean - x), rtol=0, atol=1e-7)
    assert weight(3000.0, -0.02) > 1e10


@pytest.mark.wrong(
    "the log-ratio is linear with the divergence the other way round",
    "a * np.log(a / b) - a + b",
    "b * np.log(b / a) - b + a",
)
def test_thm_ge_maxent_second():
    """Formulas by hand and scipy's densities."""
    x = np.linspace(-3, 3, 13)
    for a, v, b, u in ((0.0, 1.0, 1.0, 2.0), (-1.0, 0.5, 0.3, 0.6)):
        kl = 0.5 * (np.log(u / v) + (v + (a - b) ** 2) / u - 1)
        linear = (
            kl + (a - x) * (b / u - a / v) + (a**2 + v - x**2) * 0.5 * (1 / v - 1 / u)
        )
        ratio = stats.norm.logpdf(x, a, v**0.5) - stats.norm.logpdf(x, b, u**0.5)
        np.testing.assert_allclose(ratio, linear, rtol=0, atol=1e-12)
    x = np.arange(12)
    for a, b in ((2.0, 0.7), (0.3, 5.0)):
        linear = a * np.log(a / b) - a + b + (a - x) * np.log(b / a)
        ratio = stats.poisson.logpmf(x, a) - stats.poisson.logpmf(x, b)
        np.testing.assert_allclose(ratio, linear, rtol=0, atol=1e-12)
