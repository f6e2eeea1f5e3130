"""Densities with given power moments: Newton on grids that follow what it finds.

In units u = (x - mean) / sd every support is an interval, cut where the density has
fallen to nothing: a cut that the density does not respect is moved outwards, until the
reach of the method. Each round solves the dual in polynomials that are orthonormal
under the density of the round before, on panels that follow it, and so checks the
latter on nodes that have had no part in it.
"""

import numpy as np

from memdlib._types import Array, Bools, Indices
from memdlib.densities.moment_problem import (
    InfeasibleMomentsError,
    NotConvergedError,
    solve_dual,
)
from memdlib.densities.polynomials import (
    LogPolynomials,
    adaptive_panels,
    project_log_density,
)
from memdlib.densities.support import Support, panel_nodes

# Panels of a round, never those of the one before.
_PANELS = (12, 14, 18, 24, 32, 48, 64, *(80, 71) * 7)
# Residual that is good enough; one beyond which a grid was too coarse; and one below
# which a solution tells whether a cut is where the density is nothing.
_GOOD, _LOST, _SEEN = 1e-12, 1e2, 1e-2
# Largest distance of a cut, in standard deviations.
_REACH = 400.0
# Multiples of a cut at which to look what is beyond it.
_FAR = np.concatenate([1.015 ** np.arange(350), 180.0 * 1.3 ** np.arange(100)])
# Size of a parameter of a feature of variance one that rounding leaves in doubt.
_NOTHING = 1e-12
# Deviation of a polynomial on levels, given those of lower degrees, that is nothing.
_FLAT = 1e-7
# Share of a determinant that rounding leaves in doubt.
_ROUNDING = 1e-12
# Densities at a time.
_BLOCK = 2**12


def match(
    moments: Array, origin: Array, unit: Array, support: Support, tol: float
) -> tuple[LogPolynomials, Array, Array, Array]:
    """Find the densities of largest entropy with given moments of u."""
    search = _Search(moments, origin, unit, support)
    for start in range(0, len(moments), _BLOCK):
        search.solve(np.arange(start, min(start + _BLOCK, len(moments))))
    failed = ~(search.residual <= tol) | search.cut.any(axis=0) | search.flat
    if failed.any():
        search.refuse(int(np.argmax(failed)))
    used = search.n_panels.max() + 1
    ends = search.ends[:, :used] if support.levels is None else search.levels
    return search.found, ends, search.residual, search.gap


