"""Certified maximum likelihood of label counts, at levels of any spread.

The unknowns are the logits at p pivot levels. The pivots of each step are those that
matter for the labels at hand, the Leja points under the weights of the likelihood, so
that Newton's equations are well conditioned. Lagrange's formula also makes expected
counts feasible for the dual problem: their saturated log-likelihood bounds the
supremum, whatever way the logits were found.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from memdlib.nml._engine.lagrange import cardinals, pivot_levels, scaled
from memdlib.nml._engine.level_model import LevelModel
from memdlib.nml._engine.newton import empirical_logits, solve
from memdlib.nml._engine.saturated import EPSILON

Array = NDArray[np.float64]

# Cases at a time.
_BATCH = 4096
# Duality gap, in nats, that ends a fit, and steps after which it is given up.
_CLOSED, _STEPS = 1e-14, 300
# Largest change of a logit in a step, beyond doubling the largest one.
_LONGEST = 3.0
# Share of the expected gain that a step must bring, its longest cut, and cuts.
_GAIN, _CUT, _CUTS = 1e-4, 0.25, 60
# Logarithm of a weight below which a level has no part in a step.
_LEAST_LOG = -600.0
# Change of a logit up to which the dual point follows it, and labels that are as good
# as none.
_NEAR, _NONE = 0.5, 1e-16


def fit_levels(
    model: LevelModel, counts: Array, ones: Array
) -> tuple[Array, Array, Array]:
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
    log_likelihood : ndarray of shape (B,)
        Reached by the logits, in nats.
    logits : ndarray of shape (L, B)
    gap : ndarray of shape (B,)
        How far the supremum may be from it, in nats: the duality gap, and what rounding
        of the logits does to both of its sides; inf where there is no certificate.

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
    return np.concatenate(value), np.hstack(logits), np.concatenate(gap)


class _Search:
    """Damped Newton steps on one batch, one case a column."""

    def __init__(self, model: LevelModel, counts: Array, ones: Array) -> None:
        self.x, self.intercept = scaled(model.values), model.intercept
        self.p, self.counts, self.ones = model.dimension, counts, ones

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
            found[:, at] = logits[:, better]
            left = certificate > _CLOSED
            if not left.any():
                break
            active, n, k = active[left], n[:, left], k[:, left]
            logits, move = logits[:, left], move[:, left]
            logits = logits + move * _length(n, k, logits, move, slope[left])
        return value, found, gap

    def _start(self) -> Array:
        """Logits of a least-squares fit of the empirical ones."""
        logits, weight = empirical_logits(self.counts, self.ones)
        log_weight = np.log(weight)
        pivots, lagrange = self._pivots(log_weight)
        state, _ = _step(lagrange, pivots, log_weight, weight * logits)
        return _logits(lagrange, state)

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
