"""Suprema of likelihoods of label counts in cells, of any number of classes.

Damped Newton steps; of two classes, full ones have settled most label counts before.
There is no certificate of each fit: how far off one may be follows from the rounding of
its logits, which are large where features are uneven.
"""

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.fits import SETTLED, FullSteps, maximise_labels
from memdlib.nml._engine.level_model import NoMaximumError, orthonormal
from memdlib.nml._engine.saturated import EPSILON

Array = NDArray[np.float64]

_STEPS = 200
_BATCH = 2048
# Twice the gain of a step, in nats, that is left undone, and that is an error.
_NO_GAIN, _UNSETTLED = 1e-15, 1e-9
# Roundings of a logit, as a multiple of the sum of the sizes of its terms.
_ROUNDINGS = 4.0 * EPSILON


def softmax_suprema(
    totals: Array, cells: NDArray[np.intp], basis: Array, labels: Array
) -> tuple[Array, float]:
    """Maximised log-likelihood of interior label counts, each class above zero or not.

    Parameters
    ----------
    totals : ndarray of shape (N,)
        Samples in each cell.
    cells : ndarray of shape (R,)
        Cell of each free logit, in order; a cell without any is left out.
    basis : ndarray of shape (R, r)
        What the free logits can be, of full rank.
    labels : ndarray of shape (R, B)
        Labels of the class of each free logit.

    Returns
    -------
    value : ndarray of shape (B,)
        Nats.
    doubt : float
        How far off any of them may be, in nats: what the last steps left, and what
        rounding of the logits does.

    Raises
    ------
    NoMaximumError
        If some label counts do not settle, as on the boundary they would not.

    Examples
    --------
    Three classes of one cell, with labels 1, 2 and 3.

    >>> value, doubt = softmax_suprema(
    ...     np.array([6.0]), np.array([0, 0]), np.eye(2), np.array([[2.0], [3.0]])
    ... )
    >>> bool(np.isclose(np.exp(-value[0]), 6**6 / (2**2 * 3**3))), doubt < 1e-12
    (True, True)
    """
    basis = orthonormal(basis, totals[cells, None])
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    inverse = np.repeat(np.arange(len(starts)), np.diff([*starts, len(cells)]))
    form = _Form(totals[cells[starts]][:, None], basis, starts, inverse)
    n_cases = labels.shape[1]
    state, rest = np.empty((basis.shape[1], n_cases)), np.arange(n_cases)
    if len(starts) == len(cells):
        steps = FullSteps(totals[cells, None], basis)
        _, state, rest = maximise_labels(steps, labels)
    for i in range(0, rest.size, _BATCH):
        part = rest[i : i + _BATCH]
        state[:, part] = form.maximise(labels[:, part])
    value, mean = form.evaluate(labels, state)
    size = np.abs(basis) @ np.abs(state)
    lost = _ROUNDINGS * (np.abs(labels - mean) * size).sum(axis=0)
    return value, SETTLED + float(lost.max(initial=0.0))


class _Form:
    """Log-likelihood as a function of coefficients, one case a column."""

    def __init__(self, totals, basis, starts, inverse):
        self.totals, self.basis = totals, basis
        self.starts, self.inverse = starts, inverse

    def maximise(self, labels: Array) -> Array:
        state = np.zeros((self.basis.shape[1], labels.shape[1]))
        value, mean = self.evaluate(labels, state)
        active = np.arange(labels.shape[1])
        for _ in range(_STEPS):
            ones = labels[:, active]
            gradient = self.basis.T @ (ones - mean)
            change = np.linalg.solve(self.curvature(mean), gradient.T[..., None])
            change = change[..., 0].T
            slope = (gradient * change).sum(axis=0)
            going = ~((slope >= -_UNSETTLED) & (slope <= _NO_GAIN))
            active, ones, slope = active[going], ones[:, going], slope[going]
            if not active.size:
                return state
            change, mean = change[:, going], mean[:, going]
            length = np.ones(active.size)
            least = value[active] - 1e-15 * np.abs(value[active])
            reached, after = self.evaluate(ones, state[:, active] + change)
            while (short := reached < least + 0.1 * length * slope).any():
                length[short] = np.where(length[short] > 1e-6, 0.5 * length[short], 0.0)
                moved = state[:, active[short]] + length[short] * change[:, short]
                reached[short], after[:, short] = self.evaluate(ones[:, short], moved)
                reached[short & (length == 0.0)] = np.inf
            going = length > 0.0
            if not (np.abs(slope[~going]) <= _UNSETTLED).all():
                break
            state[:, active] += length * change
            active, mean = active[going], after[:, going]
            value[active] = reached[going]
        raise NoMaximumError(
            f"the likelihood of {active.size} label counts did not settle in {_STEPS} "
            "steps; join levels whose values are close, or use evenly spaced values or "
            "fewer moments"
        )

    def evaluate(self, labels: Array, state: Array) -> tuple[Array, Array]:
        """Log-likelihood, a sum of terms of one sign, and expected labels."""
        logits = self.basis @ state
        top = np.maximum(np.maximum.reduceat(logits, self.starts, axis=0), 0.0)
        logits -= top[self.inverse]
        parts = np.exp(logits)
        sums = np.exp(-top) + np.add.reduceat(parts, self.starts, axis=0)
        first = self.totals - np.add.reduceat(labels, self.starts, axis=0)
        logits -= np.log(sums)[self.inverse]
        value = (labels * logits).sum(axis=0)
        value -= (first * (top + np.log(sums))).sum(axis=0)
        return value, (self.totals / sums)[self.inverse] * parts

    def curvature(self, mean: Array) -> Array:
        """Covariance of the statistic, one matrix a case."""
        each = mean.T[:, :, None] * self.basis
        within = np.add.reduceat(each, self.starts, axis=1)
        total = self.basis.T @ each
        return total - np.einsum("bni,bnj->bij", within / self.totals, within)
