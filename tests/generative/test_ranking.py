import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_selection import f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from memdlib import DivergenceRanker
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts
from memdlib.families import Normal
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.ranking import rank
from memdlib.moments import class_moments


def classes(n_classes, seed=0, d=12):
    made = simulate_gaussian_classes(
        n_samples=150,
        n_features=d,
        n_informative=6,
        n_classes=n_classes,
        weights=np.arange(1, n_classes + 1),
        seed=seed,
    )
    return made.X, made.y


def normal_j(a, b):
    """J between normal fits to two samples, from the textbook formula."""
    m, v, w, u = a.mean(0), a.var(0), b.mean(0), b.var(0)
    return 0.5 * (v / u + u / v - 2 + (m - w) ** 2 * (1 / v + 1 / u))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_divergences_against_their_definitions(n_classes):
    X, y = classes(n_classes)
    pi = np.bincount(y) / len(y)
    parts = [X[y == k] for k in range(n_classes)]
    rest = [X[y != k] for k in range(n_classes)]
    moments = class_moments(X, y, n_classes, order=2)
    one_vs_rest = sum(
        p * normal_j(a, b) for p, a, b in zip(pi, parts, rest, strict=True)
    )
    assert_allclose(
        ClassMarginals(moments, Normal()).divergences("jeffreys"),
        one_vs_rest,
        rtol=1e-9,
    )
    pairs = sum(
        pi[k] * pi[j] * normal_j(parts[k], parts[j])
        for k in range(n_classes)
        for j in range(k)
    )
    assert_allclose(
        ClassMarginals(moments, Normal()).divergences("js_gm"), pairs, rtol=1e-9
    )


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
        ranker = DivergenceRanker(divergence, "bernoulli", smoothing=smoothing)
        for data in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
            found = ranker.fit(data, y).feature_divergences_
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
        assert ranker.feature_divergences_[0] < 10


def test_two_classes_rank_alike_under_both():
    X, y = classes(2)
    a, b = (DivergenceRanker(d).fit(X, y) for d in ("jeffreys", "js_gm"))
    assert_array_equal(a.order_, b.order_)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_equal_variances_rank_like_the_f_statistic(n_classes):
    X, y = classes(n_classes)
    ranker = DivergenceRanker(shrinkage=1.0).fit(X, y)
    assert_array_equal(ranker.order_, np.argsort(-f_classif(X, y)[0]))


@pytest.mark.parametrize("divergence", ["jeffreys", "js_gm"])
def test_invariances(divergence):
    X, y = classes(3)
    rng = np.random.default_rng([5, 1])
    value = DivergenceRanker(divergence).fit(X, y).feature_divergences_

    def changed(X, y, **kwargs):
        return DivergenceRanker(divergence).fit(X, y, **kwargs).feature_divergences_

    scale, shift = 10.0 ** rng.uniform(-6, 6, 12), rng.normal(size=12)
    assert_allclose(changed(X * scale + shift * scale, y), value, rtol=1e-8)
    order = rng.permutation(12)
    assert_allclose(changed(X[:, order], y), value[order], rtol=1e-12)
    rows = rng.permutation(150)
    assert_allclose(changed(X[rows], y[rows]), value, rtol=1e-10)
    names = np.array(["b", "c", "a"])
    assert_allclose(changed(X, names[y]), value, rtol=1e-10)
    weight = rng.integers(0, 3, 150)
    assert_allclose(
        changed(X, y, sample_weight=weight),
        changed(np.repeat(X, weight, axis=0), np.repeat(y, weight)),
        rtol=1e-10,
    )


def test_the_truth_of_the_simulator_is_found():
    made = simulate_gaussian_classes(n_samples=40000, separation=1.0, seed=3)
    found = DivergenceRanker("jeffreys").fit(made.X, made.y).feature_divergences_
    truth = made.jeffreys[0, 1]
    assert_allclose(found[made.informative], truth[made.informative], rtol=0.1)
    assert found[~made.informative].max() < 0.01


def test_informative_words_come_first_dense_and_sparse():
    text = simulate_text_counts(n_documents=600, n_words=300, n_informative=12, seed=2)
    ranker = DivergenceRanker(family="bernoulli", n_features=12).fit(text.X, text.y)
    assert text.informative[ranker.get_support()].mean() > 0.7
    dense = DivergenceRanker(family="bernoulli", n_features=12).fit(
        text.X.toarray(), text.y
    )
    assert_allclose(
        dense.feature_divergences_, ranker.feature_divergences_, rtol=1e-9, atol=1e-13
    )
    assert sparse.issparse(ranker.transform(text.X))


