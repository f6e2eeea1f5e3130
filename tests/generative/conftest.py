"""Data that several of these tests share."""

from scipy import sparse
from sklearn.datasets import load_wine

from memdlib.datasets import simulate_text_counts


def wine():
    """Rows to learn from and as many to predict."""
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


def word_counts(n_documents, n_words, seed, **how):
    """Sparse counts, and the topics of the documents."""
    text = simulate_text_counts(
        n_documents=n_documents, n_words=n_words, seed=seed, **how
    )
    return sparse.csr_array(text.X, dtype=float), text.y
