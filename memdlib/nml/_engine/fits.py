"""Maximum likelihood of many label counts at a time, one case a column.

Full Newton steps in one orthonormal basis settle nearly all interior label counts of a
model whose levels are fairly even, the first steps in single precision. A search goes
on from there, at levels of any spread, until each case has a certificate of its own.
Its unknowns are the logits at p pivot levels, those that matter for the labels at hand:
the Leja points under the weights of the likelihood, so that Newton's equations are well
conditioned. Lagrange's formula also makes expected counts feasible for the dual
problem, and their saturated log-likelihood bounds the supremum, whatever way the logits
were found.

Label counts on the boundary have no finite maximum and are not for this module.
"""

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.special import expit

from memdlib.nml._engine.lagrange import cardinals, pivot_levels, scaled
from memdlib.nml._engine.level_model import (
    LevelModel,
    NoMaximumError,
    orthonormal_basis,
)
from memdlib.nml._engine.saturated import EPSILON

Array = NDArray[np.float64]

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 8192
# Sum of w d^4 at which the expansion is exact to about 2e-14.
SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Rough steps, further ones in the first pass, and in the second.
_ROUGH, _FIRST, _SECOND = 3, 2, 6
# Duality gap, in nats, that ends a fit, and steps after which it is given up.
_CLOSED, _STEPS = 1e-14, 300
# Largest gap of a fit that counts, in nats, and what rounding adds to it for a sample.
_LARGEST_GAP, _GAP_A_SAMPLE = 1e-9, 64 * EPSILON
# Largest change of a logit in a step, beyond doubling the largest one.
_LONGEST = 3.0
# Share of the expected gain that a step must bring, its longest cut, and cuts.
_GAIN, _CUT, _CUTS = 1e-4, 0.25, 60
# Logarithm of a weight below which a level has no part in a step.
_LEAST_LOG = -600.0
# Change of a logit up to which the dual point follows it, and labels that are as good
# as none.
_NEAR, _NONE = 0.5, 1e-16


class LogitFit(NamedTuple):
    """Maximised log-likelihoods of a batch of B label counts.

    Parameters
    ----------
    log_likelihood : ndarray of shape (B,)
        Reached by ``logits``, in nats.
    logits : ndarray of shape (L, B)
        Of the labels at each level.
    gap : ndarray of shape (B,)
        How far the supremum may be above ``log_likelihood``, in nats: the duality gap,
        and what rounding of the logits does to both of its sides; inf where there is no
        certificate.
    """

    log_likelihood: Array
    logits: Array
    gap: Array


class LogitSolver:
    """Maxima for the label counts of one model that is not saturated.

    Parameters
    ----------
    model : LevelModel

    Attributes
    ----------
    basis : ndarray of shape (L, p)
        Basis of the logits, orthonormal under the counts.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.array([4, 4]), np.array([1.0, 2.0]), 1, intercept=False)
    >>> fit = LogitSolver(model).fit(np.array([[1.0], [2.0]]))
    >>> bool(np.allclose(fit.logits[1], 2 * fit.logits[0])), bool(fit.gap[0] < 1e-14)
    (True, True)
    """

    model: LevelModel
    basis: Array

    def __init__(self, model: LevelModel) -> None:
        self.model, self.basis = model, orthonormal_basis(model)

    def fit(self, ones: Array) -> LogitFit:
        """Logits of interior label counts, each with its duality gap.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        LogitFit
        """
        return fit_levels(self.model, self.model.counts[:, None], ones)

    def log_likelihood(self, ones: Array) -> Array:
        """Supremum of the log-likelihood of interior label counts.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        ndarray of shape (B,)
            Nats, to about 1e-13.

        Raises
        ------
        ValueError
            If a maximum cannot be found and certified.
        """
        return self.suprema(ones)[0]

    def suprema(self, ones: Array) -> tuple[Array, Array, float]:
        """Suprema as in `log_likelihood`, where they are, and how far off they may be.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        value : ndarray of shape (B,)
            Nats.
        state : ndarray of shape (p, B)
            Coefficients in the basis.
        doubt : float
            Nats, but for rounding: the remainder below which each expansion ended, or
            the largest gap of a certified fit.
        """
        n, doubt = self.model.counts[:, None], SETTLED
        value, state, rest = _full_steps(self.model, self.basis, n, ones)
        if rest.size:
            fit = certified(self.model, n, ones[:, rest])
            value[rest] = fit.log_likelihood
            state[:, rest] = self.basis.T @ (n * fit.logits)
            doubt = max(doubt, float(fit.gap.max()))
        return value, state, doubt


