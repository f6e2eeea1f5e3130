"""Polynomials of level values, told by what they are at as many pivot levels.

Lagrange's formula is a product of quotients of differences. It keeps all the digits of
the values, however far apart or close they are, where powers of them keep none.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def scaled(values: Array) -> Array:
    """Values over a power of two, which leaves the digits of normal floats; below 1.

    Parameters
    ----------
    values : ndarray of shape (L,)

    Returns
    -------
    ndarray of shape (L,)

    Examples
    --------
    >>> scaled(np.array([-3.0, 4.0])).tolist()
    [-0.375, 0.5]
    """
    return np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])


def pivot_levels(
    x: Array, dimension: int, intercept: bool, log_weight: Array
) -> NDArray[np.intp]:
    """Levels whose logits tell those of all others, without large factors.

    Parameters
    ----------
    x : ndarray of shape (L,)
        Distinct, and not 0 without intercept; of size 1 at most.
    dimension : int
        Number p of parameters, at most L.
    intercept : bool
    log_weight : ndarray of shape (L, B)
        Logarithms of the weights of the levels, for B cases.

    Returns
    -------
    ndarray of shape (p, B)

    Notes
    -----
    Weighted Leja points: each is where the polynomial that vanishes at those before is
    largest, times the root of the weight. They are the pivots of an elimination in
    which no factor is larger than 1.

    Examples
    --------
    >>> x, equal = np.array([0.1, 0.2, 1.0]), np.zeros((3, 1))
    >>> pivot_levels(x, 2, False, equal).ravel().tolist()
    [2, 1]
    """
    with np.errstate(divide="ignore"):
        log_distance = np.log(np.abs(x[:, None] - x))
    score = 0.5 * log_weight
    if not intercept:
        score = score + np.log(np.abs(x))[:, None]
    found = np.zeros((dimension, score.shape[1]), dtype=np.intp)
    for row in found:
        row[:] = score.argmax(axis=0)
        score = score + log_distance[:, row]
    return found


def cardinals(x: Array, intercept: bool, pivots: NDArray[np.intp]) -> Array:
    """Polynomials that are 1 at one of the pivots and 0 at the others.

    Parameters
    ----------
    x : ndarray of shape (L,)
    intercept : bool
        Without it all of them are 0 at 0.
    pivots : ndarray of shape (p, B)

    Returns
    -------
    ndarray of shape (L, p, B)

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> cardinals(x, True, np.array([[0], [1]]))[2, :, 0].tolist()
    [-1.0, 2.0]
    """
    at, found = x[pivots], []
    for i, own in enumerate(at):
        product = np.ones((len(x), at.shape[1]))
        if not intercept:
            product = x[:, None] / own
        for j, other in enumerate(at):
            if j != i:
                product = product * ((x[:, None] - other) / (own - other))
        found.append(product)
    return np.array(found).reshape(len(at), len(x), at.shape[1]).swapaxes(0, 1)


@lru_cache(maxsize=1024)
def amplification(values: tuple[float, ...], dimension: int, intercept: bool) -> float:
    """Most that a logit may move with that of one of p levels that tell it.

    Parameters
    ----------
    values : tuple of L floats
    dimension : int
        Number p of parameters; with as many as levels there is nothing to tell.
    intercept : bool

    Returns
    -------
    float
        Bound of all entries of Lagrange's formula, whichever the pivots; 1 or more.

    Notes
    -----
    Logits can be as many times larger than those of mixed labels. The bound takes each
    factor of the formula where it is largest.

    Examples
    --------
    >>> [amplification((1.0, x), 1, False) for x in (2.0, 1e6)]
    [2.0, 1000000.0]
    """
    if dimension == len(values):
        return 1.0
    x = scaled(np.array(values))
    distance = np.abs(x[:, None] - x)
    np.fill_diagonal(distance, np.inf)
    ratios = np.sort(np.maximum(x.max() - x, x - x.min()) / distance, axis=1)
    products = ratios[:, len(x) + 1 - dimension :].prod(axis=1)
    if not intercept:
        products = products * (np.abs(x).max() / np.abs(x))
    return max(1.0, float(products.max()))
