"""Matching power moments: on a shared grid first, then on panels of each density.

Solves for a batch of moment vectors; where there is no maximum-entropy density, it
finds out why and says so.
"""

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.fewer_moments import solve_log_polynomials
from memdlib.densities.measures import (
    InfeasibleMomentsError,
    Measures,
    check_possible,
)
from memdlib.densities.moment_problem import (
    FLAT,
    Matched,
    NotConvergedError,
    check_range,
    extend_history,
)
from memdlib.densities.newton import solve_dual
from memdlib.densities.recurrence import Recurrence, stieltjes
from memdlib.densities.support import Support, powers

Array = NDArray[np.float64]

# Residual of a shared grid, and bound of its quadrature, that are good enough.
_GOOD = 1e-12


def match_powers(
    measures: Measures, m: int, support: Support, n_nodes: int, *, tol: float
) -> Matched:
    """Find the densities of largest entropy with the power moments of measures.

    Parameters
    ----------
    measures : Measures
    m : int
    support : Support
    n_nodes : int
        Nodes of the Gauss-Legendre rule that all densities on an interval share. A
        quarter of them is tried first; where the rule is too coarse, panels that follow
        the density take its place. Not used on unbounded supports.
    tol : float
        Largest residual to accept.

    Returns
    -------
    Matched

    Raises
    ------
    InfeasibleMomentsError, NotConvergedError
        Naming the first density in the batch that failed, the moment, and the remedy.
    """
    measures = check_possible(measures, m, support)
    if support.bounded:
        found, pending = _match_on_grids(measures, m, support, n_nodes)
    else:
        found, pending = _empty(measures, m), np.arange(len(measures.origin))
    if pending.size:
        _match_on_panels(found, pending, measures[pending], m, support, tol)
    if support.kind == "levels":
        flat = np.linalg.eigvalsh(found.covariance)[:, 0]
        for row in np.flatnonzero((flat < FLAT) | ~(found.residual <= tol)):
            _check_levels(measures[[row]], m, support, row)
    _check_converged(found.residual, tol, m, support)
    return found


def _empty(measures: Measures, m: int) -> Matched:
    n = len(measures.origin)
    basis = Recurrence(np.empty((n, m)), np.empty((n, m)))
    rest = np.full((2, n), np.inf)
    ends = measures.origin.copy(), measures.unit.copy(), basis, np.empty((n, m + 1))
    return Matched(*ends, *rest, np.empty((n, m, m)), np.zeros((1, n)))


