"""Densities of many moments from those of fewer, or from easier ones.

What a density of one or two moments less lacks of the last ones tells where to start:
it falls off too slowly, or a small mode far out supplies the rest, or nothing does and
the entropy has no maximum. On an interval the moments can also be mixed with those of
the uniform density, whose share then falls to nothing.
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
    Work,
    descend,
)
from memdlib.densities.panels import mirror
from memdlib.densities.recurrence import Recurrence
from memdlib.densities.support import gauss_legendre, powers

Array = NDArray[np.float64]

# Newton steps, and steps from moment to moment, on the way to a larger highest moment.
_SHORT, _RAISES = 40, 12
# Densities on the way from the uniform one, its share below which it is none, and how
# much that falls at first.
_MIXTURES, _LEAST_SHARE, _FIRST_FALL = 40, 1e-12, 0.3
# Misfit from which Newton's method converges at once.
_CLOSE = 1e-2
# Roundings of a moment on its way through the Gauss rule, and of a sum of it.
_ROUNDINGS, _EPSILON = 16.0, np.finfo(np.float64).eps


def solve_log_polynomials(
    nodes: Array,
    weights: Array,
    n_moments: int,
    lower: Array,
    upper: Array,
    points: Array | None = None,
    start: tuple[Recurrence, Array] | None = None,
    doubt: Array | float = 0.0,
    work: Work | None = None,
) -> LogPolynomials:
    """Find exp(-polynomial of degree m) with the moments of discrete measures.

    Parameters
    ----------
    nodes, weights : ndarray of shape (B, N)
        Measures of mean 0 and variance about 1 that have the moments asked for.
    n_moments : int
        m.
    lower, upper : ndarray of shape (B,)
        Ends of the support, finite or infinite for all rows alike.
    points : ndarray of shape (B, L), default=None
        The support itself where it is a finite set.
    start : tuple of Recurrence and ndarray of shape (B, m + 1), default=None
        On bounded supports, densities to start from where they come close.
    doubt : ndarray of shape (B, m), default=0
        Error of E u, ..., E u^m that the rounding of what was given leaves.
    work : Work, default=None
        Of the densities of more moments that these are wanted for. None where they are
        wanted for themselves: mixtures are followed then only.

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
    q, and a vanishing probability far out supplies the rest (Junk, 2000). If q has the
    m-th moment too, q is the answer. With odd m on the line that is the only case in
    which there is one, for q of m - 1 moments.
    """
    doubt = np.broadcast_to(doubt, (len(nodes), n_moments))
    counted = work or Work.of(len(nodes))
    if not np.isfinite(lower).all() and np.isfinite(upper).all():
        found = solve_log_polynomials(
            -nodes, weights, n_moments, -upper, -lower, doubt=doubt, work=counted
        )
        basis, theta = mirror(found.basis, found.theta)
        excess = (-1.0) ** n_moments * found.excess
        return replace(found, basis=basis, theta=theta, excess=excess)
    unbounded = points is None and not np.isfinite(upper[0])
    measure, ends = (nodes, weights, n_moments), (lower, upper)
    problem = Problem(*measure, *ends, points, unbounded, counted)
    if unbounded and n_moments % 2 and not np.isfinite(lower[0]):
        return _solve_odd(problem, doubt)
    # what a grid was too coarse for need not be a density here, nor need a normal
    # density on levels far apart
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        state = problem.start()
        given = None if start is None else problem.measure(*start)
    if given is not None:
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
            _extend_lower(problem, found, rows, fewer, doubt[rows])
    if work is None and points is None and not unbounded:
        for row in found.failed:
            _follow_mixture(problem, found, [row])
    return found


def _solve_odd(problem: Problem, doubt: Array) -> LogPolynomials:
    """Densities of one moment less, on the line, and whether they have the last one."""
    measure, ends = (problem.nodes, problem.weights), (problem.lower, problem.upper)
    plain = solve_log_polynomials(
        *measure,
        problem.m - 1,
        *ends,
        doubt=doubt[:, : problem.m - 1],
        work=problem.work,
    )
    basis = problem.extend(plain)
    found = _lift(problem, basis, plain.theta)
    missing, sound = problem.means(basis)[:, -1], plain.residual <= NEAR
    found.residual[~sound] = plain.residual[~sound]
    other = np.abs(missing) > _tolerance(problem, basis, doubt) + plain.residual
    found.unattained[:] = plain.unattained | (sound & other)
    excess = missing * np.prod(basis.beta, axis=1)
    found.excess[:] = np.where(plain.unattained, np.nan, excess)
    return replace(found, history=[*plain.history, *found.history])


def _lift(problem: Problem, basis: Recurrence, theta: Array) -> LogPolynomials:
    """Densities of fewer moments as those of m, with zero for the parameters beyond."""
    theta = np.pad(theta, ((0, 0), (0, problem.m + 1 - theta.shape[1])))
    problem = replace(problem, proper=False)
    state = problem.measure(basis, theta, True)
    found = descend(problem, state, np.zeros(len(theta)), 0)
    # exactly zero: the slightest leading coefficient would rise far out
    found.theta[theta == 0.0] = 0.0
    return found


def _tolerance(problem: Problem, basis: Recurrence, doubt: Array) -> Array:
    """Error of the mean of p_m that the rounding of moments leaves, shape (B,)."""
    last = np.eye(problem.m + 1)[[-1]].repeat(len(doubt), axis=0)
    size = powers(np.abs(problem.nodes), problem.m)
    size = np.einsum("bn,bnj->bj", problem.weights, size)
    share = np.abs(basis.powers(last))
    error = (share[:, 1:] * (doubt + _EPSILON * size)).sum(axis=1)
    return _ROUNDINGS * (error + _EPSILON * share[:, 0])


def _extend_lower(
    problem: Problem, found: LogPolynomials, rows, fewer: int, doubt: Array
) -> None:
    """Start from the densities of fewer moments, or see that these are all."""
    part = problem[rows]
    ends, n_moments = (part.lower, part.upper), part.m - fewer
    plain = solve_log_polynomials(
        part.nodes,
        part.weights,
        n_moments,
        *ends,
        doubt=doubt[:, :n_moments],
        work=part.work,
    )
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
    slit = sound & (others <= NEAR) & (missing[:, -1] > -NEAR)
    above = missing[:, -1] > _tolerance(part, basis, doubt) + plain.residual
    none, same = slit & above, np.flatnonzero(slit & ~above)
    found.unattained[rows] |= none
    lead = np.prod(basis.beta, axis=1)
    found.excess[rows[none]] = (missing[:, -1] * lead)[none]
    if same.size:
        found.take(rows[same], _lift(part[same], basis[same], plain.theta[same]))
    pending = np.flatnonzero(sound & ~slit & (missing[:, -1] < 0))
    _fall_off(problem, found, rows[pending], theta[pending], basis[pending])
    if fewer == 1:
        return
    for row in np.flatnonzero(sound & ~slit & ~(found.residual[rows] <= NEAR)):
        one = [row]
        for state in find_distant_mode(part[one], theta[one], basis[one]):
            solved = descend(part[one], state, np.zeros(1), 0)
            if solved.residual[0] <= NEAR:
                found.take(rows[one], solved)
                break
    pending = np.flatnonzero(sound & ~slit & ~(found.residual[rows] <= NEAR))
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


def _follow_mixture(problem: Problem, found: LogPolynomials, row: list[int]) -> None:
    """Start from the uniform density, whose share in the moments falls step by step.

    All moments on the way are possible, and each density is close to the one before.
    """
    x, mass = (part[None] for part in gauss_legendre(problem.m // 2 + 1))
    part, none = problem[row], np.zeros(1)
    half = 0.5 * (part.upper - part.lower)[:, None]
    nodes = np.hstack([part.nodes, part.lower[:, None] + half * (x + 1.0)])
    state = part.measure(part.hermite(), np.zeros((1, problem.m + 1)))
    share, fall = 1.0, _FIRST_FALL
    for _ in range(_MIXTURES):
        less = share * fall if share * fall > _LEAST_SHARE else 0.0
        weights = np.hstack([(1.0 - less) * part.weights, 0.5 * less * mass])
        mixed = replace(part, nodes=nodes, weights=weights)
        solved = descend(mixed, mixed.measure(state.basis, state.theta), none.copy())
        if not solved.residual[0] <= NEAR:
            fall **= 0.5
            continue
        if less == 0.0:
            found.take(row, solved)
            return
        state, share, fall = solved, less, min(fall**1.3, _FIRST_FALL)


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
