import math

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier
from memdlib.datasets import simulate_text_counts
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    RoundedMomentsError,
)
from memdlib.estimator import log_posterior
from memdlib.families import Binomial, Normal, Poisson, Polynomial
from memdlib.generative import MultinomialMeMdClassifier, scores
from memdlib.generative.marginals import family_moments
from memdlib.generative.memd import held_out_folds, size_grid, smallest_best
from memdlib.moments import joint_moments


def wine():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def words(seed=1, n=300):
    text = simulate_text_counts(n_documents=n, n_words=200, n_informative=20, seed=seed)
    return text.X.astype(float), text.y


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_all_features_are_gaussian_naive_bayes(load):
    X, y = load(return_X_y=True)
    ours = MeMdClassifier(n_features=None).fit(X, y)
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-8)


def test_presence_model_by_hand():
    X, y = words()
    seen = X.toarray() > 0
    n = np.bincount(y)
    pooled = seen.mean(axis=0)
    p = np.array(
        [(seen[y == k].sum(0) + 1.5 * pooled) / (n[k] + 1.5) for k in range(4)]
    )
    score = np.log(n / n.sum()) + np.where(
        seen[:, None],
        np.log(np.clip(p, 1e-300, 1)),
        np.log1p(-np.clip(p, 0, 1 - 1e-16)),
    ).sum(axis=2)
    varies = (pooled > 0) & (pooled < 1)
    assert varies.any()
    expected = np.exp(score - score.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    model = MeMdClassifier(family="bernoulli", n_features=None, smoothing=1.5).fit(X, y)
    assert_allclose(model.predict_proba(X), expected, rtol=0, atol=1e-9)


def test_presence_model_is_bernoulli_naive_bayes_where_half_the_rows_have_the_word():
    rng = np.random.default_rng([7, 3])
    half = rng.random((60, 9)) < rng.random((1, 9))
    X, y = np.vstack([half, ~half]), np.arange(120) % 7 // 3
    for alpha in (0.5, 1.0, 3.0):
        ours = MeMdClassifier(family="bernoulli", n_features=None, smoothing=2 * alpha)
        theirs = BernoulliNB(alpha=alpha).fit(X, y)
        assert_allclose(
            ours.fit(X, y).predict_log_proba(X),
            theirs.predict_log_proba(X),
            rtol=1e-11,
            atol=1e-13,
        )


@pytest.mark.parametrize("size", [1, 4, 13])
def test_the_rule_adds_the_best_log_densities_to_the_log_prior(size):
    X, y, X_new, _ = wine()
    w = np.random.default_rng([7, 4]).uniform(0.5, 2, len(y))
    model = MeMdClassifier(n_features=size).fit(X, y, w)
    top = model.order_[:size]
    joint = []
    for k in range(3):
        x, v = X[y == k][:, top], w[y == k]
        mean = np.average(x, axis=0, weights=v)
        sd = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=v))
        density = stats.norm(mean, sd).logpdf(X_new[:, top]).sum(axis=1)
        joint.append(np.log(v.sum() / w.sum()) + density)
    joint = np.transpose(joint)
    expected = joint - np.logaddexp.reduce(joint, axis=1)[:, None]
    assert_allclose(model.predict_log_proba(X_new), expected, rtol=0, atol=1e-8)
    assert_array_equal(model.predict(X_new), joint.argmax(axis=1))
    assert_allclose(model.predict_proba(X_new).sum(axis=1), 1, rtol=1e-14)
    assert_allclose(model.class_prior_, np.bincount(y, w) / w.sum())


