"""Matching the means of feature functions: the dual on a grid, checked on a finer one.

The natural parameters minimise the convex dual psi(lambda) + lambda . mu. A damped
Newton method solves it on fixed nodes and weights for a whole batch of moment vectors:
every step is a few matrix products over all of them. The answer comes with its
certificate: moment residual, duality gap, and the covariance matrix of phi, whose
condition number tells how far the solution can be trusted. Where there is no
maximum-entropy density, it is found out why.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from memdlib.densities.measures import InfeasibleMomentsError
from memdlib.densities.recurrence import Recurrence
from memdlib.densities.support import (
    Support,
    gauss_legendre,
    orthonormal_coefficients,
)

Array = NDArray[np.float64]

# Probability beyond the outermost nodes above which a density does not end there.
_TAIL = 1e-9
# Share of the largest variance of a feature below which moments may lie on the
# boundary, where there is no density.
FLAT = 1e-12
# Newton steps.
MAX_ITERATIONS = 200
# Residual at which Newton stops: rounding of a sum over the nodes.
_EXACT = 1e-14
# Share of a variance that rounding leaves in doubt.
_ROUNDING = 1e-15
_EPSILON = np.finfo(np.float64).eps


class NotConvergedError(RuntimeError):
    """The moments were not matched to the tolerance asked for."""


@dataclass
class Matched:
    """Densities exp(-theta . p(u)) of a batch of B moment vectors.

    Parameters
    ----------
    origin, unit : ndarray of shape (B,)
        u = (x - origin) / unit.
    basis : Recurrence or None
        Polynomials p_0, ..., p_m; None means 1 and the feature functions of x.
    theta : ndarray of shape (B, m + 1)
    residual : ndarray of shape (B,)
        Largest difference between the moments of the density and those asked for, of
        features that are orthonormal under the density itself (of a reference density,
        for functions), on other nodes than those of the solver.
    gap : ndarray of shape (B,)
        Duality gap, in nats.
    covariance : ndarray of shape (B, m, m)
        Covariance of features that are orthonormal under a reference density.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step, in nats, up to a constant.
    """

    origin: Array
    unit: Array
    basis: Recurrence | None
    theta: Array
    residual: Array
    gap: Array
    covariance: Array
    history: Array

    @property
    def condition(self) -> Array:
        """Condition number of the covariance, shape (B,)."""
        spread = np.linalg.eigvalsh(self.covariance)
        return spread[:, -1] / np.maximum(spread[:, 0], 1e-15 * spread[:, -1])


def match_functions(
    mu: Array,
    features: Callable[[Array], Array],
    support: Support,
    n_nodes: int,
    *,
    tol: float,
) -> tuple[Matched, Support]:
    """Find the densities of largest entropy with given means of functions.

    Parameters
    ----------
    mu : ndarray of shape (B, m)
    features : callable
        Maps standard coordinates (N,) to values (N, m).
    support : Support
    n_nodes : int
        Nodes of the grid. Rows that a check on twice as many nodes finds wanting go on
        to four times as many.
    tol : float
        Largest residual to accept.

    Returns
    -------
    Matched
    Support
        With grids that come close enough to the end of a half-line.

    Raises
    ------
    InfeasibleMomentsError, NotConvergedError
    """
    origin, unit = support.standardise()
    u, log_weights = support.grid(n_nodes)
    log_reference = support.log_reference(u)
    mass = np.exp(log_weights + log_reference - (log_weights + log_reference).max())
    change = orthonormal_coefficients(features(u), log_weights + log_reference)
    basis = features(u) @ change[1:, 1:] + change[0, 1:]
    # natural parameters whose log density comes closest to the reference density
    start = -((mass * log_reference) @ basis) / mass.sum()

    def grid(size):
        u, log_weights = support.grid(size)
        return features(u) @ change[1:, 1:] + change[0, 1:], log_weights

    target = mu @ change[1:, 1:] + change[0, 1:]
    n_batch, m = target.shape
    lam, history = np.tile(start, (n_batch, 1)), np.zeros((1, n_batch))
    psi, residual, near, far, gap = np.full((5, n_batch), np.inf)
    covariance, pending = np.empty((n_batch, m, m)), np.arange(n_batch)
    for size in (n_nodes, 4 * n_nodes):
        if size <= m and support.levels is None:
            continue
        # what a coarser grid found is a start only where it came close
        close = residual[pending] < 1e-3
        first = np.where(close[:, None], lam[pending], start)
        solution = solve_dual(*grid(size), target[pending], first)
        lam[pending], gap[pending] = solution.natural, solution.gap
        covariance[pending] = solution.covariance
        history = extend_history(history, solution.history, pending)
        check = grid(2 * size)
        value, mean, p = evaluate_dual(*check, target[pending], lam[pending])
        psi[pending] = value - (lam[pending] * target[pending]).sum(axis=1)
        residual[pending] = np.abs(target[pending] - mean).max(axis=1)
        near[pending], far[pending] = _tails(support, p, check, lam[pending], 2 * size)
        pending = pending[~(residual[pending] <= tol)]
        if not pending.size or support.kind == "levels":
            break
    if support.kind == "half-line" and support.close > -6 and (near > _TAIL).any():
        closer = replace(support, close=-6.5)
        return match_functions(mu, features, closer, n_nodes, tol=tol)
    failed = ~(residual <= tol) | (far > _TAIL) | (near > _TAIL)
    spread = np.linalg.eigvalsh(covariance)
    doubtful = failed | (spread[:, 0] < FLAT * np.maximum(spread[:, -1], 1e-3))
    for row in np.flatnonzero(doubtful):
        _check_functions(mu[row], features, support, row)
        if far[row] > _TAIL:
            raise InfeasibleMomentsError(
                f"density {row}: on {support} these moments are matched only by a "
                "density that does not fall off within the reach of numbers: the "
                "entropy has no maximum, or next to none; use fewer moments or bound "
                "the support"
            )
        if near[row] > _TAIL:
            raise NotConvergedError(
                f"density {row}: probability gathers at an end of {support}, closer "
                f"than numbers can tell ({near[row]:.1e} of it); move the moments "
                "away from the boundary of what is possible"
            )
        if not residual[row] <= tol:
            raise NotConvergedError(
                f"density {row}: the moments were matched to {residual[row]:.1e} only; "
                "raise n_nodes or tol, or use fewer moments; for powers of x give "
                "their number"
            )
    theta = np.column_stack([psi + lam @ change[0, 1:], lam @ change[1:, 1:].T])
    place = np.full(n_batch, origin), np.full(n_batch, unit)
    found = Matched(*place, None, theta, residual, gap, covariance, history)
    return found, support


def _tails(support, p, check, lam, n_nodes) -> tuple[Array, Array]:
    """About the probabilities beyond the nodes: at finite ends, at infinite ones."""
    none = np.zeros(len(p))
    if support.levels is not None:
        return none, none
    features, log_weights = check
    log_p = log_weights - lam @ features.T
    weight = gauss_legendre(n_nodes)[1][0]
    # the density of the unfolded variable falls off within a twentieth
    first, last = 0.05 * p[:, 0] / weight, 0.05 * p[:, -1] / weight
    rising = (log_p[:, -1] > log_p[:, -5], log_p[:, 0] > log_p[:, 4])
    upwards, downwards = (np.where(r, np.inf, 0.0) for r in rising)
    if support.kind == "line":
        return none, np.maximum(first + downwards, last + upwards)
    if support.kind == "half-line":
        return first, last + upwards
    return np.maximum(first, last), none


def _check_functions(mu, features, support, row) -> None:
    values = features(support.grid(501)[0])
    check_range(values, mu, support, lambda j: f"density {row}: E phi_{j + 1}")


def check_range(
    values: Array, mu: Array, support: Support, describe: Callable[..., Any]
) -> Array:
    """Raise, naming the first moment outside the range that those before it leave.

    Parameters
    ----------
    values : ndarray of shape (N, m)
        Features on nodes.
    mu : ndarray of shape (m,)
    support : Support
    describe : callable
        Name of moment j.

    Returns
    -------
    ndarray of shape (m,)
        The moments.

    Raises
    ------
    InfeasibleMomentsError
    """
    size = np.abs(values).max(axis=0)
    if not support.bounded:
        # the nodes reach far beyond where the moments live
        size = np.minimum(size, np.where(mu == 0, 1.0, np.abs(mu)))
    for j in range(len(mu)):
        ends = possible_range(values / size, mu / size, j)
        low, high = (-np.inf, np.inf) if ends is None else size[j] * np.array(ends)
        margin = (
            1e-9 * min(high - low, max(abs(mu[j]), 1e-3 * size[j])) if ends else 0.0
        )
        if not low + margin < mu[j] < high - margin:
            raise InfeasibleMomentsError(
                f"{describe(j)} = {mu[j]:.6g} must lie strictly between {low:.6g} and "
                f"{high:.6g} to occur on {support} with the moments before it; check "
                "it, use fewer moments, or smooth them towards those of a wider sample"
            )
    return mu


def possible_range(features: Array, mu: Array, j: int) -> tuple[float, float] | None:
    """Range of moment j over all distributions on the nodes with moments 0..j-1.

    Parameters
    ----------
    features : ndarray of shape (N, m)
    mu : ndarray of shape (m,)
    j : int
        Which moment, counted from 0.

    Returns
    -------
    (float, float) or None
        None where the moments before it are impossible already.

    Examples
    --------
    >>> u = np.linspace(0, 1, 101)
    >>> low, high = possible_range(np.column_stack([u, u**2]), np.array([0.5, 0.3]), 1)
    >>> round(low, 6), round(high, 6)
    (0.25, 0.5)
    """
    total = np.vstack([np.ones(len(features)), features[:, : j + 1].T])
    # probabilities times the largest feature: far nodes do not spoil the tolerances
    total = total / np.abs(total).max(axis=0)
    total, goal = total[:-1], total[-1]
    known = np.concatenate([[1.0], mu[:j]])
    exact = {
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "time_limit": 10.0,
    }
    low, high = (
        linprog(sign * goal, A_eq=total, b_eq=known, options=exact)
        for sign in (1.0, -1.0)
    )
    if low.x is None or high.x is None:
        return None
    return float(low.fun), -float(high.fun)


def extend_history(history: Array, new: Array, rows: NDArray[np.intp]) -> Array:
    """Put new histories in the place of those of some rows; the last value stays."""
    longest = max(len(history), len(new))
    found = np.concatenate([history, history[-1:].repeat(longest - len(history), 0)])
    found[: len(new), rows] = new
    found[len(new) :, rows] = new[-1]
    return found


@dataclass(frozen=True)
class DualSolution:
    """Solution of the dual for a batch of B moment vectors.

    Parameters
    ----------
    natural : ndarray of shape (B, m)
        Natural parameters in the basis that was solved in.
    log_normaliser : ndarray of shape (B,)
    residual : ndarray of shape (B,)
        Largest difference between the moments of the density and those asked for.
    gap : ndarray of shape (B,)
        Duality gap, the size of lambda . (mu - E phi), in nats.
    covariance : ndarray of shape (B, m, m)
        Hessian of the dual, the covariance of phi.
    curvature : ndarray of shape (B,)
        Smallest variance of a phi_j given phi_1..phi_(j-1), as its share of the
        largest; next to zero where the moments lie on the boundary of what is possible,
        and zero where rounding hides it.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step, in nats.
    """

    natural: Array
    log_normaliser: Array
    residual: Array
    gap: Array
    covariance: Array
    curvature: Array
    history: Array


def solve_dual(
    features: Array, log_weights: Array, mu: Array, start: Array | None = None
) -> DualSolution:
    """Minimise psi(lambda) + lambda . mu for every row of ``mu``.

    Parameters
    ----------
    features : ndarray of shape (N, m)
        phi at the nodes; well-conditioned columns, of order one.
    log_weights : ndarray of shape (N,)
        Logarithms of the quadrature weights, or of the base measure of the levels.
    mu : ndarray of shape (B, m)
        Mean parameters asked for.
    start : ndarray of shape (B, m), default=None
        Natural parameters to start from; None means zero.

    Returns
    -------
    DualSolution
        Rows that did not converge keep a large residual; the caller judges.

    Examples
    --------
    A coin of mean 1/4 has natural parameter -logit(1/4) = log 3.

    >>> coin = solve_dual(np.array([[0.0], [1.0]]), np.zeros(2), np.array([[0.25]]))
    >>> bool(np.isclose(coin.natural[0, 0], np.log(3)))
    True
    """
    n_batch, m = mu.shape
    lam = np.zeros((n_batch, m)) if start is None else start.copy()
    rows, columns = np.tril_indices(m)
    products = features[:, rows] * features[:, columns]
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    found, residual = mean.copy(), np.abs(mu - mean).max(axis=1)
    covariance, curvature = np.empty((n_batch, m, m)), np.ones(n_batch)
    size = np.abs(features).max(axis=0)
    active, history = np.arange(n_batch), [value.copy()]
    for _ in range(MAX_ITERATIONS):
        hessian = np.empty((m, m, len(active)))
        hessian[rows, columns] = (p @ products).T - mean.T[rows] * mean.T[columns]
        hessian[columns, rows] = hessian[rows, columns]
        covariance[active] = hessian.transpose(2, 0, 1)
        factor, curvature[active] = _cholesky(hessian)
        going = (residual[active] > _EXACT) & (curvature[active] > 0)
        if not going.any():
            break
        active, mean, factor = active[going], mean[going], factor[..., going]
        gradient = mu[active] - mean
        step = _solve(factor, -gradient.T).T
        slope = (gradient * step).sum(axis=1)
        # at the optimum the decrease drowns in rounding of lambda . phi
        slack = (m + 3) * _EPSILON * (1.0 + np.abs(lam[active]) @ size)
        enough = value[active] + slack
        length, reached, mean, p = _line_search(
            features, log_weights, mu[active], lam[active], step, slope, enough
        )
        before = residual[active]
        after = np.abs(mu[active] - mean).max(axis=1)
        lam[active] += length[:, None] * step
        value[active], residual[active], found[active] = reached, after, mean
        history.append(value.copy())
        # near the optimum rounding decides: stop where a step no longer helps
        alive = (length > 0) & ((after > 1e-8) | (after < 0.5 * before))
        active, mean, p = active[alive], mean[alive], p[alive]
        if not active.size:
            break
    gap = (lam * (mu - found)).sum(axis=1)
    return DualSolution(
        natural=lam,
        log_normaliser=value - (lam * mu).sum(axis=1),
        residual=residual,
        gap=np.abs(gap),
        covariance=covariance,
        curvature=curvature,
        history=np.array(history),
    )


def evaluate_dual(
    features: Array, log_weights: Array, mu: Array, lam: Array
) -> tuple[Array, Array, Array]:
    """Dual objective, moments and node probabilities at given natural parameters.

    Parameters
    ----------
    features : ndarray of shape (N, m)
    log_weights : ndarray of shape (N,)
    mu, lam : ndarray of shape (B, m)

    Returns
    -------
    value : ndarray of shape (B,)
        psi(lambda) + lambda . mu, in nats.
    mean : ndarray of shape (B, m)
        E phi.
    p : ndarray of shape (B, N)
        Probabilities of the nodes.
    """
    p = lam @ features.T
    np.subtract(log_weights, p, out=p)
    top = p.max(axis=1, keepdims=True)
    p -= top
    np.exp(p, out=p)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    value = (top + np.log(total))[:, 0] + (lam * mu).sum(axis=1)
    return value, p @ features, p


def _line_search(features, log_weights, mu, lam, step, slope, enough):
    """Longest of 1, 1/2, 1/4, ... that lowers the dual enough (Armijo)."""
    length = np.ones(len(lam))
    reached, mean, p = evaluate_dual(features, log_weights, mu, lam + step)
    for _ in range(50):
        high = np.flatnonzero(~(reached <= enough + 1e-4 * length * slope))
        if not high.size:
            return length, reached, mean, p
        length[high] *= 0.5
        trial = lam[high] + length[high, None] * step[high]
        reached[high], mean[high], p[high] = evaluate_dual(
            features, log_weights, mu[high], trial
        )
    length[high] = 0.0
    reached[high], mean[high], p[high] = evaluate_dual(
        features, log_weights, mu[high], lam[high]
    )
    return length, reached, mean, p


def _cholesky(hessian):
    """Factors (m, m, B) of a batch of covariance matrices, and their curvatures.

    Vectorised over the batch, where LAPACK would be called once for each small matrix.
    """
    m = len(hessian)
    factor = np.zeros_like(hessian)
    variance = hessian[np.arange(m), np.arange(m)]
    largest = np.maximum(variance.max(axis=0), np.finfo(np.float64).tiny)
    curvature = np.full(largest.shape, np.inf)
    for j in range(m):
        left = factor[j, :j]
        pivot = variance[j] - np.einsum("kb,kb->b", left, left)
        curvature = np.minimum(curvature, pivot)
        root = np.sqrt(np.maximum(pivot, _ROUNDING * largest))
        factor[j, j] = root
        below = np.einsum("ikb,kb->ib", factor[j + 1 :, :j], left)
        factor[j + 1 :, j] = (hessian[j + 1 :, j] - below) / root
    sound = curvature > _ROUNDING * largest
    return factor, np.where(sound, curvature / largest, 0.0)


def _solve(factor, right):
    """Solve L L' x = right for a batch; right and x are of shape (m, B)."""
    m = len(factor)
    x = right.copy()
    for j in range(m):
        x[j] -= np.einsum("kb,kb->b", factor[j, :j], x[:j])
        x[j] /= factor[j, j]
    for j in reversed(range(m)):
        x[j] -= np.einsum("kb,kb->b", factor[j + 1 :, j], x[j + 1 :])
        x[j] /= factor[j, j]
    return x
