"""Densities of power moments: Newton on the dual, and one homotopy to what it misses.

The densities are exponentials of polynomials. A batch on an interval or on levels is
solved on a grid that all share; where that is too coarse, and on unbounded supports, in
polynomials that are orthonormal under the current density. There the Hessian is the
identity: a step subtracts from the log density the mean misfit of every polynomial
times the polynomial, however narrow the density is or however many modes it has. The
nodes follow the density, and the answer is checked on other ones.

Where Newton's method does not converge, a density is followed: its own moments are
mixed with those asked for, and its share falls to nothing. It starts from the density
of one or two moments less, whose misfit also tells whether there is a maximum of
entropy and where a small mode far out supplies what is missing; or else from a normal
or exponential density.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import jn_zeros

from memdlib._types import Index
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
    solve_dual,
)
from memdlib.densities.recurrence import Recurrence, stieltjes
from memdlib.densities.support import (
    CHECK,
    STEPS,
    Support,
    breakpoints,
    mirror,
    panel_nodes,
    powers,
)

Array = NDArray[np.float64]

# Residual of a shared grid, and bound of its quadrature, that are good enough.
_GOOD = 1e-12
# Newton steps in all, and for each density on the way.
MAX_ITERATIONS, _SHORT = 120, 25
# Residual at which Newton stops, and from which on only rounding can stop it.
_EXACT, NEAR = 1e-14, 1e-8
# Leading coefficient, in its orthonormal polynomial, that is zero to rounding.
_VANISHED = 1e-10
# Evaluations of a density, a millisecond or so each, after which no step is begun.
MOST_EVALUATIONS = 3000
# Strength of the logarithmic barrier that keeps the leading coefficient of an unbounded
# end positive, to begin with and in the end, before it is dropped.
_BARRIERS = (1.0, 1e-6)
# Share of the start below which it is none, and the ratio of two shares, one to the
# next, from which on a density is not followed.
_LEAST_SHARE, _SLOWEST = 1e-12, 0.999
# Misfit from which Newton's method converges at once, and up to which a density is
# close enough to be followed.
_CLOSE, _FAIR = 1e-2, 2.0
# Distances at which a mode is looked for, its largest probability to start with, and
# the share of its distance that is its.
_PLACES, _SMALL, _REACH = np.geomspace(2.0, 1e5, 800), 0.05, 0.3
# First zero of the Bessel function J_0.
_BESSEL_ZERO = float(jn_zeros(0, 1)[0])
# Roundings of a moment on its way through the Gauss rule, and of a sum of it.
_ROUNDINGS, _EPSILON = 16.0, np.finfo(np.float64).eps


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


@dataclass(frozen=True)
class LogPolynomials:
    """Densities exp(-sum theta_j p_j(u)) of a batch of B moment vectors.

    Parameters
    ----------
    basis : Recurrence
        Polynomials p_j, orthonormal under the densities themselves.
    theta : ndarray of shape (B, m + 1)
    residual : ndarray of shape (B,)
        Largest difference between the means of p_j and those asked for, on panels of
        its own; infinite where an end of the density is improper.
    gap : ndarray of shape (B,)
        Duality gap, in nats.
    history : list of ndarray of shape (B,)
        Dual objective before each step.
    unattained : ndarray of bool, shape (B,)
        Whether the entropy is known to have no maximum.
    excess : ndarray of shape (B,)
        By how much the highest moment is larger than that of the density of fewer
        moments, where there is no maximum.
    """

    basis: Recurrence
    theta: Array
    residual: Array
    gap: Array
    history: list[Array]
    unattained: NDArray[np.bool_]
    excess: Array

    @property
    def failed(self) -> NDArray[np.intp]:
        """Rows that may still be solved from another start."""
        return np.flatnonzero(~(self.residual <= NEAR) & ~self.unattained)

    def take(
        self, rows: Index, other: "LogPolynomials", chosen: Index = slice(None)
    ) -> None:
        """Replace some rows; of their history the last value stays."""
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        for array, new in pairs:
            array[rows] = new[chosen]
        self.history.extend(self.history[-1].copy() for _ in other.history)
        for value, new in zip(
            self.history[-len(other.history) :], other.history, strict=True
        ):
            value[rows] = new[chosen]

    def _arrays(self):
        return self.basis.alpha, self.basis.beta, self.theta, self.residual, self.gap


@dataclass(frozen=True)
class Work:
    """Evaluations so far of the densities of a batch, counted by all its parts.

    Parameters
    ----------
    spent : ndarray of int, shape (B,)
    rows : ndarray of int
        Which of them the part holds.
    """

    spent: NDArray[np.intp]
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, n_densities: int) -> "Work":
        """No work so far."""
        return cls(np.zeros(n_densities, dtype=np.intp), np.arange(n_densities))

    def __getitem__(self, rows: Index) -> "Work":
        return Work(self.spent, self.rows[rows])

    def count(self) -> None:
        """Count one evaluation of each density."""
        self.spent[self.rows] += 1

    @property
    def left(self) -> NDArray[np.bool_]:
        """Which densities may be evaluated once more."""
        return self.spent[self.rows] < MOST_EVALUATIONS


@dataclass
class State:
    """Where the solver stands: normalised densities in their own polynomials."""

    basis: Recurrence
    theta: Array
    value: Array
    gradient: Array
    rounding: Array

    def take(self, rows: Index, other: "State") -> None:
        """Replace some rows."""
        for array, new in zip(self._arrays(), other._arrays(), strict=True):
            array[rows] = new

    def __getitem__(self, rows: Index) -> "State":
        alpha, beta, *others = (array[rows] for array in self._arrays())
        return State(Recurrence(alpha, beta), *others)

    def objective(self, strength: Array) -> Array:
        """Dual objective - strength log lambda_m."""
        lead = np.where(strength > 0, self.theta[:, -1], 1.0)
        log_lead = np.log(lead) - np.log(self.basis.beta).sum(axis=1)
        return self.value - np.where(strength > 0, strength * log_lead, 0.0)

    def newton(self, strength: Array) -> tuple[Array, Array]:
        """Newton's steps for this objective, and their lengths."""
        step, curvature = -self.gradient, np.ones_like(self.gradient)
        barred = strength > 0
        push = strength / np.where(barred, self.theta[:, -1], 1.0)
        step[:, -1] += push
        curvature[:, -1] += push**2 / np.where(barred, strength, 1.0)
        return step / curvature, np.sqrt((step**2 / curvature).sum(axis=1))

    def _arrays(self):
        basis = self.basis.alpha, self.basis.beta
        return *basis, self.theta, self.value, self.gradient, self.rounding


