"""Distribution functions of densities, from the panels they were found on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.functions import LogFunctions
from memdlib.densities.polynomials import LogPolynomials
from memdlib.densities.support import NODES, Support, panel_nodes

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Numbers handled at a time.
_BLOCK = 2**21
# Share of a moment in the outermost panel above which the moment is not finite.
_TAIL = 1e-6


@dataclass
class Table:
    """Densities of u = (x - origin) / unit for B members.

    Parameters
    ----------
    support : Support
    origin, unit : ndarray of shape (B,)
    density : LogPolynomials or LogFunctions
    ends : ndarray of shape (B, P + 1)
        Ends of panels, in units u; the levels themselves where the support has them.
    """

    support: Support
    origin: Array
    unit: Array
    density: LogPolynomials | LogFunctions
    ends: Array

    @cached_property
    def sums(self) -> tuple[Array, Array, Array]:
        """Probability up to the ends of panels or below levels, mean and deviation."""
        n, width = self.ends.shape
        each = NODES if self.support.levels is None else 1
        step = max(1, _BLOCK // (width * each))
        parts = [self._sum(slice(i, i + step), each) for i in range(0, n, step)]
        cumulative, mean, deviation = map(np.concatenate, zip(*parts, strict=True))
        return (
            cumulative,
            self.origin + self.unit * mean,
            self.unit * deviation,
        )

    def _sum(self, rows, each):
        if self.support.levels is None:
            u, weights = panel_nodes(self.ends[rows])
        else:
            u, weights = self.ends[rows], 1.0
        mass = weights * np.exp(-self.density[rows](u))
        mass /= mass.sum(axis=1, keepdims=True)
        mean = (u * mass).sum(axis=1)
        square = (u - mean[:, None]) ** 2 * mass
        deviation = np.sqrt(square.sum(axis=1))
        if not self.support.bounded:
            # infinity, or nan on the line
            none = self.support.lower + self.support.upper
            mean = np.where(self._is_heavy(np.abs(u) * mass), none, mean)
            deviation = np.where(self._is_heavy(square), np.inf, deviation)
        panels = mass.reshape(len(u), -1, each).sum(axis=2)
        found = np.pad(panels.cumsum(axis=1), ((0, 0), (1, 0)))
        return found / found[:, -1:], mean, deviation

    def _is_heavy(self, terms):
        """Whether sums over nodes go on beyond an infinite end."""
        ends = np.isinf([self.support.lower, self.support.upper])
        outer = np.stack([terms[:, :NODES], terms[:, -NODES:]]).sum(axis=2)
        return (outer[ends] > _TAIL * terms.sum(axis=1)).any(axis=0)

    def log_density(self, x: Array) -> Array:
        """Log density of each member at x (N, B)."""
        inside = self.support.contains(x)
        # a place on the support for those that are not
        somewhere = self.ends[:, self.ends.shape[1] // 2]
        u = np.where(inside, (x - self.origin) / self.unit, somewhere)
        with np.errstate(over="ignore", invalid="ignore"):
            found = -self.density(u.T).T
        if self.support.levels is None:
            found -= np.log(self.unit)
        return np.where(inside, found, np.where(np.isnan(x), np.nan, -np.inf))

    def probability(self, x: Array, rows: Rows) -> Array:
        """Probability of values up to x, for pairs of x (R,) and members (R,)."""
        cumulative = self.sums[0]
        if self.support.levels is not None:
            place = np.searchsorted(self.support.levels, x, side="right")
            found = cumulative[rows, place]
        else:
            u = (x - self.origin[rows]) / self.unit[rows]
            u = np.clip(u, self.ends[rows, 0], self.ends[rows, -1])
            u = np.where(np.isnan(u), self.ends[rows, 0], u)
            place = (self.ends[rows, 1:-1] <= u[:, None]).sum(axis=1)
            start, stop = self.ends[rows, place], self.ends[rows, place + 1]
            # at an end itself functions may be infinite
            some = self._mass(start, np.where(u > start, u, stop), rows)
            inside = np.where(u > start, some, 0.0)
            found = np.clip(cumulative[rows, place] + inside, 0.0, 1.0)
        return np.where(np.isnan(x), np.nan, found)

    def quantile(self, q: Array, rows: Rows) -> Array:
        """Smallest x of probability q, for pairs of q (R,) and members (R,)."""
        cumulative, at_lower, at_upper = self.sums[0], q == 0, q == 1
        q = np.clip(q, 2.0**-54, 1.0 - 2.0**-53)
        place = (cumulative[rows, 1:-1] < q[:, None]).sum(axis=1)
        if self.support.levels is not None:
            return np.array(self.support.levels)[place]
        start, high = self.ends[rows, place], self.ends[rows, place + 1]
        below, above = cumulative[rows, place], cumulative[rows, place + 1]
        low, width = start, high - start
        share = (q - below) / np.maximum(above - below, 1e-300)
        u = low + np.clip(share, 1e-3, 1.0 - 1e-3) * width
        for _ in range(60):
            excess = below + self._mass(start, u, rows) - q
            high, low = np.where(excess >= 0, u, high), np.where(excess < 0, u, low)
            with np.errstate(all="ignore"):
                moved = u - excess * np.exp(self.density[rows](u[:, None])[:, 0])
            newton = (moved >= low) & (moved <= high)
            moved = np.where(newton, moved, 0.5 * (low + high))
            # Newton's next step would be the square of this one
            done = newton & (np.abs(moved - u) <= 1e-9 * width)
            u = moved
            if done.all():
                break
        ends = self.support.lower, self.support.upper
        x = np.clip(self.origin[rows] + self.unit[rows] * u, *ends)
        return np.where(at_lower, ends[0], np.where(at_upper, ends[1], x))

    def pairwise(
        self, function: Callable[[Array, Rows], Array], values: Array, rows: Rows
    ) -> Array:
        """Apply a function of values and members, in blocks."""
        values, rows = np.broadcast_arrays(values, rows)
        flat, member = values.ravel(), rows.ravel()
        step = max(1, _BLOCK // self.ends.shape[1])
        parts = [
            function(flat[i : i + step], member[i : i + step])
            for i in range(0, flat.size, step)
        ]
        return np.concatenate([np.empty(0), *parts]).reshape(values.shape)[()]

    def _mass(self, low, high, rows):
        u, weights = panel_nodes(np.stack([low, high], axis=1))
        return (weights * np.exp(-self.density[rows](u))).sum(axis=1)
