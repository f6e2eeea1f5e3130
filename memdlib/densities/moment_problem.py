"""Matching moments on a support: the dual on a grid, checked on a finer one.

Solves for a batch of moment vectors in standard coordinates; where there is no
maximum-entropy density, it finds out why and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from memdlib.densities.newton import evaluate_dual, solve_dual
from memdlib.densities.support import Support, orthonormal_coefficients

Array = NDArray[np.float64]

# Probability of the outermost node above which a density does not end there.
_TAIL = 1e-9
# Residual of a coarse grid that is good enough not to try a finer one.
_GOOD = 1e-12
# Variance of a feature below which, and share of the largest one below which, moments
# may lie on the boundary, where there is no density.
_NARROW, _FLAT = 1e-9, 1e-12


class InfeasibleMomentsError(ValueError):
    """No density on the support has these moments, or the entropy has no maximum."""


class NotConvergedError(RuntimeError):
    """The moments were not matched to the tolerance asked for."""


@dataclass(frozen=True)
class MatchedMoments:
    """Densities exp(-constant - natural . features(u)) of a batch of B moment vectors.

    Parameters
    ----------
    natural : ndarray of shape (B, m)
    constant : ndarray of shape (B,)
    residual : ndarray of shape (B,)
        Largest moment residual, in orthonormal features, on the finer grid.
    gap : ndarray of shape (B,)
        Duality gap, in nats.
    covariance : ndarray of shape (B, m, m)
        Covariance of the orthonormal features, the Hessian of the dual.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step on the last grid, in nats.
    """

    natural: Array
    constant: Array
    residual: Array
    gap: Array
    covariance: Array
    history: Array

    @property
    def condition(self) -> Array:
        """Condition number of the covariance, shape (B,)."""
        spread = np.linalg.eigvalsh(self.covariance)
        return spread[:, -1] / np.maximum(spread[:, 0], 1e-15 * spread[:, -1])


def match_moments(
    mu: Array,
    features: Callable[[Array], Array],
    support: Support,
    n_nodes: int,
    *,
    smooth: bool,
    tol: float,
    describe: Callable[[int, int], str],
) -> MatchedMoments:
    """Find the maximum-entropy densities of a batch of moment vectors.

    Parameters
    ----------
    mu : ndarray of shape (B, m)
        E features(u), u in standard coordinates.
    features : callable
        Maps u (N,) to (N, m).
    support : Support
    n_nodes : int
        Nodes of the grid. A quarter of them is tried first; rows that a check on twice
        as many nodes finds wanting go on to all of them, and to four times as many.
    smooth : bool
        As in :meth:`memdlib.densities.support.Support.grid`.
    tol : float
        Largest residual to accept.
    describe : callable
        Name of moment j of density i, for messages: describe(i, j).

    Returns
    -------
    MatchedMoments

    Raises
    ------
    InfeasibleMomentsError, NotConvergedError
        Naming the first density in the batch that failed, the moment, and the remedy.
    """
    u, log_weights = support.grid(n_nodes, smooth=smooth)
    reference = log_weights + support.log_reference(u)
    change = orthonormal_coefficients(features(u), reference)
    start = _near_reference(features(u), change, support.log_reference(u), reference)

    def basis(size):
        u, log_weights = support.grid(size, smooth=smooth)
        return features(u) @ change[1:, 1:] + change[0, 1:], log_weights

    target = mu @ change[1:, 1:] + change[0, 1:]
    n_batch, m = target.shape
    lam, history = np.tile(start, (n_batch, 1)), np.zeros((1, n_batch))
    psi, residual, tail, gap, curvature = np.full((5, n_batch), np.inf)
    covariance = np.empty((n_batch, m, m))
    pending = np.arange(n_batch)
    for size, wanted in ((n_nodes // 4, _GOOD), (n_nodes, tol), (4 * n_nodes, tol)):
        if size <= m and support.levels is None:
            continue
        # what a coarser grid found is a start only where it came close
        close = residual[pending] < 1e-3
        first = np.where(close[:, None], lam[pending], start)
        solution = solve_dual(*basis(size), target[pending], first)
        lam[pending], gap[pending] = solution.natural, solution.gap
        covariance[pending] = solution.covariance
        curvature[pending] = solution.curvature
        history = _replace(history, solution.history, pending)
        value, mean, p = evaluate_dual(*basis(2 * size), target[pending], lam[pending])
        psi[pending] = value - (lam[pending] * target[pending]).sum(axis=1)
        residual[pending] = np.abs(target[pending] - mean).max(axis=1)
        tail[pending] = _tail_probability(support, p)
        done = residual[pending] <= wanted
        if size == n_nodes:
            done |= tail[pending] > _TAIL
        pending = pending[~done]
        if not pending.size or support.kind == "levels":
            break
    failed = ~(residual <= tol) | (tail > _TAIL)
    spread = np.einsum("bii->bi", covariance).max(axis=1)
    doubtful = failed | (spread < _NARROW) | (curvature < _FLAT)
    for row in np.flatnonzero(doubtful):
        _check_possible(
            mu[row], features, support, smooth, lambda j, i=row: describe(i, j)
        )
        if failed[row]:
            raise _failure(residual[row], tail[row], support, describe(row, -1))
    return MatchedMoments(
        natural=lam @ change[1:, 1:].T,
        constant=psi + lam @ change[0, 1:],
        residual=residual,
        gap=gap,
        covariance=covariance,
        history=history,
    )


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
    total = np.vstack([np.ones(len(features)), features[:, :j].T])
    known = np.concatenate([[1.0], mu[:j]])
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    low, high = (
        linprog(sign * features[:, j], A_eq=total, b_eq=known, options=exact)
        for sign in (1.0, -1.0)
    )
    if low.x is None or high.x is None:
        return None
    return float(low.fun), -float(high.fun)


def _replace(history: Array, new: Array, rows: NDArray[np.intp]) -> Array:
    """Put new histories in the place of those of some rows; the last value stays."""
    longest = max(len(history), len(new))
    found = np.concatenate([history, history[-1:].repeat(longest - len(history), 0)])
    found[: len(new), rows] = new
    found[len(new) :, rows] = new[-1]
    return found


def _tail_probability(support: Support, p: Array) -> Array:
    """Probability of the outermost nodes at the infinite ends."""
    if support.bounded:
        return np.zeros(len(p))
    return np.maximum(p[:, -1], p[:, 0] if support.kind == "line" else 0.0)


def _near_reference(features, change, log_reference, log_mass) -> Array:
    """Natural parameters whose log density comes closest to the reference density."""
    mass = np.exp(log_mass - log_mass.max())
    basis = features @ change[1:, 1:] + change[0, 1:]
    return -((mass * log_reference) @ basis) / mass.sum()


def _check_possible(mu, features, support, smooth, describe) -> None:
    """Raise, naming the first moment outside the range that those before it leave."""
    u = support.grid(2001, smooth=smooth)[0]
    if smooth and support.kind == "interval":
        # the ends, and the mean: the extremes of the first two power moments
        u = np.sin(0.5 * np.pi * np.linspace(-1.0, 1.0, 2001))
        u = np.append(u, np.clip(mu[0], -1.0, 1.0))
    values = features(u)
    size = np.abs(values).max(axis=0)
    for j in range(len(mu)):
        ends = possible_range(values / size, mu / size, j)
        low, high = (-np.inf, np.inf) if ends is None else size[j] * np.array(ends)
        margin = 1e-9 * (high - low) if ends else 0.0
        if not low + margin < mu[j] < high - margin:
            raise InfeasibleMomentsError(
                f"{describe(j)} = {mu[j]:.6g} must lie strictly between {low:.6g} and "
                f"{high:.6g} to occur on {support} with the moments before it; check "
                "it, use fewer moments, or smooth them towards those of a wider sample"
            )


def _failure(residual, tail, support, last) -> Exception:
    if tail > _TAIL:
        return InfeasibleMomentsError(
            f"the entropy has no maximum on {support} under these moments: {last} is "
            "too large for a density that falls off; use fewer moments or bound the "
            "support"
        )
    return NotConvergedError(
        f"the moments up to {last} were matched to {residual:.1e} only; raise n_nodes "
        "or tol, or use fewer moments"
    )
