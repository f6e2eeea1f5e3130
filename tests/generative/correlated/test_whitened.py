import pickle

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel

from memdlib import JointMaxEntClassifier
from memdlib.families import MultivariateNormal
from memdlib.generative.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.whitened import CorrelatedMeMdClassifier
from memdlib.holdout import content_positions


def blobs(seed=0, n=40, d=6, n_classes=3):
    rng = np.random.default_rng([43, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X + rng.normal(size=(n_classes, d))[y], y


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("shrinkage", ["auto", 0.2])
def test_all_coordinates_are_discriminant_analysis(load, shrinkage):
    X, y = load(return_X_y=True)
    ours = CorrelatedMeMdClassifier(shrinkage=shrinkage).fit(X, y)
    other = JointMaxEntClassifier("pooled", shrinkage=shrinkage).fit(X, y)
    assert ours.shrinkage_ == pytest.approx(float(other.shrinkage_), rel=1e-9)
    np.testing.assert_allclose(
        ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-9
    )


def test_without_shrinkage_it_is_that_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    ours = CorrelatedMeMdClassifier(shrinkage=0.0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-8
    )


@pytest.mark.parametrize(("n", "d"), [(9, 30), (50, 5)])
def test_the_divergences_add_up_to_that_of_the_joint_densities(n, d):
    for seed in range(5):
        X, y = blobs(seed, n, d)
        model = CorrelatedMeMdClassifier().fit(X, y)
        means = np.array([X[y == k].mean(axis=0) for k in range(3)])
        residuals = X - means[y]
        S = residuals.T @ residuals / n
        s = np.sqrt(np.diag(S))
        S *= (1 - model.shrinkage_) + model.shrinkage_ * np.eye(d)
        joint = MultivariateNormal()
        mu = joint.mean_parameters(means, np.broadcast_to(S, (3, d, d)))
        expected = joint.js_gm(mu, model.class_prior_)
        assert model.feature_divergences_.sum() == pytest.approx(expected, rel=1e-9)
        # each by the literal root
        W = linalg.inv(linalg.sqrtm(S / np.outer(s, s))).real
        M = ((means - model.class_prior_ @ means) / s) @ W
        np.testing.assert_allclose(model.whitened_means_, M, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            model.feature_divergences_, model.class_prior_ @ M**2, rtol=0, atol=1e-9
        )


@pytest.mark.parametrize(("n", "d"), [(12, 30), (50, 7)])
@pytest.mark.parametrize("size", [1, 3, None])
def test_posteriors_of_some_coordinates_by_hand(n, d, size):
    X, y = blobs(7, n, d)
    prior = np.array([0.2, 0.3, 0.5])
    model = CorrelatedMeMdClassifier(size, shrinkage=0.4, priors=prior).fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    residuals = X - means[y]
    s = np.sqrt((residuals**2).mean(axis=0))
    Z = residuals / s
    W = linalg.inv(linalg.sqrtm(0.6 * Z.T @ Z / n + 0.4 * np.eye(d))).real
    centre = prior @ means
    M, z = (means - centre) / s @ W, (X - centre) / s @ W
    best = np.argsort(-(prior @ M**2), kind="stable")[: size or d]
    score = np.log(prior) - 0.5 * ((z[:, None, best] - M[None, :, best]) ** 2).sum(
        axis=2
    )
    np.testing.assert_allclose(
        model.predict_log_proba(X), log_softmax(score, axis=1), rtol=0, atol=1e-8
    )
    assert model.n_selected_ == (size or d)


@pytest.mark.parametrize("criterion", ["accuracy", "log_loss"])
def test_the_number_chosen_is_the_best_on_rows_held_out(criterion):
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 60))
    X[:, :4] += 1.2 * y[:, None]
    model = CorrelatedMeMdClassifier("auto", criterion=criterion, random_state=0)
    model.fit(X, y)
    curve = model.validation_curve_
    assert curve.shape == model.validation_n_features_.shape == (60,)
    best = curve.argmax() if criterion == "accuracy" else curve.argmin()
    assert model.n_selected_ == model.validation_n_features_[best] < 40
    assert set(model.order_[:4]) & {0, 1, 2, 3}
    assert (curve >= 0).all()
    again = CorrelatedMeMdClassifier("auto", criterion=criterion, random_state=0)
    order = rng.permutation(80)
    again.fit(X[order], y[order])
    np.testing.assert_allclose(again.validation_curve_, curve, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-90, 1e-50, 1e50, 1e90])
