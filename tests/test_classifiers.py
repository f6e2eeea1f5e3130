import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from memdlib import DivergenceRanker, MeMdClassifier, classifiers
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts
from memdlib.folds import content_positions

ESTIMATORS = [
    MeMdClassifier(),
    MeMdClassifier("jeffreys", n_features=None),
    MeMdClassifier(validation=3, shrinkage=0.3),
    MeMdClassifier(n_features=0.9),
    MeMdClassifier(family="bernoulli"),
    DivergenceRanker(),
    DivergenceRanker("jeffreys", family="bernoulli", k=1),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8
    )


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
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys"])
@pytest.mark.parametrize("block", [2**21, 300])
def test_accuracy_curve_is_a_fit_for_every_size(monkeypatch, divergence, block):
    monkeypatch.setattr(classifiers, "_BLOCK", block)
    X, y, X_new, y_new = wine()
    weight = np.random.default_rng([7, 1]).uniform(0.5, 2, len(y_new))
    model = MeMdClassifier(divergence, n_features=1).fit(X, y)
    S, accuracy = model.accuracy_curve(X_new, y_new, sample_weight=weight)
    assert S.tolist() == list(range(1, 14))
    for s, found in zip(S, accuracy, strict=True):
        one = MeMdClassifier(divergence, n_features=int(s)).fit(X, y)
        assert found == pytest.approx(one.score(X_new, y_new, sample_weight=weight))


def test_sparse_and_dense_are_one():
    X, y = words()
    for family in ("bernoulli", "normal"):
        dense = MeMdClassifier(family=family, n_features=30).fit(X.toarray(), y)
        for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
            model = MeMdClassifier(family=family, n_features=30).fit(kind(X), y)
            np.testing.assert_allclose(
                model.feature_divergences_,
                dense.feature_divergences_,
                rtol=1e-8,
                atol=1e-13,
            )
            model.ranking_ = dense.ranking_
            np.testing.assert_allclose(
                model.predict_log_proba(kind(X)),
                dense.predict_log_proba(X.toarray()),
                atol=1e-7,
            )
            curve = model.accuracy_curve(kind(X), y)[1]
            np.testing.assert_allclose(curve, dense.accuracy_curve(X.toarray(), y)[1])


def held_out_curve(model, X, y, held_out):
    """Accuracy for every S of a model fitted to the other rows."""
    inner = (
        sklearn.clone(model).set_params(n_features=1).fit(X[~held_out], y[~held_out])
    )
    return inner.accuracy_curve(X[held_out], y[held_out])[1] * held_out.sum()


@pytest.mark.parametrize("validation", [0.2, 4])
def test_the_number_of_features_is_chosen_on_unseen_rows(validation):
    X, y, _, _ = wine()
    model = MeMdClassifier(validation=validation, random_state=5).fit(X, y)
    rng = np.random.RandomState(5)
    at = content_positions(X, y, np.ones(len(y)), rng)
    if validation == 4:
        parts = [(at * 4).astype(int) == f for f in range(4)]
    else:
        parts = [at < 0.2]
    right = sum(held_out_curve(model, X, y, part) for part in parts)
    curve = right / sum(part.sum() for part in parts)
    np.testing.assert_allclose(model.validation_curve_, curve)
    assert model.n_selected_ == np.flatnonzero(curve == curve.max())[0] + 1
    np.testing.assert_array_equal(
        model.ranking_, MeMdClassifier(n_features=1).fit(X, y).ranking_
    )


def test_too_few_rows_to_hold_any_out_keep_all_features():
    model = MeMdClassifier().fit([[0.0, 1], [1, 3], [5, 4], [7, 9]], [0, 0, 1, 1])
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
    np.testing.assert_allclose(
        many.mean_params_, one.mean_params_, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        many.feature_divergences_, one.feature_divergences_, rtol=1e-9, atol=1e-13
    )
    np.testing.assert_allclose(many.class_prior_, one.class_prior_, rtol=1e-15)


def test_parameters_are_those_of_the_class_densities():
    X, y, _, _ = wine()
    model = MeMdClassifier(n_features=None).fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(model.mean_params_[k, :, 0], X[y == k].mean(0))
        np.testing.assert_allclose(
            model.mean_params_[k, :, 1], (X[y == k] ** 2).mean(0)
        )
    lam = model.natural_params_
    kernel = -(lam[..., 0] * X[0] + lam[..., 1] * X[0] ** 2)
    laws = [stats.norm(X[y == k].mean(0), X[y == k].std(0)) for k in range(3)]
    for k in range(1, 3):
        gap = laws[k].logpdf(X[0]) - laws[k].logpdf(X[1])
        ours = kernel[k] + (lam[k, :, 0] * X[1] + lam[k, :, 1] * X[1] ** 2)
        np.testing.assert_allclose(ours, gap, rtol=1e-6, atol=1e-8)


