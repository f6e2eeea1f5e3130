"""Label counts whose maximum is at infinity, and the proved bounds that they make.

The statistics that the labels of L levels can have form a zonotope, with one generator
a level. Polynomial features put the generators in general position, p of them always
independent, so each proper face is a parallelepiped on fewer than p free levels; its
restricted model is saturated. Label counts therefore are of two kinds: on the boundary
the supremum of the likelihood is the saturated one, elsewhere it is attained.

The sum over the boundary has a closed form and bounds the complexity from below. From
above it is bounded by the product of the C(2, n_l) over the levels, cut after as many
factors as the model has parameters. No result leaves the engine outside of these.
"""

import math
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.level_model import LevelModel
from memdlib.nml._engine.saturated import (
    rounding,
    saturated_complexity,
    saturated_rounding,
    two_outcome_sum,
)

Array = NDArray[np.float64]

# More rounding than any exact sum has, in nats.
_MOST_ROUNDING = 1e-10
# Complexity of a saturated model below which no sum overflows, nor does it cost logs.
_LARGEST = 1e300


def on_boundary(
    model: LevelModel,
    ones: Array,
    counts: Array | None = None,
) -> NDArray[np.bool_]:
    """Tell which label counts are on the boundary; exact, without linear programming.

    Parameters
    ----------
    model : LevelModel
    ones : ndarray of shape (L, B)
        Labels 1 at each active level, for B cases.
    counts : ndarray of shape (L, B), default=None
        Samples at each level of each case; None means those of the model.

    Returns
    -------
    ndarray of shape (B,)

    Notes
    -----
    A level is pure where its labels are all 1 (sign +) or all 0 (sign -), mixed
    otherwise. A face needs a polynomial of the model that vanishes at the mixed levels
    and has the sign of every pure one, or vanishes there too. With r mixed levels, r of
    its roots are taken and p - 1 - r are left for the changes of sign that remain once
    the roots at mixed levels, and the factor x of a model without intercept, are
    divided out.

    Examples
    --------
    Two moments separate one change of labels, with the mixed level in between.

    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.full(4, 3), np.arange(4.0), 1, intercept=True)
    >>> on_boundary(model, np.array([[0, 0, 1, 3], [0, 1, 1, 3]]).T).tolist()
    [True, False]
    """
    counts = model.counts[:, None] if counts is None else counts
    kind = np.where(ones >= counts, 1, np.where(ones <= 0, -1, 0))
    if model.saturated:
        return np.ones(ones.shape[1], dtype=bool)
    n_mixed = np.zeros(ones.shape[1], dtype=np.int64)
    changes = np.zeros_like(n_mixed)
    last = np.zeros_like(n_mixed)
    for value, row in zip(model.values, kind, strict=True):
        turned = row * (1 - 2 * (n_mixed % 2))
        if not model.intercept and value < 0:
            turned = -turned
        changes += turned * last < 0
        last = np.where(turned == 0, last, turned)
        n_mixed += row == 0
    return (n_mixed < model.dimension) & (changes <= model.dimension - 1 - n_mixed)


def interior_patterns(model: LevelModel) -> NDArray[np.bool_]:
    """Tell for each pattern of pure and mixed levels whether it is in the interior.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    ndarray of shape (3,) * L
        Indexed by 0 (all labels 0), 1 (mixed) or 2 (all labels 1) for each level.

    Examples
    --------
    With one moment of two positive levels only constant labels are on the boundary.

    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.array([4, 4]), np.array([1.0, 2.0]), 1, intercept=False)
    >>> interior_patterns(model).astype(int).tolist()
    [[0, 1, 1], [1, 1, 1], [1, 1, 0]]
    """
    return _patterns(tuple(model.values.tolist()), model.dimension, model.intercept)


@lru_cache(maxsize=256)
def _patterns(
    values: tuple[float, ...], dimension: int, intercept: bool
) -> NDArray[np.bool_]:
    """Patterns for counts of two, as for any others above one."""
    n = len(values)
    counts = np.full(n, 2.0)
    model = LevelModel(counts, np.array(values), dimension, intercept, np.arange(n), 0)
    patterns = np.array(list(product((0.0, 1.0, 2.0), repeat=n))).T
    inside = ~on_boundary(model, patterns)
    inside.flags.writeable = False
    return inside.reshape((3,) * n)


def boundary_sum(model: LevelModel) -> float:
    """Sum of the maximised likelihoods of all label sequences on the boundary.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float
        The sum itself, no logarithm; for a saturated model this is its whole
        complexity, the product of C(2, n_l) over the levels.

    Notes
    -----
    Every set of j < p free levels carries the same number of faces, twice the number of
    ways to place at most p - 1 - j changes of sign between the L - j other levels, and
    each face adds the product of C(2, n_l) - 2 over its free levels.

    Examples
    --------
    >>> from memdlib.nml._engine.level_model import level_model
    >>> model = level_model(np.full(4, 3), np.arange(4.0), 1, intercept=True)
    >>> round(boundary_sum(model), 6)
    15.111111
    """
    two = [two_outcome_sum(int(n)) for n in model.counts]
    if model.saturated:
        return math.prod(two)
    n_levels, p = len(two), model.dimension
    symmetric = elementary_symmetric(np.array(two) - 2.0, p - 1)
    total = 0.0
    for j, products in enumerate(symmetric):
        rest = n_levels - j - 1
        total += products * 2 * sum(math.comb(rest, i) for i in range(p - j))
    return float(total)


def elementary_symmetric(terms: Array, degree: int) -> Array:
    """Elementary symmetric polynomials e_0..e_degree of nonnegative terms.

    Parameters
    ----------
    terms : ndarray of shape (L,)
    degree : int

    Returns
    -------
    ndarray of shape (degree + 1,)

    Examples
    --------
    >>> elementary_symmetric(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [1.0, 6.0, 11.0]
    """
    found = [1.0] + [0.0] * degree
    # plain numbers: of most models there are few
    for term in terms.tolist():
        for j in range(degree, 0, -1):
            found[j] += term * found[j - 1]
    return np.array(found)


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
    >>> from memdlib.nml._engine.level_model import level_model
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
    >>> from memdlib.nml._engine.level_model import level_model
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
