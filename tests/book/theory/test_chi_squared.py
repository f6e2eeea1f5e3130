"""Statements of *Chi-squared and the divergences*, each tried twice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, special, stats
from sklearn.feature_selection import chi2, f_classif
from sklearn.metrics import mutual_info_score

from memdlib.divergences import jensen_shannon, js_gm
from memdlib.families import Bernoulli


def chi_squared(p, w):
    mixture = w @ p
    return w @ ((p - mixture) ** 2 / mixture).sum(axis=1)


@pytest.mark.wrong("nine tenths of half the cubes", "<= 0.5 * cubes", "<= 0.45 * cubes")
@pytest.mark.wrong("nine tenths of the logarithm", "<= np.log1p", "<= 0.9 * np.log1p")
def test_thm_cs_half_witness():
    rng = np.random.default_rng([54, 1])

    def cases():
        for _ in range(500):
            K, D = rng.integers(2, 6, size=2)
            p = rng.dirichlet(np.full(D, 10.0 ** rng.uniform(-1.5, 3)), size=K)
            yield np.maximum(p, 1e-300), rng.dirichlet(np.ones(K))
        for K in (3, 10, 40):  # each class lacks one of K cells, or has one alone
            yield (1 - np.eye(K)) / (K - 1), np.full(K, 1 / K)
            yield np.eye(K), np.full(K, 1 / K)

    for p, w in cases():
        js, mixture, chi = jensen_shannon(p, w), w @ p, chi_squared(p, w)
        cubes = w @ np.sum(np.abs(p - mixture) ** 3 / mixture**2, axis=1)
        assert abs(js - chi / 2) <= 0.5 * cubes + 1e-14
        assert js <= np.log1p(chi) + 1e-12


def test_thm_cs_half_second():
    """Tables of counts, with the two statistics of scipy."""
    rng = np.random.default_rng([54, 2])
    for _ in range(200):
        table = rng.integers(1, 400, size=rng.integers(2, 6, size=2))
        n, expected = table.sum(), stats.contingency.expected_freq(table)
        pearson, ratio = (
            stats.chi2_contingency(table, correction=False, lambda_=kind)[0]
            for kind in (1, 0)
        )
        third = np.sum(np.abs(table - expected) ** 3 / expected**2)
        assert abs(ratio - pearson) <= third * (1 + 1e-9)
        assert ratio / (2 * n) <= np.log1p(pearson / n)
        size = table.sum(axis=1)
        ours = n * chi_squared(table / size[:, None], size / n)
        assert_allclose(ours, pearson, rtol=1e-11)


def words(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=400)
    rates = rng.uniform(0.01, 0.99, size=(3, 50))
    return labels, (rng.random((400, 50)) < rates[labels]) + 0.0


@pytest.mark.wrong("the share is that of the rate", "(1 - overall) * c", "overall * c")
def test_prop_cs_presence_witness():
    labels, present = words([54, 3])
    w = np.bincount(labels) / 400
    rates = np.array([present[labels == k].mean(axis=0) for k in range(3)])
    overall = w @ rates
    closed = w @ (rates - overall) ** 2 / (overall * (1 - overall))
    assert_allclose(400 * (1 - overall) * closed, chi2(present, labels)[0], rtol=1e-11)


def test_prop_cs_presence_second():
    """Scipy's statistic of each 3 by 2 table against the variance between classes."""
    labels, present = words([54, 4])
    for word in present.T:
        counts = np.histogram2d(labels, word, bins=(3, 2))[0]
        statistic = stats.chi2_contingency(counts, correction=False)[0]
        fitted = np.array([word[labels == k].mean() for k in range(3)])[labels]
        assert_allclose(statistic, 400 * fitted.var() / word.var(), rtol=1e-11)


@pytest.mark.wrong("G is n JS", "2 * n * jensen", "n * jensen")
def test_prop_cs_statistics_witness():
    rng = np.random.default_rng([54, 5])
    for _ in range(100):
        counts = rng.integers(1, 200, size=rng.integers(2, 7, size=2))
        n, size = counts.sum(), counts.sum(axis=1)
        G = stats.chi2_contingency(counts, correction=False, lambda_=0)[0]
        js = 2 * n * jensen_shannon(counts / size[:, None], size / n)
        assert_allclose(js, G, rtol=1e-9)
        group = rng.integers(0, 4, size=300)
        there = 1.0 * (rng.random(300) < rng.uniform(0.1, 0.9, size=4)[group])
        rates = np.array([there[group == k].mean() for k in range(4)])
        part = chi_squared(np.array([rates, 1 - rates]).T, np.bincount(group) / 300)
        F = (300 - 4) / (4 - 1) * part / (1 - part)
        assert_allclose(F, f_classif(there[:, None], group)[0][0], rtol=1e-9)


