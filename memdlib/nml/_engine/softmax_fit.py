"""Suprema of likelihoods of label counts in cells, of any number of classes.

Damped Newton steps; of two classes, full ones have settled most label counts before.
"""

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.fits import FullSteps, maximise

Array = NDArray[np.float64]

_STEPS = 200
_BATCH = 2048
# Twice the gain of a step, in nats, that is left undone, and that is an error.
_NO_GAIN, _UNSETTLED = 1e-18, 1e-9


def softmax_suprema(
    totals: Array, cells: NDArray[np.intp], basis: Array, labels: Array
) -> Array:
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
    ndarray of shape (B,)
        Nats.

    Raises
    ------
    RuntimeError
        If some label counts do not settle, as on the boundary they would not.

    Examples
    --------
    Three classes of one cell, with labels 1, 2 and 3.

    >>> value = softmax_suprema(
    ...     np.array([6.0]), np.array([0, 0]), np.eye(2), np.array([[2.0], [3.0]])
    ... )
    >>> bool(np.isclose(np.exp(-value[0]), 6**6 / (2**2 * 3**3)))
    True
    """
    root = np.sqrt(totals[cells])[:, None]
    basis = np.linalg.qr(root * basis)[0] / root
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    inverse = np.repeat(np.arange(len(starts)), np.diff([*starts, len(cells)]))
    form = _Form(totals[cells[starts]][:, None], basis, starts, inverse)
    value, rest = np.empty(labels.shape[1]), np.arange(labels.shape[1])
    if len(starts) == len(cells):
        value, _, rest = maximise(
            FullSteps(totals[cells, None], basis),
            basis.T @ labels,
            lambda rough, at: rough.begin(labels[:, at].astype(np.float32)),
        )
    for i in range(0, rest.size, _BATCH):
        part = rest[i : i + _BATCH]
        value[part] = form.maximise(labels[:, part])
    return value


class _Form:
    """Log-likelihood as a function of coefficients, one case a column."""

    def __init__(self, totals, basis, starts, inverse):
        self.totals, self.basis = totals, basis
        self.starts, self.inverse = starts, inverse

    def maximise(self, labels: Array) -> Array:
        target = self.basis.T @ labels
        state = np.zeros_like(target)
        value, mean = self.evaluate(target, state)
        active = np.arange(labels.shape[1])
        for _ in range(_STEPS):
            aim = target[:, active]
            gradient = aim - self.basis.T @ mean
            change = np.linalg.solve(self.curvature(mean), gradient.T[..., None])
            change = change[..., 0].T
            slope = (gradient * change).sum(axis=0)
            going = slope > _NO_GAIN
            active, aim, slope = active[going], aim[:, going], slope[going]
            if not active.size:
                return value
            change, mean = change[:, going], mean[:, going]
            length = np.ones(active.size)
            least = value[active] - 1e-15 * np.abs(value[active])
            reached, after = self.evaluate(aim, state[:, active] + change)
            while (short := reached < least + 0.1 * length * slope).any():
                length[short] = np.where(length[short] > 1e-6, 0.5 * length[short], 0.0)
                moved = state[:, active[short]] + length[short] * change[:, short]
                reached[short], after[:, short] = self.evaluate(aim[:, short], moved)
                reached[short & (length == 0.0)] = np.inf
            going = length > 0.0
            if (slope[~going] > _UNSETTLED).any():
                break
            state[:, active] += length * change
            active, mean = active[going], after[:, going]
            value[active] = reached[going]
        raise RuntimeError(
            f"the likelihood of {active.size} label counts did not settle in {_STEPS} "
            "steps; rescale the level values or join levels"
        )

    def evaluate(self, target: Array, state: Array) -> tuple[Array, Array]:
        """Log-likelihood, and expected labels of each free logit."""
        logits = self.basis @ state
        top = np.maximum(np.maximum.reduceat(logits, self.starts, axis=0), 0.0)
        parts = np.exp(logits - top[self.inverse])
        sums = np.exp(-top) + np.add.reduceat(parts, self.starts, axis=0)
        spent = (self.totals * (top + np.log(sums))).sum(axis=0)
        mean = (self.totals / sums)[self.inverse] * parts
        return (target * state).sum(axis=0) - spent, mean

    def curvature(self, mean: Array) -> Array:
        """Covariance of the statistic, one matrix a case."""
        each = mean.T[:, :, None] * self.basis
        within = np.add.reduceat(each, self.starts, axis=1)
        total = self.basis.T @ each
        return total - np.einsum("bni,bnj->bij", within / self.totals, within)
