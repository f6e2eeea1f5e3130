"""Statements of *From Jensen-Shannon to its geometric mean*, each tried twice."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special, stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import mutual_info_score

from memdlib.divergences import jensen_shannon, js_gm
from memdlib.families import (
    Exponential,
    Geometric,
    Normal,
    Poisson,
    TruncatedExponential,
)
from memdlib.moments import class_moments
from tests.book.distributions import SLACK, cases, entropy


@pytest.mark.wrong("the doubt is added", "entropy(w) - doubt", "entropy(w) + doubt")
def test_thm_mi_witness():
    for P, w in cases([5, 1], 400):
        js, joint = jensen_shannon(P, w), w[:, None] * P
        mixture = joint.sum(axis=0)
        doubt = mixture @ entropy(joint / np.maximum(mixture, 1e-300), axis=0)
        assert_allclose(js, entropy(w) - doubt, rtol=0, atol=SLACK)
        of_parts = entropy(mixture) - w @ entropy(P, axis=1)
        assert_allclose(js, of_parts, rtol=0, atol=SLACK)


def test_thm_mi_second():
    rng = np.random.default_rng([5, 2])
    c = rng.integers(0, 3, size=500)
    x = np.where(c == 2, 1, 2) * rng.integers(0, 3, size=500)
    counts = np.array([np.bincount(x[c == k], minlength=5) for k in range(3)])
    size = counts.sum(axis=1)
    js = jensen_shannon(counts / size[:, None], size / 500)
    assert_allclose(js, mutual_info_score(x, c), rtol=1e-12)
    # of densities: the entropies as integrals
    w, mean, sd = np.array([0.3, 0.7]), np.array([0.0, 2.0]), np.array([1.0, 0.5])

    def term(t):
        return special.entr(w @ stats.norm.pdf(t, mean, sd))

    of_mixture = integrate.quad(term, -12, 14, points=[0, 2], limit=300)[0]
    mu = Normal().mean_parameters(mean, sd**2)
    js = Normal().jensen_shannon(mu[:, None], w)[0][0]
    assert_allclose(js, of_mixture - w @ stats.norm(mean, sd).entropy(), rtol=1e-8)


@pytest.mark.wrong("Z is at most nine tenths", "g.sum() <= 1", "g.sum() <= 0.9")
def test_prop_gm_bound_witness():
    for P, w in cases([6, 1], 200, spread=(-0.7, 2)):
        low, high = jensen_shannon(P, w), js_gm(P, w)
        mixture, g = w @ P, np.exp(w @ np.log(P))
        assert 0 <= low <= high
        gap = np.sum(mixture * np.log(mixture / g))
        assert_allclose(high - low, gap, rtol=1e-9, atol=SLACK)
        assert g.sum() <= 1
    same = np.tile(P[0], (3, 1))
    assert jensen_shannon(same) == js_gm(same) == 0


def test_prop_gm_bound_second():
    """Normal densities by quadrature, then an attack on the inequality."""
    mean, sd = np.array([0.0, 3.0, 4.0]), np.array([1.0, 0.5, 2.0])
    w, v = np.array([0.2, 0.3, 0.5]), sd**2

    def parts(x):
        log_p = stats.norm.logpdf(x, mean, sd)
        log_mixture = special.logsumexp(log_p, b=w)
        return np.exp(log_mixture) * np.array([log_mixture - w @ log_p, -log_mixture])

    (gap, of_mixture), _ = integrate.quad_vec(parts, -25, 25, points=mean, epsabs=1e-12)
    js = of_mixture - w @ stats.norm.entropy(mean, sd)
    ratio, squares = v[:, None] / v, np.subtract.outer(mean, mean) ** 2
    J = 0.5 * (ratio + 1 / ratio - 2 + squares * (1 / v[:, None] + 1 / v))
    assert gap > 0
    assert_allclose(w @ J @ w / 2 - js, gap, rtol=1e-9)

    def excess(theta, w):
        log_p = special.log_softmax(theta, axis=1)
        p = np.exp(log_p)
        return w @ np.sum(p * (np.log(w @ p) - w @ log_p), axis=1)

    rng = np.random.default_rng([6, 2])
    for _ in range(5):
        theta, w = rng.normal(size=(3, 4)), rng.dirichlet(np.ones(3))
        best = excess(theta, w)
        for size in 10.0 ** rng.uniform(-3, 0, size=800):
            other = theta + size * rng.normal(size=theta.shape)
            if (trial := excess(other, w)) < best:
                theta, best = other, trial
        assert -1e-15 < best < 0.05


@pytest.mark.wrong("three times JS", "P, w), 2,", "P, w), 3,")
def test_prop_gm_near_far_witness():
    rng = np.random.default_rng([6, 3])
    p, w = rng.dirichlet(np.full(6, 5.0)), np.array([0.2, 0.3, 0.5])
    xi = rng.normal(size=(3, 6))
    xi -= xi.mean(axis=1, keepdims=True)
    for size in (1e-3, 1e-5, 1e-7):
        P = p + size * xi * p.min()
        assert_allclose(js_gm(P, w) / jensen_shannon(P, w), 2, rtol=10 * size)
    for factor in (1.0, 10.0, 1000.0):
        a = factor * np.array([0.0, 1.0, 5.0])
        mu = Normal().mean_parameters(a, 4.0)
        assert_allclose(Normal().js_gm(mu, w), w @ (a - w @ a) ** 2 / 4, rtol=1e-11)
        assert Normal().jensen_shannon(mu[:, None], w)[0][0] <= entropy(w) + 1e-9


def test_prop_gm_near_far_second():
    """To fourth order near, by quadrature far: neither from a divergence of ours."""
    rng = np.random.default_rng([6, 4])
    w, p = np.array([0.2, 0.3, 0.5]), rng.dirichlet(np.full(6, 5.0))
    xi = rng.normal(size=(3, 6)) * p.min()
    xi -= xi.mean(axis=1, keepdims=True)
    for size in (1e-2, 1e-3):
        P = p + size * xi
        js = w @ special.kl_div(P, w @ P).sum(axis=1)
        pairs = special.kl_div(P[:, None], P[None]).sum(axis=2)
        assert_allclose(w @ pairs @ w / js, 2, rtol=2 * size)
    means = np.array([0.0, 20.0, 40.0])

    def term(x):
        return special.entr(w @ stats.norm.pdf(x, means))

    js = (
        integrate.quad(term, -30, 70, points=means, limit=500)[0] - stats.norm.entropy()
    )
    assert_allclose(js, -w @ np.log(w), rtol=1e-8)
    pairs = sum(
        w[k] * w[j] * (means[k] - means[j]) ** 2 for k, j in combinations(range(3), 2)
    )
    assert_allclose(pairs, w @ (means - w @ means) ** 2, rtol=SLACK)
    assert pairs > 50 * js


SCALES = np.array([[0.7], [2.0], [6.0]])
SHARES = np.array([0.2, 0.3, 0.5])


@pytest.mark.wrong("the covariance has the other sign", "(-covariance", "(covariance")
def test_thm_gm_covariance_witness():
    rng = np.random.default_rng([6, 6])
    for family in (
        Normal(),
        Exponential(),
        TruncatedExponential(),
        Poisson(),
        Geometric(),
    ):
        for _ in range(10):
            K = int(rng.integers(2, 8))
            mu, w = rng.uniform(0.05, 0.95, size=(K, 1)), rng.dirichlet(np.ones(K))
            if isinstance(family, Normal):
                mu = family.mean_parameters(*rng.uniform(0.3, 3, size=(2, K)))
            lam = family.natural(mu)
            covariance = w @ (lam * mu).sum(axis=1) - (w @ lam) @ (w @ mu)
            pairs = sum(
                w[k] * w[j] * family.jeffreys(mu[k], mu[j])
                for k, j in combinations(range(K), 2)
            )
            assert_allclose(-covariance, pairs, rtol=1e-8, atol=SLACK)
            assert_allclose(family.js_gm(mu, w), pairs, rtol=1e-8)


def test_thm_gm_covariance_second():
    """The definition, by sums and integrals over distributions of scipy."""
    means, counts, x = SCALES[:, 0], np.arange(400), np.linspace(0, 400, 400_001)
    for family, log_p, total in (
        (Poisson(), stats.poisson.logpmf(counts[:, None], means), np.sum),
        (Geometric(), stats.geom.logpmf(counts[:, None], 1 / (1 + means), -1), np.sum),
        (
            Exponential(),
            stats.expon.logpdf(x[:, None], scale=means),
            lambda f: np.trapezoid(f, x),
        ),
    ):
        gap = np.exp(log_p) * (log_p - (log_p @ SHARES)[:, None])
        assert_allclose(family.js_gm(SCALES, SHARES), total(gap @ SHARES), rtol=1e-6)


@pytest.mark.wrong("twice the margins", "margin) / n", "margin) * 2 / n")
def test_prop_gm_margins_witness():
    rng = np.random.default_rng([6, 7])
    for data in (load_wine(), load_iris(), load_breast_cancer()):
        X, y = data.data, data.target
        n, share = len(y), np.bincount(y) / len(y)
        K = len(share)
        rows = [X[y == k] for k in range(K)]
        score = [
            stats.norm(r.mean(axis=0), r.std(axis=0)).logpdf(X).sum(axis=1)
            for r in rows
        ]
        mu = class_moments(X, y, K, order=2, about_zero=True).mean
        for w in (share, rng.dirichlet(np.ones(K))):
            margin = np.choose(y, score) - w @ np.array(score)
            mean = np.sum((w / share)[y] * margin) / n
            assert_allclose(mean, Normal().js_gm(mu, w).sum(), rtol=1e-10)


def test_prop_gm_margins_second():
    """Presences: rows that can be counted, and the divergence of the rates by hand."""
    rng = np.random.default_rng([6, 8])
    y, w = np.arange(90) % 3, np.array([0.5, 0.3, 0.2])
    X = (rng.random((90, 5)) < 0.2 + 0.2 * y[:, None]) + 0.0
    f = np.array([X[y == k].mean(axis=0) for k in range(3)])
    log_p = np.where(X[:, None] == 1, np.log(f), np.log1p(-f)).sum(axis=2)
    margin = log_p[np.arange(90), y] - log_p @ w
    odds = np.log(f / (1 - f))
    J = np.einsum("kjs,kjs->kj", f[:, None] - f, odds[:, None] - odds)
    assert_allclose((3 * w)[y] @ margin / 90, w @ J @ w / 2, rtol=1e-11)


def test_each_of_two_coins_knows_nothing_of_their_exclusive_or():
    coins = np.zeros((2, 2, 2))
    coins[[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]] = 0.5
    assert jensen_shannon(coins.sum(axis=1)) == jensen_shannon(coins.sum(axis=2)) == 0
    assert_allclose(jensen_shannon(coins.reshape(2, 4)), np.log(2), rtol=1e-15)