class _Search:
    """What is known of the densities of a batch."""

    def __init__(self, moments, origin, unit, support):
        n, m = moments.shape
        self.moments, self.support = moments, support
        self.lower, self.upper = (
            (end - origin) / unit for end in (support.lower, support.upper)
        )
        self.levels = None
        if support.levels is not None:
            self.levels = (np.array(support.levels) - origin[:, None]) / unit[:, None]
        # on the line the highest of an odd number of parameters is zero
        self.free = m - (np.isinf([support.lower, support.upper]).all() and m % 2)
        # u^2 / 2, or for one moment on a long support an exponential law
        self.start = LogPolynomials(
            np.zeros((n, m)), np.ones((n, m)), np.zeros((n, m + 1))
        )
        if self.levels is None:
            self.start.theta[:, min(m, 2)] = 0.5
            if m == 1:
                self.start.theta[:, 1] = (self.upper > 20.0) * 1.0
                self.start.theta[:, 1] -= self.lower < -20.0
        self.found = self.start[np.arange(n)]
        self.last = self.start[np.arange(n)]
        # moments of even order grow by the square of the farthest value at most
        full = np.column_stack([np.ones(n), moments])
        self.reach = np.full((2, n), 9.0 if m > 1 else 45.0)
        for j in range(2, m + 1):
            i = j - 2 + j % 2
            rise = np.abs(full[:, j]) / full[:, i]
            rise = np.minimum(1.5 * rise ** (1.0 / (j - i)), _REACH)
            self.reach = np.maximum(self.reach, rise)
        self.residual, self.gap, self.least = np.full((3, n), np.inf)
        self.cut = np.zeros((2, n), dtype=bool)
        self.ends, self.n_panels = np.zeros((n, max(_PANELS) + 1)), np.zeros(n, int)

    @property
    def flat(self) -> Bools:
        """Whether levels that must have no probability got what rounding leaves."""
        return (self.levels is not None) & (self.least < _FLAT)

    def solve(self, rows: Indices) -> None:
        """Rounds of a solution and its check, until each row is done or given up."""
        ends = None
        for round_, n_panels in enumerate(_PANELS):
            density = self.found[rows]
            if self.levels is None:
                low = np.maximum(self.lower[rows], -self.reach[0, rows])
                high = np.minimum(self.upper[rows], self.reach[1, rows])
                ends = adaptive_panels(
                    [density, self.last[rows]], low, high, ends, n_panels
                )
                u, weights = panel_nodes(ends)
            else:
                u, weights = self.levels[rows], np.ones(1)
            log_weights = np.log(np.maximum(weights, 1e-300)) + np.zeros_like(u)
            *look, error = self._look(density, u, log_weights, rows)
            lost = ~(error < _LOST)
            if lost.any():
                # the grid was too coarse for what came of it; this one is better there
                density[lost] = self.last[rows[lost]]
                *look, error = self._look(density, u, log_weights, rows)
                error[lost] = np.inf  # it may have been solved on this very grid
            minus_log, psi, basis, values, target = look
            self.found[rows] = self.last[rows] = density
            go = np.ones(len(rows), dtype=bool)
            if round_:
                self.found.theta[rows, 0] += psi
                before, self.residual[rows] = self.residual[rows], error
                self.least[rows] = basis.beta.min(axis=1)
                bad = np.zeros(len(rows), dtype=bool)
                if self.levels is None:
                    bad = self._note(rows, minus_log, ends)
                # beyond distant modes rounding may leave a little more than enough
                stuck = (error < 1e-10) & (error > 0.3 * before)
                left = bad | ~((error <= _GOOD) | stuck)
                left &= (self.reach[:, rows] <= _REACH).all(axis=0)
                go = left & ~bad
            # what the last round solved would go unchecked
            if go.any() and round_ + 1 < len(_PANELS):
                features = values[go, 1:].swapaxes(1, 2)
                self._improve(
                    rows[go], basis[go], features, log_weights[go], target[go]
                )
            if round_:
                rows, ends = rows[left], None if ends is None else ends[left]
                if not rows.size:
                    break

    @np.errstate(over="ignore", invalid="ignore")
    def _look(self, density, u, log_weights, rows):
        """Values on a grid, norm, orthonormal basis, its values and means, misfit."""
        q = density.bounded(u)
        top = (log_weights - q).max(axis=1, keepdims=True)
        mass = np.exp(log_weights - q - top)
        total = mass.sum(axis=1, keepdims=True)
        basis, values = project_log_density(u, mass / total, q, self.moments.shape[1])
        known = np.column_stack([np.ones(len(rows)), self.moments[rows]])
        target = (basis.coefficients() @ known[..., None])[:, 1:, 0]
        # of a density that is far too wide its own polynomials do not tell
        moved = np.abs(basis.alpha[:, 0] - self.moments[rows, 0])
        error = np.maximum(np.abs(target).max(axis=1), moved)
        return q, (top + np.log(total))[:, 0], basis, values, target, error

    def _note(self, rows, minus_log, ends):
        """Keep the panels; move cuts that were too close, and start again there."""
        self.ends[rows] = ends[:, -1:]
        self.ends[rows, : ends.shape[1]] = ends
        self.n_panels[rows] = ends.shape[1] - 1
        density, reach = self.found[rows], self.reach[:, rows]
        for side, (end, limit) in enumerate(
            ((-reach[0], self.lower), (reach[1], self.upper))
        ):
            self.cut[side, rows] = _goes_on(density, minus_log, end, limit[rows])
        cut = self.cut[:, rows]
        bad = cut.any(axis=0) & (self.residual[rows] < _SEEN)
        self.found[rows[bad]] = self.last[rows[bad]] = self.start[rows[bad]]
        self.reach[:, rows[bad]] *= np.where(cut[:, bad], 2.0, 1.0)
        return bad

    def _improve(self, rows, basis, features, log_weights, target) -> None:
        """Solve the dual on the grid of a look."""
        free = slice(self.free)
        start = basis.theta[:, 1 : self.free + 1]
        solution = solve_dual(features[..., free], log_weights, target[:, free], start)
        lam = solution.natural
        # highest ones that are nothing: the density is that of fewer moments
        small = np.logical_and.accumulate(np.abs(lam[:, ::-1]) < _NOTHING, axis=1)
        basis.theta[:, 0] = solution.log_normaliser
        basis.theta[:, 1:] = 0.0
        basis.theta[:, 1 : self.free + 1] = np.where(small[:, ::-1], 0.0, lam)
        self.found[rows], self.gap[rows] = basis, solution.gap

    def refuse(self, row: int) -> None:
        """Raise: say why a density was not found."""
        m = self.moments.shape[1]
        asked = f"density {row}: {m} moments on {self.support}"
        if not self._possible(row):
            raise InfeasibleMomentsError(
                f"{asked} must lie inside of what is possible there, beyond rounding: "
                "check them, use fewer, or smooth them towards those of a wider sample"
            )
        if self.free < m:
            why = f"unless the density of {m - 1} moments has the last one too"
        elif self.cut[:, row].any():
            far = self.reach[:, row].max() / 2
            why = f"or a little probability beyond {far:.0f} standard deviations"
        else:
            raise NotConvergedError(
                f"{asked} were matched to {self.residual[row]:.1e} only; use fewer"
            )
        raise InfeasibleMomentsError(
            f"{asked}: under these the entropy has no maximum, {why}; use fewer, or "
            "bound the support"
        )

    def _possible(self, row) -> bool:
        """Whether all Hankel matrices are positive definite (Hamburger, Hausdorff)."""
        if self.levels is not None:
            return bool(self.residual[row] < _SEEN) and not self.flat[row]
        s, factors = np.concatenate([[1.0], self.moments[row]]), [np.ones(1)]
        lower, upper = self.lower[row], self.upper[row]
        if np.isfinite(lower):
            factors.append([-lower, 1.0])
        if np.isfinite(upper):
            factors.append(np.array([upper, -1.0]))
        if self.support.bounded:
            factors.append(np.array([-lower * upper, lower + upper, -1.0]))
        for factor in factors:
            t = np.correlate(s, factor)
            i = np.arange((len(t) + 1) // 2)
            scale = np.sqrt(np.maximum(t[2 * i], 0.0))
            hankel = t[i + i[:, None]]
            if scale.min() == 0 or (
                np.linalg.eigvalsh(hankel / np.outer(scale, scale))[0] < _ROUNDING
            ):
                return False
        return True


@np.errstate(over="ignore", invalid="ignore")
def _goes_on(density, minus_log, end, limit):
    """Whether a density cut at ``end`` short of its ``limit`` is more than nothing."""
    found = np.abs(limit) > np.abs(end)
    end, limit = end[found, None], limit[found, None]
    far = end * _FAR
    last = np.where(np.isfinite(limit), limit, far)
    far = np.where(np.abs(far) < np.abs(limit), far, last)
    height = density[found](far) - minus_log[found].min(axis=1, keepdims=True)
    room = 33.0 + density.alpha.shape[1] * np.log(np.abs(far))
    found[found] = ~(height > room).all(axis=1)
    return found
