"""Rankings by a bound of the error: the bound, the order, and both estimators."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from memdlib.families import Bernoulli, Normal, get
from memdlib.generative import (
    BhattacharyyaRanker,
    ClassMarginals,
    CorrelatedMeMdClassifier,
    DivergenceRanker,
    WhitenedRanker,
)
from memdlib.generative.balanced import bhattacharyya_distances, error_bound_order
from memdlib.generative.marginals import family_moments
from memdlib.moments import class_moments


def three_classes(n=600, seed=3):
    """One class far from two others in many features, these apart in the last."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 8))
    X[:, :6] += 8.0 * (y == 2)[:, None]
    X[:, 7] += 2.0 * (y == 1)
    return X, y


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6))
def test_every_choice_is_the_best_one(seed, pairs, d):
    rng = np.random.default_rng(seed)
    B, w = rng.exponential(size=(pairs, d)), rng.dirichlet(np.ones(pairs))
    order, log_bounds = error_bound_order(B, w, d)
    assert sorted(order) == list(range(d))
    for size in range(1, d + 1):
        before = list(order[: size - 1])
        bounds = {
            s: float(w @ np.exp(-B[:, [*before, s]].sum(axis=1)))
            for s in range(d)
            if s not in before
        }
        assert bounds[order[size - 1]] == pytest.approx(min(bounds.values()))
        assert np.exp(log_bounds[size - 1]) == pytest.approx(min(bounds.values()))


def test_an_order_goes_on_where_exponentials_vanish():
    B = np.full((1, 4), 1e5)
    order, log_bounds = error_bound_order(B, np.ones(1), 4)
    assert order.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(log_bounds, -1e5 * np.arange(1, 5), rtol=1e-12)
    B[0, 2] = np.inf
    assert error_bound_order(B, np.ones(1), 4)[0].tolist() == [2, 0, 1, 3]
    assert error_bound_order(B, np.zeros(1), 2)[0].tolist() == [0, 1]


def test_the_bound_is_one_of_the_error_of_independent_features():
    rng = np.random.default_rng(8)
    for _ in range(20):
        K, d = rng.integers(2, 5), rng.integers(1, 4)
        prior = rng.dirichlet(np.ones(K))
        tables = rng.dirichlet(np.ones(3), size=(K, d))
        joint = np.array([_product(prior[k], tables[k]) for k in range(K)])
        error = 1.0 - joint.max(axis=0).sum()
        bound = sum(
            np.sqrt(prior[k] * prior[j])
            * np.prod(np.sqrt(tables[k] * tables[j]).sum(axis=1))
            for k, j in combinations(range(K), 2)
        )
        assert error <= bound + 1e-12


def _product(prior, table):
    joint = np.array([prior])
    for p in table:
        joint = np.outer(joint, p).ravel()
    return joint


def test_distances_of_normal_densities_by_quadrature():
    X, y = three_classes(60)
    X[y == 1] *= 3.0
    marginals = ClassMarginals(class_moments(X, y, 3, order=2), Normal())
    found = bhattacharyya_distances(marginals)
    laws = [stats.norm(X[y == k].mean(axis=0), X[y == k].std(axis=0)) for k in range(3)]
    x = np.linspace(-60, 90, 60001)[:, None]
    for row, (k, j) in zip(found, combinations(range(3), 2), strict=True):
        root = np.exp(0.5 * (laws[k].logpdf(x) + laws[j].logpdf(x)))
        overlap = integrate.trapezoid(root, x, axis=0)
        np.testing.assert_allclose(row, -np.log(overlap), rtol=1e-6, atol=1e-9)


def test_distances_of_words_by_sums():
    X = (np.random.default_rng(4).random((90, 5)) < 0.4).astype(float)
    y = np.arange(90) % 3
    moments = family_moments(Bernoulli(), X, y, 3, np.ones(90))
    marginals = ClassMarginals(moments, Bernoulli())
    p = marginals.mean_params[..., 0]
    for row, (k, j) in zip(
        bhattacharyya_distances(marginals), combinations(range(3), 2), strict=True
    ):
        overlap = np.sqrt(p[k] * p[j]) + np.sqrt((1 - p[k]) * (1 - p[j]))
        np.testing.assert_allclose(row, -np.log(overlap), rtol=1e-9, atol=1e-12)


def test_a_distant_class_does_not_fill_the_ranking():
    X, y = three_classes()
    assert 7 in BhattacharyyaRanker(2).fit(X, y).order_
    assert 7 in WhitenedRanker(2).fit(X, y).order_
    assert 7 not in DivergenceRanker(n_features=2).fit(X, y).order_[:2]


def test_two_classes_are_ranked_by_their_distance_alone():
    X, y = three_classes()
    X, y = X[y != 2], y[y != 2]
    ranker = BhattacharyyaRanker(None).fit(X, y)
    marginals = ClassMarginals(class_moments(X, y, 2, order=2), Normal())
    (distance,) = bhattacharyya_distances(marginals)
    assert ranker.order_.tolist() == np.argsort(-distance, kind="stable").tolist()
    total = distance[ranker.order_].cumsum()
    np.testing.assert_allclose(ranker.log_error_bounds_, np.log(0.5) - total)
    pooled = BhattacharyyaRanker(None, shrinkage=1.0).fit(X, y)
    jeffreys = DivergenceRanker("jeffreys", n_features=None, shrinkage=1.0).fit(X, y)
    assert pooled.order_.tolist() == jeffreys.order_.tolist()


def test_whitened_features_of_two_classes_have_the_order_of_their_divergences():
    X, y = three_classes()
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    X, y = X[y != 2], y[y != 2]
    classifier = CorrelatedMeMdClassifier().fit(X, y)
    assert WhitenedRanker(None).fit(X, y).order_.tolist() == classifier.order_.tolist()


def test_words_and_weights():
    rng = np.random.default_rng(6)
    y = np.arange(60) % 3
    X = (rng.random((60, 6)) < 0.2 + 0.25 * (y[:, None] == np.arange(6) % 3)) * 1.0
    twice = np.concatenate([np.arange(60), np.arange(20)])
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    for ranker in (
        BhattacharyyaRanker(None, family="bernoulli"),
        BhattacharyyaRanker(None, family=get("normal")),
        WhitenedRanker(None),
    ):
        weighted = ranker.fit(X, y, weight).log_error_bounds_
        copied = ranker.fit(X[twice], y[twice]).log_error_bounds_
        np.testing.assert_allclose(weighted, copied, rtol=1e-6)


def test_refusals():
    X, y = three_classes(30)
    with pytest.raises(ValueError, match="n_features"):
        BhattacharyyaRanker(99).fit(X, y)
    with pytest.raises(ValueError, match="shrinkage"):
        WhitenedRanker(2, shrinkage=2.0).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        WhitenedRanker(2).fit(X, np.zeros(30))
