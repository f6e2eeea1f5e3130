"""Equivalent data give the same sizes, choices and labels."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import Pipeline

from memdlib import MeMdClassifier, make_memd
from tests.generative.conftest import word_counts

NAMES = np.array(["ape", "bee", "cow", "zebra"], dtype=object)


def table(load, n_rows):
    X, y = load(return_X_y=True)
    rows = np.random.default_rng([31, 0]).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


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
    dense = X.toarray() if sparse.issparse(X) else X
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asarray):
        yield kind(dense)


def answers(make, X, y):
    """What was chosen, and the labels of the training rows."""
    model = make().fit(X, y)
    last = model[-1] if isinstance(model, Pipeline) else model
    return getattr(last, "n_selected_", None), model.predict(X)


def same_answers(make, X, y, *forms):
    """Answers to other forms of the data, and to names of labels, are those to this."""
    chosen, labels = answers(make, X, y)
    rng = np.random.default_rng([31, 1])
    for Z in (other for form in forms for other in form(X, rng)):
        other_chosen, found = answers(make, Z, y)
        assert other_chosen == chosen
        assert_array_equal(found, labels)
    assert_array_equal(answers(make, X, NAMES[y])[1], NAMES[labels])


@pytest.mark.parametrize("validation", [0.2, 5])
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
def test_size_and_labels_of_plain_memd(load, validation):
    make = partial(MeMdClassifier, validation=validation, random_state=0)
    same_answers(make, *table(load, 240), arranged, measured, stored)


def test_table():
    make = partial(make_memd, "table", random_state=0)
    same_answers(make, *table(load_wine, 60), arranged, measured)


def test_expression():
    """Its preparations compare the columns of a row, which must keep their units."""
    rng = np.random.default_rng([31, 3])
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 150))
    X[:, :12] += np.outer(y, rng.normal(size=12))
    make = partial(make_memd, "expression", random_state=0)
    same_answers(make, X, y, arranged, common)


@pytest.mark.parametrize(
    "make",
    [
        *(
            partial(MeMdClassifier, family=f)
            for f in ("multinomial", "bernoulli", "poisson")
        ),
        partial(make_memd, "text"),
    ],
)
def test_counts(make):
    X, y = word_counts(120, 150, 8, n_informative=20, n_classes=3)
    same_answers(partial(make, random_state=0), X, y, arranged, stored)
