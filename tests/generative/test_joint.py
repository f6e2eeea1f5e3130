import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from memdlib import MeMdClassifier, moments
from memdlib.families import Normal
from memdlib.families.multivariate import MultivariateNormal
from memdlib.generative.joint import COVARIANCES, JointMaxEntClassifier

EVERY = pytest.mark.parametrize("covariance", COVARIANCES)


def wine():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def blobs(seed=0, n=120, d=4, n_classes=3):
    rng = np.random.default_rng([21, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    A = rng.normal(size=(n_classes, d, d)) + np.eye(d)
    X = np.einsum("ia,iab->ib", rng.normal(size=(n, d)), A[y])
    return X + rng.normal(size=(n_classes, d))[y], y


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    ("covariance", "theirs"),
    [
        # these of scikit-learn divide by n too, not by n - 1 or n - K
        ("full", QuadraticDiscriminantAnalysis(tol=0)),
        ("pooled", LinearDiscriminantAnalysis(solver="lsqr")),
        ("diagonal", GaussianNB(var_smoothing=0)),
    ],
)
def test_the_three_textbook_classifiers(load, covariance, theirs):
    X, y = load(return_X_y=True)
    ours = JointMaxEntClassifier(covariance, shrinkage=0.0).fit(X, y)
    proba = theirs.fit(X, y).predict_proba(X)
    assert_allclose(ours.predict_proba(X), proba, rtol=0, atol=1e-8)


def test_the_unbiased_covariance_differs_by_its_factor():
    X, y = load_iris(return_X_y=True)
    pooled = JointMaxEntClassifier("pooled", shrinkage=0.0).fit(X, y)
    full = JointMaxEntClassifier("full", shrinkage=0.0).fit(X, y)
    for k in range(3):
        assert_allclose(full.covariances_[k] * 50 / 49, np.cov(X[y == k].T), rtol=1e-12)
    within = sum(49 * np.cov(X[y == k].T) for k in range(3)) / 147
    assert_allclose(pooled.covariances_ * 150 / 147, within, rtol=1e-12)


def test_without_products_it_is_memd_on_all_features():
    X, y, X_new, _ = wine()
    for shrinkage in (0.0, 0.4, 1.0):
        ours = JointMaxEntClassifier("diagonal", shrinkage).fit(X, y)
        theirs = MeMdClassifier(n_features=None, shrinkage=shrinkage).fit(X, y)
        found, expected = (m.predict_log_proba(X_new) for m in (ours, theirs))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-13)
        for name in ("mean_params_", "natural_params_", "class_prior_"):
            assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7)


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_the_diagonal_model_takes_sparse_data(shrinkage):
    X, y = blobs()
    X = np.where(X > 0.5, X, 0.0)
    dense = JointMaxEntClassifier("diagonal", shrinkage).fit(X, y)
    thin = JointMaxEntClassifier("diagonal", shrinkage).fit(sparse.csr_array(X), y)
    assert_allclose(thin.covariances_, dense.covariances_, rtol=1e-10)
    assert_allclose(
        thin.predict_log_proba(sparse.csc_array(X)),
        dense.predict_log_proba(X),
        rtol=0,
        atol=1e-9,
    )
    with pytest.raises(TypeError, match="dense data"):
        JointMaxEntClassifier("full").fit(X, y).predict(sparse.csr_array(X))


def test_correlations_of_one_by_nothing_left_are_the_diagonal_model():
    X, y = blobs()
    full = JointMaxEntClassifier("full", shrinkage=1.0).fit(X, y)
    naive = JointMaxEntClassifier("diagonal", shrinkage=0.0).fit(X, y)
    assert_allclose(
        full.predict_log_proba(X), naive.predict_log_proba(X), rtol=0, atol=1e-10
    )


