"""Multivariate normal densities: means and second moments of d features together."""

from dataclasses import dataclass

import numpy as np

from memdlib.divergences import x_minus_log1p
from memdlib.families.base import ROUNDING, Family, as_floats
from memdlib.families.normal import SMALLEST_VARIANCE, VARIANCE_REMEDY, Normal
from memdlib.families.shrinkage import correlation_intensity
from memdlib.validation import check_domain


@dataclass(frozen=True)
class MultivariateNormal(Family):
    """Multivariate normal densities: E x and E x x^T on R^d.

    Parameters are arrays of shape (..., d, d + 1): column 0 belongs to x and the
    columns 1..d to x x^T, so that lambda . phi is a sum over the last two axes.

        mu     = [ E x               | E x x^T      ],
        lambda = [ -Sigma^-1 mean    | Sigma^-1 / 2 ].

    Examples
    --------
    >>> f = MultivariateNormal()
    >>> mu = f.mean_parameters([1.0, 0.0], [[2.0, 1.0], [1.0, 1.0]])
    >>> mu.tolist()
    [[1.0, 3.0, 1.0], [0.0, 1.0, 1.0]]
    >>> f.natural(mu).round(12).tolist()
    [[-1.0, 0.5, -0.5], [1.0, -0.5, 1.0]]
    """

    name = "multivariate_normal"
    axes = (-2, -1)

    @staticmethod
    def mean_parameters(mean, covariance):
        """Mean parameters (..., d, d + 1) of means (..., d) and covariances."""
        mean = as_floats(mean)[..., None]
        second = covariance + mean * mean.mT
        mean = np.broadcast_to(mean, (*second.shape[:-1], 1))
        return np.concatenate([mean, second], axis=-1)

    @staticmethod
    def covariance(mu):
        """Covariance E x x^T - (E x)(E x)^T, (..., d, d), of mean parameters."""
        mu = as_floats(mu)
        mean = mu[..., :1]
        return mu[..., 1:] - mean * mean.mT

    def regularise(
        self,
        mu,
        weight,
        *,
        correlation_shrinkage,
        pooled,
        location=None,
    ):
        """Shrink class correlations, and replace variances that are zero.

        Correlations are multiplied by 1 - correlation_shrinkage; a variance of zero is
        replaced as in :meth:`memdlib.families.Normal.regularise`, and has no
        correlations.

        Parameters
        ----------
        mu : ndarray of shape (K, d, d + 1)
            Class mean parameters about a location near the data of the class.
        weight : ndarray of shape (K,)
            Total instance weight of each class.
        correlation_shrinkage : float in [0, 1] or "auto"
            "auto" is the intensity of least mean squared error.
        pooled : bool
            One covariance, the within-class covariance, for all classes.
        location : ndarray of shape (K, d), default=None
            These locations; None means the same for all classes.

        Returns
        -------
        mean : ndarray of shape (K, d)
            About the locations.
        covariance : ndarray of shape (K, d, d), or (d, d) if pooled
        correlation_shrinkage : ndarray of shape (K,), or () if pooled
        """
        second = np.diagonal(mu[..., 1:], axis1=-2, axis2=-1)
        marginal = np.stack([mu[..., 0], second], axis=-1)
        varies = Normal.class_variance(marginal) > 0
        marginal = Normal().regularise(
            marginal,
            weight,
            variance_shrinkage=float(pooled),
            alpha=0.0,
            location=location,
        )
        variance = Normal.variance(marginal)
        covariance = _rescale(self.covariance(mu), varies)
        freedom = weight - 1.0
        if pooled:
            covariance = np.tensordot(weight / weight.sum(), covariance, axes=1)
            variance = variance[0]
            freedom = weight.sum() - np.count_nonzero(weight)
        correlation, correlation_shrinkage = _shrunken_correlation(
            covariance, correlation_shrinkage, freedom
        )
        covariance = _rescale(correlation, np.sqrt(variance))
        return marginal[..., 0], covariance, correlation_shrinkage

    def natural(self, mu):
        """Natural parameters (..., d, d + 1) of mean parameters (..., d, d + 1)."""
        mu = as_floats(mu)
        precision = _square(whitening(self.covariance(mu)))
        linear = -precision @ mu[..., :1]
        return np.concatenate([linear, 0.5 * precision], axis=-1)

    def mean(self, lam):
        """Mean parameters (..., d, d + 1) of natural parameters (..., d, d + 1)."""
        mean, W = self._mean_and_whitening(lam)
        return self.mean_parameters(mean[..., 0], _square(W))

    def log_normaliser(self, lam):
        """Log-normaliser (...) of natural parameters (..., d, d + 1)."""
        # phi(0) = 0, so that log p(0) = -psi
        origin = np.zeros((1, np.shape(lam)[-2]))
        return -self.log_density(origin, lam)[0]

    def entropy(self, mu):
        """Differential entropy, shape (...), in nats."""
        W = whitening(self.covariance(mu))
        d = W.shape[-1]
        return 0.5 * d * np.log(2.0 * np.pi * np.e) - log_determinant(W)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2), shape (...), in nats, of mean parameters.

        With the eigenvalues t of Sigma_2^-1 (Sigma_1 - Sigma_2), twice the divergence
        is the sum of t - log(1 + t) and the squared Mahalanobis distance of the means.
        """
        W1, W2, shift, change = self._compare(mu1, mu2)
        t = np.linalg.eigvalsh(W2 @ change @ W2.mT)
        near = np.abs(t).max(axis=-1) <= 0.5
        # where the trace and the log-determinant would cancel
        close = x_minus_log1p(np.where(near[..., None], t, 0.0)).sum(axis=-1)
        # trace - d less the log determinant of Sigma_2^-1 Sigma_1
        log_ratio = 2.0 * (log_determinant(W2) - log_determinant(W1))
        far = t.sum(axis=-1) - log_ratio
        covariances = np.where(near, close, far)
        return 0.5 * (covariances + _square_norm(W2 @ shift))

    def jeffreys(
        self,
        mu1,
        mu2,
        location=None,
    ):
        """J(p_1, p_2), shape (...), in nats, a sum of squares that cannot cancel.

        Parameters
        ----------
        mu1, mu2 : array_like of shape (..., d, d + 1)
            Mean parameters.
        location : array_like of shape (2, ..., d), default=None
            Points that ``mu1`` and ``mu2`` are taken about; None means the same point.

        Returns
        -------
        ndarray of shape (...)
        """
        W1, W2, shift, change = self._compare(mu1, mu2)
        if location is not None:
            shift = (location[0] - location[1])[..., None] + shift
        covariances = _square_norm(W2 @ change @ W1.mT)
        means = _square_norm(W1 @ shift) + _square_norm(W2 @ shift)
        return 0.5 * (covariances + means)

    def js_gm(
        self,
        mu,
        weights,
        lam=None,
        location=None,
    ):
        """JS_GM of K members, shape (...), in nats.

        Parameters
        ----------
        mu : array_like of shape (K, ..., d, d + 1)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        lam : array_like of shape (K, ..., d, d + 1), default=None
            Ignored.
        location : array_like of shape (K, ..., d), default=None
            Points that the members are taken about; None means the same point.

        Returns
        -------
        ndarray of shape (...)
        """
        mu = as_floats(mu)
        w = as_floats(weights)
        heaviest = np.argmax(w)
        W, W0, shift, change = self._compare(mu, mu[heaviest])
        if location is not None:
            location = np.asarray(location)
            shift = (location - location[heaviest])[..., None] + shift
        # differences of lambda as products: near-equal members keep their digits
        precision = _square(W)
        linear = -precision @ shift
        quadratic = -0.5 * precision @ change @ _square(W0)
        lam = np.concatenate([linear, quadratic], axis=-1)
        lam -= np.tensordot(w, lam, 1)
        mu = self.mean_parameters(shift[..., 0], change)
        mu -= np.tensordot(w, mu, 1)
        covariance = np.einsum("k,k...ab,k...ab->...", w, lam, mu)
        return np.maximum(-covariance, 0.0)

    def log_density(self, X, lam):
        """Log density of rows (n, d), shape (n, ...), in nats."""
        lam = as_floats(lam)
        x = as_floats(X)
        mean, W = self._mean_and_whitening(lam)
        # rows as columns (n, 1, ..., 1, d, 1), to broadcast against the members
        n, d = x.shape
        leading = [1] * (lam.ndim - 2)
        x = x.reshape(n, *leading, d, 1) - mean
        square = 2.0 * (x * (lam[..., 1:] @ x)).sum(axis=(-1, -2))
        return -0.5 * (square + d * np.log(2.0 * np.pi)) - log_determinant(W)

    @staticmethod
    def _mean_and_whitening(lam):
        """Mean (..., d, 1), and the whitening matrix of the *precision*."""
        lam = as_floats(lam)
        quadratic = lam[..., 1:]
        W = whitening(quadratic + quadratic.mT)
        mean = -W.mT @ (W @ lam[..., :1])
        return mean, W

    def _compare(self, mu1, mu2):
        """Whitening matrices; differences of means (..., d, 1) and of covariances."""
        mu1 = as_floats(mu1)
        mu2 = as_floats(mu2)
        difference = mu1 - mu2
        shift = difference[..., :1]
        # m_1 m_1^T - m_2 m_2^T from the difference of the means
        square = mu1[..., :1] @ shift.mT + shift @ mu2[..., :1].mT
        W1 = whitening(self.covariance(mu1))
        W2 = whitening(self.covariance(mu2))
        return W1, W2, shift, difference[..., 1:] - square


def whitening(covariance):
    """Inverse W of the Cholesky factor: W Sigma W^T = I and Sigma^-1 = W^T W.

    Parameters
    ----------
    covariance : array_like of shape (..., d, d)

    Returns
    -------
    ndarray of shape (..., d, d)
        Lower triangular. A ValueError names the first variance, or the first smallest
        eigenvalue of a correlation matrix, that is not above zero.
    """
    S = as_floats(covariance)
    variance = np.diagonal(S, axis1=-2, axis2=-1)
    valid = (variance >= SMALLEST_VARIANCE) & (variance < np.inf)
    check_domain(valid, variance, "variance", VARIANCE_REMEDY)
    scale = np.sqrt(variance)
    correlation = S / scale[..., :, None] / scale[..., None, :]
    smallest = np.linalg.eigvalsh(correlation)[..., 0]
    check_domain(
        smallest > S.shape[-1] * ROUNDING,
        smallest,
        "smallest eigenvalue of the correlation matrix",
        "a joint normal density needs a positive definite covariance; shrink the "
        "correlations or drop features that depend on others",
    )
    return np.linalg.inv(np.linalg.cholesky(correlation)) / scale[..., None, :]


def log_determinant(W):
    """Log determinant (...) of lower triangular W (..., d, d) of positive diagonal."""
    diagonal = np.diagonal(W, axis1=-2, axis2=-1)
    return np.log(diagonal).sum(axis=-1)


def _shrunken_correlation(covariance, correlation_shrinkage, freedom):
    """Correlations (..., d, d) times 1 - correlation_shrinkage; ones on the diagonal.

    Features without variance have no correlations. The shrinkage in use (...) is
    returned too; "auto" estimates it with the degrees of freedom (...).
    """
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    varies = variance > 0
    unit = np.eye(covariance.shape[-1])
    correlation = _rescale(
        covariance, 1.0 / np.sqrt(np.where(varies, variance, np.inf))
    )
    correlation *= 1.0 - unit
    if correlation_shrinkage == "auto":
        squares = _square_norm(correlation)
        correlation_shrinkage = correlation_intensity(
            squares, varies.sum(axis=-1), freedom
        )
    correlation_shrinkage = np.broadcast_to(correlation_shrinkage, np.shape(freedom))
    return (
        1.0 - correlation_shrinkage[..., None, None]
    ) * correlation + unit, correlation_shrinkage


def _rescale(A, scale):
    """D A D (..., d, d) with the diagonal D of scale (..., d)."""
    return A * scale[..., :, None] * scale[..., None, :]


def _square(A):
    """A^T A in the last two axes."""
    return A.mT @ A


def _square_norm(A):
    """Sum of squares over the last two axes."""
    return (A**2).sum(axis=(-1, -2))
