"""Stability of a choice of features under resampling of the rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.model_selection import StratifiedShuffleSplit


class Stability(NamedTuple):
    """A stability index with its confidence interval.

    Attributes
    ----------
    index : float
        1 if the same features are chosen every time, 0 on average if they are chosen
        at random.
    low, high : float
        Ends of the interval.
    """

    index: float
    low: float
    high: float


def nogueira_index(selected: ArrayLike, level: float = 0.95) -> Stability:
    """Stability of feature sets, of equal sizes or not.

    Parameters
    ----------
    selected : array-like of bool, shape (M, d)
        Which features each of M resamples chose.
    level : float, default=0.95
        Of the interval, which holds for large M and independent resamples.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If nothing or everything is chosen each time.

    Notes
    -----
    1 - mean_j s_j^2 / (k/d (1 - k/d)), with s_j^2 the unbiased variance of the choice
    of feature j and k the mean size. For sets of one size it is the mean of Kuncheva's
    index over all pairs.

    References
    ----------
    .. [1] Nogueira, Sechidis and Brown, On the stability of feature selection
       algorithms, Journal of Machine Learning Research 18 (2018), definition 4, theorem
       10.

    Examples
    --------
    >>> nogueira_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).index.round(3).item()
    0.333
    """
    choice = np.asarray(selected, float)
    n_resamples, n_features = choice.shape
    share = choice.mean(axis=0)
    mean_size = share.mean()
    if mean_size in (0.0, 1.0):
        raise ValueError("selected has no feature, or all of them, in every row")
    chance = mean_size * (1.0 - mean_size)
    spread = (share * (1.0 - share)).sum() * n_resamples / (n_resamples - 1)
    index = 1.0 - spread / n_features / chance
    size = choice.mean(axis=1)
    part = (
        choice @ share / n_features
        - size * mean_size
        + index / 2.0 * (2.0 * mean_size * size - size - mean_size + 1.0)
    ) / chance
    deviation = 2.0 * np.sqrt(part.var(ddof=0)) / np.sqrt(n_resamples)
    half = stats.norm.ppf(0.5 + level / 2.0) * deviation
    return Stability(index, index - half, index + half)


def rankings_over_halves(
    rank, X, y, *, repeats: int, seed: int = 0
) -> NDArray[np.intp]:
    """Rank the features on random halves of the rows, stratified by class.

    Parameters
    ----------
    rank : callable
        Maps (X, y) to all feature indices, the best first.
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
    repeats : int
        Number of halves.
    seed : int, default=0

    Returns
    -------
    ndarray of int, shape (repeats, d)
    """
    halves = StratifiedShuffleSplit(repeats, train_size=0.5, random_state=seed)
    return np.array([rank(X[half], y[half]) for half, _ in halves.split(X, y)])


def chosen(rankings: ArrayLike, size: int) -> NDArray[np.bool_]:
    """Mark the best features of each ranking.

    Parameters
    ----------
    rankings : array-like of int, shape (M, d)
    size : int
        How many features of each are chosen.

    Returns
    -------
    ndarray of bool, shape (M, d)
    """
    rankings = np.asarray(rankings)
    marks = np.zeros(rankings.shape, bool)
    np.put_along_axis(marks, rankings[:, :size], True, axis=1)
    return marks
