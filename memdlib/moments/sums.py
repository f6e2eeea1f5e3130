"""Class moments: the only thing that ever touches the data.

One pass over (X, y) collects, for every class k and feature s, the weighted power sums

    S_kj = sum_i w_i [y_i = k] (x_is - c_s)^j,    j = 1..m,

about a location c near the data. They are exact sufficient statistics of every family
in the book and they *add*: over batches, over workers, over cross-validation folds,
and over the classes that make up "all but class k".
"""

from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]

# Entries of X that are read in one go, and of a class that are handled at a time
# (a MiB of doubles stays in the cache).
_STRETCH, _BLOCK = 2**20, 2**17


@dataclass(frozen=True)
class ClassMoments:
    """Weighted power sums of every class about one location.

    Parameters
    ----------
    weight : ndarray of shape (..., K)
        Total instance weight of each class (a count, where all weights are 1).
    sums : ndarray of shape (..., K, d, m)
        Power sums of (x - location)^j, j = 1..m.
    location : ndarray of shape (d,)
        Point about which the powers are taken.

    Examples
    --------
    >>> import numpy as np
    >>> a = class_moments(np.array([[1.0], [3.0], [5.0]]), [0, 0, 1], 2, order=1)
    >>> (a.location + a.mean[..., 0]).ravel().tolist()
    [2.0, 5.0]
    """

    weight: Array
    sums: Array
    location: Array

    @property
    def mean(self) -> Array:
        """Mean parameters E (x - location)^j, shape (..., K, d, m).

        A class without instances gets the mean of all classes: it says nothing.
        """
        weight = self.weight[..., None, None]
        if self.weight.all():
            return self.sums / weight
        pooled = self.sums.sum(axis=-3, keepdims=True)
        total = weight.sum(axis=-3, keepdims=True)
        empty = weight == 0
        return np.where(empty, pooled / total, self.sums / np.where(empty, 1.0, weight))

    @property
    def prior(self) -> Array:
        """Class shares pi_k of the total weight, shape (..., K)."""
        return self.weight / self.weight.sum(axis=-1, keepdims=True)

    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Moments of both data sets together.

        Parameters
        ----------
        other : ClassMoments
            Same classes, features and order; it is moved to this location first.

        Returns
        -------
        ClassMoments

        Raises
        ------
        ValueError
            If the shapes differ.
        """
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shape {other.sums.shape} cannot be added to those of "
                f"shape {self.sums.shape}; classes, features and order must agree"
            )
        moved = translate(
            other.sums, other.weight[..., None], other.location - self.location
        )
        return ClassMoments(
            self.weight + other.weight, self.sums + moved, self.location
        )

    def one_vs_rest(self) -> "ClassMoments":
        """Moments of each class beside those of all the other classes together.

        Returns
        -------
        ClassMoments
            ``weight`` (K, 2) and ``sums`` (K, 2, d, m): class k first, its complement
            second. No second pass over the data, and no subtraction either: the
            complement is summed from the other classes, so nothing cancels.
        """
        return ClassMoments(
            np.stack([self.weight, _leave_one_out(self.weight)], axis=1),
            np.stack([self.sums, _leave_one_out(self.sums)], axis=1),
            self.location,
        )


def class_moments(
    X,
    codes: ArrayLike,
    n_classes: int,
    *,
    order: int,
    sample_weight: ArrayLike | None = None,
    location: ArrayLike | None = None,
) -> ClassMoments:
    """Collect class moments in one pass.

    Parameters
    ----------
    X : ndarray, memmap or sparse matrix/array of shape (n, d)
        Data, finite. Sparse data are never densified.
    codes : array_like of shape (n,)
        Class of each row as an integer in 0..K-1.
    n_classes : int
        K.
    order : int
        Highest power m.
    sample_weight : array_like of shape (n,), default=None
        Nonnegative instance weights; None means 1 each.
    location : array_like of shape (d,), default=None
        Point about which the powers are taken; None takes the mean of the first block
        of rows (of all rows, if sparse). Any point among the data will do: it only
        guards the digits of the variance.

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
    collect = _sparse_sums if sparse.issparse(X) else _dense_sums
    if location is None:
        location = _rough_location(X)
    location = np.asarray(location, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = collect(X, codes, weight, n_classes, order, location)
        if not np.isfinite(sums.sum()):
            _raise_overflow(sums)
    return ClassMoments(
        np.bincount(codes, weights=weight, minlength=n_classes), sums, location
    )


def _raise_overflow(sums: Array) -> None:
    broken = ~np.isfinite(sums).all(axis=(0, 2))
    if broken.any():
        raise ValueError(
            f"the moments of feature {int(np.flatnonzero(broken)[0])} overflow; "
            "rescale it (for example with StandardScaler)"
        )


def _rough_location(X) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    rows = max(1, _BLOCK // X.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(X[:rows], dtype=np.float64).mean(axis=0)


def _dense_sums(X, codes, weight, n_classes, order, location) -> Array:
    n, d = X.shape
    # about a row of each class: the sums of a constant are zero, its variance too
    anchor = np.tile(location, (n_classes, 1))
    example = np.full(n_classes, -1)
    example[codes] = np.arange(n)
    anchor[example >= 0] = X[example[example >= 0]]
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
                centred -= anchor[k]
                share = weight[start + rows]
                sums[0, k] += share @ centred
                for j in range(1, order):
                    np.multiply(power if j > 1 else centred, centred, out=power)
                    sums[j, k] += share @ power
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    moved = np.empty((n_classes, d, order))
    for k in range(n_classes):
        moved[k] = translate(sums[:, k].T, total[k], anchor[k] - location)
    return moved


def _sparse_sums(X, codes, weight, n_classes, order, location) -> Array:
    X, shape = X.tocsr(), (n_classes, X.shape[1])
    anchor = None
    if order > 1 or location.any():
        # about a stored value of each class, as in _dense_sums
        anchor = np.tile(location, n_classes)
        for cell, values, _ in _stored(X, codes, weight):
            anchor[cell] = values
    cells = shape[0] * shape[1]
    sums, stored = np.zeros((order, cells)), None if anchor is None else np.zeros(cells)
    for cell, values, share in _stored(X, codes, weight):
        centred = values if anchor is None else values - anchor[cell]
        power = centred if share is None else share * centred
        for j in range(order):
            sums[j] += np.bincount(cell, weights=power, minlength=cells)
            if j + 1 < order:
                power = power * centred
        if stored is not None:
            stored += np.bincount(cell, weights=share, minlength=cells)
    sums = np.moveaxis(sums.reshape(order, *shape), 0, -1)
    if anchor is None:
        return sums
    stored, shift = stored.reshape(shape), anchor.reshape(shape) - location
    sums = translate(sums, stored, shift)
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    # the unstored zeros lie at -location; at least none where rounding says so
    zeros = np.maximum(total[:, None] - stored, 0.0)
    for j, power in enumerate(_powers(-location, order)[1:]):
        sums[..., j] += zeros * power
    return sums


def _stored(X, codes, weight):
    """Yield (cell of class and column, value, weight) of the entries, in parts.

    A part is no larger than the sums, which are the memory that a fit needs anyway; the
    weight is None where all are one.
    """
    size = max(_BLOCK, (codes.max(initial=0) + 1) * X.shape[1])
    plain, last = bool((weight == 1.0).all()), 0
    while last < X.shape[0]:
        first, end = last, X.indptr[last] + size
        last = max(first + 1, np.searchsorted(X.indptr, end, "right") - 1)
        part = slice(X.indptr[first], X.indptr[last])
        in_row = np.diff(X.indptr[first : last + 1])
        cell = np.repeat(codes[first:last] * X.shape[1], in_row)
        cell += X.indices[part]
        values = X.data[part].astype(np.float64, copy=False)
        yield cell, values, None if plain else np.repeat(weight[first:last], in_row)


def translate(sums: Array, weight: Array, shift: Array) -> Array:
    """Power sums about c, given those about c + shift (binomial theorem).

    Parameters
    ----------
    sums : ndarray of shape (..., d, m)
        Power sums j = 1..m, or mean parameters.
    weight : ndarray, broadcast against (..., d)
        Power sum j = 0: total weight, or 1 for mean parameters.
    shift : ndarray, broadcast against (..., d)

    Returns
    -------
    ndarray of shape (..., d, m)

    Examples
    --------
    >>> import numpy as np
    >>> translate(np.array([[1.0, 5.0]]), np.ones(1), np.array([10.0])).tolist()
    [[11.0, 125.0]]
    """
    if not np.any(shift):
        return sums
    moved, powers = np.empty(sums.shape), _powers(shift, sums.shape[-1])
    for j in range(1, sums.shape[-1] + 1):
        power_sum = sums[..., j - 1] + weight * powers[j]
        for i in range(1, j):
            power_sum += (comb(j, i) * powers[j - i]) * sums[..., i - 1]
        moved[..., j - 1] = power_sum
    return moved


def translate_natural(lam: ArrayLike, location: ArrayLike) -> Array:
    """Natural parameters of x, given those of x - location.

    Parameters
    ----------
    lam : array_like of shape (..., m)
    location : array_like, broadcast against (...)

    Returns
    -------
    ndarray of shape (..., m)
        Coefficients of x, ..., x^m in lambda . phi(x - location).

    Examples
    --------
    >>> translate_natural([0.0, 1.0], 3.0).tolist()
    [-6.0, 1.0]
    """
    lam = np.asarray(lam, dtype=np.float64)
    shift, m = -np.asarray(location, dtype=np.float64), lam.shape[-1]
    if not np.any(shift):
        return lam
    powers = _powers(shift, m)
    terms = [
        [comb(j, i) * powers[j - i] * lam[..., j - 1] for j in range(i, m + 1)]
        for i in range(1, m + 1)
    ]
    return np.stack([np.sum(t, axis=0) for t in terms], axis=-1)


def _powers(x: Array, highest: int) -> list[Array]:
    """Powers 0, 1, ..., highest of x by multiplication, which is faster than pow."""
    found = [1.0, x]
    while len(found) <= highest:
        found.append(found[-1] * x)
    return found


def _leave_one_out(values: Array) -> Array:
    """Sums over the first axis without each of its entries, free of subtraction."""
    nothing = np.zeros_like(values[:1])
    before = np.cumsum(np.concatenate([nothing, values[:-1]]), axis=0)
    after = np.cumsum(np.concatenate([nothing, values[:0:-1]]), axis=0)[::-1]
    return before + after
