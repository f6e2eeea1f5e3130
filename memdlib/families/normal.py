"""Normal densities: mean and second moment on the real line."""

from dataclasses import dataclass

import numpy as np

from memdlib.divergences import itakura_saito
from memdlib.families.base import (
    ROUNDING,
    MarginalFamily,
    as_parameters,
    as_weights,
    by_feature,
    class_fractions,
    drop_weightless,
    jensen_shannon_quadrature,
)
from memdlib.validation import check_domain

# Edges of panels in standard deviations; beyond lies a probability below 1e-18.
_PANELS = np.linspace(-9.0, 9.0, 13)
_ROOT_OF_2_PI = np.sqrt(2.0 * np.pi)

# Below, the inverse of a variance overflows.
SMALLEST_VARIANCE = np.finfo(np.float64).tiny
VARIANCE_REMEDY = (
    "a normal density needs a variance above zero; drop the feature, rescale it or "
    "regularise its variance"
)


@dataclass(frozen=True)
class Normal(MarginalFamily):
    """Normal densities: E x and E x^2 on the real line.

    lambda = (-mean / variance, 1 / (2 variance)).

    Examples
    --------
    >>> f = Normal()
    >>> f.natural(f.mean_parameters(mean=1.0, variance=2.0)).tolist()
    [-0.5, 0.25]
    """

    name = "normal"
    n_moments = 2
    translates = True

    @staticmethod
    def mean_parameters(mean, variance):
        """Mean parameters (E x, E x^2), shape (..., 2), of a mean and a variance."""
        mean = np.asarray(mean, dtype=np.float64)
        second = variance + mean**2
        return np.stack(np.broadcast_arrays(mean, second), axis=-1)

    @staticmethod
    def variance(mu):
        """Variance E x^2 - (E x)^2, shape (...), of mean parameters (..., 2)."""
        mu = as_parameters(mu, 2)
        return mu[..., 1] - mu[..., 0] ** 2

    def observe(self, X):
        """Return X (n, d): all real numbers are in the support."""
        return X

    def natural(self, mu):
        """Natural parameters (-mean/v, 1/(2 v)) (..., 2) of mu (..., 2); variance v."""
        mean, variance = self._mean_and_variance(mu)
        return np.stack([-mean / variance, 0.5 / variance], axis=-1)

    def mean(self, lam):
        """Mean parameters (..., 2) of natural parameters (..., 2), lambda_2 > 0."""
        lam = as_parameters(lam, 2)
        quadratic = lam[..., 1]
        remedy = "exp(-lambda_2 x^2) is integrable only for lambda_2 > 0"
        check_domain(quadratic > 0, quadratic, "lambda_2", remedy)
        variance = 0.5 / quadratic
        return self.mean_parameters(-lam[..., 0] * variance, variance)

    def log_normaliser(self, lam):
        """Log-normaliser lambda_1^2 / (4 lambda_2) + log(pi / lambda_2) / 2 (...)."""
        lam = as_parameters(lam, 2)
        linear = lam[..., 0]
        quadratic = lam[..., 1]
        return linear**2 / (4.0 * quadratic) + 0.5 * np.log(np.pi / quadratic)

    def entropy(self, mu):
        """Differential entropy log(2 pi e v) / 2 (...), nats, with the variance v."""
        _, variance = self._mean_and_variance(mu)
        return 0.5 * np.log(2.0 * np.pi * np.e * variance)

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) (...), nats; the means by their difference, which is exact."""
        mean1, v1 = self._mean_and_variance(mu1)
        mean2, v2 = self._mean_and_variance(mu2)
        shift = mean1 - mean2
        return 0.5 * (itakura_saito(v1, v2) + shift**2 / v2)

    @np.errstate(over="ignore")
    def jeffreys(
        self,
        mu1,
        mu2,
        location=None,
    ):
        """Jeffreys divergence J(p_1, p_2), a sum of squares that cannot cancel.

        Parameters
        ----------
        mu1, mu2 : array_like of shape (..., 2)
            Mean parameters.
        location : array_like of shape (2, ...), default=None
            Points that ``mu1`` and ``mu2`` are taken about; None means the same point.

        Returns
        -------
        ndarray of shape (...)
            Nats; infinite where it overflows.
        """
        mean1, v1 = self._mean_and_variance(mu1)
        mean2, v2 = self._mean_and_variance(mu2)
        shift = mean1 - mean2
        if location is not None:
            shift = (location[0] - location[1]) + shift
        # v1/v2 + v2/v1 - 2 = (v1 - v2)^2 / (v1 v2), a square that cannot cancel
        ratio = ((v1 - v2) / v1) * ((v1 - v2) / v2)
        square = (shift / np.sqrt(v1)) ** 2 + (shift / np.sqrt(v2)) ** 2
        return 0.5 * (ratio + square)

    @np.errstate(over="ignore")
    def js_gm(
        self,
        mu,
        weights,
        lam=None,
        location=None,
    ):
        """JS_GM of K members, from differences of means and variances.

        With variances v and means m, twice the sum of w_k w_j J_kj over the pairs is
        the sum of w_k ((m_k - m)^2 + Var_w(m)) / v_k, less Cov_w(v, 1/v).

        Parameters
        ----------
        mu : array_like of shape (K, ..., 2)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        lam : array_like of shape (K, ..., 2), default=None
            Ignored.
        location : array_like of shape (K, ...), default=None
            Points that the members are taken about; None means the same point.

        Returns
        -------
        ndarray of shape (...)
            Nats; infinite where it overflows.
        """
        mu = as_parameters(mu, 2)
        w = as_weights(weights, mu)
        _, variance = self._mean_and_variance(mu)
        centre = self.centre(mu, w, location)
        centre = centre - np.tensordot(w, centre, 1)
        square = centre**2
        mean_square = np.tensordot(w, square, 1)
        # 1/v - 1/v_0 = -(v - v_0) / (v v_0), before it rounds
        v_0 = variance[np.argmax(w)]
        change = variance - v_0
        centred = change - np.tensordot(w, change, 1)
        total = change / variance * (centred / v_0)
        total += (square + mean_square) / variance
        js_gm = 0.5 * np.tensordot(w, total, 1)
        return np.maximum(js_gm, 0.0)

    @np.errstate(over="ignore")
    def jensen_shannon(
        self,
        mu,
        weights,
        location=None,
    ):
        """Jensen-Shannon divergence of K members, by quadrature.

        Parameters
        ----------
        mu : array_like of shape (K, d, 2)
            Mean parameters.
        weights : array_like of shape (K,)
            Class weights that sum to one.
        location : array_like of shape (K, d), default=None
            Points that the members are taken about; None means the same point.

        Returns
        -------
        value, error : ndarray of shape (d,)
            Nats, and an estimate of the error.
        """
        mu, w, location = drop_weightless(mu, weights, location)
        centre = self.centre(mu, w, location)
        deviation = np.sqrt(self._mean_and_variance(mu)[1])
        panels = centre[..., None] + deviation[..., None] * _PANELS
        edges = np.concatenate(panels, axis=1)
        edges.sort(axis=1)

        def log_density(x, features):
            scale = deviation[:, features, None]
            z = (x - centre[:, features, None]) / scale
            return -0.5 * z**2 - np.log(scale * _ROOT_OF_2_PI)

        value, error = jensen_shannon_quadrature(log_density, edges, w)
        # classes that agree exactly get exactly zero, whatever the rule sums up to
        equal = (centre == centre[0]) & (deviation == deviation[0])
        return np.where(equal.all(axis=0), 0.0, value), error

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Shrink class variances to the pooled one, and replace those that are zero.

        v_k becomes (1 - variance_shrinkage) v_k + variance_shrinkage v_within. A
        variance within the rounding error of its own computation counts as zero and is
        replaced by the feature's within-class variance; if every class is constant, by
        its total variance; if the feature itself is constant, by 1, so that it carries
        no information. Means stay as they are.

        Parameters
        ----------
        mu : ndarray of shape (..., K, d, 2)
        weight : ndarray of shape (..., K) or (..., K, d)
            Total instance weight of each class, or of its cells that are not missing.
        variance_shrinkage : float in [0, 1]
        alpha : float >= 0
            Ignored.
        location : ndarray of shape (..., K, d), default=None
            Points that the classes are taken about; None means the same point.

        Returns
        -------
        ndarray of shape (..., K, d, 2)
        """
        variance = self.class_variance(mu)
        if variance_shrinkage == 0 and variance.all():
            return mu
        within = _weighted_mean(class_fractions(by_feature(weight, mu)), variance)
        variance = (1.0 - variance_shrinkage) * variance + variance_shrinkage * within
        if not variance.all():
            differs, between = self._between(mu, weight, location)
            replacement = np.where(differs, between, 1.0)
            replacement = np.where(within > 0, within, replacement)
            variance = np.where(variance > 0, variance, replacement)
        return self.mean_parameters(mu[..., 0], variance)

    def is_perfect(self, moments):
        """Features (d,) that are constant in every class, but not the same in all."""
        mean = moments.mean
        constant = (self.class_variance(mean) == 0) | (moments.count == 0)
        perfect = constant.all(axis=0)
        if perfect.any():
            differs, _ = self._between(mean, moments.count, moments.location)
            perfect &= differs[0]
        return perfect

    def choose_shrinkage(self, mu, weight):
        """Shrinkage of least expected squared error, one for all features.

        The error is that of the class variances relative to the pooled one,
        r = v_k / v_within, so that no scale enters. It is least where the shrinkage is
        the sum of Var(r_k) - Cov(r_k, pooled) over the sum of (r_k - 1)^2; under
        normality 2 r^2 / (n_k + 2) estimates the variance without bias, and the pooled
        variance, of which class k makes up the fraction pi_k, takes pi_k of it.

        Parameters
        ----------
        mu : ndarray of shape (K, d, 2)
            Class mean parameters.
        weight : ndarray of shape (K,) or (K, d)
            Total instance weight of each class, or of its cells that are not missing.

        Returns
        -------
        float in [0, 1]

        References
        ----------
        .. [1] Schaefer, Strimmer, A shrinkage approach to large-scale covariance matrix
           estimation, Statistical Applications in Genetics and Molecular Biology 4
           (2005), eq. 7.
        """
        count = by_feature(weight, mu)
        fraction = class_fractions(count)
        variance = self.class_variance(mu)
        within = _weighted_mean(fraction, variance)
        varies = (within > 0) & (count > 0)
        ratio = variance / np.where(within > 0, within, 1.0)
        ratio = np.where(varies, ratio, 1.0)
        distance = ((ratio - 1.0) ** 2).sum()
        noise = 2.0 * (1.0 - fraction) / (count + 2.0) * ratio**2
        total_noise = noise.sum(where=varies)
        if distance > total_noise:
            return float(total_noise / distance)
        return 1.0

    @classmethod
    def class_variance(cls, mu):
        """Variance (...) of mean parameters (..., 2); zero if within rounding error."""
        variance = cls.variance(mu)
        return np.where(variance > ROUNDING * mu[..., 1], variance, 0.0)

    @staticmethod
    def centre(mu, weight, location):
        """Class means about the location of the heaviest class.

        Parameters
        ----------
        mu : ndarray of shape (..., K, d, 2)
            Mean parameters about the locations.
        weight : ndarray of shape (..., K) or (..., K, d)
            Weights of the classes.
        location : ndarray of shape (..., K, d) or None
            None means the same point for all classes.

        Returns
        -------
        ndarray of shape (..., K, d)
        """
        if location is None:
            return mu[..., 0]
        if weight.ndim == 1:
            return (location - location[weight.argmax()]) + mu[..., 0]
        heaviest = by_feature(weight, mu).argmax(axis=-2, keepdims=True)
        origin = np.take_along_axis(location, heaviest, axis=-2)
        return (location - origin) + mu[..., 0]

    def _between(self, mu, weight, location):
        """Whether class means differ, and their variance, each (..., 1, d)."""
        count = by_feature(weight, mu)
        fraction = class_fractions(count)
        centre = self.centre(mu, weight, location)
        centre = centre - _weighted_mean(fraction, centre)
        centre = np.where(count > 0, centre, 0.0)
        rounding = np.sqrt(_weighted_mean(fraction, ROUNDING * mu[..., 1]))
        differs = np.abs(centre).max(axis=-2, keepdims=True) > rounding
        return differs, _weighted_mean(fraction, centre**2)

    def _mean_and_variance(self, mu):
        """Mean and variance (...) of mean parameters (..., 2); a variance > 0."""
        mu = as_parameters(mu, 2)
        variance = self.variance(mu)
        valid = (variance >= SMALLEST_VARIANCE) & (variance < np.inf)
        check_domain(valid, variance, "variance", VARIANCE_REMEDY)
        return mu[..., 0], variance


def _weighted_mean(fraction, values):
    """Means (..., 1, d) over the classes of values (..., K, d), by their fractions."""
    mean = np.einsum("...kd,...kd->...d", fraction, values)
    return mean[..., None, :]
