"""Fit and rank words: one pass over sparse counts against two passes of a peer.

Without the 20 Newsgroups simulated documents of that shape take their place.
"""

import numpy as np
from sklearn.feature_selection import chi2
from sklearn.naive_bayes import MultinomialNB

from benchmarks.comparison import Comparison, compare_times
from memdlib import MeMdClassifier
from memdlib.datasets import MissingDataError, load, simulate_text_counts


def simulated():
    """Documents of about the same number, length and vocabulary."""
    text = simulate_text_counts(
        n_documents=11314, n_words=50000, n_informative=500, n_classes=20, seed=2
    )
    return "simulated documents", text.X.astype(np.float64), text.y


def comparisons() -> list[Comparison]:
    """Measure presence and multinomial MeMd."""
    try:
        news = load("newsgroups", min_documents=1)
        name, X, y = "20 Newsgroups", news.X, news.y
    except MissingDataError:
        name, X, y = simulated()
    shape = f"{X.shape[0]} x {X.shape[1]}, {len(set(y))} classes"
    found = []
    for family in ("bernoulli", "multinomial"):
        model = MeMdClassifier(family=family, n_features=1000)
        found.append(
            compare_times(
                f"fit and rank, {name}, {shape}, {family}",
                "chi2 + MultinomialNB",
                lambda model=model: model.fit(X, y),
                lambda: (chi2(X, y), MultinomialNB().fit(X, y)),
                goal=0.5,
            )
        )
    return found
