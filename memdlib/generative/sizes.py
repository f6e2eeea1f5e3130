"""How many features: which numbers are tried, and on which rows."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.generative.model import MarginalModel
from memdlib.moments.sums import ClassMoments
from memdlib.validation import check_integer

Array = NDArray[np.float64]

# Every number up to here, and then steps of this ratio.
_DENSE, _STEP = 64, 1.03

# Fractional weights add up to equal accuracies only within rounding.
_TIE = 1e-12


def size_grid(asked: str | ArrayLike | None, d: int) -> NDArray[np.intp]:
    """Numbers of features to try.

    Parameters
    ----------
    asked : None, "every" or array-like of int
        None: every number up to 64, then steps of 3 per cent, and d.
    d : int
        Number of features there are.

    Returns
    -------
    ndarray of int, increasing

    Raises
    ------
    ValueError
        If a number asked for is not an integer from 1 to d.

    Examples
    --------
    >>> size_grid(None, 5).tolist()
    [1, 2, 3, 4, 5]
    >>> size_grid(None, 10000)[60:70].tolist(), len(size_grid(None, 10000))
    ([61, 62, 63, 64, 66, 68, 71, 74, 77, 80], 228)
    >>> size_grid([100, 10], 200).tolist()
    [10, 100]
    """
    d = check_integer(d, "d")
    if asked is None:
        grid = list(range(1, min(d, _DENSE) + 1))
        while grid[-1] < d:
            grid.append(min(d, math.ceil(grid[-1] * _STEP)))
        return np.array(grid)
    if isinstance(asked, str):
        return np.arange(1, d + 1)
    grid = np.asarray(asked)
    grid = np.unique(grid) if grid.dtype.kind in "iu" else grid.ravel()
    if not grid.size or grid.dtype.kind not in "iu" or grid[0] < 1 or grid[-1] > d:
        raise ValueError(
            f"n_features_grid={asked!r} must hold integers from 1 to {d}, the number "
            'of features of X; or give "every", or None'
        )
    return grid


def held_out_accuracy(
    estimate: Callable[[ClassMoments], MarginalModel],
    data: tuple,
    fold: NDArray[np.intp],
    exclusive: list[ClassMoments],
    grid: NDArray[np.intp],
) -> Array | None:
    """Accuracy on held-out rows with the best S features, for each S of a grid.

    Parameters
    ----------
    estimate : callable
        Makes a model of moments.
    data : tuple
        X (observed), codes and weight of all rows.
    fold : ndarray of int, shape (n,)
    exclusive : list of ClassMoments
        Of all rows but those of a fold; the folds to hold out come first.
    grid : ndarray of int, shape (G,)

    Returns
    -------
    ndarray of shape (G,), or None
        None if there is no row to hold out, or none but these.
    """
    correct, tested = np.zeros(len(grid)), 0.0
    for f, moments in enumerate(exclusive):
        test = fold == f
        if test.any() and moments.weight.any():
            part = [values[test] for values in data]
            correct += estimate(moments).correct_weight(*part, grid)
            tested += part[-1].sum()
    return correct / tested if tested else None


def smallest_best(grid: NDArray[np.intp], accuracy: Array) -> int:
    """Return the smallest number of features of highest accuracy.

    Parameters
    ----------
    grid : ndarray of int, shape (G,)
        Increasing.
    accuracy : ndarray of shape (G,)

    Returns
    -------
    int

    Examples
    --------
    >>> smallest_best(np.array([1, 2, 3]), np.array([0.5, 0.9 - 1e-16, 0.9]))
    2
    """
    return int(grid[np.argmax(accuracy >= accuracy.max() - _TIE)])
