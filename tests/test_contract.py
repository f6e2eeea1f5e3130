"""What scikit-learn's users count on, for every estimator with its default settings.

Other settings: ``make test-nightly``.
"""

import pickle
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils._param_validation import generate_invalid_param_val, make_constraint

from memdlib import (
    PLSA,
    ConditionalMaxEntClassifier,
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MaxEntDensity,
    MeMdClassifier,
    generative,
    nml,
    topics,
)
from tests.scikit_learn import checks, public, run

DEFAULTS = [
    PLSA(random_state=0),
    ConditionalMaxEntClassifier(),
    generative.CorrelatedMeMdClassifier(),
    DivergenceRanker(),
    generative.DivergenceWeighter(),
    topics.GenerativeEmbedding(random_state=0),
    GreedyGaussianRanker(),
    GreedyInformationRanker(),
    JointMaxEntClassifier(),
    nml.LevelQuantiser(),
    MeMdClassifier(),
    generative.MixtureClassifier(),
    generative.MultinomialMeMdClassifier(),
    nml.NMLClassifier(n_moments=2, n_bins=3),  # seven moments take a minute
    nml.NMLFeatureSelector(n_moments=2, n_bins=3),
    generative.RegularisedMeMdClassifier(),
]
CLASSIFIERS = [
    MeMdClassifier(random_state=0),
    generative.MixtureClassifier(random_state=0),
    JointMaxEntClassifier(),
    ConditionalMaxEntClassifier(),
]
OTHERS = [
    generative.MultinomialMeMdClassifier(),
    generative.CorrelatedMeMdClassifier(),
    generative.RegularisedMeMdClassifier(),
]
SELECTORS = [
    DivergenceRanker(n_features=2),
    GreedyGaussianRanker(n_features=2),
    GreedyInformationRanker(n_features=2),
]


# many of scikit-learn's checks have labels that are drawn without regard to X
@pytest.mark.filterwarnings("ignore:accuracy is", "ignore:all training rows have")
@pytest.mark.parametrize(("estimator", "check"), checks(DEFAULTS))
def test_scikit_learn_contract(estimator, check):
    run(check, estimator)


def test_every_public_estimator_is_checked():
    # a density is fitted to numbers, not to a table
    assert public(BaseEstimator) - {MaxEntDensity} == {type(m) for m in DEFAULTS}


@pytest.mark.parametrize("estimator", DEFAULTS, ids=str)
def test_parameters_without_meaning_are_named(estimator):
    X, y = load_iris(return_X_y=True)
    for name in estimator.get_params(deep=False):
        wrong = [object()]
        for allowed in estimator._parameter_constraints[name]:
            with suppress(NotImplementedError):
                wrong.append(generate_invalid_param_val(make_constraint(allowed)))
        for value in wrong:
            model = clone(estimator).set_params(**{name: value})
            with pytest.raises(ValueError, match=f"'{name}' parameter of .* Got "):
                model.fit(X, y)


def frame():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"})


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *SELECTORS], ids=str)
@pytest.mark.parametrize("library", [pd, pl])
def test_frames_of_both_libraries(estimator, library):
    X, y = frame()
    table = library.DataFrame({c: X[c].to_numpy() for c in X})
    model = clone(estimator).fit(table, library.Series(y.to_list()))
    plain = clone(estimator).fit(X.to_numpy(), y.to_numpy())
    assert model.feature_names_in_.tolist() == list(X)
    if hasattr(model, "predict"):
        assert model.predict(table).tolist() == plain.predict(X.to_numpy()).tolist()
    if estimator in SELECTORS:
        out = model.set_output(transform=library.__name__).transform(table)
        assert isinstance(out, library.DataFrame)
        assert list(out.columns) == model.get_feature_names_out().tolist()
        assert_array_equal(out.to_numpy(), plain.transform(X.to_numpy()))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_columns_pipelines_and_grids(estimator):
    X, y = frame()
    X["colour"] = np.where(X.index % 2, "red", "blue")
    best = make_pipeline(StandardScaler(), DivergenceRanker(n_features=2))
    columns = ColumnTransformer(
        [("best", best, [0, 1, 2]), ("rest", MinMaxScaler(), ["petal width (cm)"])],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = Pipeline([("columns", columns), ("classify", clone(estimator))]).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model["classify"].feature_names_in_.size == 3
    numbers = make_column_selector(dtype_include=float)
    chosen = ColumnTransformer([("numbers", DivergenceRanker(), numbers)])
    sizes = {"columntransformer__numbers__n_features": [1, 2, 4]}
    grid = GridSearchCV(make_pipeline(chosen, clone(estimator)), sizes, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9
    again = pickle.loads(pickle.dumps(grid))
    assert_array_equal(again.predict(X), grid.predict(X))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_weights_are_routed(estimator):
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 2, 50.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            DivergenceRanker(n_features=3).set_fit_request(sample_weight=True),
            clone(estimator)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True),
        )
        folds = cross_validate(model, X, y, cv=3, params={"sample_weight": weight})
        direct = clone(model).fit(X, y, sample_weight=weight)
        plain = clone(model).fit(X, y)
    assert folds["test_score"].min() > 0.8
    shift = direct.predict_proba(X)[:, 2] - plain.predict_proba(X)[:, 2]
    assert shift.mean() > 0
    assert shift.max() > 0.05


