"""The conditional model of binary labels on the levels of one feature.

P(1 | x) is the logistic function of a polynomial in the level value x, of degree m, by
default without a constant term. What code lengths need of it is gathered here once: the
levels that matter, the dimension of the model and well-conditioned bases.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.lagrange import (
    amplification,
    cardinals,
    pivot_levels,
    scaled,
)

Array = NDArray[np.float64]

# Least distance of two levels, as a share of their range.
_NEAREST = 2.0**-26
# Amplification up to which an orthonormal basis has the digits that any labels need.
MOST_AMPLIFIED = 1e6


class NoMaximumError(ValueError):
    """A maximum of the likelihood cannot be found and certified."""


@dataclass(frozen=True)
class LevelModel:
    """Active levels in increasing order of their value, and the model on them.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each active level, as floats; all positive.
    values : ndarray of shape (L,)
        Increasing; without an intercept the value 0 is not among them.
    dimension : int
        Number p of free parameters, at most L.
    intercept : bool
        Whether the polynomial has a constant term.
    order : ndarray of shape (L,)
        Indices of the active levels among those given.
    n_fixed : int
        Samples at the level 0 of a model without intercept, where P(1 | x) = 1/2.
    """

    counts: Array
    values: Array
    dimension: int
    intercept: bool
    order: NDArray[np.intp]
    n_fixed: int

    @property
    def amplification(self) -> float:
        """Most that a logit may move with that of one of p others, 1 or more."""
        values = tuple(self.values.tolist())
        return amplification(values, self.dimension, bool(self.intercept))

    @property
    def moderate(self) -> bool:
        """Whether the levels are even enough for fits without a certificate of each."""
        return self.amplification <= MOST_AMPLIFIED

    @property
    def saturated(self) -> bool:
        """Whether every level has a probability of its own."""
        return self.dimension == len(self.values)

    def of_degree(self, n_moments: int) -> "LevelModel":
        """Model of another degree on the same levels.

        Parameters
        ----------
        n_moments : int

        Returns
        -------
        LevelModel

        Raises
        ------
        ValueError
            As for `level_model`.

        Examples
        --------
        >>> model = level_model(np.array([8, 7, 8]), np.arange(1.0, 4.0), 1, False)
        >>> model.of_degree(2).dimension, model.of_degree(6).dimension
        (2, 3)
        """
        dimension = min(n_moments + bool(self.intercept), len(self.values))
        levels = self.counts, self.values
        model = LevelModel(*levels, dimension, self.intercept, self.order, self.n_fixed)
        if not model.saturated:
            values = tuple(self.values.tolist())
            _check_distances(values, dimension > 1, bool(self.intercept))
        return model


def level_model(
    level_counts: NDArray[np.int64], values: Array, n_moments: int, intercept: bool
) -> LevelModel:
    """Keep the levels that matter: occupied and, without intercept, not at zero.

    Parameters
    ----------
    level_counts : ndarray of shape (L,)
        Samples at each level.
    values : ndarray of shape (L,)
        Value of each level; distinct.
    n_moments : int
        Degree m of the polynomial.
    intercept : bool

    Returns
    -------
    LevelModel

    Raises
    ------
    ValueError
        If the model is not saturated and two levels, or without intercept a level and
        zero, are closer than 1.5e-8 of their range, so that its labels need logits
        beyond what can be computed.

    Examples
    --------
    Three of these five levels are active, which makes six moments saturated.

    >>> model = level_model(
    ...     np.array([8, 0, 7, 8, 7]), np.arange(-2.0, 3.0), 6, intercept=False
    ... )
    >>> model.values.tolist(), model.dimension, model.n_fixed
    ([-2.0, 1.0, 2.0], 3, 7)
    """
    active = level_counts > 0
    if not intercept:
        active &= values != 0
    order = np.flatnonzero(active)
    order = order[np.argsort(values[order])]
    levels = LevelModel(
        counts=level_counts[order].astype(np.float64),
        values=values[order],
        dimension=len(order),
        intercept=intercept,
        order=order,
        n_fixed=int(level_counts.sum() - level_counts[order].sum()),
    )
    return levels.of_degree(n_moments)


@lru_cache(maxsize=1024)
def _check_distances(values: tuple[float, ...], several: bool, intercept: bool) -> None:
    x = np.ldexp(values, -np.frexp(np.abs(values).max())[1])
    near = np.array([], dtype=float)
    if several:
        near = np.diff(x) / (x[-1] - x[0])
    if near.size and near.min() < _NEAREST:
        i = int(near.argmin())
        pair, which = values[i : i + 2], "level values"
    elif not intercept and np.abs(x).min() < _NEAREST * np.abs(x).max():
        pair = [values[np.abs(x).argmin()], values[np.abs(x).argmax()]]
        which = "without intercept, zero and the level values"
    else:
        return
    raise ValueError(
        f"{which} {float(pair[0])!r} and {float(pair[1])!r} are too close for their "
        "range to tell their labels apart; join them to one level, or use evenly "
        "spaced values such as 1..L"
    )


def require_moderate(model: LevelModel) -> None:
    """Refuse levels that are too uneven for fits without a certificate of each.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    None

    Raises
    ------
    NoMaximumError
        If its amplification is above 10^6.

    Examples
    --------
    >>> require_moderate(
    ...     level_model(np.array([8, 7, 8]), np.array([1.0, 2.0, 5.0]), 2, False)
    ... )
    """
    if not model.moderate:
        raise NoMaximumError(
            f"level values {model.values.tolist()} are too uneven for this method with "
            f"{model.dimension} parameters: a logit may be {model.amplification:.1e} "
            f"times another, and at most {MOST_AMPLIFIED:.0e} is safe; use "
            'method="exact" or "auto", evenly spaced values such as 1..L, or fewer '
            "moments"
        )


def require_even(values: Array, dimension: int, intercept: bool) -> None:
    """Refuse levels that are too uneven for fits of several classes or features.

    Parameters
    ----------
    values : ndarray of shape (L,)
        Values of the levels, all different.
    dimension : int
        Parameters of a logit.
    intercept : bool

    Returns
    -------
    None

    Raises
    ------
    NoMaximumError
        If a logit may be 10^6 times another: from 10^7 on, sums of two classes were
        farther from certified ones than their uncertainty.

    Examples
    --------
    >>> require_even(np.array([1.0, 2.0, 5.0]), 2, False)
    """
    free = values if intercept else values[values != 0]
    if not free.size:
        return
    with np.errstate(over="ignore", divide="ignore"):  # infinite is too uneven
        found = amplification(
            tuple(free.tolist()), min(dimension, len(free)), bool(intercept)
        )
    if found > MOST_AMPLIFIED:
        raise NoMaximumError(
            f"level values {values.tolist()} are too uneven for {dimension} parameters "
            f"of each class: a logit may be {found:.1e} times another, and at most "
            f"{MOST_AMPLIFIED:.0e} is safe; use evenly spaced values such as 1..L, or "
            "fewer moments"
        )


def orthonormal_basis(model: LevelModel) -> Array:
    """Polynomials of the model, orthonormal under the level counts.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    ndarray of shape (L, p)

    Notes
    -----
    Lagrange's polynomials at the Leja points of the counts, times the inverse of a
    triangle that is well conditioned: powers of x would lose all digits at eight
    moments of ten levels, and what is built of them at levels of many magnitudes.

    Examples
    --------
    >>> counts = np.array([8, 7, 8, 7, 8])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 3, intercept=False)
    >>> basis = orthonormal_basis(model)
    >>> bool(np.allclose(basis.T * counts @ basis, np.eye(3)))
    True
    """
    x, n = scaled(model.values), model.counts[:, None]
    pivots = pivot_levels(x, model.dimension, model.intercept, np.log(n))
    columns = cardinals(x, model.intercept, pivots)[:, :, 0]
    columns = columns / np.sqrt(model.counts[pivots[:, 0]])
    return orthonormal(columns, n)


def orthonormal(columns: Array, weights: Array) -> Array:
    """Basis of the space of columns, orthonormal under weights.

    Parameters
    ----------
    columns : ndarray of shape (L, p)
        Well conditioned.
    weights : ndarray of shape (L, 1)

    Returns
    -------
    ndarray of shape (L, p)
        Times the inverse of a triangle, with the digits of small entries that a QR
        factorisation loses.

    Examples
    --------
    >>> orthonormal(np.c_[[2.0, 0.0]], np.c_[[1.0, 3.0]]).tolist()
    [[1.0], [0.0]]
    """
    triangle = np.linalg.cholesky(columns.T @ (weights * columns))
    return np.linalg.solve(triangle, columns.T).T
