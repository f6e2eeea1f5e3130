"""MeMd with correlations: Bayes' rule on the most divergent whitened coordinates.

With M_k the mean of class k in the coordinates z of :mod:`memdlib.generative.pooled`,
Bayes' rule on the coordinates S of largest J_j is linear in x:

    argmax_k  log pi_k + sum_{j in S} (z_j M_kj - M_kj^2 / 2).
"""

import numpy as np

from memdlib.generative.pooled import PooledClassifier
from memdlib.generative.ranking import SIZE_CONSTRAINTS, rank
from memdlib.validation import count_features


class CorrelatedMeMdClassifier(PooledClassifier):
    """Maximum-entropy Bayes classifier that allows for correlated features.

    It matches the class means and the pooled second moments: linear discriminant
    analysis with shrunken correlations, on the whitened coordinates that discriminate
    most. With thousands of features its cost is O(n^2 d).

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=None
        How many whitened coordinates enter Bayes' rule: a number S, a fraction of them,
        or all.
    correlation_shrinkage : float in [0, 1] or "auto", default="auto"
        R is correlation_shrinkage I + (1 - correlation_shrinkage) R-hat. "auto" is the
        intensity of least mean squared error [1]_ and always gives a proper density.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        Variances v become (1 - variance_shrinkage) v + variance_shrinkage median(v).
        Leave it at zero unless all features are in the same units.
    priors : array-like of shape (K,), default=None
        Class probabilities in the order of ``classes_``; None takes the class shares
        of the instance weight.
    class_weight : None, "balanced" or dict, default=None

    Attributes
    ----------
    classes_, class_prior_ : ndarray of shape (K,)
    whitened_means_ : ndarray of shape (K, d)
        M, whose average by ``class_prior_`` is zero.
    scores_ : ndarray of shape (d,)
        Divergence J_j of each coordinate, in nats; they add up to JS_GM of the classes.
    order_ : ndarray of shape (d,)
        Indices of the coordinates, the most divergent first.
    n_selected_ : int
        S, the number of coordinates in use.
    correlation_shrinkage_, variance_shrinkage_ : float
    coef_ : ndarray of shape (1, d) for two classes, else (K, d)
        Nats per unit of each column of X.
    intercept_ : ndarray of shape (1,) for two classes, else (K,)
        ``X @ coef_.T + intercept_`` is ``decision_function`` for two classes; for more
        it differs from it by a number that all classes of a row share.
    n_features_in_ : int

    Notes
    -----
    What is selected is a coordinate after whitening, not a column of X: J_j is what
    feature j contributes beyond its neighbours, for two classes the squared
    correlation-adjusted t-score [2]_ up to a factor. To measure fewer features, put
    :class:`memdlib.DivergenceRanker` in front.

    References
    ----------
    .. [1] Schaefer & Strimmer, A shrinkage approach to large-scale covariance matrix
       estimation, Statistical Applications in Genetics and Molecular Biology 4 (2005).
    .. [2] Zuber & Strimmer, Gene ranking and biomarker discovery under correlation,
       Bioinformatics 25 (2009).

    Examples
    --------
    >>> from memdlib.generative import CorrelatedMeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = CorrelatedMeMdClassifier().fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3), round(clf.correlation_shrinkage_, 3)
    (0.966, 0.255)
    """

    _parameter_constraints = SIZE_CONSTRAINTS | PooledClassifier._parameter_constraints

    def __init__(
        self,
        n_features=None,
        *,
        correlation_shrinkage="auto",
        variance_shrinkage=0.0,
        priors=None,
        class_weight=None,
    ):
        self.n_features = n_features
        self.correlation_shrinkage = correlation_shrinkage
        self.variance_shrinkage = variance_shrinkage
        self.priors = priors
        self.class_weight = class_weight

    def _estimate(self, moments):
        d = moments.means.shape[1]
        self.n_selected_ = count_features(self.n_features, d, "n_features")
        whitened = self._set_whitened_means(moments, unit=1.0)
        self.whitened_means_ = whitened.means
        self.order_ = rank(self.scores_)
        mask = np.zeros(d)
        mask[self.order_[: self.n_selected_]] = 1.0
        self._linear = whitened.linear(mask)
        # The coefficients are those about the centre, the first of the points.
        slopes = self._linear.slopes[0]
        intercepts = self._linear.offsets[0] - slopes @ self._linear.points[0]
        if len(slopes) == 2:
            slopes = np.diff(slopes, axis=0)
            intercepts = np.diff(intercepts)
        self.coef_ = slopes
        self.intercept_ = intercepts

    def _joint_log_density(self, X):
        return self._linear.total(X)
