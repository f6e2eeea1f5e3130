"""Statements of *Bayes margins and the Jeffreys divergence*, each tried twice."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats
from sklearn.datasets import load_breast_cancer

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.families import Normal
from memdlib.moments import class_moments

X, CLASS = load_breast_cancer(return_X_y=True)
Y = np.where(CLASS == 1, 1, -1)
N = len(Y)
WEIGHT = N / (2 * np.bincount(CLASS)[CLASS])


def log_ratios(X):
    """Log-ratio of every row and feature, from means and variances alone."""
    log_p = {}
    for k in (1, -1):
        gap = X - X[Y == k].mean(axis=0)
        v = np.mean(gap[Y == k] ** 2, axis=0)
        log_p[k] = -0.5 * gap**2 / v - 0.5 * np.log(2 * np.pi * v)
    return log_p[1] - log_p[-1]


def margin_of_set(features):
    """Weighted margins of a set of features, added up row by row."""
    prior = np.log(np.mean(Y == 1) / np.mean(Y == -1))
    return WEIGHT @ (Y * (prior + log_ratios(X[:, list(features)]).sum(axis=1)))


@pytest.mark.wrong("the margins are n J", "N / 2", "N")
@pytest.mark.wrong("the prior does not cancel", "J.sum()", "J.sum() + 0.52 / N")
def test_thm_margin_witness():
    """Margins of a fitted classifier; J from the moments."""
    model = MeMdClassifier(n_features=None).fit(X, Y)
    J = DivergenceRanker("jeffreys", n_features=None).fit(X, Y).scores_
    margins = WEIGHT @ (Y * model.decision_function(X))
    assert_allclose(margins, N / 2 * J.sum(), rtol=1e-11)


@pytest.mark.wrong("the margins are n J", "N / 2", "N")
def test_thm_margin_second():
    """J by its definition, an integral for each feature."""

    def integrand(x, p, q):
        return (p.pdf(x) - q.pdf(x)) * (p.logpdf(x) - q.logpdf(x))

    J = 0.0
    for column in X[:, :4].T / X[:, :4].std(axis=0)[:, None]:
        p, q = (
            stats.norm(column[Y == k].mean(), column[Y == k].std()) for k in (1, -1)
        )
        ends = [m.mean() + side * 14 * m.std() for m in (p, q) for side in (-1, 1)]
        how = {"points": [p.mean(), q.mean()], "epsabs": 0, "epsrel": 1e-12}
        J += integrate.quad(integrand, min(ends), max(ends), (p, q), **how)[0]
    assert_allclose(margin_of_set(range(4)), N / 2 * J, rtol=1e-11)


@pytest.mark.wrong("one part in a million more", "* J", "* J * (1 + 1e-6)")
def test_margins_of_words_in_fractions():
    """Bernoulli features: rows counted in integers up to the last logarithm."""
    rng = np.random.default_rng([2, 5])
    for _ in range(50):
        size = [int(n) for n in rng.integers(3, 30, size=2)]
        hits = [int(rng.integers(1, n)) for n in size]
        f = [Fraction(h, n) for h, n in zip(hits, size, strict=True)]
        present = np.log(float(f[1] / f[0]))
        absent = np.log(float((1 - f[1]) / (1 - f[0])))
        total = 0.0
        for k, sign in ((0, -1), (1, 1)):
            rows = hits[k] * present + (size[k] - hits[k]) * absent
            rows += size[k] * np.log(size[1] / size[0])
            total += Fraction(sum(size), 2 * size[k]) * sign * rows
        J = float(f[1] - f[0]) * (present - absent)
        assert_allclose(total, sum(size) / 2 * J, rtol=1e-11, atol=1e-11)


@pytest.mark.wrong("the margin is smallest for the ranked features", "max(", "min(")
def test_cor_features_witness():
    """Sets of six features of largest margin, all tried, against the ranking."""
    six = DivergenceRanker("jeffreys", n_features=None).fit(X[:, :6], Y).order_
    for size in range(1, 6):
        best = max(combinations(range(6), size), key=margin_of_set)
        assert set(best) == set(six[:size])


@pytest.mark.wrong("the second ten are better", "order[:10]", "order[10:20]")
def test_cor_features_second():
    """An attack: exchanges of one feature, and sets of ten at random."""
    ratio = log_ratios(X)
    J = ratio[Y == 1].mean(axis=0) - ratio[Y == -1].mean(axis=0)
    order = np.argsort(-J)
    top = order[:10]
    share = WEIGHT * Y @ ratio  # the prior cancels
    most = share[top].sum()
    assert_allclose(most, margin_of_set(top), rtol=1e-11)
    outside = np.setdiff1d(order, top)
    assert (most - share[top][:, None] + share[outside] < most).all()
    rng = np.random.default_rng([2, 6])
    drawn = rng.permuted(np.tile(np.arange(30), (3000, 1)), axis=1)[:, :10]
    assert (share[drawn].sum(axis=1) <= most * (1 + 1e-12)).all()


def test_shrinkage_needs_the_mismatch_of_the_moments():
    """The correction is the slope times the mismatch, and none of equal variances."""
    family, moments = Normal(), class_moments(X, CLASS, 2, order=2, about_zero=True)
    for shrinkage in (0.1, 0.5, 1.0):
        options = {"n_features": None, "variance_shrinkage": shrinkage}
        margin = Y * MeMdClassifier(**options).fit(X, Y).decision_function(X)
        mu = family.regularise(
            moments.mean, moments.weight, variance_shrinkage=shrinkage, alpha=0.0
        )
        slope = family.natural(mu[0]) - family.natural(mu[1])
        mismatch = moments.mean - mu
        correction = np.sum(slope * (mismatch[1] - mismatch[0]))
        J = family.jeffreys(mu[1], mu[0]).sum()
        assert_allclose(2 / N * WEIGHT @ margin, J + correction, rtol=1e-9)
        assert (abs(correction) > 1) == (shrinkage < 1)


def test_unweighted_margins_have_the_prior_in_them():
    """The formula for unequal classes, which is not (n / 2) J."""
    ratio = log_ratios(X).sum(axis=1)
    n = {k: np.sum(Y == k) for k in (1, -1)}
    kl = {k: k * ratio[Y == k].mean() for k in (1, -1)}
    prior = np.log(n[1] / n[-1])
    plain = np.sum(Y * (prior + ratio))
    with_prior = (n[1] - n[-1]) * prior + n[1] * kl[1] + n[-1] * kl[-1]
    assert_allclose(plain, with_prior, rtol=1e-11)
    assert abs(plain / (N / 2 * (kl[1] + kl[-1])) - 1) > 0.1
