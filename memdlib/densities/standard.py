"""Moments in units of the density itself: u = (x - mean) / sd."""

import numpy as np

from memdlib._types import Array, Bools
from memdlib.densities.moment_problem import InfeasibleMomentsError, RoundedMomentsError
from memdlib.densities.support import Support, powers
from memdlib.moments import translate

# Error of a moment in units of its density, left by rounding moments about zero, above
# which they do not tell the density.
_COARSE = 1e-6


def standardise_sample(
    columns: Array, share: Array, m: int, support: Support
) -> tuple[Array, Array, Array]:
    """Mean (B,), unit (B,) and moments (B, m) of u for columns (n, B) of a sample."""
    columns, share = columns[share > 0], share[share > 0]
    constant = (columns == columns[:1]).all(axis=0)
    mean = np.where(constant, columns[0], share @ columns)
    with np.errstate(over="ignore"):  # refused in _unit
        variance = np.where(constant, 0.0, share @ (columns - mean) ** 2)
    unit = _unit(mean, variance, m, support)
    moments = [share @ ((columns - mean) / unit) ** j for j in range(1, m + 1)]
    return mean, unit, np.stack(moments, axis=1)


@np.errstate(over="ignore", invalid="ignore")  # refused
def standardise_moments(rows: Array, support: Support) -> tuple[Array, Array, Array]:
    """Mean (B,), unit (B,) and moments (B, m) of u, of power moments about zero."""
    m, mean = rows.shape[1], rows[:, 0]
    moments = translate(rows, np.ones(1), -mean)
    # every term is rounded
    doubt = 2.0**-53 * translate(np.abs(rows), np.ones(1), np.abs(mean))
    variance = moments[:, 1] if m > 1 else np.ones(len(rows))
    unsure = 4.0 * doubt[:, 1] if m > 1 else 0.0
    unit = _unit(mean, np.where(variance > unsure, variance, 0.0), m, support)
    scale = powers(unit, m)
    moments, doubt = moments / scale, doubt / scale
    moments[:, 0] = 0.0
    coarse = ~(doubt <= _COARSE * np.maximum(np.abs(moments), 1.0)) & (m > 1)
    refuse_lost(coarse.any(axis=1), mean, unit)
    return mean, unit, moments


def refuse_lost(lost: Bools, mean: Array, unit: Array) -> None:
    """Raise if rounding, or the range of numbers, has cost a row its moments."""
    if lost.any():
        row = np.argmax(lost)
        raise RoundedMomentsError(
            f"density {row}: powers of x of mean {mean[row]:g} and spread "
            f"{unit[row]:g} round away what tells the density; bring x to a mean of "
            "zero and a scale of order one, or call fit(x)"
        )


def _unit(mean, variance, m, support):
    """Standard deviation, or for one moment the distance of the end; raise if none."""
    below, above = mean - support.lower, support.upper - mean
    flat = ~((below > 0) & (above > 0) & ((variance > 0) | (m == 1)))
    if support.bounded and m > 1:
        flat |= ~(variance < below * above)
    if flat.any():
        row = np.argmax(flat)
        raise InfeasibleMomentsError(
            f"density {row}: no density on {support} has mean {mean[row]:g}"
            + (f" and variance {variance[row]:g}" if m > 1 else "")
            + ": the mean must lie strictly inside, the variance be positive, beyond "
            "rounding, and below that of the two ends"
        )
    return np.sqrt(variance) if m > 1 else np.minimum(below, above)
