"""MeMd with a covariance for each class, relaxed towards a common one.

    Sigma_k = g diag(s) R diag(s) + (1 - g) S_k,

where the pooled correlations R are shrunken towards the identity and the pooled
variances s^2 towards their median: g = 1 is linear discriminant analysis, g near 0
quadratic. In coordinates z in which the pooled part is the identity matrix, with the
nonzero eigenvalues t_j of S_k and their eigenvectors v_j,

    z^T (g I + (1 - g) S_k)^(-1) z
        = sum_j (v_j^T z)^2 / (g + (1 - g) t_j) + |z - sum_j v_j v_j^T z|^2 / g.
"""

import numpy as np

from memdlib.generative.pooled import PooledClassifier
from memdlib.generative.scores import recentred_scores
from memdlib.validation import FRACTION


class _ClassCovariance:
    """The matrix g I + (1 - g) rows^T rows, by its eigenvectors.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    g : float in (0, 1]
    """

    def __init__(self, rows, g):
        n, d = rows.shape
        if n < d:
            _, singular_values, eigenvectors = np.linalg.svd(rows, full_matrices=False)
            t = singular_values**2
        else:
            t, eigenvectors = np.linalg.eigh(rows.T @ rows)
            eigenvectors = eigenvectors.T
        self.g = g
        self.eigenvectors = eigenvectors
        self.eigenvalues = g + (1.0 - g) * np.maximum(t, 0.0)
        self.log_determinant = np.log(self.eigenvalues).sum()
        self.log_determinant += (d - len(t)) * np.log(g)

    def squared_distance(self, z):
        """Squared Mahalanobis norms (n,) of rows (n, d)."""
        projection = z @ self.eigenvectors.T
        square = (projection**2 / self.eigenvalues).sum(axis=1)
        if len(self.eigenvalues) < z.shape[1]:
            residual = z - projection @ self.eigenvectors
            square += (residual**2).sum(axis=1) / self.g
        return square


class RegularisedMeMdClassifier(PooledClassifier):
    """Maximum-entropy Bayes classifier between linear and quadratic.

    The constraints are the mean and the second moments of each class, relaxed towards
    the pooled second moments: regularised discriminant analysis [1]_.

    Parameters
    ----------
    class_shrinkage : float in (0, 1], default=0.6
        Weight g of the pooled covariance in that of each class; with 1 the classifier
        is linear.
    correlation_shrinkage : float in [0, 1] or "auto", default="auto"
        Pooled correlations are correlation_shrinkage I + (1 - correlation_shrinkage)
        R-hat; "auto" as in :class:`CorrelatedMeMdClassifier`.
    variance_shrinkage : float in [0, 1] or "auto", default=0.3
        Pooled variances v, with each feature in units of its range, become
        (1 - variance_shrinkage) v + variance_shrinkage median(v).
    priors : array-like of shape (K,), default=None
        Class probabilities in the order of ``classes_``; None takes the class shares
        of the instance weight.
    class_weight : None, "balanced" or dict, default=None

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    correlation_shrinkage_, variance_shrinkage_ : float
    scores_ : ndarray of shape (d,)
        Divergences in the pooled part, in nats, as in
        :class:`CorrelatedMeMdClassifier`.
    n_features_in_ : int

    Notes
    -----
    Values are clipped to the range of the training rows, so that a pixel that was dark
    in all but a few of them does not outvote the others when it lights up.

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

    _parameter_constraints = {
        "class_shrinkage": [FRACTION],
        **PooledClassifier._parameter_constraints,
    }

    def __init__(
        self,
        class_shrinkage=0.6,
        *,
        correlation_shrinkage="auto",
        variance_shrinkage=0.3,
        priors=None,
        class_weight=None,
    ):
        self.class_shrinkage = class_shrinkage
        self.correlation_shrinkage = correlation_shrinkage
        self.variance_shrinkage = variance_shrinkage
        self.priors = priors
        self.class_weight = class_weight

    def _estimate(self, moments):
        value_range = moments.high - moments.low
        unit = np.where(value_range > 0, value_range, 1.0)
        pooled = self._set_whitened_means(moments, unit)
        # The deviations after shrinkage are not those that standardised the residuals.
        rescaling = np.sqrt(moments.variance) / pooled.deviations
        residuals = moments.residuals * rescaling
        self._covariances = []
        for k, class_share in enumerate(moments.prior):
            rows = pooled.root(residuals[moments.codes == k]) / np.sqrt(class_share)
            self._covariances.append(_ClassCovariance(rows, self.class_shrinkage))
        linear = pooled.linear()
        self._points = linear.points
        self._near_point = linear.near_point
        self._means = [pooled.about(point) for point in linear.points]
        self._low = moments.low
        self._high = moments.high
        self._root = pooled.root
        self._deviations = pooled.deviations

    def _joint_log_density(self, X):
        X = np.clip(X, self._low, self._high)
        return recentred_scores(self._scores_about, X, self._near_point)

    def _scores_about(self, X, p):
        """Log p(x, k) of rows (n, d), (n, K), from their differences to point p.

        These have all digits for the classes whose mean is near to that point.
        """
        z = self._root((X - self._points[p]) / self._deviations)
        squares = []
        for mean, covariance in zip(self._means[p], self._covariances, strict=True):
            square = covariance.squared_distance(z - mean)
            squares.append(square + covariance.log_determinant)
        with np.errstate(divide="ignore"):  # a class of prior zero
            return np.log(self.class_prior_) - 0.5 * np.transpose(squares)