@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize("family", ["normal", "bernoulli"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("block", [2**21, 300, 1])
def test_accuracy_curve_is_a_fit_for_every_size(
    monkeypatch, divergence, family, kind, block
):
    monkeypatch.setattr(scores, "_BLOCK", block)
    X, y = words(n=160)
    X = X.toarray()[:, 20:32]
    new, y_new = kind(X[::2]), y[::2]
    weight = np.random.default_rng([7, 1]).uniform(0.5, 2, len(y_new))
    model = MeMdClassifier(divergence, family, n_features=1).fit(X[1::2], y[1::2])
    S, accuracy = model.accuracy_curve(new, y_new, sample_weight=weight)
    assert S.tolist() == list(range(1, 13))
    assert len(set(accuracy)) > 3
    for s, found in zip(S, accuracy, strict=True):
        one = MeMdClassifier(divergence, family, n_features=int(s))
        one.fit(X[1::2], y[1::2])
        assert found == pytest.approx(one.score(new, y_new, sample_weight=weight))


def test_sparse_and_dense_are_one():
    X, y = words()
    for family in ("bernoulli", "normal"):
        dense = MeMdClassifier(family=family, n_features=None).fit(X.toarray(), y)
        for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
            model = MeMdClassifier(family=family, n_features=None).fit(kind(X), y)
            assert_allclose(
                model.feature_divergences_,
                dense.feature_divergences_,
                rtol=1e-8,
                atol=1e-13,
            )
            assert_allclose(
                model.predict_log_proba(kind(X)),
                dense.predict_log_proba(X.toarray()),
                rtol=0,
                atol=1e-7,
            )
            curve = model.accuracy_curve(kind(X), y)[1]
            assert_allclose(curve[-1], dense.score(X.toarray(), y))


def held_out_weight(model, X, y, weight, held_out):
    """Weight of the rows found right by a model of the others, for every S."""
    right = []
    for size in range(1, X.shape[1] + 1):
        inner = sklearn.clone(model).set_params(n_features=size)
        inner.fit(X[~held_out], y[~held_out], weight[~held_out])
        hit = inner.predict(X[held_out]) == y[held_out]
        # exact sums: the same rows found right have the same weight
        right.append(math.fsum(weight[held_out][hit]))
    return np.array(right)


@pytest.mark.parametrize("validation", [0.2, 0.5, 2, 4])
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("normal", np.asarray),
        ("bernoulli", np.asarray),
        ("bernoulli", sparse.csr_array),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_number_of_features_is_chosen_on_unseen_rows(
    validation, divergence, family, kind, weighted
):
    X, y, _, _ = wine()
    X = kind(X - np.median(X, axis=0)) if family == "normal" else kind(X > X.mean(0))
    weight = np.random.default_rng([7, 5]).uniform(0.1, 1, len(y)) ** weighted
    model = MeMdClassifier(divergence, family, validation=validation, random_state=5)
    model.fit(X, y, weight)
    fold, n_held_out = held_out_folds(y, validation, 5)
    parts = [fold == f for f in range(n_held_out)]
    right = sum(held_out_weight(model, X, y, weight, part) for part in parts)
    curve = right / sum(weight[part].sum() for part in parts)
    assert_allclose(model.validation_curve_, curve, rtol=1e-12)
    assert model.n_selected_ == np.flatnonzero(curve > curve.max() - 1e-9)[0] + 1
    whole = sklearn.clone(model).set_params(n_features=1).fit(X, y, weight)
    assert_array_equal(model.order_, whole.order_)
    assert_allclose(model.mean_params_, whole.mean_params_, rtol=1e-12)


def test_weights_that_differ_by_rounding_are_a_tie(monkeypatch):
    # two rows of weight 0.1 and 0.2 found right, or one of 0.3
    right = np.array([0.2, 0.3, 0.1 + 0.2, 0.1])
    assert right.argmax() == 2
    monkeypatch.setattr(scores.MarginalScores, "correct_weight", lambda *_: right)
    X, y = load_iris(return_X_y=True)
    for validation in (0.2, 5):
        model = MeMdClassifier(validation=validation).fit(X, y)
        assert model.n_selected_ == 2


def test_copies_order_and_weights_give_one_model_of_a_fixed_size():
    X, y, _, _ = wine()
    rng = np.random.default_rng([7, 7])
    weight, shuffled = rng.integers(1, 4, len(y)), rng.permutation(len(y))
    one = MeMdClassifier(n_features=5).fit(X, y, weight)
    for other in (
        MeMdClassifier(n_features=5).fit(np.repeat(X, weight, 0), np.repeat(y, weight)),
        MeMdClassifier(n_features=5).fit(X[shuffled], y[shuffled], weight[shuffled]),
    ):
        assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("validation", [0.1, 0.2, 0.9, 2, 5, 10])
def test_rows_are_held_out_by_class(validation):
    y = np.repeat([4, 0, 3, 1, 2], [60, 20, 7, 2, 1])
    fold, n_held_out = held_out_folds(y, validation, 0)
    assert n_held_out == (1 if validation < 1 else validation)
    assert (fold[y == 2] == n_held_out).all()  # the only row of its class
    for k, size in ((4, 60), (0, 20), (3, 7), (1, 2)):
        held = np.bincount(fold[y == k], minlength=n_held_out + 1)
        if validation < 1:
            assert abs(held[0] - validation * size) < 2
        else:
            assert np.ptp(held[:-1]) <= 1 and held[-1] == 0
    assert_array_equal(held_out_folds(y, validation, 0)[0], fold)
    assert (held_out_folds(y, validation, 1)[0] != fold).any()


@pytest.mark.parametrize("validation", [0.2, 5])
def test_rows_that_repeat_are_held_out_one_by_one(validation):
    y = np.repeat([0, 1, 0, 1], [640, 160, 40, 160])
    X = np.repeat([[0.0], [1.0]], [800, 200], axis=0)
    model = MeMdClassifier(family="bernoulli", validation=validation, random_state=0)
    found = model.fit(X, y).predict_proba([[0.0], [1.0]])[:, 1]
    assert_allclose(found, [0.2, 0.8], atol=0.01)
    assert model.validation_curve_[0] == pytest.approx(0.8, abs=0.05)


def test_without_two_rows_of_any_class_all_features_are_kept():
    with pytest.warns(UserWarning, match="one row only of class 0, 1"):
        model = MeMdClassifier().fit([[0.0, 1], [7, 9]], [0, 1])
    assert model.validation_curve_ is None
    assert model.n_selected_ == 2


@pytest.mark.parametrize("family", ["normal", "bernoulli"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_batches_give_the_model_of_one_fit(family, kind):
    X, y = words(n=200)
    X = kind(X.toarray())
    order = np.argsort(y, kind="stable")  # the first batch lacks classes
    one = MeMdClassifier(family=family, n_features=20).fit(X, y)
    many = MeMdClassifier(family=family, n_features=20)
    for batch in np.array_split(order, 6):
        many.partial_fit(X[batch], y[batch], classes=range(4))
    assert_allclose(many.mean_params_, one.mean_params_, rtol=1e-12, atol=1e-12)
    assert_allclose(
        many.feature_divergences_, one.feature_divergences_, rtol=1e-9, atol=1e-13
    )
    assert_allclose(many.class_prior_, one.class_prior_, rtol=1e-15)


def test_batches_of_any_kind_and_weight_add_up():
    X, y = words(n=150)
    X, w = X.toarray(), np.random.default_rng([7, 8]).integers(1, 4, 150)
    one = MeMdClassifier(n_features=9).fit(np.repeat(X, w, 0), np.repeat(y, w))
    many = MeMdClassifier(n_features=9).fit(X[:50], y[:50], w[:50])  # go on from a fit
    many.partial_fit(sparse.csr_array(X[50:51]), y[50:51], sample_weight=w[50:51])
    many.partial_fit(sparse.csc_matrix(X[51:]), y[51:], range(4), w[51:])
    assert_allclose(many.mean_params_, one.mean_params_, rtol=1e-12, atol=1e-12)
    assert many.n_selected_ == 9
    auto = MeMdClassifier().partial_fit(X, y, classes=range(4))
    assert auto.n_selected_ == X.shape[1]
    assert auto.validation_curve_ is None


@pytest.mark.parametrize("family", ["normal", "bernoulli"])
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_classes_that_have_not_come_yet_are_never_predicted(
    family, divergence, smoothing
):
    rng = np.random.default_rng([7, 10])
    X, y = rng.integers(0, 3, size=(150, 4)), np.repeat([0, 1, 2], 50)
    model = MeMdClassifier(divergence, family, smoothing=smoothing)
    model.partial_fit(X[50:], y[50:], classes=range(4))
    proba = model.predict_proba(X)
    assert_array_equal(proba[:, [0, 3]], 0)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.isfinite(model.feature_divergences_).all()
    assert np.isfinite(model.natural_params_).all()


def test_rows_of_no_weight_are_not_there():
    X, y, X_new, _ = wine()
    X = np.vstack([X, 1e6 * X[:9]])
    y, weight = np.r_[y, np.full(9, 7)], np.r_[np.full(len(y), 1.5), np.zeros(9)]
    model = MeMdClassifier(random_state=0).fit(X, y, weight)
    assert model.classes_.tolist() == [0, 1, 2]
    without = MeMdClassifier(random_state=0).fit(X[:-9], y[:-9], weight[:-9])
    assert_array_equal(model.predict_proba(X_new), without.predict_proba(X_new))
    curve = without.accuracy_curve(X[:-9], y[:-9])[1]
    assert_allclose(model.accuracy_curve(X, y, weight)[1], curve)


@pytest.mark.parametrize("scale", [1e-30, 0.1, 1e13])
def test_only_the_ratio_of_weights_counts_for_the_normal_family(scale):
    X, y, X_new, _ = wine()
    one = MeMdClassifier(random_state=0).fit(X, y)
    other = MeMdClassifier(random_state=0).fit(X, y, np.full(len(y), scale))
    assert other.n_selected_ == one.n_selected_
    assert_allclose(
        other.predict_proba(X_new), one.predict_proba(X_new), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("family", ["normal", "bernoulli"])
def test_entries_stored_in_parts_are_their_sum(family):
    X, y = words(n=60)
    X, y = sparse.csr_array(X), y % 2
    parts = sparse.csr_array(
        (
            np.repeat(X.data, 2) * np.tile([2.0, -1.0], X.nnz),
            np.repeat(X.indices, 2),
            2 * X.indptr,
        ),
        shape=X.shape,
    )
    model = MeMdClassifier(family=family, random_state=0)
    one = sklearn.clone(model).fit(X, y)
    other = sklearn.clone(model).fit(parts, y)
    assert other.n_selected_ == one.n_selected_
    assert_allclose(other.mean_params_, one.mean_params_, rtol=0, atol=1e-12)
    assert_allclose(
        one.predict_log_proba(parts), one.predict_log_proba(X), rtol=0, atol=1e-9
    )
    assert parts.nnz == 2 * X.nnz


def test_parameters_are_those_of_the_class_densities():
    X, y, _, _ = wine()
    model = MeMdClassifier(n_features=None).fit(X, y)
    for k in range(3):
        assert_allclose(model.mean_params_[k, :, 0], X[y == k].mean(0))
        assert_allclose(model.mean_params_[k, :, 1], (X[y == k] ** 2).mean(0))
    lam = model.natural_params_
    kernel = -(lam[..., 0] * X[0] + lam[..., 1] * X[0] ** 2)
    laws = [stats.norm(X[y == k].mean(0), X[y == k].std(0)) for k in range(3)]
    for k in range(1, 3):
        gap = laws[k].logpdf(X[0]) - laws[k].logpdf(X[1])
        ours = kernel[k] + (lam[k, :, 0] * X[1] + lam[k, :, 1] * X[1] ** 2)
        assert_allclose(ours, gap, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_row_beyond_all_numbers_is_refused_and_a_far_one_is_not(kind):
    X, y = load_iris(return_X_y=True)
    model = MeMdClassifier(n_features=None).fit(X, y)
    assert np.isfinite(model.predict_log_proba(kind(X * 1e99))).all()
    wild = X.copy()
    wild[7, 2] = -1e200
    message = r"feature 2 of X is 1e\+200 in size"
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=message):
            method(kind(wild))
    with pytest.raises(ValueError, match=message):
        model.accuracy_curve(kind(wild), y)


def test_many_classes_of_few_rows_stay_finite():
    rng = np.random.default_rng([7, 9])
    y = np.repeat(np.arange(12), [500, *[1] * 5, *[2] * 6])
    X = rng.normal(size=(len(y), 4)) + y[:, None] % 5
    X = np.maximum(X - 1, 0)
    for family in ("normal", "bernoulli"):
        # unit weights: no warning of classes of one row
        model = MeMdClassifier(family=family, validation=3).fit(X, y, np.ones(len(y)))
        assert np.isfinite(model.predict_log_proba(100 * X)).all()
        assert np.isfinite(model.natural_params_).all()
        assert np.isfinite(model.validation_curve_).all()


def test_hard_cases_stay_finite():
    rng = np.random.default_rng([7, 2])
    X = rng.normal(size=(40, 5))
    y = np.r_[np.zeros(25, int), np.ones(14, int), 2]  # a class of one row
    X[:, 3] = 1.25  # constant
    X[y == 1, 4] = 20.0  # constant in a class
    for divergence in ("js_gm", "jeffreys"):
        with pytest.warns(UserWarning, match="one row only of class 2: it has no var"):
            model = MeMdClassifier(divergence, n_features=None).fit(X, y)
        assert np.isfinite(model.feature_divergences_).all()
        assert model.feature_divergences_[3] == 0
        assert np.isfinite(model.predict_log_proba(1e3 * X)).all()
    # no warning: the classes share their variances
    alone = MeMdClassifier(n_features=None, shrinkage=1.0)
    alone.fit(np.ones((4, 2)), [0, 0, 0, 1])
    assert_allclose(alone.predict_proba(np.ones((1, 2))), [[0.75, 0.25]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gap", [1e-100, 1e-6, 3.0, 1e9])
def test_a_feature_that_is_constant_in_every_class_still_tells_them_apart(kind, gap):
    rng = np.random.default_rng([7, 11])
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200), (5.0 if gap > 1e-9 else 0) + gap * y])
    model = MeMdClassifier(n_features=None).fit(kind(X), y)
    assert model.score(kind(X), y) == 1.0
    assert model.order_.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 5}, "n_features=5 is out of range: X has 4 features"),
        ({"n_features": "all"}, "a str among {'auto'}, an int .* Got 'all' instead"),
        ({"n_features_grid": "all"}, "a str among {'every'} .* Got 'all' instead"),
        ({"n_features_grid": [0, 1]}, r"n_features_grid=\[0, 1\] must hold integers"),
        ({"n_features_grid": [2, 5]}, "must hold integers from 1 to 4, the number of"),
        ({"n_features_grid": [0.5]}, r"n_features_grid=\[0.5\] must hold integers"),
        ({"n_features_grid": []}, r"n_features_grid=\[\] must hold integers"),
        ({"validation": 1}, "'validation' .* Got 1 instead"),
        ({"validation": 1.0}, "'validation' .* Got 1.0 instead"),
        ({"divergence": "js_am"}, "{'js_gm', 'jeffreys', 'js'}. Got 'js_am' instead"),
        ({"family": "beta"}, "family='beta' is not known"),
        ({"shrinkage": -0.1}, "'shrinkage' .* Got -0.1 instead"),
        ({"shrinkage": "ledoit"}, "a str among {'auto'} or a float .* Got 'ledoit' in"),
        ({"smoothing": np.inf}, "'smoothing' .* Got inf instead"),
        ({"priors": [0.5, 0.5]}, r"priors=\[0.5, 0.5\] must be 3 numbers, one a class"),
        ({"priors": [1.2, 0.1, -0.3]}, "zero or above and of sum 1"),
        ({"priors": [0.2, 0.2, 0.2]}, "zero or above and of sum 1"),
        ({"class_weight": "equal"}, "'class_weight' .* Got 'equal' instead"),
        ({"class_weight": {1: 0.0}}, "gives class 1 the weight 0.0; weights"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier(**options).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.inf], [1.0]], [0, 1], "contains infinity"),
        ([[0.0], [1.0]], [1, 1], r"y holds one class only \(.*1.*\)"),
        ([[0.0], [1.0]], [0.5, 1.5], "Unknown label type: continuous"),
        ([[0.0], [1e200]], [0, 1], r"feature 0 of X is 1e\+200 in size"),
        ([[0.0], [1.0]], [0, 1, 1], "inconsistent numbers of samples"),
        ([0.0, 1.0], [0, 1], "Expected 2D array, got 1D array"),
    ],
)
def test_bad_data_is_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([0, 0, 0, 0], "at least one non-zero number"),
        ([1, 1, -2, 1], r"sample_weight\[2\] = -2\.0; weights must be finite"),
        ([1, 1], r"sample_weight has shape \(2,\); expected \(4,\)"),
        ([1, 1, 0, 0], r"above zero, holds one class only \('a'\)"),
    ],
)
def test_bad_weights_are_named(weight, message):
    X, y = [[0.0], [1.0], [2.0], [5.0]], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=message):
        MeMdClassifier().fit(X, y, weight)
    with pytest.raises(ValueError, match=message):
        DivergenceRanker(n_features=1).fit(X, y, weight)


