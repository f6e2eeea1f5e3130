"""Information-theoretic kernels between measures, for rows of nonnegative numbers.

All of them are sums over cells of one function of two numbers,

    f_q(a, b) = ((a + b)^q - a^q - b^q) / (q - 1),    f_1 the limit,

which is zero where either is zero and has a feature map,

    f_q(a, b) = q / Gamma(2 - q) int_0^inf (1 - e^(-ta)) (1 - e^(-tb)) t^(-q-1) dt

for 0 < q < 2: hence every Gram matrix is positive semi-definite. The functions follow
scikit-learn's pairwise conventions; two vectors give one number. The order q = 2 gives
half the linear kernel, :func:`sklearn.metrics.pairwise.linear_kernel`.

Rounding leaves an absolute error of about 1e-15 times the larger of k(x, x) and
k(y, y): a kernel of measures whose common cells all differ by a factor beyond 1e15 may
be zero. Cells below 1e-307 count as zero for orders between 0 and 1.
"""

import math
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils.validation import check_non_negative

from memdlib.validation import (
    NONNEGATIVE,
    Interval,
    check_choice,
    check_real,
    sum_duplicates,
)

__all__ = ["exponential_js_kernel", "js_kernel", "jt_kernel", "weighted_jt_kernel"]


# Numbers in a block: two blocks stay in the cache of a processor core.
_BLOCK = 1 << 15
_ORDERS = Interval(Real, 0, 2, closed="both")
_SMALLEST = np.finfo(np.float64).tiny
# Orders nearer to 1 than this lose digits in powers alone.
_NEAR_ONE = 0.1


def js_kernel(X, Y=None):
    """Jensen-Shannon kernel k(p, r) = ln 2 - JS(p, r) between distributions [1]_.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_x, n_cells)
        Rows are distributions, nonnegative and of sum one; a ValueError names a row
        that is not.
    Y : {array-like, sparse matrix} of shape (n_y, n_cells), default=None
        None means X.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Nats, between 0 (no common cell) and ln 2 (equal); a float for two vectors.
        Positive semi-definite.

    References
    ----------
    .. [1] Martins, Smith, Xing, Aguiar, Figueiredo, Nonextensive information theoretic
       kernels on measures, JMLR 10 (2009).

    Examples
    --------
    >>> js_kernel([[0.5, 0.5], [1, 0], [0, 1]]).round(3)
    array([[0.693, 0.477, 0.477],
           [0.477, 0.693, 0.   ],
           [0.477, 0.   , 0.693]])
    """
    return jt_kernel(X, Y, q=1.0)


