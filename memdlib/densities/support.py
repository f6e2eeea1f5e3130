"""Supports of densities: a set of levels, an interval, a half-line or the real line."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import roots_legendre

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
    levels: tuple = None

    @property
    def bounded(self):
        """Whether both ends are finite."""
        return bool(np.isfinite([self.lower, self.upper]).all())

    def __str__(self):
        if self.levels is not None:
            names = [f"{x:g}" for x in self.levels[:4]]
            if len(self.levels) > 4:
                names.append("...")
            return f"the levels {', '.join(names)}"
        left = "[" if self.lower > -np.inf else "("
        right = "]" if self.upper < np.inf else ")"
        return f"{left}{self.lower:g}, {self.upper:g}{right}"

    def contains(self, x):
        """Whether x lies on the support, same shape."""
        if self.levels is not None:
            return np.isin(x, self.levels)
        return np.isfinite(x) & (x >= self.lower) & (x <= self.upper)

    def standardise(self):
        """Midpoint and half the width of a bounded support."""
        half = (self.upper - self.lower) / 2.0
        return self.lower + half, half

    def grid(self):
        """Levels in units of [-1, 1], and the logarithms of their weights."""
        origin, unit = self.standardise()
        nodes = (np.array(self.levels) - origin) / unit
        return nodes, np.zeros(len(nodes))

    def nodes(self, ends):
        """Nodes and weights (B, N) of panels between ends; levels with weight one."""
        if self.levels is None:
            return panel_nodes(ends)
        return ends, np.ones(ends.shape)


def read_support(support=None, *, levels=None):
    """Return the support that is given by an interval, or by a set of levels.

    The type of a sequence never matters: a tuple, a list and an array of the same
    numbers are the same support.

    Parameters
    ----------
    support : pair of numbers (a, b) or Support, default=None
        Ends of an interval, which may be infinite.
    levels : array_like of shape (L,), default=None
        The points of a finite set, at least two, in any order.

    Returns
    -------
    Support
        The real line if neither is given.

    Raises
    ------
    ValueError
        If both are given, if ``support`` is not a pair a < b, or if levels repeat or
        are not finite.

    Examples
    --------
    >>> str(read_support([0, np.inf])), str(read_support(levels=(0, 1)))
    ('[0, inf)', 'the levels 0, 1')
    """
    if levels is not None:
        if support is not None:
            raise ValueError(
                f"support={support!r} and levels={levels!r} exclude each other: give "
                "support for an interval, or levels for a finite set of values"
            )
        return _read_levels(levels)
    if support is None:
        return Support(-np.inf, np.inf)
    if isinstance(support, Support):
        return support
    if isinstance(support, str) or check_real_array(support, "support").shape != (2,):
        raise ValueError(
            f"support={support!r} must be an interval (a, b); for a finite set of "
            "values use levels="
        )
    lower, upper = map(float, support)
    if not lower < upper:
        raise ValueError(f"support=({lower:g}, {upper:g}) must be (a, b) with a < b")
    return Support(lower, upper)


def _read_levels(levels):
    """Return the support of a finite set of values, in ascending order."""
    values = check_real_array(levels, "levels")
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"levels={levels!r} must be at least two numbers; for an interval use "
            "support=(a, b)"
        )
    ascending = np.unique(values)
    if ascending.size < values.size or not np.isfinite(ascending).all():
        raise ValueError(f"levels {values.tolist()} must be finite and distinct")
    points = tuple(ascending.tolist())
    return Support(points[0], points[-1], levels=points)


def gauss_legendre(n_nodes):
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1], shared and read-only."""
    return _gauss_legendre(check_integer(n_nodes, "n_nodes"))


@lru_cache(maxsize=32)
def _gauss_legendre(n_nodes):
    rule = roots_legendre(n_nodes)
    for array in rule:
        array.flags.writeable = False
    return rule


def panel_nodes(ends, n_nodes=NODES):
    """Gauss-Legendre nodes, weights (..., P n) on panels between ends (..., P + 1)."""
    nodes, weights = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(ends)[..., None]
    u = (ends[..., :-1, None] + half) + half * nodes
    shape = (*ends.shape[:-1], -1)
    return u.reshape(shape), (half * weights).reshape(shape)


def powers(u, n_moments):
    """Return (u, u^2, ..., u^m), shape (..., m), of u of shape (...)."""
    u = np.asarray(u, np.float64)
    return np.multiply.accumulate(
        np.broadcast_to(u[..., None], (*u.shape, n_moments)), axis=-1
    )
