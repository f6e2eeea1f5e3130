"""Joint maximum entropy: Gaussian classes with full, pooled or diagonal covariance.

Given E x and E x x^T, the maximum-entropy density of a class is the multivariate normal
density with its mean and covariance. One covariance per class leads to quadratic
discriminant analysis, one covariance for all classes to linear discriminant analysis,
and E x_s^2 alone (without products of features) to Gaussian naive Bayes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memdlib._sklearn import StrOptions
from memdlib._types import Array, NDArray
from memdlib.estimator import check_finite_scores, fitted_attribute
from memdlib.families.multivariate import MultivariateNormal, log_determinant, whitening
from memdlib.families.normal import Normal
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.memd import MarginalModel, MomentClassifier
from memdlib.generative.scores import LinearScores, MarginalScores
from memdlib.moments import JointMoments, joint_moments
from memdlib.validation import (
    UNIT_INTERVAL,
    restore_on_error,
    validate_batch,
    validate_labelled,
)

COVARIANCES = ("full", "pooled", "diagonal")


class _DiagonalModel(MarginalModel):
    """Normal marginals of all features."""

    @property
    def covariances(self):
        """Variances, shape (K, d)."""
        return Normal.variance(self.marginals.mean_params)


@dataclass(frozen=True, eq=False)
class _QuadraticScores:
    """Joint log densities of classes with one covariance each.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    means, means_lo : ndarray of shape (K, d)
        Means, and the rounding errors to add to them.
    whitening : ndarray of shape (K, d, d)
        Matrices W such that W' W is the inverse of the covariance.
    """

    log_prior: Array
    means: Array
    means_lo: Array
    whitening: Array

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X):
        """Scores (n, K) of rows (n, d), up to a term that all classes share."""
        X = X.astype(np.float64)
        at_mean = self.log_prior + log_determinant(self.whitening)
        scores = np.tile(at_mean, (len(X), 1))
        for k, W in enumerate(self.whitening):
            # in two steps, so that the difference keeps the digits of means_lo
            centred = X - self.means[k] - self.means_lo[k]
            scores[:, k] -= 0.5 * ((centred @ W.T) ** 2).sum(axis=1)
        return check_finite_scores(scores, X)


@dataclass(frozen=True, eq=False)
class _JointModel:
    """Joint normal densities of the classes.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    moments : JointMoments
    means, means_lo : ndarray of shape (K, d)
        Means, and the rounding errors to add to them.
    covariances : ndarray of shape (K, d, d), or (d, d) if pooled
    whitening : ndarray of the same shape
        Matrices W such that W' W is the inverse of the covariance.
    correlation_shrinkage : ndarray of shape (K,), or () if pooled
    """

    classes: NDArray
    moments: JointMoments
    means: Array
    means_lo: Array
    covariances: Array
    whitening: Array
    correlation_shrinkage: Array

    @property
    def class_prior(self):
        """Class probabilities, shape (K,)."""
        return self.moments.prior

    @property
    def mean_params(self):
        """Mean parameters of the class densities, shape (K, d, d + 1)."""
        return MultivariateNormal.mean_parameters(self.means, self.covariances)

    @property
    def natural_params(self):
        """Natural parameters of the class densities, shape (K, d, d + 1)."""
        W = self.whitening
        precision = np.broadcast_to(W.mT @ W, (len(self.means), *W.shape[-2:]))
        linear = -precision @ self.means[..., None]
        return np.concatenate([linear, 0.5 * precision], axis=-1)

    @cached_property
    def scores(self):
        """Joint log densities; linear in x if the classes share one covariance."""
        W = self.whitening
        prior = self.class_prior
        if W.ndim == 3:
            with np.errstate(divide="ignore"):
                log_prior = np.log(prior)
            return _QuadraticScores(log_prior, self.means, self.means_lo, W)

        def whiten(point):
            return ((self.means - point) + self.means_lo) @ W.T

        def slopes_of(coordinates):
            return coordinates @ W

        return LinearScores.of(prior, self.means, prior @ self.means, whiten, slopes_of)


class JointMaxEntClassifier(MomentClassifier):
    """Bayes classifier with Gaussian classes, fitted in one pass over the data.

    Parameters
    ----------
    covariance : {"full", "pooled", "diagonal"}, default="full"
        Structure of the class covariances. "full" is quadratic discriminant analysis,
        with one covariance per class; "pooled" is linear discriminant analysis, with
        the within-class covariance for all classes; "diagonal" is Gaussian naive Bayes,
        which is :class:`memdlib.MeMdClassifier` with all features. Covariances are
        maximum-likelihood estimates (moment matching, that is, division by n).
    correlation_shrinkage : float in [0, 1] or "auto", default="auto"
        Shrinkage of correlations, for "full" and "pooled" only. Correlations are
        multiplied by 1 - correlation_shrinkage and variances are kept, so the units of
        the features do not matter. 0 is plain moment matching. "auto" is the intensity
        of least mean squared error [1]_, with the sampling variances implied by the
        Gaussian model; it vanishes as 1/n and always gives a proper density. It is the
        default because a covariance estimated from few rows is singular.
    variance_shrinkage : float in [0, 1] or "auto", default="auto"
        Shrinkage of class variances towards the within-class variance, for "diagonal"
        only: v_k becomes (1 - variance_shrinkage) v_k + variance_shrinkage v_within, as
        in :class:`memdlib.MeMdClassifier`. "auto" is the intensity of least mean
        squared error, as above. With any setting, a variance of zero is replaced (see
        :meth:`memdlib.families.Normal.regularise`).

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Class labels.
    class_prior_ : ndarray of shape (K,)
        Share of each class in the instance weight.
    means_ : ndarray of shape (K, d)
        Class means.
    covariances_ : ndarray of shape (K, d, d), "pooled" (d, d), "diagonal" (K, d)
        Covariances after shrinkage; variances if "diagonal".
    mean_params_, natural_params_ : ndarray of shape (K, d, d + 1)
        Parameters of the class densities, as in
        :class:`memdlib.families.MultivariateNormal`. If "diagonal", their shape is
        (K, d, 2), as in :class:`memdlib.families.Normal`.
    correlation_shrinkage_ : ndarray of shape (K,), or () if "pooled"
        Correlation shrinkage in use; "full" and "pooled" only.
    variance_shrinkage_ : float
        Variance shrinkage in use; "diagonal" only.
    feature_importances_ : ndarray of shape (d,)
        JS_GM of the marginal densities of each feature, in nats.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    memdlib.MeMdClassifier : Independent features, with selection by divergence.
    memdlib.generative.CorrelatedMeMdClassifier : A pooled covariance for thousands of
        features.

    References
    ----------
    .. [1] Schaefer & Strimmer, A shrinkage approach to large-scale covariance matrix
       estimation, Statistical Applications in Genetics and Molecular Biology 4 (2005).

    Examples
    --------
    >>> from memdlib import JointMaxEntClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = JointMaxEntClassifier("pooled").fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.966
    >>> round(float(clf.correlation_shrinkage_), 3)
    0.255
    """

    _parameter_constraints = {
        "covariance": [StrOptions(set(COVARIANCES))],
        "correlation_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
        "variance_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
    }

    def __init__(
        self,
        covariance="full",
        *,
        correlation_shrinkage="auto",
        variance_shrinkage="auto",
    ):
        self.covariance = covariance
        self.correlation_shrinkage = correlation_shrinkage
        self.variance_shrinkage = variance_shrinkage

    covariances_ = fitted_attribute("covariances")
    correlation_shrinkage_ = fitted_attribute("correlation_shrinkage")
    variance_shrinkage_ = fitted_attribute("marginals.variance_shrinkage")

    @property
    def _weights_count_rows(self):
        """Whether the shrinkage is estimated, which counts rows."""
        if self.covariance == "diagonal":
            return self.variance_shrinkage == "auto"
        return self.correlation_shrinkage == "auto"

    @property
    def means_(self):
        """Class means, shape (K, d)."""
        return self.mean_params_[..., 0]

    @property
    def feature_importances_(self):
        """JS_GM of the marginal normal densities of each feature, nats, shape (d,)."""
        variance = self.covariances_
        if self.covariance != "diagonal":
            variance = np.diagonal(variance, axis1=-2, axis2=-1)
        marginals = Normal.mean_parameters(self.means_, variance)
        return Normal().js_gm(marginals, self.class_prior_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.covariance == "diagonal"
        return tags

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Estimate the class densities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite numbers. Sparse input is accepted only if ``covariance="diagonal"``.
        y : array-like of shape (n,)
            Class labels of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the covariance of a class is singular. The message names the class.

        Warns
        -----
        UserWarning
            If the weights of several rows sum to one or less and a shrinkage is "auto".
        """
        X, codes, weight, classes = validate_labelled(self, X, y, sample_weight)
        moments = self._class_moments(X, codes, len(classes), weight)
        self._fitted = self._estimate(moments, classes)
        self._warn_of_outcome(X, codes, weight)
        return self

    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        X, codes, weight, classes = validate_batch(
            self, X, y, sample_weight, classes, known_classes
        )
        return self._class_moments(X, codes, len(classes), weight), classes

    def _class_moments(self, X, codes, n_classes, weight):
        """Compute the moments of validated data, marginal or joint."""
        if self.covariance == "diagonal":
            return family_moments(Normal(), X, codes, n_classes, weight)
        return joint_moments(X, codes, n_classes, sample_weight=weight)

    def _estimate(self, moments, classes):
        if self.covariance == "diagonal":
            marginals = ClassMarginals(
                moments, Normal(), variance_shrinkage=self.variance_shrinkage
            )
            scores = MarginalScores.of(marginals, np.arange(moments.n_features))
            return _DiagonalModel(classes, marginals, scores)
        pooled = self.covariance == "pooled"
        centres, covariances, correlation_shrinkage = MultivariateNormal().regularise(
            moments.mean,
            moments.weight,
            correlation_shrinkage=self.correlation_shrinkage,
            pooled=pooled,
            location=moments.location,
        )
        names = ["all classes together"] if pooled else classes.tolist()
        means = moments.location + centres
        return _JointModel(
            classes=classes,
            moments=moments,
            means=means,
            means_lo=(moments.location - means) + centres,
            covariances=covariances,
            whitening=_named_whitening(covariances, names),
            correlation_shrinkage=correlation_shrinkage,
        )


def _named_whitening(covariances, names):
    """Return whitening matrices; raise an error that names the class."""
    matrices = covariances.reshape(-1, *covariances.shape[-2:])
    factors = []
    for name, covariance in zip(names, matrices, strict=True):
        try:
            factors.append(whitening(covariance))
        except ValueError as error:
            remedy = 'use correlation_shrinkage > 0 or "auto", or fewer features'
            raise ValueError(f"class {name!r}: {error}; {remedy}") from error
    return np.reshape(factors, covariances.shape)
