"""Complexity of the conditional model: the sum over label counts, and the ways to it.

The boundary has a closed form, so that only interior label counts need a fit; flipping
all labels turns a fit into another one, which halves them. Of the exact ways the one of
least work is taken, for each model once.
"""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from memdlib.nml._engine import compiled
from memdlib.nml._engine.approximate import fisher_complexity, monte_carlo_complexity
from memdlib.nml._engine.level_model import LevelModel, level_model
from memdlib.nml._engine.logit_fit import LogitSolver
from memdlib.nml._engine.saturated import ROUNDING, saturated_complexity
from memdlib.nml._engine.separation import boundary_sum, interior_patterns
from memdlib.nml._engine.statistic_table import (
    statistic_lattice,
    table_work,
    tabulated_complexity,
)

Array = NDArray[np.float64]
# Log complexity in nats, its uncertainty, and the way it was found.
Found = tuple[float, float, str]

METHODS = ("auto", "exact", "monte-carlo", "facets", "fisher")
# An exact sum that takes longer than about this is left to "exact".
_SECONDS = 10.0
# Complexities kept for later calls.
_KEPT = 2**16
# Label counts held in memory at a time.
_BATCH = 2**17
# Rough times of a core, to choose between ways.
_SECONDS_A_FIT, _SECONDS_A_SUM = 2.5e-7, 8e-10


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
    >>> from memdlib.nml.exact import level_model
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
    >>> from memdlib.nml.exact import level_model
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


def complexities(
    rows: NDArray[np.int64],
    values: Array,
    n_moments: int,
    intercept: bool,
    method: str = "auto",
    n_draws: int = 2**18,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> tuple[Array, Array, NDArray[np.str_]]:
    """Log complexity of each row of level counts.

    Parameters
    ----------
    rows : ndarray of shape (G, L)
        Samples at each level.
    values : ndarray of shape (L,)
        Value of each level.
    n_moments : int
    intercept : bool
    method : str, default="auto"
        One of `METHODS`.
    n_draws, seed : int
        Of "monte-carlo".
    n_jobs : int or None, default=None
        Threads, in the meaning of joblib.
    verbose : int, default=0
        Verbosity of joblib.

    Returns
    -------
    complexity, uncertainty : ndarray of shape (G,)
        Nats.
    method : ndarray of shape (G,)
        How each was found.

    Notes
    -----
    Models that only differ in empty levels, in moments beyond saturation, or by a
    reversal of centred levels have the same complexity and are worked out once.

    Examples
    --------
    >>> rows = np.array([[1, 2, 3], [3, 2, 1]])
    >>> centred = np.array([-1.0, 0.0, 1.0])
    >>> complexities(rows, centred, 1, False)[0].round(6).tolist()
    [1.168993, 1.168993]
    """
    unique, which = np.unique(rows, axis=0, return_inverse=True)
    models = [level_model(row, values, n_moments, intercept) for row in unique]
    found: list[Found | None] = [None] * len(models)
    if method in ("auto", "exact"):
        limit = _SECONDS if method == "auto" else math.inf
        keys = [_key(model) for model in models]
        distinct = list(dict.fromkeys(keys))
        exact = _in_threads(lambda key: _kept(*key, limit), distinct, n_jobs, verbose)
        known = dict(zip(distinct, exact, strict=True))
        found = [known[key] for key in keys]
    left = [i for i, result in enumerate(found) if result is None]
    estimates = _in_threads(
        lambda i: _estimate(models[i], method, n_draws, seed), left, n_jobs, verbose
    )
    for i, result in zip(left, estimates, strict=True):
        found[i] = result
    complexity, uncertainty, ways = (
        np.array(part)[which.ravel()] for part in zip(*found, strict=True)
    )
    return complexity, uncertainty, ways


def _in_threads(
    do: Callable, cases: list, n_jobs: int | None, verbose: int
) -> Iterable[Found]:
    if len(cases) < 2:
        return [do(case) for case in cases]
    pool = Parallel(n_jobs=n_jobs, require="sharedmem", verbose=verbose)
    return pool(delayed(do)(case) for case in cases)


def _estimate(model: LevelModel, method: str, n_draws: int, seed: int) -> Found:
    if method in ("fisher", "facets"):
        return fisher_complexity(model, facets=method == "facets"), math.inf, method
    return *monte_carlo_complexity(model, n_draws, seed), "monte-carlo"


def _key(model: LevelModel) -> tuple:
    """What the complexity depends on, one of both directions where they are alike."""
    counts, values = tuple(model.counts.tolist()), tuple(model.values.tolist())
    if model.saturated:
        levels = tuple(range(1, len(counts) + 1))
        return tuple(sorted(counts)), levels, len(counts), False
    centre = values[0] + values[-1] if model.intercept else 0.0
    mirrored = tuple(centre - v for v in reversed(values))
    if mirrored == values:
        counts = min(counts, counts[::-1])
    return counts, values, model.dimension, model.intercept


@lru_cache(maxsize=_KEPT)
def _kept(
    counts: tuple[float, ...],
    values: tuple[float, ...],
    dimension: int,
    intercept: bool,
    most_seconds: float,
) -> Found | None:
    order = np.arange(len(counts))
    model = LevelModel(
        np.array(counts), np.array(values), dimension, intercept, order, 0
    )
    found = exact_complexity(model, most_seconds)
    return found and (found[0], ROUNDING, found[1])


def forget() -> None:
    """Drop the complexities that are kept for later calls."""
    _kept.cache_clear()


def _interior_counts(
    sizes: tuple[int, ...], inside: NDArray[np.bool_], first: int, last: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Interior label counts at these positions, and logarithms of their numbers.

    Of the label counts in the middle, which mirror themselves, half are counted.
    """
    log_binomials = [_log_binomials(size - 1) for size in sizes]
    if compiled.available():
        padded = np.zeros((len(sizes), max(sizes)))
        for row, values in zip(padded, log_binomials, strict=True):
            row[: values.size] = values
        return compiled.interior(np.array(sizes), inside, padded, first, last)
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