def certified(model: LevelModel, counts: Array, ones: Array) -> LogitFit:
    """Fits as by `fit_levels`, none of which has a gap that is too wide.

    Parameters
    ----------
    model, counts, ones
        As for `fit_levels`.

    Returns
    -------
    LogitFit

    Raises
    ------
    NoMaximumError
        If a gap is larger than 1e-9 nats and rounding.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.array([4, 4]), np.array([1.0, 2.0]), 1, intercept=False)
    >>> fit = certified(model, np.c_[[4.0, 4.0]], np.c_[[1.0, 2.0]])
    >>> bool(fit.gap.max() < 1e-14)
    True
    """
    fit, n = fit_levels(model, counts, ones), np.broadcast_to(counts, ones.shape)
    wrong = np.flatnonzero(~(fit.gap <= _LARGEST_GAP + _GAP_A_SAMPLE * n.sum(axis=0)))
    if wrong.size:
        first = [part[:, wrong[0]].astype(np.int64).tolist() for part in (ones, n)]
        raise NoMaximumError(
            f"the labels {first[0]} of levels with {first[1]} samples need logits that "
            "cannot be computed to the end; join levels whose values are close, or use "
            "evenly spaced values or fewer moments"
        )
    return fit


def fit_levels(model: LevelModel, counts: Array, ones: Array) -> LogitFit:
    """Maximised log-likelihoods of interior label counts, each with its certificate.

    Parameters
    ----------
    model : LevelModel
        Not saturated.
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level, in the place of those of the model.
    ones : ndarray of shape (L, B)
        Labels 1 at each level.

    Returns
    -------
    LogitFit

    Examples
    --------
    At levels 1 and 1000000 the second logit is a million times the first.

    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.array([4, 4]), np.array([1.0, 1e6]), 1, intercept=False)
    >>> value, logits, gap = fit_levels(model, np.c_[[4.0, 4.0]], np.c_[[3.0, 4.0]])
    >>> (np.exp(value) * 4**4).round(9).tolist(), logits[1].round(2).tolist()
    ([27.0], [1098612.29])
    >>> bool(gap[0] < 1e-13)
    True
    """
    counts = np.broadcast_to(counts, ones.shape)
    parts = [
        _Search(model, counts[:, at : at + _BATCH], ones[:, at : at + _BATCH]).run()
        for at in range(0, ones.shape[1], _BATCH)
    ]
    value, logits, gap = zip(*parts, strict=True)
    return LogitFit(np.concatenate(value), np.hstack(logits), np.concatenate(gap))


