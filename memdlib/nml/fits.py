"""Maximum likelihood of many label counts at a time, one case per column.

Full Newton steps in one orthonormal basis settle nearly all interior label counts:
their last step is so short that the expansion of the likelihood around it is exact. A
damped Newton search solves the few that are left, until each case has a certificate of
its own: a Newton step gives expected counts that are feasible for the dual problem, and
the quadratic form of the step bounds the distance to the supremum.

In this module ``ones`` (L, B) are the label counts: how many labels are 1 at each of L
levels, in each of B cases. ``counts``, the samples at each level, has shape (L, 1) if
it is the same in all cases, and (L, B) otherwise. Label counts on the boundary have no
finite maximum and are not for this module.
"""

from itertools import permutations

import numpy as np
from scipy.special import expit

from memdlib.nml.level_model import UncertifiedError

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 4096
# Full Newton steps of every case, and further ones of the cases that these leave.
_FULL_STEPS = 4
_MORE_FULL_STEPS = 6
# Sum of w d^4 at which the expansion around a step d is exact to about 2e-14.
_SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST_WEIGHT = 1e-6
# Duality gap, in nats, that ends the damped search, and its most steps.
_CLOSED_GAP = 1e-13
_DAMPED_STEPS = 100
# Factor of a damped step that lowers the likelihood, and how often it is applied.
_BACKTRACKING_FACTOR = 0.25
_BACKTRACKINGS = 60
# Largest duality gap accepted, in nats, and what rounding adds to it per sample.
_LARGEST_GAP = 1e-9
_GAP_PER_SAMPLE = 1.5e-14
# Logarithm of the weight below which a level has no influence on a step.
_LEAST_LOG_WEIGHT = -600.0


def max_log_likelihoods(model, basis, counts, ones):
    """Maximise the likelihood of each column of interior label counts.

    Parameters
    ----------
    model : LevelModel
    basis : ndarray of shape (L, p)
        Polynomials of the model, orthonormal under ``model.counts``.
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level; not necessarily those of the model, nor integers.
    ones : ndarray of shape (L, B)
        How many of these samples have the label 1; not necessarily integers.

    Returns
    -------
    value : ndarray of shape (B,)
        Largest log-likelihoods, in nats.
    coefficients : ndarray of shape (p, B)
        Where they are attained: the logits are ``basis @ coefficients``.
    error : float
        Bound of the error of each value.

    Raises
    ------
    UncertifiedError
        If a maximum cannot be certified.
    """
    value, coefficients, unsettled = _full_newton(basis, counts, ones)
    if not unsettled.size:
        return value, coefficients, _SETTLED
    counts = np.broadcast_to(counts, ones.shape)[:, unsettled]
    ones = ones[:, unsettled]
    result = _damped_newton(model, basis, counts, ones)
    value[unsettled], coefficients[:, unsettled], gap = result
    uncertain = ~(gap <= _LARGEST_GAP + _GAP_PER_SAMPLE * counts.sum(axis=0))
    if uncertain.any():
        first = uncertain.argmax()
        raise UncertifiedError(
            f"the maximum likelihood of {ones[:, first].tolist()} labels 1 among "
            f"{counts[:, first].tolist()} samples per level could not be certified; "
            "join levels that are close, or use evenly spaced values or fewer moments"
        )
    return value, coefficients, max(_SETTLED, float(gap.max()))


def _full_newton(basis, counts, ones):
    """Log-likelihoods (B,), coefficients (p, B), and the cases that are not settled."""
    n_cases = ones.shape[1]
    value = np.empty(n_cases)
    coefficients = np.empty((basis.shape[1], n_cases))
    settled = np.zeros(n_cases, dtype=bool)
    # a case whose steps go to infinity is left to the damped search
    with np.errstate(all="ignore"):
        for start in range(0, n_cases, _BATCH):
            batch = slice(start, start + _BATCH)
            n = _columns(counts, batch)
            k = ones[:, batch]
            first = _smoothed_fit(basis, n, k)
            result = _newton_steps(basis, n, k, first, _FULL_STEPS)
            value[batch], coefficients[:, batch], settled[batch] = result
        # those left of all batches together: few columns cost as much as many
        left = np.flatnonzero(~settled)
        n = _columns(counts, left)
        first = coefficients[:, left]
        result = _newton_steps(basis, n, ones[:, left], first, _MORE_FULL_STEPS)
        value[left], coefficients[:, left], settled[left] = result
    return value, coefficients, np.flatnonzero(~settled)


def _columns(counts, cases):
    """Samples at each level in some of the cases; one column stands for all cases."""
    return counts if counts.shape[1] == 1 else counts[:, cases]