def test_values_of_any_size(scale):
    X, y = blobs(5, 14, 20)
    plain = CorrelatedMeMdClassifier(5).fit(X, y)
    scaled = CorrelatedMeMdClassifier(5).fit(scale * X, y)
    np.testing.assert_allclose(
        scaled.predict_proba(scale * X), plain.predict_proba(X), rtol=0, atol=1e-9
    )
    one = X.copy()
    one[:, 3] *= scale
    mixed = CorrelatedMeMdClassifier(5).fit(one, y)
    np.testing.assert_allclose(
        mixed.predict_proba(one), plain.predict_proba(X), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("priors", [None, [0.1, 0.2, 0.7]])
def test_a_constant_has_slope_zero(priors):
    X, y = blobs(4, 41, 6)
    for constant in (0.1, -1e9 / 3, 1e-90):
        X[:, 2] = constant
        model = CorrelatedMeMdClassifier(shrinkage=0.1, priors=priors).fit(X, y)
        assert not model.coef_[:, 2].any()
        assert not model.whitened_means_[:, 2].any()
        assert model.coef_.any(axis=0).sum() == 5


def test_constant_features_and_classes_of_one_row():
    X, y = blobs(6, 11, 8)
    X[:, 2] = 4.0
    y = np.where(np.arange(11) == 10, 7, y)
    model = CorrelatedMeMdClassifier().fit(X, y)
    assert model.feature_divergences_[2] < 1e-25
    with np.errstate(all="raise"):
        far = X.copy()
        far[:, 2] = 1e100
        np.testing.assert_allclose(
            model.predict_proba(far), model.predict_proba(X), rtol=0, atol=1e-9
        )
    # every class one row: no residuals, no correlations
    model = CorrelatedMeMdClassifier().fit(X[:3], [0, 1, 2])
    assert model.shrinkage_ == 1.0
    assert model.predict(X[:3]).tolist() == [0, 1, 2]
    auto = CorrelatedMeMdClassifier("auto").fit(X[:3], [0, 1, 2])
    assert auto.n_selected_ in range(1, 9)


def test_weights_are_copies():
    X, y = blobs(8, 20, 30)
    weight = 1 + np.arange(20) % 3
    for size in (4, "auto"):
        model = CorrelatedMeMdClassifier(size, random_state=1).fit(X, y, weight)
        twice = CorrelatedMeMdClassifier(size, random_state=1)
        twice.fit(X.repeat(weight, axis=0), y.repeat(weight))
        np.testing.assert_allclose(
            model.predict_proba(X), twice.predict_proba(X), rtol=0, atol=1e-8
        )


def test_what_cannot_be_used_is_named():
    X, y = blobs(1, 12, 20)
    with pytest.raises(ValueError, match="smallest eigenvalue of the correlations"):
        CorrelatedMeMdClassifier(shrinkage=0.0).fit(X, y)
    with pytest.raises(ValueError, match=r"priors=\[0.5, 0.6, 0.2\]"):
        CorrelatedMeMdClassifier(priors=[0.5, 0.6, 0.2]).fit(X, y)
    with pytest.raises(ValueError, match="'criterion' parameter"):
        CorrelatedMeMdClassifier(criterion="loss").fit(X, y)
    with pytest.raises(ValueError, match="X has 20 features"):
        CorrelatedMeMdClassifier(21).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        CorrelatedMeMdClassifier().fit(X, np.zeros(12))
    with pytest.raises(TypeError, match="toarray"):
        CorrelatedMeMdClassifier().fit(sparse.csr_array(X), y)
    with pytest.raises(NotFittedError):
        CorrelatedMeMdClassifier().predict(X)
    model = CorrelatedMeMdClassifier().fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X[:, :3], np.zeros(12))
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="1e\\+200 in size"):
        model.predict(np.full((1, 20), 1e200))


