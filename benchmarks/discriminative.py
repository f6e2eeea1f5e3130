"""Fit against linear classifiers, and rank against mutual information.

These peers solve another problem than ours, by steps; what is compared is the time that
a user waits for a fitted classifier or a ranking.
"""

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks import dense_fit_and_rank, sparse_fit_and_rank
from benchmarks.comparison import Comparison, compare_times
from memdlib import DivergenceRanker, MeMdClassifier


def comparisons() -> list[Comparison]:
    """Measure documents, and samples of many and of few features."""
    X, y = sparse_fit_and_rank.workload(3000, 20000, 4)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    words = MeMdClassifier(family="multinomial", n_features=1000)
    genes = MeMdClassifier(n_features=50)
    dense = dense_fit_and_rank.workload(190, 4000, 4)
    few = dense_fit_and_rank.workload(300, 200, 4)
    thin = sparse_fit_and_rank.workload(1000, 500, 4)
    presence = DivergenceRanker(family="bernoulli")

    def linear(X, y):
        return [
            ("LinearSVC", lambda: LinearSVC(random_state=0).fit(X, y)),
            ("LogisticRegression", lambda: LogisticRegression(max_iter=1000).fit(X, y)),
        ]

    sides = [
        ("fit, simulated documents 3000 x 20000, 4 classes, multinomial",
         (X, y), lambda: words.fit(X, y), linear(X, y)),
        ("fit, dense 190 x 4000, 4 classes, normal",
         dense, lambda: genes.fit(*dense), linear(*dense)),
        ("rank, dense 300 x 200, 4 classes, normal",
         few, lambda: DivergenceRanker().fit(*few),
         [("mutual_info_classif", lambda: mutual_info_classif(*few, random_state=0))]),
        ("rank, simulated documents 1000 x 500, 4 classes, presence",
         thin, lambda: presence.fit(*thin),
         [("mutual_info_classif, discrete",
           lambda: mutual_info_classif(thin[0] > 0, thin[1], discrete_features=True))]),
    ]  # fmt: skip
    return [
        compare_times(work, peer, ours, theirs, goal=0.25, data=data, repeats=2)
        for work, data, ours, peers in sides
        for peer, theirs in peers
    ]