@EVERY
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_attributes_are_the_class_densities(covariance, shrinkage):
    X, y = blobs()
    model = JointMaxEntClassifier(covariance, shrinkage).fit(X, y)
    mean, S, mu = model.means_, model.covariances_, model.mean_params_
    assert_allclose(mean, [X[y == k].mean(axis=0) for k in range(3)])
    if covariance == "diagonal":
        assert S.shape == (3, 4) and mu.shape == (3, 4, 2)
        assert_allclose(Normal.variance(mu), S, rtol=1e-10)
        assert_allclose(Normal().natural(mu), model.natural_params_)
        S = [np.diag(s) for s in S]
    else:
        assert S.shape == ((4, 4) if covariance == "pooled" else (3, 4, 4))
        assert mu.shape == model.natural_params_.shape == (3, 4, 5)
        S = np.broadcast_to(S, (3, 4, 4))
        family = MultivariateNormal()
        assert_allclose(family.covariance(mu), S, rtol=0, atol=1e-12)
        assert_allclose(
            family.natural(mu), model.natural_params_, rtol=1e-9, atol=1e-10
        )
    laws = [stats.multivariate_normal(m, s) for m, s in zip(mean, S, strict=True)]
    score = np.stack([q.logpdf(X) for q in laws], axis=1) + np.log(model.class_prior_)
    gap = score - score[:, :1]
    ours = model.predict_log_proba(X)
    assert_allclose(ours - ours[:, :1], gap, rtol=1e-8, atol=1e-9)
    assert_array_equal(model.predict(X), score.argmax(axis=1))
    shape = (3,) if covariance == "full" else ()
    assert model.shrinkage_.shape == shape
    if shrinkage == "auto":
        assert (model.shrinkage_ > 0).all() and (model.shrinkage_ <= 1).all()
    else:
        assert_array_equal(model.shrinkage_, shrinkage)


def test_the_automatic_intensity_of_variances_by_hand():
    X, y = blobs()
    model = JointMaxEntClassifier("diagonal").fit(X, y)
    v = np.array([X[y == k].var(axis=0) for k in range(3)])
    ratio = v / v.mean(axis=0)  # classes of 40 rows each
    s = (2 * (2 / 3) * ratio**2 / 42).sum() / ((ratio - 1) ** 2).sum()
    assert model.shrinkage_ == pytest.approx(s, rel=1e-10)
    expected = v + s * (v.mean(axis=0) - v)
    assert_allclose(model.covariances_, expected, rtol=1e-10)


@EVERY
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_weights_are_copies(covariance, shrinkage):
    X, y = blobs()
    w = np.random.default_rng([21, 1]).integers(0, 4, len(y))
    one = JointMaxEntClassifier(covariance, shrinkage)
    weighted = one.fit(X, y, sample_weight=w).predict_log_proba(X)
    copies = one.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_log_proba(X)
    assert_allclose(weighted, copies, rtol=1e-9, atol=1e-11)


@EVERY
@pytest.mark.parametrize("shrinkage", [0.2, "auto"])
@pytest.mark.parametrize("origin", [0.0, 1000.0])
def test_batches_give_the_model_of_one_fit(covariance, shrinkage, origin):
    X, y = blobs()
    X, w = X + origin, np.random.default_rng([21, 2]).uniform(0.5, 2, len(y))
    one = JointMaxEntClassifier(covariance, shrinkage).fit(X, y, w)
    many = JointMaxEntClassifier(covariance, shrinkage)
    order = np.argsort(y, kind="stable")  # the first batch lacks classes
    for batch in np.array_split(order, 7):
        many.partial_fit(X[batch], y[batch], [0, 1, 2], w[batch])
    for name in ("mean_params_", "class_prior_", "means_"):
        assert_allclose(getattr(many, name), getattr(one, name), rtol=1e-12, atol=1e-12)
    assert_allclose(many.shrinkage_, one.shrinkage_, rtol=1e-9)
    assert_allclose(many.predict_proba(X), one.predict_proba(X), rtol=1e-7, atol=1e-12)
    half = JointMaxEntClassifier(covariance, shrinkage).fit(X[:60], y[:60], w[:60])
    half.partial_fit(X[60:], y[60:], sample_weight=w[60:])
    assert_allclose(half.mean_params_, one.mean_params_, rtol=1e-12)


@EVERY
def test_classes_that_have_not_come_yet_are_never_predicted(covariance):
    X, y = blobs()
    model = JointMaxEntClassifier(covariance)
    model.partial_fit(X[y > 0], y[y > 0], classes=range(4))
    proba = model.predict_proba(X)
    assert_array_equal(proba[:, [0, 3]], 0)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.isfinite(model.natural_params_).all()
    alone = JointMaxEntClassifier(covariance).fit(X[y > 0], y[y > 0])
    assert_allclose(proba[:, 1:3], alone.predict_proba(X), rtol=1e-9)


@EVERY
@pytest.mark.parametrize("shrinkage", [0.0, 0.3, "auto"])
def test_units_change_no_prediction(covariance, shrinkage):
    X, y = blobs()
    unit = np.array([1e-40, 1.0, 1e5, 1e40])
    one = JointMaxEntClassifier(covariance, shrinkage).fit(X, y)
    other = JointMaxEntClassifier(covariance, shrinkage).fit(X * unit, y)
    assert_allclose(other.shrinkage_, one.shrinkage_, rtol=1e-10)
    assert_allclose(
        other.predict_log_proba(X * unit), one.predict_log_proba(X), rtol=0, atol=1e-9
    )