def jt_kernel(X, Y=None, *, q=1.0):
    """Jensen-Tsallis kernel k_q(p, r) = ln_q 2 - T_q(p, r) between distributions.

    Parameters
    ----------
    X, Y
        As for :func:`js_kernel`.
    q : float in [0, 2], default=1.0
        Order. 0 counts common cells, 1 is the Jensen-Shannon kernel, 2 is half the
        linear kernel; above 2 Gram matrices have negative eigenvalues.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Between 0 (no common cell) and half the sum of both Tsallis norms; a float for
        two vectors. Positive semi-definite.

    Examples
    --------
    >>> P = [[0.5, 0.5, 0], [0, 0.5, 0.5]]
    >>> jt_kernel(P, q=2.0).tolist()
    [[0.25, 0.125], [0.125, 0.25]]
    >>> jt_kernel(P, q=0.0).round().tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    q = _check_order(q)
    X, Y, single = _check_rows(X, Y)
    _check_distributions(X, "X")
    _check_distributions(Y, "Y")
    K = _pair_sums(X, Y, q) * 0.5**q
    return _matrix_or_float(K, single)


def weighted_jt_kernel(
    X,
    Y=None,
    *,
    q=1.0,
    version="A",
):
    """Weighted Jensen-Tsallis kernels between measures, which need not be normalised.

    With the masses u and v of two measures, the fractions pi = (u, v) / (u + v) and the
    distributions p and r, version A is S_q(pi) - T_q^pi(p, r), and version B is that
    times (u + v)^q.

    Parameters
    ----------
    X, Y
        As for :func:`js_kernel`, but rows are measures: nonnegative, of positive sum.
    q : float in [0, 2], default=1.0
        Order.
    version : {"A", "B"}, default="A"
        A does not change when all measures are multiplied by the same number; B is
        homogeneous of degree q.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Nonnegative, zero without a common cell; a float for two vectors. Positive
        semi-definite.

    Notes
    -----
    B is the sum over cells of f_q, and A is B times (u + v)^(-q), the mean of
    e^(-tu) e^(-tv) over a Gamma law of t: a product of kernels.

    Examples
    --------
    >>> M = [[1, 3, 0], [2, 2, 4]]
    >>> weighted_jt_kernel(M, q=2.0, version="B").tolist()
    [[20.0, 16.0], [16.0, 48.0]]
    >>> weighted_jt_kernel(M).round(3).tolist()
    [[0.693, 0.44], [0.44, 0.693]]
    """
    q = _check_order(q)
    check_choice(version, "version", ("A", "B"))
    X, Y, single = _check_rows(X, Y)
    u = _masses(X, "X")
    v = _masses(Y, "Y")
    K = _pair_sums(X, Y, q)
    if version == "A":
        K /= np.add.outer(u, v) ** q
    return _matrix_or_float(K, single)


def exponential_js_kernel(X, Y=None, *, t=1.0):
    """Exponentiated Jensen-Shannon kernel exp(-t JS(p, r)) between distributions.

    Parameters
    ----------
    X, Y
        As for :func:`js_kernel`.
    t : float >= 0, default=1.0
        Sharpness, which plays the part of ``gamma`` in other kernels.

    Returns
    -------
    ndarray of shape (n_x, n_y)
        Between 2^(-t) and 1; a float for two vectors. Positive semi-definite, since JS
        is negative definite.

    Examples
    --------
    >>> exponential_js_kernel([[0.5, 0.5], [1, 0], [0, 1]], t=2.0).round(3)
    array([[1.  , 0.65, 0.65],
           [0.65, 1.  , 0.25],
           [0.65, 0.25, 1.  ]])
    """
    t = check_real(t, "t", NONNEGATIVE)
    divergence = np.maximum(math.log(2.0) - js_kernel(X, Y), 0.0)
    kernel = np.exp(-t * divergence)
    return _matrix_or_float(kernel, single=kernel.ndim == 0)


def _check_order(q):
    """Return an order that has a kernel; raise ValueError otherwise."""
    if _ORDERS.is_satisfied_by(q):
        return float(q)
    raise ValueError(f"q={q!r} must be a number from 0 to 2, or there is no kernel")


def _check_rows(X, Y):
    """Rows as dense or CSR arrays of equal width, and whether they are two vectors.

    Without Y, or if it is X, both are the same object.
    """
    single = np.ndim(X) == 1 and Y is not None and np.ndim(Y) == 1
    if single:
        X = np.atleast_2d(X)
        Y = np.atleast_2d(Y)
    X, Y = check_pairwise_arrays(X, Y, accept_sparse="csr")
    same = Y is X
    any_sparse = sparse.issparse(X) or sparse.issparse(Y)
    kind = sparse.csr_array if any_sparse else np.ascontiguousarray
    X = sum_duplicates(kind(X, dtype=np.float64))
    if same:
        return X, X, single
    Y = sum_duplicates(kind(Y, dtype=np.float64))
    return X, Y, single


def _matrix_or_float(K, single):
    """The matrix K, or its only entry, of two vectors, as a float."""
    return float(np.squeeze(K)) if single else K


def _masses(rows, name):
    """Sums (n,) of rows (n, n_cells), checked to be measures of positive mass."""
    check_non_negative(rows, f"{name} of a kernel between measures")
    total = rows.sum(axis=1)
    if not (total > 0).all():
        raise ValueError(f"row {int((total <= 0).argmax())} of {name} has no mass")
    return total


def _check_distributions(rows, name):
    """Raise ValueError, naming the first row (n_cells,) whose sum is not one."""
    total = _masses(rows, name)
    off = np.abs(total - 1.0) > 1e-6
    if off.any():
        i = int(off.argmax())
        raise ValueError(
            f"row {i} of {name} sums to {total[i]:.8g}, not to 1; divide by that, "
            "or use weighted_jt_kernel"
        )


def _pair_sums(X, Y, q):
    """Sums (n_x, n_y) over the cells of f_q, for every pair of rows.

    They are sums of F(a + b) - F(a) - F(b), with F(s) = s log s for q = 1 and F(s) =
    s^q / (q - 1) otherwise. A linear term of F drops out: near q = 1 it is taken off
    beforehand, as F(s) = s (s^(q - 1) - 1) / (q - 1), which keeps the digits.
    """
    if q in (0.0, 2.0):
        # of order 0, the number of common cells
        factor = (X > 0, (Y > 0).T * 1.0) if q == 0.0 else (2.0 * X, Y.T)
        K = factor[0] @ factor[1]
        return K.toarray() if sparse.issparse(K) else K
    K = _sparse_sums(X, Y, q) if sparse.issparse(X) else _dense_sums(X, Y, q)
    if Y is X:
        K = np.triu(K) + np.triu(K, 1).T
    if q != 1.0:
        K /= q - 1.0
    return np.maximum(K, 0.0)


def _dense_sums(X, Y, q):
    """Sums for all pairs of dense rows; if Y is X, only at and above the diagonal."""
    n_x = len(X)
    n_y, d = Y.shape
    K = np.zeros((n_x, n_y))
    width = max(1, _BLOCK // d)
    zeros = max(X.min(), Y.min()) < _SMALLEST
    for i in range(n_x):
        first = i if Y is X else 0
        for start in range(first, n_y, width):
            block = slice(start, start + width)
            total = X[i] + Y[block]
            factor = _factor(total, q, zeros)
            K[i, block] = np.vecdot(total, factor)
    of_x = np.vecdot(X, _factor(X, q))
    of_y = np.vecdot(Y, _factor(Y, q))
    K -= of_x[:, None]
    K -= of_y
    return K


def _sparse_sums(X, Y, q):
    """Sums for all pairs of sparse rows over common cells: the others add nothing."""
    n_x = X.shape[0]
    n_y = Y.shape[0]
    columns = sparse.csc_array(Y)
    K = np.empty((n_x, n_y))
    for i in range(n_x):
        stored = slice(X.indptr[i], X.indptr[i + 1])
        common = columns[:, X.indices[stored]]
        n_common = np.diff(common.indptr)
        a = X.data[stored].repeat(n_common)
        b = common.data
        total = a + b
        terms = total * _factor(total, q)
        terms -= a * _factor(a, q)
        terms -= b * _factor(b, q)
        K[i] = np.bincount(common.indices, terms, minlength=n_y)
    return K


def _factor(s, q, zeros=True):
    """Factor F(s) / s of :func:`_pair_sums`, times q - 1 unless q = 1.

    It is finite where s is zero, if there may be zeros.
    """
    if zeros:
        s = np.maximum(s, _SMALLEST)
    # a root takes a fraction of the time of a power
    if q == 1.5:
        return np.sqrt(s)
    if q == 0.5:
        return 1.0 / np.sqrt(s)
    log_s = np.log(s)
    if q == 1.0:
        return log_s
    if abs(q - 1.0) < _NEAR_ONE:
        return np.expm1((q - 1.0) * log_s)
    return np.exp((q - 1.0) * log_s)
