"""Choose the number of words against a fit that is told it, and a linear SVM.

Simulated documents of the sizes of two collections of Reuters news.
"""

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.comparison import Comparison, compare_times
from memdlib import MeMdClassifier
from memdlib.datasets import simulate_text_counts

# Documents, words, classes.
SHAPES = ((5485, 19956, 8), (6532, 21974, 52))


def workload(n, d, K):
    """Counts and labels."""
    text = simulate_text_counts(
        n_documents=n, n_words=d, n_informative=min(d, 500), n_classes=K, lift=10.0,
        random_state=3,
    )  # fmt: skip
    X = text.X.astype(float)
    # the peer takes no others
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, text.y


def comparisons() -> list[Comparison]:
    """Measure n_features="auto" on words present and on counts."""
    found = []
    for n, d, K in SHAPES:
        X, y = workload(n, d, K)
        work = f"choose S, {n} x {d}, {K} classes"
        for family in ("bernoulli", "multinomial"):
            auto = MeMdClassifier(family=family, random_state=0)
            told = MeMdClassifier(family=family, n_features=1000)
            found.append(
                compare_times(
                    f"{work}, {family}",
                    "S fixed",
                    lambda auto=auto, X=X, y=y: auto.fit(X, y),
                    lambda told=told, X=X, y=y: told.fit(X, y),
                    goal=4.0,
                    data=(X, y),
                )
            )
        found.append(
            compare_times(
                f"{work}, multinomial",
                "LinearSVC",
                lambda auto=auto, X=X, y=y: auto.fit(X, y),
                lambda X=X, y=y: LinearSVC(random_state=0).fit(X, y),
                goal=1.0,
                data=(X, y),
                repeats=3,
            )
        )
    return found
