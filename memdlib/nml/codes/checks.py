"""Checks of counts, levels, labels and ranges; messages name value and remedy.

Each check raises ValueError.
"""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib.validation import check_integer, check_real_array

Array = NDArray[np.float64]
Range = tuple[float, float]

# Integers up to here are exact in double precision, and so are sums of them.
_MOST = 2.0**52
# Largest end of a range, so that no width overflows.
_FARTHEST = 1e100


def check_counts(counts: ArrayLike, name: str, *, stack: bool = False) -> Array:
    """Return counts of shape (L,), or (G, L) if ``stack``, as floats."""
    found = check_real_array(counts, name)
    if found.ndim not in ((1, 2) if stack else (1,)) or not found.size:
        raise ValueError(
            f"{name} has shape {found.shape}; give one count a level, shape (L,)"
            + (" or (G, L)" if stack else "")
        )
    bad = found[~(np.isfinite(found) & (found >= 0) & (found == np.rint(found)))]
    if bad.size:
        raise ValueError(f"{name} holds {bad[0]}; give nonnegative integers")
    with np.errstate(over="ignore"):
        total = found.sum()
    if total == np.inf:
        raise ValueError(
            f"the sum of {name}, which holds {found.max()}, is beyond the largest "
            "float; give numbers of samples"
        )
    return found


def check_moments(n_moments: Iterable[int]) -> list[int]:
    """Return the numbers of moments to try, one or more."""
    if not np.iterable(n_moments):
        raise ValueError(
            f"n_moments={n_moments!r} must be several numbers of moments, such as "
            "range(1, 6)"
        )
    found = [check_integer(m, "n_moments") for m in n_moments]
    if not found:
        raise ValueError("n_moments is empty; give at least one number of moments")
    return found


def check_boolean(value: bool, name: str) -> None:
    """Refuse what is neither True nor False, such as words."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_levels(
    level_counts: ArrayLike, level_values: ArrayLike | None
) -> tuple[NDArray[np.int64], Array]:
    """Return the counts of the levels as integers, and their values, else 1..L."""
    counts = check_counts(level_counts, "level_counts", stack=True)
    if (counts.sum(axis=-1) > _MOST).any():
        raise ValueError(
            f"level_counts sums to {counts.sum(axis=-1).max():.3g}; counts are exact "
            f"up to {_MOST:.3g} samples"
        )
    counts = counts.astype(np.int64)
    if (counts.sum(axis=-1) == 0).any():
        raise ValueError("level_counts sums to 0; a code length needs n >= 1 samples")
    n_levels = counts.shape[-1]
    if level_values is None:
        return counts, np.arange(1.0, n_levels + 1)
    values = check_real_array(level_values, "level_values")
    if values.shape != (n_levels,):
        raise ValueError(
            f"level_values has shape {values.shape}; give one value for each of the "
            f"{n_levels} levels"
        )
    check_distinct(values)
    return counts, values


def check_distinct(values: Array) -> None:
    """Refuse level values that are not finite, or equal."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"level_values holds {values[~np.isfinite(values)][0]}; give finite values"
        )
    unique, times = np.unique(values, return_counts=True)
    if (times > 1).any():
        raise ValueError(
            f"level_values holds {unique[times > 1][0]} more than once; join levels of "
            "equal value"
        )


def check_ones(ones: ArrayLike, counts: NDArray[np.int64]) -> Array:
    """Return labels 1, one number a level, between 0 and the counts, as floats."""
    found = check_real_array(ones, "ones")
    if found.shape != counts.shape:
        raise ValueError(
            f"ones has shape {found.shape}; give one number a level, shape "
            f"{counts.shape}"
        )
    bad = found[~((found >= 0) & (found <= counts) & (found == np.rint(found)))]
    if bad.size:
        raise ValueError(
            f"ones holds {bad[0]}; give integers between 0 and level_counts"
        )
    return found


def check_binary_labels(labels: ArrayLike, n_samples: int) -> Array:
    """Return labels 0 and 1, one a sample, as floats."""
    given = _as_array(labels, "labels")
    if given.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {given.shape}; give one class a sample, {n_samples}"
        )
    # objects, such as None beside numbers, may be in no order
    distinct = given if given.dtype == object else np.unique(given)
    for label in distinct.tolist():
        if not (isinstance(label, Real | np.bool_) and label in (0, 1)):
            raise ValueError(f"labels holds {label!r}; map the two classes to 0 and 1")
    return check_real_array(given, "labels")


def check_level_indices(levels: ArrayLike) -> NDArray[np.integer]:
    """Return a table of level indices, samples x features, of whatever integer type."""
    table = _as_array(levels, "levels")
    if table.ndim != 2 or not table.size:
        raise ValueError(f"levels has shape {table.shape}; give samples x features")
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        wrong = "negative" if table.dtype.kind == "i" else str(table.dtype)
        raise ValueError(f"levels is {wrong}; give level indices 0, 1, ..")
    return table


def finite_range(
    ends: Range, name: str, why: str, *, upper_may_be_infinite: bool = False
) -> Range:
    """Both ends as floats, ascending; a missing or infinite end is refused."""
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={ends!r} must be a pair (low, high); without a bound log C is "
            f"infinite, because {why}"
        ) from None
    for end, value, infinity in (("lower", low, -math.inf), ("upper", high, math.inf)):
        number = isinstance(value, Real)
        if end == "upper" and upper_may_be_infinite and number and value == infinity:
            continue
        if value is None or (number and value == infinity):
            raise ValueError(missing_end(name, end, ends, why))
        if not number or not abs(float(value)) <= _FARTHEST:
            raise ValueError(
                f"{name}={ends!r}: the {end} end must be a number up to {_FARTHEST:g}"
            )
    if not low < high:
        raise ValueError(f"{name}={ends!r} must have its lower end below its upper end")
    return float(low), float(high)


def positive_range(
    ends: Range, name: str, what: str, *, upper_may_be_infinite: bool = False
) -> Range:
    """As `finite_range`, for a parameter above zero that counts by its ratios."""
    why = f"every doubling of the {what} adds as much, or more"
    low, high = finite_range(
        ends, name, why, upper_may_be_infinite=upper_may_be_infinite
    )
    if low <= 0.0:
        raise ValueError(missing_end(name, "lower", ends, why))
    return low, high


def missing_end(name: str, end: str, ends: Range, why: str) -> str:
    """Message that the complexity is infinite because a range has no end."""
    return (
        f"{name}={ends!r}: log C is infinite, because the {end} bound is missing and "
        f"{why}; give a finite {end} end inside the domain"
    )


def _as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return an array of any type; sparse ones and ragged lists are refused."""
    if sparse.issparse(values):
        raise ValueError(f"{name} is sparse; pass {name}.toarray()")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is no array: {error}") from error