@pytest.mark.parametrize(("k", "kept"), [(3, 3), (0.5, 2), (None, 4), (1, 1), (1.0, 4)])
def test_how_many_features_k_means(k, kept):
    assert (
        DivergenceRanker(n_features=k)
        .fit(*load_iris(return_X_y=True))
        .get_support()
        .sum()
        == kept
    )


def test_ties_keep_the_order_of_the_columns():
    X = np.array([[0.0, 0, 1], [1, 1, 1], [2, 2, 1], [4, 4, 1]])
    ranker = DivergenceRanker().fit(X, [0, 0, 1, 1])
    assert ranker.order_.tolist() == [0, 1, 2]
    assert ranker.feature_divergences_[2] == 0
    assert rank(np.array([0, np.inf, 0, np.inf])).tolist() == [1, 3, 0, 2]
    # so many that a sort which is not stable mixes them
    many = np.arange(1000) % 2
    order = [*range(1, 1000, 2), *range(0, 1000, 2)]
    assert rank(many.astype(float)).tolist() == order


def test_it_lives_in_pipelines_and_frames():
    X, y = load_iris(return_X_y=True, as_frame=True)
    search = GridSearchCV(
        make_pipeline(DivergenceRanker(), GaussianNB()),
        {"divergenceranker__n_features": [1, 2, 4]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    ranker = (
        clone(DivergenceRanker(n_features=2)).set_output(transform="pandas").fit(X, y)
    )
    assert list(ranker.transform(X)) == ["petal length (cm)", "petal width (cm)"]
    assert ranker.get_feature_names_out().tolist() == list(ranker.transform(X))
    assert_array_equal(ranker.get_support(indices=True), [2, 3])
    assert_array_equal(
        DivergenceRanker(family=Normal(), n_features=2).fit(X, y).transform(X),
        ranker.transform(X),
    )
    again = pickle.loads(pickle.dumps(clone(ranker).fit(X, y)))
    assert_array_equal(again.order_, ranker.order_)


def test_an_unknown_divergence_is_no_other():
    moments = class_moments(*classes(3), 3, order=2)
    with pytest.raises(ValueError, match=r"divergence='js_am' must be one of"):
        ClassMarginals(moments, Normal()).divergences("js_am")


def test_bad_data_is_named():
    for X, y, message in (
        ([[np.inf], [1.0]], [0, 1], "contains infinity"),
        ([[1.0], [2.0]], [3, 3], "y holds one class only"),
        (
            [[1.0], [1e200]],
            [0, 1],
            r"feature 0 of X is 1e\+200 in size; .*: rescale it",
        ),
        (
            [[1e-160], [2e-160], [3e-160], [5e-160]],
            [0, 0, 1, 1],
            "feature 0 of X is 5e-160 in size",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            DivergenceRanker(n_features=1).fit(X, y)
    ranker = DivergenceRanker(n_features=1).fit(
        [[0.0, 1], [1, 3], [5, 4], [7, 9]], [0, 0, 1, 1]
    )
    with pytest.raises(ValueError, match="X has 3 features, but DivergenceRanker"):
        ranker.transform(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 5}, r"n_features=5 is out of range: X has 4 features; give 1"),
        ({"n_features": 0}, "'n_features' .* an int in the range .* Got 0 instead"),
        ({"n_features": 1.5}, r"'n_features' .* the range \(0.0, 1.0\] or None. Got"),
        ({"n_features": "all"}, "'n_features' parameter of DivergenceRanker .* 'all'"),
        ({"divergence": "kl"}, "among {'js_gm', 'jeffreys', 'js'}. Got 'kl' instead"),
        ({"family": "cauchy"}, "family='cauchy' is not known"),
        ({"shrinkage": 2}, "'shrinkage' .* a str among {'auto'} or .* Got 2 instead"),
        ({"smoothing": -1.0}, r"'smoothing' .* in the range \[0.0, inf\). Got -1.0"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        DivergenceRanker(**options).fit(*load_iris(return_X_y=True))


def test_what_data_a_ranker_takes_follows_from_its_family():
    for family, counts in (("normal", False), ("poisson", True), ("bernoulli", True)):
        tags = get_tags(DivergenceRanker(family=family))
        assert tags.input_tags.sparse
        assert tags.input_tags.positive_only is counts
        assert tags.target_tags.required


def test_ranks_begin_at_one():
    X, y = classes(3)
    ranker = DivergenceRanker(n_features=4).fit(X, y)
    best_first = np.argsort(-ranker.feature_divergences_)
    assert ranker.ranking_[best_first].tolist() == list(range(1, 13))
    assert ranker.n_selected_ == ranker.get_support().sum() == 4
    assert ranker.classes_.tolist() == [0, 1, 2]
