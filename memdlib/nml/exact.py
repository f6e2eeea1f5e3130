"""Exact complexity of the conditional model.

The boundary has a closed form, so that only interior label counts need a fit; flipping
all labels turns a fit into another one, which halves them.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.compiled import kernels
from memdlib.nml.level_model import LevelModel
from memdlib.nml.logit_fit import LogitSolver
from memdlib.nml.multinomial import multinomial_complexity
from memdlib.nml.separation import boundary_sum, interior_patterns
from memdlib.nml.statistic_table import (
    statistic_lattice,
    table_work,
    tabulated_complexity,
)

# Label counts held in memory at a time.
_BATCH = 2**17
# Rough times of a core, to choose between ways.
_SECONDS_A_FIT, _SECONDS_A_SUM = 2.5e-7, 8e-10


def saturated_complexity(model: LevelModel, n_classes: int = 2) -> float:
    """Log complexity of a model with a label distribution of its own for each level.

    Parameters
    ----------
    model : LevelModel
    n_classes : int, default=2

    Returns
    -------
    float
        Nats, the sum of log C(n_classes, n_l).

    Examples
    --------
    >>> from memdlib.nml.level_model import level_model
    >>> counts = np.array([8, 7, 8, 7, 8])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 5, intercept=False)
    >>> print(f"{saturated_complexity(model):.10f}")
    7.1188757552
    """
    return math.fsum(multinomial_complexity(int(n), n_classes) for n in model.counts)


def enumerated_complexity(model: LevelModel) -> float:
    """Log complexity by a fit of every interior vector of label counts.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    float
        Nats.

    Examples
    --------
    >>> from memdlib.nml.level_model import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 4, intercept=False)
    >>> print(f"{enumerated_complexity(model):.10f}")
    6.6753273094
    """
    if model.saturated:
        return saturated_complexity(model)
    solver = LogitSolver.of(model)
    sizes = tuple(int(n) + 1 for n in model.counts)
    half = (math.prod(sizes) + 1) // 2
    inside = interior_patterns(model).ravel()
    total = 0.0
    for at in range(0, half, _BATCH):
        ones, terms = _interior_counts(sizes, inside, at, min(at + _BATCH, half))
        terms += solver.log_likelihood(ones)
        total += float(np.exp(terms, out=terms).sum())
    return math.log(boundary_sum(model) + 2.0 * total)


def exact_complexity(
    model: LevelModel, most_seconds: float
) -> tuple[float, str] | None:
    """Log complexity by the exact way that takes least work, if any is in the limit.

    Parameters
    ----------
    model : LevelModel
    most_seconds : float
        Rough limit of the time on one core.

    Returns
    -------
    (float, str) or None
        Nats, and the name of the way: "saturated", "table" or "enumeration".

    Examples
    --------
    >>> from memdlib.nml.level_model import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 3, intercept=False)
    >>> exact_complexity(model, 0.1) is None
    True
    """
    if model.saturated:
        return saturated_complexity(model), "saturated"
    by_enumeration = _SECONDS_A_FIT * math.prod(model.counts + 1) / 2
    lattice = statistic_lattice(model)
    by_table = math.inf
    if lattice is not None:
        by_table = _SECONDS_A_SUM * table_work(lattice)
        # about half of the cells up to the middle key can be reached
        by_table += _SECONDS_A_FIT * lattice.last_key / 4
    if min(by_table, by_enumeration) > most_seconds:
        return None
    if by_table < by_enumeration:
        return tabulated_complexity(model, lattice), "table"
    return enumerated_complexity(model), "enumeration"


def _interior_counts(
    sizes: tuple[int, ...], inside: NDArray[np.bool_], first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interior label counts at these positions, and logarithms of their numbers.

    Of the label counts in the middle, which mirror themselves, half are counted.
    """
    log_binomials = [_log_binomials(size - 1) for size in sizes]
    fast = kernels()
    if fast is not None:
        padded = np.zeros((len(sizes), max(sizes)))
        for row, values in zip(padded, log_binomials, strict=True):
            row[: values.size] = values
        return fast.interior(np.array(sizes), inside, padded, first, last)
    flat = np.arange(first, last)
    index = _digits(flat, sizes)
    kept = np.flatnonzero(inside[_pattern(index, sizes)])
    flat, index = flat.take(kept), index.take(kept, axis=1)
    log_number = np.zeros(kept.size)
    for values, k in zip(log_binomials, index, strict=True):
        log_number += values.take(k)
    log_number[2 * flat == math.prod(sizes) - 1] -= math.log(2.0)
    return index.astype(np.float64), log_number


def _digits(flat: NDArray[np.intp], sizes: tuple[int, ...]) -> NDArray[np.intp]:
    """Label counts at positions of their grid, much faster than unravel_index."""
    found = np.empty((len(sizes), flat.size), dtype=np.intp)
    for axis in reversed(range(len(sizes))):
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


@lru_cache(maxsize=4096)
def _log_binomials(n: int) -> NDArray[np.float64]:
    """Logarithms of the binomial coefficients of n, from exact integers."""
    return np.array([math.log(math.comb(n, k)) for k in range(n + 1)])
