"""Fits from Dask arrays and data frames: moments of blocks, added in a tree.

The moments are taken where the blocks are, on one machine or on a cluster, and only
moments travel. Needs Dask: ``pip install 'memdlib[dask]'``; nothing else in the package
imports it.
"""

from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from memdlib._types import ArrayLike, EstimatorT
from memdlib.generative.memd import MomentClassifier

__all__ = ["fit"]


def fit(
    estimator: EstimatorT,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    classes: ArrayLike | None = None,
) -> EstimatorT:
    """Fit an estimator to a Dask array or data frame.

    Parameters
    ----------
    estimator : estimator
        One of memdlib that has ``partial_fit``. ``n_features="auto"`` needs all rows at
        once; give a number or a share.
    X : Dask array or data frame of shape (n, d)
        Blocks of rows may be sparse, of any lengths, or empty.
    y : Dask array or series of shape (n,)
        Labels, in blocks as X; beside an array X of known lengths in memory or in
        other blocks, too.
    sample_weight : as y, default=None
        Nonnegative instance weights.
    classes : array-like of shape (K,), default=None
        Those that occur; None looks for them first.

    Returns
    -------
    estimator
        As its ``fit`` to all rows would leave it, but for rounding. If the fit fails,
        it is as it was.

    Raises
    ------
    TypeError
        If the estimator has no ``partial_fit``, or X is no Dask collection.
    ValueError
        As ``partial_fit``; if a class has no row; if labels are not in blocks as X.

    Examples
    --------
    >>> import dask.array as da
    >>> from memdlib import MeMdClassifier
    >>> X = da.from_array([[0.0, 1.0], [2.0, 2.0], [4.0, 1.5], [6.0, 1.5]], chunks=2)
    >>> fit(MeMdClassifier(n_features=1), X, [0, 0, 1, 1]).order_.tolist()
    [0, 1]
    """
    if not isinstance(estimator, MomentClassifier):
        raise TypeError(
            f"{type(estimator).__name__} is no estimator of memdlib with partial_fit, "
            "as MeMdClassifier is, which also ranks and selects features"
        )
    if not dask.is_dask_collection(X):
        raise TypeError(
            f"X is a {type(X).__name__}, no Dask array or data frame; call the fit of "
            "the estimator"
        )
    estimator._validate_params()
    if getattr(estimator, "n_features", None) == "auto":
        raise ValueError(
            'n_features="auto" needs all rows at once; give a number or a share, which '
            "accuracy_curve helps to choose on rows kept apart"
        )
    bare = clone(estimator)
    if isinstance(X, da.Array):
        template = np.empty((0, *X.shape[1:]))
        X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    else:
        template = X._meta
    validate_data(bare, template, skip_check_array=True)
    labels = [_beside(X, part) for part in (y, sample_weight) if part is not None]
    if classes is None:
        found = map(dask.delayed(_labels), *labels)
        classes = np.concatenate(dask.compute(*found))
    classes = np.unique(classes)
    if len(classes) < 2:
        raise ValueError(f"classes={classes.tolist()} must hold at least two classes")
    collect = dask.delayed(partial(_moments, bare, classes))
    parts = list(map(collect, _blocks(X), *labels))
    while len(parts) > 1:
        pairs = (parts[i : i + 2] for i in range(0, len(parts), 2))
        parts = [dask.delayed(_merged)(*pair) for pair in pairs]
    moments = parts[0].compute()
    if moments is None or not moments.weight.all():
        without = classes if moments is None else classes[moments.weight == 0]
        raise ValueError(f"there is no row of class {without.tolist()[0]!r}")
    model = bare._estimate(moments, classes)
    validate_data(estimator, template, skip_check_array=True)
    estimator._fitted = model
    return estimator


def _beside(X, values):
    """Delayed blocks of labels or weights, as many as those of X."""
    if isinstance(X, da.Array):
        if not dask.is_dask_collection(values):
            values = da.asarray(values)
        if isinstance(values, da.Array):
            values = values.rechunk((X.chunks[0],))
    if not dask.is_dask_collection(values) or values.npartitions != X.npartitions:
        raise ValueError(
            "y and sample_weight must be Dask collections, in as many blocks as X, "
            f"which has {X.npartitions}"
        )
    return _blocks(values)


def _blocks(values):
    """Delayed blocks; optimised by itself, each column may be read in others."""
    return np.ravel(values.to_delayed(optimize_graph=False))


def _labels(y, weight=None):
    """Those of a block that count."""
    y = np.asarray(y)
    return np.unique(y if weight is None else y[np.asarray(weight) > 0])


def _moments(estimator, classes, X, y, weight=None):
    """Moments of a block; None if it has no row that counts."""
    if not len(y) or (weight is not None and not np.any(weight)):
        return None
    return estimator._batch_moments(X, y, weight, None, classes)[0]


def _merged(first, second=None):
    """Moments of two blocks together."""
    return first.merge(second) if first and second else first or second
