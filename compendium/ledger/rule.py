"""The rule by which a printed accuracy agrees with ours, or does not.

A source prints a mean over a number of runs that it does not tell. Not every number of
runs can print every figure: each run classifies a whole number of rows rightly. The
rule takes the fewest runs that can, which is the widest tolerance that the figure
itself allows.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

# A figure printed to two digits after the point may be off by so much.
ROUNDING = 0.005

# Differences beyond so many standard deviations do not agree.
SPREADS = 2.0

# Differences of a family are clear below so large an adjusted p-value.
LEVEL = 0.05

# Numbers of runs that are shown beside the fewest.
ASSUMED = (1, 5, 10)


def can_print(printed: float, n: int, n_splits: int, runs: int) -> bool:
    """Whether so many runs of cross-validation can have printed an accuracy.

    Parameters
    ----------
    printed : float
        Per cent, to two digits after the point.
    n : int
        Rows of the data set.
    n_splits : int
        Folds, whose sizes differ by one at most.
    runs : int

    Returns
    -------
    bool
        Whether it is the share of all rows classified rightly, or the mean of the
        shares of the folds, for whole numbers of rows.

    Examples
    --------
    >>> [r for r in range(1, 9) if can_print(63.75, 60, 10, r)]
    [4, 8]
    """
    close = ROUNDING / 100.0 + 1e-12
    share = printed / 100.0
    if abs(round(share * n * runs) / (n * runs) - share) <= close:
        return True
    small, large = n // n_splits, n % n_splits  # size of a small fold, large folds
    if not large:
        return False
    ones = np.arange(large * (small + 1) * runs + 1)  # rows right in large folds
    scale = n_splits * runs
    left = share * scale - ones / (small + 1)
    rest = np.round(left * small)
    whole = (rest >= 0) & (rest <= (n_splits - large) * small * runs)
    return bool((whole & (np.abs(rest / small - left) <= close * scale)).any())


def fewest_runs(printed: float, n: int, n_splits: int) -> int:
    """Smallest number of runs that can have printed an accuracy.

    Examples
    --------
    >>> fewest_runs(62.5, 60, 10), fewest_runs(95.96, 1588, 2)
    (2, 5)
    """
    runs = 1
    while not can_print(printed, n, n_splits, runs):
        runs += 1
    return runs


def z_score(
    printed: ArrayLike,
    mean: ArrayLike,
    sd: ArrayLike,
    repeats: ArrayLike,
    n: ArrayLike,
    runs: ArrayLike,
) -> NDArray[np.float64]:
    """Difference of a printed mean and ours in its standard deviations.

    Parameters
    ----------
    printed, mean : array_like
        Per cent: over ``runs`` and over ``repeats`` draws of the folds.
    sd : array_like
        Standard deviation of one draw; taken to be no less than what it is if one row
        is classified otherwise in one of ours.
    repeats, n, runs : array_like
        ``n`` rows in each.

    Returns
    -------
    ndarray
        Zero within the rounding of the printed figure.
    """
    gap = np.maximum(np.abs(np.subtract(mean, printed)) - ROUNDING, 0.0)
    runs, repeats = np.asarray(runs, float), np.asarray(repeats, float)
    one = 100.0 / (np.asarray(n) * np.sqrt(repeats))
    return gap / (np.maximum(sd, one) * np.sqrt(1.0 / runs + 1.0 / repeats))


def with_doubt(
    yes: NDArray[np.bool_], p: ArrayLike, how: Callable = np.sum
) -> dict[str, float]:
    """How many of a family of comparisons come out so: all, clear ones, none against.

    Parameters
    ----------
    yes : ndarray of bool, shape (n,)
    p : array_like of shape (n,)
        Of no difference. A difference is clear if its p-value, adjusted over the family
        by Holm's rule, is below :data:`LEVEL`.
    how : callable, default=numpy.sum
        Or numpy.mean, for shares.

    Returns
    -------
    dict
        ``median``, those that do; ``low``, those that clearly do; ``high``, all but
        those that clearly do not.
    """
    clear = holm(p) < LEVEL
    parts = {"median": yes, "low": yes & clear, "high": yes | ~clear}
    return {name: how(part).item() for name, part in parts.items()}


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """P-values of a family of comparisons, adjusted so that 5 per cent stay 5 per cent.

    Parameters
    ----------
    p : array_like of shape (n,)

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    .. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian
       Journal of Statistics 6 (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
