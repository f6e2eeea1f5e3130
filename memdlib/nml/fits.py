"""Maximum likelihood of many label counts at a time, one case a column.

Full Newton steps in one orthonormal basis settle nearly all interior label counts, the
first steps in single precision. A damped search goes on from there until each case has
a certificate of its own: a Newton step gives expected counts that are feasible for the
dual problem, and the quadratic form of the step bounds how far the supremum is.

Label counts on the boundary have no finite maximum and are not for this module.
"""

from copy import copy
from itertools import permutations

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import expit

from memdlib._types import Array, Indices
from memdlib.nml.level_model import LevelModel, UncertifiedError

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 8192
# Sum of w d^4 at which the expansion is exact to about 2e-14.
_SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Rough steps, further ones in the first pass, and in the second.
_ROUGH, _FIRST, _SECOND = 3, 2, 6
# Duality gap, in nats, that ends a search, and steps after which it is given up.
_CLOSED, _STEPS = 1e-13, 100
# Largest gap that counts, in nats, and what rounding adds to it for a sample.
_LARGEST_GAP, _GAP_A_SAMPLE = 1e-9, 1.5e-14
# Logarithm of a weight below which a level has no part in a step.
_LEAST_LOG = -600.0
# Factor of a step that lowers the likelihood, and how often it is taken.
_CUT, _CUTS = 0.25, 60


def suprema(
    model: LevelModel, basis: Array, counts: Array, ones: Array
) -> tuple[Array, Array, float]:
    """Suprema (B,), coefficients (p, B) of the maxima, and a bound of the errors."""
    value, state, rest = _full_steps(_FullSteps(counts, basis), ones)
    if not rest.size:
        return value, state, _SETTLED
    n, k = np.broadcast_to(counts, ones.shape)[:, rest], ones[:, rest]
    value[rest], state[:, rest], gap = _search(model, basis, n, k)
    wrong = np.flatnonzero(~(gap <= _LARGEST_GAP + _GAP_A_SAMPLE * n.sum(axis=0)))
    if wrong.size:
        first = [part[:, wrong[0]].astype(np.int64).tolist() for part in (k, n)]
        raise UncertifiedError(
            f"the labels {first[0]} of levels with {first[1]} samples have no certain "
            "fit; join levels that are close, or use even values or fewer moments"
        )
    return value, state, max(_SETTLED, float(gap.max()))


class _FullSteps:
    """Newton's method in one basis for all cases, in numbers of one kind."""

    def __init__(
        self, counts: Array, basis: Array, kind: DTypeLike = np.float64
    ) -> None:
        self.counts, self.basis = counts.astype(kind), basis.astype(kind)
        # not in single precision, where products warn by chance on some processors
        self.total = (basis.T @ counts).astype(kind)
        # of columns i >= j, one row each: weighted sums are one product
        i, j = np.tril_indices(basis.shape[1])
        self.products = np.ascontiguousarray((self.basis[:, i] * self.basis[:, j]).T)

    def of(self, cases: slice | Indices) -> "_FullSteps":
        """The same method for some of the cases."""
        if self.counts.shape[1] == 1:
            return self
        part = copy(self)
        part.counts, part.total = self.counts[:, cases], self.total[:, cases]
        return part

    def begin(self, ones: Array) -> Array:
        """Coefficients of a least-squares fit to smoothed logits of the labels."""
        first, second = ones + 0.3, self.counts - ones + 0.3
        weight = first * second / (self.counts + 0.6)
        right = self.basis.T @ (weight * np.log(first / second))
        return _solve(self.products @ weight, right)

    def step(self, state: Array, target: Array) -> tuple[Array, ...]:
        """Change of the coefficients; 1 - probability, and weights."""
        q = np.exp(self.basis @ state)
        q += 1.0
        np.reciprocal(q, out=q)
        other = self.counts * q
        gradient = self.basis.T @ other
        weight = np.subtract(other, other * q, out=other)
        gradient += target
        gradient -= self.total
        return _solve(self.products @ weight, gradient), q, weight


def _full_steps(form: _FullSteps, ones: Array) -> tuple[Array, Array, Indices]:
    """Suprema, coefficients, and the cases that full steps did not settle."""
    target = form.basis.T @ ones
    value, state = np.empty(target.shape[1]), np.empty_like(target)
    late = [np.empty(0, dtype=np.intp)]
    rough = _FullSteps(form.counts, form.basis, np.float32)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        for at in range(0, value.size, _BATCH):
            here = slice(at, at + _BATCH)
            aim, quick = target[:, here].astype(np.float32), rough.of(here)
            start = moved = quick.begin(ones[:, here].astype(np.float32))
            for _ in range(_ROUGH):
                moved = moved + quick.step(moved, aim)[0]
            # what overflows in single precision starts where it was
            moved = np.where(np.isfinite(moved).all(axis=0), moved, start)
            value[here], state[:, here], rest = _settle(
                form.of(here), target[:, here], moved.astype(np.float64), _FIRST
            )
            late.append(at + rest)
        # stragglers of all batches together: few columns cost as much as many
        rest = np.concatenate(late)
        value[rest], state[:, rest], still = _settle(
            form.of(rest), target[:, rest], state[:, rest], _SECOND
        )
    return value, state, rest[still]


