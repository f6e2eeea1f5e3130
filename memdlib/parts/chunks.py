"""Chunks of rows: of arrays and memory maps, of files of arrays, of tables in files."""

from bisect import bisect_right
from collections.abc import Sequence
from importlib import import_module
from itertools import accumulate
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.parts.files import found_files, is_address, load_array, open_address
from memdlib.validation import check_integer

# Entries of a chunk of an array: 32 MiB of doubles.
_ENTRIES = 2**22

# A text counts as so many.
_TEXT = 2**10


class ArrayChunks(Sequence):
    """Rows of arrays, some at a time: memory maps, or sparse matrices.

    Parameters
    ----------
    X : ndarray, memmap or sparse matrix of shape (n, d), or array of n str
    y : array-like of shape (n,), default=None
        None if labels are to be predicted.
    sample_weight : array-like of shape (n,), default=None
    rows : int, default=None
        Rows of a chunk; None takes as many as have four million entries, or four
        thousand texts.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = ArrayChunks(np.arange(10.0).reshape(5, 2), [0, 1, 0, 1, 0], rows=2)
    >>> len(chunks), chunks[2]
    (3, (array([[8., 9.]]), array([0])))
    """

    X: Any
    columns: list[NDArray[Any]]
    rows: int

    def __init__(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        rows: int | None = None,
    ) -> None:
        self.X = X.tocsr() if sparse.issparse(X) else X
        self.columns = [np.asarray(v) for v in _given(y, sample_weight)]
        for values in self.columns:
            if len(values) != X.shape[0]:
                raise ValueError(
                    f"X has {X.shape[0]} rows, but there are {len(values)} labels or "
                    "weights; give one a row"
                )
        if rows is None:
            rows = max(1, _ENTRIES // (X.shape[1] if X.ndim > 1 else _TEXT))
        self.rows = check_integer(rows, "rows")

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.rows)

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        start = range(0, self.X.shape[0], self.rows)[i]
        part = slice(start, start + self.rows)
        return self.X[part], *(values[part] for values in self.columns)


class ShardChunks(Sequence):
    """One chunk a file: arrays (.npy) or sparse matrices (.npz) with their labels.

    Parameters
    ----------
    shards : path-like or sequence of path-like
        Of X, as :func:`numpy.save` and :func:`scipy.sparse.save_npz` write them: files,
        folders of them, patterns such as ``"X-*.npz"``, or addresses such as
        ``"s3://bucket/X-*.npz"``; see :class:`TableChunks`. An array is opened as a
        memory map, at an address it is read.
    labels : path-like or sequence of {array-like, path-like}, default=None
        Labels of each shard, or their files (.npy). None if they are to be predicted.
    sample_weight : path-like or sequence of {array-like, path-like}, default=None

    Examples
    --------
    >>> import tempfile
    >>> from scipy import sparse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sparse.save_npz(f"{folder}/0.npz", sparse.eye_array(2, format="csr"))
    ...     X, y = ShardChunks(f"{folder}/*.npz", [[0, 1]])[0]
    >>> X.toarray().tolist(), y.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    """

    shards: list[str]
    columns: list[list[str]]

    def __init__(
        self,
        shards: str | PathLike[str] | Sequence[Any],
        labels: str | PathLike[str] | Sequence[Any] | None = None,
        sample_weight: str | PathLike[str] | Sequence[Any] | None = None,
    ) -> None:
        self.shards = found_files(shards)
        self.columns = [found_files(v) for v in _given(labels, sample_weight)]
        for values in self.columns:
            if len(values) != len(self.shards):
                raise ValueError(
                    f"there are {len(self.shards)} shards, but {len(values)} parts of "
                    "labels or weights; give one a shard"
                )

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        return load_array(self.shards[i]), *(_values(v[i]) for v in self.columns)