@dataclass(frozen=True)
class Problem:
    """Moments asked for of a batch of B densities.

    Parameters
    ----------
    nodes, weights : ndarray of shape (B, N)
        Measures of mean 0 and variance about 1 that have these moments.
    m : int
        Number of moments.
    lower, upper : ndarray of shape (B,)
        Ends of the support.
    points : ndarray of shape (B, L) or None
        The support itself where it is a finite set.
    work : Work
    """

    nodes: Array
    weights: Array
    m: int
    lower: Array
    upper: Array
    points: Array | None
    work: Work

    def __getitem__(self, rows: Index) -> "Problem":
        points = None if self.points is None else self.points[rows]
        measure = self.nodes[rows], self.weights[rows], self.m
        ends = self.lower[rows], self.upper[rows]
        return Problem(*measure, *ends, points, self.work[rows])

    @property
    def unbounded(self) -> bool:
        return self.points is None and not np.isfinite(self.upper[0])

    def start(self) -> State:
        """Start from a normal or exponential density, a little bent if it must be."""
        m = self.m
        theta = np.zeros((len(self.nodes), m + 1))
        if m > 1:
            theta[:, 2] = np.sqrt(0.5)
        else:
            theta[:, 1] = 1.0
        if self.unbounded and m > 2:
            theta[:, m] += 0.01
        return self.measure(self.hermite(), theta)

    def hermite(self) -> Recurrence:
        """Polynomials that are orthonormal under a normal density."""
        n_batch, m = len(self.nodes), self.m
        beta = np.sqrt(np.arange(1.0, m + 1)) + np.zeros((n_batch, 1))
        return Recurrence(np.zeros((n_batch, m)), beta)

    def measure(self, basis: Recurrence, theta: Array, check: bool = False) -> State:
        """Normalise densities, and go over to their own polynomials."""
        u, mass = self.grid(basis, theta, check)
        linear = basis.expand(theta, u)
        least = linear.min(axis=1, keepdims=True)
        mass = mass * np.exp(least - linear)
        total = mass.sum(axis=1, keepdims=True)
        mass /= total
        constant = np.log(total) - least
        given = (self.weights * basis.expand(theta, self.nodes)).sum(axis=1)
        value = constant[:, 0] + given
        rounding = 1e-15 * (1.0 + np.abs(constant[:, 0]) + np.abs(theta).sum(axis=1))
        own, values = stieltjes(u, mass, self.m)
        own_theta = np.einsum("bn,jbn->bj", mass * (linear + constant), values)
        return State(own, own_theta, value, self.means(own), rounding)

    def means(self, basis: Recurrence) -> Array:
        """Means of p_1, ..., p_m that are asked for, shape (B, m)."""
        return np.einsum("bn,jbn->bj", self.weights, basis.evaluate(self.nodes)[1:])

    def grid(self, basis: Recurrence, theta: Array, check: bool) -> tuple[Array, Array]:
        """Nodes and weights for densities, which counts as an evaluation of each."""
        self.work.count()
        if self.points is not None:
            return self.points, np.ones(self.points.shape)
        depths, n_nodes = (CHECK, 18) if check else (STEPS, 11)
        ends = breakpoints(basis, theta, self.lower, self.upper, depths)
        return panel_nodes(ends, self.m + n_nodes)

    def mix(self, nodes: Array, weights: Array, share: Array) -> "Problem":
        """Moments of which other measures have a share."""
        share = share[:, None]
        weights = np.hstack([(1.0 - share) * self.weights, share * weights])
        return replace(self, nodes=np.hstack([self.nodes, nodes]), weights=weights)

    def extend(self, plain: LogPolynomials) -> Recurrence:
        """Orthonormal polynomials of densities of fewer moments, up to degree m."""
        u, mass = self.grid(plain.basis, plain.theta, True)
        mass = mass * np.exp(-plain.basis.expand(plain.theta, u))
        return stieltjes(u, mass, self.m)[0]

    def lift(self, basis: Recurrence, theta: Array) -> LogPolynomials:
        """Densities of fewer moments as those of m, with zero for the others."""
        theta = np.pad(theta, ((0, 0), (0, self.m + 1 - theta.shape[1])))
        state = self.measure(basis, theta, True)
        found = self.check(state, [state.value], False)
        # exactly zero: the slightest leading coefficient would rise far out
        found.theta[theta == 0.0] = 0.0
        return found

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def check(self, state: State, history: list[Array], proper: bool) -> LogPolynomials:
        """Residual and duality gap on other, finer panels.

        Parameters
        ----------
        state : State
            Replaced by what these panels make of it.
        history : list of ndarray of shape (B,)
        proper : bool
            Whether the leading coefficient must be positive.

        Returns
        -------
        LogPolynomials
        """
        residual, gap = np.full((2, len(self.nodes)), np.inf)
        sound = np.isfinite(state.theta).all(axis=1)
        if proper:
            sound &= state.theta[:, -1] > _VANISHED
        rows = np.flatnonzero(sound)
        if rows.size:
            part = self[rows]
            found = part.measure(state.basis[rows], state.theta[rows], True)
            # a distant mode makes the own polynomials insensitive: standard ones too
            standard = part.hermite()
            change = found.basis.coefficients(standard)[:, 1:, 1:]
            moments = np.einsum("bij,bj->bi", change, found.gradient)
            square = standard.evaluate(part.nodes)[1:] ** 2
            size = np.sqrt(np.einsum("bn,jbn->bj", part.weights, square))
            moments = np.abs(moments) / np.maximum(size, 1.0)
            own = np.abs(found.gradient).max(axis=1)
            residual[rows] = np.maximum(own, moments.max(axis=1))
            gap[rows] = np.abs((found.theta[:, 1:] * found.gradient).sum(axis=1))
            state.take(rows, found)
        none = np.zeros(len(residual), dtype=bool), np.zeros(len(residual))
        return LogPolynomials(state.basis, state.theta, residual, gap, history, *none)


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
        Of the densities of more moments that these are wanted for.

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
    work = work or Work.of(len(nodes))
    if not np.isfinite(lower).all() and np.isfinite(upper).all():
        found = solve_log_polynomials(
            -nodes, weights, n_moments, -upper, -lower, doubt=doubt, work=work
        )
        basis, theta = mirror(found.basis, found.theta)
        excess = (-1.0) ** n_moments * found.excess
        return replace(found, basis=basis, theta=theta, excess=excess)
    problem = Problem(nodes, weights, n_moments, lower, upper, points, work)
    unbounded, line = problem.unbounded, not np.isfinite(lower[0])
    if unbounded and n_moments % 2 and line:
        return _solve_odd(problem, doubt)
    # what a grid was too coarse for need not be a density here, nor need a normal
    # density on levels far apart
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        plain = problem.start()
        given = None if start is None else problem.measure(*start)
    state = plain[np.arange(len(nodes))]
    if given is not None:
        close = np.abs(given.gradient).max(axis=1) < _CLOSE
        state.take(close, given[close])
    history = descend(problem, state, barred=unbounded)
    found = problem.check(state, history, unbounded)
    for fewer in (2,) if line else (1, 2):
        rows = found.failed
        if unbounded and n_moments > fewer and rows.size:
            _extend_lower(problem, found, rows, fewer, doubt[rows])
    follow(problem, found, found.failed, plain[found.failed])
    return found


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def follow(
    problem: Problem, found: LogPolynomials, rows: NDArray[np.intp], state: State
) -> None:
    """Follow densities from a start to the moments asked for, at once if it can be.

    Parameters
    ----------
    problem : Problem
    found : LogPolynomials
        Takes what is reached.
    rows : ndarray of int, shape (R,)
        Of the problem.
    state : State
        Of R densities to start from; their own moments are those to begin with.

    Returns
    -------
    None
        What is reached stands in ``found``.
    """
    nodes, weights = state.basis.gauss()
    share, ratio, active = np.ones(len(rows)), np.zeros(len(rows)), np.arange(len(rows))
    while active.size:
        part, less = problem[rows[active]], share[active] * ratio[active]
        less[less < _LEAST_SHARE] = 0.0
        mixed = part.mix(nodes[active], weights[active], less)
        trial = mixed.measure(state.basis[active], state.theta[active])
        history = descend(mixed, trial, _SHORT)
        solved = mixed.check(trial, history, problem.unbounded)
        good = solved.residual <= NEAR
        there = good & (less == 0)
        found.take(rows[active[there]], solved, there)
        state.take(active[good], trial[good])
        share[active[good]] = less[good]
        slower = np.sqrt(np.maximum(ratio[active], 0.05))
        ratio[active] = np.where(good, ratio[active] ** 1.5, slower)
        active = active[~there & part.work.left & (ratio[active] < _SLOWEST)]


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
    found = problem.lift(basis, plain.theta)
    missing, sound = problem.means(basis)[:, -1], plain.residual <= NEAR
    found.residual[~sound] = plain.residual[~sound]
    other = np.abs(missing) > _tolerance(problem, basis, doubt) + plain.residual
    found.unattained[:] = plain.unattained | (sound & other)
    excess = missing * np.prod(basis.beta, axis=1)
    found.excess[:] = np.where(plain.unattained, np.nan, excess)
    return replace(found, history=[*plain.history, *found.history])


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
    others, last = np.abs(missing[:, :-1]).max(axis=1), missing[:, -1]
    slit = sound & (others <= NEAR) & (last > -NEAR)
    above = last > _tolerance(part, basis, doubt) + plain.residual
    none, same = slit & above, np.flatnonzero(slit & ~above)
    found.unattained[rows] |= none
    found.excess[rows[none]] = (last * np.prod(basis.beta, axis=1))[none]
    if same.size:
        found.take(rows[same], part[same].lift(basis[same], plain.theta[same]))
    sound &= ~slit & ((last < 0) | (fewer == 2))
    for row in np.flatnonzero(sound & (last >= 0)):
        one = part[[row]]
        for start in _distant_modes(one, theta[[row]], basis[[row]]):
            if not found.residual[rows[row]] <= NEAR:
                follow(problem, found, rows[[row]], one.measure(*start))
    # what is missing of the last polynomial, with the sign turned, is its coefficient
    # to first order; a positive one otherwise, of the size of the one before; or less
    theta[:, -1] = np.where(last < 0, -last, np.abs(missing[:, -min(2, part.m)]))
    for lead in theta[:, -1] * np.array([[1.0], [0.1], [0.01]]):
        theta[:, -1] = lead
        near = np.flatnonzero(sound & ~(found.residual[rows] <= NEAR))
        if near.size:
            start = part[near].measure(basis[near], theta[near])
            fair = np.linalg.norm(start.gradient, axis=1) < _FAIR
            follow(problem, found, rows[near[fair]], start[fair])


