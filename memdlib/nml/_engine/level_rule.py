"""Few weighted label counts of one level that stand for all of them.

The maximised likelihoods of one level's own labels, summed over the sequences with the
same label count, are a law on 0, 1, .., n. Its Gauss rule has real label counts and
integrates polynomials exactly, but likelihoods are not smooth where hardly any label is
0 or 1. So the label counts at both ends are kept, and Gauss's rule is that of the rest.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaln, xlogy

Array = NDArray[np.float64]

# Label counts at either end that are kept as they are.
N_KEPT = 4


@lru_cache(maxsize=128)
def level_rule(n: int, n_nodes: int) -> tuple[Array, Array]:
    """Nodes and weights for the law of the label count of one level.

    Parameters
    ----------
    n : int
        Samples at the level, 1 or more.
    n_nodes : int
        Nodes between the ones that are kept at both ends.

    Returns
    -------
    nodes : ndarray of shape (N,)
        Increasing from 0 to n and symmetric; all integers where N would be above n.
    weights : ndarray of shape (N,)
        Their sum is C(2, n). Both arrays are kept for later calls, and read-only.

    Notes
    -----
    The nodes are the eigenvalues of the Jacobi matrix of the law (Golub and Welsch),
    by Lanczos with full reorthogonalisation.

    Examples
    --------
    >>> nodes, weights = level_rule(200, 3)
    >>> nodes.round(1).tolist()
    [0.0, 1.0, 2.0, 3.0, 20.2, 100.0, 179.8, 197.0, 198.0, 199.0, 200.0]
    >>> round(float(weights.sum()), 6), round(float(weights @ nodes**2), 3)
    (18.398444, 279616.632)
    """
    nodes = np.arange(n + 1.0)
    weights = np.exp(
        gammaln(n + 1.0)
        - gammaln(nodes + 1.0)
        - gammaln(n - nodes + 1.0)
        + xlogy(nodes, nodes / n)
        + xlogy(n - nodes, 1.0 - nodes / n)
    )
    if n >= n_nodes + 2 * N_KEPT:
        rest = slice(N_KEPT, n + 1 - N_KEPT)
        inner, shares = _gauss(nodes[rest] - n / 2, weights[rest], n_nodes)
        # symmetric to the last digit, so that flipping all labels maps nodes to nodes
        inner = n / 2 + (inner - inner[::-1]) / 2
        shares = (shares + shares[::-1]) / 2
        ends = slice(0, N_KEPT), slice(n + 1 - N_KEPT, n + 1)
        nodes = np.concatenate([nodes[ends[0]], inner, nodes[ends[1]]])
        weights = np.concatenate([weights[ends[0]], shares, weights[ends[1]]])
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def _gauss(points: Array, law: Array, n_nodes: int) -> tuple[Array, Array]:
    """Gauss rule of a discrete law; more points than nodes."""
    vectors = np.empty((n_nodes, points.size))
    diagonal, below = np.empty(n_nodes), np.empty(n_nodes)
    vector = np.sqrt(law / law.sum())
    for j in range(n_nodes):
        vectors[j] = vector
        vector = points * vector
        diagonal[j] = vectors[j] @ vector
        before = vectors[: j + 1]
        for _ in range(2):
            vector = vector - (before @ vector) @ before
        below[j] = np.sqrt(vector @ vector)
        vector = vector / below[j]
    nodes, parts = eigh_tridiagonal(diagonal, below[:-1])
    return nodes, law.sum() * parts[0] ** 2
