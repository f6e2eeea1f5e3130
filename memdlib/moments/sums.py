"""Class moments: the only thing that ever touches the data.

One pass over (X, y) collects, for every class k and feature s, the weighted power sums

    S_kj = sum_i w_i [y_i = k] (x_is - c_ks)^j,    j = 1..m,

about a location c of the class's own, among its data, so that variances keep their
digits however far the classes lie apart. They are exact sufficient statistics of every
family in the book and they *add*: over batches, over workers, over cross-validation
folds, and over the classes that make up "all but class k".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]

# Entries of X that are read in one go, and of a class that are handled at a time
# (a MiB of doubles stays in the cache).
_STRETCH, _BLOCK = 2**20, 2**17

# A square below the first is about to underflow; it may be that of a difference other
# than zero only where the values themselves are below the second.
_LOST_SQUARE, _TINY = 1e-307, 1e-134


@dataclass(frozen=True)
class ClassMoments:
    """Weighted power sums of every class about a location of its own.

    Parameters
    ----------
    weight : ndarray of shape (..., K)
        Total instance weight of each class (a count, where all weights are 1).
    sums : ndarray of shape (..., K, d, m)
        Power sums of (x - location)^j, j = 1..m.
    location : ndarray of shape (..., K, d)
        Points about which the powers are taken.

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
        if self.weight.all():
            return self.sums / self.weight[..., None, None]
        mean = self.sums / np.where(self.weight > 0, self.weight, 1.0)[..., None, None]
        for *pair, k in np.argwhere(self.weight == 0):
            classes = self._take(tuple(pair))
            everything = classes._about(classes.location[k]).sum(axis=0)
            mean[(*pair, k)] = everything / classes.weight.sum()
        return mean

    @property
    def prior(self) -> Array:
        """Class shares pi_k of the total weight, shape (..., K)."""
        return self.weight / self.weight.sum(axis=-1, keepdims=True)

    @np.errstate(over="ignore", invalid="ignore")
    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Moments of both data sets together.

        Parameters
        ----------
        other : ClassMoments
            Same classes, features and order; each class is moved to its location here
            first, unless it has no instances here.

        Returns
        -------
        ClassMoments

        Raises
        ------
        ValueError
            If the shapes differ, or if the powers overflow.
        """
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shape {other.sums.shape} cannot be added to those of "
                f"shape {self.sums.shape}; classes, features and order must agree"
            )
        location = self.location
        if not self.weight.all():
            here = self.weight[..., None] > 0
            location = np.where(here, self.location, other.location)
        sums = self._about(location) + other._about(location)
        check_finite(sums)
        return type(self)(self.weight + other.weight, sums, location)

    def one_vs_rest(self) -> "ClassMoments":
        """Moments of each class beside those of all the other classes together.

        Returns
        -------
        ClassMoments
            ``weight`` (K, 2), ``sums`` (K, 2, d, m) and ``location`` (K, 2, d): class k
            first, its complement second. No second pass over the data, and no
            subtraction either: the complement is summed from the other classes, so
            nothing cancels.
        """
        classes = [self._take(slice(k, k + 1)) for k in range(len(self.weight))]
        rest = leave_one_out(classes)
        return ClassMoments(
            np.stack([self.weight, np.concatenate([r.weight for r in rest])], axis=1),
            np.stack([self.sums, np.concatenate([r.sums for r in rest])], axis=1),
            np.stack(
                [self.location, np.concatenate([r.location for r in rest])], axis=1
            ),
        )

    def split(self, n_parts: int) -> "list[ClassMoments]":
        """Moments of parts that were collected as classes, part by part.

        Parameters
        ----------
        n_parts : int
            Divides the number of classes.

        Returns
        -------
        list of ClassMoments
            Views: the first K / n_parts classes, the next, ...
        """
        size = len(self.weight) // n_parts
        return [self._take(slice(p * size, (p + 1) * size)) for p in range(n_parts)]

    def select(self, features) -> "ClassMoments":
        """Moments of some features, given by a mask or by indices."""
        return ClassMoments(
            self.weight, self.sums[..., features, :], self.location[..., features]
        )

    def _take(self, index) -> "ClassMoments":
        return type(self)(self.weight[index], self.sums[index], self.location[index])

    def _about(self, location: Array) -> Array:
        """Sums about other locations."""
        if location is self.location:
            return self.sums
        shift = self.location - location
        return translate(self.sums, self.weight[..., None], shift)


def leave_one_out(parts: Sequence[ClassMoments]) -> list[ClassMoments]:
    """Moments of all parts but each, from 3 K merges and no subtraction.

    Parameters
    ----------
    parts : sequence of ClassMoments
        K of them, two or more, of the same shape.

    Returns
    -------
    list of ClassMoments

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0], [2.0], [4.0]])
    >>> parts = class_moments(x, [0, 1, 2], 3, order=1).split(3)
    >>> rest = leave_one_out(parts)
    >>> [float((r.location + r.mean[..., 0])[0, 0]) for r in rest]
    [3.0, 2.5, 1.5]
    """
    before = list(accumulate(parts[:-1], ClassMoments.merge))
    after = list(accumulate(parts[:0:-1], ClassMoments.merge))[::-1]
    inner = [b.merge(a) for b, a in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


@np.errstate(over="ignore", invalid="ignore")
def class_moments(
    X,
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
        Data, finite. Sparse data are never densified.
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
        If the powers overflow, or if a class varies by less than the root of the
        smallest number; names the feature.

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
    check_finite(sums)
    if order > 1 and not about_zero:
        check_squares(X, codes, total, sums[..., 0], sums[..., 1], location)
    return ClassMoments(total, sums, location)


def class_locations(X, codes: NDArray[np.intp], n_classes: int) -> Array:
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


def check_finite(sums: Array) -> None:
    """Raise, naming the feature, if sums (..., K, d, m) overflow.

    Parameters
    ----------
    sums : ndarray of shape (..., K, d, m)

    Returns
    -------
    None
    """
    if np.isfinite(sums.sum()):
        return
    broken = ~np.isfinite(sums).all(axis=-1)
    if broken.any():
        raise ValueError(
            f"the moments of feature {int(np.argwhere(broken)[0][-1])} overflow; "
            "rescale it (for example with StandardScaler)"
        )


def check_squares(
    X, codes: NDArray, weight: Array, first: Array, second: Array, location: Array
) -> None:
    """Raise, naming the feature, if squares of differences within a class underflow.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    codes : ndarray of shape (n,)
    weight : ndarray of shape (K,)
    first, second : ndarray of shape (K, d)
        Sums of (x - location) and of its square.
    location : ndarray of shape (K, d)

    Returns
    -------
    None
    """
    small = second < _LOST_SQUARE * weight[:, None]
    # differences of larger numbers are zero, or large enough
    np.logical_and(small, np.abs(location) < _TINY, out=small)
    if not small.any():
        return
    lost = (small & (first != 0)).any(axis=0)
    if not lost.any():  # what adds up to zero is zero, or cancels
        lost = _varies(X, codes, small, location)
    if lost.any():
        raise ValueError(
            f"the moments of feature {int(np.argmax(lost))} underflow; "
            "rescale it (for example with StandardScaler)"
        )


def _varies(X, codes, cells: NDArray[np.bool_], location: Array) -> NDArray[np.bool_]:
    """Features with a value other than the location in one of some cells (K, d)."""
    found = np.zeros(X.shape[1], dtype=bool)
    if sparse.issparse(X):
        tiny = np.flatnonzero((X.data != 0) & (np.abs(X.data) < _TINY))
        row = np.searchsorted(X.indptr, tiny, side="right") - 1
        at = codes[row], X.indices[tiny]
        found[at[1][cells[at] & (X.data[tiny] != location[at])]] = True
        return found
    for k in np.flatnonzero(cells.any(axis=1)):
        rows, columns = np.flatnonzero(codes == k), np.flatnonzero(cells[k])
        step = max(1, _BLOCK // len(columns))
        for start in range(0, len(rows), step):
            part = X[np.ix_(rows[start : start + step], columns)]
            found[columns] |= (part != location[k, columns]).any(axis=0)
    return found


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