@pytest.mark.wrong("n times the mutual information", "180 * mutual", "90 * mutual")
def test_prop_cs_statistics_second():
    """Rows counted one by one, and sums of squares."""
    rng = np.random.default_rng([54, 6])
    for _ in range(100):
        group = rng.integers(0, 3, size=90)
        value = 1 * (rng.random(90) < 0.2 + 0.25 * group)
        seen = np.histogram2d(group, value, bins=(3, 2))[0]
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / 90
        G = 2 * special.rel_entr(seen, expected).sum()
        assert_allclose(G, 180 * mutual_info_score(group, value), rtol=0, atol=1e-9)
        fitted = (seen[:, 1] / seen.sum(axis=1))[group]
        within = np.sum((value - fitted) ** 2)
        F = np.sum((fitted - value.mean()) ** 2) / 2 / (within / 87)
        share = np.sum((seen - expected) ** 2 / expected) / 90
        assert_allclose(87 / 2 * share / (1 - share), F, rtol=1e-9)


@pytest.mark.wrong("every criterion ranks weak features alike", "one[3] >", "one[3] <")
def test_thm_cs_weak_witness():
    """Presences of words: small differences of the rates in the classes."""
    rng, model = np.random.default_rng([54, 7]), Bernoulli()

    def criteria(rates, w):
        p = np.array([rates, 1 - rates]).T
        rest = (w @ rates - w * rates) / (1 - w)
        J = model.jeffreys(rates[:, None], rest[:, None])
        return np.array(
            [chi_squared(p, w), 2 * jensen_shannon(p, w), js_gm(p, w), w @ J]
        )

    for _ in range(100):
        w = rng.dirichlet(np.full(4, 5.0))
        mean, v = rng.uniform(0.2, 0.8), rng.standard_normal(4)
        v -= w @ v
        forms = np.array([w, w, w, w / (1 - w) ** 2]) @ v**2 / (mean * (1 - mean))
        size = np.abs(v).max() / min(mean, 1 - mean) / (1 - w.max())
        for t in (1e-2, 1e-3, 1e-4):
            values = criteria(mean + t * v, w) / t**2
            assert_allclose(values, forms, rtol=5 * t * size)
    equal = criteria(0.4 + 1e-4 * np.array([1, -2, 3, -2]), np.full(4, 0.25))
    assert_allclose(equal[3] / equal[2], (4 / 3) ** 2, rtol=1e-3)
    two = criteria(0.4 + 1e-4 * np.array([3, -7]), np.array([0.7, 0.3]))
    assert_allclose(two[3] / two[2], 1 / (0.7 * 0.3), rtol=1e-3)
    one, other = (
        criteria(0.5 + 1e-3 * np.array(v), np.array([0.8, 0.1, 0.1]))
        for v in ([0.25, -1, -1], [0, 1.2, -1.2])
    )
    assert np.all(one[:3] < other[:3])
    assert one[3] > other[3]


@pytest.mark.wrong("JS, not twice, has the form", "chi, 2 * js, gm", "chi, js, gm")
@pytest.mark.wrong("J against the rest has the common form", " / (1 - share) ** 2", "")
def test_thm_cs_weak_second():
    """A family of two moments on five levels, by summation and a solver."""
    phi = np.arange(5.0) ** np.array([[1], [2]])
    centre, share = np.array([0.3, -0.1]), np.array([0.5, 0.3, 0.2])

    def member(natural):
        return special.softmax(-natural @ phi)

    def J(p, q):
        return np.sum((p - q) * np.log(p / q), axis=-1)

    inverse = np.linalg.inv(np.cov(phi, aweights=member(centre), bias=True))
    off = []
    for t in (2e-3, 1e-3):
        change = t * np.array([[0.4, -0.1], [-0.5, 0.3], [-0.25, -0.2]])
        p = np.array([member(centre + a) for a in change])
        mixture = share @ p
        chi = share @ ((p - mixture) ** 2 / mixture).sum(axis=1)
        js = share @ (p * np.log(p / mixture)).sum(axis=1)
        gm = share @ J(p[:, None], p) @ share / 2
        rest = []
        for k in range(3):
            means = phi @ (mixture - share[k] * p[k]) / (1 - share[k])
            found = optimize.root(
                lambda a, means=means: phi @ member(a) - means, centre, tol=1e-14
            )
            rest.append(member(found.x))
        v = (p - mixture) @ phi.T
        sizes = np.sum(v @ inverse * v, axis=1)
        form, last = share @ sizes, share / (1 - share) ** 2 @ sizes
        values = np.array([chi, 2 * js, gm, share @ J(p, np.array(rest))])
        off.append(np.abs(values / [form, form, form, last] - 1).max())
    assert off[0] < 5e-3
    assert off[1] < 0.6 * off[0]
