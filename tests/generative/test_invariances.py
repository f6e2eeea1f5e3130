"""Equivalent data give the same sizes, choices and labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import Pipeline

from memdlib import MeMdClassifier, make_memd
from memdlib.datasets import simulate_text_counts

LOADERS = [load_breast_cancer, load_iris, load_wine]
NAMES = np.array(["ape", "bee", "cow", "zebra"], dtype=object)
NUMBERS = np.arange(4)


def table(load, n_rows=240):
    X, y = load(return_X_y=True)
    rows = np.random.default_rng([31, 0]).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def words(n_classes=3):
    text = simulate_text_counts(
        n_documents=200, n_words=150, n_informative=20, n_classes=n_classes, seed=8
    )
    return text.X.tocsr().astype(np.float64), text.y


def arranged(X, rng):
    """The same rows with columns in another order, and other names of labels."""
    row = np.arange(len(X) if isinstance(X, np.ndarray) else X.shape[0])
    yield X[:, rng.permutation(X.shape[1])], NUMBERS, row
    yield X, NAMES, row


def measured(X, rng):
    """The same rows in other units, from other zeros, and of other signs."""
    (n, d), deviation = X.shape, X.std(axis=0)
    for factor in (2, 1000, 1e-3, 10 ** rng.uniform(-3, 3, d)):
        yield X * factor, NUMBERS, np.arange(n)
    yield X + deviation * rng.uniform(-1e3, 1e3, d), NUMBERS, np.arange(n)
    yield X * rng.choice([-1.0, 1.0], d), NUMBERS, np.arange(n)


def common(X):
    """The same rows in one other unit."""
    for factor in (2, 1e-3):
        yield X * factor, NUMBERS, np.arange(len(X))


def stored(X):
    """The same rows, sparse or dense."""
    dense = X.toarray() if sparse.issparse(X) else X
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, np.asarray):
        yield kind(dense), NUMBERS, np.arange(len(dense))


def answers(make, X, y):
    """What was chosen, and the labels of the training rows."""
    model = make().fit(X, y)
    last = model[-1] if isinstance(model, Pipeline) else model
    chosen = [getattr(last, name, None) for name in ("n_selected_",)]
    return chosen, model.predict(X)


def same_answers(make, X, y, others):
    """Answers to other forms of the data are those to this one."""
    chosen, labels = answers(make, X, y)
    for Z, names, row in others:
        other_chosen, found = answers(make, Z, names[y][row])
        assert other_chosen == chosen
        np.testing.assert_array_equal(found, names[labels][row])


@pytest.mark.parametrize("validation", [0.2, 5])
@pytest.mark.parametrize("load", LOADERS)
def test_size_and_labels_of_plain_memd(load, validation):
    X, y = table(load)
    for seed in range(3):
        rng = np.random.default_rng([31, 1, seed])

        def make(seed=seed):
            return MeMdClassifier(validation=validation, random_state=seed)

        others = [*arranged(X, rng), *measured(X, rng), *stored(X)]
        same_answers(make, X, y, others)


@pytest.mark.parametrize("load", LOADERS)
def test_table(load):
    X, y = table(load, 120)
    rng = np.random.default_rng([31, 2])
    others = [*arranged(X, rng), *measured(X, rng)]
    same_answers(lambda: make_memd("table", random_state=0), X, y, others)


def test_expression():
    """Its preparations compare the columns of a row, which must keep their units."""
    rng = np.random.default_rng([31, 3])
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 150))
    X[:, :12] += np.outer(y, rng.normal(size=12))
    others = [*arranged(X, rng), *common(X)]
    same_answers(lambda: make_memd("expression", random_state=0), X, y, others)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "poisson"])
def test_families_of_counts(family):
    X, y = words()
    rng = np.random.default_rng([31, 4])

    def make():
        return MeMdClassifier(family=family, random_state=0)

    same_answers(make, X, y, [*arranged(X, rng), *stored(X)])


def test_text():
    X, y = words()
    rng = np.random.default_rng([31, 6])
    others = [*arranged(X, rng), *stored(X)]
    same_answers(lambda: make_memd("text", random_state=0), X, y, others)