class _Search:
    """Damped Newton steps on one batch, one case a column."""

    def __init__(self, model: LevelModel, counts: Array, ones: Array) -> None:
        self.x, self.intercept = scaled(model.values), model.intercept
        self.model, self.p = model, model.dimension
        self.counts, self.ones = counts, ones

    def run(self) -> tuple[Array, Array, Array]:
        n_cases = self.ones.shape[1]
        value, gap = np.full(n_cases, -np.inf), np.full(n_cases, np.inf)
        found = np.zeros_like(self.ones)
        active, logits = np.arange(n_cases), self._start()
        for _ in range(_STEPS):
            n, k = self.counts[:, active], self.ones[:, active]
            mean, other = n * expit(logits), n * expit(-logits)
            log_weight = _log_weight(n, logits)
            pivots, lagrange = self._pivots(log_weight)
            # the logits that the pivots tell, so that they are of the model
            state = np.take_along_axis(logits, pivots, axis=0)
            logits = _logits(lagrange, state)
            mean, other = n * expit(logits), n * expit(-logits)
            reached = _value(n, k, logits)
            residual = k / n * other - (1.0 - k / n) * mean
            change, slope = _step(lagrange, pivots, log_weight, residual)
            move = _logits(lagrange, change)
            certificate = _dual_gap(mean, other, residual, move, pivots, lagrange)
            size = _logits(np.abs(lagrange), np.abs(state))
            lost = (4 * self.p + 4) * EPSILON * (np.abs(residual) * size).sum(axis=0)
            better = certificate + lost < gap[active]
            at = active[better]
            value[at], gap[at] = reached[better], (certificate + lost)[better]
            # a last step gains nothing, but doubles the digits of the logits
            near = np.where((np.abs(move) <= _NEAR).all(axis=0), move, 0.0)
            found[:, at] = (logits + near)[:, better]
            left = certificate > _CLOSED
            if not left.any():
                break
            active, n, k = active[left], n[:, left], k[:, left]
            logits, move = logits[:, left], move[:, left]
            logits = logits + move * _length(n, k, logits, move, slope[left])
        return value, found, gap

    def _start(self) -> Array:
        """Logits that full steps reach, or of a fit of least squares."""
        basis = orthonormal_basis(self.model)
        _, state, rest = _full_steps(self.model, basis, self.counts, self.ones)
        state[:, rest] = 0.0
        start = basis @ state
        if rest.size:
            logits, weight = empirical_logits(self.counts[:, rest], self.ones[:, rest])
            log_weight = np.log(weight)
            pivots, lagrange = self._pivots(log_weight)
            state, _ = _step(lagrange, pivots, log_weight, weight * logits)
            start[:, rest] = _logits(lagrange, state)
        return start

    def _pivots(self, log_weight: Array) -> tuple[NDArray[np.intp], Array]:
        """Pivots (p, B), and Lagrange's polynomials (L, p, B)."""
        pivots = pivot_levels(self.x, self.p, self.intercept, log_weight)
        return pivots, cardinals(self.x, self.intercept, pivots)


def _logits(lagrange: Array, state: Array) -> Array:
    return np.einsum("lpb,pb->lb", lagrange, state)


def _value(counts: Array, ones: Array, logits: Array) -> Array:
    """Log-likelihood, a sum of terms of one sign."""
    ones_cost = ones * np.logaddexp(0.0, -logits)
    return -(ones_cost + (counts - ones) * np.logaddexp(0.0, logits)).sum(axis=0)


def _log_weight(counts: Array, logits: Array) -> Array:
    size = np.abs(logits)
    found = np.log(counts) - size - 2.0 * np.log1p(np.exp(-size))
    return np.maximum(found, _LEAST_LOG)


def _step(
    lagrange: Array, pivots: NDArray[np.intp], log_weight: Array, residual: Array
) -> tuple[Array, Array]:
    """Newton's step of the logits at the pivots, and twice the gain it promises."""
    root = np.exp(0.5 * log_weight)
    own = np.take_along_axis(root, pivots, axis=0)
    scaled = lagrange * (root[:, None] / own)
    gradient = np.einsum("lpb,lb->pb", lagrange, residual) / own
    rows, columns = np.tril_indices(len(pivots))
    packed = np.einsum("lib,lib->ib", scaled[:, rows], scaled[:, columns])
    step = solve(packed, gradient)
    return step / own, (gradient * step).sum(axis=0)


