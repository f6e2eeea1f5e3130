"""MeMd with a covariance for each class, relaxed towards a common one.

    Sigma_k = g diag(s) R diag(s) + (1 - g) S_k,

the pooled correlations R shrunken towards none and the pooled variances s^2 towards
their median: g = 1 is linear, g near 0 quadratic discriminant analysis. In coordinates
z that make the pooled part the unit matrix, with the eigenvalues t_j of S_k that are
not zero and their eigenvectors v_j,

    z^T (g I + (1 - g) S_k)^(-1) z
        = sum_j (v_j^T z)^2 / (g + (1 - g) t_j) + |z - sum_j v_j v_j^T z|^2 / g.
"""

from typing import Any, ClassVar

import numpy as np

from memdlib._types import Array, ArrayLike
from memdlib.generative.pooled import PooledClassifier, PooledMoments
from memdlib.generative.scores import about_best
from memdlib.validation import SHARE


class _Spread:
    """The matrix floor I + (1 - floor) rows^T rows, by its eigenvectors."""

    def __init__(self, rows: Array, floor: float) -> None:
        n, d = rows.shape
        if n < d:
            _, root, self.directions = np.linalg.svd(rows, full_matrices=False)
            own = root**2
        else:
            own, directions = np.linalg.eigh(rows.T @ rows)
            self.directions = directions.T
        self.floor = floor
        self.variances = floor + (1.0 - floor) * np.maximum(own, 0.0)
        self.log_determinant = np.log(self.variances).sum()
        self.log_determinant += (d - len(own)) * np.log(floor)

    def distance(self, z: Array) -> Array:
        """Squares of the Mahalanobis norms of rows (n, d)."""
        inside = z @ self.directions.T
        square = (inside**2 / self.variances).sum(axis=1)
        if len(self.variances) < z.shape[1]:
            outside = z - inside @ self.directions
            square += (outside**2).sum(axis=1) / self.floor
        return square


class RegularisedMeMdClassifier(PooledClassifier):
    """Maximum-entropy Bayes classifier between linear and quadratic.

    Constraints are the means and second moments of each class, relaxed towards moments
    that all classes share: regularised discriminant analysis [1]_.

    Parameters
    ----------
    class_shrinkage : float in (0, 1], default=0.6
        Weight g of the pooled covariance in that of each class; 1 is linear.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Pooled correlations are shrinkage I + (1 - shrinkage) R-hat; "auto" as in
        :class:`CorrelatedMeMdClassifier`.
    variance_shrinkage : float in [0, 1] or "auto", default=0.3
        Pooled variances v, of values as shares of the range of their feature, become
        (1 - variance_shrinkage) v + variance_shrinkage median(v).
    priors : array-like of shape (K,), default=None
        In the order of ``classes_``; None takes the shares of the instance weight.
    class_weight : None, "balanced" or dict, default=None

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    shrinkage_, variance_shrinkage_ : float
    feature_divergences_ : ndarray of shape (d,)
        Of the pooled part, as in :class:`CorrelatedMeMdClassifier`.
    n_features_in_ : int

    Notes
    -----
    A value outside the range of the training rows counts as its end: a pixel that was
    dark in all rows but a few does not outvote the others when it lights up.

    References
    ----------
    .. [1] Friedman, Regularized discriminant analysis, Journal of the American
       Statistical Association 84 (1989).

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
        "class_shrinkage": [SHARE],
        **PooledClassifier._parameter_constraints,
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

    def _estimate(self, moments: PooledMoments) -> None:
        low, high, codes = moments.low, moments.high, moments.codes
        pooled = self._whitened(moments, np.where(high > low, high - low, 1.0))
        # residuals in the units of the pooled deviations, which shrinkage has changed
        rows = moments.residuals * (np.sqrt(moments.variance) / pooled.deviations)
        share = moments.weight / moments.weight.sum()
        self._spreads = [
            _Spread(pooled.root(rows[codes == k]) / np.sqrt(p), self.class_shrinkage)
            for k, p in enumerate(share)
        ]
        near = pooled.linear()
        self._points, self._place = near.points, near.place
        self._means = [pooled.about(point) for point in near.points]
        self._low, self._high = low, high
        self._root, self._deviations = pooled.root, pooled.deviations

    def _joint_log_density(self, X):
        return about_best(self._about, np.clip(X, self._low, self._high), self._place)

    def _about(self, X, p) -> Array:
        """Log p(x, k), with differences of x to a point near to some classes."""
        z = self._root((X - self._points[p]) / self._deviations)
        square = [
            spread.distance(z - mean) + spread.log_determinant
            for mean, spread in zip(self._means[p], self._spreads, strict=True)
        ]
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_) - 0.5 * np.transpose(square)
