"""Checks of counts, level values and labels; messages name value and remedy."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def check_counts(counts: ArrayLike, name: str, *, stack: bool = False) -> Array:
    """Return counts that must be nonnegative integers.

    Parameters
    ----------
    counts : array_like of shape (L,), or (G, L) if ``stack``
    name : str
        For the message.
    stack : bool, default=False

    Returns
    -------
    ndarray of the shape of ``counts``
        As floats.

    Raises
    ------
    ValueError
        If the shape is another one, or if there are no counts or other numbers.

    Examples
    --------
    >>> check_counts([3, 2], "counts")
    array([3., 2.])
    """
    found = np.asarray(counts, dtype=np.float64)
    if found.ndim not in ((1, 2) if stack else (1,)) or not found.size:
        raise ValueError(
            f"{name} has shape {found.shape}; give one count a level, shape (L,)"
            + (" or (G, L)" if stack else "")
        )
    bad = found[~(np.isfinite(found) & (found >= 0) & (found == np.rint(found)))]
    if bad.size:
        raise ValueError(f"{name} holds {bad[0]}; give nonnegative integers")
    return found


def check_levels(
    level_counts: ArrayLike, level_values: ArrayLike | None
) -> tuple[NDArray[np.int64], Array]:
    """Return the counts of the levels, with the value of each.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
    level_values : array_like of shape (L,) or None
        None means 1..L.

    Returns
    -------
    counts : ndarray of the shape of ``level_counts``
    values : ndarray of shape (L,)

    Raises
    ------
    ValueError
        If counts are not nonnegative integers or a row sums to zero, or if the values
        are not finite, not distinct, or not one a level.

    Examples
    --------
    >>> check_levels([3, 2], None)
    (array([3, 2]), array([1., 2.]))
    """
    counts = check_counts(level_counts, "level_counts", stack=True).astype(np.int64)
    if (counts.sum(axis=-1) == 0).any():
        raise ValueError("level_counts sums to 0; a code length needs n >= 1 samples")
    n_levels = counts.shape[-1]
    if level_values is None:
        return counts, np.arange(1.0, n_levels + 1)
    values = np.asarray(level_values, dtype=np.float64)
    if values.shape != (n_levels,):
        raise ValueError(
            f"level_values has shape {values.shape}; give one value for each of the "
            f"{n_levels} levels"
        )
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
    return counts, values


def check_ones(ones: ArrayLike, counts: NDArray[np.int64]) -> Array:
    """Return numbers of labels 1, one a level, between 0 and the counts.

    Parameters
    ----------
    ones : array_like of the shape of ``counts``
    counts : ndarray
        Samples at each level.

    Returns
    -------
    ndarray
        As floats.

    Raises
    ------
    ValueError
        If the shape is another one or a number is out of range.

    Examples
    --------
    >>> check_ones([1, 0], np.array([3, 2]))
    array([1., 0.])
    """
    found = np.asarray(ones, dtype=np.float64)
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
    """Return labels that must be 0 and 1, one a sample.

    Parameters
    ----------
    labels : array_like of shape (n_samples,)
    n_samples : int

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If the shape is another one or a label is neither 0 nor 1.

    Examples
    --------
    >>> check_binary_labels([True, False], 2)
    array([1., 0.])
    """
    given = np.asarray(labels)
    if given.shape != (n_samples,):
        raise ValueError(
            f"labels has shape {given.shape}; give one label a sample, {n_samples}"
        )
    bad = [label for label in np.unique(given).tolist() if label not in (0, 1)]
    if bad:
        raise ValueError(f"labels holds {bad[0]!r}; map the two classes to 0 and 1")
    return given.astype(np.float64)
