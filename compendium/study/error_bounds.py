"""Rankings by a bound of the error, in which a pair of classes counts until told apart.

JS_GM adds up J over pairs of classes, without bound: one class that is far from all
others fills the ranking with features that tell it apart. The error of Bayes' rule does
not. With features that are independent in every class it is at most

    sum_{k<l} sqrt(pi_k pi_l) exp(- sum_{s in S} B_kl(s)),

where B_kl(s) = -log int sqrt(p_k p_l) is the Bhattacharyya distance of two classes in
feature s (Kailath, 1967). Each step chooses the feature with which it falls most.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from compendium.study.greedy_js import FittedMarginals, fit_marginals
from memdlib.generative.pooled import PooledMoments, WhitenedMeans

Array = NDArray[np.float64]


def error_bound_order(
    distances: Array, prior: Array, size: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice of the features with which a bound of the error falls most.

    Parameters
    ----------
    distances : ndarray of shape (P, d)
        Bhattacharyya distances of the P pairs of classes in each feature, nats; pairs
        in the order (0, 1), (0, 2), ...
    prior : ndarray of shape (K,)
    size : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of int, shape (size,)
        Of equally good features the first.
    log_bounds : ndarray of shape (size,)
        Logarithm of the bound after each choice.

    Examples
    --------
    Two features tell the same pair apart, the third another one.

    >>> B = np.array([[9.0, 8.0, 0.0], [0.0, 0.0, 1.0], [9.0, 8.0, 0.0]])
    >>> error_bound_order(B, np.full(3, 1 / 3), 2)[0].tolist()
    [0, 2]
    """
    first, second = np.triu_indices(len(prior), 1)
    left = 0.5 * np.log(prior[first] * prior[second])
    free, order, log_bounds = np.ones(distances.shape[1], dtype=bool), [], []
    for _ in range(size):
        bound = np.where(free, logsumexp(left[:, None] - distances, axis=0), np.inf)
        s = int(bound.argmin())
        free[s] = False
        left = left - distances[:, s]
        order.append(s)
        log_bounds.append(bound[s])
    return np.array(order), np.array(log_bounds)


def bhattacharyya_distances(mean: Array, variance: Array) -> Array:
    """Bhattacharyya distances of all pairs of classes in every normal feature.

    Parameters
    ----------
    mean, variance : ndarray of shape (K, d)

    Returns
    -------
    ndarray of shape (K (K - 1) / 2, d)
        Nats, pairs in the order (0, 1), (0, 2), ...

    Examples
    --------
    >>> mean = np.array([[1.0], [5.0]])
    >>> bhattacharyya_distances(mean, np.ones((2, 1))).tolist()
    [[2.0]]
    """
    first, second = np.triu_indices(len(mean), 1)
    a, b = variance[first], variance[second]
    ratio = np.sqrt(a / b)
    apart = (mean[first] - mean[second]) ** 2 / (a + b)
    return 0.25 * apart + 0.5 * np.log(0.5 * (ratio + 1.0 / ratio))


def balanced_order(X: Array, codes, size: int) -> NDArray[np.intp]:
    """The features with which the bound falls most, of normal class densities."""
    fitted = FittedMarginals.of(fit_marginals(X, codes, "normal"))
    distances = bhattacharyya_distances(fitted.mean, fitted.variance)
    return error_bound_order(distances, fitted.prior, size)[0]


def whitened_order(X: Array, codes, size: int) -> NDArray[np.intp]:
    """The same of the coordinates of one covariance for all classes, next to them."""
    moments = PooledMoments.of(X, codes, int(codes.max()) + 1, np.ones(len(codes)))
    whitened = WhitenedMeans.of(moments)
    first, second = np.triu_indices(len(whitened.prior), 1)
    distances = (whitened.means[first] - whitened.means[second]) ** 2 / 8.0
    return error_bound_order(distances, whitened.prior, size)[0]
