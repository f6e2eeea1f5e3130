"""Predictions in a folder: the same as in memory, wherever they were interrupted."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from memdlib import MeMdClassifier, make_memd
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.parts import ArrayChunks, Predictions, TableChunks, predict_chunks
from memdlib.parts import predicted as module
from tests.parts.comparing import counts, in_parts

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class Stopped(Exception):
    pass


def fitted(model=None, **more):
    X, y = counts()
    return (model or MeMdClassifier(n_features=3, **more)).fit(X, y)


def stop_after(n):
    def note(name, done, total):
        assert name == "predictions"
        if done == n:
            raise Stopped

    return note


class Counted(list):
    """Chunks that say which were asked for."""

    def __init__(self, chunks):
        super().__init__(chunks)
        self.asked = []

    def __getitem__(self, i):
        self.asked.append(i)
        return super().__getitem__(i)


@pytest.mark.parametrize("method", METHODS)
def test_they_are_those_of_all_rows_at_once(tmp_path, method):
    X, _ = counts()
    model = fitted()
    found = predict_chunks(model, in_parts(X), tmp_path / "a/b", method=method)
    expected = getattr(model, method)(X)
    assert [len(part) for part in found] == [len(part) for (part,) in in_parts(X)]
    joined = np.concatenate(Predictions(tmp_path / "a/b"))
    np.testing.assert_allclose(joined, expected, rtol=1e-12)
    assert joined.dtype == expected.dtype and found[-1].shape == found[5].shape


@pytest.mark.parametrize("kind", [str, object])
def test_labels_of_text(tmp_path, kind):
    X, y = counts()
    names = np.array(["ape", "bumblebee", "cow"], dtype=kind)[y]
    model = fitted().fit(X, names)
    found = np.concatenate(predict_chunks(model, ArrayChunks(X, rows=33), tmp_path))
    np.testing.assert_array_equal(found, model.predict(X))
    assert np.asarray(found).dtype.kind == names.dtype.kind


def test_sparse_rows_and_other_classifiers(tmp_path):
    X, y = counts()
    for i, (model, chunks) in enumerate(
        [
            (fitted(), ArrayChunks(sparse.csr_array(X), rows=33)),
            (fitted(LogisticRegression(max_iter=999)), ArrayChunks(X, y, rows=33)),
        ]
    ):
        found = predict_chunks(model, chunks, tmp_path / str(i))
        np.testing.assert_array_equal(np.concatenate(found), model.predict(X))


def test_tables_without_labels(tmp_path):
    X, y = counts()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    pq.write_table(
        pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=33
    )
    model = make_memd("table", random_state=0).fit(frame, y)
    found = predict_chunks(model, TableChunks(tmp_path / "*.parquet"), tmp_path / "p")
    assert len(found) == 7
    np.testing.assert_array_equal(np.concatenate(found), model.predict(frame))


@pytest.mark.parametrize("stopped", range(1, 7))
def test_what_is_done_is_not_done_again(tmp_path, stopped):
    X, _ = counts()
    model, chunks = fitted(), Counted(in_parts(X))
    with pytest.raises(Stopped):
        predict_chunks(model, chunks, tmp_path, progress=stop_after(stopped))
    assert chunks.asked == list(range(stopped))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(before) == stopped
    if stopped < 6:
        with pytest.raises(
            ValueError, match=f"no whole predictions of chunk {stopped}"
        ):
            Predictions(tmp_path)
    chunks.asked.clear()
    # another process has the model from a file
    other = pickle.loads(pickle.dumps(model))
    found = predict_chunks(other, chunks, tmp_path)
    checked = [0] if stopped == 1 else [0, stopped - 1]
    assert chunks.asked == [*checked, *range(stopped, 6)]
    assert all(path.stat().st_mtime_ns == t for path, t in before.items())
    np.testing.assert_array_equal(np.concatenate(found), model.predict(X))


def test_a_file_lost_or_damaged_is_made_again(tmp_path):
    X, _ = counts()
    model, chunks = fitted(), ArrayChunks(X, rows=33)
    one = np.concatenate(predict_chunks(model, chunks, tmp_path))
    files = sorted(tmp_path.iterdir())
    files[2].unlink()
    files[4].write_bytes(files[4].read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"chunk 2; make them by predict_chunks"):
        Predictions(tmp_path)
    files[2].write_bytes(b"half")
    with pytest.raises(ValueError, match="chunk 2"):
        np.concatenate(Predictions(tmp_path))
    np.testing.assert_array_equal(
        np.concatenate(predict_chunks(model, chunks, tmp_path)), one
    )


def test_a_file_half_written_is_no_part(tmp_path, monkeypatch):
    X, _ = counts()

    def full(file, **arrays):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        predict_chunks(fitted(), ArrayChunks(X), tmp_path)
    assert not list(tmp_path.glob("*.npz"))
    with pytest.raises(ValueError, match="chunk 0"):
        Predictions(tmp_path)


def test_other_models_methods_and_data_are_refused(tmp_path, monkeypatch):
    X, y = counts()
    model, chunks = fitted(), ArrayChunks(X, rows=50)
    predict_chunks(model, chunks, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    another = r"has predictions of another model, .*; give another folder, or remove"
    for other in (
        clone(model).fit(X[1:], y[1:]),
        fitted(shrinkage=0.1),
        fitted(CorrelatedMeMdClassifier()),
    ):
        with pytest.raises(ValueError, match=another):
            predict_chunks(other, chunks, tmp_path)
    with pytest.raises(ValueError, match=another):
        predict_chunks(model, chunks, tmp_path, method="predict_proba")
    with pytest.raises(ValueError, match=another):
        predict_chunks(model, ArrayChunks(X, rows=70), tmp_path)
    for place, chunk in ((0, 0), (199, 3)):
        changed = X + (np.arange(200) == place)[:, None]
        with pytest.raises(ValueError, match=f"of other data: chunk {chunk} had other"):
            predict_chunks(model, ArrayChunks(changed, rows=50), tmp_path)
    monkeypatch.setattr(module, "version", {"memdlib": "0.0.1"}.__getitem__)
    with pytest.raises(ValueError, match=another):
        predict_chunks(model, chunks, tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    "model",
    [
        MeMdClassifier(random_state=0),
        CorrelatedMeMdClassifier(),
        make_memd("table", random_state=0),
        make_memd("text", random_state=0),
    ],
)
def test_what_a_model_computes_when_asked_makes_no_other_model(tmp_path, model):
    X, _ = counts()
    found = [fitted(clone(model)) for _ in range(2)]
    for method in METHODS:
        getattr(found[1], method)(X)
    for one in (*found, *pickle.loads(pickle.dumps(found))):
        predict_chunks(one, ArrayChunks(X, rows=50), tmp_path)


def test_what_cannot_be_predicted(tmp_path):
    X, _ = counts()
    model = fitted()
    with pytest.raises(ValueError, match="method='transform'"):
        predict_chunks(model, ArrayChunks(X), tmp_path, method="transform")
    with pytest.raises(ValueError, match="a generator, have no length; give a list"):
        predict_chunks(model, (one for one in in_parts(X)), tmp_path)
    with pytest.raises(ValueError, match=r"to='s3://bucket/x' is an address"):
        predict_chunks(model, ArrayChunks(X), "s3://bucket/x")
    with pytest.raises(ValueError, match="no row in any chunk"):
        predict_chunks(model, [(X[:0],)], tmp_path)
    with pytest.raises(IndexError):
        predict_chunks(model, ArrayChunks(X), tmp_path)[1]
