"""Class moments: sufficient statistics that add.

For every class k and feature s these are the weighted power sums

    S_kj = sum_i w_i [y_i = k] (x_is - c_ks)^j,    j = 1..m,

about a location c of the class's own, among its data: variances keep their digits
however far the classes lie apart. They are exact sufficient statistics of every family
here and they *add*: over batches, workers, folds, and over "all but class k".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb

import numpy as np
from scipy import sparse

from memdlib._types import Array, ArrayLike, Index, MatrixLike, Weights
from memdlib.validation import sum_duplicates

__all__ = [
    "ClassMoments",
    "JointMoments",
    "class_moments",
    "joint_moments",
    "leave_one_out",
    "translate",
    "translate_natural",
]


# Entries of a class handled at a time: a MiB of doubles stays in the cache.
_BLOCK = 2**17


@dataclass(frozen=True)
class ClassMoments:
    """Weighted power sums of every class about a location of its own.

    Parameters
    ----------
    weight : ndarray of shape (..., K)
        Total instance weight of each class.
    sums : ndarray of shape (..., K, d, m)
        Power sums of (x - location)^j, j = 1..m.
    location : ndarray of shape (..., K, d)
        Points about which the powers are taken.
    count : ndarray of shape (..., K, d)
        Weight behind each sum: of the cells that are not missing.

    Examples
    --------
    >>> a = class_moments(np.array([[1.0], [3.0], [5.0]]), [0, 0, 1], 2, order=1)
    >>> (a.location + a.mean[..., 0]).ravel().tolist()
    [2.0, 5.0]
    """

    weight: Array
    sums: Array
    location: Array
    count: Array

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.location.shape[-1]

    @property
    def mean(self) -> Array:
        """Mean parameters E (x - location)^j, of all classes where one is empty."""
        count = self.count
        mean = self.sums / np.where(count > 0, count, 1.0)[..., None]
        for *pair, k in np.argwhere((count == 0).any(axis=-1)):
            classes = self._take(tuple(pair))
            total = classes.count.sum(axis=0)[:, None]
            everything = classes._about(classes.location[k]).sum(axis=0)
            everything /= np.where(total > 0, total, 1.0)
            empty = (classes.count[k] == 0)[:, None]
            np.copyto(mean[(*pair, k)], everything, where=empty)
        return mean

    @property
    def prior(self) -> Array:
        """Class shares pi_k of the total weight, shape (..., K)."""
        return self.weight / self.weight.sum(axis=-1, keepdims=True)

    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Moments of two data sets, of the same shape, together."""
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shape {other.sums.shape} cannot be added to those of "
                f"shape {self.sums.shape}; classes, features and order must agree"
            )
        location = np.where(self.count > 0, self.location, other.location)
        weight, count = self.weight + other.weight, self.count + other.count
        sums = self._about(location) + other._about(location)
        return type(self)(weight, sums, location, count)

    def one_vs_rest(self) -> "ClassMoments":
        """Moments (K, 2, ...) of each class, and of all others: nothing cancels."""
        classes = self.split(len(self.weight))
        rest = leave_one_out(classes)
        return type(self)(*(
            np.stack([np.concatenate([getattr(m, name) for m in part])
                      for part in (classes, rest)], axis=1)
            for name in vars(self)
        ))  # fmt: skip

    def reweighted(self, prior: Array) -> "ClassMoments":
        """Moments of the same classes in other shares (K,) of the same total weight."""
        count, some = self.count, self.count > 0
        new = prior[:, None] * count.sum(axis=0) * some
        sums = (new / np.where(some, count, 1.0))[..., None] * self.sums
        weight = prior * self.weight.sum() * (self.weight > 0)
        return type(self)(weight, sums, self.location, new)

    def split(self, n_parts: int) -> "list[ClassMoments]":
        """Views of the first K / n_parts classes, of the next, ..."""
        ends = np.linspace(0, len(self.weight), n_parts + 1).astype(int)
        return [self._take(slice(first, last)) for first, last in pairwise(ends)]

    def select(self, features: Index) -> "ClassMoments":
        """Moments of some features, given by a mask or by indices."""
        location, count = self.location[..., features], self.count[..., features]
        return ClassMoments(self.weight, self.sums[..., features, :], location, count)

    def _take(self, index) -> "ClassMoments":
        return type(self)(*(part[index] for part in vars(self).values()))

    def _about(self, location: Array) -> Array:
        """Sums about other locations."""
        return translate(self.sums, self.count, self.location - location)


