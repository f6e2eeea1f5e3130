"""Supports of densities: a set of levels, an interval, a half-line or the real line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import roots_legendre

from memdlib._types import Array, ArrayLike, Bools
from memdlib.validation import check_integer, check_real_array

# Gauss-Legendre nodes of a panel.
NODES = 8


@dataclass(frozen=True)
class Support:
    """A set of levels, an interval, a half-line or the real line.

    Parameters
    ----------
    lower, upper : float
        Ends; infinite where there is none.
    levels : tuple of float or None
        The points themselves, ascending, where the support is a finite set.

    Examples
    --------
    >>> print(Support(0.0, 1.0), "|", Support(0.0, 1.0, levels=(0.0, 1.0)))
    [0, 1] | the levels 0, 1
    """

    lower: float
    upper: float
    levels: tuple[float, ...] | None = None

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return bool(np.isfinite([self.lower, self.upper]).all())

    def __str__(self) -> str:
        if self.levels is not None:
            names = [f"{x:g}" for x in self.levels[:4]]
            if len(self.levels) > 4:
                names.append("...")
            return f"the levels {', '.join(names)}"
        left = "[" if self.lower > -np.inf else "("
        right = "]" if self.upper < np.inf else ")"
        return f"{left}{self.lower:g}, {self.upper:g}{right}"

    def contains(self, x: Array) -> Bools:
        """Whether x lies on the support, same shape."""
        if self.levels is not None:
            return np.isin(x, self.levels)
        return np.isfinite(x) & (x >= self.lower) & (x <= self.upper)

    def standardise(self) -> tuple[float, float]:
        """Midpoint and half the width of a bounded support."""
        half = (self.upper - self.lower) / 2.0
        return self.lower + half, half

    def grid(self, n_nodes: int) -> tuple[Array, Array]:
        """Nodes in [-1, 1] and log weights for a bounded support; levels exactly."""
        if self.levels is None:
            nodes, weights = gauss_legendre(n_nodes)
            return nodes, np.log(weights)
        origin, unit = self.standardise()
        nodes = (np.array(self.levels) - origin) / unit
        return nodes, np.zeros(len(nodes))

    def nodes(self, ends: Array) -> tuple[Array, Array]:
        """Nodes and weights (B, N) of panels between ends; levels with weight one."""
        if self.levels is None:
            return panel_nodes(ends)
        return ends, np.ones(ends.shape)


def read_support(support: Sequence[float] | Support) -> Support:
    """Read a pair as an interval and anything else as a set of levels.

    Parameters
    ----------
    support : Support, tuple (a, b), or list or array of levels
        A *tuple of two* numbers is the interval [a, b]; an end may be infinite. A list,
        an array or a longer tuple is a finite set of levels.

    Returns
    -------
    Support

    Raises
    ------
    ValueError
        If the ends are not in order, or if levels repeat or are not finite.

    Examples
    --------
    >>> str(read_support((0, np.inf))), str(read_support([0, 1]))
    ('[0, inf)', 'the levels 0, 1')
    """
    if isinstance(support, Support):
        return support
    values = check_real_array(support, "support")
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"support={support!r} must be a pair (a, b) or at least two levels"
        )
    if isinstance(support, tuple) and len(support) == 2:
        lower, upper = map(float, support)
        if not lower < upper:
            raise ValueError(
                f"support=({lower:g}, {upper:g}) must be (a, b) with a < b"
            )
        return Support(lower, upper)
    levels = np.unique(values)
    if levels.size < values.size or not np.isfinite(levels).all():
        raise ValueError(f"levels {values.tolist()} must be finite and distinct")
    return Support(float(levels[0]), float(levels[-1]), tuple(levels.tolist()))


@lru_cache(maxsize=32)
def gauss_legendre(n_nodes: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1], shared and read-only."""
    rule = roots_legendre(check_integer(n_nodes, "n_nodes"))
    for array in rule:
        array.flags.writeable = False
    return rule


def panel_nodes(ends: Array, n_nodes: int = NODES) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights (B, P n) on panels between ends (B, P + 1)."""
    nodes, weights = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(ends)[..., None]
    u = (ends[:, :-1, None] + half) + half * nodes
    return u.reshape(len(ends), -1), (half * weights).reshape(len(ends), -1)


def powers(u: ArrayLike, n_moments: int) -> Array:
    """Return (u, u^2, ..., u^m), shape (..., m), of u of shape (...)."""
    u = np.asarray(u, np.float64)
    return np.multiply.accumulate(
        np.broadcast_to(u[..., None], (*u.shape, n_moments)), axis=-1
    )
