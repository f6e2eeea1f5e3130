"""Divergences between discrete distributions, in nats.

The last axis of every argument runs over the cells. The formulas are chosen so that
nearly equal distributions keep their digits: no function here subtracts one entropy
from another.
"""

import numpy as np
from scipy.special import entr, xlog1py

from memdlib.validation import POSITIVE, check_domain, check_real, check_real_array

__all__ = [
    "jeffreys",
    "jensen_shannon",
    "jensen_tsallis",
    "js_gm",
    "kl",
    "log_ratio",
    "x_minus_log1p",
]

# sum_j s^(2j) / (2j + 3) to double precision for |s| <= 1/3
_ATANH_TAIL = 1.0 / (2.0 * np.arange(18)[::-1] + 3.0)


def x_minus_log1p(x):
    """Return ``x - log(1 + x)`` without cancellation at small ``x``.

    Parameters
    ----------
    x : array_like
        Values at or above -1.

    Returns
    -------
    ndarray
        With s = x / (2 + x) the sum x s - 2 s^3 (1/3 + s^2/5 + s^4/7 + ...), since
        log(1 + x) = 2 artanh(s) and x = 2 s + x s.

    Examples
    --------
    >>> print(f"{x_minus_log1p(1e-9):.6g}")
    5e-19
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.abs(x) <= 0.5
    t = np.where(small, x, 0.0)
    s = t / (2.0 + t)
    near = t * s - 2.0 * s**3 * np.polyval(_ATANH_TAIL, s * s)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(np.isposinf(x), np.inf, x - np.log1p(x))
    return np.where(small, near, far)


def log_ratio(p, q):
    """Return ``log(p / q)`` of nonnegative numbers, exact to rounding near p = q.

    Parameters
    ----------
    p, q : array_like

    Returns
    -------
    ndarray
        ``inf`` where only q is zero, ``-inf`` where only p is zero, and 0 where both
        are (the limit that every divergence below needs).

    Examples
    --------
    >>> float(log_ratio(1.0, 1.0 - 2**-53))
    1.1102230246251565e-16
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    total, difference = p + q, p - q
    near = np.abs(difference) <= 0.5 * total
    with np.errstate(all="ignore"):
        # log(p/q) = 2 artanh((p - q)/(p + q)), where the difference is exact (Sterbenz)
        small = 2.0 * np.arctanh(np.where(near & (total > 0), difference / total, 0.0))
        # one logarithm has more digits than two, where the quotient is finite
        ratio = np.log(np.maximum(p, q) / np.minimum(p, q))
        large = np.where(ratio < np.inf, ratio, np.abs(np.log(p) - np.log(q)))
    return np.where(near, small, np.copysign(large, difference))