@dataclass(frozen=True)
class JointMoments(ClassMoments):
    """Weighted sums of x and x x^T of every class; they add like :class:`ClassMoments`.

    Parameters
    ----------
    weight : ndarray of shape (K,)
    sums : ndarray of shape (K, d, d + 1)
        Sums of (x - location) in column 0, of their products in columns 1..d.
    location, count : ndarray of shape (K, d)
    """

    def select(self, features: Index) -> "JointMoments":
        """Joint moments of some features, given by a mask or by indices."""
        own = np.arange(self.sums.shape[-2])[features]
        sums = self.sums[..., own, :][..., np.r_[0, 1 + own]]
        location, count = self.location[..., own], self.count[..., own]
        return JointMoments(self.weight, sums, location, count)

    def _about(self, location: Array) -> Array:
        shift = (self.location - location)[..., None]
        first = self.sums[..., :1]
        moved = first + self.weight[..., None, None] * shift
        cross = first @ np.swapaxes(shift, -1, -2) + shift @ np.swapaxes(moved, -1, -2)
        return np.concatenate([moved, self.sums[..., 1:] + cross], axis=-1)


def class_moments(
    X: MatrixLike,
    codes: ArrayLike,
    n_classes: int,
    *,
    order: int,
    sample_weight: Weights = None,
    about_zero: bool = False,
) -> ClassMoments:
    """Collect class moments in one pass.

    Parameters
    ----------
    X : ndarray, memmap or sparse matrix/array of shape (n, d)
        Data of size 1e100 at most, NaN where a cell is missing. Sparse data are never
        densified.
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
        In float64. A ValueError names a feature whose powers overflow.

    Examples
    --------
    >>> X = np.array([[1e9 + 1], [1e9 + 3], [7.0]])
    >>> class_moments(X, [0, 0, 1], 2, order=2).weight.tolist()
    [2.0, 1.0]
    """
    X, codes, weight, total = _read(X, codes, n_classes, sample_weight)
    location = np.zeros((n_classes, X.shape[1]))
    if not about_zero:
        location = _locations(X, codes, n_classes)
    data = X, codes, weight, order
    sums = _sums(*data, location)
    count = np.broadcast_to(total[:, None], location.shape)
    if np.isnan(sums).any():
        X, location, missing = _filled(X, codes, location)
        count = total[:, None] - _by_class(missing, codes, weight, n_classes)
        sums = _sums(X, *data[1:], location)
    lost = ~np.isfinite(sums).all(axis=(0, 2))
    if lost.any():
        raise ValueError(
            f"the moments of feature {int(lost.argmax())} overflow; rescale it"
        )
    return ClassMoments(total, sums, location, count)


def joint_moments(
    X: Array, codes: ArrayLike, n_classes: int, *, sample_weight: Weights = None
) -> JointMoments:
    """Collect the sums of x and x x^T of every class in one pass.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Of size 1e100 at most.
    codes, n_classes, sample_weight
        As in :func:`class_moments`.

    Returns
    -------
    JointMoments
        About a row of each class.
    """
    X, codes, weight, total = _read(X, codes, n_classes, sample_weight)
    sums = np.zeros((n_classes, X.shape[1], X.shape[1] + 1))
    location = _locations(X, codes, n_classes)
    for k, rows in _rows_by_class(codes, n_classes, X.shape[1]):
        centred = X[rows] - location[k]
        weighted = weight[rows, None] * centred
        sums[k, :, 0] += weighted.sum(axis=0)
        sums[k, :, 1:] += weighted.T @ centred
    count = np.broadcast_to(total[:, None], location.shape)
    return JointMoments(total, sums, location, count)


def leave_one_out(parts: Sequence[ClassMoments]) -> list[ClassMoments]:
    """Moments of all parts (two or more) but each, by merges and no subtraction."""
    merge = type(parts[0]).merge
    before = list(accumulate(parts[:-1], merge))
    after = list(accumulate(parts[:0:-1], merge))[::-1]
    inner = [b.merge(a) for b, a in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


def translate(sums: Array, weight: Array, shift: Array) -> Array:
    """Power sums about c, given those about c + shift (binomial theorem).

    Parameters
    ----------
    sums : ndarray of shape (..., d, m)
        Power sums j = 1..m, or mean parameters.
    weight, shift : ndarray, broadcast against (..., d)
        Power sum j = 0 (total weight, or 1 for mean parameters); and how far to move.

    Returns
    -------
    ndarray of shape (..., d, m)
    """
    if not np.any(shift):
        return sums
    moved, powers = np.empty(sums.shape), _powers(shift, sums.shape[-1])
    for j in range(1, sums.shape[-1] + 1):
        moved[..., j - 1] = sums[..., j - 1] + weight * powers[j]
        for i in range(1, j):
            moved[..., j - 1] += (comb(j, i) * powers[j - i]) * sums[..., i - 1]
    return moved


def translate_natural(lam: ArrayLike, location: ArrayLike) -> Array:
    """Natural parameters (..., m) of x, given those of x - location (...)."""
    lam = np.asarray(lam, dtype=np.float64)
    shift, m = -np.asarray(location, dtype=np.float64), lam.shape[-1]
    if not np.any(shift):
        return lam
    powers = _powers(shift, m)
    coefficients = [
        sum(comb(j, i) * powers[j - i] * lam[..., j - 1] for j in range(i, m + 1))
        for i in range(1, m + 1)
    ]
    return np.stack(coefficients, axis=-1)


def _powers(x, highest):
    """Powers 0, 1, ..., highest of x by multiplication, which is faster than pow."""
    found = [1.0, x]
    while len(found) <= highest:
        found.append(found[-1] * x)
    return found


def _read(X, codes, n_classes, weight):
    """Data without repeated entries, codes, weights, and those of the classes."""
    codes = np.asarray(codes).astype(np.intp, casting="same_kind")
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, np.float64)
    X = sum_duplicates(X)
    X = X.tocsr().astype(np.float64, copy=False) if sparse.issparse(X) else X
    return X, codes, weight, np.bincount(codes, weights=weight, minlength=n_classes)


