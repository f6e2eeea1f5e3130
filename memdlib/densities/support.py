"""Supports of densities: where they live, and the grids on which they are integrated.

Every support has *standard coordinates* u, in which it looks the same at any place and
scale: [-1, 1] for an interval or a set of levels, u = (x - mean) / sd on the real line,
u = (x - a) / E(x - a) on a half-line. Moments are matched there, in polynomials that
are orthonormal under a reference density of the support.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.validation import check_integer

Array = NDArray[np.float64]

# Largest |u| of the grids on unbounded supports, in standard deviations or means:
# for polynomials, and for other feature functions.
_REACH, _FAR = 60.0, 1e12


@dataclass(frozen=True)
class Support:
    """A set of levels, an interval, a half-line or the real line.

    Parameters
    ----------
    lower, upper : float
        Ends; infinite where there is none.
    levels : tuple of float or None
        The points themselves, ascending, where the support is a finite set.
    """

    lower: float
    upper: float
    levels: tuple[float, ...] | None = None

    @property
    def kind(self) -> str:
        """One of "levels", "interval", "half-line" and "line"."""
        if self.levels is not None:
            return "levels"
        if np.isfinite(self.upper):
            return "interval"
        return "half-line" if np.isfinite(self.lower) else "line"

    @property
    def bounded(self) -> bool:
        """Whether standard coordinates are the same for all densities."""
        return self.kind in ("levels", "interval")

    def __str__(self) -> str:
        if self.levels is not None:
            shown = ", ".join(f"{x:g}" for x in self.levels[:4])
            more = ", ..." if len(self.levels) > 4 else ""
            return f"the levels {shown}{more}"
        left, right = "[" if self.lower > -np.inf else "(", "]"
        right = right if self.upper < np.inf else ")"
        return f"{left}{self.lower:g}, {self.upper:g}{right}"

    def standardise(self, mean: ArrayLike, sd: ArrayLike) -> tuple[Array, Array]:
        """Origin and unit of the standard coordinates.

        Parameters
        ----------
        mean, sd : array_like of shape (...)
            Mean and standard deviation of each density; used where the support is
            unbounded.

        Returns
        -------
        origin, unit : ndarray of shape (...)
            u = (x - origin) / unit.
        """
        mean, sd = np.asarray(mean, np.float64), np.asarray(sd, np.float64)
        if self.kind == "line":
            return mean, sd
        if self.kind == "half-line":
            return np.full_like(mean, self.lower), mean - self.lower
        half = (self.upper - self.lower) / 2.0
        return np.full_like(mean, self.lower + half), np.full_like(mean, half)

    def grid(self, n_nodes: int, *, smooth: bool = True) -> tuple[Array, Array]:
        """Nodes in standard coordinates and the logarithms of their weights.

        Parameters
        ----------
        n_nodes : int
            Nodes of the Gauss-Legendre rule; a set of levels is summed exactly.
        smooth : bool, default=True
            Whether log densities are smooth up to the ends and fall fast (polynomials
            do). If not, the nodes crowd at the ends and reach far out (the double
            exponential change of variables of Takahasi and Mori, 1974).

        Returns
        -------
        nodes, log_weights : ndarray of shape (N,)
        """
        if self.levels is not None:
            origin, unit = self.standardise(0.0, 1.0)
            levels = np.array(self.levels)
            return (levels - origin) / unit, np.zeros(len(levels))
        t, weights = gauss_legendre(n_nodes)
        if self.kind == "interval":
            u, slope = (t, np.ones_like(t)) if smooth else _towards_the_ends(t)
        elif self.kind == "half-line":
            # u = exp(t - exp(-t)): doubly exponential at 0, exponential at infinity
            low, high = (-3.6, np.log(_REACH)) if smooth else (-4.2, np.log(_FAR))
            t = low + 0.5 * (high - low) * (t + 1.0)
            u = np.exp(t - np.exp(-t))
            slope = 0.5 * (high - low) * u * (1.0 + np.exp(-t))
        else:
            if not smooth:
                # one rule on either side: a kink at the origin does no harm
                t = np.concatenate([0.5 * (t - 1.0), 0.5 * (t + 1.0)])
                weights = 0.5 * np.concatenate([weights, weights])
            reach = np.arcsinh(_REACH if smooth else _FAR)
            u, slope = np.sinh(reach * t), reach * np.cosh(reach * t)
        return u, np.log(weights * slope)

    def log_reference(self, u: Array) -> Array:
        """Unnormalised log density under which the polynomials are orthonormal."""
        if self.kind == "line":
            return -0.5 * u**2
        return -u if self.kind == "half-line" else np.zeros_like(u)


def read_support(support: Sequence[float] | Support) -> Support:
    """Read a pair as an interval and anything else as a set of levels.

    Parameters
    ----------
    support : tuple (a, b), or list or array of levels
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
    try:
        values = np.asarray(support, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"support={support!r} must be a pair (a, b) or at least two levels, "
            "all of them numbers"
        )
    if isinstance(support, tuple) and len(support) == 2:
        lower, upper = map(float, values)
        if not lower < upper or (np.isinf(lower) and np.isfinite(upper)):
            raise ValueError(
                f"support={support!r} must be (a, b) with a < b; for a half-line "
                "(-inf, b] change the sign of x"
            )
        return Support(lower, upper)
    levels = np.unique(values)
    if levels.size < values.size or not np.isfinite(levels).all():
        raise ValueError(f"levels {values.tolist()} must be finite and distinct")
    return Support(float(levels[0]), float(levels[-1]), tuple(levels.tolist()))


