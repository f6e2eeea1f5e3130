"""Information-theoretic kernels between measures, for rows of nonnegative numbers.

All of them are sums over cells of one function of two numbers,

    f_q(a, b) = ((a + b)^q - a^q - b^q) / (q - 1),    f_1 the limit,

which is zero where either is zero and has a feature map,

    f_q(a, b) = q / Gamma(2 - q) int_0^inf (1 - e^(-ta)) (1 - e^(-tb)) t^(-q-1) dt

for 0 < q < 2: hence every Gram matrix is positive semi-definite. The functions follow
scikit-learn's pairwise conventions; two vectors give one number. The linear kernel is
:func:`sklearn.metrics.pairwise.linear_kernel`, half of which is the order q = 2.
"""

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics.pairwise import check_pairwise_arrays

from memdlib.validation import (
    Number,
    check_choice,
    check_nonnegative,
    sum_duplicates,
)

__all__ = [
    "exponential_js_kernel",
    "js_kernel",
    "jt_kernel",
    "weighted_jt_kernel",
]

Array = NDArray[np.float64]

# Numbers in a block: two blocks stay in a processor's own cache.
_BLOCK = 1 << 15
# Common cells in a block of sparse rows.
_PAIRS = 1 << 18
_ORDERS = Number(Real, 0, 2, "both")
_SMALLEST = np.finfo(np.float64).tiny
# Orders this near 1 need more than powers.
_NEAR_ONE = 0.1
# Masses whose powers, and those of their ratios, are numbers.
_LEAST, _MOST, _WIDEST = 1e-100, 1e100, 1e150
# Masses further apart leave too few digits to a difference of their powers.
_APART = 1e3


def js_kernel(X: ArrayLike, Y: ArrayLike | None = None) -> Array:
    """Jensen-Shannon kernel k(p, r) = ln 2 - JS(p, r) between distributions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_cells)
        Rows are distributions: nonnegative, of sum one.
    Y : {array-like, sparse matrix} of shape (n_y, n_cells), default=None
        None means X.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Nats, between 0 (no common cell) and ln 2 (equal); a float for two vectors.
        Positive semi-definite.

    Raises
    ------
    ValueError
        If a row is no distribution; names the row.

    Notes
    -----
    Entries are exact to some 1e-15 of ln 2, also where the square root of the
    divergence would be that of a negative number.

    References
    ----------
    .. [1] Martins, Smith, Xing, Aguiar, Figueiredo, Nonextensive information theoretic
       kernels on measures, JMLR 10 (2009).
    .. [2] Bicego et al., Combining information theoretic kernels with generative
       embeddings for classification, Neurocomputing 101 (2013), section 3.

    Examples
    --------
    >>> js_kernel([[0.5, 0.5], [1, 0], [0, 1]]).round(3)
    array([[0.693, 0.477, 0.477],
           [0.477, 0.693, 0.   ],
           [0.477, 0.   , 0.693]])
    """
    return jt_kernel(X, Y, q=1.0)