@EVERY
def test_a_far_origin_costs_few_digits(covariance):
    X, y = blobs()
    near = JointMaxEntClassifier(covariance).fit(X, y).predict_proba(X)
    far = JointMaxEntClassifier(covariance).fit(X + 1e6, y).predict_proba(X + 1e6)
    assert_allclose(far, near, rtol=0, atol=1e-6)


@EVERY
def test_blocks_and_single_precision(covariance, monkeypatch):
    X, y = blobs()
    one = JointMaxEntClassifier(covariance).fit(X, y)
    monkeypatch.setattr(moments, "_BLOCK", 28)
    other = JointMaxEntClassifier(covariance).fit(X, y)
    assert_allclose(other.mean_params_, one.mean_params_, rtol=1e-11)
    single = JointMaxEntClassifier(covariance).fit(X.astype(np.float32), y)
    assert single.covariances_.dtype == np.float64
    assert_allclose(
        single.predict_proba(X.astype(np.float32)),
        one.predict_proba(X),
        rtol=0,
        atol=1e-5,
    )


@EVERY
@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_classes_far_apart_keep_their_digits(covariance, offset):
    rng = np.random.default_rng([21, 8])
    X, y = rng.normal(size=(900, 2)), np.repeat([0, 1, 2], 300)
    X[:, 0] += np.array([0.0, 4.0, 100.0])[y]
    near = JointMaxEntClassifier(covariance, 0.1).fit(X, y).predict_proba(X)
    X[y == 2, 0] += offset
    order = rng.permutation(900)
    far = JointMaxEntClassifier(covariance, 0.1).fit(X, y)
    parts = JointMaxEntClassifier(covariance, 0.1)
    for batch in np.array_split(order, 5):
        parts.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    for model in (far, parts):
        # doubles near 1e12 lie 1e-4 apart: that much the data themselves change
        found = model.predict_proba(X)
        assert_allclose(found, near, rtol=0, atol=1e-16 * offset)
        assert model.score(X, y) > 0.97


@EVERY
@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_hard_cases_stay_finite(covariance, shrinkage):
    rng = np.random.default_rng([21, 3])
    X = rng.normal(size=(40, 6))
    y = np.r_[np.zeros(25, int), np.ones(14, int), 2]  # a class of one row
    X[:, 3] = 1.1  # constant
    X[y == 1, 4] = 20.1  # constant in a class
    X[:, 5] = 3 * X[:, 0] + 7  # a copy
    model = JointMaxEntClassifier(covariance, shrinkage).fit(X, y)
    assert np.isfinite(model.predict_log_proba(100 * X)).all()
    assert np.isfinite(model.natural_params_).all()
    moved = X.copy()
    moved[:, 3] = 50.0  # the constant favours no class
    assert_allclose(
        model.predict_log_proba(moved), model.predict_log_proba(X), rtol=1e-7, atol=1e-9
    )
    constant = JointMaxEntClassifier(covariance, shrinkage)
    constant.fit(np.full((4, 2), 0.1), [0, 0, 0, 1])
    assert_allclose(constant.predict_proba([[0.1, 3]]), [[0.75, 0.25]])


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_more_features_than_rows(covariance):
    rng = np.random.default_rng([21, 4])
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 150)) + rng.normal(size=(60, 1))
    X[:, :10] += 2 * y[:, None]
    model = JointMaxEntClassifier(covariance)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    with pytest.raises(ValueError, match='use shrinkage > 0 or "auto", or fewer feat'):
        JointMaxEntClassifier(covariance, shrinkage=0.0).fit(X, y)


def test_a_singular_class_is_named():
    X, y = blobs()
    X[y == 2, 0] = 2 * X[y == 2, 1] - 5
    names = np.array(["ape", "bee", "cat"])[y]
    message = "class 'cat': smallest eigenvalue of the correlation matrix = .*; use shr"
    with pytest.raises(ValueError, match=message):
        JointMaxEntClassifier(shrinkage=0.0).fit(X, names)
    X[:, 0] = X[:, 1]
    with pytest.raises(ValueError, match="class 'all classes together': smallest"):
        JointMaxEntClassifier("pooled", shrinkage=0.0).fit(X, names)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_batch_that_fails_changes_nothing(covariance):
    X, y = blobs()
    model = JointMaxEntClassifier(covariance).partial_fit(X, y, classes=[0, 1, 2])
    before = model.predict_log_proba(X)
    for bad, label in ((np.full((1, 4), 1e300), 0), (X[:1], 9), (X[:1, :2], 0)):
        with pytest.raises(ValueError, match=r"in size|label 9|X has 2 features"):
            model.partial_fit(bad, [label])
        assert_array_equal(model.predict_log_proba(X), before)
    for other in set(COVARIANCES) - {"pooled", covariance}:
        with pytest.raises(ValueError, match="must agree|from batch to batch"):
            model.set_params(covariance=other).partial_fit(X, y)


