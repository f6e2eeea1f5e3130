"""Joint maximum entropy: Gaussian classes with full, pooled or diagonal covariance.

Under E x and E x x^T the maximum-entropy density of a class is the multivariate normal
density of its mean and covariance. One covariance a class is quadratic discriminant
analysis, one for all classes linear discriminant analysis, and E x_s^2 alone (no
products of two features) Gaussian naive Bayes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memdlib._sklearn import StrOptions
from memdlib._types import Array, NDArray
from memdlib.estimator import finite_scores, fitted_attribute
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
    """Joint log densities of classes that have covariances of their own.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    means, means_lo : ndarray of shape (K, d)
        Means, and what rounding took off them.
    whitening : ndarray of shape (K, d, d)
        Matrices W with W' W the inverse of the covariance.
    """

    log_prior: Array
    means: Array
    means_lo: Array
    whitening: Array

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X):
        """Scores (n, K) of rows (n, d), up to what all classes share."""
        X = X.astype(np.float64)
        at_mean = self.log_prior + log_determinant(self.whitening)
        scores = np.tile(at_mean, (len(X), 1))
        for k, W in enumerate(self.whitening):
            # two steps, so that the difference keeps the digits of means_lo
            centred = X - self.means[k] - self.means_lo[k]
            scores[:, k] -= 0.5 * ((centred @ W.T) ** 2).sum(axis=1)
        return finite_scores(scores, X)


@dataclass(frozen=True, eq=False)
class _JointModel:
    """Joint normal densities of the classes.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    moments : JointMoments
    means, means_lo : ndarray of shape (K, d)
        Means, and what rounding took off them.
    covariances : ndarray of shape (K, d, d), or (d, d) if pooled
    whitening : ndarray of the same shape
        Matrices W with W' W the inverse of the covariance.
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
        """Joint log densities: linear in x if the classes share one covariance."""
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
    """Bayes classifier with Gaussian classes, from one pass over the data.

    Parameters
    ----------
    covariance : {"full", "pooled", "diagonal"}, default="full"
        "full" is quadratic discriminant analysis (a covariance for each class),
        "pooled" linear discriminant analysis (the within-class covariance for all),
        "diagonal" Gaussian naive Bayes, which is :class:`memdlib.MeMdClassifier` with
        all features. Covariances are maximum-likelihood ones (moment matching: division
        by n).
    correlation_shrinkage : float in [0, 1] or "auto", default="auto"
        "full" and "pooled": correlations are multiplied by 1 - correlation_shrinkage,
        variances stay, so that the units of the features do not matter. "auto" is the
        intensity of least mean squared error [1]_, with the sampling variances that the
        Gaussian model itself implies; it vanishes as 1/n and always gives a proper
        density; it is the default because a covariance of few rows is singular. 0 is
        plain moment matching.
    variance_shrinkage : float in [0, 1] or "auto", default="auto"
        "diagonal": class variances v_k become (1 - variance_shrinkage) v_k +
        variance_shrinkage v_within, as in :class:`memdlib.MeMdClassifier`; "auto" as
        above. In all cases a variance of zero is replaced (see
        :meth:`memdlib.families.Normal.regularise`).

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_prior_ : ndarray of shape (K,)
        Shares of the instance weight.
    means_ : ndarray of shape (K, d)
    covariances_ : ndarray of shape (K, d, d), "pooled" (d, d), "diagonal" (K, d)
        After shrinkage; variances if "diagonal".
    mean_params_, natural_params_ : ndarray of shape (K, d, d + 1)
        Parameters of the class densities as in
        :class:`memdlib.families.MultivariateNormal`; if "diagonal",
        (K, d, 2) as in :class:`memdlib.families.Normal`.
    correlation_shrinkage_ : ndarray of shape (K,), or () if "pooled"
        Intensity in use; "full" and "pooled" only.
    variance_shrinkage_ : float
        Intensity in use; "diagonal" only.
    feature_importances_ : ndarray of shape (d,)
        JS_GM of the marginals, in nats.
    n_features_in_ : int

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
    variance_shrinkage_ = fitted_attribute("variance_shrinkage")

    @property
    def means_(self):
        """Class means, shape (K, d)."""
        return self.mean_params_[..., 0]

    @property
    def feature_importances_(self):
        """JS_GM of the marginal normal densities of each feature, shape (d,)."""
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
            Finite numbers; sparse only if ``covariance="diagonal"``.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the covariance of a class is singular; the message names the class.
        """
        X, codes, weight, classes = validate_labelled(self, X, y, sample_weight)
        moments = self._class_moments(X, codes, len(classes), weight)
        self._fitted = self._estimate(moments, classes)
        return self

    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        X, codes, weight, classes = validate_batch(
            self, X, y, sample_weight, classes, known_classes
        )
        return self._class_moments(X, codes, len(classes), weight), classes

    def _class_moments(self, X, codes, n_classes, weight):
        """Moments of validated data: marginal, or joint ones."""
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
    """Whitening matrices, or an error that names the class."""
    matrices = covariances.reshape(-1, *covariances.shape[-2:])
    factors = []
    for name, covariance in zip(names, matrices, strict=True):
        try:
            factors.append(whitening(covariance))
        except ValueError as error:
            remedy = 'use correlation_shrinkage > 0 or "auto", or fewer features'
            raise ValueError(f"class {name!r}: {error}; {remedy}") from error
    return np.reshape(factors, covariances.shape)