def _tolerance(problem: Problem, basis: Recurrence, doubt: Array) -> Array:
    """Error of the mean of p_m that the rounding of moments leaves, shape (B,)."""
    last = np.eye(problem.m + 1)[[-1]].repeat(len(doubt), axis=0)
    size = powers(np.abs(problem.nodes), problem.m)
    size = np.einsum("bn,bnj->bj", problem.weights, size)
    share = np.abs(basis.powers(last))
    error = (share[:, 1:] * (doubt + _EPSILON * size)).sum(axis=1)
    return _ROUNDINGS * (error + _EPSILON * share[:, 0])


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _distant_modes(
    problem: Problem, theta: Array, basis: Recurrence
) -> list[tuple[Recurrence, Array]]:
    """Densities with a small mode far out that supplies what is missing, nearly.

    Next to moments without a maximum of entropy the density has a mode of a vanishing
    probability p at a distant place R, so narrow that natural parameters are no
    coordinates for it: a step that moves it by a hundred of its widths changes the log
    density at its old place by thousands. So R is found by bisection, under the linear
    response of the bulk, and the bulk is then measured anew.

    Parameters
    ----------
    problem : Problem
        Of one row, on an unbounded support.
    theta : ndarray of shape (1, m + 1)
        The density of m - 2 moments.
    basis : Recurrence
        Its orthonormal polynomials, up to degree m.

    Returns
    -------
    list of tuple of Recurrence and ndarray of shape (1, m + 1)
        To be followed, or none.
    """
    found = []
    right, left = _PLACES < problem.upper[0], -_PLACES > problem.lower[0]
    for places in (_PLACES[right], -_PLACES[left]):
        for low, high in _brackets(_supply(problem, theta, basis, places)[0], places):
            bulk, own, place = theta, basis, low
            for _ in range(4):
                for _ in range(4):
                    places = np.linspace(low, high, 100)
                    lack, *rest = _supply(problem, bulk, own, places)
                    ends = _brackets(lack, places)
                    if not ends:
                        break
                    low, high = min(ends, key=lambda pair: abs(pair[0] - place))
                if not ends:
                    break
                before, lead, probability = (x[places == low][0] for x in rest)
                whole = bulk.copy()
                whole[0, -2:] += before, lead
                start, place = (own, whole), low
                low, high = 0.7 * place, 1.4 * place
                u, mass = problem.grid(own, whole, True)
                mass = mass * np.exp(-own.expand(whole, u))
                mass[np.abs(1.0 - u / place) < _REACH] = 0.0
                total = mass.sum()
                other, _ = stieltjes(u, mass / total, problem.m)
                bulk = np.einsum("bj,bjk->bk", whole, other.coefficients(own))
                bulk[0, 0] += np.log(total)
                gain = probability * other.evaluate(np.full((1, 1), place))[1:-2, 0, 0]
                bulk[0, 1:-2] -= problem.means(other)[0, :-2] - gain
                own = other
            else:
                found.append(start)
    return found