def _newton_steps(basis, counts, ones, coefficients, n_steps):
    """Take full Newton steps, and tell which cases the last of them settles.

    Returns the log-likelihoods (B,) and coefficients (p, B) after the last step, and
    whether the expansion of the log-likelihood around that step is exact.
    """
    products = _column_products(basis)
    zeros = counts - ones
    for _ in range(n_steps - 1):
        logits = basis @ coefficients
        step, _, _ = _newton_step(basis, products, counts, zeros, logits)
        coefficients = coefficients + step
    logits = basis @ coefficients
    step, failure, weight = _newton_step(basis, products, counts, zeros, logits)
    before = _column_dot(ones, logits) + _column_dot(counts, np.log(failure))
    change = basis @ step
    square = change * change
    curvature = weight * square
    # Newton's step gains sum w d^2 / 2, the third derivative corrects it
    gain = 0.5 * curvature.sum(axis=0)
    gain += _column_dot(curvature, change * (1.0 - 2.0 * failure)) / 6.0
    remainder = _column_dot(curvature, square)
    remainder += _LEAST_WEIGHT * _column_dot(square, square)
    settled = (remainder < _SETTLED) & np.isfinite(before)
    return before + gain, coefficients + step, settled


def _newton_step(basis, products, counts, zeros, logits):
    """Step of the coefficients (p, B), P(0) (L, B), and weights n P(0) P(1) (L, B)."""
    # in place, as fresh memory for each operation costs more than the arithmetic
    failure = np.exp(logits)
    failure += 1.0
    np.reciprocal(failure, out=failure)
    weight = counts * failure  # the expected zeros, so far
    gradient = basis.T @ (weight - zeros)
    weight -= weight * failure
    return _solve_each(products @ weight, gradient), failure, weight


def _smoothed_fit(basis, counts, ones):
    """Coefficients (p, B) of a least-squares fit to smoothed logits of the labels."""
    smoothed_ones = ones + 0.3
    smoothed_zeros = counts - ones + 0.3
    logits = np.log(smoothed_ones / smoothed_zeros)
    weight = smoothed_ones * smoothed_zeros / (counts + 0.6)
    gram_triangles = _column_products(basis) @ weight
    return _solve_each(gram_triangles, basis.T @ (weight * logits))


def _column_products(basis):
    """Products of the columns i >= j of the basis, (p (p + 1) / 2, L).

    Times weights (L, B) these are the lower triangles of the B weighted Gram matrices.
    """
    pairs = _triangle(basis.shape[1])
    return np.array([basis[:, i] * basis[:, j] for i, j in pairs])


def _triangle(p):
    """Rows i and columns j <= i of a symmetric matrix."""
    return [(i, j) for i in range(p) for j in range(i + 1)]


def _solve_each(triangles, right):
    """Solve B positive definite systems, given by the lower triangles of matrices.

    ``triangles`` (p (p + 1) / 2, B) holds one entry of all matrices in each row and is
    overwritten; ``right`` and the solution have shape (p, B). The factors L D L^T are
    found entry by entry, for all systems at once.
    """
    p = len(right)
    pairs = _triangle(p)
    lower = dict(zip(pairs, triangles, strict=True))
    solution = right.copy()
    for j in range(p):
        inverse_pivot = 1.0 / lower[j, j]
        for i in range(j + 1, p):
            factor = lower[i, j] * inverse_pivot
            for k in range(j + 1, i + 1):
                lower[i, k] -= factor * lower[k, j]
            solution[i] -= factor * solution[j]
        lower[j, j] = inverse_pivot
    for j in reversed(range(p)):
        for k in range(j + 1, p):
            solution[j] -= lower[k, j] * solution[k]
        solution[j] *= lower[j, j]
    return solution


def _damped_newton(model, basis, counts, ones):
    """Log-likelihoods (B,), coefficients (p, B), and the duality gaps left (B,)."""
    with np.errstate(all="ignore"):
        coefficients = _smoothed_fit(basis, counts, ones)
    coefficients[~np.isfinite(coefficients)] = 0.0
    gap = np.full(ones.shape[1], np.inf)
    for _ in range(_DAMPED_STEPS):
        active = np.flatnonzero(gap > _CLOSED_GAP)
        if not active.size:
            break
        n = counts[:, active]
        k = ones[:, active]
        before = coefficients[:, active]
        logits = basis @ before
        change = _newton_change(model, n, k, logits)
        gap[active] = _duality_gap(n, logits, change)
        # the basis is orthonormal under the counts of the model
        direction = basis.T @ (model.counts[:, None] * change)
        moved = _backtrack(basis, n, k, before, direction)
        is_open = gap[active] > _CLOSED_GAP
        coefficients[:, active] = np.where(is_open, moved, before)
    value = _log_likelihood(counts, ones, basis @ coefficients)
    return value, coefficients, gap


