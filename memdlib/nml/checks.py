"""Checks of counts, levels, labels and ranges; each raises ValueError."""

import math

import numpy as np
from sklearn.utils import check_array, check_scalar

from memdlib._types import Array, ArrayLike, NDArray
from memdlib.validation import check_integer

Range = tuple[float, float]

# Integers up to here are exact in double precision, and so are sums of them.
_MOST = 2.0**52


def _refuse(bad: Array, name: str, remedy: str) -> None:
    """Raise, naming the first of the bad values, if there are any."""
    if bad.size:
        raise ValueError(f"{name} holds {bad[0]}; {remedy}")


def check_shape(values: Array, name: str, shape: tuple[int, ...]) -> None:
    """Raise if values have another shape."""
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}; expected {shape}")


def check_finite(values: ArrayLike, name: str, n_dims: tuple[int, ...] = (1,)) -> Array:
    """Return finite real numbers as an array of one of these numbers of dimensions."""
    found = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    if found.ndim not in n_dims:
        raise ValueError(f"{name} has shape {found.shape}; give {n_dims[0]} dimension")
    return found


def check_counts(counts: ArrayLike, name: str, n_dims: tuple[int, ...] = (1,)) -> Array:
    """Return numbers of samples as floats."""
    found = check_finite(counts, name, n_dims)
    bad = found[(found < 0) | (found != np.rint(found))]
    _refuse(bad, name, "give nonnegative integers")
    largest = found.sum(axis=-1).max()
    if largest > _MOST:
        raise ValueError(
            f"{name} sums to {largest:.3g}; counts are exact up to {_MOST:.3g} samples"
        )
    return found


def check_levels(
    level_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None,
    intercept: bool,
) -> tuple[NDArray[np.int64], Array]:
    """Return the counts of a model's levels as integers, and their values, or 1..L."""
    counts = check_counts(level_counts, "level_counts", (1, 2)).astype(np.int64)
    check_integer(n_moments, "n_moments")
    check_scalar(intercept, "intercept", (bool, np.bool_))
    if (counts.sum(axis=-1) == 0).any():
        raise ValueError("level_counts sums to 0; a code length needs n >= 1 samples")
    n_levels = counts.shape[-1]
    if level_values is None:
        return counts, np.arange(1.0, n_levels + 1)
    values = check_finite(level_values, "level_values")
    check_shape(values, "level_values", (n_levels,))
    unique, times = np.unique(values, return_counts=True)
    _refuse(unique[times > 1], "level_values", "a value may stand once only: join them")
    return counts, values


def check_ones(ones: ArrayLike, counts: NDArray[np.int64]) -> Array:
    """Return labels 1, one number a level, between 0 and the counts, as floats."""
    found = check_counts(ones, "ones", (1, 2))
    check_shape(found, "ones", counts.shape)
    _refuse(found[found > counts], "ones", "give no more than level_counts")
    return found


def check_binary_labels(labels: ArrayLike, n_samples: int) -> Array:
    """Return labels 0 and 1, one a sample, as floats."""
    found = check_finite(labels, "labels")
    check_shape(found, "labels", (n_samples,))
    _refuse(found[(found != 0) & (found != 1)], "labels", "map the classes to 0 and 1")
    return found


def check_range(
    ends: Range | None,
    name: str,
    why: str,
    lowest: float = -1e100,
    highest: float = 1e100,
) -> Range:
    """Return both ends, ascending and inside; a missing end is refused, and why."""
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (lowest < low < high and (high < highest or highest == math.inf)):
        raise ValueError(
            f"{name}={ends!r} must be two numbers, {lowest:g} < low < high < "
            f"{highest:g}; without these bounds log C is infinite, because {why}"
        )
    return low, high
