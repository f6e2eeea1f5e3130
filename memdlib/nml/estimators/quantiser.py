"""Quantisation of features: thresholds are learnt from training rows, never ranks.

Ranks would break ties by the order of the rows. Where rows are sorted by class, as they
often are in a file, that tells the class: a constant feature would seem to know it.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.state import all_or_nothing
from memdlib.validation import COUNT, Words, check_parameters

Array = NDArray[np.float64]

QUANTISER_CONSTRAINTS = {
    "n_bins": [COUNT],
    "strategy": [Words("uniform", "quantile", "kmeans")],
}

# Most entries of a table of costs that is held at a time.
_ENTRIES = 2**22


class LevelQuantiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each feature by the index, 0 to L - 1, of the interval it lies in.

    Parameters
    ----------
    n_bins : int, default=5
        Number L of levels.
    strategy : {"uniform", "quantile", "kmeans"}, default="uniform"
        Intervals of equal width between the least and the largest training value; with
        equally many training rows, up to ties; or the clusters of least squared
        distance from their means.

    Attributes
    ----------
    thresholds_ : ndarray of shape (d, L - 1)
        In increasing order. A value is in level l if it is larger than l of them,
        so that a value on a threshold belongs to the level below.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    Equal values always share a level. Ties can make thresholds coincide, and the levels
    between them stay empty. A feature that is constant in training has all its
    thresholds at that value: its training rows are in level 0, and so is whatever is
    smaller later on; what is larger is in level L - 1.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.9], [1.0]]
    >>> for strategy in ("uniform", "quantile", "kmeans"):
    ...     levels = LevelQuantiser(2, strategy).fit_transform(X)
    ...     print(levels.ravel().tolist())
    [0, 0, 0, 1, 1]
    [0, 0, 0, 1, 1]
    [0, 0, 0, 1, 1]
    >>> LevelQuantiser(3).fit(X).transform([[-5.0], [0.5], [7.0]]).ravel().tolist()
    [0, 1, 2]
    """

    _parameter_constraints = QUANTISER_CONSTRAINTS

    def __init__(self, n_bins=5, strategy="uniform"):
        self.n_bins = n_bins
        self.strategy = strategy

    @all_or_nothing
    def fit(self, X, y=None):
        """Learn the thresholds.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.
        y : None
            Not used.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``n_bins`` is below 1 or the strategy has another name.
        """
        check_parameters(self)
        X = validate_data(self, X, dtype=np.float64)
        learn = {
            "uniform": equal_width_thresholds,
            "quantile": equal_frequency_thresholds,
            "kmeans": kmeans_thresholds,
        }
        self.thresholds_ = learn[self.strategy](X, self.n_bins)
        return self

    def transform(self, X):
        """Levels of the features.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, d)
            Integers from 0 to L - 1.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        levels = np.zeros(X.shape, dtype=np.int64)
        for threshold in self.thresholds_.T:
            levels += X > threshold
        return levels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def equal_width_thresholds(X: Array, n_bins: int) -> Array:
    """Thresholds that cut the range of each feature into equal parts.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_bins : int

    Returns
    -------
    ndarray of shape (d, n_bins - 1)

    Examples
    --------
    >>> equal_width_thresholds(np.array([[0.0], [10.0], [1.0]]), 5).tolist()
    [[2.0, 4.0, 6.0, 8.0]]
    """
    low, high = X.min(axis=0)[:, None], X.max(axis=0)[:, None]
    part = np.arange(1, n_bins) / n_bins
    # no sum of the two ends may leave the range
    return np.clip(low * (1 - part) + high * part, low, high)


def equal_frequency_thresholds(X: Array, n_bins: int) -> Array:
    """Quantiles of each feature; ties stay together and make the parts unequal.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_bins : int

    Returns
    -------
    ndarray of shape (d, n_bins - 1)

    Examples
    --------
    >>> equal_frequency_thresholds(np.array([[0.0], [10.0], [1.0]]), 2).tolist()
    [[1.0]]
    """
    return np.quantile(X, np.arange(1, n_bins) / n_bins, axis=0).T.copy()


def kmeans_thresholds(X: Array, n_bins: int) -> Array:
    """Half way between neighbouring clusters of least squared distance, exactly.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_bins : int

    Returns
    -------
    ndarray of shape (d, n_bins - 1)

    Notes
    -----
    In one dimension the clusters are intervals of the sorted values, so the best ones
    are found by dynamic programming: the cheapest partition of the first i values into
    l clusters extends one of the first j < i values into l - 1. Of equally good ones
    the first clusters are the smallest. With fewer distinct values than levels, the
    spare thresholds fall on the largest value, and their levels are empty.

    Examples
    --------
    >>> kmeans_thresholds(np.array([[0.0], [9.0], [1.0], [10.0]]), 2).tolist()
    [[5.0]]
    """
    n, d = X.shape
    step = max(1, _ENTRIES // (n + 1) ** 2)
    found = [_clusters(X[:, at : at + step], n_bins) for at in range(0, d, step)]
    return np.concatenate(found)


def _clusters(X: Array, n_bins: int) -> Array:
    ordered = np.sort(X, axis=0).T
    d, n = ordered.shape
    scale = np.maximum(ordered[:, -1] - ordered[:, 0], np.finfo(float).tiny)
    at = (ordered - ordered[:, :1]) / scale[:, None]
    at -= at.mean(axis=1, keepdims=True)
    first = np.concatenate([np.zeros((d, 1)), at.cumsum(axis=1)], axis=1)
    second = np.concatenate([np.zeros((d, 1)), (at * at).cumsum(axis=1)], axis=1)
    # cost[:, j, i]: the values j..i-1 in one cluster; no cut between equal values
    size = np.arange(n + 1)
    length = size[None, :] - size[:, None]
    total = first[:, None, :] - first[:, :, None]
    cost = second[:, None, :] - second[:, :, None]
    cost -= total * total / np.where(length > 0, length, 1)
    cost = np.where(length > 0, np.maximum(cost, 0.0), np.inf)
    tied = np.zeros((d, n + 1), dtype=bool)
    tied[:, 1:n] = ordered[:, 1:] == ordered[:, :-1]
    cost[tied] = np.inf
    # an empty cluster may only follow the last value
    cost[:, n, n] = 0.0
    best, start = cost[:, 0, :], []
    for _ in range(n_bins - 1):
        extended = best[:, :, None] + cost
        start.append(extended.argmin(axis=1))
        best = extended.min(axis=1)
    end, cuts = np.full(d, n), []
    for choice in reversed(start):
        end = choice[np.arange(d), end]
        cuts.append(end)
    cut = np.array(cuts[::-1], dtype=np.intp).reshape(n_bins - 1, d).T
    below = np.take_along_axis(ordered, cut - 1, axis=1)
    above = np.take_along_axis(ordered, np.minimum(cut, n - 1), axis=1)
    # half way, but never so close to the upper value as to be rounded to it
    middle = 0.5 * below + 0.5 * above
    return np.where(middle < above, middle, below)
