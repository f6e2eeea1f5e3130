"""The same rows from arrays, memory maps, shards and tables."""

import pickle
import sys

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from memdlib import MeMdClassifier
from memdlib.parts import ArrayChunks, ShardChunks, TableChunks, fit_chunks
from tests.parts.comparing import agree, counts, in_parts

NAMES = list("abcdef")


def model():
    return MeMdClassifier(random_state=0)


def frame(X, y, **more):
    return pd.DataFrame(X, columns=NAMES).assign(label=y, **more)


def written(folder, table, form):
    path = folder / f"t.{form}"
    if form == "parquet":
        pq.write_table(table, path, row_group_size=33)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=33)
    return path


def test_arrays_and_memory_maps(tmp_path):
    X, y = counts()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one = model().fit(X, y)
    for rows in (1, 33, 200, None):
        chunks = ArrayChunks(mapped, y, rows=rows)
        assert len(chunks) == len(list(chunks))
        agree(one, fit_chunks(model(), chunks), X)
    assert chunks[-1][0].shape == X.shape
    agree(one, fit_chunks(model(), ArrayChunks(sparse.csc_array(X), y, rows=50)), X)


@pytest.mark.parametrize("form", ["npz", "npy"])
@pytest.mark.parametrize("in_files", [False, True])
def test_shards(tmp_path, form, in_files):
    X, y = counts()
    weight = 1.0 + np.arange(len(y)) % 3
    shards, labels, weights = [], [], []
    for i, part in enumerate(in_parts(X, y, weight)):
        shards.append(tmp_path / f"{i}.{form}")
        if form == "npz":
            sparse.save_npz(shards[-1], sparse.csr_array(part[0]))
        else:
            np.save(shards[-1], part[0])
        for values, column, name in zip(part[1:], (labels, weights), "yw", strict=True):
            column.append(values)
            if in_files:
                column[-1] = tmp_path / f"{name}{i}.npy"
                np.save(column[-1], values)
    chunks = ShardChunks(shards, labels, weights)
    agree(model().fit(X, y, weight), fit_chunks(model(), chunks), X)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_tables_keep_the_names_of_their_columns(tmp_path, form):
    X, y = counts()
    weight = 1.0 + np.arange(len(y)) % 3
    table = frame(X, y, weight=weight)
    path = written(tmp_path, pa.Table.from_pandas(table), form)
    chunks = TableChunks([path, path], "label", "weight")
    assert len(chunks) == 14
    twice = pd.concat([table, table])
    one = model().fit(twice[NAMES], twice["label"], twice["weight"])
    agree(one, fit_chunks(model(), chunks), table[NAMES])
    again = pickle.loads(pickle.dumps(chunks))
    assert again[7][0].equals(chunks[0][0])
    some = TableChunks(path, "label", features=["f", "a"])
    one = model().fit(table[["f", "a"]], y)
    agree(one, fit_chunks(model(), some), table[["f", "a"]])


def test_labels_of_text_and_of_categories(tmp_path):
    X, y = counts()
    names = np.array(["ape", "bee", "cow"], dtype=object)[y]
    one = model().fit(pd.DataFrame(X, columns=NAMES), names)
    for labels in (names, pd.Categorical(names)):
        path = written(tmp_path, pa.Table.from_pandas(frame(X, labels)), "parquet")
        fitted = fit_chunks(model(), TableChunks(path, "label"))
        agree(one, fitted, pd.DataFrame(X, columns=NAMES))


def test_folders_patterns_and_addresses(tmp_path, monkeypatch):
    X, y = counts()
    folder = tmp_path / "spark"
    (folder / "_temporary").mkdir(parents=True)
    for name in ("_SUCCESS", ".part-0.parquet.crc"):
        (folder / name).write_text("no table")
    one = model().fit(frame(X, y)[NAMES], y)
    for i, part in enumerate(in_parts(X, y, cuts=(0, 30, 120, 200))):
        table = pa.Table.from_pandas(frame(*part))
        pq.write_table(table, folder / f"part-{i}.parquet", row_group_size=33)
    monkeypatch.chdir(tmp_path)
    for files in (
        folder,
        "spark",
        f"{folder}/part-*.parquet",
        "spark/part-*.parquet",
        "*/part-*",
        folder.as_uri(),
        [f"{folder.as_uri()}/part-{i}.parquet" for i in range(3)],
    ):
        chunks = TableChunks(files, "label")
        assert [len(labels) for _, labels in chunks] == [30, 33, 33, 24, 33, 33, 14]
        again = pickle.loads(pickle.dumps(chunks))
        agree(one, fit_chunks(model(), again), frame(X, y)[NAMES])
    first = TableChunks("spark/part-[0]*", "label")
    assert len(first) == 1


