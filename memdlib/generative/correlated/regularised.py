"""MeMd with a covariance for each class, shrunken towards a common one.

The class densities of maximum entropy under first and second moments of each class are
normal with covariances of their own, which take more rows than there often are. Here
the second moments of class k are relaxed,

    Sigma_k = g diag(s) R diag(s) + (1 - g) S_k,

towards the pooled ones, whose correlations R are shrunken towards none and whose
variances s^2 towards their median. g = 1 is linear, g near 0 quadratic discriminant
analysis, and R = I with g near 0 is close to the marginals of each class alone.

In the coordinates z that make the pooled part the unit matrix, S_k has no more than n_k
eigenvalues t_j that are not zero, and with their eigenvectors v_j

    z^T (g I + (1 - g) S_k)^(-1) z
        = sum_j (v_j^T z)^2 / (g + (1 - g) t_j) + |z - sum_j v_j v_j^T z|^2 / g,

a sum of squares, so that nothing cancels however few the rows.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.estimator import finite_scores
from memdlib.generative.correlated.classifier import PooledClassifier
from memdlib.generative.correlated.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.scores import LinearScores, about_best
from memdlib.validation import (
    UNIT,
    Number,
    Words,
    check_priors,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RangeMoments(PooledMoments):
    """Pooled moments of features whose variances compare as shares of their ranges.

    ``low`` and ``high``, of shape (d,), are the least and largest values.
    """

    low: Array | None = None
    high: Array | None = None

    def standard_deviations(self, shrinkage: float | str) -> tuple[Array, float]:
        """As for all moments, towards the median of these shares."""
        width = self.high - self.low
        width = np.where(width > 0, width, 1.0)
        shares = PooledMoments(
            self.weight,
            self.means,
            self.rest,
            self.variance / width**2,
            self.between / width**2,
            self.gram,
        )
        deviations, shrinkage = shares.standard_deviations(shrinkage)
        return deviations * width, shrinkage


@dataclass(frozen=True)
class _Spread:
    """The matrix floor I + (1 - floor) S, S of eigenvectors (r, d) and variances (r,).

    ``variances`` are those of the sum.
    """

    floor: float
    directions: Array
    variances: Array

    @classmethod
    def of(cls, rows: Array, floor: float) -> "_Spread":
        """S = rows^T rows, through the shorter side."""
        n, d = rows.shape
        if n < d:
            _, root, directions = np.linalg.svd(rows, full_matrices=False)
            own = root**2
        else:
            own, directions = np.linalg.eigh(rows.T @ rows)
            directions = directions.T
        return cls(floor, directions, floor + (1.0 - floor) * np.maximum(own, 0.0))

    @property
    def log_determinant(self) -> float:
        rest = self.directions.shape[1] - len(self.variances)
        return float(np.log(self.variances).sum() + rest * np.log(self.floor))

    def solve(self, z: Array) -> Array:
        """Rows (n, d) times the inverse of the matrix."""
        inside = z @ self.directions.T
        found = (inside / self.variances) @ self.directions
        if len(self.variances) < z.shape[1]:
            found += (z - inside @ self.directions) / self.floor
        return found

    def distance(self, z: Array) -> Array:
        """Squares of the Mahalanobis norms of rows (n, d)."""
        inside = z @ self.directions.T
        square = (inside**2 / self.variances).sum(axis=1)
        if len(self.variances) < z.shape[1]:
            outside = z - inside @ self.directions
            square += np.einsum("is,is->i", outside, outside) / self.floor
        return square


@dataclass(frozen=True)
class _RegularisedModel:
    """What prediction needs."""

    classes: NDArray
    low: Array
    high: Array
    pooled: WhitenedMeans
    near: LinearScores
    spreads: tuple[_Spread, ...]

    @property
    def class_prior(self) -> Array:
        return self.pooled.prior

    @property
    def shrinkage(self) -> float:
        return self.pooled.root.shrinkage

    @property
    def variance_shrinkage(self) -> float:
        return self.pooled.variance_shrinkage

    def within(self, X) -> Array:
        """Rows; what lies outside the range counts as its end."""
        return np.clip(X, self.low, self.high)

    def joint_log_density(self, X) -> Array:
        """Log p(x, k) up to what is common to all classes, (n, K), of X (n, d)."""
        scores = about_best(self._about, self.within(X), self.near.place)
        return finite_scores(scores, X)

    def _about(self, X, p) -> Array:
        point, pooled = self.near.points[p], self.pooled
        means, z = pooled.whiten(pooled.steps(point)), pooled.whiten(X - point)
        score = np.empty((len(z), len(self.spreads)))
        for k, (mean, spread) in enumerate(zip(means, self.spreads, strict=True)):
            score[:, k] = spread.distance(z - mean) + spread.log_determinant
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior) - 0.5 * score


class RegularisedMeMdClassifier(PooledClassifier):
    """Maximum-entropy Bayes classifier between linear and quadratic.

    Constraints are the means and second moments of each class, relaxed towards moments
    that all classes share: regularised discriminant analysis [1]_.

    Parameters
    ----------
    class_shrinkage : float in (0, 1], default=0.6
        Weight g of the pooled covariance in that of each class; 1 is linear.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Pooled correlations are shrinkage I + (1 - shrinkage) R-hat. "auto" is the
        intensity of least mean squared error [2]_ and always gives a proper density.
    variance_shrinkage : float in [0, 1] or "auto", default=0.3
        Pooled variances v, of values as shares of the range of their feature, become
        (1 - variance_shrinkage) v + variance_shrinkage median(v); "auto" as in
        :meth:`memdlib.generative.PooledMoments.standard_deviations`.
    priors : array-like of shape (K,), default=None
        Class probabilities, in the order of ``classes_``; None takes the shares of the
        instance weight.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the weights of the instances of each class.

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    shrinkage_, variance_shrinkage_ : float
        In use.
    n_features_in_ : int

    See Also
    --------
    memdlib.make_memd : chooses both shrinkages on rows held out, for tables.
    memdlib.generative.CorrelatedMeMdClassifier : ``class_shrinkage=1``, with thousands
        of features, and with a selection of whitened coordinates.

    Notes
    -----
    Every feature is measured in shares of its range over the training rows, and a value
    outside counts as the end of that range: units do not matter, and a pixel that was
    dark in all rows but a few does not outvote the others when it lights up. Rows cost
    O(d^2), or O(n d) where there are fewer training rows n than features d.

    References
    ----------
    .. [1] Friedman, Regularized discriminant analysis, Journal of the American
       Statistical Association 84 (1989).
    .. [2] Schaefer & Strimmer, A shrinkage approach to large-scale covariance matrix
       estimation, Statistical Applications in Genetics and Molecular Biology 4 (2005).

    Examples
    --------
    >>> from memdlib.generative import RegularisedMeMdClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RegularisedMeMdClassifier(0.2).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.979
    """

    _parameter_constraints: ClassVar[dict] = {
        "class_shrinkage": [Number(Real, 0, 1, "right")],
        "shrinkage": [Words("auto"), UNIT],
        "variance_shrinkage": [Words("auto"), UNIT],
        "priors": [None, "array-like"],
        "class_weight": [None, Words("balanced"), dict],
    }

    def __init__(
        self,
        class_shrinkage: float = 0.6,
        shrinkage: float | str = "auto",
        variance_shrinkage: float | str = 0.3,
        *,
        priors: ArrayLike | None = None,
        class_weight: dict[Any, Any] | str | None = None,
    ) -> None:
        self.class_shrinkage = class_shrinkage
        self.shrinkage = shrinkage
        self.variance_shrinkage = variance_shrinkage
        self.priors = priors
        self.class_weight = class_weight

    def collect_moments(
        self, X: Array, codes: NDArray[np.intp], n_classes: int, weight: Array
    ) -> RangeMoments:
        """Moments of valid rows, and the ranges of their features.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        codes : ndarray of int, shape (n,)
            Class indices.
        n_classes : int
        weight : ndarray of shape (n,)
            Positive.

        Returns
        -------
        RangeMoments
        """
        moments = super().collect_moments(X, codes, n_classes, weight)
        low, high = (f(axis=0).astype(np.float64) for f in (X.min, X.max))
        return RangeMoments(**vars(moments), low=low, high=high)

    def _estimate(self, moments, classes) -> _RegularisedModel:
        prior = check_priors(self.priors, len(classes))
        pooled = WhitenedMeans.of(
            moments, prior, self.shrinkage, self.variance_shrinkage
        )
        scale = np.sqrt(moments.variance) / pooled.deviations
        share = moments.weight / moments.weight.sum()
        spreads = tuple(
            _Spread.of(pooled.root(root * scale) / np.sqrt(of), self.class_shrinkage)
            for root, of in zip(moments.class_roots, share, strict=True)
        )
        near = pooled.linear()
        return _RegularisedModel(
            classes, moments.low, moments.high, pooled, near, spreads
        )
