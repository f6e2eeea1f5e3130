"""Quantisation of features by thresholds that are learnt from training rows.

Levels never come from ranks, which would break ties by the order of the rows. Where the
rows are sorted by class, as they often are in a file, this order reveals the class: a
constant feature would seem to predict it.
"""

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import StrOptions
from memdlib._types import Array
from memdlib.validation import COUNT, restore_on_error, validate_features

QUANTISER_CONSTRAINTS = {
    "n_bins": [COUNT],
    "strategy": [StrOptions({"uniform", "quantile", "kmeans"})],
}

# Squared distances within the clusters from a first value to before an end.
Cost = Callable[..., Array]

# Distance, as a fraction of the largest value, at which a training value lies on a
# threshold, whatever its unit.
_ROUNDING = 8.0 * np.finfo(np.float64).eps
# Fraction of all squared distances by which rounding may separate equally good cuts.
_TIE = 1e-13
# Ends of clusters whose starts are searched all at once.
_MOST_ENDS = 128


class LevelQuantiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each feature by the index, 0 to L - 1, of the interval it lies in.

    Parameters
    ----------
    n_bins : int, default=5
        Number L of levels.
    strategy : {"uniform", "quantile", "kmeans"}, default="uniform"
        "uniform": intervals of equal width between the smallest and the largest
        training value; "quantile": intervals with equally many training rows, up to
        ties; "kmeans": the clusters of least squared distance from their means,
        exactly [1]_.

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
    thresholds at that value: its training rows are in level 0, as is every smaller
    value seen later; a larger value is in level L - 1.

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

    _parameter_constraints = QUANTISER_CONSTRAINTS

    def __init__(self, n_bins=5, *, strategy="uniform"):
        self.n_bins = n_bins
        self.strategy = strategy

    @restore_on_error
    def fit(self, X, y=None):
        """Learn the thresholds.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        X = validate_features(self, X, dtype=np.float64)
        if self.strategy == "uniform":
            self.thresholds_ = _equal_width(X, self.n_bins)
        elif self.strategy == "quantile":
            probabilities = np.arange(1, self.n_bins) / self.n_bins
            self.thresholds_ = np.quantile(X, probabilities, axis=0).T
        else:
            self.thresholds_ = np.array(
                [_kmeans_thresholds(column, self.n_bins) for column in X.T]
            )
        return self

    def transform(self, X):
        """Replace each value by the index of its level.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.

        Returns
        -------
        levels : ndarray of shape (n, d)
            Integers from 0 to L - 1.
        """
        check_is_fitted(self)
        X = validate_features(self, X, dtype=np.float64, reset=False)
        levels = np.empty(X.shape, dtype=np.int64)
        for j, thresholds in enumerate(self.thresholds_):
            levels[:, j] = np.searchsorted(thresholds, X[:, j])
        return levels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _equal_width(X, n_bins):
    """Thresholds (d, L - 1) that cut the range of each feature into equal parts."""
    low = X.min(axis=0)
    high = X.max(axis=0)
    # a training value that lies on a threshold but for rounding is the threshold
    magnitude = np.maximum(np.abs(low), np.abs(high))
    tolerance = np.minimum(_ROUNDING * magnitude, 1e-3 * (high - low))
    fraction = np.arange(1, n_bins) / n_bins
    thresholds = np.empty((X.shape[1], n_bins - 1))
    for j, column in enumerate(X.T):
        even = low[j] * (1 - fraction) + high[j] * fraction
        threshold = np.clip(even, low[j], high[j])
        thresholds[j] = _to_values(threshold, np.unique(column), tolerance[j])
    return thresholds


def _to_values(thresholds, values, tolerance):
    """Thresholds, moved to the largest of the sorted values within the tolerance."""
    moved = thresholds.copy()
    end = np.searchsorted(values, thresholds + tolerance)
    # and its neighbours, as that sum is rounded
    for i in (end - 1, end, end + 1):
        value = values.take(i, mode="clip")
        np.copyto(moved, value, where=np.abs(value - thresholds) <= tolerance)
    return moved


def _kmeans_thresholds(column, n_bins):
    """Thresholds (L - 1,) half-way between the clusters of exact k-means."""
    values, counts = np.unique(column, return_counts=True)
    starts = _cluster_starts(values, counts, min(n_bins, len(values)))
    below = values[starts - 1]
    above = values[starts]
    # half-way, but never so close to the upper value as to be rounded to it
    middle = 0.5 * (below + above)
    # a feature with fewer values than levels has spare thresholds, at its largest value
    thresholds = np.full(n_bins - 1, values[-1])
    thresholds[: len(starts)] = np.where(middle < above, middle, below)
    return thresholds


def _cluster_starts(values, counts, n_clusters):
    """First value of each of the best clusters of increasing values, but the first.

    By dynamic programming, reference [1] of :class:`LevelQuantiser`: for some j, the
    best k clusters of the first i values are the best k - 1 clusters of the first j
    values and the values j to i - 1.
    """
    n = len(values)
    if n_clusters == n:  # each value is a cluster
        return np.arange(1, n)
    cost = _within_cluster_cost(values, counts)
    tie = _TIE * cost(0, n)
    end = np.arange(1, n + 1)
    # the least cost of clusters of the first i values, i = 0, .., n
    least = np.concatenate([[np.inf], cost(0, end)])
    last_starts = []
    for _ in range(n_clusters - 1):
        start = _best_starts(least, cost, tie)
        least[2:] = least[start[2:]] + cost(start[2:], end[1:])
        least[1] = np.inf  # one value has no further clusters
        last_starts.append(start)
    starts = []
    first = n
    for start in reversed(last_starts):
        first = start[first]
        starts.insert(0, first)
    return np.array(starts, dtype=np.intp)


def _within_cluster_cost(values, counts):
    """Return the function that gives the squared distances within a cluster.

    Its arguments are indices, or arrays of them: the first value of the cluster, and
    the first after it. The unit is the square of the range.
    """
    # centred, so that differences of sums of squares keep their digits
    x = values - values[0]
    x = x / max(x[-1], np.finfo(float).tiny)
    x = x - counts @ x / counts.sum()
    # sums over all values before each
    size = np.concatenate([[0], np.cumsum(counts)])
    total = np.concatenate([[0.0], np.cumsum(counts * x)])
    squares = np.concatenate([[0.0], np.cumsum(counts * x * x)])

    def cost(start, end):
        cluster_size = size[end] - size[start]
        cluster_total = total[end] - total[start]
        cluster_squares = squares[end] - squares[start]
        spread = cluster_squares - cluster_total * cluster_total / cluster_size
        return np.maximum(spread, 0.0)

    return cost


def _best_starts(least, cost, tie):
    """First value of the last cluster of the first i values (n + 1,), for i >= 2.

    The clusters before the last cost ``least`` (n + 1,). Of starts that are equally
    good up to ``tie`` it is the first, as rounding would choose among them.
    """
    best = np.zeros(len(least), dtype=np.intp)

    def search(first_end, last_end, first_start, last_start):
        """Find the starts for a range of ends, known to be in a range of starts."""
        if first_end > last_end:
            return
        if last_end - first_end < _MOST_ENDS:
            end = np.arange(first_end, last_end + 1)
            start = np.arange(first_start, last_start + 1)[:, None]
            total = least[start] + cost(np.minimum(start, end - 1), end)
            total[start >= end] = np.inf
            is_best = total <= total.min(axis=0) + tie
            best[end] = first_start + is_best.argmax(axis=0)
            return
        # a later end has no earlier start, so that a start for the end in the middle
        # halves the ranges: O(n log n) steps for all ends
        middle = (first_end + last_end) // 2
        search(middle, middle, first_start, last_start)
        search(first_end, middle - 1, first_start, best[middle])
        search(middle + 1, last_end, best[middle], last_start)

    n = len(least) - 1
    search(2, n, 1, n - 1)
    return best
