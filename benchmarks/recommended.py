"""What make_memd costs on many rows, beside peers that are tuned less or not at all.

A table of 100,000 rows against a forest of a hundred trees and one fit of an SVM with a
Gaussian kernel, which would be tuned; wide tables of 5,000 rows against linear
discriminant analysis; 200,000 documents of 100,000 words against one linear SVM. The
memory of wide tables and of texts stands beside that of the data.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.comparison import Comparison, compare_times, peak_memory
from memdlib import make_memd

TABLE = 100_000, 100
WIDE = [(5_000, d) for d in (250, 500, 1_000, 2_000)]
TEXTS = 200_000, 100_000
N_CLASSES, WORDS_OF_A_CLASS, LENGTH = 4, 300, 60


def table(n, d):
    """Rows of five classes, two clusters each, and their labels."""
    return make_classification(
        n, d, n_informative=min(d, 20), n_classes=5, class_sep=1.5, random_state=0
    )


def texts(n, d):
    """Counts of words of a long tail, some of them those of a class, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=n)
    share = np.cumsum(1.0 / np.arange(1, d + 1) ** 1.05)
    row = np.repeat(np.arange(n), 1 + rng.poisson(LENGTH, n))
    word = np.searchsorted(share / share[-1], rng.random(len(row)))
    of_class = rng.permutation(d)[: N_CLASSES * WORDS_OF_A_CLASS]
    of_class = of_class.reshape(N_CLASSES, -1)
    (own,) = np.nonzero(rng.random(len(row)) < 0.06)
    word[own] = of_class[y[row[own]], rng.integers(of_class.shape[1], size=len(own))]
    X = sparse.coo_array((np.ones(len(row)), (row, np.minimum(word, d - 1))), (n, d))
    X = X.tocsr()
    # the peer takes no others
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def comparisons() -> list[Comparison]:
    """Measure fits, once each, and the memory of those to wide tables and texts."""
    found = []
    X, y = table(*TABLE)
    memd = make_memd("table", random_state=0)
    for name, peer in (
        ("forest", RandomForestClassifier(random_state=0)),
        ("one RBF SVM", make_pipeline(StandardScaler(), SVC())),
    ):
        found.append(
            compare_times(
                f'make_memd("table"), {X.shape[0]} x {X.shape[1]}',
                name,
                lambda: memd.fit(X, y),
                lambda peer=peer: peer.fit(X, y),
                goal=1.0,
                data=(X, y),
                repeats=1,
            )
        )
    for shape in WIDE:
        X, y = table(*shape)
        work = f'make_memd("table"), {X.shape[0]} x {X.shape[1]}'
        ours = partial(memd.fit, X, y)
        peer = partial(LinearDiscriminantAnalysis().fit, X, y)
        options = {"goal": 3.0, "data": (X, y), "repeats": 1}
        found.append(compare_times(work, "LDA", ours, peer, **options))
        peak, size, name = peak_memory(ours), X.nbytes / 2**20, f"memory of {work}"
        found.append(Comparison(name, "the data", peak, size, "MiB", 5.0))
    X, y = texts(*TEXTS)
    memd = make_memd("text", random_state=0)
    svm = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC())
    work = f'make_memd("text"), {X.shape[0]} x {X.shape[1]}'
    found.append(
        compare_times(
            work,
            "one LinearSVC",
            lambda: memd.fit(X, y),
            lambda: svm.fit(X, y),
            goal=5.0,
            data=(X, y),
            repeats=1,
        )
    )
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    peak = peak_memory(lambda: memd.fit(X, y))
    found.append(Comparison(f"memory of {work}", "the data", peak, size, "MiB", 10.0))
    return found