def _duality_gap(counts, logits, change):
    """Upper bound (B,) on how far the log-likelihoods are below their suprema.

    The expected labels after a Newton step, to first order, have the moments of the
    observed ones; if they are possible at every level they are feasible for the dual
    problem, and the step's quadratic form is the gap. Elsewhere there is no bound.
    """
    expected_ones = counts * expit(logits)
    expected_zeros = counts * expit(-logits)
    shift = expected_ones * expit(-logits) * change
    feasible = ((expected_ones + shift >= 0.0) & (shift <= expected_zeros)).all(axis=0)
    return np.where(feasible, _column_dot(shift, change), np.inf)


def _backtrack(basis, counts, ones, coefficients, direction):
    """Coefficients after steps, each shortened until it lowers no likelihood."""
    before = _log_likelihood(counts, ones, basis @ coefficients)
    length = np.ones(len(before))
    for _ in range(_BACKTRACKINGS):
        moved = coefficients + length * direction
        value = _log_likelihood(counts, ones, basis @ moved)
        too_long = ~(value >= before - 1e-14 * abs(before))
        if not too_long.any():
            break
        length[too_long] *= _BACKTRACKING_FACTOR
    return moved


def _newton_change(model, counts, ones, logits):
    """Change of the logits (L, B) by a Newton step, however unequal the weights are.

    The step is found in the basis of Lagrange's polynomials at p pivots, the levels of
    large weight. In this basis small weights elsewhere cost no digits.
    """
    log_root_weight = _log_root_weight(counts, logits)
    root_weight = np.exp(log_root_weight)
    x = model.values / np.abs(model.values).max()
    pivots = _weighted_leja_points(x, log_root_weight, model)
    # each over the root weight of its pivot, for a matrix of entries of like size
    pivot_weight = np.take_along_axis(root_weight, pivots, axis=0)
    polynomials = _lagrange_polynomials(x, pivots, model.intercept) / pivot_weight
    # expected ones and zeros, each to full relative precision, as one may be tiny
    expected_ones = counts * expit(logits)
    expected_zeros = counts * expit(-logits)
    frequency = ones / counts
    residual = frequency * expected_zeros - (1.0 - frequency) * expected_ones
    # one matrix (L, p) for each case
    design = np.moveaxis(polynomials, 2, 0)
    weighted_design = design * root_weight.T[:, :, None]
    information = weighted_design.swapaxes(1, 2) @ weighted_design
    gradient = design.swapaxes(1, 2) @ residual.T[:, :, None]
    change = design @ np.linalg.solve(information, gradient)
    return change[:, :, 0].T


def _log_root_weight(counts, logits):
    """Half the logarithms of the weights n P(0) P(1), (L, B), from a lower limit on."""
    size = np.abs(logits)
    log_weight = np.log(counts) - size - 2.0 * np.log1p(np.exp(-size))
    return 0.5 * np.maximum(log_weight, _LEAST_LOG_WEIGHT)


def _weighted_leja_points(x, log_root_weight, model):
    """Indices (p, B) of p levels of large weight that are far from each other.

    Each is where the polynomial that vanishes at those before it, times the root of
    the weight, is largest.
    """
    with np.errstate(divide="ignore"):
        log_distance = np.log(np.abs(x[:, None] - x))
    score = log_root_weight
    if not model.intercept:
        score = score + np.log(np.abs(x))[:, None]
    pivots = np.empty((model.dimension, score.shape[1]), dtype=np.intp)
    for i in range(model.dimension):
        pivots[i] = score.argmax(axis=0)
        score = score + log_distance[:, pivots[i]]
    return pivots


def _lagrange_polynomials(x, pivots, intercept):
    """Polynomials of the model (L, p, B), at the p pivots exactly 0 or 1."""
    nodes = x[pivots]
    if intercept:
        lagrange = np.ones((len(x), *nodes.shape))
    else:
        lagrange = x[:, None, None] / nodes
    for i, j in permutations(range(len(nodes)), 2):
        lagrange[:, i] *= (x[:, None] - nodes[j]) / (nodes[i] - nodes[j])
    return lagrange


def _log_likelihood(counts, ones, logits):
    """Log-likelihoods (B,) at the logits (L, B), sums of terms of one sign."""
    loss = ones * np.logaddexp(0.0, -logits)
    loss += (counts - ones) * np.logaddexp(0.0, logits)
    return -loss.sum(axis=0)


def _column_dot(first, second):
    """Sum of the products of each column, without holding them."""
    return np.einsum("lb,lb->b", first, second)