WEIGHTS = {
    "all": lambda y, value: np.full(len(y), value),
    "class": lambda y, value: np.where(y == 0, value, 1.0),
    "half": lambda y, value: np.where(np.arange(len(y)) % 2, value, 1.0),
    "row": lambda y, value: np.where(np.arange(len(y)) == 0, value, 1.0),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(
    "estimator",
    [
        *CLASSIFIERS,
        *SELECTORS,
        MeMdClassifier("js", variance_shrinkage="auto"),
        MeMdClassifier("jeffreys", family="multinomial", n_features=None, alpha=0.1),
        MeMdClassifier("js", family="poisson"),
        MeMdClassifier(family="geometric", n_features=None),
        MeMdClassifier("jeffreys", family="exponential"),
        *OTHERS,
        generative.DivergenceWeighter(),
        generative.DivergenceWeighter(alpha=1e-10),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:accuracy is", "ignore:all training rows have")
def test_weights_out_of_range_are_named_and_others_give_numbers(estimator, kind):
    """Far from one there is a message, and no NaN, warning or other error."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.poisson(1 + 2 * np.eye(3)[y] @ rng.random((3, 5))).astype(float)
    forms = [X, sparse.csr_array(X)] if get_tags(estimator).input_tags.sparse else [X]
    for data in forms:
        for value in (5e-324, 1e-300, 1e-101, 1e17, 1e100, 1e300, 1e307, 1e308):
            with pytest.raises(ValueError, match=r"sample_weight.*divide them by"):
                clone(estimator).fit(data, y, WEIGHTS[kind](y, value))
        for value in (1e-99, 1e-30, 1e-15, 1e8):
            with warnings.catch_warnings():
                # weights that are no counts: tests/test_weights.py
                warnings.filterwarnings("ignore", "the weights of 60 rows sum to")
                model = clone(estimator).fit(data, y, WEIGHTS[kind](y, value))
            out = getattr(model, "predict_proba", getattr(model, "transform", None))
            found = out(data)
            assert np.isfinite(getattr(found, "data", found)).all()


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        *((model, "fit") for model in (*CLASSIFIERS[:2], *SELECTORS, *OTHERS)),
        (MeMdClassifier(), "partial_fit"),
        (JointMaxEntClassifier(), "partial_fit"),
        (JointMaxEntClassifier("diagonal"), "partial_fit"),
    ],
    ids=str,
)
def test_a_failure_leaves_everything_as_it_was(estimator, method):
    X, y = frame()
    fresh = clone(estimator)
    with pytest.raises(ValueError, match="infinity"):
        getattr(fresh, method)(X * np.inf, y)
    assert vars(fresh) == vars(clone(estimator))
    with pytest.raises(NotFittedError):
        fresh.get_support() if estimator in SELECTORS else fresh.predict(X)
    model = clone(estimator).fit(X, y)
    before = pickle.dumps(vars(model))
    other = X.rename(columns=str.upper).iloc[:, :2]
    for bad, labels in ((other, y.map(lambda name: 1)), (X[:0], y[:0]), (X * 1e200, y)):
        with pytest.raises(ValueError, match="names|one class|0 sample|absolute value"):
            getattr(model, method)(bad, labels)
        assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_functions_are_log_odds(estimator, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = clone(estimator).fit(X, y)
    score, p = model.decision_function(X), model.predict_proba(X)
    if n_classes == 2:
        assert score.shape == (100,)
        score = np.column_stack([np.zeros(100), score])
    assert_allclose(p, softmax(score, axis=1), rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(X), score.argmax(axis=1))


def test_every_estimator_means_the_same_by_size_order_and_rank():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 2] * 2])  # a copy, which a greedy choice leaves out
    for estimator in [*SELECTORS, MeMdClassifier(n_features=2)]:
        model = clone(estimator).fit(X, y)
        assert model.n_features == model.n_selected_ == 2
        assert model.get_support().sum() == 2
        assert model.get_support()[model.order_[:2]].all()
        ranks = [min(i, len(model.order_) + 1) for i in range(1, 6)]
        assert sorted(model.ranking_) == ranks
        assert model.ranking_[model.order_[0]] == 1
        assert_array_equal(np.argsort(model.ranking_)[0], model.order_[0])
    greedy = GreedyInformationRanker(n_features=None).fit(X, y)
    assert greedy.n_selected_ == len(greedy.order_) == 4
    assert greedy.ranking_.max() == 5