def jt_kernel(X: ArrayLike, Y: ArrayLike | None = None, q: float = 1.0) -> Array:
    """Jensen-Tsallis kernel k_q(p, r) = ln_q 2 - T_q(p, r) between distributions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_cells)
        Rows are distributions: nonnegative, of sum one.
    Y : {array-like, sparse matrix} of shape (n_y, n_cells), default=None
        None means X.
    q : float in [0, 2], default=1.0
        Order. 0 counts common cells, 1 is the Jensen-Shannon kernel, 2 is half the
        linear kernel.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Between 0 (no common cell) and half the sum of both Tsallis norms; a float for
        two vectors. Positive semi-definite.

    Raises
    ------
    ValueError
        If a row is no distribution (names the row), or if q is out of range: orders
        above 2 give Gram matrices with negative eigenvalues.

    Notes
    -----
    The orders 0.5 and 1.5 take square roots only, and the order 2 one product of
    matrices; others take powers and some half as long again.

    References
    ----------
    .. [1] Martins et al., JMLR 10 (2009), section 6.

    Examples
    --------
    >>> P = [[0.5, 0.5, 0], [0, 0.5, 0.5]]
    >>> jt_kernel(P, q=2.0).tolist()
    [[0.25, 0.125], [0.125, 0.25]]
    >>> jt_kernel(P, q=0.0).round().tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    q = _order(q)
    X, Y, single = _rows(X, Y)
    for rows, name in ((X, "X"), (Y, "Y")):
        total = _masses(rows, name)
        off = np.abs(total - 1.0) > 1e-6
        if off.any():
            i = int(off.argmax())
            raise ValueError(
                f"row {i} of {name} sums to {total[i]:.8g}, not to 1; "
                'use sklearn.preprocessing.normalize(..., norm="l1"), or '
                "weighted_jt_kernel for measures"
            )
    return _shaped(_pair_sums(X, Y, q) * 0.5**q, single)


def weighted_jt_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    q: float = 1.0,
    version: str = "A",
) -> Array:
    """Weighted Jensen-Tsallis kernels between measures, which need not be normalised.

    With the masses u and v of two measures, their shares pi = (u, v) / (u + v) and the
    distributions p and r, version A is S_q(pi) - T_q^pi(p, r), and version B is that
    times (u + v)^q.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_cells)
        Rows are measures: nonnegative, of positive sum.
    Y : {array-like, sparse matrix} of shape (n_y, n_cells), default=None
        None means X.
    q : float in [0, 2], default=1.0
        Order.
    version : {"A", "B"}, default="A"
        A does not change if all measures are multiplied by one number; B is
        homogeneous of degree q.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Nonnegative, zero without a common cell; a float for two vectors. Positive
        semi-definite.

    Raises
    ------
    ValueError
        If a row is no measure or has a mass outside 1e-100 to 1e100, if the masses
        are 1e150 times apart, or if q or the version is out of range.

    Notes
    -----
    B is the sum over cells of f_q. A is B times (u + v)^(-q), which is the mean of
    e^(-tu) e^(-tv) over a Gamma law of t and so positive definite for every q > 0.
    Products of such kernels are positive definite; hence A is so for all q in [0, 2],
    of which [1]_ states the part [0, 1].

    Entries keep their digits however far apart two masses are. Pairs with masses more
    than a thousand times apart take some five times as long.

    References
    ----------
    .. [1] Martins et al., JMLR 10 (2009), section 6.
    .. [2] Bicego et al., Neurocomputing 101 (2013), section 3.

    Examples
    --------
    >>> M = [[1, 3, 0], [2, 2, 4]]
    >>> weighted_jt_kernel(M, q=2.0, version="B").tolist()
    [[20.0, 16.0], [16.0, 48.0]]
    >>> weighted_jt_kernel(M).round(3).tolist()
    [[0.693, 0.44], [0.44, 0.693]]
    """
    q, version = _order(q), check_choice(version, "version", ("A", "B"))
    X, Y, single = _rows(X, Y)
    u, v = (_masses(rows, name) for rows, name in ((X, "X"), (Y, "Y")))
    scale = max(u.max(), v.max())
    least = min(u.min(), v.min())
    if least < max(_LEAST, scale / _WIDEST) or scale > _MOST:
        raise ValueError(
            f"masses run from {least:.3g} to {scale:.3g}; they must be from {_LEAST:g} "
            f"to {_MOST:g}, and less than {_WIDEST:g} times apart: divide X and Y by "
            "one number, and leave out the rows that are next to nothing"
        )
    same = Y is X
    X = X / scale
    Y = X if same else Y / scale
    u, v = u / scale, v / scale
    K = _pair_sums(X, Y, q)
    if q < 2.0:
        apart = np.maximum.outer(u, v) > _APART * np.minimum.outer(u, v)
        K = _with_far_pairs(K, X, Y, apart, q)
    if version == "A":
        return _shaped(K / np.add.outer(u, v) ** q, single)
    return _shaped(K * scale**q, single)


def exponential_js_kernel(
    X: ArrayLike, Y: ArrayLike | None = None, t: float = 1.0
) -> Array:
    """Exponentiated Jensen-Shannon kernel exp(-t JS(p, r)) between distributions.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_cells)
        Rows are distributions: nonnegative, of sum one.
    Y : {array-like, sparse matrix} of shape (n_y, n_cells), default=None
        None means X.
    t : float >= 0, default=1.0
        Sharpness, the part of ``gamma`` in other kernels.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Between 2^(-t) and 1; a float for two vectors. Positive semi-definite, since JS
        is negative definite.

    Raises
    ------
    ValueError
        If a row is no distribution, or t is negative.

    References
    ----------
    .. [1] Martins et al., JMLR 10 (2009), section 6.

    Examples
    --------
    >>> exponential_js_kernel([[0.5, 0.5], [1, 0], [0, 1]], t=2.0).round(3)
    array([[1.  , 0.65, 0.65],
           [0.65, 1.  , 0.25],
           [0.65, 0.25, 1.  ]])
    """
    t = check_nonnegative(t, "t")
    divergence = np.clip(math.log(2.0) - js_kernel(X, Y), 0.0, None)
    return _shaped(np.exp(-t * divergence), np.ndim(divergence) == 0)


def _order(q: float) -> float:
    if q in _ORDERS:
        return float(q)
    raise ValueError(
        f"q={q!r} must be a number from 0 to 2: outside no kernel is positive definite"
    )


def _rows(X, Y):
    """Rows as dense or sparse arrays of one width, and whether they are two vectors."""
    single = np.ndim(X) == 1 and Y is not None and np.ndim(Y) == 1
    if single:
        X, Y = np.atleast_2d(X), np.atleast_2d(Y)
    same = Y is None or Y is X
    X, Y = check_pairwise_arrays(X, None if same else Y, accept_sparse="csr")
    thin = sparse.issparse(X) or sparse.issparse(Y)
    X, Y = (_float_rows(rows, thin) for rows in (X, Y))
    return X, X if same else Y, single


def _float_rows(rows, thin: bool):
    if thin:
        return sum_duplicates(sparse.csr_array(rows, dtype=np.float64))
    return np.ascontiguousarray(rows, dtype=np.float64)


def _shaped(K: Array, single: bool):
    return float(np.squeeze(K)) if single else K


def _masses(rows, name: str) -> Array:
    """Sums of the rows, which must be measures."""
    values = rows.data if sparse.issparse(rows) else rows
    if values.size and values.min() < 0:
        i = int(np.asarray((rows < 0).sum(axis=1)).ravel().argmax())
        raise ValueError(
            f"row {i} of {name} holds {rows[[i]].min()}: Negative values in data are "
            "no masses; kernels between measures need nonnegative rows"
        )
    total = np.asarray(rows.sum(axis=1)).ravel()
    if not (total > 0).all():
        raise ValueError(
            f"row {int((total <= 0).argmax())} of {name} is zero throughout: a measure "
            "needs mass; leave the row out"
        )
    return total


def _deformed_log(s, q: float, out=None, zeros: bool = True):
    """Factor of s in F_q(s) of :func:`_pair_sums`; finite where s is zero."""
    L = np.maximum(s, _SMALLEST, out=out) if zeros else s
    if abs(q - 1.0) == 0.5:
        L = np.sqrt(L, out=out)
        return L if q > 1.0 else np.reciprocal(L, out=out)
    L = np.log(L, out=out)
    if q == 1.0:
        return L
    power = np.expm1 if abs(q - 1.0) < _NEAR_ONE else np.exp
    return power(np.multiply(L, q - 1.0, out=L), out=L)


def _pair_sums(X, Y, q: float) -> Array:
    """Sum over the cells of f_q for every pair of rows.

    It is F_q(a + b) - F_q(a) - F_q(b), where F_q(s) is s log s for q = 1; else it is
    this, over q - 1, with F_q(s) = s^q, less s near 1: what is linear drops out, and is
    taken off where it would leave but few digits.
    """
    if q == 2.0:
        K = 2.0 * (X @ Y.T)
        return K.toarray() if sparse.issparse(K) else K
    K = _sparse_sums(X, Y, q) if sparse.issparse(X) else _dense_sums(X, Y, q)
    return np.maximum(K if q == 1.0 else K / (q - 1.0), 0.0)


def _with_far_pairs(K: Array, X, Y, apart, q: float) -> Array:
    """The sums, those of some pairs made anew from terms that are never negative."""
    if Y is X:
        apart = np.triu(apart)
    for i in np.flatnonzero(apart.any(axis=1)):
        own = X[[i]].toarray()[0] if sparse.issparse(X) else X[i]
        used, far = np.flatnonzero(own), np.flatnonzero(apart[i])
        others = Y[far][:, used]
        others = others.toarray() if sparse.issparse(others) else others
        K[i, far] = _terms(own[used], others, q).sum(axis=1)
    return _mirrored(K) if Y is X else K


def _terms(a: Array, b: Array, q: float) -> Array:
    """f_q of each a > 0 and b, however small their ratio.

    With s the larger and r the ratio of both, f_q is s^q times
    (1 + r) E(log(1 + r)) - r E(log r), where E(x) is expm1((q - 1) x) / (q - 1).
    """
    small, large = np.minimum(a, b), np.maximum(a, b)
    ratio = np.maximum(small / large, _SMALLEST)
    whole, part = np.log1p(ratio), np.log(ratio)
    if q != 1.0:
        whole, part = (np.expm1((q - 1.0) * x) / (q - 1.0) for x in (whole, part))
    found = large**q * ((1.0 + ratio) * whole - ratio * part)
    return np.where(small > 0, found, 0.0)


def _dense_sums(X: Array, Y: Array, q: float) -> Array:
    own_x, own_y = (np.vecdot(rows, _deformed_log(rows, q)) for rows in (X, Y))
    zeros = not (X.all() or Y.all())
    n_x, (n_y, d) = len(X), Y.shape
    K = np.zeros((n_x, n_y))
    width = min(n_y, max(1, _BLOCK // d))
    room = np.empty((2, width, d))
    for i in range(n_x):
        # the other half is mirrored below
        for j in range(i if Y is X else 0, n_y, width):
            other = Y[j : j + width]
            total, rest = room[:, : len(other)]
            np.add(X[i], other, out=total)
            logs = _deformed_log(total, q, rest, zeros)
            np.vecdot(total, logs, out=K[i, j : j + width])
    K -= own_x[:, None]
    K -= own_y
    return _mirrored(K) if Y is X else K


def _sparse_sums(X, Y, q: float) -> Array:
    """The same over common cells only: the others add nothing."""
    columns = sparse.csr_array(Y.T)
    own_x = X.data * _deformed_log(X.data, q)
    own_y = columns.data * _deformed_log(columns.data, q)
    (n_x, _), n_y = X.shape, Y.shape[0]
    K = np.zeros(n_x * n_y)
    row = np.repeat(np.arange(n_x), np.diff(X.indptr))
    start = columns.indptr[X.indices].astype(np.int64)
    if Y is X:
        # from the diagonal on; the other half is mirrored below
        start[np.argsort(X.indices, kind="stable")] = np.arange(X.nnz)
    common = columns.indptr[X.indices + 1] - start
    ends = np.concatenate([[0], np.cumsum(common)])
    first = 0
    while first < X.nnz:
        # whole entries of X, at least one
        last = int(np.searchsorted(ends, ends[first] + _PAIRS, side="right")) - 1
        last = max(last, first + 1)
        times = common[first:last]
        entry = np.repeat(np.arange(first, last), times)
        step = np.arange(len(entry)) - np.repeat(ends[first:last] - ends[first], times)
        other = start[entry] + step
        total = X.data[entry] + columns.data[other]
        value = total * _deformed_log(total, q) - own_x[entry] - own_y[other]
        base = row[first] * n_y
        stop = (row[last - 1] + 1) * n_y
        place = row[entry] * n_y + columns.indices[other] - base
        K[base:stop] += np.bincount(place, value, minlength=stop - base)
        first = last
    return _mirrored(K.reshape(n_x, n_y)) if Y is X else K.reshape(n_x, n_y)


def _mirrored(K: Array) -> Array:
    return np.triu(K) + np.triu(K, 1).T
