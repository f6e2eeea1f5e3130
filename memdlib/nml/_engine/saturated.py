"""Closed forms of the saturated model, a label distribution of its own for each level.

Its complexity is a sum over the levels of the multinomial log C(K, n), which is exact
here for any n and K.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from memdlib.nml._engine.level_model import LevelModel

Array = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
# exp(-k^2 / 2n) is below rounding of the sum beyond this many square roots of n
_TAIL = 9.0
# From here on the expansion of the sum is exact to rounding.
_MANY = 10**5
# Binomial coefficients up to here are integers made exactly, beyond by Stirling's sum.
_MOST_EXACT = 2000


@lru_cache(maxsize=4096)
def two_outcome_sum(n: int) -> float:
    """C(2, n) itself, the sum of all maximised likelihoods of n binary labels.

    Parameters
    ----------
    n : int
        0 or more.

    Returns
    -------
    float
        At most about sqrt(pi n / 2) + 1, so that it never overflows.

    Notes
    -----
    The sum is 1 + Q(n), with Q the function of Ramanujan; its expansion in powers of
    n^(-1/2) takes over at large n.

    References
    ----------
    .. [1] P. Flajolet, P. Grabner, P. Kirschenhofer and H. Prodinger, On Ramanujan's
       Q-function, Journal of Computational and Applied Mathematics 58, 1995.

    Examples
    --------
    >>> two_outcome_sum(2)
    2.5
    """
    if n > _MANY:
        half = math.sqrt(math.pi / (2.0 * n))
        even = 2.0 / 3.0 - 4.0 / (135.0 * n)
        return half * (n + 1.0 / 12.0 + 1.0 / (288.0 * n)) + even
    steps = np.arange(min(n, int(_TAIL * math.sqrt(n)) + 1))
    return 1.0 + float(np.cumprod(1.0 - steps / n)[::-1].sum())


def log_multinomial_sum(n: int, n_outcomes: int) -> float:
    """Logarithm of C(K, n), the sum of all maximised likelihoods of n labels.

    Parameters
    ----------
    n : int
        0 or more.
    n_outcomes : int
        K, 1 or more.

    Returns
    -------
    float
        Nats; see :func:`memdlib.nml.multinomial_complexity` for how.

    Examples
    --------
    >>> print(f"{log_multinomial_sum(38, 2):.10f}")
    2.1292784450
    """
    if n == 0 or n_outcomes == 1:
        return 0.0
    return math.fsum(map(math.log, _ratios(n, n_outcomes)))


def _ratios(n: int, n_outcomes: int) -> Iterator[float]:
    """Ratios C(k + 1, n) / C(k, n) for k from 1 to n_outcomes - 1."""
    ratio = two_outcome_sum(n)
    for k in range(1, n_outcomes):
        yield ratio
        ratio = 1.0 + n / (k * ratio)


@lru_cache(maxsize=4096)
def log_binomials(n: int) -> Array:
    """Logarithms of the binomial coefficients of n.

    Parameters
    ----------
    n : int

    Returns
    -------
    ndarray of shape (n + 1,)

    Examples
    --------
    >>> np.exp(log_binomials(4)).round(12).tolist()
    [1.0, 4.0, 6.0, 4.0, 1.0]
    """
    if n <= _MOST_EXACT:
        return np.array([math.log(math.comb(n, k)) for k in range(n + 1)])
    k = np.arange(n + 1.0)
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def rounding(model: LevelModel, n_terms: float = 1.0) -> float:
    """Bound of what rounding does to a log complexity, in nats.

    Parameters
    ----------
    model : LevelModel
    n_terms : float, default=1.0
        Terms that are added, pairwise.

    Returns
    -------
    float

    Notes
    -----
    A log-likelihood is a sum of n terms of at most about log(4 n) nats, a logit one of
    p products, and a number of label sequences a product over L levels.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.full(5, 8), np.arange(1.0, 6.0), 2, intercept=False)
    >>> rounding(model, 1000.0) < 1e-13
    True
    """
    n, n_levels = float(model.counts.sum()), len(model.counts)
    steps = n * math.log(4.0 * n + 1.0) + 4 * n_levels * (model.dimension + 1)
    return EPSILON * (steps + math.log2(n_terms + 1.0))


def saturated_rounding(model: LevelModel) -> float:
    """Bound of what rounding does to the complexity of a saturated model, in nats.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float
        A product of up to nine square roots of n factors for each level, or the
        remainder of an expansion.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.full(2, 8), np.arange(1.0, 3.0), 2, intercept=False)
    >>> saturated_rounding(model) < 1e-13
    True
    """
    steps = 2.0 * _TAIL * np.sqrt(np.minimum(model.counts, _MANY)) + 16.0
    return EPSILON * float(steps.sum())


def saturated_complexity(model: LevelModel, n_classes: int = 2) -> float:
    """Log complexity of a model with a label distribution of its own for each level.

    Parameters
    ----------
    model : LevelModel
    n_classes : int, default=2

    Returns
    -------
    float
        Nats, the sum of log C(n_classes, n_l).

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> counts = np.array([8, 7, 8, 7, 8])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 5, intercept=False)
    >>> print(f"{saturated_complexity(model):.10f}")
    7.1188757552
    """
    return math.fsum(log_multinomial_sum(int(n), n_classes) for n in model.counts)


def saturated_log_likelihood(counts: Array, ones: Array) -> Array:
    """Log-likelihood with a probability of its own for each level.

    Parameters
    ----------
    counts : ndarray of shape (L, 1) or (L, B)
    ones : ndarray of shape (L, B)
        Between 0 and the counts, not necessarily integers.

    Returns
    -------
    ndarray of shape (B,)
        Nats, at most 0.

    Examples
    --------
    >>> two_mixed = saturated_log_likelihood(np.c_[[2.0, 5.0]], np.c_[[1.0, 5.0]])
    >>> (two_mixed / np.log(0.5)).tolist()
    [2.0]
    """
    share = ones / counts
    other = xlogy(counts - ones, (counts - ones) / counts)
    return (xlogy(ones, share) + other).sum(axis=0)
