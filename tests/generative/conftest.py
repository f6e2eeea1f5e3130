"""Data that several of these tests share."""

import numpy as np
from scipy import sparse
from sklearn.datasets import load_wine

from memdlib.datasets import simulate_text_counts


def wine():
    """Rows to learn from and as many to predict."""
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def blobs(seed=0, n=120, d=4, n_classes=3):
    """Rows of classes of correlations of their own."""
    rng = np.random.default_rng([57, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    mixing = rng.normal(size=(n_classes, d, d))
    X = np.einsum("is,ist->it", rng.normal(size=(n, d)), mixing[y])
    return X + rng.normal(size=(n_classes, d))[y], y


def word_counts(n, d, seed, **how):
    """Sparse counts, and the topics of the documents."""
    text = simulate_text_counts(n_documents=n, n_words=d, random_state=seed, **how)
    return sparse.csr_array(text.X, dtype=float), text.y
