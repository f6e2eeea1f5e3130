"""Supports of densities: where they live, and the grids on which they are integrated.

Every support has *standard coordinates* u, in which it looks the same at any place and
scale: [-1, 1] for an interval or a set of levels, u = (x - mean) / sd on the real line,
u = (x - a) / E(x - a) on a half-line. Moments are matched there, in polynomials that
are orthonormal under a reference density of the support.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import wrightomega

from memdlib.validation import check_integer

Array = NDArray[np.float64]

# Largest |u| of the grids on unbounded supports, in standard deviations or means:
# for polynomials, and for other feature functions.
_REACH, _FAR = 60.0, 1e12
# Largest r t in u = tanh(pi/2 sinh(r t)), whose nodes crowd at the ends of an interval.
_ENDS_REACH = 2.9


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

    def contains(self, x: Array) -> NDArray[np.bool_]:
        """Whether x lies on the support, same shape."""
        if self.levels is not None:
            return np.isin(x, self.levels)
        return np.isfinite(x) & (x >= self.lower) & (x <= self.upper)

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
        if self.kind == "line" and not smooth:
            # one rule on either side: a kink at the origin does no harm
            t = np.concatenate([0.5 * (t - 1.0), 0.5 * (t + 1.0)])
            weights = 0.5 * np.concatenate([weights, weights])
        u, slope = self.unfold(t, smooth=smooth)
        return u, np.log(weights * slope)

    def unfold(self, t: Array, *, smooth: bool = True) -> tuple[Array, Array]:
        """Standard coordinates of a variable in [-1, 1], where densities are tame.

        Parameters
        ----------
        t : ndarray of shape (...)
        smooth : bool, default=True
            As in :meth:`grid`.

        Returns
        -------
        u, slope : ndarray of shape (...)
            Standard coordinates, and their derivatives by t.
        """
        if self.kind == "interval":
            return (t, np.ones_like(t)) if smooth else _towards_the_ends(t)
        if self.kind == "half-line":
            # u = exp(s - exp(-s)): doubly exponential at 0, exponential at infinity
            low, high = _half_line_range(smooth)
            s = low + 0.5 * (high - low) * (t + 1.0)
            u = np.exp(s - np.exp(-s))
            return u, 0.5 * (high - low) * u * (1.0 + np.exp(-s))
        reach = np.arcsinh(_REACH if smooth else _FAR)
        return np.sinh(reach * t), reach * np.cosh(reach * t)

    @np.errstate(divide="ignore")
    def fold(self, u: Array, *, smooth: bool = True) -> Array:
        """Inverse of :meth:`unfold`.

        Parameters
        ----------
        u : ndarray of shape (...)
            Standard coordinates on the support.
        smooth : bool, default=True

        Returns
        -------
        t : ndarray of shape (...)
            Outside [-1, 1] for u beyond the reach of the grids.
        """
        if self.kind == "interval":
            ends = np.arctanh(np.clip(u, -1.0, 1.0)) / (0.5 * np.pi)
            return u if smooth else np.arcsinh(ends) / _ENDS_REACH
        if self.kind == "half-line":
            low, high = _half_line_range(smooth)
            # w = exp(-s) solves w + log(w) = -log(u)
            log_u = np.log(np.clip(u, 1e-300, 1e300))
            w = wrightomega(-log_u)
            s = np.where(w > 1.0, -np.log(w), log_u + w)
            return 2.0 * (s - low) / (high - low) - 1.0
        return np.arcsinh(u) / np.arcsinh(_REACH if smooth else _FAR)

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
    inner = 0.5 * np.pi * np.sinh(_ENDS_REACH * t)
    growth = 0.5 * np.pi * _ENDS_REACH * np.cosh(_ENDS_REACH * t)
    return np.tanh(inner), growth / np.cosh(inner) ** 2


def _half_line_range(smooth: bool) -> tuple[float, float]:
    """Range of s in u = exp(s - exp(-s))."""
    return (-3.6, np.log(_REACH)) if smooth else (-4.2, np.log(_FAR))


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


def feature_values(functions: Sequence[Callable], x: Array, support: Support) -> Array:
    """Values of feature functions, all of them finite.

    Parameters
    ----------
    functions : sequence of callables
    x : ndarray of shape (...)
    support : Support
        On which x lies; for the message.

    Returns
    -------
    ndarray of shape (..., m)

    Raises
    ------
    ValueError
        If a value is not finite; names x.
    """
    values = np.stack([np.asarray(f(x), np.float64) for f in functions], -1)
    finite = np.isfinite(values).all(axis=-1)
    if not finite.all():
        raise ValueError(
            f"a feature function is not finite at x = {x[~finite].flat[0]:g}, "
            f"which lies on the support {support}"
        )
    return values


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