def _brackets(values: Array, places: Array) -> list[tuple[float, float]]:
    """Neighbouring places between which values change their sign."""
    change = np.flatnonzero(values[1:] * values[:-1] <= 0)
    return list(zip(places[change], places[change + 1], strict=True))


def _supply(problem: Problem, theta: Array, basis: Recurrence, place: Array):
    """What a mode at a place lacks of the moment m - 1 if it supplies the last one.

    The last two coefficients change so that the polynomial has the value H and the
    slope zero at R. In the bulk that lowers the means of their polynomials by as much,
    and the mode adds p times their values at R.

    Returns
    -------
    lack, before, lead, probability : ndarray of shape (K,)
        ``nan`` where there is no such mode; changes of the last two coefficients; p.
    """
    missing, unit = problem.means(basis)[0, -2:], np.eye(problem.m + 1)[-2:]
    two = Recurrence(basis.alpha.repeat(2, 0), basis.beta.repeat(2, 0))
    slope, slopes = basis.differentiate(theta), two.differentiate(unit)
    values = basis.evaluate(place[None])[:, 0]
    own, own_slope, own_bend = (
        (each @ values)[0] for each in (theta, slope, basis.differentiate(slope))
    )
    (f, g), (df, dg), (ddf, ddg) = (
        each @ values for each in (unit, slopes, two.differentiate(slopes))
    )
    depth = np.full(place.shape, 10.0)
    for _ in range(60):
        rise = depth - own
        before = (rise * dg + own_slope * g) / (f * dg - g * df)
        lead = -(f * own_slope + df * rise) / (f * dg - g * df)
        probability = (missing[1] + lead) / g
        bend = own_bend + before * ddf + lead * ddg
        wanted = np.log(np.sqrt(2.0 * np.pi / bend) / probability)
        depth = np.where(np.isfinite(wanted), 0.5 * (depth + wanted), depth)
    fair = (probability > 0) & (probability < _SMALL) & (bend > 0)
    lack = missing[0] + before - probability * f
    return np.where(fair, lack, np.nan), before, lead, probability


