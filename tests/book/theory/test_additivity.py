"""Statements of *Additivity*, each tried in two ways."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn.datasets import load_breast_cancer

from memdlib.divergences import jeffreys, js_gm, kl
from memdlib.families import MultivariateNormal, Normal
from memdlib.generative import GreedyGaussianRanker, rank


def joint_table(marginals):
    """Products: (K, cells) of each feature to (K, all cells)."""
    table = marginals[0]
    for P in marginals[1:]:
        table = np.einsum("ka,kb->kab", table, P).reshape(len(P), -1)
    return table


@pytest.mark.wrong("one feature is enough", "sum(kl(*m)", "min(kl(*m)")
def test_thm_ad_sum_witness():
    """Tables of two or three features with a few values."""
    rng = np.random.default_rng([4, 1])
    for _ in range(100):
        cells = rng.integers(2, 5, size=rng.integers(2, 4))
        marginals = [rng.dirichlet(np.ones(c), size=4) for c in cells]
        joint, w = joint_table(marginals), rng.dirichlet(np.ones(4))
        of_all = sum(js_gm(m, w) for m in marginals)
        assert_allclose(js_gm(joint, w), of_all, rtol=1e-9)
        marginals, joint = [m[:2] for m in marginals], joint[:2]
        assert_allclose(kl(*joint), sum(kl(*m) for m in marginals), rtol=1e-9)
        of_all = sum(jeffreys(*m) for m in marginals)
        assert_allclose(jeffreys(*joint), of_all, rtol=1e-9)


def test_thm_ad_sum_second():
    """Two normal features: an integral over the plane against two over the line."""
    laws = np.array([[0, 1, 1, 1.5], [1, 2, 0, 1]])  # of each class
    x = np.linspace(-16, 17, 1200)
    log_p = [stats.norm(*v).logpdf(x) for v in laws.reshape(4, 2)]
    joint = [log_p[2 * k][:, None] + log_p[2 * k + 1] for k in (0, 1)]
    integrand = (np.exp(joint[0]) - np.exp(joint[1])) * (joint[0] - joint[1])
    in_the_plane = np.trapezoid(np.trapezoid(integrand, x), x)
    one_by_one = 0.0
    for s in (0, 1):
        p, q = (stats.norm(*laws[k, 2 * s : 2 * s + 2]) for k in (0, 1))
        one_by_one += integrate.quad(
            lambda t, p=p, q=q: (p.pdf(t) - q.pdf(t)) * (p.logpdf(t) - q.logpdf(t)),
            -20,
            20,
            limit=300,
        )[0]
    assert_allclose(in_the_plane, one_by_one, rtol=1e-8)


@pytest.mark.wrong("greedy takes them as they come", "chosen == ", "sorted(chosen) == ")
def test_thm_ad_greedy_witness():
    """Joint normal densities of all sets: greedy steps, best sets of each size."""
    rng, d, joint = np.random.default_rng([4, 2]), 6, MultivariateNormal()
    for _ in range(10):
        spread = rng.uniform(0.3, 3, size=(2, d))
        mu = Normal.mean_parameters(rng.normal(size=(2, d)), spread)
        order, chosen = rank(Normal().jeffreys(mu[0], mu[1])), []
        value = {}
        for size in range(1, d + 1):
            for A in combinations(range(d), size):
                value[A] = joint.jeffreys(
                    *(
                        joint.mean_parameters(mu[k][A, 0], np.diag(spread[k][[*A]]))
                        for k in (0, 1)
                    )
                )
        for size in range(1, d + 1):
            steps = [tuple(sorted({*chosen, s})) for s in range(d) if s not in chosen]
            (added,) = {*max(steps, key=value.get)} - {*chosen}
            chosen.append(added)
            best = max(combinations(range(d), size), key=value.get)
            assert {*best} == {*chosen}
        assert chosen == order.tolist()


def plain_js_gm(tables, w):
    """Mean KL from the geometric mean, infinite if a cell is empty for one class."""
    if ((tables > 0) != (tables[0] > 0)).any():
        return np.inf
    P = tables[:, tables[0] > 0]
    return -w @ (P * ((w @ np.log(P)) - np.log(P))).sum(axis=1)


def test_thm_ad_greedy_second():
    """Kronecker products of three classes; in every third case one cell is empty."""
    rng = np.random.default_rng([4, 3])
    for case in range(60):
        w = rng.dirichlet(np.ones(3))
        features = [rng.dirichlet(np.ones(c), size=3) for c in rng.integers(2, 4, 4)]
        if case % 3 == 0:
            features[0][1] = np.eye(features[0].shape[1])[0]
        alone = [plain_js_gm(P, w) for P in features]
        by_size = sorted(range(4), key=lambda s, alone=alone: -alone[s])
        for size in (1, 2, 3):
            value = {}
            for A in combinations(range(4), size):
                tables = np.ones((3, 1))
                for s in A:
                    pairs = zip(tables, features[s], strict=True)
                    tables = np.array([np.kron(*pair) for pair in pairs])
                value[A] = plain_js_gm(tables, w)
            most = value[tuple(sorted(by_size[:size]))]
            assert max(value.values()) <= most * (1 + 1e-12)
            assert (most == np.inf) == (case % 3 == 0)


@pytest.mark.wrong("twice the conditional one", "conditional,", "2 * conditional,")
@pytest.mark.wrong("every feature adds something", "copied, a", "copied, 1.1 * a")
def test_prop_ad_chain_witness():
    """Tables of two features; a noisy copy, drawn alike in both classes."""
    rng = np.random.default_rng([4, 6])
    for _ in range(200):
        p, q = rng.dirichlet(np.ones(12), size=2).reshape(2, 3, 4)
        first = p.sum(axis=1), q.sum(axis=1)
        rows = kl(p / first[0][:, None], q / first[1][:, None])
        conditional = first[0] @ rows
        gain = kl(p.ravel(), q.ravel()) - kl(*first)
        assert gain >= 0
        assert_allclose(gain, conditional, rtol=1e-8)
    channel, laws = rng.dirichlet(np.ones(4), size=3), rng.dirichlet(np.ones(3), size=2)
    alone, copied = kl(*laws), kl(*(laws[:, :, None] * channel).reshape(2, -1))
    assert_allclose(copied, alone, rtol=1e-12)
    assert kl(*laws @ channel) > 0


def test_prop_ad_chain_second():
    """Gains of the greedy ranker add up to J by explicit inverses."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8] / X[:, :8].std(axis=0)
    ranker = GreedyGaussianRanker(n_features=None, correlation_shrinkage=0.0).fit(X, y)
    assert (ranker.gains_ >= 0).all()
    prior = np.bincount(y) / len(y)
    for size, reached in enumerate(np.cumsum(ranker.gains_), 1):
        A = ranker.order_[:size]
        S = [np.cov(X[y == k][:, A].T, bias=True).reshape(size, size) for k in (0, 1)]
        inverse = [np.linalg.inv(s) for s in S]
        shift = X[y == 0][:, A].mean(axis=0) - X[y == 1][:, A].mean(axis=0)
        J = np.trace(inverse[0] @ S[1] + inverse[1] @ S[0]) / 2 - size
        J += shift @ (inverse[0] + inverse[1]) @ shift / 2
        assert_allclose(reached, prior.prod() * J, rtol=1e-6)