def test_bad_counts_and_missing_smoothing_are_named():
    for kind in (np.asarray, sparse.csr_array, sparse.csc_matrix):
        X = kind(np.array([[1.0, 0], [0, -3], [2, 1]]))
        model = MeMdClassifier(family="bernoulli").fit(abs(X), [0, 1, 1])
        with pytest.raises(ValueError, match=r"Negative values in data.*-3\.0"):
            model.predict(X)
        with pytest.raises(ValueError, match=r"Negative values in data.*-3\.0"):
            model.accuracy_curve(X, [0, 1, 1])
    with pytest.raises(ValueError, match=r"Negative values in data.*-1\.0"):
        MeMdClassifier(family="bernoulli").fit([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match="use smoothing > 0"):
        MeMdClassifier(family="bernoulli", smoothing=0).fit([[1.0], [0.0]], [0, 1])


def test_unseen_labels_count_as_errors_in_the_curve():
    X, y = load_iris(return_X_y=True)
    for unseen in range(3):
        model = MeMdClassifier(n_features=1).fit(X[y != unseen], y[y != unseen])
        assert model.accuracy_curve(X[y == unseen], y[y == unseen])[1].max() == 0
        assert model.accuracy_curve(X, y)[1].max() < 0.7
    assert model.accuracy_curve(X[:3], ["a", "b", "c"])[1].max() == 0


def test_a_batch_that_fails_half_way_is_not_counted():
    X, y = np.array([[0.0], [1.0], [4.0], [6.0]]), [0, 0, 1, 1]
    model = MeMdClassifier(n_features=1).fit(X, y)
    with pytest.raises(ValueError, match="n_features=2 is out of range"):
        model.set_params(n_features=2).partial_fit(X, y)
    model.set_params(n_features=1).partial_fit([[1.0]], [0])
    assert_allclose(model.class_prior_, [3 / 5, 2 / 5])


@pytest.mark.parametrize("asked", [[], [0, 1], [6], [0.5], [True], ["1"]])
def test_sizes_asked_for_are_integers_each_tried_once(asked):
    assert size_grid("every", 5).tolist() == [1, 2, 3, 4, 5]
    assert size_grid([[4, 2], [2, 5]], 5).tolist() == [2, 4, 5]
    with pytest.raises(ValueError, match="n_features_grid=.* integers from 1 to 5"):
        size_grid(asked, 5)


def test_a_wrong_label_on_the_first_call_leaves_nothing():
    model = MeMdClassifier()
    with pytest.raises(ValueError, match="label 5 is not among the classes"):
        model.partial_fit([[0.0], [1.0]], [0, 5], classes=[0, 1])
    for name in ("classes_", "order_", "mean_params_", "n_features_in_"):
        assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])
    model.partial_fit([[0.0, 1], [1.0, 3]], [0, 1], classes=[0, 1])  # two features now
    for row, label, options, message in (
        ([[0.0, 1]], [7], {}, "label 7 is not among the classes"),
        ([[0.0, 1]], [0], {"classes": [0, 2]}, r"classes=\[0, 2\] differs from"),
        ([[0.0]], [0], {}, "X has 1 features, but MeMdClassifier is exp"),
    ):
        before = model.predict_log_proba([[0.0, 1]])
        with pytest.raises(ValueError, match=message):
            model.partial_fit(row, label, **options)
        assert_array_equal(model.predict_log_proba([[0.0, 1]]), before)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MeMdClassifier().partial_fit([[0.0]], [0])
    with pytest.raises(ValueError, match="must hold at least two classes"):
        MeMdClassifier().partial_fit([[0.0]], [3], classes=[3, 3])