def kl_terms(p, q, q_minus_p):
    """Terms q - p + p log(p / q) of a divergence, none of them negative.

    Parameters
    ----------
    p, q : array_like
        Nonnegative numbers.
    q_minus_p : array_like
        Their difference, as exactly as the caller knows it.

    Returns
    -------
    ndarray
        ``inf`` where only q is zero, and 0 where both are.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = q_minus_p / p
        near = p * x_minus_log1p(np.where(np.abs(t) <= 0.5, t, 0.0))
        far = q_minus_p + p * log_ratio(p, q)
    return np.where(p == 0, q, np.where(np.abs(t) <= 0.5, near, far))


def itakura_saito(p, q, p_minus_q=None):
    """Itakura-Saito divergence p / q - 1 - log(p / q) of positive numbers.

    Parameters
    ----------
    p, q : array_like
    p_minus_q : array_like, default=None
        Their difference, if the caller knows it more exactly than by subtraction.

    Returns
    -------
    ndarray
        The KL divergence, in nats, of exponential densities with the means p and q, or
        twice that of centred normal densities with these variances.
    """
    p = np.asarray(p, dtype=np.float64)
    q = np.asarray(q, dtype=np.float64)
    t = (p - q if p_minus_q is None else p_minus_q) / q
    near = np.abs(t) <= 0.5
    close = x_minus_log1p(np.where(near, t, 0.0))
    return np.where(near, close, t - log_ratio(p, q))


def within_entropy(js, weights):
    """Jensen-Shannon divergences (...) without rounding beyond 0 and H(weights)."""
    *smaller, largest = np.sort(weights)
    # a largest weight that rounds to one has an entropy nevertheless
    entropy = entr(smaller).sum() - xlog1py(largest, -np.sum(smaller))
    return np.clip(js, 0.0, entropy)


def kl(p, q):
    """Kullback-Leibler divergence KL(p || q) = sum p log(p / q).

    Parameters
    ----------
    p, q : array_like of shape (..., n_cells)
        Probabilities, of sum one along the last axis. The leading axes broadcast.

    Returns
    -------
    ndarray of shape (...)
        Nats; ``inf`` where p is not absolutely continuous with respect to q.

    References
    ----------
    .. [1] Dukkipati et al., Generative maximum entropy learning for multiclass
       classification, ICDM 2013, section II.

    Examples
    --------
    >>> round(float(kl([0.5, 0.5], [0.25, 0.75])), 6)
    0.143841
    """
    p, q = _pair(p, q)
    return kl_terms(p, q, q - p).sum(axis=-1)


def jeffreys(p, q):
    """Jeffreys divergence J(p, q) = KL(p || q) + KL(q || p) = sum (p - q) log(p / q).

    Parameters
    ----------
    p, q : array_like of shape (..., n_cells)
        As in :func:`kl`.

    Returns
    -------
    ndarray of shape (...)
        Nats; ``inf`` where one distribution has a cell that the other lacks.

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 5.

    Examples
    --------
    >>> round(float(jeffreys([0.5, 0.5], [0.25, 0.75])), 6)
    0.274653
    """
    p, q = _pair(p, q)
    terms = (p - q) * log_ratio(p, q)
    return terms.sum(axis=-1)


def jensen_shannon(P, weights=None):
    """Weighted Jensen-Shannon divergence of K distributions.

    JS(p_1..p_K) = sum_k w_k KL(p_k || sum_j w_j p_j), the mutual information of the
    class and the cell.

    Parameters
    ----------
    P : array_like of shape (..., K, n_cells)
        K distributions on the same cells.
    weights : array_like of shape (K,), default=None
        Class weights that sum to one; None means 1/K each.

    Returns
    -------
    ndarray of shape (...)
        Nats, between 0 and the entropy of the weights, also after rounding.

    References
    ----------
    .. [1] Lin, Divergence measures based on the Shannon entropy, IEEE Transactions
       on Information Theory 37 (1991), eq. 5.1.
    .. [2] Dukkipati et al., ICDM 2013, eq. 6 and 22.

    Examples
    --------
    >>> round(float(jensen_shannon([[1, 0], [0, 1]], [0.25, 0.75])), 6)
    0.562335
    """
    P, w = _mixture(P, weights)
    # mixture - p_k from differences to p_1, so that near-equality keeps its digits
    offset = P - P[..., :1, :]
    deviation = _mean(offset, w) - offset
    mixture = _mean(P, w)
    # a mixture that underflows has nothing to add
    terms = np.where(mixture > 0, kl_terms(P, mixture, deviation), 0.0)
    return within_entropy(np.einsum("k,...kc->...", w, terms), w)


def jensen_tsallis(P, q, weights=None):
    """Jensen-Tsallis q-difference of K distributions.

    T_q(p_1..p_K) = S_q(sum_k w_k p_k) - sum_k w_k^q S_q(p_k), with the Tsallis entropy
    S_q(p) = (1 - sum p^q) / (q - 1).

    Parameters
    ----------
    P, weights
        As in :func:`jensen_shannon`.
    q : float
        Order, above zero; 1 gives the Jensen-Shannon divergence.

    Returns
    -------
    ndarray of shape (...)
        Nats for q = 1. Equal distributions give zero for q = 1 only. At most the
        Tsallis entropy S_q of the weights, and not negative for q >= 1.

    References
    ----------
    .. [1] Martins, Smith, Xing, Aguiar, Figueiredo, Nonextensive information theoretic
       kernels on measures, JMLR 10 (2009), eq. 21.

    Examples
    --------
    >>> float(jensen_tsallis([[1, 0], [0, 1]], q=2))
    0.5
    """
    q = check_real(q, "q", POSITIVE)
    if q == 1:
        return jensen_shannon(P, weights)
    P, w = _mixture(P, weights)
    mixture = _mean(P, w)
    occupied = (P > 0) & (mixture > 0)
    p = np.where(occupied, P, 1.0)
    m = np.where(occupied, mixture, 1.0)
    log_w = np.log(w)
    # S_q(weights) less the conditional entropy of the class given the cell
    conditional = m**q * _tsallis_terms(log_w[:, None] + log_ratio(p, m), q)
    conditional = np.where(occupied, conditional, 0.0).sum(axis=(-2, -1))
    of_weights = _tsallis_terms(log_w, q).sum()
    smallest = 0.0 if q > 1 else -np.inf
    return np.clip(of_weights - conditional, smallest, of_weights)


def _tsallis_terms(log_x, q):
    """Terms (x - x^q) / (q - 1) of the Tsallis entropy, given log x <= 0."""
    log_ratio = (q - 1.0) * log_x
    near = np.abs(log_ratio) <= 1.0
    close = -np.exp(log_x) * np.expm1(np.where(near, log_ratio, 0.0))
    # apart, x^(q - 1) alone may overflow
    far = np.exp(log_x) - np.exp(q * log_x)
    return np.where(near, close, far) / (q - 1.0)


def js_gm(P, weights=None):
    """Jensen-Shannon divergence with the geometric mean in place of the mixture.

    JS_GM(p_1..p_K) = sum_k w_k KL(p_k || prod_j p_j^{w_j}), the geometric mean left
    unnormalised, = sum_{k<j} w_k w_j J(p_k, p_j) = sum of Cov_w(log p, p) over cells.

    Parameters
    ----------
    P, weights
        As in :func:`jensen_shannon`.

    Returns
    -------
    ndarray of shape (...)
        Nats; ``inf`` where one class has a cell that another lacks.

    References
    ----------
    .. [1] Dukkipati et al., ICDM 2013, eq. 23 and 24.

    Examples
    --------
    >>> P = [[0.5, 0.5], [0.25, 0.75]]
    >>> bool(np.isclose(js_gm(P), jeffreys(P[0], P[1]) / 4))
    True
    """
    P, w = _mixture(P, weights)
    offset = P - P[..., :1, :]
    # cells that one class has and another lacks
    present = (P > 0).any(axis=-2)
    absent = (P == 0).any(axis=-2)
    infinite = (present & absent).any(axis=-1)
    ratio = log_ratio(P, P[..., :1, :])
    ratio = np.where(np.isfinite(ratio), ratio, 0.0)
    centred = offset - _mean(offset, w)
    covariance = np.einsum("k,...kc,...kc->...", w, ratio, centred)
    return np.where(infinite, np.inf, np.maximum(covariance, 0.0))


def _mean(P, w):
    """Weighted mean (..., 1, n_cells) over the members of P (..., K, n_cells)."""
    mean = np.einsum("k,...kc->...c", w, P)
    return mean[..., None, :]


def _check_distribution(p, name):
    """Return probabilities (..., n_cells) as float64; raise ValueError otherwise."""
    p = check_real_array(p, name)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"{name} needs at least one cell; got shape {p.shape}")
    valid = np.isfinite(p) & (p >= 0)
    check_domain(valid, p, name, "a probability is finite and nonnegative")
    total = p.sum(axis=-1)
    off = np.abs(total - 1.0) > 1e-6
    if off.any():
        raise ValueError(
            f"{name} sums to {total[off].flat[0]:.8g} along its last axis, not to 1; "
            f"divide by {name}.sum(axis=-1, keepdims=True)"
        )
    return p


def _pair(p, q):
    """Check two distributions, or stacks of them, to be on the same cells."""
    p = _check_distribution(p, "p")
    q = _check_distribution(q, "q")
    if p.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"p of shape {p.shape} and q of shape {q.shape} have different cells"
        )
    return p, q


def _mixture(P, weights):
    """Check K distributions and their weights; drop those of weight zero.

    Returns them as (..., K', n_cells) and (K',), the heaviest first.
    """
    P = _check_distribution(P, "P")
    if P.ndim < 2:
        raise ValueError(f"P needs shape (..., K, n_cells); got {P.shape}")
    n_classes = P.shape[-2]
    if weights is None:
        return P, np.full(n_classes, 1.0 / n_classes)
    w = _check_distribution(weights, "weights")
    if w.shape != (n_classes,):
        raise ValueError(f"weights has shape {w.shape}; P holds {n_classes} members")
    # differences to the first member keep the digits of small weights if it is heaviest
    order = np.argsort(-w, kind="stable")
    order = order[: np.count_nonzero(w)]
    return P[..., order, :], w[order] / w.sum()
