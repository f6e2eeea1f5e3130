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
from memdlib.topics.plsa import em

N_DOCUMENTS, N_WORDS, N_TOPICS, N_STEPS = 3000, 8000, 20, 50


def documents() -> sparse.csr_array:
    """Counts of 160 words a document, 0.4 million of them above zero."""
    rng = np.random.default_rng([92, 1])
    Q = rng.dirichlet(np.full(N_WORDS, 0.05), size=N_TOPICS)
    theta = rng.dirichlet(np.full(N_TOPICS, 0.2), size=N_DOCUMENTS)
    rows = [sparse.csr_array(rng.multinomial(160, t @ Q)[None]) for t in theta]
    X = sparse.csr_array(sparse.vstack(rows), dtype=np.float64)
    return X[:, X.sum(axis=0) > 0]


def comparisons() -> list[Comparison]:
    """Measure as many steps of both, and what they reach from the same start."""
    X = documents()
    ours = PLSA(N_TOPICS, alpha=0, max_iter=N_STEPS, tol=1e-15, random_state=0)
    options = {"beta_loss": "kullback-leibler", "solver": "mu", "tol": 0}
    theirs = NMF(N_TOPICS, init="random", max_iter=N_STEPS, random_state=0, **options)
    name = 'scikit-learn NMF("kullback-leibler", "mu")'
    work = f"{N_DOCUMENTS} x {N_WORDS}, {X.nnz / 1e6:.2f} M counts, {N_TOPICS} topics"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        times = compare_times(
            f"{work}, {N_STEPS} steps",
            name,
            lambda: ours.fit(X),
            lambda: theirs.fit(X),
            goal=0.6,
            data=(X,),
            repeats=2,
        )
        rng = np.random.default_rng([92, 2])
        theta = rng.dirichlet(np.ones(N_TOPICS), size=N_DOCUMENTS)
        Q = rng.dirichlet(np.ones(X.shape[1]), size=N_TOPICS)
        peer = NMF(N_TOPICS, init="custom", max_iter=N_STEPS, **options)
        peer.fit(X, W=X.sum(axis=1)[:, None] * theta, H=Q.copy())
    found = em(
        X,
        theta,
        np.ascontiguousarray(Q.T),
        beta=1.0,
        alpha=0.0,
        tol=1e-9,
        max_iter=N_STEPS,
    )
    # KL(X || n theta Q) = sum X log(X / n) - sum X log(theta Q)
    length = np.repeat(X.sum(axis=1), np.diff(X.indptr))
    divergence = xlogy(X.data, X.data / length).sum() - found.history[-1]
    other = peer.reconstruction_err_**2 / 2
    reached = "  divergence reached from one start"
    divergence, other = divergence / 1e3, other / 1e3
    return [times, Comparison(reached, name, divergence, other, "knats", 1.01)]