def test_seconds_since_1970():
    """Values a million standard deviations from zero."""
    rng = np.random.default_rng([46, 7])
    y = np.arange(400) % 2
    X = np.c_[300 * rng.normal(size=400) + 900 * y, rng.normal(size=400)]
    later = X + np.array([1.7e9, 0.0])
    near = CorrelatedMeMdClassifier().fit(X, y)
    far = CorrelatedMeMdClassifier().fit(later, y)
    assert near.score(X, y) > 0.9
    np.testing.assert_allclose(
        far.predict_proba(later), near.predict_proba(X), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("validation", [0.45, 3])
def test_the_curve_is_the_accuracy_of_each_number_on_rows_held_out(validation):
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 8))
    X[:, 5:] += 1.5 * np.eye(3)[y]
    model = CorrelatedMeMdClassifier("auto", validation=validation, random_state=1)
    model.fit(X, y)
    at = content_positions(X, y, np.ones(60), np.random.RandomState(1))
    folds = [at < validation]
    if validation == 3:
        folds = [np.floor(3 * at) == f for f in range(3)]
    right = np.zeros(8)
    for test in folds:
        for S in range(1, 9):
            part = CorrelatedMeMdClassifier(S).fit(X[~test], y[~test])
            right[S - 1] += (part.predict(X[test]) == y[test]).sum()
    assert model.validation_n_features_.tolist() == list(range(1, 9))
    share = right / np.sum(folds)
    np.testing.assert_allclose(model.validation_curve_, share, rtol=1e-12)


def test_a_class_that_a_fold_did_not_train_does_not_count_in_the_log_loss():
    X, y = blobs(3, n=41, n_classes=2)
    y[-1] = 2
    model = CorrelatedMeMdClassifier("auto", criterion="log_loss", random_state=0)
    assert np.isfinite(model.fit(X, y).validation_curve_).all()


def test_class_weights_multiply_the_weights_of_rows():
    X, y = load_wine(return_X_y=True)
    weighted = CorrelatedMeMdClassifier(class_weight={0: 3, 2: 2}).fit(X, y)
    copies = np.repeat(np.arange(len(y)), np.take([3, 1, 2], y))
    expected = CorrelatedMeMdClassifier().fit(X[copies], y[copies])
    np.testing.assert_allclose(
        weighted.predict_log_proba(X), expected.predict_log_proba(X), rtol=0, atol=1e-8
    )
    balanced = CorrelatedMeMdClassifier(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.class_prior_, 1 / 3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [None, 4])
def test_coefficients_are_those_of_the_decision_function(n_classes, n_features):
    X, y = blobs(6, 60, 6, n_classes)
    X = X * 10.0 ** np.arange(-3, 3) + 5.0
    model = CorrelatedMeMdClassifier(n_features).fit(X, y)
    found = X @ model.coef_.T + model.intercept_
    if n_classes == 2:
        assert model.coef_.shape == (1, 6)
        assert model.intercept_.shape == (1,)
        found = found[:, 0]
    else:
        found = log_softmax(found, axis=1)
    np.testing.assert_allclose(found, model.decision_function(X), rtol=0, atol=1e-9)


