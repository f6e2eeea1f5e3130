"""Exponential densities: the mean, on a half-line or on an interval."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import exprel, hyp1f1

from memdlib.densities.support import gauss_legendre
from memdlib.divergences import itakura_saito
from memdlib.families.base import (
    ROUNDING,
    MarginalFamily,
    NonnegativeFamily,
    as_parameters,
    smooth_towards_pooled,
)
from memdlib.validation import check_domain

# Edges of panels for exp(-t): beyond the last lies a probability of exp(-40).
_PANELS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6.5, 8, 10, 12, 15, 18, 22, 26, 32, 40])


@dataclass(frozen=True)
class Exponential(NonnegativeFamily):
    """Exponential densities: E x on [0, inf), rate lambda = 1 / mu.

    Examples
    --------
    >>> Exponential().natural([4.0]).tolist()
    [0.25]
    """

    name = "exponential"

    def natural(self, mu):
        """Natural parameters lambda = 1 / mu (..., 1) of means (..., 1) above zero."""
        return 1.0 / self._positive(mu)

    def mean(self, lam):
        """Means 1 / lambda (..., 1) of natural parameters (..., 1) above zero."""
        lam = as_parameters(lam)
        remedy = "exp(-lambda x) is integrable only for lambda > 0"
        check_domain(lam > 0, lam, "lambda", remedy)
        return 1.0 / lam

    def log_normaliser(self, lam):
        """Log-normaliser psi(lambda) = -log lambda (...)."""
        return -np.log(as_parameters(lam)[..., 0])

    def entropy(self, mu):
        """Differential entropy 1 + log mu (...), nats."""
        return 1.0 + np.log(self._positive(mu)[..., 0])

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) = mu_1 / mu_2 - 1 - log(mu_1 / mu_2) (...), nats."""
        mean1 = self._positive(mu1)[..., 0]
        mean2 = self._positive(mu2)[..., 0]
        return itakura_saito(mean1, mean2)

    def panels(self, mu):
        """Edges (d, B) of panels, the same for all members on the scale of the mean."""
        return mu * _PANELS


