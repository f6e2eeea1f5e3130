"""Greedy choice of features from class moments: what each step adds, at O(n d)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = Callable[[int], Array]

# A feature whose residual variance is this share of its variance depends on others.
_COLLINEAR = 1e-10


def greedy_gaussian(
    covariances: Columns, variance: Array, mean: Array, prior: Array, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy maximisation of JS_GM between joint class Gaussians.

    Parameters
    ----------
    covariances : callable
        Takes a feature s, returns column s of each class covariance, shape (K, d).
    variance, mean : ndarray of shape (K, d)
    prior : ndarray of shape (K,)
    k : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of shape (k,) or shorter
    gains : ndarray of the same shape
        Nats.

    Notes
    -----
    Let e_k be the residual of x after the regression of class k on the chosen features,
    T_k its second moments in class k and M_k those in the mixture of all classes. By
    the chain rule, adding t increases KL(p_j || p_k) by

        (log(T_k[t,t] / T_j[t,t]) + E_j e_k[t]^2 / T_k[t,t] - 1) / 2.

    In the sum over ordered pairs, of weight pi_j pi_k, the logarithms cancel and the
    rest is a sum over classes, not pairs: sum_k pi_k (M_k[t,t] / T_k[t,t] - 1) / 2.
    Choosing s eliminates it from both matrices with b = T_k[:,s] / T_k[s,s]:

        T_k <- T_k - b b^T T_k[s,s],
        M_k <- M_k - b M_k[s,:] - M_k[:,s] b^T + b b^T M_k[s,s].

    Only their diagonals are kept, and the columns of the features chosen.

    Examples
    --------
    >>> import numpy as np
    >>> S = np.array([[[1.0, 0.9], [0.9, 1.0]]] * 2)  # the second feature is noise
    >>> mean = np.array([[0.0, 0.0], [2.0, 0.0]])
    >>> order, gains = greedy_gaussian(
    ...     lambda s: S[:, s], np.ones((2, 2)), mean, np.full(2, 0.5), 2
    ... )
    >>> order.tolist(), gains.round(3).tolist()
    ([0, 1], [1.0, 4.263])
    """
    n_classes, d = variance.shape
    offset = mean - prior @ mean
    residual = variance.copy()
    mixture = prior @ (variance + offset**2) + offset**2
    free = np.ones(d, dtype=bool)
    order, gains = [], []
    # b, and M_k[:, s] - b M_k[s, s] / 2, of every step so far
    slope, lever = np.empty((2, k, n_classes, d))
    pivot = np.empty((k, n_classes))
    for step in range(k):
        free &= (residual > _COLLINEAR * variance).all(axis=0)
        if not free.any():
            break
        ratio = mixture / np.where(free, residual, 1.0) - 1.0
        gain = np.where(free, 0.5 * (prior @ ratio), -np.inf)
        s = int(gain.argmax())
        order.append(s)
        gains.append(max(gain[s], 0.0))
        free[s] = False
        past = slope[:step], lever[:step], pivot[:step]
        own = covariances(s)
        mixed = prior @ (own + offset * offset[:, [s]]) + offset * offset[:, [s]]
        own = own - np.einsum("rkd,rk,rk->kd", past[0], past[0][..., s], past[2])
        mixed = mixed - np.einsum("rkd,rk->kd", past[0], past[1][..., s])
        mixed -= np.einsum("rkd,rk->kd", past[1], past[0][..., s])
        pivot[step] = own[:, s]
        slope[step] = own / own[:, [s]]
        lever[step] = mixed - 0.5 * slope[step] * mixed[:, [s]]
        residual = residual - slope[step] ** 2 * own[:, [s]]
        mixture = mixture - 2.0 * slope[step] * lever[step]
    return np.array(order), np.array(gains)


def greedy_information(
    relevance: Array, correlations: Columns, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice by relevance less mean Gaussian mutual information.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        Nats.
    correlations : callable
        Takes a feature s, returns its correlations with all, shape (d,).
    k : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of shape (k,), or shorter
        A copy of a chosen feature, of infinite mutual information, is never chosen.
    scores : ndarray of the same shape
        Relevance less mean redundancy at each choice, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> greedy_information(np.array([2.0, 1.9, 1.0]), lambda s: R[s], 2)[0].tolist()
    [0, 2]
    """
    redundancy = np.zeros_like(relevance)
    free = np.ones(len(relevance), dtype=bool)
    order, scores = [], []
    while len(order) < k and free.any():
        mean = redundancy / max(len(order), 1)
        score = np.where(free, relevance - mean, -np.inf)
        s = int(score.argmax())
        order.append(s)
        scores.append(score[s])
        unexplained = 1.0 - correlations(s) ** 2
        free &= unexplained > _COLLINEAR
        free[s] = False
        redundancy -= 0.5 * np.log(np.where(free, unexplained, 1.0))
    return np.array(order), np.array(scores)