class TableChunks(Sequence):
    """Row groups of Parquet files, or record batches of Arrow files.

    Parameters
    ----------
    files : path-like or sequence of path-like
        Files, folders of them, patterns such as ``"part-*.parquet"``, or addresses of
        these, such as ``"s3://bucket/folder"``, which fsspec opens. Of a folder are
        taken the files directly in it, in the order of their names. Names that begin
        with a dot or an underscore are left out of folders and patterns. Arrow files
        end in .arrow or .feather, all others are Parquet. All have the same columns.
    target : str, default=None
        Column of the labels. None if they are to be predicted.
    sample_weight : str, default=None
        Column of the weights.
    features : str or sequence of str, default=None
        Columns of X; None takes all others. Only what is needed is read. A name alone
        stands for a column of texts: X is then an array of strings.

    Notes
    -----
    A chunk is as large as the writer of the file made its row groups, which decides how
    much memory a fit takes. Needs PyArrow: ``pip install 'memdlib[arrow]'``. Addresses
    need fsspec, and what that needs for them, such as s3fs.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> table = pa.table({"a": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(table, f"{folder}/t.parquet", row_group_size=2)
    ...     chunks = TableChunks(f"{folder}/t.parquet", "y")
    ...     len(chunks), chunks[1][0].column_names, chunks[1][1].tolist()
    (2, ['a'], [0])
    """

    files: list[str]
    features: list[str]
    special: list[str]
    texts: bool

    def __init__(
        self,
        files: str | PathLike[str] | Sequence[Any],
        target: str | None = None,
        sample_weight: str | None = None,
        features: str | Sequence[Any] | None = None,
    ) -> None:
        _needed("pyarrow")
        self.files = found_files(files)
        opened = [_open(file) for file in self.files]
        names, first = opened[0].names, self.files[0]
        for path, file in zip(self.files, opened, strict=True):
            if file.names != names:
                raise ValueError(
                    f"the columns of {path} are not those of {first}; give "
                    "files of the same columns in the same order"
                )
        self.special = _given(target, sample_weight)
        if features is None:
            features = [name for name in names if name not in self.special]
        self.texts = isinstance(features, str)
        self.features = [features] if self.texts else list(features)
        asked = [*self.features, *self.special]
        missing = [name for name in asked if name not in names]
        if missing:
            raise ValueError(f"{first} has no column {missing[0]!r}; it has {names}")
        self._ends = list(accumulate(file.n_chunks for file in opened))
        self._last: tuple[int, _Table] | None = None

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, i: int) -> tuple[Any, ...]:
        i = range(len(self))[i]
        place = bisect_right(self._ends, i)
        if self._last is None or self._last[0] != place:
            self._last = place, _open(self.files[place])
        first = self._ends[place - 1] if place else 0
        table = self._last[1].read(i - first, [*self.features, *self.special])
        columns = (_column(table[name]) for name in self.special)
        if self.texts:
            return _column(table[self.features[0]]), *columns
        return table.select(self.features), *columns

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": None}


class _Table:
    """One open file of a table, whatever its format."""

    def __init__(self, names, n_chunks, read) -> None:
        self.names, self.n_chunks, self.read = names, n_chunks, read


def _open(path: str) -> _Table:
    pyarrow = _needed("pyarrow")
    file = open_address(path) if is_address(path) else pyarrow.memory_map(path)
    if path.endswith((".arrow", ".feather")):
        file = pyarrow.ipc.open_file(file)

        def read(i, columns):
            batch = file.get_batch(i).select(columns)
            return pyarrow.Table.from_batches([batch])

        return _Table(file.schema.names, file.num_record_batches, read)
    file = _needed("pyarrow.parquet").ParquetFile(file)
    return _Table(file.schema_arrow.names, file.num_row_groups, file.read_row_group)


def _given(labels, weights) -> list[Any]:
    """What there is of labels and weights."""
    if labels is None and weights is not None:
        raise ValueError("there are weights without labels; give both, or neither")
    return [values for values in (labels, weights) if values is not None]


def _column(values):
    """One column as an array, categories as what they stand for."""
    if _needed("pyarrow.types").is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.to_numpy()


def _values(values):
    """Labels or weights of one shard, read if they are a file."""
    return np.asarray(load_array(values) if isinstance(values, str) else values)


def _needed(name: str):
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"reading tables needs {name}, which cannot be imported ({error}); install "
            "it with: pip install 'memdlib[arrow]'"
        ) from error