@pytest.fixture
def spark(tmp_path):
    """Files of an address, as Spark leaves them, and what is in them."""
    memory, (X, y) = fsspec.filesystem("memory"), counts()
    for name in ("_SUCCESS", ".part-0.crc", "_temporary/part-9"):
        memory.pipe(f"/bucket/x/{name}", b"no table")
    for i, part in enumerate(in_parts(X, y, cuts=(0, 30, 120, 200))):
        table = pa.Table.from_pandas(frame(*part))
        with memory.open(f"/bucket/x/part-{i:05}.snappy.parquet", "wb") as file:
            pq.write_table(table, file, row_group_size=33)
        with memory.open(f"/bucket/X-{i}.npz", "wb") as file:
            sparse.save_npz(file, sparse.csr_array(part[0]))
        for name, values in zip("Xy", part, strict=True):
            with memory.open(f"/bucket/{name}-{i}.npy", "wb") as file:
                np.save(file, values)
    yield X, y
    memory.rm("/bucket", recursive=True)


@pytest.mark.parametrize(
    "place", ["x", "x/", "x/part-*", "*/part-*.parquet", "x/part-[0-9]*"]
)
def test_tables_at_addresses(spark, place):
    X, y = spark
    chunks = TableChunks(f"memory://bucket/{place}", "label")
    assert [len(labels) for _, labels in chunks] == [30, 33, 33, 24, 33, 33, 14]
    assert all("://" in file and "part-0" in file for file in chunks.files)
    one = model().fit(frame(X, y)[NAMES], y)
    again = pickle.loads(pickle.dumps(chunks))
    agree(one, fit_chunks(model(), again), frame(X, y)[NAMES])


@pytest.mark.parametrize("form", ["npz", "npy"])
def test_shards_at_addresses_and_in_folders(spark, tmp_path, form):
    X, y = spark
    for i, (part,) in enumerate(in_parts(y, cuts=(0, 30, 120, 200))):
        np.save(tmp_path / f"{i}.npy", part)
    one = model().fit(X, y)
    for labels in ("memory://bucket/y-*.npy", tmp_path, tmp_path.as_uri()):
        chunks = ShardChunks(f"memory://bucket/X-*.{form}", labels)
        assert len(chunks) == 3
        agree(one, fit_chunks(model(), chunks), X)


def test_addresses_take_fsspec(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError):
        TableChunks("memory://bucket/lost.parquet", "label")
    with pytest.raises(ValueError, match="'memory://bucket/lost-.*' holds no file"):
        ShardChunks("memory://bucket/lost-*.npz")
    with pytest.raises(
        ImportError, match="s3://bucket/x is opened by fsspec; that, or"
    ):
        ShardChunks("s3://bucket/x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match="install it: pip install fsspec"):
        TableChunks("memory://bucket/x", "label")
    assert len(ShardChunks((tmp_path / "lost.npz").as_uri())) == 1


def test_rows_without_labels_are_not_fitted(tmp_path):
    X, y = counts()
    np.save(tmp_path / "0.npy", X)
    path = written(tmp_path, pa.Table.from_pandas(frame(X, y)), "parquet")
    for chunks in (
        ArrayChunks(X),
        ShardChunks(tmp_path / "*.npy"),
        TableChunks(path, features=NAMES),
    ):
        assert [len(chunk) for chunk in chunks] == [1] * len(chunks)
        with pytest.raises(ValueError, match="rows without labels; a fit needs"):
            fit_chunks(model(), chunks)
    with pytest.raises(ValueError, match="weights without labels; give both"):
        ArrayChunks(X, sample_weight=y)


def test_missing_values_are_told(tmp_path):
    X, y = counts()
    table = frame(X, pd.array([None, *y[1:]], dtype="Int64"))
    path = written(tmp_path, pa.Table.from_pandas(table), "parquet")
    with pytest.raises(ValueError, match="NaN"):
        fit_chunks(model(), TableChunks(path, "label"))


def test_what_does_not_fit_together(tmp_path):
    X, y = counts()
    with pytest.raises(ValueError, match="X has 200 rows, but there are 199"):
        ArrayChunks(X, y[1:])
    with pytest.raises(ValueError, match="rows=0"):
        ArrayChunks(X, y, rows=0)
    with pytest.raises(ValueError, match="2 shards, but 1"):
        ShardChunks(["a", "b"], [y])
    path = written(tmp_path, pa.Table.from_pandas(frame(X, y)), "parquet")
    other = written(tmp_path, pa.table({"a": [1.0], "label": [0]}), "arrow")
    with pytest.raises(ValueError, match="no column 'lost'"):
        TableChunks(path, "lost")
    with pytest.raises(ValueError, match="are not those of"):
        TableChunks([path, other], "label")
    for nothing in ([], tmp_path / "*.lost"):
        with pytest.raises(ValueError, match="holds no file; give at least one"):
            TableChunks(nothing, "label")
    with pytest.raises(FileNotFoundError):
        TableChunks(tmp_path / "lost.parquet", "label")
    with pytest.raises(IndexError):
        TableChunks(path, "label")[7]
