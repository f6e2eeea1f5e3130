"""Proved bounds of the complexity of the conditional model, in closed form.

The boundary of the label counts from below, and from above the product of the C(2, n_l)
over the levels, cut after as many factors as the model has parameters. No result leaves
the engine outside of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.level_model import LevelModel
from memdlib.nml._engine.saturated import (
    rounding,
    saturated_complexity,
    saturated_rounding,
    two_outcome_sum,
)
from memdlib.nml._engine.separation import boundary_sum, elementary_symmetric

Array = NDArray[np.float64]

# More rounding than any exact sum has, in nats.
_MOST_ROUNDING = 1e-10
# Complexity of a saturated model below which no sum overflows, nor does it cost logs.
_LARGEST = 1e300


def complexity_bounds(model: LevelModel) -> tuple[float, float]:
    """Log of the boundary sum and of the truncated product, as the book proves them.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    lower, upper : float
        Nats; equal for a saturated model, and never infinite.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 1, intercept=False)
    >>> [round(bound, 4) for bound in complexity_bounds(model)]
    [0.6931, 3.6647]
    """
    if model.saturated:
        return (saturated_complexity(model),) * 2
    n_levels, p = len(model.counts), model.dimension
    if p == 0:
        return 0.0, 0.0
    sums = [two_outcome_sum(int(n)) for n in model.counts]
    two = np.array(sums)
    if math.prod(sums) < _LARGEST:
        upper = math.log(elementary_symmetric(two - 1.0, p).sum())
        return math.log(boundary_sum(model)), upper
    upper = float(np.logaddexp.reduce(_log_elementary_symmetric(two - 1.0, p)))
    faces = _log_elementary_symmetric(two - 2.0, p - 1)
    for j in range(p):
        rest = n_levels - j - 1
        faces[j] += math.log(2 * sum(math.comb(rest, i) for i in range(p - j)))
    return float(np.logaddexp.reduce(faces)), upper


def within_bounds(model: LevelModel, complexity: float) -> bool:
    """Whether a log complexity keeps the proved bounds, up to their rounding.

    Parameters
    ----------
    model : LevelModel
    complexity : float
        Nats.

    Returns
    -------
    bool
        False for what is not a number.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 1, intercept=False)
    >>> within_bounds(model, 3.0330967090), within_bounds(model, -3.755)
    (True, False)
    """
    lower, upper = complexity_bounds(model)
    # the bounds have few roundings at any n, and exact sums have few samples
    slack = saturated_rounding(model) + min(rounding(model), _MOST_ROUNDING)
    return lower - slack <= complexity <= upper + slack


def _log_elementary_symmetric(terms: Array, degree: int) -> Array:
    """Logarithms of the elementary symmetric polynomials, which may overflow."""
    found = np.full(degree + 1, -np.inf)
    found[0] = 0.0
    with np.errstate(divide="ignore"):
        for log_term in np.log(terms):
            found[1:] = np.logaddexp(found[1:], found[:-1] + log_term)
    return found
