"""The fit that knows of correlations, in parts, against that on all rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.parts import ArrayChunks, fit_chunks, strips, tall
from tests.parts.comparing import CORRELATED, agree, correlated, in_parts
from tests.parts.test_checkpoint import Steps, Stopped, same_bits, stop_after


@pytest.fixture
def narrow(monkeypatch):
    """Strips of seven columns, and scores of a few rows."""
    monkeypatch.setattr(strips, "_ENTRIES", 1400)
    monkeypatch.setattr(tall, "_SCORES", 1000)


@pytest.mark.parametrize("name", CORRELATED)
@pytest.mark.parametrize("d", [20, 200, 250])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_of_any_length_give_the_fit_on_all_rows(narrow, name, d, weighted):
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
    for name in ("all", "folds"):
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
    monkeypatch.setattr(strips, "_ENTRIES", 20_000)
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
def test_what_cannot_be_fitted(d, change, message):
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