def test_coefficients_are_those_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    ours = CorrelatedMeMdClassifier(shrinkage=0.0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    scale = X.std(axis=0)
    np.testing.assert_allclose(
        ours.coef_ * scale, theirs.coef_ * scale, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)


def test_scikit_learn_selects_by_the_coefficients():
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    model = CorrelatedMeMdClassifier()
    assert not hasattr(model, "coef_")
    selector = SelectFromModel(model, max_features=3, threshold=-np.inf).fit(X, y)
    size = np.abs(model.fit(X, y).coef_).sum(axis=0)
    assert set(np.flatnonzero(selector.get_support())) == set(size.argsort()[-3:])
    assert RFE(model, n_features_to_select=4).fit(X, y).score(X, y) > 0.9


def test_a_class_of_prior_zero_is_never_chosen():
    X, y = load_iris(return_X_y=True)
    model = CorrelatedMeMdClassifier(priors=[0.0, 0.5, 0.5]).fit(X, y)
    assert set(model.predict(X)) == {1, 2}
    assert model.predict_proba(X)[:, 0].max() == 0
    pair = CorrelatedMeMdClassifier(priors=[0.25, 0.25, 0.5]).fit(X, y)
    own = pair.predict_log_proba(X)[:, 1] - pair.predict_log_proba(X)[:, 2]
    found = model.predict_log_proba(X)[:, 1] - model.predict_log_proba(X)[:, 2]
    assert np.isfinite(found).all() and np.ptp(own) > 1


@pytest.mark.parametrize("n_features", [None, 2, "auto"])
@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_other_types_are_taken_as_doubles(kind, n_features):
    X, y = blobs(20, 50, 5)
    X = (100 * X + 700).astype(kind)
    before = X.copy()
    one, two = (
        CorrelatedMeMdClassifier(n_features, random_state=0).fit(rows, y)
        for rows in (X, X.astype(float))
    )
    np.testing.assert_allclose(
        one.predict_log_proba(X),
        two.predict_log_proba(X.astype(float)),
        rtol=0,
        atol=1e-10,
    )
    assert one.predict_proba(X).dtype == np.float64
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("n_features", [1, 3, None])
@pytest.mark.parametrize("prior", [None, [0.6, 0.1, 0.3], [0.5, 0.0, 0.5]])
def test_scores_of_unequal_classes_are_those_of_the_whitened_means(prior, n_features):
    X, y = blobs(21, 60, 5)
    weight = np.random.default_rng([57, 21]).uniform(0.1, 3.0, 60) * (1 + 4 * (y == 1))
    given = None if prior is None else np.array(prior)
    model = CorrelatedMeMdClassifier(n_features, 0.2, 0.1, priors=prior)
    model.fit(X, y, sample_weight=weight)
    moments = PooledMoments.of(X, y, 3, weight)
    white = WhitenedMeans.of(moments, given, 0.2, 0.1)
    share = np.bincount(y, weight) / weight.sum() if prior is None else given
    divergences = share @ white.means**2
    np.testing.assert_allclose(model.feature_divergences_, divergences, rtol=1e-9)
    np.testing.assert_allclose(model.whitened_means_, white.means, rtol=0, atol=1e-9)
    assert model.order_.tolist() == np.argsort(-divergences).tolist()
    assert model.n_selected_ == (n_features or 5)
    used = model.order_[: model.n_selected_]
    gap = white.whiten(X - white.centre)[:, None, used] - white.means[:, used]
    with np.errstate(divide="ignore"):
        expected = log_softmax(np.log(share) - 0.5 * (gap**2).sum(axis=2), axis=1)
    found = model.predict_log_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert (model.shrinkage_, model.variance_shrinkage_) == (0.2, 0.1)
    assert model.validation_curve_ is None
    assert model.validation_n_features_ is None


def test_moments_suffice_where_nothing_is_chosen_or_weighted():
    assert CorrelatedMeMdClassifier().moments_suffice is True
    assert CorrelatedMeMdClassifier(3).moments_suffice is True
    assert CorrelatedMeMdClassifier("auto").moments_suffice is False
    assert CorrelatedMeMdClassifier(class_weight={0: 2}).moments_suffice is False
