"""Quantisation of features: thresholds are learnt from training rows, never ranks.

Ranks would break ties by the order of the rows. Where rows are sorted by class, as they
often are in a file, that tells the class: a constant feature would seem to know it.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Array, ArrayLike, Indices, NDArray
from memdlib.validation import COUNT, Words, all_or_nothing, checked_data

QUANTISER_CONSTRAINTS = {
    "n_bins": [COUNT],
    "strategy": [Words("uniform", "quantile", "kmeans")],
}

# Distance, as a share of the largest value, at which a training value lies on a
# threshold, whatever its unit.
_ON = 8.0 * np.finfo(np.float64).eps
# Share of all squared distances by which rounding may part two equally good cuts.
_TIE = 1e-13
# Values of which all starts are compared at once.
_FEW = 128


class LevelQuantiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each feature by the index, 0 to L - 1, of the interval it lies in.

    Parameters
    ----------
    n_bins : int, default=5
        Number L of levels.
    strategy : {"uniform", "quantile", "kmeans"}, default="uniform"
        Intervals of equal width between the least and the largest training value; with
        equally many training rows, up to ties; or the clusters of least squared
        distance from their means, exactly [1]_.

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

    References
    ----------
    .. [1] H. Wang and M. Song, Ckmeans.1d.dp: optimal k-means clustering in one
       dimension by dynamic programming, The R Journal 3(2), 2011.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [0.9], [1.0]]
    >>> LevelQuantiser(2).fit_transform(X).ravel().tolist()
    [0, 0, 0, 1, 1]
    >>> LevelQuantiser(3).fit(X).transform([[-5.0], [0.5], [7.0]]).ravel().tolist()
    [0, 1, 2]
    """

    thresholds_: Array

    _parameter_constraints = QUANTISER_CONSTRAINTS

    def __init__(self, n_bins: int = 5, strategy: str = "uniform"):
        self.n_bins = n_bins
        self.strategy = strategy

    @all_or_nothing
    def fit(self, X: ArrayLike, y: object = None) -> Self:
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
        """
        X = checked_data(self, X, dtype=np.float64)
        if self.strategy == "uniform":
            self.thresholds_ = _equal_width(X, self.n_bins)
        elif self.strategy == "quantile":
            share = np.arange(1, self.n_bins) / self.n_bins
            self.thresholds_ = np.quantile(X, share, axis=0).T
        else:
            self.thresholds_ = np.array([_clusters(x, self.n_bins) for x in X.T])
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
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
        X = checked_data(self, X, dtype=np.float64, reset=False)
        levels = np.zeros(X.shape, dtype=np.int64)
        for threshold in self.thresholds_.T:
            levels += X > threshold
        return levels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _equal_width(X: Array, n_bins: int) -> Array:
    """Thresholds (d, L - 1) of equal parts of each range."""
    # one that a value meets but for rounding is that value, whatever the unit
    low, high = X.min(axis=0), X.max(axis=0)
    near = np.minimum(_ON * np.maximum(np.abs(low), np.abs(high)), 1e-3 * (high - low))
    found = np.zeros((X.shape[1], n_bins - 1))
    for i in range(1, n_bins):
        part = i / n_bins
        cut = np.clip(low * (1 - part) + high * part, low, high)
        on = np.where(np.abs(X - cut) <= near, X, -np.inf).max(axis=0)
        found[:, i - 1] = np.where(on > -np.inf, on, cut)
    return found


def _clusters(column: Array, n_bins: int) -> Array:
    """Thresholds half-way between the clusters of an exact k-means solution."""
    # the cheapest partition of the first i distinct values extends one of the first j;
    # spare thresholds fall on the largest value
    value, times = np.unique(column, return_counts=True)
    n = len(value)
    at = value - value[0]
    at = at / max(at[-1], np.finfo(float).tiny)
    at = at - times @ at / times.sum()
    size = np.concatenate([[0], times.cumsum()])
    first = np.concatenate([[0.0], (times * at).cumsum()])
    second = np.concatenate([[0.0], (times * at * at).cumsum()])

    def cost(j, i):
        """Squared distances of the values j..i-1 from their mean."""
        total = first[i] - first[j]
        spread = second[i] - second[j] - total * total / (size[i] - size[j])
        return np.maximum(spread, 0.0)

    end = np.arange(1, n + 1)
    best = np.concatenate([[np.inf], cost(np.zeros(n, dtype=np.intp), end)])
    starts = []
    for _ in range(min(n_bins, n) - 1):
        start = _best_starts(best, cost, _TIE * second[-1])
        best = np.concatenate(
            [[np.inf, np.inf], best[start[2:]] + cost(start[2:], end[1:])]
        )
        starts.append(start)
    cut, last = np.full(n_bins - 1, n), n
    for k in range(len(starts) - 1, -1, -1):
        last = cut[k] = starts[k][last]
    below, above = value[cut - 1], value[np.minimum(cut, n - 1)]
    # half way, but never so close to the upper value as to be rounded to it
    middle = 0.5 * (below + above)
    return np.where(middle < above, middle, below)


def _best_starts(best: Array, cost: Callable[..., Any], tie: float) -> Indices:
    """First of the best starts of the last cluster of the first i values, i >= 2."""
    # they do not fall as i rises, so halving the range of i takes O(n log n) steps
    n = len(best) - 1
    start = np.zeros(n + 1, dtype=np.intp)
    if n <= _FEW:
        i, j = np.arange(2, n + 1), np.arange(1, n)[:, None]
        found = np.where(j < i, best[j] + cost(np.minimum(j, i - 1), i), np.inf)
        start[2:] = 1 + (found <= found.min(axis=0) + tie).argmax(axis=0)
        return start
    # ranges of i, and of their starts, one a row
    ranges = np.array([[2, n, 1, n - 1]])
    while ranges.size:
        low, high, least, most = ranges.T
        middle = (low + high) // 2
        width = np.minimum(most, middle - 1) - least + 1
        head = np.cumsum(width) - width
        which = np.repeat(np.arange(low.size), width)
        j = np.arange(which.size) - head[which] + least[which]
        found = best[j] + cost(j, middle[which])
        lowest = np.minimum.reduceat(found, head)
        hit = np.flatnonzero(found <= lowest[which] + tie)
        start[middle] = chosen = j[hit[np.searchsorted(hit, head)]]
        left = np.column_stack([low, middle - 1, least, chosen])
        right = np.column_stack([middle + 1, high, chosen, most])
        ranges = np.vstack([left, right])
        ranges = ranges[ranges[:, 0] <= ranges[:, 1]]
    return start
