"""Closed forms of the saturated model, a label distribution of its own for each level.

Its complexity is a sum over the levels of the multinomial log C(K, n), which is exact
here for any n and K.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from memdlib.nml._engine.level_model import LevelModel

Array = NDArray[np.float64]

# Uncertainty, in nats, of what is exact up to rounding.
ROUNDING = 1e-12
# exp(-k^2 / 2n) is below rounding of the sum beyond this many square roots of n
_TAIL = 9.0


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

    Examples
    --------
    >>> two_outcome_sum(2)
    2.5
    """
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
    >>> from memdlib.nml.exact import level_model
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
