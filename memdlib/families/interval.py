"""Exponential densities: the mean, on a half-line or on an interval."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.special import exprel, hyp1f1

from memdlib._types import Array, ArrayLike, Bools, MatrixLike
from memdlib.densities.support import gauss_legendre
from memdlib.divergences import itakura_saito
from memdlib.families.base import (
    ROUNDING,
    MarginalFamily,
    NonnegativeFamily,
    smooth_towards_pooled,
)
from memdlib.validation import check_domain

# Panels of exp(-t): what lies beyond the last end has probability exp(-40).
_PANELS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 5, 6.5, 8, 10, 12, 15, 18, 22, 26, 32, 40])


@dataclass(frozen=True)
class Exponential(NonnegativeFamily):
    """Exponential densities: E x on [0, inf), rate lambda = 1 / mu.

    Examples
    --------
    >>> Exponential().natural([4.0]).tolist()
    [0.25]
    """

    name: ClassVar[str] = "exponential"

    def natural(self, mu: ArrayLike) -> Array:
        return 1.0 / self._positive(mu)

    def mean(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)
        remedy = "exp(-lambda x) is integrable only for lambda > 0"
        check_domain(lam > 0, lam, "lambda", remedy)
        return 1.0 / lam

    def log_normaliser(self, lam: ArrayLike) -> Array:
        return -np.log(np.asarray(lam, dtype=np.float64)[..., 0])

    def entropy(self, mu: ArrayLike) -> Array:
        return 1.0 + np.log(self._positive(mu)[..., 0])

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        return itakura_saito(self._positive(mu1)[..., 0], self._positive(mu2)[..., 0])

    def jeffreys(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        mu1, mu2 = self._positive(mu1)[..., 0], self._positive(mu2)[..., 0]
        return ((mu1 - mu2) / mu1) * ((mu1 - mu2) / mu2)

    def panels(self, mu: Array) -> Array:
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
    name: ClassVar[str] = "truncated_exponential"
    n_moments: ClassVar[int] = 1

    def __post_init__(self) -> None:
        ends = self.a, self.b
        real = all(isinstance(end, Real) and np.isfinite(end) for end in ends)
        if not (real and self.a < self.b):
            raise ValueError(
                f"a={self.a!r}, b={self.b!r} must be finite numbers, a below b"
            )

    def natural(self, mu: ArrayLike) -> Array:
        far, upper = self._nearer_end(mu)
        return np.where(upper, -1.0, 1.0) * _rate(far) / (self.b - self.a)

    def mean(self, lam: ArrayLike) -> Array:
        rate = np.asarray(lam, dtype=np.float64) * (self.b - self.a)
        return self.a + (self.b - self.a) * _unit_moments(rate)[0]

    def log_normaliser(self, lam: ArrayLike) -> Array:
        lam = np.asarray(lam, dtype=np.float64)[..., 0]
        width = self.b - self.a
        return np.log(width) + _unit_log_normaliser(lam * width) - lam * self.a

    def entropy(self, mu: ArrayLike) -> Array:
        far = self._nearer_end(mu)[0][..., 0]
        rate = _rate(far)
        return np.log(self.b - self.a) + _unit_log_normaliser(rate) + rate * far

    def kl(self, mu1: ArrayLike, mu2: ArrayLike) -> Array:
        (far1, upper1), (far2, upper2) = map(self._nearer_end, (mu1, mu2))
        # seen from the end that the first mean is nearer to, where nothing cancels
        far1, same = far1[..., 0], (upper1 == upper2)[..., 0]
        rate1, rate2 = _rate(far1), _rate(far2[..., 0]) * np.where(same, 1.0, -1.0)
        change = rate2 - rate1
        plain = _unit_log_normaliser(rate2) - _unit_log_normaliser(rate1)
        # Taylor's remainder, a sum of positive terms where the difference cancels
        nodes, weights = gauss_legendre(24)
        share = 0.5 * (nodes + 1.0)
        variance = _unit_moments(rate1[..., None] + share * change[..., None])[1]
        remainder = change**2 * (variance @ (0.5 * weights * (1.0 - share)))
        near = np.abs(change) <= np.maximum(1.0, 0.5 * np.maximum(rate1, rate2))
        return np.where(near, remainder, plain + change * far1)

    def panels(self, mu: Array) -> Array:
        # towards the heavier end on the scale of the density, evenly beyond
        far, upper = self._nearer_end(mu)
        near = np.minimum(_PANELS / np.maximum(_rate(far), 1e-3), 1.0)
        unit = np.where(upper, 1.0 - near, near)
        even = np.broadcast_to(np.linspace(0.0, 1.0, 9), (len(unit), 9))
        return self.a + (self.b - self.a) * np.concatenate([unit, even], axis=1)

    def observe(self, X: MatrixLike) -> MatrixLike:
        low, high = X.min(), X.max()
        if low < self.a or high > self.b:
            raise ValueError(
                f"the data reach from {low} to {high}, beyond the support "
                f"[{self.a}, {self.b}]; widen it or rescale the data"
            )
        return X

    def regularise(
        self, mu: Array, weight: Array, *, shrinkage: float, smoothing: float
    ) -> Array:
        """Add instances at the pooled mean; features at one end get the midpoint."""
        smooth, pooled, _ = smooth_towards_pooled(mu, weight, smoothing)
        margin = ROUNDING * (self.b - self.a)
        at_end = (pooled <= self.a + margin) | (pooled >= self.b - margin)
        np.copyto(smooth, 0.5 * (self.a + self.b), where=at_end)
        return smooth

    def _nearer_end(self, mu: ArrayLike) -> tuple[Array, Bools]:
        """Distance to the nearer end, as a share of the width; whether it is b."""
        mu = np.asarray(mu, dtype=np.float64)
        remedy = f"a density on [{self.a}, {self.b}] needs a mean strictly inside"
        inside = (mu > self.a) & (mu < self.b)
        check_domain(inside, mu, "mean", f"{remedy}; use smoothing > 0")
        low, high = mu - self.a, self.b - mu
        return np.minimum(low, high) / (self.b - self.a), high < low


def _unit_moments(rate: Array) -> tuple[Array, Array]:
    """Mean and variance of exp(-rate t) on [0, 1]."""
    size = np.array(np.abs(rate))
    near = size < 1.0
    far, half = np.where(near, 1.0, size), np.clip(0.5 * size, 0.5, 300.0)
    mean = np.array(1.0 / far - 1.0 / np.expm1(np.minimum(far, 700.0)))
    variance = np.array((1.0 - (half / np.sinh(half)) ** 2) / far**2)
    # where these cancel
    total = exprel(-size[near])
    mean[near] = hyp1f1(2, 3, -size[near]) / (2.0 * total)
    variance[near] = hyp1f1(3, 4, -size[near]) / (3.0 * total) - mean[near] ** 2
    return np.where(rate >= 0, mean, 1.0 - mean), variance


def _unit_log_normaliser(rate: Array) -> Array:
    """Logarithm of the integral of exp(-rate t) over [0, 1]."""
    # exp(rate t) on [0, 1] is exp(rate) times exp(-rate t), seen from the other end
    return np.log(exprel(-np.abs(rate))) + np.maximum(-rate, 0.0)


def _rate(mean: Array) -> Array:
    """Invert the mean on [0, 1], 1/2 at most, by Newton's method for 1 / mean."""
    # a convex function of the rate, with the slope variance / mean^2
    rate = 3.0 * (1.0 / mean - 2.0)
    for _ in range(40):
        current, variance = _unit_moments(rate)
        step = (1.0 / current - 1.0 / mean) * current**2 / variance
        rate = np.maximum(rate - step, 0.0)
        if (np.abs(step) <= 4e-16 * (1.0 + rate)).all():
            break
    return rate
