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
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import wrightomega

Array = NDArray[np.float64]

# An observed or expected total below this share of all weight counts as this share: the
# parameter of a feature that a class never shows has no finite optimum.
_LEAST = 1e-12
_NEWTON_STEPS = 60


def constant_step(
    size: float, observed: Array, expected: Array, value: Array, penalty: Array
) -> Array:
    """Change of the parameters where the features of all instances sum to ``size``.

    Parameters
    ----------
    size : float
        Sum of the features of an instance, or an upper bound of it: what is missing is
        a feature whose parameter stays zero.
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
    plain = np.log(np.maximum(observed, _LEAST)) - log_expected
    penalised = np.broadcast_to(penalty > 0, observed.shape)
    r = np.where(penalised, penalty, 1.0)
    # O - E exp(size delta) - r (v + delta) = 0 by Wright's omega, which cannot overflow
    without = observed / r - value
    omega = wrightomega(log_expected + np.log(size / r) + size * without)
    return np.where(penalised, without - omega / size, plain / size)


def varying_step(
    Z, share: Array, observed: Array, expected: Array, value: Array, penalty: Array
) -> Array:
    """Change of the parameters where the features of the instances sum to f(x_i).

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Nonnegative features.
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
    >>> found = varying_step(Z, share, *np.array([[[0.4]], [[0.2]], [[0.0]]]), [0.0])
    >>> found.round(6).tolist()
    [[0.693147]]
    """
    penalty = np.asarray(penalty, dtype=np.float64)
    size = np.asarray(Z.sum(axis=1)).ravel()
    used = size > 0
    Z, share, size = Z[used], share[used], size[used]
    # every f(x_i) lies between two constants, and so does the solution
    ends = [
        constant_step(bound, observed, expected, value, penalty)
        for bound in (size.min(), size.max())
    ]
    low, delta = np.minimum(*ends), np.maximum(*ends)
    target = np.maximum(observed, _LEAST)
    for _ in range(_NEWTON_STEPS):
        # from the right Newton's method comes down to the root of a concave function
        total, slope = _exponential_sums(Z, share, size, delta)
        lack = target - total - penalty * (value + delta)
        slope = slope + penalty
        step = lack / np.maximum(slope, 1e-300)
        moved = np.clip(delta + step, low, None)
        done = np.abs(moved - delta) <= 1e-13 * (1.0 + np.abs(delta))
        delta = moved
        if done.all():
            break
    return delta


def _exponential_sums(Z, share, size, delta) -> Array:
    """sum_i e_i exp(delta f(x_i)) and its derivative by delta, shape (2, K, m)."""
    found = np.empty((2, *delta.shape))
    if sparse.issparse(Z):
        entry = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
        sizes = size[entry]
    for k, change in enumerate(delta):
        if sparse.issparse(Z):
            grown = share[entry, k] * Z.data * np.exp(change[Z.indices] * sizes)
            for power, weight in enumerate((grown, grown * sizes)):
                found[power, k] = np.bincount(Z.indices, weight, minlength=Z.shape[1])
        else:
            weights = np.stack([share[:, k], share[:, k] * size])
            found[:, k] = weights @ (Z * np.exp(size[:, None] * change))
    return found
