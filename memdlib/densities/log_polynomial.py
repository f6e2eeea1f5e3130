"""Newton on the dual in polynomials that are orthonormal under the current density.

In that basis the Hessian is the identity: a step subtracts from the log density the
mean misfit of every polynomial times the polynomial, however narrow the density is or
however many modes it has. The nodes follow the density (see
:mod:`memdlib.densities.panels`), and the answer is checked on other ones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.panels import CHECK, STEPS, breakpoints, panel_nodes
from memdlib.densities.recurrence import Recurrence, stieltjes

Array = NDArray[np.float64]

MAX_ITERATIONS = 120
# Residual at which Newton stops, and from which on only rounding can stop it.
_EXACT, NEAR = 1e-14, 1e-8
# Leading coefficient, in its orthonormal polynomial, that is zero to rounding.
_VANISHED = 1e-10
# Evaluations of a density, a millisecond or so each, after which no step is begun.
MOST_EVALUATIONS = 3000
# Strength of the logarithmic barrier that keeps the leading coefficient of an unbounded
# end positive, to begin with and in the end, before it is dropped.
_BARRIERS = (1.0, 1e-6)


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

    def take(self, rows, other: "LogPolynomials") -> None:
        """Replace some rows; of their history the last value stays."""
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        for array, new in pairs:
            array[rows] = new
        self.history.extend(self.history[-1].copy() for _ in range(len(other.history)))
        for value, new in zip(
            self.history[-len(other.history) :], other.history, strict=True
        ):
            value[rows] = new

    def __getitem__(self, rows) -> "LogPolynomials":
        alpha, beta, *others = (array[rows] for array in self._arrays())
        history = [value[rows] for value in self.history]
        none = self.unattained[rows], self.excess[rows]
        return LogPolynomials(Recurrence(alpha, beta), *others, history, *none)

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

    def __getitem__(self, rows) -> "Work":
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

    def take(self, rows, other: "State") -> None:
        """Replace some rows."""
        for array, new in zip(self._arrays(), other._arrays(), strict=True):
            array[rows] = new

    def __getitem__(self, rows) -> "State":
        alpha, beta, *others = (array[rows] for array in self._arrays())
        return State(Recurrence(alpha, beta), *others)

    def objective(self, strength: Array) -> Array:
        """Dual objective - strength log lambda_m."""
        lead = np.where(strength > 0, self.theta[:, -1], 1.0)
        log_lead = np.log(lead) - np.log(self.basis.beta).sum(axis=1)
        return self.value - np.where(strength > 0, strength * log_lead, 0.0)

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
    proper : bool
        Whether the leading coefficient is kept positive.
    work : Work
    lowered : ndarray of shape (B,), default=None
        How much smaller the highest moment is to be.
    """

    nodes: Array
    weights: Array
    m: int
    lower: Array
    upper: Array
    points: Array | None
    proper: bool
    work: Work
    lowered: Array | None = None

    def __getitem__(self, rows) -> "Problem":
        points = None if self.points is None else self.points[rows]
        lowered = None if self.lowered is None else self.lowered[rows]
        measure = self.nodes[rows], self.weights[rows], self.m
        ends = self.lower[rows], self.upper[rows]
        rest = points, self.proper, self.work[rows], lowered
        return Problem(*measure, *ends, *rest)

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
        if self.proper and m > 2:
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
        gradient = self.means(own)
        if self.lowered is not None:
            value -= self.lowered * theta[:, -1] / np.prod(basis.beta, axis=1)
            gradient[:, -1] -= self.lowered / np.prod(own.beta, axis=1)
        return State(own, own_theta, value, gradient, rounding)

    def means(self, basis: Recurrence) -> Array:
        """Means of p_1, ..., p_m that are asked for, shape (B, m)."""
        return np.einsum("bn,jbn->bj", self.weights, basis.evaluate(self.nodes)[1:])

    def room(self) -> Array:
        """How much smaller the highest moment could be, on an unbounded support."""
        mass = self.weights
        if self.m % 2:
            mass = mass * (self.nodes - self.lower[:, None])
        total = mass.sum(axis=1)
        basis, _ = stieltjes(self.nodes, mass / total[:, None], self.m // 2)
        return total * np.prod(basis.beta, axis=1) ** 2

    def barrier(self) -> Array:
        """Strength of the barrier to begin with, shape (B,)."""
        return np.full(len(self.nodes), _BARRIERS[0] if self.proper else 0.0)

    def grid(self, basis: Recurrence, theta: Array, check: bool) -> tuple[Array, Array]:
        """Nodes and weights for densities, which counts as an evaluation of each."""
        self.work.count()
        if self.points is not None:
            return self.points, np.ones(self.points.shape)
        depths, n_nodes = (CHECK, 18) if check else (STEPS, 11)
        ends = breakpoints(basis, theta, self.lower, self.upper, depths)
        return panel_nodes(ends, self.m + n_nodes)

    def extend(self, plain: LogPolynomials) -> Recurrence:
        """Orthonormal polynomials of densities of fewer moments, up to degree m."""
        u, mass = self.grid(plain.basis, plain.theta, True)
        mass = mass * np.exp(-plain.basis.expand(plain.theta, u))
        return stieltjes(u, mass, self.m)[0]

    def check(self, state: State) -> tuple[Array, Array]:
        """Residual and duality gap on other, finer panels."""
        residual, gap = np.full((2, len(self.nodes)), np.inf)
        proper = np.isfinite(state.theta).all(axis=1)
        if self.proper:
            proper &= state.theta[:, -1] > _VANISHED
        rows = np.flatnonzero(proper)
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
        return residual, gap


# a trial step may go too far; what it yields is not a number and is not taken
@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def descend(problem: Problem, state: State, barrier: Array, limit=MAX_ITERATIONS):
    """Newton's method from a start; the barrier of each row weakens as it goes.

    Rows that have been evaluated ``MOST_EVALUATIONS`` times stay where they are.

    Parameters
    ----------
    problem : Problem
    state : State
    barrier : ndarray of shape (B,)
        Strength of the logarithmic barrier to begin with.
    limit : int, default=MAX_ITERATIONS

    Returns
    -------
    LogPolynomials
    """
    active, history = np.arange(len(barrier)), [state.value.copy()]
    for _ in range(limit):
        part, strength = state[active], barrier[active]
        gradient, curvature = _barred(part, strength)
        size = np.sqrt((gradient**2 / curvature).sum(axis=1))
        alive = (size > _EXACT) & problem.work[active].left
        if problem.proper:
            alive &= part.theta[:, -1] > 1e-4 * _VANISHED
        if not alive.any():
            break
        active, part, strength = active[alive], part[alive], strength[alive]
        size, step = size[alive], (-gradient / curvature)[alive]
        reached, moved = _step(problem[active], part, strength, step, size)
        after = np.linalg.norm(_barred(reached, strength)[0], axis=1)
        moved &= (size > NEAR) | (after < 0.5 * size)
        state.take(active[moved], reached[moved])
        history.append(state.value.copy())
        weaker = np.where(strength > _BARRIERS[1], 0.1 * strength, 0.0)
        barrier[active] = np.where(~moved | (size < 0.3), weaker, strength)
        active = active[moved | (strength > 0)]
    residual, gap = problem.check(state)
    none = np.zeros(len(barrier), dtype=bool), np.zeros(len(barrier))
    return LogPolynomials(state.basis, state.theta, residual, gap, history, *none)


def _barred(state: State, strength: Array) -> tuple[Array, Array]:
    """Gradient and Hessian (its diagonal) of the dual - strength log lambda_m."""
    gradient, curvature = state.gradient.copy(), np.ones_like(state.gradient)
    push = np.where(strength > 0, strength / state.theta[:, -1], 0.0)
    gradient[:, -1] -= push
    curvature[:, -1] += np.where(strength > 0, push / state.theta[:, -1], 0.0)
    return gradient, curvature


def _step(problem, state, strength, step, size) -> tuple[State, Array]:
    """Damped Newton step: the longest of a few that lowers the objective enough."""
    length = np.where(size < 0.3, 1.0, 1.0 / (1.0 + size))
    if problem.proper:
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
