"""Fits from Dask arrays and data frames: moments of blocks, added in a tree.

The moments are taken where the blocks are, on one machine or on a cluster, and only
moments travel. Needs Dask: ``pip install 'memdlib[dask]'``; nothing else in the package
imports it.
"""

from functools import partial

import dask
import dask.array as da
import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from memdlib.generative.memd import MomentClassifier

__all__ = ["fit"]


def fit(
    estimator,
    X,
    y,
    sample_weight=None,
    classes=None,
):
    """Fit an estimator to a Dask array or data frame.

    Parameters
    ----------
    estimator : estimator
        An estimator of memdlib with ``partial_fit``. ``n_features="auto"`` needs all
        rows at once; give a number or a fraction.
    X : Dask array or data frame of shape (n, d)
        Blocks of rows may be sparse, of any length, or empty.
    y : Dask array or series of shape (n,)
        Labels, in the same blocks as X. If X is an array of known lengths, they may
        also be in memory, or in other blocks.
    sample_weight : as y, default=None
        Counts of rows, as for ``fit`` of the estimator.
    classes : array-like of shape (K,), default=None
        The classes that occur; None looks for them first, in a pass over y.

    Returns
    -------
    estimator
        As its ``fit`` to all rows would leave it, up to rounding. If the fit fails, it
        stays as it was.

    Raises
    ------
    TypeError
        If the estimator has no ``partial_fit``, or X is no Dask collection.
    ValueError
        As ``partial_fit`` does; if a class has no row; if labels are not in the same
        blocks as X.

    Examples
    --------
    >>> import dask.array as da
    >>> from memdlib import MeMdClassifier
    >>> X = da.from_array([[0.0, 1.0], [2.0, 2.0], [4.0, 1.5], [6.0, 1.5]], chunks=2)
    >>> fit(MeMdClassifier(n_features=1), X, [0, 0, 1, 1]).order_.tolist()
    [0, 1]
    """
    _check_fit(estimator, X)
    # an unfitted copy, so that a failure leaves the estimator as it was
    worker = clone(estimator)
    X, no_rows = _whole_rows(X)
    # sets the number and the names of the features
    validate_data(worker, no_rows, skip_check_array=True)
    labels = [_aligned_blocks(X, y)]
    if sample_weight is not None:
        labels.append(_aligned_blocks(X, sample_weight))
    if classes is None:
        of_blocks = map(dask.delayed(_classes_of_block), *labels)
        classes = np.concatenate(dask.compute(*of_blocks))
    classes = np.unique(classes)
    if len(classes) < 2:
        raise ValueError(f"classes={classes.tolist()} must hold at least two classes")
    collect = dask.delayed(partial(_moments_of_block, worker, classes))
    moments = list(map(collect, _blocks(X), *labels))
    moments = _merge_in_tree(moments).compute()
    _check_classes(moments, classes)
    model = worker._estimate(moments, classes)
    validate_data(estimator, no_rows, skip_check_array=True)
    estimator._fitted = model
    return estimator


def _check_fit(estimator, X):
    """Raise if the estimator cannot be fitted block by block, or X is in memory."""
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
    if not get_config()["skip_parameter_validation"]:
        estimator._validate_params()
    if getattr(estimator, "n_features", None) == "auto":
        raise ValueError(
            'n_features="auto" needs all rows at once; give a number or a fraction, '
            "which accuracy_curve helps to choose on held-out rows"
        )


def _check_classes(moments, classes):
    """Raise, naming the first class without rows of positive weight."""
    empty = classes if moments is None else classes[moments.weight == 0]
    if len(empty):
        raise ValueError(f"there is no row of class {empty.tolist()[0]!r}")


def _whole_rows(X):
    """X in blocks of whole rows, and an array or data frame of its columns, (0, d)."""
    if not isinstance(X, da.Array):
        return X, X._meta
    whole = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    return whole, np.empty((0, *X.shape[1:]))


def _merge_in_tree(moments):
    """Delayed moments of all blocks, merged pair by pair as the leaves of a tree."""
    while len(moments) > 1:
        pairs = [moments[i : i + 2] for i in range(0, len(moments), 2)]
        moments = [dask.delayed(_merge)(*pair) for pair in pairs]
    return moments[0]


def _aligned_blocks(X, values):
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
    """Delayed blocks of rows, one-dimensional."""
    # not optimised: Dask would do so for each collection by itself, and might read
    # the columns of a data frame and its labels in different blocks
    return np.ravel(values.to_delayed(optimize_graph=False))


def _classes_of_block(y, weight=None):
    """Labels of a block that occur with positive weight."""
    y = np.asarray(y)
    if weight is not None:
        y = y[np.asarray(weight) > 0]
    return np.unique(y)


def _moments_of_block(estimator, classes, X, y, weight=None):
    """Moments of a block; None if it has no row of positive weight."""
    if not len(y) or (weight is not None and not np.any(weight)):
        return None
    return estimator._batch_moments(X, y, weight, None, classes)[0]


def _merge(first, second=None):
    """Moments of two blocks together; None is a block without rows."""
    if first is None:
        return second
    if second is None:
        return first
    return first.merge(second)
