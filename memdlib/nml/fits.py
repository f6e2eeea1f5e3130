"""Maximum likelihood of many label counts at a time, one case a column.

Full Newton steps in one orthonormal basis settle nearly all interior label counts. A
damped search finds the others, until each case has a certificate of its own: a Newton
step gives expected counts that are feasible for the dual problem, and the quadratic
form of the step bounds how far the supremum is.

Label counts on the boundary have no finite maximum and are not for this module.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from memdlib.nml.level_model import LevelModel, UncertifiedError

Array = NDArray[np.float64]

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 8192
# Sum of w d^4 at which the expansion is exact to about 2e-14.
_SETTLED = 1e-13
# The same where coefficients, too, have ten digits.
_CLOSE = 1e-20
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Full steps before a search.
_FULL = 11
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
    n_cases = ones.shape[1]
    value, state = np.empty(n_cases), np.empty((basis.shape[1], n_cases))
    late, shared = [np.empty(0, dtype=np.intp)], counts.shape[1] == 1
    for at in range(0, n_cases, _BATCH):
        here = slice(at, at + _BATCH)
        n = counts if shared else counts[:, here]
        value[here], state[:, here], rest = _full_steps(basis, n, ones[:, here])
        late.append(at + rest)
    rest = np.concatenate(late)
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


def _products(basis: Array) -> Array:
    """Products of columns i >= j, one row each: weighted sums are one product."""
    i, j = np.tril_indices(basis.shape[1])
    return np.ascontiguousarray((basis[:, i] * basis[:, j]).T)


def _begin(basis: Array, counts: Array, ones: Array) -> Array:
    """Coefficients of a least-squares fit to smoothed logits of the labels."""
    first, second = ones + 0.3, counts - ones + 0.3
    weight = first * second / (counts + 0.6)
    right = basis.T @ (weight * np.log(first / second))
    return _solve(_products(basis) @ weight, right)


@np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore")
def _full_steps(basis, counts, ones):
    """Suprema, coefficients, and the cases that full steps did not settle."""
    products, state = _products(basis), _begin(basis, counts, ones)
    value, active = np.empty(ones.shape[1]), np.arange(ones.shape[1])
    n, k, at = counts, ones, state
    for _ in range(_FULL):
        logits = basis @ at
        q = np.exp(logits)
        q += 1.0
        np.reciprocal(q, out=q)
        other = n * q
        weight = other - other * q
        other -= n - k
        change = _solve(products @ weight, basis.T @ other)
        move = basis @ change
        square = move * move
        weight *= square
        remainder = _dot(weight, square) + _LEAST * _dot(square, square)
        at = at + change
        state[:, active] = at
        settled = remainder < _CLOSE
        settled[settled] = (q[:, settled] > 0).all(axis=0)
        if settled.any():
            done, left = np.flatnonzero(settled), np.flatnonzero(~settled)
            move, q, weight = move[:, done], q[:, done], weight[:, done]
            # Newton's step gains sum w d^2 / 2, the third derivative corrects it
            gain = 0.5 * weight.sum(axis=0) + _dot(weight, move * (1.0 - 2.0 * q)) / 6.0
            reached = _dot(k[:, done], logits[:, done]) + _dot(
                np.broadcast_to(n, k.shape)[:, done], np.log(q)
            )
            value[active[done]] = reached + gain
            active, at, k = active[left], at[:, left], k[:, left]
            n = n if n.shape[1] == 1 else n[:, left]
        if not active.size:
            break
    return value, state, active


def _search(model, basis, counts, ones):
    """Damped Newton steps: log-likelihoods, coefficients, and gaps that are left."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        state = _begin(basis, counts, ones)
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
