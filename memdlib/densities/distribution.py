"""Distribution functions of densities, from the panels on which they were matched."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize.elementwise import find_root

from memdlib._types import Array
from memdlib.densities.polynomials import LogPolynomials
from memdlib.densities.support import NODES, Support

# Panels handled at a time.
_BLOCK = 2**18


@dataclass(eq=False)
class Distributions:
    """Distributions of x = origin + unit u for B densities of u.

    Parameters
    ----------
    support : Support
    origin, unit : ndarray of shape (B,)
    density : LogPolynomials
    ends : ndarray of shape (B, P + 1)
        Ends of panels, in units u; on levels, the levels themselves.
    mean, deviation : ndarray of shape (B,)
        Of x.
    """

    support: Support
    origin: Array
    unit: Array
    density: LogPolynomials
    ends: Array
    mean: Array
    deviation: Array

    @cached_property
    def cumulative(self):
        """Probability (B, P + 1) up to ends of panels, or below levels."""
        blocks = self._blocks(len(self.ends))
        mass = [self._panel_mass(self.ends[rows], rows) for rows in blocks]
        cumulative = np.pad(np.concatenate(mass).cumsum(axis=1), ((0, 0), (1, 0)))
        return cumulative / cumulative[:, -1:]

    def log_density(self, x):
        """Log density of each member at x (N, B)."""
        inside = self.support.contains(x)
        u = (np.where(inside, x, self.origin) - self.origin) / self.unit
        with np.errstate(over="ignore", invalid="ignore"):
            log_density = -self.density(u.T).T
        if self.support.levels is None:
            log_density -= np.log(self.unit)
        outside = np.where(np.isnan(x), np.nan, -np.inf)
        return np.where(inside, log_density, outside)

    def probability(self, x, rows):
        """Probability of values up to x, for pairs of x (R,) and members (R,)."""
        if self.support.levels is not None:
            n_below = np.searchsorted(self.support.levels, x, side="right")
            return np.where(np.isnan(x), np.nan, self.cumulative[rows, n_below])
        ends = self.ends[rows]
        u = (x - self.origin[rows]) / self.unit[rows]
        u = np.clip(u, ends[:, 0], ends[:, -1])
        panel = (ends[:, 1:-1] <= u[:, None]).sum(axis=1)
        before = self.cumulative[rows, panel]
        within = self._mass(self.ends[rows, panel], u, rows)
        # NaN stays NaN
        return np.clip(before + within, 0.0, 1.0)

    def quantile(self, q, rows):
        """Smallest x of probability q, for pairs of q (R,) and members (R,)."""
        cumulative = self.cumulative[rows]
        panel = (cumulative[:, 1:-1] < q[:, None]).sum(axis=1)
        if self.support.levels is not None:
            return np.array(self.support.levels)[panel]

        def excess(u, start, missing, rows):
            return self._mass(start, u, rows) - missing

        left = self.ends[rows, panel]
        right = self.ends[rows, panel + 1]
        missing = q - self.cumulative[rows, panel]
        root = find_root(excess, (left, right), args=(left, missing, rows))
        # by rounding the mass of a panel may fall short of what is missing
        u = np.where(root.success, root.x, right)
        lower = self.support.lower
        upper = self.support.upper
        x = np.clip(self.origin[rows] + self.unit[rows] * u, lower, upper)
        return np.where(q == 0, lower, np.where(q == 1, upper, x))

    def pairwise(self, function, values):
        """Apply a function of values and members to values (..., B) or (..., 1)."""
        values, rows = np.broadcast_arrays(values, np.arange(len(self.ends)))
        result = np.empty(values.shape)
        for block in self._blocks(values.size):
            result.flat[block] = function(values.flat[block], rows.flat[block])
        return result

    def _blocks(self, n):
        """Slices of n members or values, each of a limited number of panels."""
        step = max(1, _BLOCK // self.ends.shape[1])
        return [slice(start, start + step) for start in range(0, n, step)]

    def _mass(self, low, high, rows):
        """Mass of members (R,) between two values (R,) of u inside of a panel."""
        return self._panel_mass(np.stack([low, high], axis=1), rows)[:, 0]

    def _panel_mass(self, ends, rows):
        """Mass of members (R,) on panels between ends (R, P + 1), or on levels."""
        u, weights = self.support.nodes(ends)
        mass = weights * np.exp(-self.density[rows](u))
        if self.support.levels is None:
            mass = mass.reshape(len(u), -1, NODES).sum(axis=2)
        return mass
