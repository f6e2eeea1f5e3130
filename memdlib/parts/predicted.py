"""Predictions for data that do not fit into memory, one file a chunk.

Each file says which model, method and chunk its predictions are of, so that what was
interrupted goes on, and no two models or data sets are mixed.
"""

import pickle
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Estimator
from memdlib.parts.files import is_address
from memdlib.parts.stored import check_sum, packed, read_arrays, unpacked, write_arrays
from memdlib.validation import check_choice

_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class Predictions(Sequence):
    """Predictions in a folder, one array a chunk, in the order of the chunks.

    Parameters
    ----------
    folder : path-like
        That :func:`predict_chunks` has written.

    Raises
    ------
    ValueError
        If a chunk has no predictions yet, or a file is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> from memdlib.parts import ArrayChunks
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MeMdClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = predict_chunks(model, ArrayChunks(X, rows=40), to=folder)
    ...     labels = np.concatenate(Predictions(folder))
    >>> bool((labels == model.predict(X)).all())
    True
    """

    folder: Path

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        first = read_arrays(_file(self.folder, 0))
        self._n = 1 if first is None else int(first["n_chunks"])
        for i in range(self._n):
            if not _file(self.folder, i).exists():
                self._refuse(i)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: int) -> NDArray[Any]:
        i = range(self._n)[i]
        stored = read_arrays(_file(self.folder, i))
        return self._refuse(i) if stored is None else unpacked(stored)["values"]

    def _refuse(self, i: int):
        raise ValueError(
            f"{self.folder} has no whole predictions of chunk {i}; make them by "
            "predict_chunks with the same model and chunks, which keeps the others"
        )


def predict_chunks(
    estimator: Estimator,
    chunks: Sequence[tuple[Any, ...]],
    to: str | PathLike[str],
    *,
    method: str = "predict",
    progress: Callable[[str, int, int], object] | None = None,
) -> Predictions:
    """Predict the rows of chunks, and write what is found chunk by chunk.

    Parameters
    ----------
    estimator : fitted estimator
    chunks : sequence of tuple
        X first in each; what else they hold, such as labels, is not looked at.
        :class:`memdlib.parts.ArrayChunks` and the others give such tuples, without
        labels too.
    to : path-like
        Folder for one file a chunk, part-00000.npz and so on; it is made if need be.
        Chunks whose files are there and whole are not predicted again.
    method : str, default="predict"
        Or "predict_proba", "predict_log_proba", "decision_function".
    progress : callable, default=None
        Called after each chunk with "predictions", the number of chunks done and the
        number there are.

    Returns
    -------
    Predictions
        To be read in the order of the chunks; ``np.concatenate`` joins them.

    Raises
    ------
    ValueError
        If ``chunks`` have no length or no row, ``to`` is no folder of this computer, or
        no such method is known; and if the folder has predictions of another model, of
        another method or for other data.

    Notes
    -----
    A file takes its place only when it is whole, so that the work can be killed at any
    time. Of the chunks that are done the first and the last one are read again and must
    have the check sums (CRC-32) that they had; changes in others are not seen. A model
    is another one if a parameter or anything it has learnt is, and so it is under
    another version of the package.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> from memdlib.parts import ArrayChunks
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MeMdClassifier(n_features=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = predict_chunks(
    ...         model, ArrayChunks(X, rows=40), folder, method="predict_proba"
    ...     )
    ...     len(found), found[3].shape
    (4, (30, 3))
    """
    check_is_fitted(estimator)
    check_choice(method, "method", _METHODS)
    if not (hasattr(chunks, "__len__") and hasattr(chunks, "__getitem__")):
        raise ValueError(
            f"chunks, a {type(chunks).__name__}, have no length; give a list, or an "
            "object such as ArrayChunks"
        )
    if is_address(str(to)):
        raise ValueError(f"to={to!r} is an address; give a folder of this computer")
    folder, n = Path(to), len(chunks)
    folder.mkdir(parents=True, exist_ok=True)
    model = _ModelHasher().hash(pickle.loads(pickle.dumps(estimator)))
    about = f"{version('memdlib')}, {type(estimator).__name__} {model}, {method}"
    remedy, done = "give another folder, or remove this one", {}
    for i in range(n):
        stored = read_arrays(_file(folder, i))
        if stored is None:
            continue
        if (stored["about"], stored["n_chunks"]) != (about, n):
            raise ValueError(
                f"{folder} has predictions of another model, method or number of "
                f"chunks: {stored['about']}, {stored['n_chunks']} chunks, not {about}, "
                f"{n} chunks; {remedy}"
            )
        done[i] = stored["data"]
    for i in sorted({min(done), max(done)} if done else ()):
        if done[i] != check_sum(chunks[i][0]):
            raise ValueError(
                f"{folder} has predictions of other data: chunk {i} had other values; "
                f"{remedy}"
            )
    for i in range(n):
        if i not in done:
            X = chunks[i][0]
            values = _predicted(estimator, method, X, chunks)
            known = {"about": about, "n_chunks": n, "data": check_sum(X)}
            write_arrays(_file(folder, i), known | packed({"values": values}))
        if progress is not None:
            progress("predictions", i + 1, n)
    return Predictions(folder)


def _predicted(estimator, method: str, X, chunks) -> NDArray[Any]:
    if X.shape[0]:
        # set_output may ask for a data frame
        return np.asarray(getattr(estimator, method)(X))
    for other, *_ in chunks:
        if other.shape[0]:
            return _predicted(estimator, method, other[:1], chunks)[:0]
    raise ValueError("there is no row in any chunk")


def _file(folder: Path, i: int) -> Path:
    return folder / f"part-{i:05}.npz"


@cache
def _cached(kind: type) -> set[str]:
    """Names of what an object of this type computes once."""
    named = [pair for base in kind.__mro__ for pair in vars(base).items()]
    return {name for name, value in named if isinstance(value, cached_property)}


class _ModelHasher(NumpyHasher):
    """Of what a model has learnt, whatever it has computed from that so far."""

    def reducer_override(self, obj):
        names = _cached(type(obj))
        if not names:
            return NotImplemented
        how, arguments, state, *_ = obj.__reduce_ex__(self.proto)
        kept = {name: v for name, v in state.items() if name not in names}
        return how, arguments, kept
