"""Fits in parts against one fit on all rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import LinearSVC

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.parts import fit_chunks
from tests.parts.comparing import ESTIMATORS, agree, counts, in_parts


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_of_any_length_give_the_fit_on_all_rows(name, weighted):
    X, y = counts()
    weight = np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0
    columns = (X, y, weight) if weighted else (X, y)
    one = clone(ESTIMATORS[name]).fit(*columns)
    other = fit_chunks(clone(ESTIMATORS[name]), in_parts(*columns))
    agree(one, other, X)


@pytest.mark.parametrize("name", ["fixed", "auto", "folds", "documents", "ranker"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_parts(name, kind):
    X, y = counts(d=12)
    one = clone(ESTIMATORS[name]).fit(kind(X), y)
    agree(one, fit_chunks(clone(ESTIMATORS[name]), in_parts(kind(X), y)), X)


def test_single_precision_and_whole_numbers():
    X, y = counts()
    for dtype in (np.float32, np.int64):
        one = MeMdClassifier(random_state=0).fit(X.astype(dtype), y)
        chunks = in_parts(X.astype(dtype), y)
        agree(one, fit_chunks(MeMdClassifier(random_state=0), chunks), X)


@pytest.mark.parametrize("kind", [object, np.str_])
def test_labels_of_text(kind):
    X, y = counts()
    names = np.array(["ape", "bee", "cow"], dtype=kind)[y]
    for model in (MeMdClassifier(n_features=2), MeMdClassifier(random_state=0)):
        one = clone(model).fit(X, names)
        agree(one, fit_chunks(clone(model), in_parts(X, names)), X)


def test_classes_that_are_given_save_a_look_at_the_labels():
    X, y = counts()
    passes = []

    def note(name, done, total):
        if done == 1:
            passes.append(name)

    model = fit_chunks(
        MeMdClassifier(n_features=3), in_parts(X, y), classes=[2, 1, 0], progress=note
    )
    assert passes == ["moments"]
    agree(MeMdClassifier(n_features=3).fit(X, y), model, X)
    fit_chunks(MeMdClassifier(random_state=0), in_parts(X, y), progress=note)
    assert passes[1:] == [
        "classes",
        "spread",
        "hashes",
        "rows set aside",
        "moments",
        "accuracy",
    ]


@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize("classes", [[0, 1, 2, 7], [0, 1]])
def test_classes_that_are_not_those_of_the_labels(auto, classes):
    X, y = counts()
    model = MeMdClassifier(n_features="auto" if auto else 3, random_state=0)
    with pytest.raises(ValueError, match="not among the classes|differ from those"):
        fit_chunks(model, in_parts(X, y), classes=classes)
    assert not hasattr(model, "classes_")


def test_a_class_of_one_row_is_told():
    X, y = counts()
    y = np.where(np.arange(len(y)) == 5, 9, y)
    with pytest.warns(UserWarning, match="one row only of class 9"):
        fit_chunks(MeMdClassifier(n_features=2), in_parts(X, y))


def test_too_few_rows_to_set_any_aside():
    X, y = np.array([[1.0], [2.0], [4.0], [7.0]]), np.array([0, 0, 1, 1])
    model = fit_chunks(MeMdClassifier(random_state=0), in_parts(X, y, cuts=(0, 3, 4)))
    agree(MeMdClassifier(random_state=0).fit(X, y), model, X)
    assert model.validation_curve_ is None


def changed(part, column, values):
    X, y = counts()
    parts = [list(columns) for columns in in_parts(X, y)]
    parts[part][column] = values(parts[part][column])
    return [tuple(columns) for columns in parts]


@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (changed(3, 0, lambda X: X[:, 1:]), "5 features"),
        (changed(3, 0, lambda X: X[1:]), "49 rows of X and 50 labels"),
        (changed(5, 0, lambda X: X * np.nan), "NaN"),
        (changed(3, 1, lambda y: y + 0.5), "continuous"),
        (changed(3, 1, lambda y: y * np.nan), "NaN"),
        (changed(3, 1, lambda y: y.astype(str)), "some labels are text"),
        (in_parts(*counts(K=1)), "one class only"),
        (in_parts(*counts(), np.zeros(200)), "no row of positive weight"),
        (in_parts(*counts(), np.full(200, -1.0)), "nonnegative"),
        ([], "no row in any chunk"),
        (iter([]), "can be read only once"),
    ],
)
def test_what_cannot_be_fitted(auto, chunks, message):
    model = MeMdClassifier(n_features=1, random_state=0)
    model.fit([[0], [1], [5], [7]], [0, 0, 1, 1])
    before = dict(vars(model), n_features="auto" if auto else 2)
    model.set_params(n_features=before["n_features"])
    with pytest.raises(ValueError, match=message):
        fit_chunks(model, chunks)
    assert vars(model) == before


def test_parameters_are_checked_before_the_data_are_read():
    class Unread:
        def __iter__(self):
            yield np.ones((1, 6)), [0]
            raise AssertionError("read on")

    for wrong in ({"n_features": 7}, {"validation": 2.0}, {"shrinkage": 2}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            fit_chunks(MeMdClassifier(**wrong), Unread())
    with pytest.raises(TypeError, match="LinearSVC cannot be fitted in parts"):
        fit_chunks(LinearSVC(), Unread())


def test_sparse_data_need_a_diagonal():
    X, y = counts()
    with pytest.raises(TypeError, match="needs dense"):
        fit_chunks(JointMaxEntClassifier(), in_parts(sparse.csr_array(X), y))
