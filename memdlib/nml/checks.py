"""Checks of levels, labels and numbers; messages name value and remedy."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def level_counts_and_values(
    level_counts: ArrayLike, level_values: ArrayLike | None, *, stack: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return level counts as integers, with the value of each level.

    Parameters
    ----------
    level_counts : array_like of shape (L,), or (G, L) if ``stack``
    level_values : array_like of shape (L,) or None
        None means 1..L.
    stack : bool

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
    >>> level_counts_and_values([3, 2], None, stack=False)
    (array([3, 2]), array([1., 2.]))
    """
    counts = np.asarray(level_counts, dtype=np.float64)
    if counts.ndim not in ((1, 2) if stack else (1,)) or not counts.shape[-1]:
        raise ValueError(
            f"level_counts has shape {counts.shape}; give one count a level"
            + (", shape (L,) or (G, L)" if stack else ", shape (L,)")
        )
    bad = counts[~(np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts)))]
    if bad.size:
        raise ValueError(f"level_counts holds {bad[0]}; give nonnegative integers")
    if (counts.sum(axis=-1) == 0).any():
        raise ValueError("level_counts sums to 0; a code length needs n >= 1 samples")
    return counts.astype(np.int64), _values(level_values, counts.shape[-1])


def _values(level_values: ArrayLike | None, n_levels: int) -> NDArray[np.float64]:
    if level_values is None:
        return np.arange(1.0, n_levels + 1)
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
    return values


def positive_integer(value: int, name: str) -> int:
    """Return a number that must be an integer of 1 or more.

    Parameters
    ----------
    value : int
    name : str
        For the message.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is anything else.

    Examples
    --------
    >>> positive_integer(3, "n_moments")
    3
    """
    if not np.isscalar(value) or isinstance(value, str) or not value >= 1:
        raise ValueError(f"{name} is {value!r}; give an integer of 1 or more")
    if not np.isfinite(value) or value != int(value):
        raise ValueError(f"{name} is {value!r}; give an integer of 1 or more")
    return int(value)


def binary_labels(labels: ArrayLike, n_samples: int) -> NDArray[np.float64]:
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
    >>> binary_labels([True, False], 2)
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
