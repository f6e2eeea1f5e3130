"""The saturated model, label counts that have its maximum, and bounds of all sums.

A saturated model has a label distribution of its own for each level; its complexity is
the sum over the levels of the log C(2, n) of a binary label.

The statistics that the labels of L levels can have form a zonotope, with one generator
per level. Polynomial features put the generators in general position, any p of them
independent, so each proper face is a parallelepiped on fewer than p free levels; its
restricted model is saturated. Label counts are therefore of two kinds: on the boundary
the supremum of the likelihood is the saturated one, elsewhere it is attained.

The sum over the boundary has a closed form and bounds the complexity from below. From
above it is bounded by the product of the C(2, n_l) over the levels, cut after as many
factors as the model has parameters. No result outside these bounds is returned.
"""

import math

import numpy as np
from scipy.special import xlogy

from memdlib.nml.multinomial import MANY, TAIL, two_outcome_sum

EPSILON = float(np.finfo(np.float64).eps)
# Upper limit of the rounding allowed for, more than any exact sum has, in nats.
_MOST_ROUNDING = 1e-10


def saturated_complexity(model):
    """Log complexity, in nats."""
    return math.fsum(math.log(two_outcome_sum(int(n))) for n in model.counts)


def saturated_log_likelihood(counts, ones):
    """Log-likelihoods (B,) of labels (L, B), which need not be integers, in nats."""
    zeros = counts - ones
    return (xlogy(ones, ones / counts) + xlogy(zeros, zeros / counts)).sum(axis=0)


def rounding(model, n_terms=1.0):
    """Bound of the rounding of a log complexity that adds many terms, in nats."""
    # a log-likelihood is a sum of n terms of at most about log(4 n) nats, a logit one
    # of p products, and a number of label sequences a product over L levels
    n = float(model.counts.sum())
    n_levels = len(model.counts)
    steps = n * math.log(4.0 * n + 1.0) + 4 * n_levels * (model.dimension + 1)
    return EPSILON * (steps + math.log2(n_terms + 1.0))


def saturated_rounding(model):
    """Bound of the rounding of the complexity of a saturated model, in nats."""
    steps = 2.0 * TAIL * np.sqrt(np.minimum(model.counts, MANY)) + 16.0
    return EPSILON * float(steps.sum())


def on_boundary(model, ones, counts=None):
    """Whether label counts (L, B), of ``counts`` or else the model's, are on it."""
    # a face needs a polynomial of the model that vanishes at the r mixed levels and has
    # the sign of every pure one, or vanishes there too: p - 1 - r roots are left for
    # changes of sign once those at mixed levels, and the factor x, are divided out
    if model.saturated:
        return np.ones(ones.shape[1], dtype=bool)
    if counts is None:
        counts = model.counts[:, None]
    # 1 and -1 where all labels of a level are 1 and 0, and 0 where they are mixed
    signs = (ones >= counts).astype(np.int16) - (ones <= 0)
    n_mixed, n_changes, last = np.zeros((3, ones.shape[1]), dtype=np.int16)
    for value, sign in zip(model.values, signs, strict=True):
        quotient_sign = sign * (1 - 2 * (n_mixed % 2))
        if not model.intercept and value < 0:
            quotient_sign = -quotient_sign
        n_changes += quotient_sign * last < 0
        last = np.where(quotient_sign == 0, last, quotient_sign)
        n_mixed += sign == 0
    n_roots_left = model.dimension - 1 - n_mixed
    return (n_roots_left >= 0) & (n_changes <= n_roots_left)


def boundary_sum(model):
    """Sum of the likelihoods of label sequences on the boundary, if not saturated."""
    # every set of j < p free levels carries as many faces as there are ways to place at
    # most p - 1 - j changes of sign between the others, twice, and each adds the
    # product of C(2, n_l) - 2 over its free levels
    n_levels = len(model.counts)
    p = model.dimension
    total = 0.0
    for j, products in enumerate(_elementary_symmetric(model, 2.0, p - 1)):
        ways = sum(math.comb(n_levels - j - 1, i) for i in range(p - j))
        total += products * 2 * ways
    return total


def _elementary_symmetric(model, less, degree):
    """Elementary symmetric polynomials of the C(2, n_l), less a number each."""
    polynomials = [1.0] + [0.0] * degree
    # plain numbers: most models have few levels
    for n in model.counts.tolist():
        factor = two_outcome_sum(int(n)) - less
        for j in range(degree, 0, -1):
            polynomials[j] += factor * polynomials[j - 1]
    return polynomials


def complexity_bounds(model):
    """Log of the boundary sum and of the truncated product; equal if saturated."""
    if model.saturated:
        complexity = saturated_complexity(model)
        return complexity, complexity
    upper = math.fsum(_elementary_symmetric(model, 1.0, model.dimension))
    return math.log(boundary_sum(model)), math.log(upper)


def within_bounds(model, complexity):
    """Whether a log complexity keeps the proved bounds, up to their rounding."""
    lower, upper = complexity_bounds(model)
    # the bounds have few roundings at any n, and exact sums have few samples
    slack = saturated_rounding(model) + min(rounding(model), _MOST_ROUNDING)
    return lower - slack <= complexity <= upper + slack