def test_parameters_changed_after_the_fit_change_no_prediction():
    X, y = words(n=100)
    model = MeMdClassifier(family="poisson", n_features=9).fit(X, y)
    before, curve = model.predict_log_proba(X), model.accuracy_curve(X, y)[1]
    model.set_params(family="bernoulli", n_features=2, shrinkage=1.0, smoothing=9.0)
    assert_array_equal(model.predict_log_proba(X), before)
    assert_array_equal(model.accuracy_curve(X, y)[1], curve)
    with pytest.raises(
        ValueError, match=r"Bernoulli\(\) differs from that of the batc"
    ):
        model.partial_fit(X, y)


def many(d, n=60):
    rng = np.random.default_rng([7, 11, d])
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) + 0.4 * np.outer(y, rng.normal(size=d)), y


def test_sizes_are_tried_on_a_grid():
    X, y = many(300)
    every = MeMdClassifier(validation=3, random_state=0, n_features_grid="every")
    every.fit(X, y)
    some = MeMdClassifier(validation=3, random_state=0).fit(X, y)
    few = MeMdClassifier(validation=3, random_state=0, n_features_grid=[99, 7]).fit(
        X, y
    )
    assert every.validation_n_features_.tolist() == list(range(1, 301))
    assert few.validation_n_features_.tolist() == [7, 99]
    grid = some.validation_n_features_
    assert grid[:64].tolist() == list(range(1, 65)) and grid[-1] == 300
    growth = grid[64:] / grid[63:-1]
    assert growth[:-1].min() > 1.02 and growth.max() < 1.05 and len(grid) < 130
    for model in (every, some, few):
        S, curve = model.validation_n_features_, model.validation_curve_
        assert_array_equal(curve, every.validation_curve_[S - 1])
        assert model.n_selected_ == S[curve >= curve.max() - 1e-9][0]
    whole = every.accuracy_curve(X, y, n_features_grid="every")[1]
    for asked, size in ((None, len(grid)), ([3, 200], 2), ("every", 300)):
        S, accuracy = some.accuracy_curve(X, y, n_features_grid=asked)
        assert len(S) == size
        assert_array_equal(accuracy, whole[S - 1])


