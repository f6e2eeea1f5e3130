"""The conditional model of binary labels on the levels of one feature.

P(1 | x) is the logistic function of a polynomial in the level value x, of degree m, by
default without a constant term. What code lengths need of it is gathered here once: the
levels that matter, the dimension of the model and well-conditioned bases.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Least distance of two levels, as a share of their range.
_NEAREST = 2.0**-26


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


def orthonormal_basis(model: LevelModel) -> Array:
    """Polynomials of the model, orthonormal under the level counts.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    ndarray of shape (L, p)
        Column j is a polynomial of one degree more than column j - 1.

    Notes
    -----
    Each column is the one before it times x - x_1, made orthogonal to all before it,
    twice (Arnoldi). Powers of x would lose all digits at eight moments of ten levels,
    and x itself at levels that are far from zero.

    Examples
    --------
    >>> counts = np.array([8, 7, 8, 7, 8])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 3, intercept=False)
    >>> basis = orthonormal_basis(model)
    >>> bool(np.allclose(basis.T * counts @ basis, np.eye(3)))
    True
    """
    # a power of two as scale keeps the differences exact, and from overflow
    x = np.ldexp(model.values, -np.frexp(np.abs(model.values).max(initial=0.0))[1])
    basis = np.empty((len(x), model.dimension))
    column = np.ones_like(x) if model.intercept else x
    x = (x - x[:1]) / max(np.ptp(x) if x.size else 0.0, np.finfo(float).tiny)
    for j in range(model.dimension):
        before = basis[:, :j]
        for _ in range(2):
            column = column - before @ (before.T @ (model.counts * column))
        basis[:, j] = column / np.sqrt(model.counts @ column**2)
        column = x * basis[:, j]
    return basis


def null_basis(basis: Array) -> Array:
    """Orthonormal directions that no logit of the model has a part in.

    Parameters
    ----------
    basis : ndarray of shape (L, p)
        Any basis of the logits.

    Returns
    -------
    ndarray of shape (L, L - p)

    Examples
    --------
    Four moments on the levels 1 to 5 leave the alternating binomials 5, 10, 10, 5, 1.

    >>> model = level_model(np.ones(5, int), np.arange(1.0, 6.0), 4, intercept=False)
    >>> direction = null_basis(orthonormal_basis(model))[:, 0]
    >>> (direction / direction[-1]).round(12).tolist()
    [5.0, -10.0, 10.0, -5.0, 1.0]
    """
    return np.linalg.qr(basis, mode="complete")[0][:, basis.shape[1] :]
