"""Generalised and improved iterative scaling, step by step, penalised or not.

Both raise a lower bound of the log-likelihood that falls apart into one equation for
each parameter: with O and E the observed and expected totals of a nonnegative feature
and f(x) the sum of all features of an instance, the change delta of a parameter v
solves

    O - sum_i e_i exp(delta f(x_i)) - penalty (v + delta) = 0,    sum_i e_i = E.

Generalised scaling puts the largest f in the place of every f(x_i), which gives delta
in closed form; improved scaling solves the equation as it stands.
"""

import numpy as np
from scipy import sparse
from scipy.special import wrightomega

from memdlib._types import Array, MatrixLike

# An observed or expected total below this share of all weight counts as this share: the
# parameter of a feature that a class never shows has no finite optimum.
_LEAST = 1e-12
_NEWTON_STEPS = 60


def feature_sums(Z: MatrixLike) -> tuple[Array, Array, Array]:
    """Sums f(x_i) of the features of the instances, and their range for each feature.

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Nonnegative.

    Returns
    -------
    rows : ndarray of shape (n,)
    smallest, largest : ndarray of shape (m,)
        Over the instances that show the feature; 1 where none does.
    """
    rows = np.asarray(Z.sum(axis=1), dtype=np.float64).ravel()
    instance, feature = Z.nonzero()
    smallest, largest = np.full(Z.shape[1], np.inf), np.zeros(Z.shape[1])
    np.minimum.at(smallest, feature, rows[instance])
    np.maximum.at(largest, feature, rows[instance])
    shown = largest > 0
    return rows, np.where(shown, smallest, 1.0), np.where(shown, largest, 1.0)


def constant_step(
    size: float | Array, observed: Array, expected: Array, value: Array, penalty: Array
) -> Array:
    """Change of the parameters where the features of all instances sum to ``size``.

    Parameters
    ----------
    size : float or ndarray of shape (m,)
        Sum of the features of an instance, or an upper bound of it: what is missing is
        a feature whose parameter stays zero. One for all equations, or one for each.
    observed, expected : ndarray of shape (K, m)
        Totals of the features, as shares of all weight.
    value : ndarray of shape (K, m)
        The parameters now.
    penalty : ndarray of shape (m,)
        Derivative of the penalty, divided by the parameter, as a share of all weight.

    Returns
    -------
    ndarray of shape (K, m)

    References
    ----------
    .. [1] Darroch, Ratcliff, Generalized iterative scaling for log-linear models,
       Annals of Mathematical Statistics 43 (1972).
    .. [2] Curran, Clark, Investigating GIS and smoothing for maximum entropy taggers,
       EACL 2003, on the correction feature that is not needed.
    .. [3] Chen, Rosenfeld, A Gaussian prior for smoothing maximum entropy models, 1999.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> constant_step(1.0, 0.4 * one, 0.2 * one, one, np.zeros(1)).round(6).tolist()
    [[0.693147]]
    """
    log_expected = np.log(np.maximum(expected, _LEAST))
    plain = (np.log(np.maximum(observed, _LEAST)) - log_expected) / size
    penalised = np.broadcast_to(penalty > 0, observed.shape)
    r = np.where(penalised, penalty, 1.0)
    # O - E exp(size delta) - r (v + delta) = 0 by Wright's omega, which cannot overflow
    without = observed / r - value
    log_ratio = np.log(size / r)
    omega = wrightomega(log_expected + log_ratio + size * without)
    # omega + log(omega) is its argument: where the penalty is slight, omega and the
    # argument are huge, and their difference would have no digits left
    slight = np.log(np.maximum(omega, 1.0)) - log_ratio - log_expected
    step = np.where(omega > 1.0, slight / size, without - omega / size)
    return np.where(penalised, step, plain)


def varying_step(
    Z: MatrixLike,
    sizes: tuple[Array, Array, Array],
    share: Array,
    observed: Array,
    expected: Array,
    value: Array,
    penalty: Array,
) -> Array:
    """Change of the parameters where the features of the instances sum to f(x_i).

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Nonnegative features.
    sizes : tuple of ndarray
        :func:`feature_sums` of ``Z``.
    share : ndarray of shape (n, K)
        Weight of each instance, as a share of all, times its class probabilities.
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
    # every f(x_i) lies between two constants, and so does the solution
    ends = [constant_step(f, observed, expected, value, penalty) for f in sizes[1:]]
    low, high = np.minimum(*ends), np.maximum(*ends)
    target = np.where(penalty > 0, observed, np.maximum(observed, _LEAST))
    Z, delta = sparse.coo_array(Z), high
    for _ in range(_NEWTON_STEPS):
        log_total, size = _log_sums(Z, sizes, share, delta)
        left = target - penalty * (value + delta)
        total = np.exp(np.clip(log_total, -600.0, 600.0))
        # Both sums and their logarithms are convex: from the right Newton's method
        # stays there in either form, and the longer step is the better one. The sums
        # alone may be too large to be moved from, or to be written down.
        step = (left - total) / (total * size + penalty)
        positive = np.where(left > 0, left, 1.0)
        relative = (np.log(positive) - log_total) / (size + penalty / positive)
        step = np.where(left > 0, np.minimum(step, relative), step)
        moved = np.clip(delta + step, low, high)
        done = np.abs(moved - delta) <= 1e-13 * (1.0 + np.abs(delta))
        delta = moved
        if done.all():
            break
    return delta


def _log_sums(Z, sizes, share, delta):
    """Log sum_i e_i exp(delta f(x_i)) and its derivative by delta, each (K, m)."""
    found = np.empty((2, *delta.shape))
    row, feature = Z.coords
    rows = sizes[0][row]
    top = np.maximum(delta * sizes[1], delta * sizes[2])
    for k, (change, shift) in enumerate(zip(delta, top, strict=True)):
        power = change[feature] * rows - shift[feature]
        grown = share[row, k] * Z.data * np.exp(power)
        for order, weight in enumerate((grown, grown * rows)):
            found[order, k] = np.bincount(feature, weight, minlength=Z.shape[1])
    total = np.maximum(found[0], 1e-300)
    return np.log(total) + top, np.maximum(found[1] / total, 1e-300)