def test_priors_replace_the_shares():
    X, y, X_new, _ = wine()
    prior = [0.7, 0.2, 0.1]
    ours = MeMdClassifier(n_features=None, priors=prior).fit(X, y)
    theirs = GaussianNB(priors=prior, var_smoothing=0).fit(X, y)
    assert_allclose(
        ours.predict_proba(X_new), theirs.predict_proba(X_new), rtol=0, atol=1e-8
    )
    assert_array_equal(ours.class_prior_, prior)
    shares = MeMdClassifier(n_features=None).fit(X, y)
    equal = MeMdClassifier(n_features=None, priors=shares.class_prior_).fit(X, y)
    assert_array_equal(equal.predict_proba(X), shares.predict_proba(X))
    assert not np.allclose(ours.feature_divergences_, shares.feature_divergences_)
    many = MeMdClassifier(n_features=None, priors=prior)
    many.partial_fit(X[::2], y[::2], range(3)).partial_fit(X[1::2], y[1::2])
    assert_allclose(many.predict_proba(X), ours.predict_proba(X), rtol=0, atol=1e-9)


def test_class_weights_multiply_the_weights_of_rows():
    X, y, X_new, _ = wine()
    w = np.random.default_rng([7, 12]).uniform(0.5, 2, len(y))
    for given in ({0: 3.0, 2: 0.5}, "balanced"):
        model = MeMdClassifier(class_weight=given, random_state=0).fit(X, y, w)
        share = np.bincount(y, w)
        factor = [3.0, 1.0, 0.5] if isinstance(given, dict) else share.sum() / 3 / share
        direct = MeMdClassifier(random_state=0).fit(X, y, w * np.take(factor, y))
        assert_allclose(
            model.predict_proba(X_new), direct.predict_proba(X_new), rtol=1e-9
        )
        assert model.n_selected_ == direct.n_selected_
    assert_allclose(model.class_prior_, 1 / 3)
    with pytest.raises(ValueError, match="in partial_fit give priors, or a dict of we"):
        model.partial_fit(X, y)
    parts = MeMdClassifier(class_weight={0: 3.0})
    parts.partial_fit(X[::2], y[::2], range(3)).partial_fit(X[1::2], y[1::2])
    assert_allclose(
        parts.class_prior_, MeMdClassifier(class_weight={0: 3.0}).fit(X, y).class_prior_
    )


