"""Densities with given power moments: Newton on grids that follow the density.

In units u = (x - mean) / unit, where the unit is the standard deviation, or for one
moment the distance to the nearer end, every support is an interval. It is cut where the
density has fallen to nothing; a cut with mass beyond it is moved outwards, up to the
reach of the method. Each round solves the dual in polynomials that are orthonormal
under the density of the round before, on panels that follow it. The panels of the next
round then check the solution on nodes that were not used to find it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import hankel

from memdlib._types import Array
from memdlib.densities.distribution import Distributions
from memdlib.densities.moment_problem import (
    InfeasibleMomentsError,
    NotConvergedError,
    density_error,
    solve_dual,
)
from memdlib.densities.polynomials import (
    LogPolynomials,
    adaptive_panels,
    project_log_density,
)

# Numbers of panels of the rounds, each different from the one before.
_PANELS = (12, 14, 18, 24, 32, 48, 64, *(80, 71) * 7)
# Residual that is good enough.
_GOOD = 1e-12
# Residual that shows that the grid of the solution was too coarse.
_LOST = 1e2
# Residual below which a solution shows where its mass ends.
_NEAR = 1e-2
# Largest distance of a cut, in units of u.
_REACH = 400.0
# Multiples of a cut at which to look for mass beyond it.
_BEYOND = np.concatenate([1.015 ** np.arange(350), 180.0 * 1.3 ** np.arange(100)])
# Parameter, of a feature of variance one, that rounding does not tell from zero.
_NOTHING = 1e-12
# Norm of a polynomial on levels, less its projection on lower degrees, that rounding
# does not tell from zero.
_FLAT = 1e-7
# Eigenvalue of a scaled Hankel matrix that rounding does not tell from zero.
_ROUNDING = 1e-12
# Densities at a time.
_BLOCK = 2**12


def match(moments, origin, unit, support, tol):
    """Distributions of largest entropy with given moments (n, m) of u.

    Also returns residuals (n,) and duality gaps (n,). Raises if a density fails.
    """
    search = _Search(moments, origin, unit, support)
    for start in range(0, len(moments), _BLOCK):
        search.solve(np.arange(start, min(start + _BLOCK, len(moments))))
    unmatched = ~(search.residual <= tol)
    failed = unmatched | search.truncated.any(axis=0) | search.degenerate
    if failed.any():
        search.raise_failure(int(np.argmax(failed)))
    ends = search.levels
    if ends is None:
        ends = search.ends[:, : search.n_ends]
    distributions = Distributions(
        support=support,
        origin=origin,
        unit=unit,
        density=search.density,
        ends=ends,
        mean=origin + unit * search.mean,
        deviation=unit * search.deviation,
    )
    return distributions, search.residual, search.gap


@dataclass(eq=False)
class _Grid:
    """Densities of R rows on the nodes of a round.

    ``minus_log`` (R, N) is before normalisation, which subtracts ``log_total`` (R,).
    ``basis`` is orthonormal under the densities, with ``values`` (R, m + 1, N) at the
    nodes. ``log_weights`` (R, N) are those of the quadrature. ``residual`` (R, m) holds
    the means of p_1, ..., p_m under the requested moments; they are zero if the density
    matches these. ``error`` (R,) is the largest of their absolute values and of the
    error of the mean.
    """

    log_weights: Array
    minus_log: Array
    log_total: Array
    basis: LogPolynomials
    values: Array
    residual: Array
    error: Array


class _Search:
    """State of the search for n densities.

    ``density`` is the latest of each row, ``previous`` that of the round before, and
    ``ends`` those of its panels. ``reach`` (2, n) are the distances of the cuts below
    and above zero; ``truncated`` (2, n) says which of them have mass beyond, and
    ``degenerate`` (n,) which densities live on fewer levels only, beyond rounding.
    """

    def __init__(self, moments, origin, unit, support):
        """Set the state before the first round (long, as it names every array)."""
        n, m = moments.shape
        # E u^0, ..., E u^m
        self.moments = np.insert(moments, 0, 1.0, axis=1)
        self.support = support
        self.m = m
        self.lower = (support.lower - origin) / unit
        self.upper = (support.upper - origin) / unit
        self.levels = None
        if support.levels is not None:
            from_origin = np.array(support.levels) - origin[:, None]
            self.levels = from_origin / unit[:, None]
        every_row = np.arange(n)
        self.density = self._starting_density(every_row)
        self.previous = self._starting_density(every_row)
        self.reach = np.tile(_initial_reach(self.moments), (2, 1))
        self.truncated = np.zeros((2, n), dtype=bool)
        self.residual = np.full(n, np.inf)
        self.gap = np.empty(n)
        self.mean = np.empty(n)
        self.deviation = np.empty(n)
        self.degenerate = np.zeros(n, dtype=bool)
        self.ends = np.empty((n, max(_PANELS) + 1))
        self.n_ends = 0

    @property
    def n_free(self):
        """Parameters to solve for: on the line the highest of an odd number is zero."""
        on_line = np.isinf([self.support.lower, self.support.upper]).all()
        return self.m - self.m % 2 if on_line else self.m

    def _starting_density(self, rows):
        """Normal densities, or of one moment exponential ones; uniform on levels."""
        theta = np.zeros((len(rows), self.m + 1))
        if self.levels is None and self.m > 1:
            theta[:, 2] = 0.5
        elif self.levels is None:
            # uniform where neither end is far away
            theta[self.upper[rows] > 20.0, 1] += 1.0
            theta[self.lower[rows] < -20.0, 1] -= 1.0
        # 1, u, u^2 - 1, ...: theta_1 and theta_2 are those of u and u^2, up to theta_0
        alpha = np.zeros((len(rows), self.m))
        return LogPolynomials(alpha=alpha, beta=np.ones_like(alpha), theta=theta)

    def solve(self, rows):
        """Alternate Newton and its check on another grid, until each row has ended."""
        ends = self._place_panels(rows, None, _PANELS[0])
        grid = self._evaluate(rows, ends)
        unfinished = solvable = np.ones(len(rows), dtype=bool)
        for n_panels in _PANELS[1:]:
            self._newton(rows, grid, solvable)
            rows = rows[unfinished]
            ends = self._place_panels(rows, ends[unfinished], n_panels)
            grid = self._evaluate(rows, ends)
            unfinished, solvable = self._judge(rows, grid, ends)
            if not unfinished.any():
                break

    def _place_panels(self, rows, old, n_panels):
        """Ends (R, P + 1) of panels between the cuts, or the levels (R, L)."""
        if self.levels is not None:
            return self.levels[rows]
        low = np.maximum(self.lower[rows], -self.reach[0, rows])
        high = np.minimum(self.upper[rows], self.reach[1, rows])
        densities = [self.density[rows], self.previous[rows]]
        return adaptive_panels(densities, low, high, old, n_panels)

    def _evaluate(self, rows, ends):
        """Evaluate the densities on panels; fall back to those of the round before."""
        u, weights = self.support.nodes(ends)
        log_weights = np.log(np.maximum(weights, 1e-300))
        density = self.density[rows]
        grid = self._project(rows, density, u, log_weights)
        lost = ~(grid.error < _LOST)
        if lost.any():
            # solved on too coarse a grid: start again from the density before
            density[lost] = self.previous[rows[lost]]
            grid = self._project(rows, density, u, log_weights)
            # never accept it: a residual on the grid of its own solution is no check
            grid.error[lost] = np.inf
        self.density[rows] = density
        self.previous[rows] = density
        return grid

    @np.errstate(over="ignore", invalid="ignore")
    def _project(self, rows, density, u, log_weights):
        """Normalise densities on nodes (R, N), and expand them in their polynomials."""
        minus_log = density.bounded(u)
        top = (log_weights - minus_log).max(axis=1, keepdims=True)
        mass = np.exp(log_weights - minus_log - top)
        total = mass.sum(axis=1, keepdims=True)
        moments = self.moments[rows]
        basis, values = project_log_density(u, mass / total, minus_log, self.m)
        residual = basis.means(moments)[:, 1:]
        # a density far too wide hides a wrong mean from its own polynomials
        mean_error = np.abs(basis.alpha[:, 0] - moments[:, 1])
        return _Grid(
            log_weights=log_weights,
            minus_log=minus_log,
            log_total=(top + np.log(total))[:, 0],
            basis=basis,
            values=values,
            residual=residual,
            error=np.maximum(np.abs(residual).max(axis=1), mean_error),
        )

    def _judge(self, rows, grid, ends):
        """Record what the grid says; which rows go on, and which of them to solve."""
        error = grid.error
        # with modes far apart, rounding may keep the error above _GOOD for ever: stop
        # where a round no longer reduces it much
        stalled = (error < 1e-10) & (error > 0.3 * self.residual[rows])
        self.residual[rows] = error
        self.density.theta[rows, 0] += grid.log_total
        self.mean[rows] = grid.basis.alpha[:, 0]
        self.deviation[rows] = grid.basis.beta[:, 0]
        if self.levels is None:
            self._keep_ends(rows, ends)
            restarted = self._move_cuts(rows, grid.minus_log)
        else:
            self.degenerate[rows] = grid.basis.beta.min(axis=1) < _FLAT
            restarted = np.zeros(len(rows), dtype=bool)
        within_reach = (self.reach[:, rows] <= _REACH).all(axis=0)
        finished = stalled | (error <= _GOOD)
        solvable = within_reach & ~finished & ~restarted
        unfinished = solvable | (within_reach & restarted)
        return unfinished, solvable

    def _keep_ends(self, rows, ends):
        """Keep the ends (R, P + 1) of panels; those with fewer get some of no width."""
        n_ends = ends.shape[1]
        self.n_ends = max(self.n_ends, n_ends)
        self.ends[rows] = ends[:, -1:]
        self.ends[rows, :n_ends] = ends

    def _move_cuts(self, rows, minus_log):
        """Double the distance of cuts with mass beyond; which rows (R,) start again."""
        density = self.density[rows]
        below, above = self.reach[:, rows]
        lower = _has_mass_beyond(density, minus_log, -below, self.lower[rows])
        upper = _has_mass_beyond(density, minus_log, above, self.upper[rows])
        truncated = np.stack([lower, upper])
        self.truncated[:, rows] = truncated
        restarted = truncated.any(axis=0) & (self.residual[rows] < _NEAR)
        self._restart(rows[restarted])
        return restarted

    def _restart(self, rows):
        """Start again with truncated sides of rows cut at twice the distance."""
        self.reach[:, rows] *= np.where(self.truncated[:, rows], 2.0, 1.0)
        start = self._starting_density(rows)
        self.density[rows] = start
        self.previous[rows] = start

    def _newton(self, rows, grid, solvable):
        """Solve the dual on a grid, for those of its rows that are solvable."""
        if not solvable.any():
            return
        rows = rows[solvable]
        basis = grid.basis[solvable]
        n_free = self.n_free
        free = slice(1, n_free + 1)
        solution = solve_dual(
            grid.values[solvable, free].swapaxes(1, 2),
            grid.log_weights[solvable],
            grid.residual[solvable, :n_free],
            start=basis.theta[:, free],
        )
        # trailing parameters that are zero up to rounding: a density of fewer moments
        small = np.abs(solution.natural) < _NOTHING
        nothing = np.logical_and.accumulate(small[:, ::-1], axis=1)[:, ::-1]
        basis.theta[:, 0] = solution.log_normaliser
        basis.theta[:, 1:] = 0.0
        basis.theta[:, free] = np.where(nothing, 0.0, solution.natural)
        self.density[rows] = basis
        self.gap[rows] = solution.gap

    def raise_failure(self, row):
        """Raise the error that says why a density was not found."""
        m = self.m
        problem = f"{m} moments on {self.support}"
        if not self._is_feasible(row):
            raise density_error(
                InfeasibleMomentsError,
                row,
                f"{problem} must lie inside the set of possible moments, by more than "
                "rounding error: check them, use fewer, or smooth them towards those "
                "of a larger sample",
            )
        if self.n_free < m:
            # the highest parameter of an odd power is zero on the whole line
            reason = (
                f" unless the density with {m - 1} moments happens to have the last one"
            )
        elif self.truncated[:, row].any():
            # the search ended after doubling the distance once more
            distance = self.reach[:, row].max() / 2
            reason = f", or it has mass beyond {distance:.0f} standard deviations"
        else:
            raise density_error(
                NotConvergedError,
                row,
                f"{problem} were matched only to {self.residual[row]:.1e}; use fewer",
            )
        raise density_error(
            InfeasibleMomentsError,
            row,
            f"{problem}: the entropy has no maximum under these moments{reason}; "
            "use fewer moments, or bound the support",
        )

    def _is_feasible(self, row):
        """Whether all Hankel matrices are positive definite (Hamburger, Hausdorff)."""
        if self.levels is not None:
            return self.residual[row] < _NEAR and not self.degenerate[row]
        moments = self.moments[row]
        return all(
            _is_positive_definite(np.correlate(moments, factor))
            for factor in _nonnegative_factors(self.lower[row], self.upper[row])
            if len(factor) <= len(moments)
        )


def _initial_reach(moments):
    """Distances (n,) of the first cuts, from moments E u^0, ..., E u^m (n, m + 1)."""
    n, n_moments = moments.shape
    reach = np.full(n, 9.0 if n_moments > 2 else 45.0)
    for j in range(2, n_moments):
        # a moment is the even one below it, times a power of the farthest value at most
        even = j - 2 + j % 2
        ratio = np.abs(moments[:, j]) / moments[:, even]
        farthest = np.minimum(1.5 * ratio ** (1.0 / (j - even)), _REACH)
        reach = np.maximum(reach, farthest)
    return reach


def _nonnegative_factors(lower, upper):
    """Coefficients, ascending, of 1, u - a, b - u and (u - a)(b - u), of finite ends.

    For a feasible density the moments of each, times squares, are positive.
    """
    factors = [np.array([1.0])]
    if np.isfinite(lower):
        factors.append(np.array([-lower, 1.0]))
    if np.isfinite(upper):
        factors.append(np.array([upper, -1.0]))
    if np.isfinite(lower) and np.isfinite(upper):
        factors.append(np.array([-lower * upper, lower + upper, -1.0]))
    return factors


def _is_positive_definite(moments):
    """Whether the Hankel matrix of a sequence is positive definite, beyond rounding."""
    size = (len(moments) + 1) // 2
    matrix = hankel(moments[:size], moments[size - 1 : 2 * size - 1])
    scale = np.sqrt(np.maximum(matrix.diagonal(), 1e-100))
    eigenvalues = np.linalg.eigvalsh(matrix / np.outer(scale, scale))
    return eigenvalues[0] >= _ROUNDING


@np.errstate(over="ignore", invalid="ignore")
def _has_mass_beyond(density, minus_log, cut, end):
    """Whether densities have mass between a cut (R,) and the end (R,) of the support.

    ``minus_log`` (R, N) are values on the near side of the cut.
    """
    beyond = np.abs(end) > np.abs(cut)
    cut = cut[beyond, None]
    end = end[beyond, None]
    u = cut * _BEYOND
    u = np.where(np.abs(u) < np.abs(end), u, end)
    height = density[beyond](u) - minus_log[beyond].min(axis=1, keepdims=True)
    # e^-33 is below rounding; the power makes up for the length of a tail
    negligible = 33.0 + density.alpha.shape[1] * np.log(np.abs(u))
    has_mass = np.zeros(len(beyond), dtype=bool)
    has_mass[beyond] = ~(height > negligible).all(axis=1)
    return has_mass
