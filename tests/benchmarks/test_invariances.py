"""One data set of those that ``python -m benchmarks.invariances`` goes through."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler

from benchmarks import invariances
from benchmarks.invariances import (
    CLASSIFIERS,
    NOT_PROMISED,
    TRANSFORMATIONS,
    Data,
    labels,
    main,
    promised,
    tried,
)
from memdlib import JointMaxEntClassifier


@pytest.fixture
def data():
    X, y = load_iris(return_X_y=True)
    return Data(X[::2], y[::2], X[1::2])


def both(kind, data):
    change = TRANSFORMATIONS[kind]
    return (f(data, np.random.default_rng(5)) for f in (change.one, change.other))


@pytest.mark.parametrize("kind", TRANSFORMATIONS)
def test_each_transformation_writes_the_same_in_another_way(kind, data):
    one, other = both(kind, data)
    dense = [Z.toarray() if sparse.issparse(Z) else Z for Z in (one.X, other.X)]
    weight = np.ones(len(other.y)) if other.weight is None else other.weight
    assert weight.sum() == len(one.y)
    total = [(X**2).sum() for X in dense]
    changed = any(word in kind for word in ("times", "units", "offset"))
    assert np.isclose(total[0], (weight[:, None] * dense[1] ** 2).sum()) != changed


@pytest.mark.parametrize("kind", [k for k in TRANSFORMATIONS if "label" in k])
def test_labels_are_read_by_their_old_names(kind, data):
    _, other = both(kind, data)
    assert (other.y != data.y).any()
    np.testing.assert_array_equal(other.read(other.y), data.y)


@pytest.mark.parametrize("kind", [k for k in TRANSFORMATIONS if "sparse" not in k])
def test_naive_bayes_of_another_package_is_invariant(kind, data):
    one, other = both(kind, data)
    model = GaussianNB(var_smoothing=0.0)
    assert (labels(model, one) == labels(model, other)).all()


def test_a_model_that_depends_on_units_is_caught(data, monkeypatch):
    class Fixed(JointMaxEntClassifier):
        def predict(self, X):
            return self.classes_[(X[:, 0] > 5.8).astype(int)]

    monkeypatch.setattr(invariances, "CLASSIFIERS", {"fixed": Fixed()})
    X, y = load_iris(return_X_y=True)
    broken = {kind for _, kind, _, differ in tried({"iris": (X, y)}) if differ}
    assert {"all times 2", "units of each column", "columns permuted"} <= broken
    assert "rows permuted" not in broken and "weight 2 for copies" not in broken


def test_what_is_not_promised_names_a_classifier_and_a_transformation():
    for (name, kind), why in NOT_PROMISED.items():
        assert name in CLASSIFIERS and kind in TRANSFORMATIONS and why
        assert not promised(name, kind)
    assert promised("MeMdClassifier", "sparse, csr")
    assert not promised("JointMaxEntClassifier", "sparse, csr")


def test_the_penalty_does_have_units():
    X, y = load_iris(return_X_y=True)
    X = MaxAbsScaler().fit_transform(X)
    model = CLASSIFIERS["ConditionalMaxEntClassifier"]
    one, other = (labels(model, Data(X * c, y, X * c)) for c in (1e-2, 1e2))
    assert (one != other).any()


def test_the_table_is_printed(capsys, monkeypatch):
    monkeypatch.setattr(
        invariances,
        "CLASSIFIERS",
        {"joint": JointMaxEntClassifier(), "two": GaussianNB()},
    )
    monkeypatch.setattr(invariances, "NOT_PROMISED", {("two", "float32"): "why not"})
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(invariances, "data_sets", lambda: {"iris": (X, y)})
    main()
    said = capsys.readouterr().out
    assert "two, float32: why not" in said
    assert "27 tried, 0 broken" in said