def test_it_selects_for_others_and_is_selected_from():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = MeMdClassifier(n_features=5).fit(X, y)
    assert_array_equal(model.feature_importances_, model.feature_divergences_)
    best = X.columns[np.sort(model.order_[:5])].tolist()
    assert model.get_feature_names_out().tolist() == best
    assert_array_equal(model.transform(X), X[best])
    behind = make_pipeline(MeMdClassifier(n_features=5), GaussianNB()).fit(X, y)
    peer = make_pipeline(DivergenceRanker(n_features=5), GaussianNB()).fit(X, y)
    assert_array_equal(behind.predict(X), peer.predict(X))
    shape = MeMdClassifier(n_features=None)
    kept = SelectFromModel(shape, max_features=5, threshold=-np.inf).fit(X, y)
    assert kept.get_feature_names_out().tolist() == best
    kept = RFE(shape, n_features_to_select=5, step=5).fit(X, y)
    assert kept.get_feature_names_out().tolist() == best


def test_a_density_that_is_not_found_is_named_by_class_and_feature():
    rng = np.random.default_rng([7, 13])
    X, y = (
        rng.uniform(size=(60, 50)),
        np.array(["ape", "bee", "cat"])[np.arange(60) % 3],
    )
    X[y == "bee", 7] = 1e-4 * (1 + 1e-3 * (np.arange(20) % 2))
    model = MeMdClassifier(family=Polynomial(4), smoothing=1e-12, n_features=None)
    with pytest.raises((RuntimeError, ValueError)) as caught:
        model.fit(X, y)
    text = str(caught.value)
    assert text.startswith("class 'bee', feature 7: there is no density of Polynomial(")
    assert "more smoothing, fewer moments" in text
    assert "n_nodes" not in text and "density 57" not in text