def _dual_gap(
    mean: Array,
    other: Array,
    residual: Array,
    move: Array,
    pivots: NDArray[np.intp],
    lagrange: Array,
) -> Array:
    """Saturated log-likelihood of feasible expected counts less that of the logits.

    All but the pivots take Newton's step where it is short, and pure levels become pure
    where it is not; what the pivots then must be follows from the moments. Both sides
    share the sum of the logits over the labels, so that the difference is a divergence
    of expected counts from feasible ones.
    """
    pure = (residual == -mean) | (residual == other)
    short = np.abs(move) <= _NEAR
    shift = np.where(short, mean * (other / (mean + other)) * move, 0.0)
    ends = pure & ~(short & (np.abs(residual) > _NONE))
    shift = np.where(ends, residual, shift)
    rest = residual - shift
    np.put_along_axis(rest, pivots, 0.0, axis=0)
    at = np.take_along_axis(residual, pivots, axis=0)
    at = at + np.einsum("lpb,lb->pb", lagrange, rest)
    np.put_along_axis(shift, pivots, at, axis=0)
    inside = ((shift >= -mean) & (shift <= other)).all(axis=0)
    shift = np.where(inside, shift, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (mean + shift) * np.log1p(shift / mean)
        second = (other - shift) * np.log1p(-shift / other)
    # where nothing is expected, and nothing is feasible, nothing is lost
    gap = np.where(mean + shift > 0, first, 0.0)
    gap = gap + np.where(other - shift > 0, second, 0.0)
    return np.where(inside, np.maximum(gap.sum(axis=0), 0.0), np.inf)


def _length(
    counts: Array, ones: Array, logits: Array, move: Array, slope: Array
) -> Array:
    """Share of each step that raises the likelihood enough."""
    before = _value(counts, ones, logits)
    least = before - 1e-14 * (1.0 + np.abs(before))
    # where hardly a weight is left, steps go on for ever
    longest = _LONGEST + np.abs(logits).max(axis=0)
    length = np.minimum(1.0, longest / np.maximum(np.abs(move).max(axis=0), longest))
    short = np.arange(slope.size)
    for _ in range(_CUTS):
        moved = logits[:, short] + length[short] * move[:, short]
        reached = _value(counts[:, short], ones[:, short], moved)
        short = short[~(reached >= least[short] + _GAIN * (length * slope)[short])]
        if not short.size:
            break
        length[short] *= _CUT
    return length


class FullSteps:
    """Newton's method in one basis for all cases.

    Parameters
    ----------
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level, of all cases or of each.
    basis : ndarray of shape (L, p)
        Basis of the logits.
    kind : type, default=numpy.float64
        Of the numbers that it calculates with.
    """

    def __init__(
        self, counts: Array, basis: Array, kind: DTypeLike = np.float64
    ) -> None:
        self.counts, self.basis = counts.astype(kind), basis.astype(kind)
        # not in single precision, where products warn by chance on some processors
        self.total = (basis.T @ counts).astype(kind)
        self.products = pairs(self.basis)

    def of(self, cases: slice | NDArray[np.intp]) -> "FullSteps":
        """The same method for some of the cases."""
        if self.counts.shape[1] == 1:
            return self
        part = copy(self)
        part.counts, part.total = self.counts[:, cases], self.total[:, cases]
        return part

    def begin(self, ones: Array) -> Array:
        """Coefficients of a least-squares fit."""
        logits, weight = empirical_logits(self.counts, ones)
        return solve(self.products @ weight, self.basis.T @ (weight * logits))

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
        return solve(self.products @ weight, gradient), q, weight


def _full_steps(
    model: LevelModel, basis: Array, counts: Array, ones: Array
) -> tuple[Array, Array, NDArray[np.intp]]:
    """As by `maximise`; nothing is settled where the levels are too uneven."""
    if not model.moderate:
        n_cases = ones.shape[1]
        state = np.zeros((basis.shape[1], n_cases))
        return np.zeros(n_cases), state, np.arange(n_cases)
    return maximise_labels(FullSteps(counts, basis), ones)


def maximise_labels(
    form: FullSteps, ones: Array
) -> tuple[Array, Array, NDArray[np.intp]]:
    """As by `maximise`, from a least-squares fit to the labels.

    Parameters
    ----------
    form : FullSteps
    ones : ndarray of shape (L, B)
        Labels 1 at each level.

    Returns
    -------
    value, state, unsettled
        As for `maximise`.

    Examples
    --------
    Label counts 1 and 2 at levels of 4 samples each, with logits in the ratio 1 to 2.

    >>> form = FullSteps(np.c_[[4.0, 4.0]], np.c_[[1.0, 2.0]])
    >>> value, _, unsettled = maximise_labels(form, np.c_[[1.0, 2.0]])
    >>> value.round(12).tolist(), unsettled.tolist()
    ([-5.444603595881], [])
    """
    return maximise(
        form,
        form.basis.T @ ones,
        lambda rough, at: rough.begin(ones[:, at].astype(np.float32)),
    )


def maximise(
    form: FullSteps, target: Array, begin: Callable[[FullSteps, slice], Array]
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Take full Newton steps until the log-likelihood is known to rounding.

    Parameters
    ----------
    form : FullSteps
    target : ndarray of shape (p, B)
        Sums of the basis over the labels 1.
    begin : callable
        Takes a form in single precision and a slice of the cases, returns their start.

    Returns
    -------
    value : ndarray of shape (B,)
        Suprema of the log-likelihood, in nats.
    state : ndarray of shape (p, B)
        Coefficients of the maxima.
    unsettled : ndarray
        Cases that full steps did not settle; their values and coefficients mean
        nothing, and need not be finite.
    """
    value, state = np.empty(target.shape[1]), np.empty_like(target)
    late = [np.empty(0, dtype=np.intp)]
    rough = FullSteps(form.counts, form.basis, np.float32)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        for at in range(0, value.size, _BATCH):
            here = slice(at, at + _BATCH)
            aim = target[:, here].astype(np.float32)
            quick = rough.of(here)
            start = moved = begin(quick, here)
            for _ in range(_ROUGH):
                moved = moved + quick.step(moved, aim)[0]
            # what overflows in single precision starts where it was
            moved = np.where(np.isfinite(moved).all(axis=0), moved, start)
            value[here], state[:, here], rest = settle(
                form.of(here), target[:, here], moved.astype(np.float64), _FIRST
            )
            late.append(at + rest)
    # stragglers of all batches together: few columns cost as much as many
    rest = np.concatenate(late)
    value[rest], state[:, rest], still = settle(
        form.of(rest), target[:, rest], state[:, rest], _SECOND
    )
    return value, state, rest[still]


def settle(
    form: FullSteps,
    target: Array,
    start: Array,
    n_steps: int,
    settled: float = SETTLED,
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Full steps from a start, until the expansion around the last one is exact.

    Parameters
    ----------
    form : FullSteps
    target, start : ndarray of shape (p, B)
        Sums of the basis over the labels 1, and coefficients.
    n_steps : int
    settled : float, default=1e-13
        Sum of w d^4 of the last step d, whose fourth order is left out.

    Returns
    -------
    value, state, unsettled
        As for `maximise`.
    """
    value, state = np.empty(start.shape[1]), start
    active = np.arange(value.size)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        for _ in range(n_steps):
            if not active.size:
                break
            change, q, weight = form.step(start, target)
            reached = _dot(target, start) + _dot(form.counts, np.log(q))
            move = form.basis @ change
            square = move * move
            weight *= square
            remainder = _dot(weight, square) + _LEAST * _dot(square, square)
            left = np.flatnonzero(~((remainder < settled) & np.isfinite(reached)))
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


def _dot(first: Array, second: Array) -> Array:
    """Sum of the products of each column, without holding them."""
    return np.einsum("lb,lb->b", first, second)


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
        Rows of the lower triangles, one after the other; overwritten.
    right : ndarray of shape (p, B)

    Returns
    -------
    ndarray of shape (p, B)

    Examples
    --------
    >>> solve(np.c_[[2.0, 1.0, 3.0]], np.c_[[3.0, 4.0]]).ravel().tolist()
    [1.0, 1.0]
    """
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
