"""Distribution functions of densities, from the panels they were found on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize.elementwise import find_root

from memdlib._types import Array, Indices
from memdlib.densities.polynomials import LogPolynomials
from memdlib.densities.support import NODES, Support, panel_nodes

# Panels handled at a time.
_BLOCK = 2**18


@dataclass
class Table:
    """Densities of u = (x - origin) / unit for B members.

    Parameters
    ----------
    support : Support
    origin, unit : ndarray of shape (B,)
    density : LogPolynomials
    ends : ndarray of shape (B, P + 1)
        Ends of panels, in units u; the levels themselves where the support has them.
    """

    support: Support
    origin: Array
    unit: Array
    density: LogPolynomials
    ends: Array

    @cached_property
    def sums(self) -> tuple[Array, Array, Array]:
        """Probability up to the ends of panels or below levels, mean and deviation."""
        parts = [self._sum(rows) for rows in self._blocks(len(self.ends))]
        cumulative, mean, deviation = map(np.concatenate, zip(*parts, strict=True))
        return cumulative, self.origin + self.unit * mean, self.unit * deviation

    def log_density(self, x: Array) -> Array:
        """Log density of each member at x (N, B)."""
        inside = self.support.contains(x)
        u = (np.where(inside, x, self.origin) - self.origin) / self.unit
        with np.errstate(over="ignore", invalid="ignore"):
            found = -self.density(u.T).T
        if self.support.levels is None:
            found -= np.log(self.unit)
        return np.where(inside, found, np.where(np.isnan(x), np.nan, -np.inf))

    def probability(self, x: Array, rows: Indices) -> Array:
        """Probability of values up to x, for pairs of x (R,) and members (R,)."""
        cumulative = self.sums[0]
        if self.support.levels is not None:
            place = np.searchsorted(self.support.levels, x, side="right")
            found = cumulative[rows, place]
        else:
            u = (x - self.origin[rows]) / self.unit[rows]
            u = np.clip(u, self.ends[rows, 0], self.ends[rows, -1])
            place = (self.ends[rows, 1:-1] <= u[:, None]).sum(axis=1)
            inside = self._mass(self.ends[rows, place], u, rows)
            found = np.clip(cumulative[rows, place] + inside, 0.0, 1.0)
        return np.where(np.isnan(x), np.nan, found)

    def quantile(self, q: Array, rows: Indices) -> Array:
        """Smallest x of probability q, for pairs of q (R,) and members (R,)."""
        cumulative = self.sums[0]
        place = (cumulative[rows, 1:-1] < q[:, None]).sum(axis=1)
        if self.support.levels is not None:
            return np.array(self.support.levels)[place]
        low, high = self.ends[rows, place], self.ends[rows, place + 1]

        def excess(u, start, missing, rows):
            return self._mass(start, u, rows) - missing

        found = find_root(
            excess, (low, high), args=(low, q - cumulative[rows, place], rows)
        )
        # by rounding the mass of a panel may fall short of what is missing
        u = np.where(found.success, found.x, high)
        ends = self.support.lower, self.support.upper
        x = np.clip(self.origin[rows] + self.unit[rows] * u, *ends)
        return np.where(q == 0, ends[0], np.where(q == 1, ends[1], x))

    def pairwise(
        self, function: Callable[[Array, Indices], Array], values: Array, rows: Indices
    ) -> Array:
        """Apply a function of values and members, in blocks."""
        values, rows = np.broadcast_arrays(values, rows)
        found = np.empty(values.shape)
        for part in self._blocks(values.size):
            found.flat[part] = function(values.flat[part], rows.flat[part])
        return found[()]

    def _sum(self, rows):
        u, weights, each = self.ends[rows], 1.0, 1
        if self.support.levels is None:
            (u, weights), each = panel_nodes(u), NODES
        mass = weights * np.exp(-self.density[rows](u))
        mass /= mass.sum(axis=1, keepdims=True)
        mean = (u * mass).sum(axis=1)
        deviation = np.sqrt(((u - mean[:, None]) ** 2 * mass).sum(axis=1))
        panels = mass.reshape(len(u), -1, each).sum(axis=2)
        cumulative = np.pad(panels.cumsum(axis=1), ((0, 0), (1, 0)))
        return cumulative / cumulative[:, -1:], mean, deviation

    def _blocks(self, n):
        step = max(1, _BLOCK // self.ends.shape[1])
        return [slice(i, i + step) for i in range(0, n, step)]

    def _mass(self, low, high, rows):
        u, weights = panel_nodes(np.stack([low, high], axis=1))
        return (weights * np.exp(-self.density[rows](u))).sum(axis=1)
