"""Maximised code lengths of the labels of many features at a time."""

import math

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.level_model import level_model, orthonormal_basis
from memdlib.nml.logit_fit import damped_newton
from memdlib.nml.separation import on_boundary, saturated_log_likelihood

Array = NDArray[np.float64]


def maximised_code_lengths(
    counts: NDArray[np.int64],
    ones: Array,
    values: Array,
    n_moments: int,
    intercept: bool,
) -> Array:
    """Minus the supremum of the log-likelihood of each column, in nats.

    Parameters
    ----------
    counts : ndarray of shape (L, B)
        Samples at each level of each feature.
    ones : ndarray of shape (L, B)
        Labels 1 among them.
    values : ndarray of shape (L,)
    n_moments : int
    intercept : bool

    Returns
    -------
    ndarray of shape (B,)
        Never negative, and never -0.0.

    Notes
    -----
    Features with the same occupied levels share a model dimension and a basis, and are
    solved together. A level of value 0 of a model without intercept costs log 2 for
    each of its samples.

    Examples
    --------
    >>> counts, ones = np.full((2, 2), 4), np.array([[2.0, 0.0], [2.0, 4.0]])
    >>> values = np.array([1.0, 2.0])
    >>> maximised_code_lengths(counts, ones, values, 2, False).round(4).tolist()
    [5.5452, 0.0]
    """
    found = np.zeros(counts.shape[1])
    occupied, which = np.unique(counts > 0, axis=1, return_inverse=True)
    for pattern, column in enumerate(occupied.T):
        here = np.flatnonzero(which == pattern)
        model = level_model(column.astype(np.int64), values, n_moments, intercept)
        n = counts[np.ix_(model.order, here)].astype(np.float64)
        k = ones[np.ix_(model.order, here)]
        fixed = counts[:, here].sum(axis=0) - n.sum(axis=0)
        reached = saturated_log_likelihood(n, k)
        inside = np.flatnonzero(~on_boundary(model, k, n))
        if inside.size:
            basis = orthonormal_basis(model)
            target = basis.T @ k[:, inside]
            reached[inside] = damped_newton(n[:, inside], basis, target)[0]
        found[here] = fixed * math.log(2.0) - reached
    return np.maximum(found, 0.0) + 0.0
