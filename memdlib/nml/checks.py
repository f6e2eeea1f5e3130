"""Checks of counts, levels, labels and ranges; each raises ValueError."""

import math

import numpy as np
from sklearn.utils import check_array, check_scalar

from memdlib.validation import check_integer

Range = tuple[float, float]

# Integers up to here are exact in double precision, and so are sums of them.
_MOST_SAMPLES = 2.0**52


def _check_none(bad, name, remedy):
    """Raise, naming the first of the bad values, if there are any."""
    if bad.size:
        raise ValueError(f"{name} holds {bad[0]}; {remedy}")


def check_shape(values, name, shape):
    """Raise if values have another shape."""
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape}; expected {shape}")


def check_finite(values, name, n_dims=(1,)):
    """Return finite real numbers as floats; ``n_dims`` are the dimensions allowed."""
    values = check_array(values, dtype=np.float64, ensure_2d=False, input_name=name)
    if values.ndim not in n_dims:
        raise ValueError(f"{name} has shape {values.shape}; give {n_dims[0]} dimension")
    return values


def check_counts(counts, name, n_dims=(1,)):
    """Return numbers of samples as floats."""
    counts = check_finite(counts, name, n_dims)
    is_count = (counts >= 0) & (counts == np.rint(counts))
    _check_none(counts[~is_count], name, "give nonnegative integers")
    largest = counts.sum(axis=-1).max()
    if largest > _MOST_SAMPLES:
        raise ValueError(
            f"{name} sums to {largest:.3g}; counts are exact up to "
            f"{_MOST_SAMPLES:.3g} samples"
        )
    return counts


def check_levels(
    level_counts,
    n_moments,
    level_values,
    intercept,
):
    """Check the arguments of a model; return its level counts and level values.

    The counts, of shape (L,) or (G, L), are integers; values (L,) default to 1..L.
    """
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
    repeated = unique[times > 1]
    _check_none(repeated, "level_values", "a value may occur only once: join them")
    return counts, values


def check_ones(ones, counts):
    """Return the numbers of labels 1 at each level, of the shape of counts, as floats.

    They are integers between 0 and the counts.
    """
    ones = check_counts(ones, "ones", (1, 2))
    check_shape(ones, "ones", counts.shape)
    _check_none(ones[ones > counts], "ones", "give no more than level_counts")
    return ones


def check_binary_labels(labels, n_samples):
    """Return one label 0 or 1 per sample, as floats."""
    labels = check_finite(labels, "labels")
    check_shape(labels, "labels", (n_samples,))
    is_binary = (labels == 0) | (labels == 1)
    _check_none(labels[~is_binary], "labels", "map the classes to 0 and 1")
    return labels


def check_range(
    bounds,
    name,
    why,
    lowest=-1e100,
    highest=1e100,
):
    """Return both bounds; lowest < low < high < highest, or high = highest = inf.

    Where they are missing, the message says ``why`` they are needed.
    """
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    is_below = high < highest or highest == math.inf
    if not (lowest < low < high and is_below):
        raise ValueError(
            f"{name}={bounds!r} must be two numbers, {lowest:g} < low < high < "
            f"{highest:g}; without these bounds log C is infinite, because {why}"
        )
    return low, high
