"""Fit and rank words: one pass over sparse counts against two passes of a peer."""

import numpy as np
from sklearn.feature_selection import chi2
from sklearn.naive_bayes import MultinomialNB

from benchmarks.comparison import Comparison, compare_times
from memdlib import MeMdClassifier
from memdlib.datasets import simulate_text_counts


def workload(n=11314, d=50000, K=20):
    """Counts and labels, by default about as many as in the 20 Newsgroups."""
    text = simulate_text_counts(
        n_documents=n, n_words=d, n_informative=min(d, 500), n_classes=K, random_state=2
    )
    return text.X.astype(np.float64), text.y


def comparisons() -> list[Comparison]:
    """Measure presence and multinomial MeMd."""
    X, y = workload()
    shape = f"{X.shape[0]} x {X.shape[1]}, {len(set(y))} classes"
    found = []
    for family in ("bernoulli", "multinomial"):
        model = MeMdClassifier(family=family, n_features=1000)
        found.append(
            compare_times(
                f"fit and rank, simulated documents, {shape}, {family}",
                "chi2 + MultinomialNB",
                lambda model=model: model.fit(X, y),
                lambda: (chi2(X, y), MultinomialNB().fit(X, y)),
                goal=0.5,
                data=(X, y),
            )
        )
    return found
