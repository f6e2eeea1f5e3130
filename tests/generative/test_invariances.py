"""Equivalent data give the same sizes, choices and labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import Pipeline

from memdlib import MeMdClassifier, make_memd
from tests.generative.conftest import word_counts


def table(load, n_rows):
    X, y = load(return_X_y=True)
    rows = np.random.default_rng([31, 0]).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def genes():
    rng, y = np.random.default_rng([31, 3]), np.arange(60) % 3
    return rng.normal(size=(60, 150)) + np.outer(y, rng.normal(size=150) / 4), y


def arranged(X, rng):
    """The columns in another order."""
    yield X[:, rng.permutation(X.shape[1])]


def measured(X, rng):
    """The same rows in other units, from other zeros, and of other signs."""
    d, deviation = X.shape[1], X.std(axis=0)
    yield X * 10 ** rng.uniform(-3, 3, d)
    yield X + deviation * rng.uniform(-1e3, 1e3, d)
    yield X * rng.choice([-1.0, 1.0], d)


def common(X, rng):
    """The same rows in one other unit."""
    yield X * 1e-3


def stored(X, rng):
    """The same rows, sparse or dense."""
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        yield kind(X)
    yield X.toarray() if sparse.issparse(X) else X


MEASURED = [table(load, 240) for load in (load_breast_cancer, load_iris, load_wine)]
WORDS = word_counts(90, 60, 8, n_informative=20, n_classes=3)
FAMILIES = "multinomial", "bernoulli", "poisson"
CASES = [
    *((MeMdClassifier(), data, (arranged, measured, stored)) for data in MEASURED),
    (MeMdClassifier(cv=5), MEASURED[2], (arranged, measured)),
    *((MeMdClassifier(family=f), WORDS, (arranged, stored)) for f in FAMILIES),
    (make_memd("table"), table(load_wine, 60), (arranged, measured)),
    # its preparations compare the columns of a row, which must keep their units
    (make_memd("expression"), genes(), (arranged, common)),
    (make_memd("text"), WORDS, (arranged, stored)),
]


def answers(model, X, y):
    """What was chosen, and the labels of the training rows."""
    model = clone(model)
    last = model[-1] if isinstance(model, Pipeline) else model
    last.random_state = 0
    model.fit(X, y)
    return getattr(last, "n_selected_", None), model.predict(X)


@pytest.mark.parametrize(("model", "data", "forms"), CASES)
def test_other_forms_of_the_data_and_names_of_labels_change_nothing(model, data, forms):
    X, y = data
    chosen, labels = answers(model, X, y)
    rng = np.random.default_rng([31, 1])
    for Z in (other for form in forms for other in form(X, rng)):
        other_chosen, found = answers(model, Z, y)
        assert other_chosen == chosen
        assert_array_equal(found, labels)
    names = np.array(["ape", "bee", "cow"], dtype=object)
    assert_array_equal(answers(model, X, names[y])[1], names[labels])
