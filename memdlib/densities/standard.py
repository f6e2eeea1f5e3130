"""Moments in units of the density itself: u = (x - mean) / sd."""

import numpy as np

from memdlib.densities.moment_problem import (
    InfeasibleMomentsError,
    RoundedMomentsError,
    density_error,
)
from memdlib.densities.support import powers
from memdlib.moments import translate

# Largest error that rounding may leave in a moment of u.
_COARSE = 1e-6


def standardise_sample(columns, probability, m, support):
    """Mean (B,), unit (B,) and moments (B, m) of u for columns (n, B) of a sample.

    ``probability`` (n,) are the weights of the rows, of sum one.
    """
    # before the test for constants, so that rows of weight zero do not count
    columns = columns[probability > 0]
    probability = probability[probability > 0]
    constant = (columns == columns[0]).all(axis=0)
    mean = np.where(constant, columns[0], probability @ columns)
    with np.errstate(over="ignore"):  # refused in _unit
        variance = np.where(constant, 0.0, probability @ (columns - mean) ** 2)
    unit = _unit(mean, variance, m, support)
    u = (columns - mean) / unit
    return mean, unit, power_moments(u, probability, m)


def power_moments(columns, probability, m):
    """Moments E x, ..., E x^m (B, m) of columns (n, B) under probabilities (n,)."""
    moments = [probability @ columns**j for j in range(1, m + 1)]
    return np.stack(moments, axis=1)


@np.errstate(over="ignore", invalid="ignore")  # refused
def standardise_moments(raw, support):
    """Mean (B,), unit (B,) and moments (B, m) of u, of power moments about zero."""
    m = raw.shape[1]
    mean = raw[:, 0]
    if m == 1:
        unit = _unit(mean, None, m, support)
        return mean, unit, np.zeros(raw.shape)
    moments = translate(raw, np.ones(1), -mean)
    # every term of a translation is rounded
    error = 2.0**-53 * translate(np.abs(raw), np.ones(1), np.abs(mean))
    # a variance of the size of its error is none
    variance = np.where(moments[:, 1] > 4.0 * error[:, 1], moments[:, 1], 0.0)
    unit = _unit(mean, variance, m, support)
    scale = powers(unit, m)
    moments = moments / scale
    moments[:, 0] = 0.0
    tolerance = _COARSE * np.maximum(np.abs(moments), 1.0)
    # the negation counts errors that are no numbers as too large
    coarse = ~(error / scale <= tolerance)
    raise_if_rounded(coarse.any(axis=1), mean, unit)
    return mean, unit, moments


def raise_if_rounded(lost, mean, unit):
    """Raise if rounding or overflow has cost the moments of a row (B,) their digits."""
    if lost.any():
        row = np.argmax(lost)
        raise density_error(
            RoundedMomentsError,
            row,
            f"powers of x, with mean {mean[row]:g} and scale "
            f"{unit[row]:g}, lose to rounding the digits that determine the density; "
            "bring x to a mean of zero and a scale of order one, or call fit(x)",
        )


def _unit(mean, variance, m, support):
    """Standard deviation (B,), or for one moment the distance of the nearer end.

    Raises if a mean (B,) is impossible on the support, or, of several moments, a
    variance (B,).
    """
    below = mean - support.lower
    above = support.upper - mean
    feasible = (below > 0) & (above > 0)
    if m > 1:
        feasible &= variance > 0
    if m > 1 and support.bounded:
        feasible &= variance < below * above
    if not feasible.all():
        row = np.argmin(feasible)
        with_variance = f" and variance {variance[row]:g}" if m > 1 else ""
        raise density_error(
            InfeasibleMomentsError,
            row,
            f"no density on {support} has mean {mean[row]:g}"
            f"{with_variance}: the mean must lie strictly inside, and the variance "
            "must be positive, by more than rounding error, and below that of a law on "
            "the two ends; check the moments, or smooth them",
        )
    return np.sqrt(variance) if m > 1 else np.minimum(below, above)