def test_moments_that_rounding_spoils_are_named_by_class_and_feature():
    rng = np.random.default_rng([7, 14])
    X, y = (
        rng.uniform(0, 1000, size=(60, 9)),
        np.array(["ape", "bee"])[np.arange(60) % 2],
    )
    X[y == "bee", 3] = 999 + rng.uniform(size=30)
    family = Polynomial(4, (0.0, 1000.0))
    model = MeMdClassifier(family=family, smoothing=1e-12, n_features=None)
    with pytest.raises(RoundedMomentsError, match="^class 'bee', feature 3: rounding"):
        model.fit(X, y)
    with pytest.raises(RoundedMomentsError, match="support by -999.*, towards zero"):
        model.fit(X, y)


@pytest.mark.parametrize("d", [1, 63, 64, 65, 66, 1000, 19956])
def test_the_grid_of_sizes(d):
    grid = size_grid(None, d)
    assert grid[0] == 1
    assert grid[-1] == d
    assert (np.diff(grid) > 0).all()
    assert_array_equal(grid[:64], np.arange(1, min(d, 64) + 1))
    # no step above 3 per cent but for the rounding up
    assert (np.diff(grid) < np.maximum(0.03 * grid[:-1] + 1, 1.5)).all()
    assert len(grid) < 64 + 240


@pytest.mark.parametrize(
    ("accuracy", "size"),
    [
        ([0.5, 0.9, 0.9], 20),
        ([0.5, 0.9 - 1e-15, 0.9], 20),  # equal but for rounding
        ([0.5, 0.9 - 1e-9, 0.9], 30),  # a row of little weight
        ([0.9, 0.5, 0.9], 10),
    ],
)
def test_of_equal_accuracies_the_smallest_size_wins(accuracy, size):
    assert smallest_best(np.array([10, 20, 30]), np.array(accuracy)) == size


