"""Preparing each row by itself, so that nothing is learnt and nothing can leak.

Rows here are samples whose features are measured alike, such as the genes of a chip:
what differs from chip to chip in level, range or contrast says nothing about the class.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.utils import check_array

Array = NDArray[np.float64]


def standardised(X: ArrayLike) -> Array:
    """Give each row mean zero and variance one over its features.

    Parameters
    ----------
    X : array-like of shape (n, d)

    Returns
    -------
    ndarray of shape (n, d)
        Zeros for a row that is constant.

    Examples
    --------
    >>> standardised([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]).round(6).tolist()
    [[-1.224745, 0.0, 1.224745], [0.0, 0.0, 0.0]]
    """
    X = _rows(X)
    X = X / np.maximum(np.abs(X).max(axis=1, keepdims=True), _TINY)
    X = X - X.mean(axis=1, keepdims=True)
    scale = np.sqrt((X**2).mean(axis=1, keepdims=True))
    return np.where(scale > _ROUNDING, X / np.where(scale > 0, scale, 1.0), 0.0)


def normal_scores(X: ArrayLike) -> Array:
    """Replace the values of each row by normal quantiles of their ranks.

    The result is the same for any increasing function of the values, one for each row:
    logarithms or not, whatever the chip's level and range.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite.

    Returns
    -------
    ndarray of shape (n, d)
        Quantiles at (rank - 1/2) / d; equal values share their mean rank.

    Examples
    --------
    >>> normal_scores([[10.0, 1e6, -3.0]]).round(3).tolist()
    [[0.0, 0.967, -0.967]]
    """
    X = _rows(X)
    d = X.shape[1]
    # at the ranks 1, 3/2, 2, ..., d, for ties lie between
    quantiles = ndtri(np.arange(1, 2 * d) / (2 * d))
    found, order = np.empty_like(X), np.argsort(X, axis=1)
    for x, by_size, z in zip(X, order, found, strict=True):
        x = x[by_size]
        start = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        end = np.append(start[1:], d)
        z[by_size] = np.repeat(quantiles[start + end - 1], end - start)
    return found


def _rows(X) -> Array:
    return check_array(X, dtype=np.float64, input_name="X")


_TINY = np.finfo(np.float64).tiny
_ROUNDING = 1e-13