@EVERY
def test_a_row_beyond_all_numbers_is_refused(covariance):
    X, y = load_iris(return_X_y=True)
    model = JointMaxEntClassifier(covariance).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X * 1e99)).all()
    X[7, 2] = -1e308
    with pytest.raises(ValueError, match=r"feature 2 of X is 1e\+308 in size"):
        model.predict(100 * (X / 100))


def test_it_lives_in_frames_searches_and_pickles():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = pd.Series(np.where(y == 1, "benign", "malignant"))
    search = GridSearchCV(
        JointMaxEntClassifier(),
        {"covariance": list(COVARIANCES), "shrinkage": [0.0, 0.5, "auto"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.95
    best = search.best_estimator_
    assert list(best.feature_names_in_) == list(X)
    assert set(best.predict(X)) == {"benign", "malignant"}
    again = pickle.loads(pickle.dumps(best))
    assert_array_equal(again.predict_proba(X), best.predict_proba(X))
    with pytest.raises(ValueError, match="feature names should match"):
        best.predict(X[X.columns[::-1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance": "tied"}, r"'covariance' .* {'full', 'pooled', 'diagonal'}"),
        ({"shrinkage": -0.1}, r"'shrinkage' .* in the range \[0.0, 1.0\]. Got -0.1"),
        ({"shrinkage": "lw"}, r"'shrinkage' .* among {'auto'} or .* Got 'lw' instead"),
        ({"shrinkage": np.nan}, "'shrinkage' .* Got nan instead"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        JointMaxEntClassifier(**options).fit(*load_iris(return_X_y=True))


@EVERY
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan], [1.0]], [0, 1], "contains NaN"),
        ([[0.0], [1.0]], [1, 1], r"y holds one class only \(.*1.*\)"),
        ([[0.0], [1.0]], [0.5, 1.5], "Unknown label type: continuous"),
        ([[0.0], [1e200]], [0, 1], r"feature 0 of X is 1e\+200 in size"),
        ([[0.0], [1.0]], [0, 1, 1], "inconsistent numbers of samples"),
    ],
)
def test_bad_data_is_named(covariance, X, y, message):
    with pytest.raises(ValueError, match=message):
        JointMaxEntClassifier(covariance).fit(X, y)


def test_sparse_data_and_bad_weights_are_named():
    X, y = blobs()
    message = "Sparse data was passed for X, but dense data is required"
    with pytest.raises(TypeError, match=message):
        JointMaxEntClassifier().fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = -1\.0"):
        JointMaxEntClassifier().fit(X, y, -np.ones(len(y)))


def test_partial_fit_needs_the_classes_once():
    X, y = blobs()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        JointMaxEntClassifier().partial_fit(X, y)
    model = JointMaxEntClassifier().partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] differs from the first"):
        model.partial_fit(X, y, classes=[0, 1])


def test_only_the_diagonal_model_says_that_it_takes_sparse_data():
    for covariance in COVARIANCES:
        tags = get_tags(JointMaxEntClassifier(covariance))
        assert tags.input_tags.sparse is (covariance == "diagonal")


@EVERY
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_small_numbers_have_squares(covariance, dtype):
    X, y = blobs()
    X = (15 * X).round().clip(-120, 120)
    model = JointMaxEntClassifier(covariance).fit(X, y)
    assert_allclose(
        model.predict_log_proba(X.astype(dtype)), model.predict_log_proba(X), rtol=1e-12
    )
    again = JointMaxEntClassifier(covariance).fit(X.astype(dtype), y)
    assert_allclose(again.mean_params_, model.mean_params_, rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "pooled"])
def test_posteriors_are_those_of_the_densities(covariance):
    X, y = blobs(3, n=90, d=3)
    X, y = X[15:], y[15:]
    w = np.random.default_rng([21, 9]).uniform(0.5, 2, len(y))
    model = JointMaxEntClassifier(covariance, 0.2).fit(X, y, w)
    one = model.predict_log_proba(X)
    S = np.broadcast_to(model.covariances_, (3, 3, 3))
    laws = [
        stats.multivariate_normal(m, s) for m, s in zip(model.means_, S, strict=True)
    ]
    score = np.stack([q.logpdf(X) for q in laws], axis=1) + np.log(model.class_prior_)
    score -= np.logaddexp.reduce(score, axis=1)[:, None]
    assert_allclose(one, score, rtol=0, atol=1e-9)
