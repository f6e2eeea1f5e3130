"""Steps of generalised and improved iterative scaling, with or without a penalty.

Both maximise a lower bound on the log-likelihood that separates into one equation for
each parameter: with O and E the observed and expected totals of a nonnegative feature
and f(x) the sum of all features of an instance, the change delta of a parameter v
solves

    O - sum_i e_i exp(delta f(x_i)) - penalty (v + delta) = 0,    sum_i e_i = E.

Generalised scaling replaces every f(x_i) by the largest, which gives delta in closed
form; improved scaling solves the equation itself.
"""

import numpy as np
from scipy import sparse
from scipy.special import wrightomega

# Observed or expected totals below this fraction of the total weight are raised to it:
# the parameter of a feature that a class never shows has no finite optimum.
_SMALLEST_TOTAL = 1e-12
_NEWTON_STEPS = 60
# Range of logarithms whose exponentials neither overflow nor underflow.
_LARGEST_LOG = 600.0
# Floor of sums by which is divided, and whose logarithm is taken.
_TINY = 1e-300


def feature_sums(Z):
    """Sum f(x_i) of the features of each instance, and its range for each feature.

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Nonnegative.

    Returns
    -------
    rows : ndarray of shape (n,)
    smallest, largest : ndarray of shape (m,)
        Over the instances in which the feature is not zero; 1 if there are none.
    """
    rows = np.asarray(Z.sum(axis=1), dtype=np.float64).ravel()
    instance, feature = Z.nonzero()
    smallest = np.full(Z.shape[1], np.inf)
    largest = np.zeros(Z.shape[1])
    np.minimum.at(smallest, feature, rows[instance])
    np.maximum.at(largest, feature, rows[instance])
    absent = largest == 0
    smallest[absent] = 1.0
    largest[absent] = 1.0
    return rows, smallest, largest


def constant_step(size, observed, expected, value, penalty):
    """Change of the parameters if the features of every instance sum to ``size``.

    Parameters
    ----------
    size : float or ndarray of shape (m,)
        Sum of the features of an instance, or an upper bound on it: the difference is
        a further feature whose parameter stays zero. One for all equations, or one for
        each feature.
    observed, expected : ndarray of shape (K, m)
        Totals of the features, as fractions of the total weight.
    value : ndarray of shape (K, m)
        Current parameters.
    penalty : ndarray of shape (m,)
        Derivative of the penalty divided by the parameter, as a fraction of the total
        weight.

    Returns
    -------
    ndarray of shape (K, m)

    References
    ----------
    .. [1] Darroch, Ratcliff, Generalized iterative scaling for log-linear models,
       Annals of Mathematical Statistics 43 (1972).
    .. [2] Curran, Clark, Investigating GIS and smoothing for maximum entropy taggers,
       EACL 2003, on why no correction feature is needed.
    .. [3] Chen, Rosenfeld, A Gaussian prior for smoothing maximum entropy models, 1999.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> constant_step(1.0, 0.4 * one, 0.2 * one, one, np.zeros(1)).round(6).tolist()
    [[0.693147]]
    """
    log_expected = np.log(np.maximum(expected, _SMALLEST_TOTAL))
    log_observed = np.log(np.maximum(observed, _SMALLEST_TOTAL))
    unpenalised_step = (log_observed - log_expected) / size
    penalised = penalty > 0
    r = np.where(penalised, penalty, 1.0)
    # O - E exp(size delta) - r (v + delta) = 0 is solved by Wright's omega function,
    # which cannot overflow: delta = limit - omega / size, where limit solves it for
    # E = 0.
    limit = observed / r - value
    log_ratio = np.log(size / r)
    omega = wrightomega(log_expected + log_ratio + size * limit)
    # omega + log(omega) equals its argument: for a small penalty omega and the argument
    # are huge, and their difference would have no digits left.
    log_omega = np.log(np.maximum(omega, 1.0))
    step_for_large_omega = (log_omega - log_ratio - log_expected) / size
    step = np.where(omega > 1.0, step_for_large_omega, limit - omega / size)
    return np.where(penalised, step, unpenalised_step)


