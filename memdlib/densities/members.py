"""A batch of densities, and tables of their distribution functions.

On an interval, a half-line or the line, densities are tabulated on panels, which are
halved until the tables agree: exponentials of polynomials on panels where each of them
lives, others on the same panels of the variable t in [-1, 1] that unfolds into standard
coordinates. What lies within a panel is integrated by the same Gauss-Legendre rule. On
levels everything is a sum.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.moment_problem import NotConvergedError
from memdlib.densities.recurrence import Recurrence
from memdlib.densities.support import (
    CHECK,
    Support,
    breakpoints,
    feature_values,
    gauss_legendre,
)

Array = NDArray[np.float64]

# Nodes of a panel, panels to begin with, how often they are halved.
_NODES, _PANELS, _HALVINGS = 8, 64, 7
# Difference of two tables that is good enough.
_GOOD = 1e-11
# Share of a moment in the outermost panel above which the moment is not finite.
_TAIL = 1e-6
# Numbers handled at a time.
_BLOCK = 2**21


@dataclass(frozen=True)
class Members:
    """Densities exp(-theta . phi) of B members.

    Parameters
    ----------
    support : Support
    origin, unit : ndarray of shape (B,)
        u = (x - origin) / unit; the same for all where phi are functions of x.
    basis : Recurrence or None
        Of the polynomials phi of u.
    theta : ndarray of shape (B, m + 1)
        Coefficients of 1 and phi.
    functions : tuple of callables or None
        phi as functions of x, where they are not polynomials.
    batch : tuple of int
        Shape of the batch, of B members in all.
    tol : float
        Error of the distribution function, in probability, to accept.
    """

    support: Support
    origin: Array
    unit: Array
    basis: Recurrence | None
    theta: Array
    functions: tuple[Callable, ...] | None
    batch: tuple[int, ...]
    tol: float

    @np.errstate(over="ignore", invalid="ignore")
    def log_density(self, u: Array, rows: NDArray[np.intp]) -> Array:
        """Log density of u.

        Parameters
        ----------
        u : ndarray of shape (..., R)
            On the support.
        rows : ndarray of int, shape (R,)
            Member of each place on the last axis of ``u``.

        Returns
        -------
        ndarray of shape (..., R)
        """
        theta = self.theta[rows]
        if self.functions is None:
            flat = np.broadcast_to(u, (*u.shape[:-1], len(rows)))
            linear = self.basis[rows].expand(theta, flat.reshape(-1, len(rows)).T)
            return -linear.T.reshape(flat.shape)
        values = feature_values(
            self.functions, self.origin[0] + self.unit[0] * u, self.support
        )
        linear = theta[:, 0] + np.zeros(values.shape[:-1])
        for j in range(values.shape[-1]):
            linear = linear + theta[:, j + 1] * values[..., j]
        return -linear

    @cached_property
    def ends(self) -> Array:
        """Ends of panels, of each member or of all, shape (B or 1, P + 1)."""
        if self.functions is not None:
            return np.linspace(-1.0, 1.0, _PANELS + 1)[None]
        lower, upper = (
            (end - self.origin) / self.unit
            for end in (self.support.lower, self.support.upper)
        )
        return breakpoints(self.basis, self.theta, lower, upper, CHECK)

    @cached_property
    def table(self) -> "Table":
        """Probabilities up to the ends of panels, or up to levels.

        Raises
        ------
        NotConvergedError
            If halving the panels does not bring the error below ``tol``.
        """
        if self.support.levels is not None:
            return self._tabulate(None)
        ends, error = self.ends, np.inf
        table = self._tabulate(ends)
        for _ in range(_HALVINGS):
            middle = 0.5 * (ends[:, :-1] + ends[:, 1:])
            halved = np.stack([ends[:, :-1], middle], axis=2).reshape(len(ends), -1)
            ends = np.concatenate([halved, ends[:, -1:]], axis=1)
            coarse, table = table, self._tabulate(ends)
            error = np.abs(table.cumulative[:, ::2] - coarse.cumulative).max()
            if error <= _GOOD:
                return table
        if error > self.tol:
            raise NotConvergedError(
                f"the distribution function is known to {error:.1e} only; raise tol, "
                "or use features that are smooth on the support"
            )
        return table

    @property
    def _falling(self) -> bool:
        """Whether the coordinate of the panels falls with x."""
        return self.unit[0] < 0

    def probability(self, x: Array, rows: NDArray[np.intp]) -> Array:
        """Probability of values up to x, for pairs of x (R,) and members (R,)."""
        support, table = self.support, self.table
        if support.levels is not None:
            place = np.searchsorted(support.levels, x, side="right")
            return np.where(np.isnan(x), np.nan, table.cumulative[rows, place])
        known = np.clip(np.nan_to_num(x), support.lower, support.upper)
        t = (known - self.origin[rows]) / self.unit[rows]
        if self.functions is not None:
            t = support.fold(t)
        t = np.clip(t, table.ends[rows, 0], table.ends[rows, -1])
        panel = (table.ends[rows, 1:-1] <= t[:, None]).sum(axis=1)
        inside = self._integrate(table.ends[rows, panel], t, rows) / table.total[rows]
        found = np.clip(table.cumulative[rows, panel] + inside, 0.0, 1.0)
        return np.where(np.isnan(x), np.nan, 1.0 - found if self._falling else found)

    def quantile(self, q: Array, rows: NDArray[np.intp]) -> Array:
        """Smallest x of probability q, for pairs of q (R,) and members (R,)."""
        support, table = self.support, self.table
        at_lower, at_upper = q == 0, q == 1
        q = 1.0 - q if self._falling else q
        place = (table.cumulative[rows, 1:-1] < q[:, None]).sum(axis=1)
        if support.levels is not None:
            return np.array(support.levels)[place]
        low, high = table.ends[rows, place], table.ends[rows, place + 1]
        start, below, enough = low, table.cumulative[rows, place], 1e-9 * (high - low)
        inside = np.maximum(table.cumulative[rows, place + 1] - below, 1e-300)
        t = low + np.clip((q - below) / inside, 0.0, 1.0) * (high - low)
        for _ in range(60):
            found = below + self._integrate(start, t, rows) / table.total[rows]
            high = np.where(found >= q, t, high)
            low = np.where(found < q, t, low)
            density = self._density(t, rows) / table.total[rows]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                moved = t - (found - q) / density
            newton = (moved >= low) & (moved <= high)
            moved = np.where(newton, moved, 0.5 * (low + high))
            # Newton's next step would be the square of this one
            done = newton & (np.abs(moved - t) <= enough)
            t = moved
            if done.all():
                break
        x = self.origin[rows] + self.unit[rows] * self._unfold(t)[0]
        x = np.clip(x, support.lower, support.upper)
        return np.where(at_lower, support.lower, np.where(at_upper, support.upper, x))

    def own_log_density(self, x: Array) -> Array:
        """Log density of each member at x (..., B) or (..., 1), shape (..., B)."""
        inside = self.support.contains(x)
        # a place on the support for those that are not
        somewhere = np.clip(self.origin, self.support.lower, self.support.upper)
        u = (np.where(inside, x, somewhere) - self.origin) / self.unit
        log_density = self.log_density(u, np.arange(len(self.theta)))
        if self.support.levels is None:
            log_density = log_density - np.log(np.abs(self.unit))
        outside = np.where(np.isnan(x), np.nan, -np.inf)
        return np.where(inside, log_density, outside)

    def pairwise(
        self,
        function: Callable[[Array, NDArray[np.intp]], Array],
        values: Array,
        *,
        each: bool = True,
    ) -> Array:
        """Apply a function of values and members, each to each or place by place."""
        if each:
            values = values.reshape(values.shape + (1,) * len(self.batch))
        rows = np.arange(len(self.theta)).reshape(self.batch)
        values, rows = np.broadcast_arrays(values, rows)
        found, flat, member = np.empty(values.size), values.ravel(), rows.ravel()
        step = max(1, _BLOCK // self.table.cumulative.shape[1])
        for first in range(0, flat.size, step):
            part = slice(first, first + step)
            found[part] = function(flat[part], member[part])
        return found.reshape(values.shape)[()]

    def _integrate(self, start: Array, t: Array, rows) -> Array:
        """Mass between two places of the same panel, for pairs with members."""
        nodes, weights = gauss_legendre(_NODES)
        half = 0.5 * (t - start)
        t = start + half * (nodes[:, None] + 1.0)
        return half * (weights @ self._density(t, rows))

    def _density(self, t: Array, rows) -> Array:
        u, slope = self._unfold(t)
        return np.exp(self.log_density(u, rows)) * slope

    def _unfold(self, t: Array) -> tuple[Array, Array]:
        """Standard coordinates of the panels' variable, and their slope."""
        return (
            (t, np.ones_like(t)) if self.functions is None else self.support.unfold(t)
        )

    def _tabulate(self, ends: Array | None) -> "Table":
        n_members = len(self.theta)
        if ends is None:
            levels = np.array(self.support.levels)
            n_panels = len(levels)
        else:
            n_panels = ends.shape[1] - 1
            ends = np.broadcast_to(ends, (n_members, n_panels + 1))
        nodes, rule = gauss_legendre(_NODES)
        parts, moments = np.empty((n_members, n_panels)), np.empty((2, n_members))
        step = max(1, _BLOCK // (n_panels * _NODES))
        for first in range(0, n_members, step):
            rows = np.arange(first, min(first + step, n_members))
            if ends is None:
                u = (levels[:, None] - self.origin[rows]) / self.unit[rows]
                u, weights = u[:, None], 1.0
            else:
                half = 0.5 * np.diff(ends[rows].T, axis=0)[:, None]
                t = ends[rows, :-1].T[:, None] + half * (nodes[:, None] + 1.0)
                u, slope = self._unfold(t)
                weights = half * rule[:, None] * slope
            mass = np.exp(self.log_density(u, rows)) * weights
            parts[rows] = mass.sum(axis=1).T
            mass /= mass.sum(axis=(0, 1))
            moments[:, rows] = self._mean_and_deviation(u, mass)
        cumulative = np.concatenate(
            [np.zeros((n_members, 1)), parts.cumsum(axis=1)], axis=1
        )
        total = cumulative[:, -1]
        return Table(ends, cumulative / total[:, None], total, *moments)

    def _mean_and_deviation(self, u: Array, mass: Array) -> tuple[Array, Array]:
        mean = (mass * u).sum(axis=(0, 1))
        square = (mass * (u - mean) ** 2).sum(axis=1)
        deviation = np.sqrt(square.sum(axis=0))
        if self.support.bounded or self.functions is None:
            return mean, deviation
        size = (mass * np.abs(u)).sum(axis=1)
        lost = np.inf if self.support.kind == "half-line" else np.nan
        outer = [0, -1]
        mean = np.where(size[outer].max(axis=0) > _TAIL * size.sum(axis=0), lost, mean)
        heavy = square[outer].max(axis=0) > _TAIL * square.sum(axis=0)
        return mean, np.where(heavy, np.inf, deviation)


@dataclass(frozen=True)
class Table:
    """Probabilities of B members up to the ends of P panels, and two moments.

    Parameters
    ----------
    ends : ndarray of shape (B, P + 1), or None
        In the coordinate of the panels; None on levels.
    cumulative : ndarray of shape (B, P + 1)
        From 0 to 1.
    total : ndarray of shape (B,)
        What the densities integrate to: 1, but for the error of quadrature.
    mean, deviation : ndarray of shape (B,)
        In standard coordinates.
    """

    ends: Array | None
    cumulative: Array
    total: Array
    mean: Array
    deviation: Array