@dataclass(frozen=True)
class TruncatedExponential(MarginalFamily):
    """Exponential densities cut to an interval: E x on [a, b].

    lambda may have either sign; it is zero, and the density uniform, where the mean is
    the midpoint.

    Parameters
    ----------
    a, b : float, default=0.0 and 1.0
        Ends of the interval.

    Examples
    --------
    >>> f = TruncatedExponential(0.0, 2.0)
    >>> f.natural([[1.0], [0.5]]).ravel().round(6).tolist()
    [0.0, 1.796756]
    """

    a: float = 0.0
    b: float = 1.0
    name = "truncated_exponential"
    n_moments = 1

    def __post_init__(self):
        numbers = isinstance(self.a, Real) and isinstance(self.b, Real)
        if not (numbers and np.isfinite([self.a, self.b]).all() and self.a < self.b):
            raise ValueError(
                f"a={self.a!r}, b={self.b!r} must be finite numbers, a below b"
            )

    def natural(self, mu):
        """Natural parameters (..., 1) of means (..., 1) inside (a, b), by Newton."""
        distance, from_b = self._nearer_end(mu)
        sign = np.where(from_b, -1.0, 1.0)
        return sign * _rate(distance) / (self.b - self.a)

    def mean(self, lam):
        """Means (..., 1) of natural parameters (..., 1) of either sign."""
        width = self.b - self.a
        unit_mean, _ = _unit_moments(as_parameters(lam) * width)
        return self.a + width * unit_mean

    def log_normaliser(self, lam):
        """Log (...) of the integral of exp(-lambda x) over [a, b]."""
        lam = as_parameters(lam)[..., 0]
        width = self.b - self.a
        unit = _unit_log_normaliser(lam * width)
        return np.log(width) + unit - lam * self.a

    def entropy(self, mu):
        """Differential entropy (...), nats."""
        distance, _ = self._nearer_end(mu)
        distance = distance[..., 0]
        rate = _rate(distance)
        unit_entropy = _unit_log_normaliser(rate) + rate * distance
        width = self.b - self.a
        return np.log(width) + unit_entropy

    def kl(self, mu1, mu2):
        """KL(p_1 || p_2) (...), nats, never negative.

        With the change of the rate r_1 to r_2, it is psi(r_2) - psi(r_1) + change
        mean_1, or the remainder of Taylor's theorem for psi, the integral over s in
        [0, 1] of change^2 (1 - s) variance(r_1 + s change).
        """
        distance1, from_b1 = self._nearer_end(mu1)
        distance2, from_b2 = self._nearer_end(mu2)
        # both rates from the end that the first mean is nearer to, so that nothing
        # cancels
        same_end = (from_b1 == from_b2)[..., 0]
        distance1 = distance1[..., 0]
        rate1 = _rate(distance1)
        rate2 = _rate(distance2[..., 0])
        rate2 = np.where(same_end, rate2, -rate2)
        change = rate2 - rate1
        psi_change = _unit_log_normaliser(rate2) - _unit_log_normaliser(rate1)
        # where that difference cancels, the integral, whose terms are positive
        nodes, weights = gauss_legendre(24)
        s = 0.5 * (nodes + 1.0)
        _, variance = _unit_moments(rate1[..., None] + s * change[..., None])
        integral = variance @ (0.5 * weights * (1.0 - s))
        remainder = change**2 * integral
        near = np.abs(change) <= np.maximum(1.0, 0.5 * np.maximum(rate1, rate2))
        return np.where(near, remainder, psi_change + change * distance1)

    def panels(self, mu):
        """Edges (d, B): on the scale of the density from its heavier end, and even."""
        distance, from_b = self._nearer_end(mu)
        rate = np.maximum(_rate(distance), 1e-3)
        scaled = np.minimum(_PANELS / rate, 1.0)
        scaled = np.where(from_b, 1.0 - scaled, scaled)
        even = np.tile(np.linspace(0.0, 1.0, 9), (len(scaled), 1))
        edges = np.concatenate([scaled, even], axis=1)
        return self.a + (self.b - self.a) * edges

    def observe(self, X):
        """Return X (n, d); a ValueError names its range if that leaves [a, b]."""
        low = X.min()
        high = X.max()
        if low < self.a or high > self.b:
            raise ValueError(
                f"the data reach from {low} to {high}, beyond the support "
                f"[{self.a}, {self.b}]; widen it or rescale the data"
            )
        return X

    def regularise(
        self,
        mu,
        weight,
        *,
        variance_shrinkage,
        alpha,
        location=None,
    ):
        """Add ``alpha`` instances at the pooled mean to every class.

        A feature that lies at one end throughout gets the midpoint in every class, so
        that it carries no information. ``variance_shrinkage`` and ``location`` have no
        effect.

        Parameters
        ----------
        mu, weight, variance_shrinkage, alpha, location
            As for :meth:`MarginalFamily.regularise`.

        Returns
        -------
        ndarray of shape (..., K, d, 1)
        """
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, alpha)
        margin = ROUNDING * (self.b - self.a)
        at_end = (pooled <= self.a + margin) | (pooled >= self.b - margin)
        np.copyto(smooth, 0.5 * (self.a + self.b), where=at_end)
        return smooth

    def _nearer_end(self, mu):
        """Distance (...) to the nearer end, in units of the width; whether it is b."""
        mu = as_parameters(mu)
        remedy = f"a density on [{self.a}, {self.b}] needs a mean strictly inside"
        inside = (mu > self.a) & (mu < self.b)
        check_domain(inside, mu, "mean", f"{remedy}; use alpha > 0")
        from_a = mu - self.a
        from_b = self.b - mu
        return np.minimum(from_a, from_b) / (self.b - self.a), from_b < from_a


def _unit_moments(rate):
    """Mean and variance (...) of the density of exp(-rate t) on [0, 1]."""
    size = np.abs(rate)
    small = size < 1.0
    large = np.where(small, 1.0, size)
    # the bounds keep expm1 and sinh finite; beyond them both terms have vanished
    half = np.clip(0.5 * size, 0.5, 300.0)
    growth = np.expm1(np.minimum(large, 700.0))
    mean = np.asarray(1.0 / large - 1.0 / growth)
    ratio = half / np.sinh(half)
    variance = np.asarray((1.0 - ratio**2) / large**2)
    # Kummer's functions, where these differences cancel
    t = -size[small]
    total = exprel(t)
    first = hyp1f1(2, 3, t) / (2.0 * total)
    second = hyp1f1(3, 4, t) / (3.0 * total)
    mean[small] = first
    variance[small] = second - first**2
    mean = np.where(rate >= 0, mean, 1.0 - mean)
    return mean, variance


def _unit_log_normaliser(rate):
    """Logarithm (...) of the integral of exp(-rate t) over [0, 1]."""
    # exp(rate t) on [0, 1] is exp(rate) times exp(-rate t), seen from the other end
    integral = exprel(-np.abs(rate))
    return np.log(integral) + np.maximum(-rate, 0.0)


def _rate(mean):
    """Rates (...) of means on [0, 1], 1/2 at most, by Newton's method for 1 / mean."""
    # 1 / mean is a convex function of the rate, with the slope variance / mean^2
    rate = 3.0 * (1.0 / mean - 2.0)
    for _ in range(40):
        current, variance = _unit_moments(rate)
        excess = 1.0 / current - 1.0 / mean
        step = excess * current**2 / variance
        rate = np.maximum(rate - step, 0.0)
        if (np.abs(step) <= 4e-16 * (1.0 + rate)).all():
            break
    return rate
