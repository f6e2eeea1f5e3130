"""The same fits from Dask arrays and data frames, on one machine or on a cluster.

A pass is made where the partitions are; only sums travel. They add along chains of a
few partitions, so that a worker holds the sum so far and what it adds, and then in
pairs.
Needs Dask: ``pip install 'memdlib[dask]'``; nothing else in the package imports it.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Estimator, EstimatorT
from memdlib.parts.fit import fit_parts
from memdlib.parts.prepared import StripsAfter
from memdlib.parts.wide import StripPass, column_strips, joined
from memdlib.parts.work import Parts, Pass

try:
    import dask
    import dask.array as da
    from dask.base import is_dask_collection
except ImportError as error:
    raise ImportError(
        f"memdlib.parts.dask needs Dask, which cannot be imported ({error}); install "
        "it with: pip install 'memdlib[dask]'"
    ) from error

# Partitions of a chain: longer ones hold fewer results, and balance less.
_CHAIN = 8

# Class marginals travel once to each worker, whatever their size.
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}


def fit_distributed(
    estimator: EstimatorT,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    client: Any = None,
) -> EstimatorT:
    """Fit an estimator to Dask collections.

    Parameters
    ----------
    estimator : estimator
        As :func:`memdlib.parts.fit_chunks` takes it, pipelines of
        :func:`memdlib.make_memd` among them. Its parameters mean what they mean in
        ``fit``; ``n_features="auto"`` sets the same rows aside.
    X : dask array of shape (n, d) or dask data frame
        Blocks of an array may be SciPy's sparse matrices. Partitions may be of any
        length, zero too. Texts: an array or a series of strings.
    y : dask array or series, or array-like of shape (n,)
        Labels; split as X, or of known length.
    sample_weight : dask array or series, or array-like of shape (n,), default=None
    classes : array-like of shape (K,), default=None
        All classes; saves the look at the labels if S is fixed and there are no
        weights of classes.
    client : dask.distributed.Client, default=None
        None takes the scheduler that is set, which is the last client if there is one.

    Returns
    -------
    estimator
        Fitted as by ``fit`` on all rows at once, within rounding.

    Raises
    ------
    TypeError
        If X is no Dask collection.
    ValueError
        If X and y are split in ways that cannot be brought together; and as ``fit``.

    Notes
    -----
    With S fixed X is computed once, with "auto" five times. If it comes from slow files
    and fits into the memory of the workers, call ``X.persist()`` first.

    The fit that knows of correlations computes X twice, and one matrix of products of
    features travels from each block. Where features outnumber rows it works on blocks
    of columns, computes X four times, and one matrix of products of rows travels from
    each; X in blocks of rows is split anew, so that all of it travels once a pass.

    Mixtures of candidates gather up to thirty thousand rows here, and send what they
    learn from these with each pass; see :func:`memdlib.parts.fit_chunks`.

    Texts take some dozens of passes, in each of which blocks of columns of all systems
    travel to the parts, and as large sums back. Counts are best persisted.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = fit_distributed(
    ...     MeMdClassifier(random_state=0), da.from_array(X, chunks=(40, 4)), y
    ... )
    >>> model.n_selected_ == MeMdClassifier(random_state=0).fit(X, y).n_selected_
    True
    """
    return fit_parts(estimator, _Blocks(X, y, sample_weight, client), classes)


def predict_blocks(estimator: Estimator, X: Any, method: str = "predict") -> Any:
    """Predict the rows of a Dask collection, block by block.

    Parameters
    ----------
    estimator : fitted estimator
    X : dask array of shape (n, d) or dask data frame
    method : str, default="predict"
        Or "predict_proba", "predict_log_proba", "decision_function", "transform".

    Returns
    -------
    dask array of shape (n,) or (n, number of columns)
        Not computed yet; its lengths are unknown where those of X are, and blocks
        without rows are left out.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MeMdClassifier(n_features=2).fit(X, y)
    >>> labels = predict_blocks(model, da.from_array(X, chunks=(40, 4)))
    >>> bool((labels.compute() == model.predict(X)).all())
    True
    """
    check_is_fitted(estimator)
    blocks = _split(_one_block_wide(X, "X"))
    row = np.asarray(getattr(estimator, method)(_template(X)))
    model = dask.delayed(estimator, traverse=False)
    work = dask.delayed(_predicted)
    lengths = _lengths(X) or [np.nan] * len(blocks)
    return da.concatenate(
        [
            da.from_delayed(
                work(model, method, block, row[:0]), (n, *row.shape[1:]), row.dtype
            )
            for block, n in zip(blocks, lengths, strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


class _Blocks(Parts):
    """Partitions of X with the labels and weights of their rows."""

    def __init__(self, X, y, sample_weight, client) -> None:
        if not is_dask_collection(X) or not hasattr(X, "ndim"):
            raise TypeError(
                f"X is a {type(X).__name__}; give a dask array, data frame or series, "
                "or call fit for data in memory"
            )
        self.given, X = X, _one_block_wide(X, "X")
        self.row, self.client = _template(X), client
        self.columns = [_split(X), _split(_aligned(y, X, "y"))]
        if sample_weight is None:
            self.columns.append([None] * len(self.columns[0]))
        else:
            self.columns.append(_split(_aligned(sample_weight, X, "sample_weight")))

    def template(self):
        return self.row

    def reduce(self, work: Pass):
        # one node of the graph, which a worker that takes over can have again
        sent = dask.delayed(work, traverse=False)
        return self._added(
            [
                (sent, X if work.needs_X else None, y, weight)
                for X, y, weight in zip(*self.columns, strict=True)
            ],
        )

    def reduce_strips(self, work: StripPass | StripsAfter, shape):
        X, steps, inner = self.given, [], work
        while isinstance(inner, StripsAfter):
            steps.append(inner.step)
            inner = inner.work
        if steps:
            X = predict_blocks(make_pipeline(*steps), X, "transform")
        X = _in_strips(X, shape)
        ends = np.cumsum([0, *X.chunks[1]]).tolist()
        y, weight = map(dask.delayed(joined), self.columns[1:])
        return self._added(
            [
                (dask.delayed(work.cut(slice(*at)), traverse=False), block, y, weight)
                for at, block in zip(pairwise(ends), _split(X), strict=True)
            ],
        )

    def _added(self, parts: list[tuple[Any, ...]]):
        after, both = (dask.delayed(one, pure=False) for one in (_after, Pass.add))
        results = []
        for i, part in enumerate(parts):
            if i % _CHAIN == 0:
                results.append(None)
            results[-1] = after(results[-1], *part)
        while len(results) > 1:
            pairs = [results[i : i + 2] for i in range(0, len(results), 2)]
            results = [both(parts[0][0], *p) if len(p) == 2 else p[0] for p in pairs]
        with dask.config.set(_QUIET):
            if self.client is None:
                return dask.compute(results[0])[0]
            return self.client.compute(results[0], sync=True)


def _after(found, work: Pass, X, y, weight):
    """Sum of a chain of parts, one part further."""
    return work.add(found, work.of(X, y, weight))


def _in_strips(X, shape):
    """Blocks that hold whole columns."""
    if not isinstance(X, da.Array) or np.isnan(X.chunks[0]).any():
        raise ValueError(
            "X has fewer rows than features and is split into columns, for which the "
            "lengths of its blocks must be known; call X.compute_chunk_sizes(), or "
            "X.to_dask_array(lengths=True) of a data frame"
        )
    if X.numblocks[0] == 1:
        return X
    widths = [part.stop - part.start for part in column_strips(*shape)]
    return X.rechunk((-1, tuple(widths)))


def _predicted(estimator, method, X, empty):
    # set_output may ask for a data frame, which is no block of an array
    return np.asarray(getattr(estimator, method)(X)) if X.shape[0] else empty


def _one_block_wide(X, name: str):
    """X whose blocks hold whole rows."""
    if _holds_texts(X):
        return X
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimensions; give two, rows and columns")
    if isinstance(X, da.Array):
        if np.isnan(X.shape[1]):
            raise ValueError(
                f"the number of columns of {name} is not known; call "
                f"{name}.compute_chunk_sizes()"
            )
        if X.numblocks[1] > 1:
            return X.rechunk({1: -1})
    return X


def _holds_texts(X) -> bool:
    """Whether it has one dimension, and not of numbers."""
    return X.ndim == 1 and getattr(X.dtype, "kind", "O") in "OU"


def _template(X):
    """A row of zeros with the names of the columns, or a text."""
    if _holds_texts(X):
        return np.array([""], dtype=object)
    if isinstance(X, da.Array):
        return np.zeros((1, X.shape[1]))
    from dask.dataframe.utils import make_meta  # needs pandas, as X does

    meta = make_meta(X)
    return type(meta)(np.zeros((1, len(meta.columns))), columns=meta.columns)


def _lengths(X) -> list[int] | None:
    """Rows of each block, where they are known."""
    if isinstance(X, da.Array) and not np.isnan(X.chunks[0]).any():
        return list(X.chunks[0])
    return None


def _aligned(values, X, name: str):
    """Labels or weights, split as X is."""
    lengths = _lengths(X)
    if not is_dask_collection(values):
        if lengths is None:
            raise ValueError(
                f"the lengths of the blocks of X are not known, so that {name} in "
                f"memory cannot be split alike; give {name} as a dask collection, or "
                "call X.compute_chunk_sizes()"
            )
        values = np.asarray(values)
        values = da.from_array(values, chunks=values.shape)
    if values.ndim != 1:
        raise ValueError(f"{name} has {values.ndim} dimensions; give one")
    own = _lengths(values)
    if lengths is None or own is None:
        if len(_split(values)) != len(_split(X)):
            raise ValueError(
                f"{name} is in {len(_split(values))} blocks and X in "
                f"{len(_split(X))}, and their lengths are not known; call "
                "compute_chunk_sizes(), or split both alike"
            )
        return values
    if sum(own) != sum(lengths):
        raise ValueError(
            f"{name} has {sum(own)} rows and X {sum(lengths)}; give one a row of X"
        )
    return values if own == lengths else values.rechunk((tuple(lengths),))


def _split(collection) -> list[Any]:
    """Delayed blocks."""
    return list(np.ravel(collection.to_delayed()))
