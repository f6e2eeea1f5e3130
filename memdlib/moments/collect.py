"""One pass over (X, y) collects the class moments: nothing else touches the data.

Dense rows are read in stretches and handled class by class in pieces that stay in the
cache; sparse data are never densified. Powers are taken about a point of each class, so
that a constant has no variance at all.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.moments.sums import ClassMoments
from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]

# Entries of X that are read in one go, and of a class that are handled at a time
# (a MiB of doubles stays in the cache).
_STRETCH, _BLOCK = 2**20, 2**17


@np.errstate(over="ignore", invalid="ignore")
def class_moments(
    X: MatrixLike,
    codes: ArrayLike,
    n_classes: int,
    *,
    order: int,
    sample_weight: ArrayLike | None = None,
    about_zero: bool = False,
) -> ClassMoments:
    """Collect class moments in one pass.

    Parameters
    ----------
    X : ndarray, memmap or sparse matrix/array of shape (n, d)
        Data of size 1e100 at most. Sparse data are never densified.
    codes : array_like of shape (n,)
        Class of each row as an integer in 0..K-1.
    n_classes : int
        K.
    order : int
        Highest power m.
    sample_weight : array_like of shape (n,), default=None
        Nonnegative instance weights; None means 1 each.
    about_zero : bool, default=False
        Take the powers about zero, as families need that do not translate; otherwise
        about a row of each class (zero, in a sparse column that does not store every
        row of the class).

    Returns
    -------
    ClassMoments
        Accumulated in float64 whatever the type of X.

    Raises
    ------
    ValueError
        If the powers overflow; names the feature.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1e9 + 1], [1e9 + 3], [7.0]])
    >>> m = class_moments(X, [0, 0, 1], 2, order=2)
    >>> m.weight.tolist()
    [2.0, 1.0]
    """
    codes = np.asarray(codes).astype(np.intp, casting="same_kind")
    n = X.shape[0]
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight)
    weight = weight.astype(np.float64)
    X = sum_duplicates(X)
    if sparse.issparse(X):
        X = X.tocsr()
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    if about_zero:
        location = np.broadcast_to(0.0, (n_classes, X.shape[1]))
    else:
        location = class_locations(X, codes, n_classes)
    collect = _sparse_sums if sparse.issparse(X) else _dense_sums
    sums = collect(X, codes, weight, order, location)
    lost = ~np.isfinite(sums).all(axis=(0, 2))
    if lost.any():
        raise ValueError(
            f"the moments of feature {int(lost.argmax())} overflow; rescale it"
        )
    return ClassMoments(total, sums, location)


def class_locations(X: MatrixLike, codes: NDArray[np.intp], n_classes: int) -> Array:
    """Point among the data of each class, about which a constant has no variance.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    codes : ndarray of shape (n,)
    n_classes : int

    Returns
    -------
    ndarray of shape (K, d)
        A row of the class; that of another class, if it has none. In sparse columns,
        zero where the class has a row that is not stored, else a stored value.
    """
    shape = n_classes, X.shape[1]
    if not sparse.issparse(X):
        example = np.zeros(n_classes, dtype=np.intp)
        example[codes] = np.arange(len(codes))
        return np.asarray(X[example], dtype=np.float64)
    in_class = np.bincount(codes, minlength=n_classes)[:, None]
    stored = np.zeros(shape, dtype=np.intp).ravel()
    for cell, *_ in _stored(X, codes):
        stored += np.bincount(cell, minlength=stored.size)
    full = ((stored.reshape(shape) == in_class) & (in_class > 0)).ravel()
    if not full.any():
        return np.broadcast_to(0.0, shape)
    location = np.zeros(full.size)
    for cell, values, _ in _stored(X, codes):
        location[cell] = values
    return np.where(full, location, 0.0).reshape(shape)


def _dense_sums(X, codes, weight, order, location) -> Array:
    n, d = X.shape
    n_classes = len(location)
    sums = np.zeros((order, n_classes, d))
    # a stretch of rows is read once, class by class, in pieces that stay in the cache
    stretch, piece = max(1, _STRETCH // d), max(1, _BLOCK // d)
    buffer = np.empty((2, min(piece, n), d))
    for start in range(0, n, stretch):
        block = np.asarray(X[start : start + stretch], dtype=np.float64)
        member = codes[start : start + stretch]
        by_class = np.argsort(member, kind="stable")
        ends = np.searchsorted(member[by_class], np.arange(n_classes + 1))
        for k, (first, last) in enumerate(pairwise(ends)):
            for at in range(first, last, piece):
                rows = by_class[at : min(at + piece, last)]
                centred, power = buffer[:, : len(rows)]
                np.take(block, rows, axis=0, out=centred, mode="clip")
                centred -= location[k]
                share = weight[start + rows]
                sums[0, k] += share @ centred
                for j in range(1, order):
                    np.multiply(power if j > 1 else centred, centred, out=power)
                    sums[j, k] += share @ power
    return np.moveaxis(sums, 0, -1)


def _sparse_sums(X, codes, weight, order, location) -> Array:
    cells, sums = location.size, [None] * order
    # zeros that are not stored lie at the location, and add nothing
    location = location.ravel() if location.any() else None
    plain = None if (weight == 1.0).all() else weight
    for part, (cell, values, share) in enumerate(_stored(X, codes, plain)):
        centred = values if location is None else values - location[cell]
        power = centred if share is None else share * centred
        for j in range(order):
            found = np.bincount(cell, weights=power, minlength=cells)
            sums[j] = np.add(sums[j], found, out=found) if part else found
            if j + 1 < order:
                power = power * centred
    sums = [found.reshape(-1, X.shape[1]) for found in sums]
    return np.stack(sums, axis=-1) if order > 1 else sums[0][..., None]


def _stored(X, codes, weight=None):
    """Yield (cell of class and column, value, weight) of the entries, in parts.

    A part is no larger than the sums, which are the memory that a fit needs anyway.
    """
    size = max(_BLOCK, (codes.max(initial=0) + 1) * X.shape[1])
    last = 0
    while last < X.shape[0]:
        first, end = last, X.indptr[last] + size
        last = max(first + 1, np.searchsorted(X.indptr, end, "right") - 1)
        part = slice(X.indptr[first], X.indptr[last])
        in_row = np.diff(X.indptr[first : last + 1])
        cell = np.repeat(codes[first:last] * X.shape[1], in_row)
        cell += X.indices[part]
        values = X.data[part].astype(np.float64, copy=False)
        share = None if weight is None else np.repeat(weight[first:last], in_row)
        yield cell, values, share
