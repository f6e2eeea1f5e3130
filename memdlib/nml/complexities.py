"""Exact complexities of many occupancies: each one once, on all cores, and kept."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.exact import exact_complexity
from memdlib.nml.level_model import LevelModel, level_model

try:
    from tqdm import tqdm
except ImportError:  # it only shows progress
    tqdm = None

Array = NDArray[np.float64]

_KEPT = 2**16
# Distinct occupancies from which on a progress bar is worth its lines.
_LONG = 500


def exact_complexities(
    rows: NDArray[np.int64],
    values: Array,
    n_moments: int,
    intercept: bool,
    most_seconds: float,
) -> Array:
    """Log complexity of each row of level counts, nan where it would take too long.

    Parameters
    ----------
    rows : ndarray of shape (G, L)
    values : ndarray of shape (L,)
    n_moments : int
    intercept : bool
    most_seconds : float
        Rough limit for one row.

    Returns
    -------
    ndarray of shape (G,)
        Nats.

    Notes
    -----
    Models that only differ in empty levels, in moments beyond saturation, or by a
    reversal of centred levels have the same complexity and are worked out once.

    Examples
    --------
    >>> rows = np.array([[1, 2, 3], [3, 2, 1]])
    >>> centred = np.array([-1.0, 0.0, 1.0])
    >>> exact_complexities(rows, centred, 1, False, 1.0).round(6).tolist()
    [1.168993, 1.168993]
    """
    unique, which = np.unique(rows, axis=0, return_inverse=True)
    keys = [_key(level_model(row, values, n_moments, intercept)) for row in unique]
    distinct = list(dict.fromkeys(keys))
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(distinct))) as pool:
        each = pool.map(lambda key: _kept(*key, most_seconds), distinct)
        shown = _with_progress(each, len(distinct), f"complexities, m = {n_moments}")
        found = dict(zip(distinct, shown, strict=True))
    return np.array([found[key] for key in keys])[which.ravel()]


def _with_progress(each: Iterator[float], n: int, title: str) -> Iterable[float]:
    """Show a bar on a terminal, where tqdm is installed and the work is long."""
    if tqdm is None or n < _LONG:
        return each
    return tqdm(each, desc=title, total=n, unit="occupancy", disable=None, leave=False)


def _key(model: LevelModel) -> tuple:
    """What the complexity depends on, one of both directions where they are alike."""
    counts, values = tuple(model.counts.tolist()), tuple(model.values.tolist())
    if model.saturated:
        return (
            tuple(sorted(counts)),
            tuple(range(1, len(counts) + 1)),
            len(counts),
            False,
        )
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
) -> float:
    model = LevelModel(
        np.array(counts),
        np.array(values),
        dimension,
        intercept,
        np.arange(len(counts)),
        0,
    )
    found = exact_complexity(model, most_seconds)
    return np.nan if found is None else found[0]