# a trial step may go too far; what it yields is not a number and is not taken
@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def descend(
    problem: Problem, state: State, limit: int = MAX_ITERATIONS, *, barred: bool = False
) -> list[Array]:
    """Newton's method from a start, which moves; a barrier weakens as it goes.

    Rows that have been evaluated ``MOST_EVALUATIONS`` times stay where they are.

    Parameters
    ----------
    problem : Problem
    state : State
    limit : int, default=MAX_ITERATIONS
    barred : bool, default=False
        Whether a barrier keeps the leading coefficient off zero to begin with.

    Returns
    -------
    list of ndarray of shape (B,)
        Dual objective before each step.
    """
    active, history = np.arange(len(state.value)), [state.value.copy()]
    barrier = np.full(len(state.value), _BARRIERS[0] if barred else 0.0)
    for _ in range(limit):
        part, strength = state[active], barrier[active]
        step, size = part.newton(strength)
        alive = (size > _EXACT) & problem[active].work.left
        if problem.unbounded:
            alive &= part.theta[:, -1] > 1e-4 * _VANISHED
        if not alive.any():
            break
        active, part, strength = active[alive], part[alive], strength[alive]
        step, size = step[alive], size[alive]
        reached, moved = _step(problem[active], part, strength, step, size)
        after = reached.newton(strength)[1]
        moved &= (size > NEAR) | (after < 0.5 * size)
        state.take(active[moved], reached[moved])
        history.append(state.value.copy())
        weaker = np.where(strength > _BARRIERS[1], 0.1 * strength, 0.0)
        barrier[active] = np.where(~moved | (size < 0.3), weaker, strength)
        active = active[moved | (strength > 0)]
    return history


