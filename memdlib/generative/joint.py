"""Joint maximum entropy: Gaussian classes with full, pooled or diagonal covariance.

Under E x and E x x^T the maximum-entropy density of a class is the multivariate normal
density of its mean and covariance. One covariance a class is quadratic discriminant
analysis, one for all classes linear discriminant analysis, and E x_s^2 alone (no
products of two features) Gaussian naive Bayes.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib.families.multivariate import (
    MultivariateNormal,
    log_determinant,
    whitening,
)
from memdlib.families.normal import Normal
from memdlib.moments.collect import class_moments
from memdlib.moments.joint import joint_moments
from memdlib.validation import check_choice, check_shrinkage, dense_data

Array = NDArray[np.float64]

COVARIANCES = ("full", "pooled", "diagonal")

# Standard deviations from their centre up to which classes are scored by one product.
_FAR = 1e3


def _marginal_estimate(
    marginal: Array, weight: Array, shrinkage: float | str, location: Array
):
    """Means (K, d), shrunken variances (K, d) and the intensity (), of (K, d, 2)."""
    if shrinkage == "auto":
        shrinkage = Normal().choose_shrinkage(marginal, weight)
    regular = Normal().regularise(
        marginal, weight, shrinkage=shrinkage, smoothing=0.0, location=location
    )
    return regular[..., 0], Normal.variance(regular), np.float64(shrinkage)


class JointMaxEntClassifier(ClassifierMixin, BaseEstimator):
    """Bayes classifier with Gaussian classes, from one pass over the data.

    Parameters
    ----------
    covariance : {"full", "pooled", "diagonal"}, default="full"
        "full" is quadratic discriminant analysis (a covariance for each class),
        "pooled" linear discriminant analysis (the within-class covariance for all),
        "diagonal" Gaussian naive Bayes. Covariances are maximum-likelihood ones
        (moment matching: division by n).
    shrinkage : float in [0, 1] or "auto", default="auto"
        "full" and "pooled": correlations are multiplied by 1 - shrinkage, variances
        stay. "diagonal": class variances v_k become (1 - shrinkage) v_k + shrinkage
        v_within, as in :class:`memdlib.MeMdClassifier`. Either way the units of the
        features do not matter. "auto" is the intensity of least mean squared error
        [1]_, with the sampling variances that the Gaussian model itself implies; it
        vanishes as 1/n and always gives a proper density. 0 is plain moment matching.
        In all cases a variance of zero is replaced (see
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
    shrinkage_ : ndarray of shape (K,), or () unless "full"
        Intensity in use.
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
    >>> round(clf.score(X[1::2], y[1::2]), 3), round(float(clf.shrinkage_), 3)
    (0.966, 0.255)
    """

    def __init__(self, covariance="full", shrinkage="auto"):
        self.covariance = covariance
        self.shrinkage = shrinkage

    def fit(self, X, y, sample_weight=None):
        """Estimate the class densities.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite.
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
            On a single class, a covariance that is singular without shrinkage, or a
            parameter out of range.
        """
        X, codes, weight, classes = dense_data(self, X, y, sample_weight)
        self._estimate(self._collect(X, codes, classes, weight), classes)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add a batch; the result is that of one fit on all batches together.

        That holds for shrinkage="auto" too, which is a function of the moments.
        Without shrinkage, every class that has rows needs enough of them after each
        batch. A batch that fails changes nothing.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,), default=None
            All classes that will ever occur; required on the first call.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As :meth:`fit`; and if ``classes`` is missing on the first call or changes
            later, or if a label is not among them.
        """
        first = not hasattr(self, "_moments")
        X, codes, weight, seen = dense_data(
            self, X, y, sample_weight, reset=first, several=False
        )
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        known = np.unique(classes) if first else self.classes_
        if classes is not None and not np.array_equal(known, np.unique(classes)):
            raise ValueError(
                f"classes={list(classes)}, but on the first call {known.tolist()}"
            )
        unknown = np.setdiff1d(seen, known).tolist()
        if unknown:
            raise ValueError(
                f"label {unknown[0]!r} is not among the classes of the first call"
            )
        codes = np.searchsorted(known, seen)[codes]
        old = None if first else self._moments
        new = self._collect(X, codes, known, weight)
        self._estimate(old.merge(new) if old else new, known)
        return self

    def predict(self, X):
        """Class of each row of X (n, d), shape (n,)."""
        check_is_fitted(self)
        return self.classes_[self._joint_log_density(X).argmax(axis=1)]

    def predict_log_proba(self, X):
        """Log posterior of each class, (n, K), in the order of ``classes_``."""
        check_is_fitted(self)
        return log_softmax(self._joint_log_density(X), axis=1)

    def predict_proba(self, X):
        """Posterior of each class, (n, K), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    @property
    def mean_params_(self):
        """Mean parameters of the class densities."""
        family = Normal if self._kind == "diagonal" else MultivariateNormal
        return family.mean_parameters(self.means_, self.covariances_)

    @property
    def natural_params_(self):
        """Natural parameters of the class densities."""
        means, W = self.means_[..., None], self._whitening
        if self._kind == "diagonal":
            precision = W[..., None] ** 2
            return np.concatenate([-precision * means, 0.5 * precision], axis=-1)
        precision = np.broadcast_to(
            np.swapaxes(W, -1, -2) @ W, (len(means), *W.shape[-2:])
        )
        return np.concatenate([-precision @ means, 0.5 * precision], axis=-1)

    def _collect(self, X, codes, classes, weight):
        """Moments of a batch; products of features only where they are needed."""
        kind = check_choice(self.covariance, "covariance", COVARIANCES)
        if kind == "diagonal":
            return class_moments(X, codes, len(classes), order=2, sample_weight=weight)
        return joint_moments(X, codes, len(classes), sample_weight=weight)

    def _estimate(self, moments, classes):
        """Everything that follows from the moments, or an error and no change."""
        kind, shrinkage = self.covariance, check_shrinkage(self.shrinkage)
        options = {
            "weight": moments.weight,
            "shrinkage": shrinkage,
            "location": moments.location,
        }
        if kind == "diagonal":
            estimate = _marginal_estimate(moments.mean, **options)
            W = 1.0 / np.sqrt(estimate[1])
        else:
            pooled = kind == "pooled"
            family = MultivariateNormal()
            estimate = family.regularise(moments.mean, pooled=pooled, **options)
            names = ["all classes together"] if pooled else classes.tolist()
            W = _named_whitening(estimate[1], names)
        means, self.covariances_, self.shrinkage_ = estimate
        self.means_ = moments.location + means
        self.classes_, self.class_prior_ = classes, moments.prior
        self._moments, self._kind, self._whitening = moments, kind, W

    @np.errstate(over="ignore", invalid="ignore")
    def _joint_log_density(self, X):
        """Log pi_k + log p_k(x) up to what is common to all classes, (n, K)."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        X, W, means = X.astype(np.float64), self._whitening, self.means_
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.class_prior_)
        centre = self.class_prior_ @ means
        z_k = (means - centre) @ W.T if self._kind == "pooled" else np.inf
        if np.abs(z_k).max() < _FAR:
            z = (X - centre) @ W.T
            joint = z @ z_k.T + (log_prior - 0.5 * (z_k**2).sum(axis=1))
        else:
            diagonal = self._kind == "diagonal"
            if self._kind == "pooled":
                W = np.broadcast_to(W, (len(means), *W.shape))
            log_scale = np.log(W).sum(axis=1) if diagonal else log_determinant(W)
            joint = np.tile(log_prior + log_scale, (len(X), 1))
            for k, (m, w) in enumerate(zip(means, W, strict=True)):
                z = (X - m) * w if diagonal else (X - m) @ w.T
                joint[:, k] -= 0.5 * (z**2).sum(axis=1)
        lost = ~np.isfinite(joint.max(axis=1))
        if lost.any():
            raise ValueError(
                "the log densities of a row that holds "
                f"{np.abs(X[lost.argmax()]).max():.6g} overflow; bring X to the scale "
                "of the data that the model was fitted to"
            )
        return joint


def _named_whitening(covariance: Array, names: list) -> Array:
    """Whitening matrices, or an error that names the class."""
    W = []
    for name, S in zip(
        names, covariance.reshape(-1, *covariance.shape[-2:]), strict=True
    ):
        try:
            W.append(whitening(S))
        except ValueError as error:
            remedy = 'use shrinkage > 0 or "auto", or fewer features'
            raise ValueError(f"class {name!r}: {error}; {remedy}") from error
    return np.reshape(W, covariance.shape)
