"""The rules by which this book compares accuracies, methods, and families of them.

It needs numpy and scipy, and nothing else of the book. The chapters use it where they
compare, and the verdicts of the claims page are computed by the same functions.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05  # an adjusted p-value below it makes a difference clear
COVERAGE = 0.95  # of the intervals
ROUNDING = 0.005  # by which a figure with two digits after the point may be off


def prediction_limits(
    mean: ArrayLike, sd: ArrayLike, draws: ArrayLike, n: ArrayLike, runs: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Interval in which one more run of cross-validation falls 95 times of 100.

    A printed accuracy agrees with ours if it lies in this interval.

    Parameters
    ----------
    mean : array_like
        Accuracy in per cent, over ``draws`` runs, each with folds of its own.
    sd : array_like
        Standard deviation of one run. It is taken to be no less than what it is if one
        row is classified otherwise in one of the runs.
    draws : array_like
    n : array_like
        Rows that each run classifies.
    runs : float, default=1
        Over how many runs the printed figure is a mean. One is the widest interval.

    Returns
    -------
    low, high : ndarray
        :math:`\bar a \pm t_{.975, r - 1}\, s \sqrt{1/R + 1/r}`, with r draws and R
        runs, and half a unit of the last printed digit more.

    References
    ----------
    .. [1] Hahn and Meeker, Statistical Intervals, Wiley (1991), section 4.6.

    Examples
    --------
    >>> low, high = prediction_limits(mean=85.0, sd=1.5, draws=10, n=62)
    >>> print(f"{low:.2f} to {high:.2f}")
    81.43 to 88.57
    """
    draws = np.asarray(draws, dtype=float)
    least = 100.0 / (np.asarray(n) * np.sqrt(draws))
    quantile = stats.t.ppf(0.5 + COVERAGE / 2.0, draws - 1.0)
    error = np.maximum(sd, least) * np.sqrt(1.0 / runs + 1.0 / draws)
    half = quantile * error + ROUNDING
    return np.subtract(mean, half), np.add(mean, half)


def corrected_interval(gaps: ArrayLike, n_splits: int) -> dict[str, float]:
    """Mean difference of two methods over folds, with the corrected t interval.

    Parameters
    ----------
    gaps : array_like of shape (draws * n_splits,)
        Accuracy of the first less that of the second in each test fold, in points.
    n_splits : int
        Folds of a draw.

    Returns
    -------
    dict
        ``difference``, ``low`` and ``high``, in points; ``p``, the two-sided p-value of
        no difference.

    Notes
    -----
    The training sets of the folds overlap, so that the plain interval is too narrow:
    the variance is multiplied by 1/J + n_test/n_train instead of 1/J, with J folds.

    References
    ----------
    .. [1] Nadeau and Bengio, Inference for the generalization error, Machine Learning
       52 (2003), section 3, eq. 9.

    Examples
    --------
    >>> interval = corrected_interval([2.0, 4.0, 3.0, 3.0], n_splits=2)
    >>> {name: round(value, 2) for name, value in interval.items()}
    {'difference': 3.0, 'low': 0.09, 'high': 5.91, 'p': 0.05}
    """
    gaps = np.ravel(gaps)
    middle = gaps.mean()
    error = np.sqrt((1.0 / gaps.size + 1.0 / (n_splits - 1)) * gaps.var(ddof=1))
    half = stats.t.ppf(0.5 + COVERAGE / 2.0, gaps.size - 1) * error
    if error:
        p = 2.0 * stats.t.sf(abs(middle) / error, gaps.size - 1)
    else:  # folds that all differ alike leave no doubt, or no difference
        p = float(middle == 0.0)
    return {
        "difference": float(middle),
        "low": float(middle - half),
        "high": float(middle + half),
        "p": float(p),
    }


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
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
