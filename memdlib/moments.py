"""Class moments: sufficient statistics that add.

For every class k and feature s these are the weighted power sums

    S_kj = sum_i w_i [y_i = k] (x_is - c_ks)^j,    j = 1..m,

about a location c among the data of the class, so that variances keep their digits
however far apart the classes lie. They are exact sufficient statistics of every family
here, and they *add*: over batches, workers, folds, and over "all but class k".

The location is the heaviest row of the class. With its share p of the weight,

    (mean - c)^2 <= variance / p,

so that the difference of the second moment and the squared first one keeps all digits
but those of 1 / p, however far the weights span; about a light row it may lose all.
"""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import comb

import numpy as np
from scipy import sparse

from memdlib._types import Array
from memdlib.validation import check_integer, check_real_array, sum_duplicates

__all__ = [
    "ClassMoments",
    "JointMoments",
    "class_moments",
    "joint_moments",
    "leave_one_out",
    "translate",
    "translate_natural",
]


# Entries handled at a time: a MiB of doubles stays in the cache.
_BLOCK = 2**17


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Weighted power sums of every class, each about its own location.

    Parameters
    ----------
    weight : ndarray of shape (..., K)
        Total instance weight of each class.
    sums : ndarray of shape (..., K, d, m)
        Power sums of (x - location)^j, j = 1..m.
    location : ndarray of shape (..., K, d)
        Points about which the powers are taken.
    count : ndarray of shape (..., K, d)
        Weight behind each sum, that of the cells that are not missing.

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
    def n_features(self):
        """Number of features d."""
        return self.location.shape[-1]

    @property
    def mean(self):
        """Mean parameters E (x - location)^j, of all classes where one is empty."""
        count = self.count
        mean = self.sums / np.where(count > 0, count, 1.0)[..., None]
        for *before, k in np.argwhere((count == 0).any(axis=-1)):
            classes = self._take(tuple(before))
            total = classes.count.sum(axis=0)[:, None]
            overall = classes._about(classes.location[k]).sum(axis=0)
            overall /= np.where(total > 0, total, 1.0)
            empty = (classes.count[k] == 0)[:, None]
            np.copyto(mean[(*before, k)], overall, where=empty)
        return mean

    @property
    def prior(self):
        """Fractions pi_k of the total weight in each class, shape (..., K)."""
        return self.weight / self.weight.sum(axis=-1, keepdims=True)

    def merge(self, other):
        """Moments of two data sets together.

        Parameters
        ----------
        other : ClassMoments
            Of the same classes, features and order; else there is a ValueError.

        Returns
        -------
        ClassMoments
            About the locations of the heavier part; of ``self`` if both weigh the same.
        """
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shape {other.sums.shape} cannot be added to those of "
                f"shape {self.sums.shape}; classes, features and order must agree"
            )
        heavier = other.count > self.count
        location = np.where(heavier, other.location, self.location)
        return type(self)(
            weight=self.weight + other.weight,
            sums=self._about(location) + other._about(location),
            location=location,
            count=self.count + other.count,
        )

    def one_vs_rest(self):
        """Moments (K, 2, ...) of each class, and of all others: nothing cancels."""
        others = leave_one_out(self.split(len(self.weight)))
        weight = np.concatenate([m.weight for m in others])
        sums = np.concatenate([m.sums for m in others])
        location = np.concatenate([m.location for m in others])
        count = np.concatenate([m.count for m in others])
        return type(self)(
            weight=np.stack([self.weight, weight], axis=1),
            sums=np.stack([self.sums, sums], axis=1),
            location=np.stack([self.location, location], axis=1),
            count=np.stack([self.count, count], axis=1),
        )

    def reweighted(self, prior):
        """Moments of the same classes in other proportions.

        Parameters
        ----------
        prior : ndarray of shape (K,)
            Fractions of the total weight, which stays the same.

        Returns
        -------
        ClassMoments
        """
        observed = self.count > 0
        count = prior[:, None] * self.count.sum(axis=0) * observed
        factor = count / np.where(observed, self.count, 1.0)
        weight = prior * self.weight.sum() * (self.weight > 0)
        sums = factor[..., None] * self.sums
        return replace(self, weight=weight, sums=sums, count=count)

    def split(self, n_parts):
        """Views of the first K / n_parts classes, of the next, ..."""
        bounds = np.linspace(0, len(self.weight), n_parts + 1).astype(int)
        parts = []
        for first, last in pairwise(bounds):
            parts.append(self._take(slice(first, last)))
        return parts

    def select(self, features):
        """Moments of some features, given by a mask or by indices."""
        return replace(
            self,
            sums=self.sums[..., features, :],
            location=self.location[..., features],
            count=self.count[..., features],
        )

    def _take(self, index):
        """Moments of some classes, given by an index into the leading axes."""
        return type(self)(
            weight=self.weight[index],
            sums=self.sums[index],
            location=self.location[index],
            count=self.count[index],
        )

    def _about(self, location):
        """Sums about other locations (..., K, d)."""
        return translate(self.sums, self.count, self.location - location)


