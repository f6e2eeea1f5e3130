import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from memdlib import ConditionalMaxEntClassifier, JointMaxEntClassifier, MeMdClassifier
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    MultinomialMeMdClassifier,
    contributions,
)
from tests.generative.conftest import word_counts

MEASURED = [
    MeMdClassifier(n_features=3),
    CorrelatedMeMdClassifier(),
    CorrelatedMeMdClassifier(2),
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]
COUNTED = [
    *(
        MeMdClassifier(family=family, n_features=0.7)
        for family in ("poisson", "geometric", "bernoulli", "multinomial")
    ),
    MultinomialMeMdClassifier(n_features=0.5),
    ConditionalMaxEntClassifier(),
    LinearSVC(),
]


def words(seed=0, n_classes=2):
    X, y = word_counts(90, 40, seed, n_informative=20, n_classes=n_classes)
    return X.toarray(), y


def score(model, X, k):
    found = model.decision_function(X)
    if found.ndim == 1:
        return found if k else -found
    return found[:, k] - found.mean(axis=1)


@pytest.mark.parametrize("model", MEASURED, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_are_the_changes_from_a_baseline(model, n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes, :6], y[y < n_classes]
    model.fit(X, y)
    middle = X.mean(axis=0)
    for k in range(n_classes):
        base, values = contributions(model, X, k, baseline=middle)
        assert base == pytest.approx(score(model, middle[None], k)[0], rel=1e-9)
        total = base + values.sum(axis=1)
        assert_allclose(total, score(model, X, k), rtol=1e-8, atol=1e-8)
        one = middle.copy()
        one[4] = X[9, 4]
        change = score(model, one[None], k)[0] - base
        assert values[9, 4] == pytest.approx(change, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("model", COUNTED, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_word_adds_what_is_lost_without_it(model, n_classes):
    X, y = words(1, n_classes)
    model.fit(X, y)
    base, values = contributions(model, X, 1)
    _, thin = contributions(model, sparse.csc_array(X), 1)
    assert isinstance(thin, sparse.csr_array) and thin.nnz == np.count_nonzero(X)
    assert_allclose(thin.toarray(), values, rtol=0, atol=1e-10)
    assert base == pytest.approx(score(model, np.zeros((1, 40)), 1)[0])
    for s in range(40):
        without = X.copy()
        without[:, s] = 0.0
        lost = score(model, X, 1) - score(model, without, 1)
        assert_allclose(values[:, s], lost, rtol=0, atol=1e-9)


def test_rows_without_words_and_impossible_classes():
    X, y = words(4, 3)
    model = MultinomialMeMdClassifier(priors=[0.5, 0.0, 0.5]).fit(X, y)
    base, values = contributions(model, sparse.csr_array(X[:2] * 0), 2)
    assert base == pytest.approx(0) and values.nnz == 0
    base, values = contributions(model, X, 2)
    found = model.decision_function(X)[:, [0, 2]]
    total = base + values.sum(axis=1)
    assert_allclose(total, found[:, 1] - found.mean(axis=1), atol=1e-9)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_are_explained_as_arrays_are(library):
    X, y = load_wine(return_X_y=True, as_frame=True)
    rows = X.to_numpy()
    expected = contributions(MeMdClassifier(n_features=3).fit(rows, y), rows, 1)
    table = library.DataFrame({name: X[name].to_numpy() for name in X})
    model = MeMdClassifier(n_features=3).fit(table, y)
    found = contributions(model, table, 1)  # a warning of names would be an error
    assert found[0] == expected[0]
    assert_array_equal(found[1], expected[1])


COLOURS = pd.DataFrame(
    {"colour": ["red", "blue", "red", "green", "green", "blue"], "size": np.arange(6.0)}
)


@pytest.mark.parametrize(
    "X",
    [
        COLOURS,
        COLOURS.astype({"colour": "category"}),
        COLOURS.astype({"size": "Int64"}),
        COLOURS[["size", "colour"]],
        pl.DataFrame(COLOURS.to_dict("list")),
    ],
    ids=["strings", "categories", "nullable", "other order", "polars"],
)
def test_pipelines_that_take_strings_are_explained(X):
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
        (SimpleImputer(), ["size"]),
    )
    model = make_pipeline(columns, LogisticRegression()).fit(X, [0, 0, 1, 1, 1, 0])
    expected = model.decision_function(X)
    # of no colour and of a size that is missing, which the mean stands in for
    intercept, slope = model[-1].intercept_[0], model[-1].coef_[0, -1]
    base, values = contributions(model, X, 1)
    assert base == pytest.approx(intercept + slope * 2.5)
    assert_allclose(base + values.sum(axis=1), expected)
    row = COLOURS.loc[2, X.columns].tolist()
    base, values = contributions(model, X, 1, baseline=row)
    assert base == pytest.approx(expected[2])
    assert_allclose(base + values.sum(axis=1), expected)
    assert not values[2].any()


def test_what_cannot_be_explained_is_named():
    X, y = load_iris(return_X_y=True)
    for model in (SVC(), JointMaxEntClassifier()):
        with pytest.raises(ValueError, match=r"no sum over features; .*permutation"):
            contributions(model.fit(X, y), X, 1)
    model = MeMdClassifier()
    with pytest.raises(NotFittedError):
        contributions(model, X, 1)
    with pytest.raises(ValueError, match=r"no class 7; choose one of \[0, 1, 2\]"):
        contributions(model.fit(X, y), X, 7)
    with pytest.raises(ValueError, match="X has 3 features, but .* expecting 4"):
        contributions(model, X[:, :3], 1)
