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

# Most that a logit may be beside another one, so that fits have the digits they need.
_MOST_AMPLIFIED = 1e12


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
            _check_evenness(values, dimension, bool(self.intercept))
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
        If the model is not saturated and its levels are so uneven, or so close, that a
        logit may be 10^12 times another: its labels need more digits than there are.

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
def _check_evenness(values: tuple[float, ...], dimension: int, intercept: bool) -> None:
    """Refuse levels where Lagrange's formula may have a factor beyond 10^12.

    The bound is for the logits of all levels as those of any p of them tell.
    """
    x = _scaled(np.array(values))
    distance = np.abs(x[:, None] - x)
    np.fill_diagonal(distance, np.inf)
    with np.errstate(over="ignore", divide="ignore"):  # infinite is too uneven
        ratios = np.sort(np.maximum(x.max() - x, x - x.min()) / distance, axis=1)
        products = ratios[:, len(x) + 1 - dimension :].prod(axis=1)
        if not intercept:
            products = products * (np.abs(x).max() / np.abs(x))
    if products.max() > _MOST_AMPLIFIED:
        raise ValueError(
            f"level values {list(values)} are too uneven for {dimension} parameters: a "
            f"logit may be {products.max():.1e} times another, and at most "
            f"{_MOST_AMPLIFIED:.0e} is safe; join levels that are close, or use evenly "
            "spaced values such as 1..L, or fewer moments"
        )


def _scaled(values: Array) -> Array:
    """Values over a power of two, so that no product of them overflows."""
    return np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1])


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
    Newton's polynomials at the Leja points of the counts: each vanishes at the points
    before and is 1 at the next, where it is largest. Powers of x would lose all digits
    at eight moments of ten levels.

    Examples
    --------
    >>> counts = np.array([8, 7, 8, 7, 8])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 3, intercept=False)
    >>> basis = orthonormal_basis(model)
    >>> bool(np.allclose(basis.T * counts @ basis, np.eye(3)))
    True
    """
    x, root, columns = _scaled(model.values), np.sqrt(model.counts), []
    column = np.ones_like(x) if model.intercept else x
    for _ in range(model.dimension):
        pivot = np.abs(root * column).argmax()
        columns.append(column / (root[pivot] * column[pivot]))
        column = columns[-1] * (x - x[pivot])
    # a triangle, unlike a QR factorisation, keeps the digits of small entries
    found = np.array(columns).reshape(model.dimension, len(x))
    return np.linalg.solve(np.linalg.cholesky(found * model.counts @ found.T), found).T