def test_a_far_origin_costs_no_digits():
    X, y, X_new, _ = wine()
    near = MeMdClassifier(n_features=None).fit(X, y).predict_log_proba(X_new)
    far = MeMdClassifier(n_features=None).fit(X + 1e6, y).predict_log_proba(X_new + 1e6)
    np.testing.assert_allclose(far, near, atol=1e-5)


def test_hard_cases_stay_finite():
    rng = np.random.default_rng([7, 2])
    X = rng.normal(size=(40, 5))
    y = np.r_[np.zeros(25, int), np.ones(14, int), 2]  # a class of one row
    X[:, 3] = 1.25  # constant
    X[y == 1, 4] = 20.0  # constant in a class
    for divergence in ("js_gm", "jeffreys"):
        model = MeMdClassifier(divergence, n_features=None).fit(X, y)
        assert np.isfinite(model.feature_divergences_).all()
        assert model.feature_divergences_[3] == 0
        assert np.isfinite(model.predict_log_proba(1e3 * X)).all()
    alone = MeMdClassifier(n_features=None).fit(np.ones((4, 2)), [0, 0, 0, 1])
    np.testing.assert_allclose(alone.predict_proba(np.ones((1, 2))), [[0.75, 0.25]])


def test_it_lives_in_frames_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), MeMdClassifier(random_state=0))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.88
    search = GridSearchCV(
        MeMdClassifier(), {"n_features": [2, 10], "shrinkage": [0.0, 0.5]}, cv=3
    ).fit(X, np.where(y == 1, "benign", "malignant"))
    assert set(search.predict(X)) == {"benign", "malignant"}
    assert list(search.best_estimator_.feature_names_in_) == list(X)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


def test_weights_are_routed():
    X, y = load_iris(return_X_y=True, as_frame=True)
    weight = pd.Series(np.where(y == 2, 0.0, 1.0))
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            DivergenceRanker(k=3).set_fit_request(sample_weight=True),
            MeMdClassifier().set_fit_request(sample_weight=True),
        ).fit(X, y, sample_weight=weight)
    assert model[0].classes_.tolist() == [0, 1]
    assert set(model.predict(X)) == {0, 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 5}, "n_features=5 is out of range: X has 4 features"),
        ({"n_features": "all"}, "n_features='all' must be"),
        ({"validation": 1}, "validation=1 must be a share"),
        ({"validation": 1.0}, r"validation=1\.0 must be a share"),
        ({"divergence": "js"}, "divergence='js' must be one of"),
        ({"family": "beta"}, "family='beta' is not known"),
        ({"shrinkage": -0.1}, r"shrinkage=-0\.1 must be"),
        ({"smoothing": np.inf}, "smoothing=inf must be"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier(**options).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan], [1.0]], [0, 1], "contains NaN"),
        ([[np.inf], [1.0]], [0, 1], "contains infinity"),
        ([[0.0], [1.0]], [1, 1], r"y holds one class only \(.*1.*\)"),
        ([[0.0], [1.0]], [0.5, 1.5], "Unknown label type: continuous"),
        ([[0.0], [1e200]], [0, 1], "the moments of feature 0 overflow; rescale"),
    ],
)
def test_bad_data_is_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier().fit(X, y)


def test_bad_counts_and_missing_smoothing_are_named():
    with pytest.raises(ValueError, match=r"Negative values in data.*-1\.0"):
        MeMdClassifier(family="bernoulli").fit([[1.0], [-1.0]], [0, 1])
    with pytest.raises(ValueError, match="use smoothing > 0"):
        MeMdClassifier(family="bernoulli", smoothing=0).fit([[1.0], [0.0]], [0, 1])


def test_predict_and_partial_fit_refuse_what_does_not_fit():
    X, y = load_iris(return_X_y=True)
    model = MeMdClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but MeMdClassifier is exp"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MeMdClassifier().partial_fit(X, y)
    started = MeMdClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] differs from"):
        started.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="label 7 is not among the classes"):
        started.partial_fit(X[:1], [7])


def test_unseen_labels_count_as_errors_in_the_curve():
    X, y = load_iris(return_X_y=True)
    model = MeMdClassifier(n_features=1).fit(X[y < 2], y[y < 2])
    assert model.accuracy_curve(X[y == 2], y[y == 2])[1].max() == 0


def test_selection_beats_noise():
    made = simulate_gaussian_classes(
        n_samples=240, n_features=400, n_informative=8, separation=1.0, seed=4
    )
    chosen = cross_val_score(MeMdClassifier(random_state=0), made.X, made.y, cv=4)
    everything = cross_val_score(MeMdClassifier(n_features=None), made.X, made.y, cv=4)
    assert chosen.mean() > everything.mean() + 0.01