def _locations(X, codes, n_classes) -> Array:
    """Points (K, d) of the data of each class, about which a constant is zero."""
    example = np.zeros(n_classes, dtype=np.intp)
    example[codes] = np.arange(len(codes))
    if not sparse.issparse(X):
        return np.asarray(X[example], dtype=np.float64)
    # zero where the class has a row that is not stored, so that it adds nothing
    stored = _by_class(X != 0, codes, np.ones(len(codes)), n_classes)
    full = stored == np.bincount(codes, minlength=n_classes)[:, None]
    return np.where(full & (stored > 0), X[example].toarray(), 0.0)


def _filled(X, codes, location):
    """Data whose missing cells lie where the powers are about, these, and the cells."""
    if sparse.issparse(X):
        row, missing = np.repeat(codes, np.diff(X.indptr)), np.isnan(X.data)
        some = np.zeros(location.shape)
        some[row[~missing], X.indices[~missing]] = X.data[~missing]
        location = np.where(np.isnan(location), some, location)
        values = np.where(missing, location[row, X.indices], X.data)
        return (
            sparse.csr_array((values, X.indices, X.indptr), X.shape),
            location,
            sparse.csr_array((missing * 1.0, X.indices, X.indptr), X.shape),
        )
    missing, columns = np.isnan(X), np.arange(X.shape[1])
    if location.any():
        some = np.nan_to_num(X[missing.argmin(axis=0), columns])
        location = np.where(np.isnan(location), some, location)  # of no row, too
        for k in np.unique(codes):
            rows = np.flatnonzero(codes == k)
            own = X[rows[missing[rows].argmin(axis=0)], columns]
            location[k] = np.where(np.isnan(own), some, own)
    X = np.where(missing, location[codes], X)
    return X, location, sparse.csr_array(missing * 1.0)


def _rows_by_class(codes, n_classes, d):
    """Yield each class with some of its rows at a time, which stay in the cache."""
    by_class = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[by_class], np.arange(n_classes + 1))
    step = max(1, _BLOCK // d)
    for k, (first, last) in enumerate(pairwise(ends)):
        for start in range(first, last, step):
            yield k, by_class[start : min(start + step, last)]


@np.errstate(over="ignore", invalid="ignore")
def _sums(X, codes, weight, order, location) -> Array:
    """Power sums (K, d, m)."""
    collect = _sparse_sums if sparse.issparse(X) else _dense_sums
    return np.stack(collect(X, codes, weight, order, location), axis=-1)


def _dense_sums(X, codes, weight, order, location) -> Array:
    sums = np.zeros((order, *location.shape))
    for k, rows in _rows_by_class(codes, *location.shape):
        share, power = weight[rows], X[rows].astype(np.float64, copy=False)
        power -= location[k]
        centred = power if order < 3 else power.copy()
        for j in range(order):
            if j:
                power *= centred  # the last square may take its own place
            sums[j, k] += share @ power
    return sums


def _sparse_sums(X, codes, weight, order, location) -> list[Array]:
    values = X.data
    if location.any():
        values = values - location[np.repeat(codes, np.diff(X.indptr)), X.indices]
    powers = (sparse.csr_array((power, X.indices, X.indptr), X.shape)
              for power in _powers(values, order)[1:])  # fmt: skip
    return [_by_class(power, codes, weight, len(location)) for power in powers]


def _by_class(X, codes, weight, n_classes) -> Array:
    """Weighted sums (K, d) of the rows of each class of sparse data."""
    stored, d = np.diff(X.indptr), X.shape[1]
    cell = np.repeat(codes * d, stored) + X.indices
    values = X.data * np.repeat(weight, stored)
    return np.bincount(cell, values, n_classes * d).reshape(n_classes, d)