def test_an_accuracy_curve_is_of_the_features_of_the_fit():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MeMdClassifier().fit(X, y)
    for other, message in (
        (X.iloc[:, :3], "missing:\n- petal width"),
        (X[X.columns[::-1]], "same order"),
    ):
        with pytest.raises(ValueError, match=message):
            model.accuracy_curve(other, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.n_features_in_ == 4
    own = X[y == 1], y[y == 1]
    assert model.accuracy_curve(*own)[1].tolist() == [
        MeMdClassifier(n_features=s).fit(X, y).score(*own) for s in (1, 2, 3, 4)
    ]


def test_what_data_the_classifier_takes_follows_from_its_family():
    for family, counts in (("normal", False), ("poisson", True), ("bernoulli", True)):
        tags = sklearn.utils.get_tags(MeMdClassifier(family=family))
        assert tags.input_tags.sparse
        assert tags.input_tags.positive_only is counts
        assert tags.classifier_tags.poor_score is counts


def test_a_warning_of_single_rows_points_at_the_call():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="one row only of class 2") as caught:
        MeMdClassifier().fit(X[:101], y[:101])
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="one row only of class 0, 2: it"):
        MeMdClassifier(n_features=2).fit(X[49:101], y[49:101])
    # several rows, classes that share their variances, or a family without any
    MeMdClassifier(n_features=2).fit(X[48:102], y[48:102])
    MeMdClassifier(n_features=2, shrinkage=1.0).fit(X[:101], y[:101])
    MeMdClassifier(n_features=2, family="exponential").fit(X[:101], y[:101])


@pytest.mark.parametrize("family", ["normal", "poisson"])
def test_a_curve_weighs_rows_of_classes_in_any_order(family):
    X, y = load_iris(return_X_y=True)
    names = np.array(["m", "a", "z"])
    model = MeMdClassifier(family=family, n_features=2).fit(X, names[y])
    asked = np.where(np.arange(150) % 7 == 0, "q", names[y])
    weight = np.random.default_rng([7, 15]).uniform(0.1, 3, 150)
    rows = np.r_[120:150, 0:70]
    S, accuracy = model.accuracy_curve(X[rows], asked[rows], weight[rows], [2])
    right = model.predict(X[rows]) == asked[rows]
    assert S.tolist() == [2]
    assert accuracy[0] == pytest.approx(np.average(right, weights=weight[rows]))


def rows():
    rng = np.random.default_rng([18, 9])
    y = np.arange(60) % 3
    return rng.poisson(2.0 + y[:, None], size=(60, 4)).astype(float), y


def of_pairs(X, y):
    return joint_moments(X, y, 3)


def of_family(family):
    return lambda X, y: family_moments(family, X, y, 3, np.ones(len(y)))


@pytest.mark.parametrize(
    ("estimator", "collect"),
    [
        (MeMdClassifier(n_features=2), of_family(Normal())),
        (MultinomialMeMdClassifier(n_features=2), of_family(Binomial())),
        (JointMaxEntClassifier(), of_pairs),
        (JointMaxEntClassifier("diagonal"), of_family(Normal())),
    ],
)
def test_moments_of_two_halves_give_the_fit(estimator, collect):
    X, y = rows()
    moments = collect(X[:25], y[:25]).merge(collect(X[25:], y[25:]))
    model = estimator._estimate(moments, np.unique(y))
    assert not vars(estimator).keys() - estimator.get_params().keys()
    found = log_posterior(model.joint_log_density(X))
    assert_allclose(
        found, estimator.fit(X, y).predict_log_proba(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", [InfeasibleMomentsError, NotConvergedError])
@pytest.mark.parametrize(("k", "s"), [(0, 1), (1, 3), (2, 0), (2, 2), (2, 3)])
def test_the_first_density_that_is_not_found_is_named(monkeypatch, kind, k, s):
    natural = Poisson.natural

    def refuse(self, mu):
        if (mu > 500).any():
            raise kind("not this one")
        if (mu > 50).any():
            raise RoundedMomentsError("another")
        return natural(self, mu)

    monkeypatch.setattr(Poisson, "natural", refuse)
    X, y = rows()
    X[y == 0, 0] = 100
    X[y == k, s] = X[y == 2, 3] = 1000
    model = MeMdClassifier(family="poisson", smoothing=0.0, n_features=None)
    named = f"^class '{'abc'[k]}', feature {s}: there is no density of Poisson"
    with pytest.raises(kind, match=named + r".* moments \[1000\.0\]") as caught:
        model.fit(X, np.array(list("abc"))[y])
    assert isinstance(caught.value.__cause__, kind)
