"""Quadrature where a density lives: panels between the roots of its log density.

The log density is a polynomial, so that the places where it has fallen by given
amounts are roots. Between them it changes little: a Gauss rule on each of these panels
is exact to rounding however narrow or distant a mode is, on any support.
"""

import numpy as np
from numpy.typing import NDArray

from memdlib.densities.recurrence import Recurrence
from memdlib.densities.support import gauss_legendre

Array = NDArray[np.float64]

# Nats below the highest mode at which panels end: for the steps of a solver, and for
# the check of what it found, which shares no panel with them and reaches as far down
# as numbers go.
STEPS = np.array([0.5, 2.0, 5.0, 10.0, 17.0, 26.0, 38.0, 60.0, 130.0])
CHECK = np.array(
    [0.3, 1.3, 3.2, 6.0, 9.8, 14.5, 20.0, 27.0,
     35.0, 45.0, 58.0, 80.0, 120.0, 200.0, 350.0, 700.0]
)  # fmt: skip


def breakpoints(
    basis: Recurrence, theta: Array, lower: Array, upper: Array, levels: Array
) -> Array:
    """Ends of panels for the densities exp(-sum theta_j p_j) of a batch.

    Parameters
    ----------
    basis : Recurrence
    theta : ndarray of shape (B, m + 1)
        Towards an infinite end the sum must grow.
    lower, upper : ndarray of shape (B,)
        Ends of the support; infinite where there is none.
    levels : ndarray of shape (K,)
        Nats below the highest density.

    Returns
    -------
    ndarray of shape (B, P + 1)
        Ascending from the lower to the upper end, or to where a density has fallen by
        the last level. Some panels may be empty.
    """
    if np.isfinite(upper[0]) and not np.isfinite(lower[0]):
        mirrored = breakpoints(*mirror(basis, theta), -upper, -lower, levels)
        return -mirrored[:, ::-1]
    m = basis.degree
    step = 0 if np.isfinite(upper[0]) else 1 if np.isfinite(lower[0]) else 2
    low = np.where(np.isfinite(lower), lower, -np.inf)[:, None]
    high = np.where(np.isfinite(upper), upper, np.inf)[:, None]
    ends = [x for x in (low, high) if np.isfinite(x).all()]
    slope = basis.differentiate(theta)
    turns = basis.roots(slope[:, None])[:, 0]
    # a middle for those that have no turn
    middle = np.clip(basis.alpha[:, :1], low, high)
    turns = np.clip(np.where(np.isnan(turns), middle, turns), low, high)
    seen = np.concatenate([turns, middle, *ends], axis=1)
    least = basis.expand(theta, seen).min(axis=1)
    shifted = np.repeat(theta[:, None], len(levels), axis=1)
    shifted[..., 0] -= least[:, None] + levels
    crossings = basis.roots(shifted, step).reshape(len(theta), len(levels) * m)
    crossings = np.where(np.isnan(crossings), middle, crossings)
    found = np.concatenate([seen, np.clip(crossings, low, high)], axis=1)
    found.sort(axis=1)
    # coinciding ones go to the end, where columns that all rows can spare are cut
    same = np.zeros(found.shape, dtype=bool)
    same[:, 1:] = found[:, 1:] == found[:, :-1]
    last = found[:, -1:]
    found = np.where(same, last, found)
    found.sort(axis=1)
    spare = (found == last).sum(axis=1).min() - 1
    return found[:, : found.shape[1] - spare]


def mirror(basis: Recurrence, theta: Array) -> tuple[Recurrence, Array]:
    """Change the sign of u in sum theta_j p_j(u)."""
    signs = (-1.0) ** np.arange(theta.shape[1])
    return Recurrence(-basis.alpha, basis.beta), signs * theta


def panel_nodes(ends: Array, n_nodes: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights (B, P n) on panels between ends (B, P + 1)."""
    nodes, weights = gauss_legendre(n_nodes)
    half = 0.5 * np.diff(ends)[..., None]
    u = (ends[:, :-1, None] + half) + half * nodes
    return u.reshape(len(ends), -1), (half * weights).reshape(len(ends), -1)
