"""The conditional model of binary labels on the levels of one feature.

P(1 | x) is the logistic function of a polynomial in the level value x, of degree m, by
default without a constant term. What code lengths need of it is gathered here once: the
levels that matter, the dimension of the model and a well-conditioned basis.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from memdlib._types import Array, Indices

# Largest ratio of one logit to another, so that fits have the digits they need.
_MOST_AMPLIFIED = 1e12
# Integers that stand for level values, and how far a value may be from its integer,
# relative to it.
_LARGEST_INTEGER = 10**4
_RATIO_TOLERANCE = 1e-13


class UncertifiedError(ValueError):
    """No number can be found that is certified, or trusted."""


@dataclass(frozen=True, eq=False)
class LevelModel:
    """Active levels in increasing order of their value, and the model on them.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each active level, all positive, as floats.
    values : ndarray of shape (L,)
        Level values, increasing; without an intercept 0 is not among them.
    dimension : int
        Number p of free parameters, at most L.
    intercept : bool
        Whether the polynomial has a constant term.
    order : ndarray of shape (L,)
        Indices of the active levels among the levels given.
    """

    counts: Array
    values: Array
    dimension: int
    intercept: bool
    order: Indices

    @property
    def saturated(self):
        """Whether every level has a probability of its own."""
        return self.dimension == len(self.values)


def level_model(level_counts, values, n_moments, intercept):
    """Keep the levels that are occupied and, without intercept, not at zero."""
    active = level_counts > 0
    if not intercept:
        active &= values != 0
    order = np.flatnonzero(active)
    order = order[np.argsort(values[order])]
    dimension = min(n_moments + bool(intercept), len(order))
    if dimension < len(order):
        _check_evenness(tuple(values[order].tolist()), dimension, bool(intercept))
    return LevelModel(
        counts=level_counts[order].astype(np.float64),
        values=values[order],
        dimension=dimension,
        intercept=intercept,
        order=order,
    )


@lru_cache(maxsize=1024)
def _check_evenness(values, dimension, intercept):
    """Raise if the logit of a level may be 10^12 times those of p other levels.

    The p logits determine all others by Lagrange's formula. Its factors are ratios of
    distances, and for each level the product of the p - 1 largest is a bound.
    """
    x = _scaled(np.array(values))
    distance = np.abs(x[:, None] - x)
    np.fill_diagonal(distance, np.inf)
    farthest = np.maximum(x.max() - x, x - x.min())
    ratios = np.sort(farthest / distance, axis=1)
    with np.errstate(over="ignore"):  # infinite is too uneven
        amplification = ratios[:, len(x) + 1 - dimension :].prod(axis=1)
        if not intercept:
            amplification = amplification * (np.abs(x).max() / np.abs(x))
    if not amplification.max() <= _MOST_AMPLIFIED:
        raise ValueError(
            f"level values {list(values)} are too uneven for {dimension} parameters; "
            "join levels that are close, or use evenly spaced values or fewer moments"
        )


def _scaled(values):
    """Values over a power of two, which keeps the digits of their differences."""
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.ldexp(values, -exponent)


def orthonormal_basis(model):
    """Polynomials (L, p) of the model, orthonormal under the level counts."""
    # Newton's polynomials at the Leja points of the counts: powers of x would lose all
    # digits at eight moments of ten levels
    x = _scaled(model.values)
    root_counts = np.sqrt(model.counts)
    polynomials = np.empty((model.dimension, len(x)))
    polynomial = np.ones_like(x) if model.intercept else x
    for j in range(model.dimension):
        pivot = np.abs(root_counts * polynomial).argmax()
        polynomials[j] = polynomial / (root_counts[pivot] * polynomial[pivot])
        polynomial = polynomials[j] * (x - x[pivot])
    # a triangle, unlike a QR factorisation, keeps the digits of small entries
    gram = polynomials * model.counts @ polynomials.T
    return np.linalg.solve(np.linalg.cholesky(gram), polynomials).T


@lru_cache(maxsize=1024)
def integer_ratios(values):
    """Coprime integers (L,) in the same ratios as the values; None if there are none.

    The result is kept for later calls: do not write to it.
    """
    x = np.array(values)
    x = x / np.abs(x[x != 0]).min()
    fractions = [Fraction(ratio).limit_denominator(1000) for ratio in x.tolist()]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    integers = [int(fraction * scale) for fraction in fractions]
    if max(map(abs, integers)) > _LARGEST_INTEGER:
        return None
    integers = np.array(integers)
    error = np.abs(integers / scale - x)
    if not (error <= _RATIO_TOLERANCE * np.abs(x)).all():
        return None
    return integers // np.gcd.reduce(integers)
