"""Steps of pLSA against steps of non-negative matrix factorisation, its twin.

The peer minimises the generalised Kullback-Leibler divergence, multiplicatively: it is
the same objective up to a constant, as the second line shows.
"""

import warnings

import numpy as np
from scipy import sparse
from scipy.special import xlogy
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from benchmarks.comparison import Comparison, compare_times
from memdlib import PLSA

N_DOCUMENTS, N_WORDS, N_TOPICS, N_STEPS = 3000, 8000, 20, 50


def documents() -> sparse.csr_array:
    """Counts of 160 words a document, 0.4 million of them above zero."""
    rng = np.random.default_rng([92, 1])
    Q = rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
    theta = rng.dirichlet(np.full(N_TOPICS, 0.2), size=N_DOCUMENTS)
    rows = [sparse.csr_array(rng.multinomial(160, t @ Q)[None]) for t in theta]
    return sparse.csr_array(sparse.vstack(rows), dtype=np.float64)


def comparisons() -> list[Comparison]:
    """Measure as many steps of both, and what they reach."""
    X = documents()
    ours = PLSA(N_TOPICS, max_iter=N_STEPS, tol=1e-9, random_state=0)
    theirs = NMF(
        N_TOPICS,
        beta_loss="kullback-leibler",
        solver="mu",
        init="random",
        max_iter=N_STEPS,
        tol=0,
        random_state=0,
    )
    work = f"{N_DOCUMENTS} x {N_WORDS}, {X.nnz / 1e6:.2f} M counts, {N_TOPICS} topics"
    peer = 'scikit-learn NMF("kullback-leibler", "mu")'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = compare_times(
            f"{work}, {N_STEPS} steps",
            peer,
            lambda: ours.fit(X),
            lambda: theirs.fit(X),
            goal=0.6,
            repeats=2,
        )
    divergence = xlogy(X.data, X.data / X.sum()).sum() - ours.log_likelihood_
    other = theirs.reconstruction_err_**2 / 2
    reached = "Kullback-Leibler divergence reached"
    return [times, Comparison(reached, peer, divergence, other, "nats", 1.0)]