def _settle(
    form: _FullSteps, target: Array, start: Array, n_steps: int
) -> tuple[Array, Array, Indices]:
    """Full steps from a start, until the expansion around the last one is exact."""
    value, state = np.empty(start.shape[1]), start
    active = np.arange(value.size)
    for _ in range(n_steps):
        if not active.size:
            break
        change, q, weight = form.step(start, target)
        reached = _dot(target, start) + _dot(form.counts, np.log(q))
        move = form.basis @ change
        square = move * move
        weight *= square
        remainder = _dot(weight, square) + _LEAST * _dot(square, square)
        left = np.flatnonzero(~((remainder < _SETTLED) & np.isfinite(reached)))
        # Newton's step gains sum w d^2 / 2, the third derivative corrects it
        move *= 1.0 - 2.0 * q
        gain = 0.5 * weight.sum(axis=0) + _dot(weight, move) / 6.0
        change += start
        if active.size == value.size:
            value, state = reached + gain, change
        else:
            value[active], state[:, active] = reached + gain, change
        active, form = active[left], form.of(left)
        start, target = change.take(left, axis=1), target.take(left, axis=1)
    return value, state, active


def _search(
    model: LevelModel, basis: Array, counts: Array, ones: Array
) -> tuple[Array, Array, Array]:
    """Damped Newton steps: log-likelihoods, coefficients, and gaps that are left."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        state = _FullSteps(counts, basis).begin(ones)
    state = np.where(np.isfinite(state).all(axis=0), state, 0.0)
    gap, active = np.full(ones.shape[1], np.inf), np.arange(ones.shape[1])
    for _ in range(_STEPS):
        n, k, logits = counts[:, active], ones[:, active], basis @ state[:, active]
        mean, other = n * expit(logits), n * expit(-logits)
        residual = k / n * other - (1.0 - k / n) * mean
        move = _step(model, n, logits, residual)
        change = basis.T @ (model.counts[:, None] * move)
        shift = mean * expit(-logits) * move
        feasible = ((mean + shift >= 0.0) & (shift <= other)).all(axis=0)
        gap[active] = np.where(feasible, _dot(shift, move), np.inf)
        left = gap[active] > _CLOSED
        if not left.any():
            break
        active, change, n, k = active[left], change[:, left], n[:, left], k[:, left]
        before, length = _value(n, k, logits[:, left]), np.ones(active.size)
        for _ in range(_CUTS):
            moved = state[:, active] + length * change
            short = ~(_value(n, k, basis @ moved) >= before - 1e-14 * abs(before))
            if not short.any():
                break
            length[short] *= _CUT
        state[:, active] = moved
    return _value(counts, ones, basis @ state), state, gap


def _step(model: LevelModel, counts: Array, logits: Array, residual: Array) -> Array:
    """Change of the logits by a Newton step for those at p levels of large weight."""
    # Each of these pivots, weighted Leja points, is where the polynomial that vanishes
    # at those before is largest, so that small weights elsewhere cost no digits.
    size, x = np.abs(logits), model.values / np.abs(model.values).max()
    log_weight = np.log(counts) - size - 2.0 * np.log1p(np.exp(-size))
    score = 0.5 * np.maximum(log_weight, _LEAST_LOG)
    root, pivots = np.exp(score), np.empty((model.dimension, size.shape[1]), np.intp)
    with np.errstate(divide="ignore"):
        log_distance = np.log(np.abs(x[:, None] - x))
    if not model.intercept:
        score = score + np.log(np.abs(x))[:, None]
    for row in pivots:
        row[:] = score.argmax(axis=0)
        score = score + log_distance[:, row]
    at, own = x[pivots], np.take_along_axis(root, pivots, axis=0)
    # Lagrange's polynomials over the roots of the weights, at the pivots exactly 0 or 1
    lagrange = (
        np.ones((len(x), *at.shape)) if model.intercept else x[:, None, None] / at
    )
    for i, j in permutations(range(len(at)), 2):
        lagrange[:, i] *= (x[:, None] - at[j]) / (at[i] - at[j])
    lagrange = np.moveaxis(lagrange / own, 2, 0)
    scaled = lagrange * root.T[:, :, None]
    gradient = lagrange.swapaxes(1, 2) @ residual.T[:, :, None]
    step = np.linalg.solve(scaled.swapaxes(1, 2) @ scaled, gradient)
    return (lagrange @ step)[:, :, 0].T


def _value(counts: Array, ones: Array, logits: Array) -> Array:
    """Log-likelihood, a sum of terms of one sign."""
    ones_cost = ones * np.logaddexp(0.0, -logits)
    return -(ones_cost + (counts - ones) * np.logaddexp(0.0, logits)).sum(axis=0)


def _dot(first: Array, second: Array) -> Array:
    """Sum of the products of each column, without holding them."""
    return np.einsum("lb,lb->b", first, second)


def _solve(packed: Array, right: Array) -> Array:
    """Solve positive definite systems, one a column, by L D L^T of packed rows."""
    size, solution = len(right), right.copy()
    row = [i * (i + 1) // 2 for i in range(size)]
    for j in range(size):
        inverse = 1.0 / packed[row[j] + j]
        for i in range(j + 1, size):
            ratio = packed[row[i] + j] * inverse
            for k in range(j + 1, i + 1):
                packed[row[i] + k] -= ratio * packed[row[k] + j]
            solution[i] -= ratio * solution[j]
        packed[row[j] + j] = inverse
    for j in reversed(range(size)):
        for k in range(j + 1, size):
            solution[j] -= packed[row[k] + j] * solution[k]
        solution[j] *= packed[row[j] + j]
    return solution
