import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import f_classif

from memdlib import DivergenceRanker
from memdlib.generative.ranking import rank


def presence_j(p, q):
    """J between two Bernoulli laws, from the log odds."""
    return (p - q) * (np.log(p / (1 - p)) - np.log(q / (1 - q)))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("smoothing", [0.5, 4.0])
def test_presence_divergences_against_their_definitions(n_classes, smoothing):
    rng = np.random.default_rng([5, n_classes])
    X, y = rng.poisson(0.7, size=(120, 6)), np.arange(120) % n_classes
    seen, pi = X > 0, np.bincount(y) / 120
    pooled = seen.mean(axis=0)

    def smooth(rows):
        return (seen[rows].sum(0) + smoothing * pooled) / (rows.sum() + smoothing)

    p = [smooth(y == k) for k in range(n_classes)]
    rest = [smooth(y != k) for k in range(n_classes)]
    pairs = sum(
        pi[k] * pi[j] * presence_j(p[k], p[j])
        for k in range(n_classes)
        for j in range(k)
    )
    one_vs_rest = sum(pi[k] * presence_j(p[k], rest[k]) for k in range(n_classes))
    for divergence, expected in (("js_gm", pairs), ("jeffreys", one_vs_rest)):
        ranker = DivergenceRanker(divergence, family="bernoulli", alpha=smoothing)
        for data in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
            found = ranker.fit(data, y).scores_
            assert_allclose(found, expected, rtol=1e-9)
            assert_array_equal(ranker.order_, np.argsort(-expected))


@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_class_that_is_constant_does_not_rule_the_ranking(divergence, kind):
    rng = np.random.default_rng([5, 9])
    y = np.arange(3000) % 8 // 7
    X = rng.normal(size=(3000, 4))
    X[:, 1] += 3 * y
    X[y == 0, 0] = 0.3  # the variance of the other class stands in for its own
    for weight in (None, np.full(3000, 0.1)):
        ranker = DivergenceRanker(divergence).fit(kind(X), y, sample_weight=weight)
        assert ranker.order_[0] == 1
        assert ranker.scores_[0] < 10


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_equal_variances_rank_like_the_f_statistic(load):
    X, y = load(return_X_y=True)
    ranker = DivergenceRanker(variance_shrinkage=1.0).fit(X, y)
    assert_array_equal(ranker.order_, np.argsort(-f_classif(X, y)[0]))


def test_ties_keep_the_order_of_the_columns():
    X = np.array([[0.0, 0, 1], [1, 1, 1], [2, 2, 1], [4, 4, 1]])
    ranker = DivergenceRanker(variance_shrinkage=0.25).fit(X, [0, 0, 1, 1])
    assert ranker.order_.tolist() == [0, 1, 2]
    assert ranker.scores_[2] == 0
    assert rank(np.array([0, np.inf, 0, np.inf])).tolist() == [1, 3, 0, 2]
    # rounding is a tie, and whatever is more is none
    assert rank(np.array([1.0, 1.0 + 1e-14])).tolist() == [0, 1]
    assert rank(np.array([1.0, 1.0 + 1e-11])).tolist() == [1, 0]
    # one value off the floor: whatever its size, the divergence is the same
    X, rows = np.full((30, 1000), 0.1), np.arange(1000)
    X[rows % 10, rows] += np.geomspace(0.5, 5, 1000)
    assert_array_equal(ranker.fit(X, rows[:30] < 10).order_, rows)
