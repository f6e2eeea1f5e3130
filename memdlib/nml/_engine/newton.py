"""Newton's method on batches of label counts, one case a column.

The unknowns are the coefficients of the logits in an orthonormal basis. Full steps come
first, the rough ones in single precision, which takes half the time: the supremum of
the log-likelihood comes from an expansion around the last one, in double precision,
whose fourth order tells when to stop. Damped steps settle whatever full steps do not.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[np.float64]

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 4096
# Sum of w d^4 at which the expansion is exact to about 2e-14.
SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Rough steps, further ones in the first pass, and in the second.
_ROUGH, _FIRST, _SECOND = 3, 2, 6
_DAMPED_STEPS = 200
# Largest change of a logit in a damped step, beyond doubling the largest one.
_LONGEST = 3.0
# Twice the gain of a damped step, in nats, that rounding hides.
_NO_GAIN = 1e-20


class CoefficientForm:
    """Newton's method for the coefficients.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits.
    kind : type, default=numpy.float64
        Of the numbers that it calculates with.
    """

    def __init__(
        self, counts: Array, basis: Array, kind: DTypeLike = np.float64
    ) -> None:
        counts, basis = counts.astype(kind), basis.astype(kind)
        self.counts, self.basis = counts[:, None], basis
        self.weighted = np.ascontiguousarray(basis.T) * counts
        self.total = self.weighted.sum(axis=1)[:, None]
        self.products = pairs(basis)

    def begin(self, ones: Array) -> Array:
        """Coefficients of a least-squares fit."""
        logits, weight = empirical_logits(self.counts, ones)
        return solve(self.products @ weight, self.basis.T @ (weight * logits))

    def step(self, state: Array, target: Array) -> tuple[Array, ...]:
        """Change of the coefficients; 1 + exp(logits) and its inverse."""
        e = np.exp(self.basis @ state)
        e += 1.0
        q = 1.0 / e
        weight = q - q * q
        weight *= self.counts
        gradient = self.weighted @ q
        gradient += target
        gradient -= self.total
        return solve(self.products @ weight, gradient), e, q, weight

    def expand(
        self,
        state: Array,
        target: Array,
        change: Array,
        e: Array,
        q: Array,
        weight: Array,
    ) -> tuple[Array, ...]:
        """Log-likelihood; along the step: logits, their weights, and 1 - 2 mu / n."""
        value = (target * state).sum(axis=0) - self.counts[:, 0] @ np.log(e)
        return value, self.basis @ change, weight, 2.0 * q - 1.0


def maximise(
    form: CoefficientForm,
    target: Array,
    begin: Callable[[CoefficientForm, slice], Array],
) -> tuple[Array, NDArray[np.intp]]:
    """Take full Newton steps until the log-likelihood is known to rounding.

    Parameters
    ----------
    form : CoefficientForm
    target : ndarray of shape (p, B)
        Sums of the basis over the labels 1.
    begin : callable
        Takes a form in single precision and a slice of the cases, returns their start.

    Returns
    -------
    value : ndarray of shape (B,)
        Suprema of the log-likelihood, in nats.
    unsettled : ndarray
        Cases that full steps did not settle; their values mean nothing.

    Examples
    --------
    Label counts 1 and 2 at levels of 4 samples each, with logits in the ratio 1 to 2.

    >>> form = CoefficientForm(np.array([4.0, 4.0]), np.array([[1.0], [2.0]]))
    >>> value, unsettled = maximise(
    ...     form, np.array([[5.0]]), lambda form, at: form.begin(np.c_[[1.0, 2.0]])
    ... )
    >>> value.round(12).tolist(), unsettled.tolist()
    ([-5.444603595881], [])
    """
    value = np.empty(target.shape[1])
    late, states = [np.empty(0, dtype=np.intp)], []
    rough = CoefficientForm(form.counts[:, 0], form.basis, np.float32)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        for at in range(0, value.size, _BATCH):
            here = slice(at, at + _BATCH)
            aim, start = target[:, here], begin(rough, here)
            state, rough_aim = start, aim.astype(np.float32)
            for _ in range(_ROUGH):
                state = state + rough.step(state, rough_aim)[0]
            # what overflows in single precision starts where it was
            state = np.where(np.isfinite(state).all(axis=0), state, start)
            rest, state = _settle(
                form, value[here], state.astype(np.float64), aim, _FIRST
            )
            late.append(at + rest)
            states.append(state)
        rest = np.concatenate(late)
        if rest.size:
            # stragglers of all batches together: few columns cost as much as many
            part = np.empty(rest.size)
            still, _ = _settle(form, part, np.hstack(states), target[:, rest], _SECOND)
            value[rest] = part
            rest = rest[still]
    return value, rest


def _settle(
    form: CoefficientForm,
    value: Array,
    state: Array,
    target: Array,
    n_steps: int,
) -> tuple[NDArray[np.intp], Array]:
    """Write the values of the settled cases; return the others, as they stand."""
    active = np.arange(state.shape[1])
    for _ in range(n_steps):
        change, *found = form.step(state, target)
        reached, move, weight, skewness = form.expand(state, target, change, *found)
        square = move * move
        weight = weight * square
        remainder = ((weight + _LEAST * square) * square).sum(axis=0)
        left = np.flatnonzero(~((remainder < SETTLED) & np.isfinite(reached)))
        # Newton's step gains sum w d^2 / 2, the third derivative corrects it
        skewness *= move
        skewness *= -1.0 / 3.0
        skewness += 1.0
        skewness *= weight
        value[active] = reached + 0.5 * skewness.sum(axis=0)
        active = active[left]
        state = (state + change).take(left, axis=1)
        target = target.take(left, axis=1)
        if not active.size:
            break
    return active, state


def damped_newton(counts: Array, basis: Array, target: Array) -> tuple[Array, Array]:
    """Newton from zero, with steps halved until the log-likelihood grows enough.

    Parameters
    ----------
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits.
    target : ndarray of shape (p, B)
        Sums of the basis over the labels 1; interior.

    Returns
    -------
    value : ndarray of shape (B,)
        Log-likelihoods reached, in nats; suprema to rounding.
    coefficients : ndarray of shape (p, B)

    Examples
    --------
    >>> value, _ = damped_newton(np.c_[[3.0]], np.c_[[1.0]], np.array([[1.0, 2.0]]))
    >>> (np.exp(value) * 27 / 4).round(12).tolist()
    [1.0, 1.0]
    """
    products = pairs(basis)
    counts = np.broadcast_to(counts, (len(basis), target.shape[1]))
    coefficients = np.zeros_like(target)
    active = np.arange(target.shape[1])
    value = _value(counts, basis, target, coefficients)
    for _ in range(_DAMPED_STEPS):
        n, aim, state = counts[:, active], target[:, active], coefficients[:, active]
        logits = basis @ state
        mean = n * logistic(logits)
        gradient = aim - basis.T @ mean
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            change = solve(products @ (mean * logistic(-logits)), gradient)
        # weights that underflow leave no step: the likelihood is flat there
        change[:, ~np.isfinite(change).all(axis=0)] = 0.0
        # a step far beyond the logits so far would end where no weight is left
        longest = np.abs(basis @ change).max(axis=0)
        most = _LONGEST + np.abs(logits).max(axis=0)
        change *= np.minimum(1.0, most / np.maximum(longest, _LONGEST))
        slope = (gradient * change).sum(axis=0)
        length = (slope > _NO_GAIN).astype(np.float64)
        least = value[active] - 1e-15 * np.abs(value[active])
        reached = _value(n, basis, aim, state + length * change)
        while (short := reached < least + 0.1 * length * slope).any():
            halved = np.where(length[short] > 1e-6, 0.5 * length[short], 0.0)
            moved = state[:, short] + halved * change[:, short]
            reached[short] = np.where(
                halved > 0, _value(n[:, short], basis, aim[:, short], moved), np.inf
            )
            length[short] = halved
        going = length > 0
        active = active[going]
        if not active.size:
            break
        coefficients[:, active] += (length * change)[:, going]
        value[active] = reached[going]
    return value, coefficients


def _value(counts: Array, basis: Array, target: Array, coefficients: Array) -> Array:
    gain = (target * coefficients).sum(axis=0)
    return gain - (counts * np.logaddexp(0.0, basis @ coefficients)).sum(axis=0)


def logistic(logits: Array) -> Array:
    """Probabilities, to full relative precision also where they are small."""
    return np.exp(-np.logaddexp(0.0, -logits))


def empirical_logits(counts: Array, ones: Array) -> tuple[Array, Array]:
    """Logits of slightly smoothed label shares, and their inverse variances.

    Parameters
    ----------
    counts : ndarray of shape (L, 1)
    ones : ndarray of shape (L, B)

    Returns
    -------
    logits, weight : ndarray of shape (L, B)

    Examples
    --------
    >>> empirical_logits(np.array([[4.0]]), np.array([[2.0]]))
    (array([[0.]]), array([[1.15]]))
    """
    first, second = ones + 0.3, counts - ones + 0.3
    return np.log(first / second), first * second / (counts + 0.6)


def tabulated_logits(counts: Array) -> tuple[Array, Array]:
    """As `empirical_logits`, for the label counts 0, 1, .. of each level.

    Parameters
    ----------
    counts : ndarray of shape (L,)

    Returns
    -------
    logits, weight : ndarray of shape (L, N)
        The last value of a level with fewer samples than another is repeated.

    Examples
    --------
    >>> tabulated_logits(np.array([2.0, 1.0]))[0].round(2).tolist()
    [[-2.04, 0.0, 2.04], [-1.47, 1.47, 1.47]]
    """
    grid = np.minimum(np.arange(counts.max() + 1.0), counts[:, None])
    return empirical_logits(counts[:, None], grid)


def pairs(columns: Array) -> Array:
    """Products of columns i >= j, one row each, so that weighted sums are one product.

    Parameters
    ----------
    columns : ndarray of shape (L, p)

    Returns
    -------
    ndarray of shape (p * (p + 1) / 2, L)

    Examples
    --------
    >>> pairs(np.array([[2.0, 3.0]])).ravel().tolist()
    [4.0, 6.0, 9.0]
    """
    rows, others = _triangle(columns.shape[1])
    return np.ascontiguousarray((columns[:, rows] * columns[:, others]).T)


@lru_cache(maxsize=64)
def _triangle(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.tril_indices(size)


def solve(packed: Array, right: Array) -> Array:
    """Solve positive definite systems, one a column, by L D L^T.

    Parameters
    ----------
    packed : ndarray of shape (p * (p + 1) / 2, B)
        Rows of the lower triangles, one after the other.
    right : ndarray of shape (p, B)

    Returns
    -------
    ndarray of shape (p, B)

    Examples
    --------
    >>> solve(np.c_[[2.0, 1.0, 3.0]], np.c_[[3.0, 4.0]]).ravel().tolist()
    [1.0, 1.0]
    """
    size = len(right)
    row = [i * (i + 1) // 2 for i in range(size)]
    lower, solution = list(packed), list(right)
    inverse = []
    for j in range(size):
        inverse.append(1.0 / lower[row[j] + j])
        for i in range(j + 1, size):
            ratio = lower[row[i] + j] * inverse[j]
            for k in range(j + 1, i + 1):
                lower[row[i] + k] = lower[row[i] + k] - ratio * lower[row[k] + j]
            solution[i] = solution[i] - ratio * solution[j]
    for j in reversed(range(size)):
        for k in range(j + 1, size):
            solution[j] = solution[j] - lower[row[k] + j] * solution[k]
        solution[j] = solution[j] * inverse[j]
    return np.array(solution)
