"""Measure the speed of fitting and ranking against scikit-learn, in one run.

Both sides work on the same data in the same process, with one BLAS thread, in turn;
the least of several times is taken on each side, and only their ratio is reported
with a goal. Absolute times belong to the machine.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sklearn.feature_selection import chi2, f_classif
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from threadpoolctl import threadpool_limits

from memdlib import MeMdClassifier
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts

REPEATS = 7


@dataclass(frozen=True)
class Comparison:
    """One piece of work, done by memdlib and by a peer.

    Parameters
    ----------
    work, peer : str
        What is done, and by whom else.
    ours, theirs : callable
        Do it once.
    goal : float
        Ratio of the times that we aim for.
    """

    work: str
    peer: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    goal: float


def comparisons() -> list[Comparison]:
    """All comparisons, with their data made."""
    genes = simulate_gaussian_classes(
        n_samples=190, n_features=16063, n_informative=100, n_classes=14, seed=1
    )
    words = simulate_text_counts(
        n_documents=11314, n_words=50000, n_informative=500, n_classes=20, seed=2
    )
    two_moments = MeMdClassifier(n_features=50)
    presence = MeMdClassifier(family="bernoulli", n_features=1000)
    return [
        Comparison(
            "fit and rank, dense 190 x 16063, 14 classes, normal",
            "f_classif + GaussianNB",
            lambda: two_moments.fit(genes.X, genes.y),
            lambda: (f_classif(genes.X, genes.y), GaussianNB().fit(genes.X, genes.y)),
            goal=0.5,
        ),
        Comparison(
            "fit and rank, sparse 11314 x 50000, 20 classes, presence",
            "chi2 + MultinomialNB",
            lambda: presence.fit(words.X, words.y),
            lambda: (chi2(words.X, words.y), MultinomialNB().fit(words.X, words.y)),
            goal=0.5,
        ),
    ]


def least_time(work: Callable[[], object]) -> float:
    """Least of the times of several calls, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table of ratios."""
    print(f"{'work':58} {'ours':>8} {'peer':>8} {'ratio':>6} {'goal':>5}  peer")
    for item in comparisons():
        with threadpool_limits(limits=1):
            ours, theirs = least_time(item.ours), least_time(item.theirs)
        print(
            f"{item.work:58} {1e3 * ours:6.1f}ms {1e3 * theirs:6.1f}ms "
            f"{ours / theirs:6.2f} {item.goal:5.2f}  {item.peer}"
        )


if __name__ == "__main__":
    main()
