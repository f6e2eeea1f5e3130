"""Closed forms of the saturated model, a label distribution of its own for each level.

Its complexity is the sum over the levels of the log C(2, n) of a binary label.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from memdlib.nml.level_model import LevelModel
from memdlib.nml.multinomial import MANY, TAIL, two_outcome_sum

Array = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)


def saturated_complexity(model: LevelModel) -> float:
    """Log complexity, in nats."""
    return math.fsum(math.log(two_outcome_sum(int(n))) for n in model.counts)


def saturated_log_likelihood(counts: Array, ones: Array) -> Array:
    """Log-likelihoods (B,) of labels (L, B), which need not be integers, in nats."""
    zeros = counts - ones
    return (xlogy(ones, ones / counts) + xlogy(zeros, zeros / counts)).sum(axis=0)


def rounding(model: LevelModel, n_terms: float = 1.0) -> float:
    """Bound of the rounding of a log complexity that adds many terms, in nats."""
    # a log-likelihood is a sum of n terms of at most about log(4 n) nats, a logit one
    # of p products, and a number of label sequences a product over L levels
    n, n_levels = float(model.counts.sum()), len(model.counts)
    steps = n * math.log(4.0 * n + 1.0) + 4 * n_levels * (model.dimension + 1)
    return EPSILON * (steps + math.log2(n_terms + 1.0))


def saturated_rounding(model: LevelModel) -> float:
    """Bound of the rounding of the complexity of a saturated model, in nats."""
    steps = 2.0 * TAIL * np.sqrt(np.minimum(model.counts, MANY)) + 16.0
    return EPSILON * float(steps.sum())
