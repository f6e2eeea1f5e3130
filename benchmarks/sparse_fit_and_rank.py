"""Fit and rank words: one pass over sparse counts against two passes of a peer.

The 20 Newsgroups are read from the folder named by ``MEMDLIB_DATA``; without them
simulated documents of that shape take their place.
"""

import os
import tarfile
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
from sklearn.naive_bayes import MultinomialNB

from benchmarks.comparison import Comparison, compare_times
from memdlib import MeMdClassifier
from memdlib.datasets import simulate_text_counts


def newsgroups(archive: Path):
    """Counts of the words of every training document, and its group."""
    texts, groups = [], []
    with tarfile.open(archive) as tar:
        for member in tar:
            *_, part, group, _ = ("", "", *member.name.split("/"))
            if member.isfile() and part == "20news-bydate-train":
                texts.append(tar.extractfile(member).read().decode("latin-1"))
                groups.append(group)
    counts = CountVectorizer(stop_words="english").fit_transform(texts)
    return "20 Newsgroups", counts.astype(np.float64), np.array(groups)


def simulated():
    """Documents of about the same number, length and vocabulary."""
    text = simulate_text_counts(
        n_documents=11314, n_words=50000, n_informative=500, n_classes=20, seed=2
    )
    return "simulated documents", text.X.astype(np.float64), text.y


def comparisons() -> list[Comparison]:
    """Measure presence and multinomial MeMd."""
    archive = Path(os.environ.get("MEMDLIB_DATA", ""), "text/20news-bydate.tar.gz")
    name, X, y = newsgroups(archive) if archive.is_file() else simulated()
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
