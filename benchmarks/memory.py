"""Memory beyond the input, against the room for five arrays of class parameters."""

import numpy as np
from scipy import sparse

from benchmarks.comparison import Comparison, peak_memory
from memdlib import MeMdClassifier
from memdlib.datasets import simulate_gaussian_classes


def comparisons() -> list[Comparison]:
    """Measure a fit on dense and on sparse data."""
    data = simulate_gaussian_classes(
        n_samples=2000,
        n_features=16063,
        n_informative=100,
        n_classes=14,
        random_state=1,
    )
    thin = sparse.random_array((20000, 50000), density=2e-3, rng=3, format="csr")
    labels = np.arange(20000) % 20
    found = []
    for work, model, X, y, classes in (
        ("dense 2000 x 16063", MeMdClassifier(n_features=50), data.X, data.y, 14),
        ("sparse 20000 x 50000", MeMdClassifier(family="multinomial", n_features=50),
         thin, labels, 20),
    ):  # fmt: skip
        m = 2 if model.family == "normal" else 1
        room = 5 * classes * X.shape[1] * m * 8 / 2**20
        peak = peak_memory(lambda model=model, X=X, y=y: model.fit(X, y))
        found.append(
            Comparison(
                f"memory of fit, {work}, {classes} classes, {model.family}",
                "5 K d m doubles",
                peak,
                room,
                "MiB",
                1.0,
            )
        )
    return found
