"""Fit and rank many genes: one pass over dense data against two passes of a peer."""

from sklearn.feature_selection import f_classif
from sklearn.naive_bayes import GaussianNB

from benchmarks.comparison import Comparison, compare_times
from memdlib import MeMdClassifier
from memdlib.datasets import simulate_gaussian_classes


def workload(n=190, d=16063, K=14):
    """Samples and labels, by default in the shape of the Global Cancer Map."""
    data = simulate_gaussian_classes(
        n_samples=n,
        n_features=d,
        n_informative=min(d, 100),
        n_classes=K,
        random_state=1,
    )
    return data.X, data.y


def comparisons() -> list[Comparison]:
    """Measure one shape."""
    X, y = workload()
    model = MeMdClassifier(n_features=50)
    return [
        compare_times(
            "fit and rank, dense 190 x 16063, 14 classes, normal",
            "f_classif + GaussianNB",
            lambda: model.fit(X, y),
            lambda: (f_classif(X, y), GaussianNB().fit(X, y)),
            goal=0.5,
            data=(X, y),
        )
    ]
