"""Complexity of the conditional model by a fit of every vector of label counts.

The boundary has a closed form, so that only interior label counts need a fit; flipping
all labels turns a fit into another one, which halves them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.boundary import (
    boundary_sum,
    interior_patterns,
    on_boundary,
)
from memdlib.nml._engine.fits import LogitSolver
from memdlib.nml._engine.level_model import LevelModel
from memdlib.nml._engine.saturated import (
    log_binomials,
    rounding,
    saturated_complexity,
    saturated_rounding,
)

# Label counts held in memory at a time.
_BATCH = 2**17
# Rough time of a core for a fit, for one with a certificate, and for a pattern of pure
# and mixed levels.
_SECONDS_A_FIT, _CERTIFIED, _SECONDS_A_PATTERN = 2.5e-7, 4e-5, 2e-6
# Patterns that are tabulated; with more levels each batch finds its own.
_MOST_PATTERNS = 3**9


def enumerated_complexity(model: LevelModel) -> float:
    """Log complexity by a fit of every interior vector of label counts.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If a maximum cannot be found and certified.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 4, intercept=False)
    >>> print(f"{enumerated_complexity(model):.10f}")
    6.6753273094
    """
    return enumerate_counts(model)[0]


def enumerate_counts(model: LevelModel) -> tuple[float, float]:
    """Log complexity as in `enumerated_complexity`, and its uncertainty.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float, float
        Nats; the second from rounding and the certificates of the fits.
    """
    if model.saturated:
        return saturated_complexity(model), saturated_rounding(model)
    solver = LogitSolver(model)
    sizes = tuple(int(n) + 1 for n in model.counts)
    half = (math.prod(sizes) + 1) // 2
    total, doubt = 0.0, 0.0
    for at in range(0, half, _BATCH):
        ones, terms = interior_counts(model, sizes, at, min(at + _BATCH, half))
        value, _, gap = solver.suprema(ones)
        terms += value
        doubt = max(doubt, gap)
        total += float(np.exp(terms, out=terms).sum())
    value = math.log(boundary_sum(model) + 2.0 * total)
    return value, doubt + rounding(model, half)


def seconds_a_fit(model: LevelModel) -> float:
    """Rough time of a core for the maximum of one vector of label counts.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> even, uneven = np.arange(1.0, 4.0), np.array([1.0, 1e3, 1e6])
    >>> models = [level_model(np.array([8, 7, 8]), x, 2, False) for x in (even, uneven)]
    >>> seconds_a_fit(models[0]) < seconds_a_fit(models[1])
    True
    """
    return _SECONDS_A_FIT if model.moderate else _CERTIFIED


def enumeration_seconds(model: LevelModel) -> float:
    """Rough time of a core for all fits.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 8), np.arange(1.0, 6.0), 3, intercept=False)
    >>> 0.001 < enumeration_seconds(model) < 0.1
    True
    """
    n_vectors = math.prod(int(n) + 1 for n in model.counts)
    n_patterns = min(3 ** len(model.counts), _MOST_PATTERNS, n_vectors)
    return seconds_a_fit(model) * n_vectors / 2 + _SECONDS_A_PATTERN * n_patterns


def interior_counts(
    model: LevelModel, sizes: tuple[int, ...], first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interior label counts at these positions, and logarithms of their numbers.

    Parameters
    ----------
    model : LevelModel
    sizes : tuple of int
        Numbers of label counts at each level.
    first, last : int
        Positions in the grid of these sizes, where the label counts of the largest
        level change fastest, so that neighbours have close maxima; the last is not
        included.

    Returns
    -------
    ones : ndarray of shape (L, B)
    log_number : ndarray of shape (B,)
        Of the label counts in the middle, which mirror themselves, half are counted.
    """
    log_numbers = [log_binomials(size - 1) for size in sizes]
    order = np.argsort(sizes)
    flat = np.arange(first, last)
    index = _digits(flat, sizes, order)
    if 3 ** len(sizes) <= _MOST_PATTERNS:
        kept = interior_patterns(model).ravel()[_pattern(index, sizes)]
    else:
        kept = ~on_boundary(model, index.astype(np.float64))
    kept = np.flatnonzero(kept)
    flat, index = flat.take(kept), index.take(kept, axis=1)
    log_number = np.zeros(kept.size)
    for values, k in zip(log_numbers, index, strict=True):
        log_number += values.take(k)
    log_number[2 * flat == math.prod(sizes) - 1] -= math.log(2.0)
    return index.astype(np.float64), log_number


def _digits(
    flat: NDArray[np.intp], sizes: tuple[int, ...], order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Label counts at positions of their grid, much faster than unravel_index."""
    found = np.empty((len(sizes), flat.size), dtype=np.intp)
    for axis in order[::-1].tolist():
        # a division by one number for all is vectorised, a remainder is not
        quotient = flat // sizes[axis]
        found[axis] = flat - quotient * sizes[axis]
        flat = quotient
    return found


def _pattern(index: NDArray[np.intp], sizes: tuple[int, ...]) -> NDArray[np.intp]:
    """Position of each vector of label counts among the patterns of its levels."""
    code = np.zeros(index.shape[1], dtype=np.intp)
    for k, size in zip(index, sizes, strict=True):
        kind = np.ones(size, dtype=np.intp)
        kind[0], kind[-1] = 0, 2
        code *= 3
        code += kind.take(k)
    return code