@dataclass(frozen=True, eq=False)
class JointMoments(ClassMoments):
    """Weighted sums of x and x x^T of every class; they add like :class:`ClassMoments`.

    Parameters
    ----------
    weight : ndarray of shape (K,)
    sums : ndarray of shape (K, d, d + 1)
        Sums of z = x - location in column 0, and of z z^T in columns 1..d.
    location, count : ndarray of shape (K, d)
    """

    def select(self, features):
        """Joint moments of some features, given by a mask or by indices."""
        indices = np.arange(self.n_features)[features]
        chosen = super().select(indices)
        # column 0 holds the sums of x, column 1 + s those of the products with x_s
        columns = np.append(0, 1 + indices)
        return replace(chosen, sums=chosen.sums[..., columns])

    def _about(self, location):
        """Sums about other locations (..., K, d)."""
        # with x - b = (x - a) + shift: the sum of x, and then that of x x^T
        shift = (self.location - location)[..., None]
        first = self.sums[..., :1]
        moved = first + self.weight[..., None, None] * shift
        cross = first @ shift.mT + shift @ moved.mT
        second = self.sums[..., 1:] + cross
        return np.concatenate([moved, second], axis=-1)


def class_moments(
    X,
    codes,
    n_classes,
    *,
    order,
    sample_weight=None,
    about_zero=False,
):
    """Collect class moments in one pass.

    Parameters
    ----------
    X : ndarray, memmap or sparse matrix/array of shape (n, d)
        Data, at most 1e100 in absolute value, with NaN for missing cells. Sparse data
        are never densified.
    codes : array_like of shape (n,)
        Class of each row as an integer in 0..K-1.
    n_classes : int
        K.
    order : int
        Highest power m.
    sample_weight : array_like of shape (n,), default=None
        Nonnegative instance weights; None means one each.
    about_zero : bool, default=False
        Take the powers about zero, as families that do not translate need; otherwise
        they are taken about the heaviest row of each class. In a sparse column, the
        rows of a class that are not stored count as one row of value zero.

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
    X, codes, weight = _prepare(X, codes, n_classes, sample_weight, order)
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    location = np.zeros((n_classes, X.shape[1]))
    if not about_zero:
        location = _locations(X, codes, weight, n_classes)
    count = np.broadcast_to(total[:, None], location.shape)
    power_sums = _sparse_sums if sparse.issparse(X) else _dense_sums
    sums = power_sums(X, codes, weight, order, location)
    if np.isnan(sums).any():
        fill = _fill_sparse if sparse.issparse(X) else _fill_dense
        X, location, missing = fill(X, codes, weight, location)
        count = count - _by_class(missing, missing.data, codes, weight, n_classes)
        sums = power_sums(X, codes, weight, order, location)
    _check_sums(sums, count, location)
    return ClassMoments(weight=total, sums=sums, location=location, count=count)


def joint_moments(
    X,
    codes,
    n_classes,
    *,
    sample_weight=None,
):
    """Collect the sums of x and x x^T of every class in one pass.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Data, at most 1e100 in absolute value.
    codes, n_classes, sample_weight
        As in :func:`class_moments`.

    Returns
    -------
    JointMoments
        About the heaviest row of each class.
    """
    X, codes, weight = _prepare(X, codes, n_classes, sample_weight)
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    sums = np.zeros((n_classes, X.shape[1], X.shape[1] + 1))
    location = _locations(X, codes, weight, n_classes)
    for k, rows in _rows_by_class(codes, n_classes, X.shape[1]):
        centred = X[rows] - location[k]
        weighted = weight[rows, None] * centred
        sums[k, :, 0] += weighted.sum(axis=0)
        sums[k, :, 1:] += weighted.T @ centred
    count = np.broadcast_to(total[:, None], location.shape)
    return JointMoments(weight=total, sums=sums, location=location, count=count)


def _check_sums(sums, count, location):
    """Put what weighs next to nothing to zero; raise if the sums of a feature overflow.

    Other numbers than the location differ from it by an ulp or more: a variance below
    the square of that is one of weights.
    """
    ulp = np.finfo(np.float64).eps * location
    if sums.shape[-1] > 1:
        sums[sums[..., 1] < count * ulp**2] = 0.0
    overflowed = ~np.isfinite(sums).all(axis=(0, 2))
    if overflowed.any():
        raise ValueError(
            f"the moments of feature {overflowed.argmax()} overflow; rescale it"
        )


def leave_one_out(parts):
    """Moments of all parts but each one, by merges and no subtraction.

    Parameters
    ----------
    parts : sequence of ClassMoments
        Two or more, of the same classes, features and order.

    Returns
    -------
    list of ClassMoments
        Entry i holds the moments of all parts but the i-th.
    """
    merge = type(parts[0]).merge
    before = list(accumulate(parts[:-1], merge))
    after = list(accumulate(parts[:0:-1], merge))[::-1]
    inner = [b.merge(a) for b, a in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


def translate(sums, weight, shift):
    """Power sums about c, given those about c + shift (binomial theorem).

    Parameters
    ----------
    sums : ndarray of shape (..., d, m)
        Power sums j = 1..m, or mean parameters.
    weight, shift : ndarray, broadcast against (..., d)
        Power sum j = 0 (total weight, or 1 for mean parameters), and the shift.

    Returns
    -------
    ndarray of shape (..., d, m)
    """
    sums = check_real_array(sums, "sums")
    weight = check_real_array(weight, "weight")
    shift = check_real_array(shift, "shift")
    if not np.any(shift):
        return sums
    if not sums.ndim:
        raise ValueError("sums is a number; expected shape (..., m)")
    moved = np.empty(sums.shape)
    powers = _powers(shift, sums.shape[-1])
    for j in range(1, sums.shape[-1] + 1):
        moved[..., j - 1] = sums[..., j - 1] + weight * powers[j]
        for i in range(1, j):
            moved[..., j - 1] += (comb(j, i) * powers[j - i]) * sums[..., i - 1]
    return moved


def translate_natural(lam, location):
    """Natural parameters of x, given those of x - location (binomial theorem).

    Parameters
    ----------
    lam : array_like of shape (..., m)
        Natural parameters of the powers of x - location.
    location : array_like of shape (...)

    Returns
    -------
    ndarray of shape (..., m)
        The constant, which belongs to the log-normaliser, is left out.
    """
    lam = check_real_array(lam, "lam")
    shift = -check_real_array(location, "location")
    if not lam.ndim:
        raise ValueError("lam is a number; expected shape (..., m)")
    if not np.any(shift):
        return lam
    m = lam.shape[-1]
    moved = np.zeros(np.broadcast_shapes(lam.shape, (*shift.shape, m)))
    for i in range(1, m + 1):
        for j in range(i, m + 1):
            moved[..., i - 1] += comb(j, i) * shift ** (j - i) * lam[..., j - 1]
    return moved


def _powers(x, highest):
    """Powers 0, 1, ..., highest of x by multiplication, which is faster than pow."""
    powers = [1.0, x]
    while len(powers) <= highest:
        powers.append(powers[-1] * x)
    return powers


def _prepare(X, codes, n_classes, weight, order=2):
    """Data (n, d), in CSR format if sparse, codes (n,) as indices, and weights (n,)."""
    check_integer(order, "order")
    X, codes = _check_classes(X, codes, n_classes)
    if weight is None:
        weight = np.ones(X.shape[0])
    if sparse.issparse(X):
        X = sum_duplicates(X).tocsr().astype(np.float64, copy=False)
    return X, codes, np.asarray(weight, dtype=np.float64)


def _check_classes(X, codes, n_classes):
    """Return X and codes as arrays; raise unless they are numbers of n rows."""
    check_integer(n_classes, "n_classes")
    if not sparse.issparse(X):
        X = np.asanyarray(X)
    codes = np.asarray(codes)
    is_valid = X.dtype.kind in "fiub" and X.ndim == 2
    if not is_valid or codes.dtype.kind not in "iub" or codes.shape != X.shape[:1]:
        raise ValueError(
            f"X must be numbers of shape (n, d), and codes integers of shape (n,): got "
            f"X of shape {X.shape} and codes of shape {codes.shape}, {X.dtype} and "
            f"{codes.dtype}"
        )
    codes = codes.astype(np.intp)
    if codes.size and (codes.min() < 0 or codes.max() >= n_classes):
        raise ValueError(
            f"codes range from {codes.min()} to {codes.max()}; expected 0 to "
            f"n_classes - 1 = {n_classes - 1}"
        )
    return X, codes


def _locations(X, codes, weight, n_classes):
    """Points (K, d) of the data of each class, about which a constant is zero."""
    if sparse.issparse(X):
        return _sparse_locations(X, codes, weight, n_classes)
    return np.asarray(X[heaviest_rows(codes, weight, n_classes)], dtype=np.float64)


def heaviest_rows(codes, weight, n_classes):
    """Index (K,) of the heaviest row of each class, or of all rows if it has none."""
    by_weight = np.argsort(weight, kind="stable")
    heaviest = np.full(n_classes, by_weight[-1])
    # of several rows the last is kept
    heaviest[codes[by_weight]] = by_weight
    return heaviest


def _sparse_locations(X, codes, weight, n_classes):
    """As :func:`_locations`, of CSR data: zero unless the stored cells weigh more."""
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    stored = _by_class(X, X.data != 0, codes, weight, n_classes)
    zero_weight = total[:, None] - stored
    entry_class = np.repeat(codes, np.diff(X.indptr))
    entry_weight = np.repeat(weight, np.diff(X.indptr))
    # half, so that rounding does not decide between rows of equal weight
    heavier = zero_weight[entry_class, X.indices] < 0.5 * entry_weight
    entries = np.flatnonzero(heavier & ~np.isnan(X.data))
    entries = entries[np.argsort(entry_weight[entries], kind="stable")]
    location = np.zeros(stored.shape)
    # of several values for a cell the last is kept, that of the heaviest row
    location[entry_class[entries], X.indices[entries]] = X.data[entries]
    return location


def _fill_dense(X, codes, weight, location):
    """Put the location of its class into each missing cell, where it adds nothing.

    Returns the data (n, d), the locations (K, d), which are moved to observed values
    unless they are zero, and the missing cells as a sparse array of ones.
    """
    missing = np.isnan(X)
    if location.any():
        # for classes in which a feature is never observed
        fallback = np.nan_to_num(_heaviest_values(X, weight))
        location = np.where(np.isnan(location), fallback, location)
        for k in np.unique(codes):
            values = _heaviest_values(X[codes == k], weight[codes == k])
            location[k] = np.where(np.isnan(values), fallback, values)
    X = np.where(missing, location[codes], X)
    return X, location, sparse.csr_array(missing * 1.0)


def _heaviest_values(X, weight):
    """Value (d,) of each feature in the heaviest row that has one; NaN if none has."""
    known_weight = np.where(np.isnan(X), -1.0, weight[:, None])
    return X[known_weight.argmax(axis=0), np.arange(X.shape[1])]


def _fill_sparse(X, codes, weight, location):
    """As :func:`_fill_dense`, for the stored cells of CSR data."""
    missing = np.isnan(X.data)
    entry_class = np.repeat(codes, np.diff(X.indptr))
    values = np.where(missing, location[entry_class, X.indices], X.data)
    filled = sparse.csr_array((values, X.indices, X.indptr), X.shape)
    cells = sparse.csr_array((missing * 1.0, X.indices, X.indptr), X.shape)
    return filled, location, cells


def _rows_by_class(codes, n_classes, d):
    """Yield each class with some of its rows at a time, which stay in the cache."""
    by_class = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[by_class], np.arange(n_classes + 1))
    step = max(1, _BLOCK // d)
    for k, (first, last) in enumerate(pairwise(bounds)):
        for start in range(first, last, step):
            stop = min(start + step, last)
            yield k, by_class[start:stop]


@np.errstate(over="ignore", invalid="ignore")
def _dense_sums(X, codes, weight, order, location):
    """Power sums (K, d, m) of dense data, by matrix products of blocks of rows."""
    sums = np.zeros((*location.shape, order))
    for k, rows in _rows_by_class(codes, *location.shape):
        centred = X[rows].astype(np.float64, copy=False)
        centred -= location[k]
        power = centred
        for j in range(order):
            if j > 0:
                power = power * centred
            sums[k, :, j] += weight[rows] @ power
    return sums


@np.errstate(over="ignore", invalid="ignore")
def _sparse_sums(X, codes, weight, order, location):
    """Power sums (K, d, m) of CSR data, of the stored cells alone where that is all."""
    n_classes = len(location)
    values = X.data
    if location.any():
        entry_class = np.repeat(codes, np.diff(X.indptr))
        values = values - location[entry_class, X.indices]
    powers = _powers(values, order)[1:]
    sums = [_by_class(X, power, codes, weight, n_classes) for power in powers]
    sums = np.stack(sums, axis=-1)
    if location.any():
        one = np.ones(len(codes))
        n_stored = _by_class(X, np.ones(X.nnz), codes, one, n_classes)
        n_rows = np.bincount(codes, minlength=n_classes)
        partly_stored = (location != 0) & (n_stored < n_rows[:, None])
        for s in np.flatnonzero(partly_stored.any(axis=0)):
            column = X[:, [s]].toarray()
            sums[:, [s]] = _dense_sums(column, codes, weight, order, location[:, [s]])
    return sums


def _by_class(X, values, codes, weight, n_classes):
    """Weighted sums (K, d) by class of values (nnz,) in the stored cells of X."""
    d = X.shape[1]
    n_stored = np.diff(X.indptr)
    cell = np.repeat(codes * d, n_stored) + X.indices
    weighted = values * np.repeat(weight, n_stored)
    sums = np.bincount(cell, weighted, minlength=n_classes * d)
    return sums.reshape(n_classes, d)
