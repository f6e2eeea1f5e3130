"""Densities of many moments from those of fewer.

What a density of one or two moments less lacks of the last ones tells where to start:
it falls off too slowly, or a small mode far out supplies the rest, or nothing does and
the entropy has no maximum.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.distant_mode import find_distant_mode
from memdlib.densities.log_polynomial import (
    NEAR,
    LogPolynomials,
    Problem,
    State,
    descend,
)
from memdlib.densities.panels import mirror
from memdlib.densities.recurrence import Recurrence

Array = NDArray[np.float64]

# Newton steps, and steps from moment to moment, on the way to a larger highest moment.
_SHORT, _RAISES = 40, 12
# Misfit from which Newton's method converges at once.
_CLOSE = 1e-2


def solve_log_polynomials(
    nodes: Array,
    weights: Array,
    n_moments: int,
    lower: Array,
    upper: Array,
    points: Array | None = None,
    start: tuple[Recurrence, Array] | None = None,
) -> LogPolynomials:
    """Find exp(-polynomial of degree m) with the moments of discrete measures.

    Parameters
    ----------
    nodes, weights : ndarray of shape (B, N)
        Measures of mean 0 and variance about 1 that have the moments asked for.
    n_moments : int
        m, even on the real line.
    lower, upper : ndarray of shape (B,)
        Ends of the support, finite or infinite for all rows alike.
    points : ndarray of shape (B, L), default=None
        The support itself where it is a finite set.
    start : tuple of Recurrence and ndarray of shape (B, m + 1), default=None
        On bounded supports, densities to start from where they come close.

    Returns
    -------
    LogPolynomials
        Rows that did not converge keep a large residual; the caller judges.

    Notes
    -----
    On an unbounded support let q be the density of largest entropy with m - 1 moments
    (half-line) or m - 2 (line). Where q exists, the entropy under m moments has *no*
    maximum if and only if q has the first m - 1 moments and its own m-th moment is
    smaller than the one asked for: the supremum over E u^m <= mu_m is then attained by
    q, and a vanishing probability far out supplies the rest (Junk, 2000).
    """
    if not np.isfinite(lower).all() and np.isfinite(upper).all():
        found = solve_log_polynomials(-nodes, weights, n_moments, -upper, -lower)
        basis, theta = mirror(found.basis, found.theta)
        return replace(found, basis=basis, theta=theta)
    unbounded = points is None and not np.isfinite(upper[0])
    problem = Problem(nodes, weights, n_moments, lower, upper, points, unbounded)
    state = problem.start()
    if start is not None:
        # what a grid was too coarse for need not be a density here
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            given = problem.measure(*start)
        close = np.abs(given.gradient).max(axis=1) < _CLOSE
        state.take(close, given[close])
    found = descend(problem, state, problem.barrier())
    if points is None and not unbounded and n_moments % 2 == 0:
        rows = found.failed
        if rows.size:
            far = replace(problem[rows], proper=True)
            found.take(rows, descend(far, far.start(), far.barrier()))
    for fewer in (1, 2) if np.isfinite(lower[0]) else (2,):
        rows = found.failed
        if rows.size and n_moments > fewer and points is None:
            _extend_lower(problem, found, rows, fewer)
    return found


def _extend_lower(problem: Problem, found: LogPolynomials, rows, fewer: int) -> None:
    """Start from the densities of fewer moments, or see that these are all."""
    part = problem[rows]
    ends = part.lower, part.upper
    plain = solve_log_polynomials(part.nodes, part.weights, part.m - fewer, *ends)
    basis, sound = part.extend(plain), plain.residual <= NEAR
    theta = np.pad(plain.theta, ((0, 0), (0, fewer)))
    missing = part.means(basis)
    if not problem.unbounded:
        start, chosen = _second_mode(part, theta, basis, missing, sound, fewer)
        if chosen.size:
            solved = descend(part[chosen], start, np.zeros(len(chosen)))
            found.take(rows[chosen], solved)
        return
    others = np.abs(missing[:, :-1]).max(axis=1)
    none = sound & (others <= NEAR) & (missing[:, -1] > -NEAR)
    found.unattained[rows] |= none
    lead = np.prod(basis.beta, axis=1)
    found.excess[rows[none]] = (missing[:, -1] * lead)[none]
    pending = np.flatnonzero(sound & ~none & (missing[:, -1] < 0))
    _fall_off(problem, found, rows[pending], theta[pending], basis[pending])
    if fewer == 1:
        return
    for row in np.flatnonzero(sound & ~none & ~(found.residual[rows] <= NEAR)):
        one = [row]
        for state in find_distant_mode(part[one], theta[one], basis[one]):
            solved = descend(part[one], state, np.zeros(1), 0)
            if solved.residual[0] <= NEAR:
                found.take(rows[one], solved)
                break
    pending = np.flatnonzero(sound & ~none & ~(found.residual[rows] <= NEAR))
    _raise_highest(problem, found, rows[pending], theta[pending], basis[pending])


def _fall_off(problem, found, rows, theta, basis) -> None:
    """Start from densities whose highest moment is too large.

    What is missing of the last polynomials, with the sign turned, is their coefficients
    to first order: the leading one is positive.
    """
    lead = -problem[rows].means(basis)[:, -1]
    for share in (1.0, 0.1, 0.01):
        pending = np.flatnonzero(~(found.residual[rows] <= NEAR))
        if not pending.size:
            return
        start = theta[pending]
        start[:, -1] = share * lead[pending]
        part = problem[rows[pending]]
        state = part.measure(basis[pending], start)
        _keep_better(found, rows[pending], descend(part, state, np.zeros(len(start))))


def _raise_highest(problem, found, rows, theta, basis) -> None:
    """Start from densities of a smaller highest moment, which rises step by step."""
    if not rows.size:
        return
    part, none = problem[rows], np.zeros(len(rows))
    *_, before, last = part.means(basis).T
    enough = np.prod(basis.beta, axis=1) * (last + np.abs(before))
    lowered = np.clip(enough, 0.0, 0.5 * part.room())
    part = replace(part, lowered=lowered)
    start = theta.copy()
    start[:, -1] = np.abs(before)
    solved = descend(part, part.measure(basis, start), none, _SHORT)
    for share in (0.1, 0.01):
        start[:, -1] = share * np.abs(before)
        other = descend(part, part.measure(basis, start), none, _SHORT)
        _keep_better(solved, np.arange(len(rows)), other)
    step, pending = lowered.copy(), np.flatnonzero(solved.residual <= NEAR)
    for _ in range(_RAISES):
        if not pending.size:
            return
        below = np.maximum(lowered[pending] - step[pending], 0.0)
        trial = replace(part[pending], lowered=below)
        state = trial.measure(solved.basis[pending], solved.theta[pending])
        reached = descend(trial, state, none[pending], _SHORT)
        good = reached.residual <= NEAR
        solved.take(pending[good], reached[good])
        lowered[pending[good]] = below[good]
        step[pending] *= np.where(good, 2.0, 0.3)
        done = pending[lowered[pending] == 0.0]
        found.take(rows[done], solved[done])
        pending = pending[lowered[pending] > 0.0]


def _keep_better(found, rows, other) -> None:
    better = other.residual < found.residual[rows]
    found.take(rows[better], other[better])


def _second_mode(
    problem, theta, basis, missing, sound, fewer
) -> tuple[State | None, NDArray[np.intp]]:
    """Start on an interval with a small mode that supplies what the last moments lack.

    With two moments less, R is where the next two polynomials have the ratio of what
    is missing of them; with one, R is an end of the interval.

    Returns
    -------
    start : State or None
    rows : ndarray of int
        For which such a place exists.
    """
    m = problem.m
    if fewer == 1:
        place = np.where(missing[:, -1] > 0, problem.upper, problem.lower)
    else:
        ratio = np.zeros((len(missing), 1, m + 1))
        ratio[:, 0, m - 1], ratio[:, 0, m] = -missing[:, -1], missing[:, -2]
        roots = basis.roots(ratio)[:, 0]
        side = np.sign(missing[:, -2:].prod(axis=1))
        place = side * np.nan_to_num(side[:, None] * roots, nan=-1.0).max(axis=1)
        place = np.clip(place, problem.lower, problem.upper)
    probability = missing[:, -1] / basis.evaluate(place[:, None])[m, :, 0]
    theta = theta.copy()
    depth = basis.expand(theta, place[:, None])[:, 0]
    height = np.zeros(len(place))
    for _ in range(5):
        fall = np.maximum(depth - height, 1.0)
        width = np.abs(place) / (fall if fewer == 1 else np.sqrt(fall / np.pi))
        height = np.log(width / np.maximum(probability, 1e-300))
    sound = sound & (probability > 0) & (probability < 0.1) & (depth > height + 2.0)
    rows = np.flatnonzero(sound)
    if not rows.size:
        return None, rows
    theta[:, 0] -= height
    for _ in range(fewer):
        theta -= basis.times_u(theta) / place[:, None]
    theta[:, 0] += height
    return problem[rows].measure(basis[rows], theta[rows]), rows