def varying_step(
    Z,
    sizes,
    share,
    observed,
    expected,
    value,
    penalty,
):
    """Change of the parameters if the features of the instances sum to f(x_i).

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Nonnegative features.
    sizes : tuple of ndarray
        :func:`feature_sums` of ``Z``.
    share : ndarray of shape (n, K)
        Weight of each instance, as a fraction of the total, times its class
        probabilities.
    observed, expected, value, penalty
        As in :func:`constant_step`.

    Returns
    -------
    ndarray of shape (K, m)

    References
    ----------
    .. [1] Della Pietra, Della Pietra, Lafferty, Inducing features of random fields,
       IEEE Transactions on Pattern Analysis and Machine Intelligence 19 (1997).

    Examples
    --------
    >>> Z, share = np.ones((2, 1)), np.full((2, 1), 0.1)
    >>> equations = np.array([[[0.4]], [[0.2]], [[0.0]], [[0.0]]])
    >>> varying_step(Z, feature_sums(Z), share, *equations).round(6).tolist()
    [[0.693147]]
    """
    # The solution lies between those for the smallest and the largest f(x_i).
    _, smallest, largest = sizes
    for_smallest = constant_step(smallest, observed, expected, value, penalty)
    for_largest = constant_step(largest, observed, expected, value, penalty)
    low = np.minimum(for_smallest, for_largest)
    high = np.maximum(for_smallest, for_largest)
    target = np.where(penalty > 0, observed, np.maximum(observed, _SMALLEST_TOTAL))
    Z = sparse.coo_array(Z)
    delta = high
    for _ in range(_NEWTON_STEPS):
        log_total, slope = _log_totals(Z, sizes, share, delta)
        allowed = target - penalty * (value + delta)
        step = _newton_step(log_total, slope, allowed, penalty)
        moved = np.clip(delta + step, low, high)
        converged = np.abs(moved - delta) <= 1e-13 * (1.0 + np.abs(delta))
        delta = moved
        if converged.all():
            break
    return delta


def _newton_step(log_total, slope, allowed, penalty):
    """Newton's step towards total(delta) = allowed(delta), for arrays (K, m).

    ``slope`` is the derivative of ``log_total``; that of ``allowed`` is -``penalty``.
    """
    total = np.exp(np.clip(log_total, -_LARGEST_LOG, _LARGEST_LOG))
    step = (allowed - total) / (total * slope + penalty)
    # Both the total and its logarithm are convex: from the right, Newton's method stays
    # there in either form, and the longer step is the better one. The total alone may
    # be too large for a step to move it, or to be represented.
    positive = np.where(allowed > 0, allowed, 1.0)
    log_step = (np.log(positive) - log_total) / (slope + penalty / positive)
    return np.where(allowed > 0, np.minimum(step, log_step), step)


def _log_totals(Z, sizes, share, delta):
    """Log sum_i e_i exp(delta f(x_i)) and its derivative in delta, each (K, m)."""
    row_sums, smallest, largest = sizes
    row, feature = Z.coords
    sums = row_sums[row]
    n_features = Z.shape[1]
    # The largest exponent of each parameter, subtracted against overflow.
    shift = np.maximum(delta * smallest, delta * largest)
    total = np.empty_like(delta)
    moment = np.empty_like(delta)
    for k in range(len(delta)):
        exponent = delta[k, feature] * sums
        exponent -= shift[k, feature]
        weight = share[row, k] * Z.data
        term = weight * np.exp(exponent)
        total[k] = np.bincount(feature, term, minlength=n_features)
        moment[k] = np.bincount(feature, term * sums, minlength=n_features)
    total = np.maximum(total, _TINY)
    return np.log(total) + shift, np.maximum(moment / total, _TINY)