def _towards_the_ends(t: Array) -> tuple[Array, Array]:
    """U = tanh(pi/2 sinh(r t)) and its slope, for t in [-1, 1]."""
    reach = 2.9
    inner = 0.5 * np.pi * np.sinh(reach * t)
    slope = 0.5 * np.pi * reach * np.cosh(reach * t) / np.cosh(inner) ** 2
    return np.tanh(inner), slope


@lru_cache(maxsize=32)
def gauss_legendre(n_nodes: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1].

    Parameters
    ----------
    n_nodes : int
        At least 1.

    Returns
    -------
    nodes, weights : ndarray of shape (n_nodes,)
        Computed once and shared by all who ask: not to be written to.
    """
    rule = np.polynomial.legendre.leggauss(check_integer(n_nodes, "n_nodes"))
    for array in rule:
        array.flags.writeable = False
    return rule


def powers(u: ArrayLike, n_moments: int) -> Array:
    """Return (u, u^2, ..., u^m), shape (..., m), of u of shape (...)."""
    u = np.asarray(u, np.float64)
    return np.multiply.accumulate(
        np.broadcast_to(u[..., None], (*u.shape, n_moments)), axis=-1
    )


def orthonormal_coefficients(features: Array, log_reference: Array) -> Array:
    """Coefficients that make (1, phi) orthonormal under a discrete measure.

    Parameters
    ----------
    features : ndarray of shape (N, m)
        phi at the nodes.
    log_reference : ndarray of shape (N,)
        Logarithm of the measure (weights times density), up to a constant.

    Returns
    -------
    ndarray of shape (m + 1, m + 1)
        Upper triangular C; the columns of (1, phi) C are orthonormal.

    Raises
    ------
    ValueError
        If the features and the constant are linearly dependent on the nodes.

    Examples
    --------
    >>> u = np.array([-1.0, 0.0, 1.0])
    >>> C = orthonormal_coefficients(u[:, None], np.zeros(3))
    >>> (C * np.sqrt(2)).round(12).tolist()[1][1] > 0
    True
    """
    n_moments = features.shape[1]
    extended = np.column_stack([np.ones(len(features)), features])
    mass = np.exp(log_reference - log_reference.max())
    mass /= mass.sum()
    scale = np.sqrt(mass @ extended**2)
    _, r = np.linalg.qr(np.sqrt(mass)[:, None] * (extended / scale))
    size = np.abs(np.diag(r))
    if len(features) <= n_moments or size.min() <= 1e-12:
        raise ValueError(
            f"{n_moments} moments and the constant are not linearly independent on "
            f"{len(features)} points of the support; use fewer moments"
        )
    r = r * np.sign(np.diag(r))[:, None]
    return np.linalg.solve(r, np.eye(n_moments + 1)) / scale[:, None]
