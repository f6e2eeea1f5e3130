"""Supports of densities: where they live, and the grids on which they are integrated.

The grids live in standard coordinates u = (x - origin) / unit: [-1, 1] for an interval
or a set of levels, the distance from its end for a half-line, x itself on the line.

Where a log density is a polynomial, the places where it has fallen by given amounts are
roots. Between them it changes little: a Gauss rule on each of these panels is exact to
rounding however narrow or distant a mode is, on any support.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import roots_legendre, wrightomega

from memdlib.densities.recurrence import Recurrence
from memdlib.validation import check_integer, check_real_array

Array = NDArray[np.float64]

# Largest |u| of the grids on unbounded supports.
_FAR = 1e12
# Largest distance of finite ends.
_WIDEST = 1e300
# Largest r t in u = tanh(pi/2 sinh(r t)), whose nodes crowd at the ends of an interval.
_ENDS_REACH = 2.9
# Nats below the highest mode at which panels end: for the steps of a solver, and for
# the check of what it found, which shares no panel with them and reaches as far down
# as numbers go.
STEPS = np.array([0.5, 2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 60.0, 130.0])
CHECK = np.array(
    [0.3, 1.3, 3.2, 6.0, 9.8, 14.5, 20.0, 27.0,
     35.0, 45.0, 58.0, 80.0, 120.0, 200.0, 350.0, 700.0]
)  # fmt: skip


@dataclass(frozen=True)
class Support:
    """A set of levels, an interval, a half-line or the real line.

    Parameters
    ----------
    lower, upper : float
        Ends; infinite where there is none.
    levels : tuple of float or None
        The points themselves, ascending, where the support is a finite set.
    close : float, default=-4.2
        Smallest s of the grids of a half-line, whose nodes are at the distances
        exp(s - exp(-s)) of its end.

    Examples
    --------
    The interval from 0 to 1, and the two numbers 0 and 1:

    >>> print(Support.interval(0, 1), "|", Support.of([0, 1]))
    [0, 1] | the levels 0, 1
    """

    lower: float
    upper: float
    levels: tuple[float, ...] | None = None
    close: float = field(default=-4.2, compare=False, repr=False)

    @classmethod
    def interval(cls, lower: float, upper: float) -> "Support":
        """All numbers between two ends, either of which may be infinite.

        Parameters
        ----------
        lower, upper : float

        Returns
        -------
        Support

        Raises
        ------
        ValueError
            If they are not in order, or finite and more than 1e300 apart.
        """
        lower, upper = float(lower), float(upper)
        if not lower < upper:
            raise ValueError(
                f"support=({lower:g}, {upper:g}) must be (a, b) with a < b"
            )
        return cls(*_check_width(lower, upper))

    @classmethod
    def of(cls, levels: ArrayLike) -> "Support":
        """Set of levels.

        Parameters
        ----------
        levels : array_like of shape (L,)
            At least two, finite and distinct, over a range of 1e300 at most.

        Returns
        -------
        Support

        Raises
        ------
        ValueError
            If they are not.
        """
        values = check_real_array(levels, "levels")
        distinct = np.unique(values)
        if distinct.size < max(values.size, 2) or not np.isfinite(distinct).all():
            raise ValueError(
                f"levels {values.tolist()} must be finite and distinct, two at least"
            )
        ends = _check_width(float(distinct[0]), float(distinct[-1]))
        return cls(*ends, tuple(distinct.tolist()))

    @property
    def kind(self) -> str:
        """One of "levels", "interval", "half-line" and "line"."""
        if self.levels is not None:
            return "levels"
        finite = np.isfinite([self.lower, self.upper]).sum()
        return ("line", "half-line", "interval")[finite]

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

    def standardise(self) -> tuple[float, float]:
        """Origin and unit of the coordinates u = (x - origin) / unit of the grids."""
        if self.bounded:
            half = (self.upper - self.lower) / 2.0
            return self.lower + half, half
        if self.kind == "line":
            return 0.0, 1.0
        return (self.lower, 1.0) if np.isfinite(self.lower) else (self.upper, -1.0)

    def grid(self, n_nodes: int, *, crowded: bool = True) -> tuple[Array, Array]:
        """Nodes in standard coordinates and the logarithms of their weights.

        Parameters
        ----------
        n_nodes : int
            Nodes of the Gauss-Legendre rule; a set of levels is summed exactly.
        crowded : bool, default=True
            Whether nodes crowd at the ends and reach far out, for log densities that
            are not smooth there (the double exponential change of variables of
            Takahasi and Mori, 1974). Without that an interval is all there can be.

        Returns
        -------
        nodes, log_weights : ndarray of shape (N,)
        """
        if self.levels is not None:
            origin, unit = self.standardise()
            levels = np.array(self.levels)
            return (levels - origin) / unit, np.zeros(len(levels))
        t, weights = gauss_legendre(n_nodes)
        if not crowded:
            return t, np.log(weights)
        if self.kind == "line":
            # one rule on either side: a kink at the origin does no harm
            t = np.concatenate([0.5 * (t - 1.0), 0.5 * (t + 1.0)])
            weights = 0.5 * np.concatenate([weights, weights])
        u, slope = self.unfold(t)
        return u, np.log(weights * slope)

    def unfold(self, t: Array) -> tuple[Array, Array]:
        """Standard coordinates of a variable in [-1, 1], where densities are tame.

        Parameters
        ----------
        t : ndarray of shape (...)

        Returns
        -------
        u, slope : ndarray of shape (...)
            Standard coordinates, and their derivatives by t.
        """
        if self.kind == "interval":
            return _towards_the_ends(t)
        if self.kind == "half-line":
            # u = exp(s - exp(-s)): doubly exponential at 0, exponential at infinity
            half = 0.5 * (np.log(_FAR) - self.close)
            s = self.close + half * (t + 1.0)
            u = np.exp(s - np.exp(-s))
            return u, half * u * (1.0 + np.exp(-s))
        reach = np.arcsinh(_FAR)
        return np.sinh(reach * t), reach * np.cosh(reach * t)

    @np.errstate(divide="ignore")
    def fold(self, u: Array) -> Array:
        """Inverse of :meth:`unfold`.

        Parameters
        ----------
        u : ndarray of shape (...)
            Standard coordinates on the support.

        Returns
        -------
        t : ndarray of shape (...)
            Outside [-1, 1] for u beyond the reach of the grids.
        """
        if self.kind == "interval":
            ends = np.arctanh(np.clip(u, -1.0, 1.0)) / (0.5 * np.pi)
            return np.arcsinh(ends) / _ENDS_REACH
        if self.kind == "half-line":
            # w = exp(-s) solves w + log(w) = -log(u)
            log_u = np.log(np.clip(u, 1e-300, 1e300))
            w = wrightomega(-log_u)
            s = np.where(w > 1.0, -np.log(w), log_u + w)
            return 2.0 * (s - self.close) / (np.log(_FAR) - self.close) - 1.0
        return np.arcsinh(u) / np.arcsinh(_FAR)

    def log_reference(self, u: Array) -> Array:
        """Unnormalised log density under which the polynomials are orthonormal."""
        if self.kind == "line":
            return -0.5 * u**2
        return -u if self.kind == "half-line" else np.zeros_like(u)


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
    try:
        values = check_real_array(support, "support")
    except ValueError:
        values = np.empty(0)
    if values.ndim != 1 or values.size < 2:
        raise ValueError(
            f"support={support!r} must be a pair (a, b) or at least two levels, "
            "all of them numbers"
        )
    if isinstance(support, tuple) and len(support) == 2:
        return Support.interval(*support)
    return Support.of(values)


def _check_width(lower: float, upper: float) -> tuple[float, float]:
    """Return the ends of a support; raise if finite ones are too far apart."""
    if np.isfinite([lower, upper]).all() and upper / 2.0 - lower / 2.0 > _WIDEST / 2.0:
        raise ValueError(
            f"the support from {lower:g} to {upper:g} is wider than {_WIDEST:g}, and "
            "products of its ends leave the range of numbers; bring x to a scale of "
            "order one"
        )
    return lower, upper


def _towards_the_ends(t: Array) -> tuple[Array, Array]:
    """U = tanh(pi/2 sinh(r t)) and its slope, for t in [-1, 1]."""
    inner = 0.5 * np.pi * np.sinh(_ENDS_REACH * t)
    growth = 0.5 * np.pi * _ENDS_REACH * np.cosh(_ENDS_REACH * t)
    return np.tanh(inner), growth / np.cosh(inner) ** 2


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
    rule = roots_legendre(check_integer(n_nodes, "n_nodes"))
    for array in rule:
        array.flags.writeable = False
    return rule


def powers(u: ArrayLike, n_moments: int) -> Array:
    """Return (u, u^2, ..., u^m), shape (..., m), of u of shape (...)."""
    u = np.asarray(u, np.float64)
    return np.multiply.accumulate(
        np.broadcast_to(u[..., None], (*u.shape, n_moments)), axis=-1
    )


def feature_values(
    functions: Sequence[Callable[..., Any]], x: Array, support: Support
) -> Array:
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


def breakpoints(
    basis: Recurrence, theta: Array, lower: Array, upper: Array, levels: Array
) -> Array:
    """Ends of panels for the densities exp(-sum theta_j p_j) of a batch.

    Parameters
    ----------
    basis : Recurrence
    theta : ndarray of shape (B, m + 1)
        Towards an infinite end the sum must grow.
    lower, upper : ndarray of shape (B,)
        Ends of the support; infinite where there is none.
    levels : ndarray of shape (K,)
        Nats below the highest density.

    Returns
    -------
    ndarray of shape (B, P + 1)
        Ascending from the lower to the upper end, or to where a density has fallen by
        the last level. Some panels may be empty.
    """
    if np.isfinite(upper[0]) and not np.isfinite(lower[0]):
        mirrored = breakpoints(*mirror(basis, theta), -upper, -lower, levels)
        return -mirrored[:, ::-1]
    m = basis.degree
    step = 0 if np.isfinite(upper[0]) else 1 if np.isfinite(lower[0]) else 2
    low = np.where(np.isfinite(lower), lower, -np.inf)[:, None]
    high = np.where(np.isfinite(upper), upper, np.inf)[:, None]
    ends = [x for x in (low, high) if np.isfinite(x).all()]
    slope = basis.differentiate(theta)
    turns = basis.roots(slope[:, None])[:, 0]
    # a middle for those that have no turn
    middle = np.clip(basis.alpha[:, :1], low, high)
    turns = np.clip(np.where(np.isnan(turns), middle, turns), low, high)
    seen = np.concatenate([turns, middle, *ends], axis=1)
    least = basis.expand(theta, seen).min(axis=1)
    shifted = np.repeat(theta[:, None], len(levels), axis=1)
    shifted[..., 0] -= least[:, None] + levels
    crossings = basis.roots(shifted, step).reshape(len(theta), len(levels) * m)
    crossings = np.where(np.isnan(crossings), middle, crossings)
    found = np.concatenate([seen, np.clip(crossings, low, high)], axis=1)
    found.sort(axis=1)
    # coinciding ones go to the end, where columns that all rows can spare are cut
    same = np.zeros(found.shape, dtype=bool)
    same[:, 1:] = found[:, 1:] == found[:, :-1]
    last = found[:, -1:]
    found = np.where(same, last, found)
    found.sort(axis=1)
    spare = (found == last).sum(axis=1).min() - 1
    return found[:, : found.shape[1] - spare]


def mirror(basis: Recurrence, theta: Array) -> tuple[Recurrence, Array]:
    """Change the sign of u in sum theta_j p_j(u)."""
    signs = (-1.0) ** np.arange(theta.shape[1])
    return Recurrence(-basis.alpha, basis.beta), signs * theta


def panel_nodes(ends: Array, n_nodes: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights (B, P n) on panels between ends (B, P + 1)."""
    nodes, weights = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(ends)[..., None]
    u = (ends[:, :-1, None] + half) + half * nodes
    return u.reshape(len(ends), -1), (half * weights).reshape(len(ends), -1)