def _match_on_grids(measures, m, support, n_nodes) -> tuple[Matched, Array]:
    """Solve for all densities on the same nodes; return also which of them failed."""
    origin, unit = support.standardise()
    moved = (
        measures.origin[:, None] + measures.unit[:, None] * measures.nodes
    ) - origin
    found, pending = _empty(measures, m), np.arange(len(measures.origin))
    found.origin[:], found.unit[:] = origin, unit
    reference = _reference(support, m)
    target = np.einsum(
        "bn,jbn->bj", measures.weights, reference.evaluate(moved / unit)[1:]
    )

    def values(size):
        u, log_weights = support.grid(size, crowded=False)
        return reference.evaluate(u[None])[1:, 0].T, log_weights

    found.theta[:] = 0.0
    found.basis.alpha[:], found.basis.beta[:] = reference.alpha, reference.beta
    for size in (n_nodes // 4, n_nodes):
        if size <= m and support.levels is None:
            continue
        solution = solve_dual(*values(size), target[pending], found.theta[pending, 1:])
        natural = solution.natural
        psi, mean, error = _integrate(*values(max(3 * size, m + 1)), natural)
        missing = target[pending] - mean
        own = np.full(missing.shape, np.inf)
        sound = solution.curvature > FLAT
        factor = np.linalg.cholesky(solution.covariance[sound])
        own[sound] = np.linalg.solve(factor, missing[sound, :, None])[..., 0]
        found.theta[pending, 1:] = np.where(sound[:, None], natural, 0.0)
        found.theta[pending, 0] = psi
        found.residual[pending] = np.abs(own).max(axis=1)
        found.gap[pending] = np.abs((natural * missing).sum(axis=1))
        found.covariance[pending] = solution.covariance
        found.history = extend_history(found.history, solution.history, pending)
        good = found.residual[pending] <= _GOOD
        if support.levels is None:
            good &= error <= _GOOD
        pending = pending[~good]
        if not pending.size or support.levels is not None:
            break
    return found, pending


def _integrate(features: Array, log_weights: Array, natural: Array) -> tuple:
    """Log-normalisers and moments by Gauss's rule on [-1, 1], and bounds of its error.

    A polynomial of degree m and range r on the interval grows to r/2 rho^m at most on
    the ellipse of Bernstein, an orthonormal one of degree m to sqrt(2m + 1) rho^m, and
    Gauss's rule errs by 64/15 M rho^(-2n) / (1 - rho^-2) where the integrand is M at
    most (Trefethen, Approximation Theory, theorem 19.3). That holds for every rho > 1;
    rho^m = (4n / m - 2) / r makes the bound small. The error is a share of the mass.
    """
    n, m = features.shape
    linear = natural @ features.T
    least = linear.min(axis=1)
    half = 0.5 * (linear.max(axis=1) - least) / np.cos(0.5 * np.pi * m / n)
    p = np.exp(np.subtract(least[:, None], linear, out=linear), out=linear)
    p *= np.exp(log_weights)
    mass = p.sum(axis=1)
    growth = np.maximum((2.0 * n / m - 1.0) / np.maximum(half, 1e-3), 1.05)
    log_rho = np.log(growth) / m
    bound = half * (growth - 1.0) - (2.0 * n - m) * log_rho
    bound -= np.log(-np.expm1(-2.0 * log_rho))
    log_mass = np.log(mass)
    bound += np.log(64.0 / 15.0 * np.sqrt(2.0 * m + 1.0)) - log_mass
    error = np.exp(np.minimum(bound, 0.0))
    return log_mass - least, p @ features / mass[:, None], error


def _match_on_panels(found, rows, measures, m, support, tol) -> None:
    """Solve for rows of a batch, each on nodes of its own."""
    lower, upper = measures.ends(support)
    points = None
    if support.levels is not None:
        points = (np.array(support.levels) - measures.origin[:, None]) / (
            measures.unit[:, None]
        )
    if support.bounded:
        origin, unit = support.standardise()
    else:
        origin, unit = measures.origin, measures.unit
        if support.kind == "half-line":
            origin = support.lower if np.isfinite(support.lower) else support.upper
            unit = measures.origin - origin
    at, size = (origin - measures.origin) / measures.unit, unit / measures.unit
    reference = _reference(support, m).move(at, size)
    solution = solve_log_polynomials(
        measures.nodes,
        measures.weights,
        m,
        lower,
        upper,
        points,
        (reference, found.theta[rows]) if support.bounded else None,
        measures.doubt,
    )
    if solution.unattained.any():
        raise InfeasibleMomentsError(_unattained(solution, rows, measures, m, support))
    found.origin[rows], found.unit[rows] = measures.origin, measures.unit
    found.basis.alpha[rows] = solution.basis.alpha
    found.basis.beta[rows] = solution.basis.beta
    found.theta[rows] = solution.theta
    found.residual[rows], found.gap[rows] = solution.residual, solution.gap
    sound = np.isfinite(solution.residual)
    spread = solution.basis[sound].coefficients(reference[sound])[:, 1:, 1:]
    found.covariance[rows[sound]] = spread @ spread.swapaxes(1, 2)
    found.covariance[rows[~sound]] = 0.0
    found.history = extend_history(found.history, np.array(solution.history), rows)


def _reference(support: Support, m: int) -> Recurrence:
    """Orthonormal polynomials of a reference density, in coordinates of its own.

    Uniform on levels and intervals, normal on the line, exponential on half-lines.
    """
    j = np.arange(float(m))
    if support.kind == "line":
        return Recurrence(np.zeros((1, m)), np.sqrt(j + 1.0)[None])
    if support.kind == "half-line":
        return Recurrence((2.0 * j + 1.0)[None], (j + 1.0)[None])
    if support.levels is None:
        return Recurrence(
            np.zeros((1, m)), ((j + 1) / np.sqrt(4 * (j + 1) ** 2 - 1))[None]
        )
    u = support.grid(1)[0][None]
    if u.size <= m:
        raise ValueError(
            f"{m} moments and the constant are not linearly independent on {u.size} "
            "points of the support; use fewer moments"
        )
    return stieltjes(u, np.full(u.shape, 1.0 / u.size), m)[0]


def _check_converged(residual: Array, tol: float, m: int, support: Support) -> None:
    bad = ~(residual <= tol)
    if bad.any():
        row = int(np.argmax(bad))
        why = (
            "they lie so close to the boundary of what is possible"
            if support.bounded
            else "they lie so close to the boundary of what is possible, or of what "
            "has a maximum of entropy (a tiny probability far out),"
        )
        raise NotConvergedError(
            f"density {row}: {m} moments were matched to {residual[row]:.1e} only, not "
            f"to tol={tol:g}: {why} that a density in floating-point numbers does not "
            "reach them, or not within bounded work; use fewer moments, a bounded "
            "support, or moments smoothed towards those of a wider sample"
        )


def _unattained(solution, rows, measures, m, support) -> str:
    """Sentence on an entropy without a maximum."""
    row = int(np.argmax(solution.unattained))
    origin, unit = measures.origin[row], measures.unit[row]
    value = (measures.weights[row] * measures.nodes[row] ** m).sum()
    odd = support.kind == "line" and m % 2 == 1
    fewer = m - 2 if support.kind == "line" and not odd else m - 1
    moments = "1 moment" if fewer == 1 else f"{fewer} moments"
    excess = solution.excess[row]
    bound, name = value - excess, f"E u^{m} with u = (x - {origin:g}) / {unit:g}"
    if odd:
        why = (
            "which does not exist either"
            if np.isnan(excess)
            else f"for which {name} is {np.round(bound, 12) + 0.0:.6g} and not "
            f"{value:.6g} (a difference of {excess:.2g})"
        )
        return (
            f"density {rows[row]}: no density on the real line has largest entropy "
            f"under these {m} moments: it would be that of {moments}, {why}; ask for "
            "an even number of moments, or bound the support"
        )
    side = "above" if excess > 0 else "below"
    return (
        f"density {rows[row]}: the entropy has no maximum on {support} under these "
        f"{m} moments: {name} = {value:.6g} is {side} {bound:.6g} (by "
        f"{abs(excess):.2g}), that of the density of largest entropy with {moments}, "
        "which has the others too; a vanishing probability far out supplies the "
        "rest, so that the supremum of the entropy is not attained (Junk, 2000); "
        f"ask for {moments}, or bound the support"
    )


def _check_levels(measures, m, support, row) -> None:
    """Raise if the moments do not lie inside what the levels can have."""
    origin, unit = support.standardise()
    moved = measures.origin + measures.unit * measures.nodes[0] - origin
    mu = measures.weights[0] @ powers(moved / unit, m)
    values = powers(support.grid(1)[0], m)

    def describe(j):
        return f"density {row}: E u^{j + 1} with u = (x - {origin:g}) / {unit:g}"

    check_range(values, mu, support, describe)
