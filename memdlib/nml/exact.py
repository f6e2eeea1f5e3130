"""Exact complexity of the conditional model, by enumeration of label counts.

The boundary has a closed form, so that only interior label counts need a fit; flipping
all labels turns a fit into another one, which halves them.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.level_model import LevelModel
from memdlib.nml.logit_fit import LogitSolver
from memdlib.nml.multinomial import multinomial_complexity
from memdlib.nml.separation import boundary_sum, interior_patterns

# Label counts held in memory at a time.
_BATCH = 2**17


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
    return math.fsum(
        multinomial_complexity(int(n), n_classes) for n in model.counts
    )


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
    inside = _interior_grid(model, sizes).ravel()
    half = np.flatnonzero(inside[: (inside.size + 1) // 2])
    log_weight = [_log_binomials(size - 1) for size in sizes]
    total = 0.0
    for at in range(0, half.size, _BATCH):
        flat = half[at : at + _BATCH]
        index = np.unravel_index(flat, sizes)
        terms = solver.log_likelihood(np.array(index, dtype=np.float64))
        for weights, k in zip(log_weight, index, strict=True):
            terms += weights[k]
        terms = np.exp(terms)
        terms[2 * flat == inside.size - 1] *= 0.5
        total += float(terms.sum())
    return math.log(boundary_sum(model) + 2.0 * total)


def _interior_grid(model: LevelModel, sizes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether each vector of label counts is in the interior."""
    inside = interior_patterns(model)
    for axis, size in enumerate(sizes):
        kind = np.ones(size, dtype=np.intp)
        kind[0], kind[-1] = 0, 2
        inside = np.take(inside, kind, axis=axis)
    return inside


@lru_cache(maxsize=4096)
def _log_binomials(n: int) -> NDArray[np.float64]:
    """Logarithms of the binomial coefficients of n, from exact integers."""
    return np.array([math.log(math.comb(n, k)) for k in range(n + 1)])
