"""Statements of *More on topics and kernels*."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy.special import kl_div, rel_entr, xlogy

from memdlib import PLSA
from memdlib.divergences import jensen_shannon
from memdlib.kernels import exponential_js_kernel, jt_kernel, weighted_jt_kernel
from memdlib.topics import (
    GenerativeEmbedding,
    fisher_scores,
    fold_in,
    free_energy_terms,
    log_likelihoods,
    posterior_divergences,
)
from tests.book.topics.test_information_kernels import f
from tests.book.topics.test_plsa import shares


@pytest.mark.wrong("standing still is a maximum", "wants = slope", "wants = 0 * slope")
@pytest.mark.wrong("derivatives are at least counts", "theta <= 1.01", "theta >= 0.99")
def test_thm_pl_em_witness():
    """The climb of PLSA, its end, and hard topics, where EM stands still."""
    rng = np.random.default_rng([15, 3])
    for case in range(15):
        table = rng.poisson(1.5, size=(12, 9)) + np.eye(1, 9)
        to = {"tol": 1e-12, "max_iter": 50_000} if case < 3 else {"tol": 1e-4}
        fit = PLSA(3, alpha=0, **to, random_state=case).fit(table)
        assert np.diff(fit.history_).min() > -1e-9
        if case < 3:
            theta, Q = fit.transform(table), fit.components_
            ratio = table / (theta @ Q)
            in_theta = ratio @ Q.T / table.sum(axis=1, keepdims=True)
            in_Q = theta.T @ ratio / (theta.T @ ratio * Q).sum(axis=1, keepdims=True)
            assert (in_theta <= 1.01).all()
            assert (in_Q[Q > 1e-3] <= 1.01).all()
    theta, table = np.repeat(np.eye(2), 4, axis=0), rng.poisson(4.0, size=(8, 5)) + 1.0
    Q, length = shares(theta.T @ table), table.sum(axis=1)
    slope = (table / (theta @ Q)) @ Q.T
    np.testing.assert_allclose(theta * slope, theta * length[:, None], rtol=1e-12)
    moved = theta + 0.001 * (theta[:, ::-1] - theta)
    rise = xlogy(table, moved @ Q).sum(axis=1) - xlogy(table, theta @ Q).sum(axis=1)
    wants = slope.max(axis=1) > length * (1 + 1e-9)
    assert set(wants) == {True, False}
    assert ((rise > 0) == wants).all()


@pytest.mark.wrong("the divergences the other way round", "q, q_new", "q_new, q")
@pytest.mark.wrong("shares of documents are not in the gain", "N * rel", "0 * rel")
def test_thm_pl_em_second():
    """Responsibilities written out."""
    rng = np.random.default_rng([15, 8])
    for case in range(30):
        table = rng.poisson(2.0, size=(7, 6)) + 1.0
        length, N = table.sum(axis=1), table.sum()
        P, P_new = rng.dirichlet(np.ones(7)), length / N
        theta, Q = rng.dirichlet(np.ones(3), size=7), rng.dirichlet(np.ones(6), size=3)
        if case % 3 == 0:  # zeros stay zeros
            theta[0], Q[0] = [0.5, 0.5, 0], [0.2, 0.3, 0.5, 0, 0, 0]
        joint = theta.T[:, :, None] * Q[:, None]
        q = joint / joint.sum(axis=0)
        n = table * q
        theta_new, Q_new = n.sum(axis=2).T / length[:, None], shares(n.sum(axis=1))
        joint_new = theta_new.T[:, :, None] * Q_new[:, None]
        q_new = joint_new / joint_new.sum(axis=0)
        now, then = P[:, None] * joint.sum(0), P_new[:, None] * joint_new.sum(0)
        parts = (
            N * rel_entr(P_new, P).sum()
            + length @ rel_entr(theta_new, theta).sum(axis=1)
            + n.sum(axis=(1, 2)) @ rel_entr(Q_new, Q).sum(axis=1)
            + (table * rel_entr(q, q_new)).sum()
        )
        np.testing.assert_allclose(parts, (table * np.log(then / now)).sum(), rtol=1e-9)
        np.testing.assert_array_equal(theta_new == 0, theta == 0)


@pytest.mark.wrong("it rises at twice the derivative", "rate, slope", "rate, 2 * slope")
def test_thm_pl_em_stands_still_at_zeros():
    """EM by hand from a zero; there l rises at the derivative less the count."""
    rng, h, most = np.random.default_rng([15, 9]), 1e-6, 0
    for _ in range(6):
        table = rng.poisson(4.0, size=(5, 4)) + 1.0
        theta, Q = rng.dirichlet(np.ones(2), size=5), rng.dirichlet(np.ones(4), size=2)
        theta[0], Q[1] = [1, 0], [0.3, 0.3, 0.4, 0]
        for _ in range(5000):
            ratio = table / (theta @ Q)
            theta, Q = shares(theta * (ratio @ Q.T)), shares(Q * (theta.T @ ratio))
        ratio, here = table / (theta @ Q), xlogy(table, theta @ Q).sum()
        to_topic, to_word = theta.copy(), Q.copy()
        to_topic[0] += h * (np.array([0, 1]) - theta[0])
        to_word[1] += h * (np.eye(4)[3] - Q[1])
        for a, b, slope, count in (
            (to_topic, Q, ratio[0] @ Q[1], table[0].sum()),
            (theta, to_word, ratio[:, 3] @ theta[:, 1], theta[:, 1] @ ratio @ Q[1]),
        ):
            rate = (xlogy(table, a @ b).sum() - here) / h
            np.testing.assert_allclose(rate, slope - count, rtol=0, atol=1e-2)
            most = max(most, slope / count)
    assert most > 1.05  # the condition fails somewhere


def documents(n=20, d=8):
    """Documents of two classes, each with two topics of its own."""
    rng = np.random.default_rng([15, 20])
    topics = rng.dirichlet(np.full(d, 0.7), size=(2, 2))
    shares = rng.dirichlet([1, 1], size=(2, n))
    return rng.poisson(30 * shares @ topics).reshape(-1, d) + 1.0, np.repeat([0, 1], n)


@cache
def fitted():
    X, _ = documents()
    fit = PLSA(2, alpha=0.1, tol=1e-10, max_iter=20_000, random_state=0)
    return X, fit.fit(X)


def posteriors(c, theta, Q):
    """Posteriors and expected counts, documents first."""
    q = theta[:, :, None] * Q / (theta @ Q)[:, None]
    return q, c[:, None] * q


@pytest.mark.wrong("twin topics have no kink", "1.0), (-1e-4, 0.0", "0.5), (-1e-4, 0.5")
def test_prop_ge_gradient_witness():
    """Finite differences, topics folded in anew; the kink of twin topics."""
    X, fit = fitted()
    pi, components = fit.topic_prior_, fit.components_

    def reached(c, Q):
        theta, _ = fold_in(c[None], Q, pi)
        return xlogy(c, theta[0] @ Q).sum()

    of_words = fisher_scores(fit, X[:2])[:, 2:].reshape(2, 2, 8)
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
        GenerativeEmbedding(kind, plsa=PLSA(2, random_state=0)).fit(X, y).transform(X)
        for kind in ("TOP", "LLR")
    )
    r = top[:, 0]
    np.testing.assert_allclose(top @ top.T, llr @ llr.T + np.outer(r, r), rtol=1e-12)


@pytest.mark.wrong("TOP has all signs alike", "-parts[0]", "parts[0]")
def test_prop_ge_top_second():
    """Gradients and likelihoods of the two models, put together by hand."""
    X, y = documents()
    X, y = X[5:], y[5:]  # classes of unequal size
    embedding = GenerativeEmbedding("TOP", plsa=PLSA(2, random_state=0)).fit(X, y)
    parts = [fisher_scores(one, X) for one in embedding.models_]
    logs = [log_likelihoods(one, X) for one in embedding.models_]
    odds = logs[1] - logs[0] + np.log((y == 1).mean() / (y == 0).mean())
    by_hand = np.hstack([odds[:, None], -parts[0], parts[1]])
    np.testing.assert_allclose(embedding.transform(X), by_hand, rtol=1e-9, atol=1e-9)


@pytest.mark.wrong("the free energy is a ninth larger", "-ell, r", "-ell / 0.9, r")
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


@pytest.mark.wrong("the prior term has the other sign", "-xlogy(C, t", "xlogy(C, t")
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


@pytest.mark.wrong("the fit is to the old words", "np.log(new)", "np.log(Q[z])")
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


@pytest.mark.wrong("orders from 1.5 on fail as well", "2.1, 9.0", "1.5, 9.0")
def test_orders_outside_the_range_fail_on_one_cell():
    """Section *Outside the range*: two masses far apart, and the refusals."""
    for q in (-4.0, -0.1, 2.1, 9.0):
        mass = 10.0 ** np.linspace(0, 12, 121)
        mass = mass if q < 0 else 1 / mass
        determinant = f(1, 1, q) * f(mass, mass, q) - f(1, mass, q) ** 2
        assert determinant.min() < 0
        for kernel in (weighted_jt_kernel, jt_kernel):
            with pytest.raises(ValueError, match="q"):
                kernel([[1.0]], q=q)


@pytest.mark.wrong("a detour is a tenth longer", "best <= 1 + 1e-12", "best <= 0.9")
def test_thm_mi_metric_witness():
    """Triples changed step by step, to make the detour as short as possible."""

    def direct_over_detour(P):
        legs = [np.sqrt(jensen_shannon(P[pair])) for pair in ([0, 2], [0, 1], [1, 2])]
        return legs[0] / (legs[1] + legs[2])

    rng = np.random.default_rng([5, 9])
    for _ in range(6):
        P = rng.dirichlet(np.full(4, 10.0 ** rng.uniform(-1, 1)), size=3)
        best = direct_over_detour(P)
        for _ in range(60):
            change = rng.normal(size=P.shape) * rng.uniform(0, 0.5)
            other = np.maximum(P * np.exp(change), 1e-9)
            other /= other.sum(axis=1, keepdims=True)
            if direct_over_detour(other) > best:
                P, best = other, direct_over_detour(other)
        assert best <= 1 + 1e-12
    apart = jensen_shannon(np.eye(2))
    np.testing.assert_allclose(np.sqrt(apart), np.sqrt(np.log(2)), rtol=1e-14)


@pytest.mark.wrong("the integral is JS", "2 * jensen_shannon", "jensen_shannon")
@pytest.mark.wrong("the root of J is a distance as well", "centre @ js", "centre @ J")
def test_thm_mi_metric_second():
    """The integral in twenty digits; distances of points of a Euclidean space."""
    rng = np.random.default_rng([5, 10])
    for pair in rng.dirichlet(np.full(4, 0.5), size=(2, 2)):
        with mp.workdps(20):
            squared = mp.mpf(0)
            for a, b in pair.T:
                squared += mp.quad(
                    lambda t, a=a, b=b: (
                        ((mp.exp(-a * t / 2) - mp.exp(-b * t / 2)) / t) ** 2
                    ),
                    [0, 1, 10, 100, 1000, mp.inf],
                )
        np.testing.assert_allclose(2 * jensen_shannon(pair), float(squared), rtol=1e-8)

    P = rng.dirichlet(np.full(5, 0.4), size=30) + 1e-6
    P /= P.sum(axis=1, keepdims=True)
    p, q = P[:, None], P[None]
    m, J = 0.5 * (p + q), ((p - q) * np.log(p / q)).sum(axis=2)
    js = 0.5 * (p * np.log(p / m) + q * np.log(q / m)).sum(axis=2)
    centre = np.eye(30) - 1 / 30
    assert np.linalg.eigvalsh(-0.5 * centre @ js @ centre)[0] > -1e-12
    assert np.linalg.eigvalsh(-0.5 * centre @ J @ centre)[0] < -0.01


@pytest.mark.wrong("also of its opposite", "exponential_js", "1 / exponential_js")
def test_prop_ik_exponential_witness():
    rng = np.random.default_rng([15, 24])
    for t in [0.0, 0.1, 3.0, 50.0] * 5:
        p = rng.dirichlet(np.full(rng.integers(2, 9), 0.4), size=25)
        assert np.linalg.eigvalsh(exponential_js_kernel(p, t=t))[0] > -1e-12


@pytest.mark.wrong("the series has no factor 2^-t", "2.0**-3 * term", "1.0 * term")
def test_prop_ik_exponential_second():
    """The series of the proof, each term a kernel, with JS by its definition."""
    P = np.random.default_rng([15, 25]).dirichlet(np.ones(5), size=15)
    p, q = P[:, None], P[None]
    m = 0.5 * (p + q)
    js = 0.5 * (p * np.log(p / m) + q * np.log(q / m)).sum(axis=2)
    term, series = np.ones((15, 15)), np.zeros((15, 15))
    for i in range(1, 60):
        assert np.linalg.eigvalsh(term)[0] > -1e-12
        series += 2.0**-3 * term
        term = term * 3.0 * (np.log(2) - js) / i
    np.testing.assert_allclose(series, np.exp(-3.0 * js), rtol=0, atol=1e-12)
