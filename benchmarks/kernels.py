"""Gram matrices of the Jensen-Shannon kernels against pairwise distances of SciPy.

The peer returns square roots of the same divergences, in any base.
"""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from benchmarks.comparison import Comparison, compare_times
from memdlib.kernels import js_kernel, jt_kernel

N_ROWS = 400


def comparisons() -> list[Comparison]:
    """Measure dense and sparse distributions."""
    rng = np.random.default_rng([91, 1])
    P = rng.dirichlet(np.full(1000, 0.3), size=N_ROWS)
    thin = P * (rng.random(P.shape) < 0.05)
    thin /= thin.sum(axis=1, keepdims=True)

    def peer(X):
        return lambda: cdist(X, X, "jensenshannon")

    work = f"{N_ROWS} x {N_ROWS} Gram matrix, 1000 cells"
    name = 'scipy cdist(..., "jensenshannon")'
    csr = sparse.csr_array(thin)
    sides = [
        (f"{work}, JS", lambda: js_kernel(P), P),
        (f"{work}, JT of order 1.5", lambda: jt_kernel(P, q=1.5), P),
        (f"{work}, JT of order 1.3", lambda: jt_kernel(P, q=1.3), P),
        (f"{work}, 5 % occupied, JS", lambda: js_kernel(csr), thin),
    ]
    return [
        compare_times(work, name, ours, peer(X), goal=0.1, data=(X,), repeats=3)
        for work, ours, X in sides
    ]
