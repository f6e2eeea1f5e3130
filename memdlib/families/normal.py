"""Normal densities: mean and second moment on the real line."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.divergences import itakura_saito
from memdlib.families.base import ROUNDING, MarginalFamily, check_domain

Array = NDArray[np.float64]


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

    name: ClassVar[str] = "normal"
    n_moments: ClassVar[int] = 2
    translates: ClassVar[bool] = True

    @staticmethod
    def mean_parameters(mean: ArrayLike, variance: ArrayLike) -> Array:
        """Mean parameters (E x, E x^2), shape (..., 2), of a mean and a variance."""
        mean = np.asarray(mean, dtype=np.float64)
        return np.stack(np.broadcast_arrays(mean, variance + mean**2), axis=-1)

    @staticmethod
    def variance(mu: ArrayLike) -> Array:
        """Variance E x^2 - (E x)^2, shape (...), of mean parameters (..., 2)."""
        mu = np.asarray(mu, dtype=np.float64)
        return mu[..., 1] - mu[..., 0] ** 2

    def natural(self, mu: ArrayLike) -> Array:
        mu = np.asarray(mu, dtype=np.float64)
        variance = self._positive_variance(mu)
        return np.stack([-mu[..., 0] / variance, 0.5 / variance], axis=-1)

    def mean(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        check_domain(
            lam[..., 1] > 0,
            lam[..., 1],
            "lambda_2",
            "exp(-lambda_2 x^2) is integrable only for lambda_2 > 0",
        )
        variance = 0.5 / lam[..., 1]
        return self.mean_parameters(-lam[..., 0] * variance, variance)

    def log_normaliser(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        square = lam[..., 0] ** 2 / (4.0 * lam[..., 1])
        return square + 0.5 * np.log(np.pi / lam[..., 1])

    def entropy(self, mu: ArrayLike) -> Array:
        return 0.5 * np.log(2.0 * np.pi * np.e * self._positive_variance(mu))

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        v1, v2 = self._positive_variance(mu1), self._positive_variance(mu2)
        shift = mu1[..., 0] - mu2[..., 0]
        return 0.5 * (itakura_saito(v1, v2) + shift**2 / v2)

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)
        v1, v2 = self._positive_variance(mu1), self._positive_variance(mu2)
        shift = mu1[..., 0] - mu2[..., 0]
        # v1/v2 + v2/v1 - 2 = (v1 - v2)^2 / (v1 v2), a square that cannot cancel
        ratio = ((v1 - v2) / v1) * ((v1 - v2) / v2)
        return 0.5 * (ratio + shift**2 / v1 + shift**2 / v2)

    def panels(self, mu: Array) -> Array:
        sd = np.sqrt(self._positive_variance(mu))[..., None]
        return mu[..., :1] + sd * np.linspace(-9.0, 9.0, 13)

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Shrink class variances to the pooled one, and replace those that are zero.

        v_k becomes (1 - shrinkage) v_k + shrinkage v_within. A variance within the
        rounding error of its own computation counts as zero and is replaced by the
        feature's within-class variance; if every class is constant, by its total
        variance; if the feature itself is constant, by 1, so that it carries no
        information. Each rule is free of scale: multiplying a feature by a constant
        changes nothing. ``smoothing`` has no effect.
        """
        centre, second = mu[..., 0], mu[..., 1]
        share = (weight / weight.sum(axis=-1, keepdims=True))[..., None, :]
        rounding = ROUNDING * second

        def average(values):
            return share @ values

        variance = second - centre**2
        varies = variance > rounding
        if shrinkage == 0 and varies.all():
            return mu
        variance = np.where(varies, variance, 0.0)
        within, grand = average(variance), average(centre)
        between = average((centre - grand) ** 2)
        between = np.where(between > average(rounding), between, 0.0)
        fallback = np.where(within > 0, within, np.where(between > 0, between, 1.0))
        variance = (1.0 - shrinkage) * variance + shrinkage * within
        variance = np.where(variance > 0, variance, fallback)
        constant = (within == 0) & (between == 0)
        return self.mean_parameters(np.where(constant, grand, centre), variance)

    def choose_shrinkage(self, mu: Array, weight: Array) -> float:
        """Shrinkage of least expected squared error, one for all features.

        The error is that of the class variances relative to the pooled one,
        r = v_k / v_within, so that no scale enters. It is least where the shrinkage is
        the sum of Var(r_k) - Cov(r_k, pooled) over the sum of (r_k - 1)^2; under
        normality 2 r^2 / (n_k + 2) estimates the variance without bias, and the pooled
        variance, of which class k makes up the share pi_k, takes pi_k of it.

        References
        ----------
        .. [1] Schaefer, Strimmer, A shrinkage approach to large-scale covariance matrix
           estimation, Statistical Applications in Genetics and Molecular Biology 4
           (2005), eq. 7.
        """
        mu, weight = mu[weight > 0], weight[weight > 0]
        variance, share = self.variance(mu), weight / weight.sum()
        variance = np.where(variance > ROUNDING * mu[..., 1], variance, 0.0)
        within = share @ variance
        ratio = variance[:, within > 0] / within[within > 0]
        distance = ((ratio - 1.0) ** 2).sum()
        noise = (2.0 * (1.0 - share) / (weight + 2.0)) @ (ratio**2).sum(axis=1)
        return float(noise / distance) if distance > noise else 1.0

    def _positive_variance(self, mu: ArrayLike) -> Array:
        variance = self.variance(mu)
        check_domain(
            variance >= np.finfo(np.float64).tiny,
            variance,
            "variance",
            "a normal density needs a variance above zero; drop the feature, rescale "
            "it or regularise its variance",
        )
        return variance
