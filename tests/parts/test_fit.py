"""Fits in parts against one fit on all rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import LinearSVC

from memdlib import JointMaxEntClassifier, MeMdClassifier
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.generative.correlated import pooled
from memdlib.parts import ArrayChunks, fit_chunks, wide
from tests.parts.comparing import (
    CORRELATED,
    ESTIMATORS,
    agree,
    correlated,
    counts,
    in_parts,
)
from tests.parts.test_serial import Steps, Stopped, same_bits, stop_after


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


@pytest.mark.parametrize("n_features", [2, "auto"])
def test_a_class_of_one_row_is_told(n_features):
    X, y = counts()
    y = np.where(np.arange(len(y)) == 5, 9, y)
    with pytest.warns(UserWarning, match="one row only of class 9"):
        fit_chunks(MeMdClassifier(n_features=n_features), in_parts(X, y))


@pytest.mark.parametrize("validation", [0.2, 3])
def test_weights_of_classes_count_in_every_pass(validation):
    X, y = counts()
    how = {"class_weight": {0: 9.0, 1: 0.2, 2: 1.0}, "random_state": 0}
    model = MeMdClassifier(validation=validation, shrinkage="auto", **how)
    one, other = clone(model).fit(X, y), fit_chunks(clone(model), in_parts(X, y))
    agree(one, other, X)
    plain = clone(model).set_params(class_weight=None).fit(X, y)
    assert (plain.validation_curve_ != one.validation_curve_).any()


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


@pytest.fixture
def narrow(monkeypatch):
    """Strips of seven columns, and scores of a few rows."""
    monkeypatch.setattr(wide, "_ENTRIES", 1400)
    monkeypatch.setattr(pooled, "_SCORES", 1000)


@pytest.mark.parametrize("d", [20, 200, 250])
@pytest.mark.parametrize(
    ("name", "weighted"), [(name, i % 2 == 0) for i, name in enumerate(CORRELATED)]
)
def test_correlated_parts_of_any_length_give_the_fit(narrow, name, d, weighted):
    X, y = correlated(d=d)
    weight = np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0
    columns = (X, y, weight) if weighted else (X, y)
    one = clone(CORRELATED[name]).fit(*columns)
    agree(one, fit_chunks(clone(CORRELATED[name]), in_parts(*columns)), X)


@pytest.mark.parametrize("d", [20, 250])
@pytest.mark.parametrize(
    "change",
    [
        lambda X: X + 1e6,
        lambda X: X + 1.7e9,
        lambda X: X * np.logspace(-150, 150, X.shape[1]),
        lambda X: X.astype(np.float32),
        lambda X: np.round(8 * X).astype(np.int64),
    ],
)
def test_far_from_zero_in_any_unit_and_type(narrow, d, change):
    X, y = correlated(d=d)
    X = change(X)
    for name in ("all", "folds" if d == 20 else "share"):  # five wide fits take long
        one = clone(CORRELATED[name]).fit(X, y)
        agree(one, fit_chunks(clone(CORRELATED[name]), in_parts(X, y)), X)


@given(
    n=st.integers(6, 40),
    d=st.integers(1, 40),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_any_shape_cut_anywhere(n, d, seed, data):
    rng = np.random.default_rng([18, 4, seed])
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3
    inner = data.draw(st.lists(st.integers(0, n), max_size=4).map(sorted))
    chunks = in_parts(X, y, cuts=(0, *inner, n))
    for model in (CorrelatedMeMdClassifier(), CORRELATED["share"]):
        agree(clone(model).fit(X, y), fit_chunks(clone(model), chunks), X)


def test_labels_of_text_in_a_frame_and_a_memory_map(narrow, tmp_path):
    X, y = correlated(d=250)
    names = np.array(["ape", "bee", "cow"], dtype=object)[y]
    table = pd.DataFrame(X).rename(columns="x{}".format)
    one = CorrelatedMeMdClassifier().fit(table, names)
    agree(one, fit_chunks(CorrelatedMeMdClassifier(), in_parts(table, names)), table)
    np.save(tmp_path / "X.npy", X)
    chunks = ArrayChunks(np.load(tmp_path / "X.npy", mmap_mode="r"), y, rows=30)
    one = CorrelatedMeMdClassifier().fit(X, y)
    agree(one, fit_chunks(CorrelatedMeMdClassifier(), chunks), X)


@pytest.mark.parametrize("d", [20, 250])
@pytest.mark.parametrize("name", ["all", "share"])
def test_stopped_and_resumed_with_the_same_bits(tmp_path, monkeypatch, d, name):
    monkeypatch.setattr(wide, "_ENTRIES", 20_000)
    X, y = correlated(d=d)
    model, path, all_steps = CORRELATED[name], tmp_path / "fit.npz", Steps()
    one = fit_chunks(clone(model), in_parts(X, y), progress=all_steps)
    for n in range(0, all_steps.taken, 9):
        with pytest.raises(Stopped):
            fit_chunks(
                clone(model),
                in_parts(X, y),
                checkpoint=path,
                every=1,
                progress=stop_after(n),
            )
        left = Steps()
        other = fit_chunks(
            clone(model), in_parts(X, y), checkpoint=path, every=1, progress=left
        )
        same_bits(one, other)
        assert left.taken == all_steps.taken - 1 - n


def passes(model, X, y):
    found = []

    def note(name, done, total):
        if done == 1:
            found.append(name)

    fit_chunks(model, in_parts(X, y), progress=note)
    return found


def test_how_often_the_data_are_read():
    assert passes(CorrelatedMeMdClassifier(), *correlated()) == [
        "classes",
        "means",
        "products of features",
    ]
    assert passes(CorrelatedMeMdClassifier(), *correlated(d=250)) == [
        "classes",
        "products of rows",
        *2 * ["features to rows", "rows to features"],
    ]


@pytest.mark.parametrize("d", [20, 250])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: np.where(np.arange(len(X))[:, None] == 7, np.nan, X), "NaN"),
        (lambda X: X[:, 1:], "features"),
        (lambda X: X[1:], "labels"),
    ],
)
def test_correlated_what_cannot_be_fitted(d, change, message):
    X, y = correlated(d=d)
    chunks = in_parts(X, y)
    chunks[3] = change(chunks[3][0]), chunks[3][1]
    model = CorrelatedMeMdClassifier().fit([[0.0], [1], [5], [7]], [0, 0, 1, 1])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        fit_chunks(model, chunks)
    assert vars(model) == before


@pytest.mark.parametrize("d", [20, 250])
def test_what_the_fit_in_memory_refuses_too(d):
    X, y = correlated(d=d)
    with pytest.raises(TypeError, match="needs dense"):
        fit_chunks(CorrelatedMeMdClassifier(), in_parts(sparse.csr_array(X), y))
    X[:, 1] = X[:, 0]
    for fit in (
        lambda model: model.fit(X, y),
        lambda model: fit_chunks(model, in_parts(X, y)),
    ):
        with pytest.raises(ValueError, match="eigenvalue of the correlations"):
            fit(CorrelatedMeMdClassifier(shrinkage=0.0))


def test_rows_that_one_chunk_lacks_and_another_has_too_many():
    X, y = correlated(d=250)
    parts = in_parts(X, y)
    parts[2], parts[3] = (X[1:39], y[1:40]), (X[39:90], y[40:90])
    with pytest.raises(ValueError, match="38 rows of X and 39 labels"):
        fit_chunks(CorrelatedMeMdClassifier(), parts)


def test_another_order_of_columns_is_noticed():
    X, y = correlated(d=250)
    parts = in_parts(pd.DataFrame(X).rename(columns="x{}".format), y)
    parts[3] = parts[3][0].iloc[:, ::-1], parts[3][1]
    with pytest.raises(ValueError, match="feature names"):
        fit_chunks(CorrelatedMeMdClassifier(), parts)


def test_the_log_loss_needs_all_scores_at_once():
    model = CorrelatedMeMdClassifier("auto", criterion="log_loss")
    with pytest.raises(ValueError, match="criterion='log_loss' needs the scores"):
        fit_chunks(model, in_parts(*correlated()))
    X, y = correlated()
    fixed = CorrelatedMeMdClassifier(3, criterion="log_loss")
    agree(clone(fixed).fit(X, y), fit_chunks(fixed, in_parts(X, y)), X)