def _step(problem, state, strength, step, size) -> tuple[State, Array]:
    """Damped Newton step: the longest of a few that lowers the objective enough."""
    length = np.where(size < 0.3, 1.0, 1.0 / (1.0 + size))
    if problem.unbounded:
        # the leading coefficient stays positive
        fall = np.maximum(-step[:, -1], 1e-300)
        length = np.minimum(length, 0.9 * state.theta[:, -1] / fall)
    pending, reached = np.arange(len(size)), state[np.arange(len(size))]
    before = state.objective(strength)
    for _ in range(40):
        part = state[pending]
        theta = part.theta.copy()
        theta[:, 1:] += length[pending, None] * step[pending]
        trial = problem[pending].measure(part.basis, theta)
        enough = before[pending] - 1e-4 * length[pending] * size[pending] ** 2
        good = trial.objective(strength[pending]) <= enough + part.rounding
        reached.take(pending[good], trial[good])
        pending = pending[~good]
        if not pending.size:
            break
        length[pending] *= 0.5
    moved = np.ones(len(size), dtype=bool)
    moved[pending] = False
    return reached, moved


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


def _integrate(features: Array, log_weights: Array, natural: Array) -> tuple[Any, ...]:
    """Log-normalisers and moments by Gauss's rule on [-1, 1], and bounds of its error.

    A polynomial of degree m that is within h of a number on the interval is within
    h rho^m of it on the ellipse of Bernstein, an orthonormal one grows to
    sqrt(2m + 1) rho^m, and Gauss's rule errs by 64/15 M rho^(-2n) / (1 - rho^-2) where
    the integrand is M at most (Trefethen, Approximation Theory, theorem 19.3). That
    holds for every rho > 1; rho^m = (2n / m - 1) / h makes the bound small. The error
    is a share of the mass.

    The number is the middle of the values at the nodes, from which they are s away at
    most, and h = s / cos(m j_0 / (n + 1/2)), where j_0 is the first zero of the Bessel
    function J_0: a trigonometric polynomial of degree m falls from its largest size no
    faster than a cosine (M. Riesz), and every t is within j_0 / (n + 1/2) of the angle
    t_k of a node cos(t_k), or of -t_k. For that bounds the least t_k (DLMF, 18.16.6),
    and the others are pi / (n + 1/2) apart at most (Sturm). Where m j_0 is more than
    pi / 2 (n + 1/2), nothing bounds h, and the error is one.
    """
    n, m = features.shape
    linear = natural @ features.T
    least = linear.min(axis=1)
    spread = 0.5 * (linear.max(axis=1) - least)
    half = spread / np.cos(min(_BESSEL_ZERO * m / (n + 0.5), 0.5 * np.pi))
    p = np.exp(np.subtract(least[:, None], linear, out=linear), out=linear)
    p *= np.exp(log_weights)
    mass = p.sum(axis=1)
    growth = np.maximum((2.0 * n / m - 1.0) / np.maximum(half, 1e-3), 1.05)
    log_rho = np.log(growth) / m
    bound = half * growth - spread - (2.0 * n - m) * log_rho
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
