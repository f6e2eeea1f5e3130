"""More moments to constrain: splines of each feature, and kernels of all of them.

Densities of maximum entropy know of the data what their constraints say. A classifier
of pooled or class moments says more of them when more functions of the features go in:
it is then the discriminant of these functions [1]_, and no new theory. The functions
here depend neither on units, zeros and signs of the features nor on the order of
features and rows, and a row of weight two counts as two rows.

.. [1] Hastie, Tibshirani & Buja, Flexible discriminant analysis by optimal scoring,
   Journal of the American Statistical Association 89 (1994).
"""

from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from memdlib.holdout import Spread, by_blocks, content_positions
from memdlib.validation import POSITIVE, Number, check_parameters, check_sample_weight

Array = NDArray[np.float64]

# Differences of sums of weights that are rounding.
_ROUNDING = 1e-9

# Eigenvalues of a kernel that are less of the largest count as that.
_RANK = 1e-10


class LinearSplines(TransformerMixin, BaseEstimator):
    """Functions of one feature each that are linear between its quantiles.

    With knots t_0 < t_1 < ... the functions are the shares of the intervals from t_j to
    t_(j+1) that lie below x. Their linear combinations, with a constant, are all
    functions that are continuous, linear between the knots and constant beyond them.

    Parameters
    ----------
    n_knots : int >= 2, default=8
        At equally spaced quantiles of the training rows, ends included; knots that
        coincide are one.
    max_features : int, default=240
        Where there were more functions than this, each feature has fewer knots, but
        three at least: pixels have much the same values as their neighbours, and
        eigenvectors of so many functions take their time.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_knots": [Number(Integral, 2, None)],
        "max_features": [Number(Integral, 1, None)],
    }

    def __init__(self, n_knots: int = 8, max_features: int = 240) -> None:
        self.n_knots = n_knots
        self.max_features = max_features

    def fit(
        self, X: Array, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the knots.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Finite.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        check_parameters(self)
        weight = check_sample_weight(sample_weight, len(X))
        widest = max(2, self.max_features // X.shape[1])
        n_intervals = min(self.n_knots - 1, widest)
        knots = _quantiles(X, weight, np.linspace(0.0, 1.0, n_intervals + 1))
        self._feature, interval = np.nonzero((np.diff(knots, axis=0) > 0).T)
        self._low = knots[interval, self._feature]
        self._width = knots[interval + 1, self._feature] - self._low
        return self

    def transform(self, X: Array) -> Array:
        """Shares of the intervals below the values.

        Parameters
        ----------
        X : ndarray of shape (n, d)

        Returns
        -------
        ndarray of shape (n, number of intervals)
            Feature after feature; one column of zeros if no feature varies.
        """
        if not self._feature.size:
            return np.zeros((len(X), 1))
        return by_blocks(self._shares, X)

    def _shares(self, X) -> Array:
        share = (X[:, self._feature] - self._low) / self._width
        return np.clip(share, 0.0, 1.0)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_feature")


class KernelFeatures(TransformerMixin, BaseEstimator):
    """Functions whose products approximate a Gaussian kernel, after Nystroem.

    Parameters
    ----------
    gamma : float > 0, default=1.0
        The kernel is exp(-gamma |z - z'|^2 / d), z the d features that vary in units of
        their standard deviations.
    n_components : int, default=200
        Landmarks, training rows that are drawn by what they hold.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.

    Notes
    -----
    The functions are K^(-1/2) k(z), K the kernel of the landmarks and k(z) that of a
    row and the landmarks [1]_.

    References
    ----------
    .. [1] Williams & Seeger, Using the Nystroem method to speed up kernel machines,
       Advances in Neural Information Processing Systems 13 (2000).
    """

    _parameter_constraints: ClassVar[dict] = {
        "gamma": [POSITIVE],
        "n_components": [Number(Integral, 1, None)],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        gamma: float = 1.0,
        n_components: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(
        self, X: Array, y: None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Draw the landmarks.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Finite.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        check_parameters(self)
        weight = check_sample_weight(sample_weight, len(X))
        self._standardising = Spread.of(X, weight).standardising()
        one = np.zeros(len(X), dtype=np.intp)
        at = content_positions(X, one, weight, check_random_state(self.random_state))
        _, first = np.unique(at, return_index=True)
        self._landmarks = self._standardised(X[first[: self.n_components]])
        values, vectors = np.linalg.eigh(self._kernel(self._landmarks))
        root = np.sqrt(np.maximum(values, _RANK * values[-1]))
        self._root = (vectors / root) @ vectors.T
        return self

    def transform(self, X: Array) -> Array:
        """Values of the functions.

        Parameters
        ----------
        X : ndarray of shape (n, d)

        Returns
        -------
        ndarray of shape (n, number of landmarks)
        """
        return by_blocks(self._functions, X)

    def _functions(self, X) -> Array:
        return self._kernel(self._standardised(X)) @ self._root

    def _standardised(self, X) -> Array:
        origin, scale, shift = self._standardising
        with np.errstate(over="ignore"):
            z = (0.5 * np.asarray(X, dtype=np.float64) - origin) * scale - shift
        return np.clip(z, -_FARTHEST, _FARTHEST)

    def _kernel(self, z: Array) -> Array:
        varying = max(1, np.count_nonzero(self._standardising[1]))
        squares = (z**2).sum(axis=1)[:, None] + (self._landmarks**2).sum(axis=1)
        distance = np.maximum(squares - 2.0 * z @ self._landmarks.T, 0.0)
        return np.exp(-self.gamma / varying * distance)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_root")


# In standard deviations: further away all is equally far.
_FARTHEST = 1e6


def _quantiles(X: Array, weight: Array, shares: Array) -> Array:
    """Weighted quantiles of each column, (len(shares), d): means where two qualify."""
    if (weight == weight[0]).all():  # four times as fast
        values, upto = np.sort(X, axis=0), np.arange(1, len(X) + 1)[:, None] / len(X)
    else:
        order = np.argsort(X, axis=0)
        values = np.take_along_axis(X, order, axis=0)
        upto = np.cumsum(weight[order], axis=0) / weight.sum()
    values = values.astype(np.float64, copy=False)
    found = np.empty((len(shares), X.shape[1]))
    column = np.arange(X.shape[1])
    for row, share in zip(found, shares, strict=True):
        low = (upto < share - _ROUNDING).sum(axis=0)
        high = (upto <= share + _ROUNDING).sum(axis=0)
        low, high = (np.minimum(at, len(X) - 1) for at in (low, high))
        row[:] = 0.5 * values[low, column] + 0.5 * values[high, column]
    return found
