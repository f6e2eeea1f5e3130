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

from memdlib._types import Array, Indices, NDArray

# Most that a logit may be beside another one, so that fits have the digits they need.
_MOST_AMPLIFIED = 1e12
_LARGEST_INTEGER, _SAME = 10**4, 1e-13


class UncertifiedError(ValueError):
    """No number can be found that is certified, or trusted."""


@dataclass(frozen=True)
class LevelModel:
    """Active levels in increasing order of their value, and the model on them."""

    counts: Array  # samples at each, (L,), all positive
    values: Array  # (L,); without an intercept 0 is not among them
    dimension: int  # number p of free parameters, at most L
    intercept: bool
    order: Indices  # indices (L,) among the levels given

    @property
    def saturated(self) -> bool:
        """Whether every level has a probability of its own."""
        return self.dimension == len(self.values)


def level_model(
    level_counts: NDArray[np.int64], values: Array, n_moments: int, intercept: bool
) -> LevelModel:
    """Keep the levels that are occupied and, without intercept, not at zero."""
    active = level_counts > 0
    if not intercept:
        active &= values != 0
    order = np.flatnonzero(active)
    order = order[np.argsort(values[order])]
    dimension = min(n_moments + bool(intercept), len(order))
    counts, values = level_counts[order].astype(np.float64), values[order]
    if dimension < len(order):
        _check_evenness(tuple(values.tolist()), dimension, bool(intercept))
    return LevelModel(counts, values, dimension, intercept, order)


@lru_cache(maxsize=1024)
def _check_evenness(values: tuple[float, ...], dimension: int, intercept: bool) -> None:
    """Refuse levels whose logits may be 10^12 times those of p others."""
    # by the factors of Lagrange's formula
    x = _scaled(np.array(values))
    distance = np.abs(x[:, None] - x)
    np.fill_diagonal(distance, np.inf)
    ratios = np.sort(np.maximum(x.max() - x, x - x.min()) / distance, axis=1)
    with np.errstate(over="ignore"):  # infinite is too uneven
        products = ratios[:, len(x) + 1 - dimension :].prod(axis=1)
        if not intercept:
            products = products * (np.abs(x).max() / np.abs(x))
    if products.max() > _MOST_AMPLIFIED:
        raise ValueError(
            f"level values {list(values)} are too uneven for {dimension} parameters; "
            "join levels that are close, or use evenly spaced values or fewer moments"
        )


def _scaled(values: Array) -> Array:
    """Values over a power of two, which keeps the digits of their differences."""
    return np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])


def orthonormal_basis(model: LevelModel) -> Array:
    """Polynomials (L, p) of the model, orthonormal under the level counts."""
    # Newton's, at the Leja points of the counts: powers of x would lose all digits at
    # eight moments of ten levels
    x, root, columns = _scaled(model.values), np.sqrt(model.counts), []
    column = np.ones_like(x) if model.intercept else x
    for _ in range(model.dimension):
        pivot = np.abs(root * column).argmax()
        columns.append(column / (root[pivot] * column[pivot]))
        column = columns[-1] * (x - x[pivot])
    # a triangle, unlike a QR factorisation, keeps the digits of small entries
    found = np.array(columns).reshape(model.dimension, len(x))
    return np.linalg.solve(np.linalg.cholesky(found * model.counts @ found.T), found).T


@lru_cache(maxsize=1024)
def multiples(values: tuple[float, ...]) -> NDArray[np.int64] | None:
    """Coprime integers in the same ratios as the values; None if there are none."""
    x = np.array(values)
    unit = np.abs(x[x != 0]).min()
    ratios = [Fraction(float(v)).limit_denominator(1000) for v in x / unit]
    scale = math.lcm(*(r.denominator for r in ratios))
    if max(abs(r * scale) for r in ratios) > _LARGEST_INTEGER:
        return None
    found = np.array([int(r * scale) for r in ratios])
    wrong = np.abs(found / scale - x / unit) > _SAME * np.abs(x / unit)
    return None if wrong.any() else found // np.gcd.reduce(found)
