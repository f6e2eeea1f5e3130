"""Texts as word counts: the first step of ``make_memd("text")``."""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer


class WordCounter(CountVectorizer):
    """Count the words of texts; pass counts through unchanged."""

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        return super().fit_transform(X) if _holds_texts(X) else X

    def transform(self, X):
        return super().transform(X) if _holds_texts(X) else X

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = True
        return tags


def _holds_texts(X):
    """Whether X is a sequence of texts, not rows of counts; raise if it is neither."""
    if sparse.issparse(X):
        return False
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}; pass a list of texts")
    if getattr(X, "ndim", 1) > 1:
        _refuse_columns_of_texts(X)
        return False
    for i, text in enumerate(X):
        if isinstance(text, str | bytes):
            continue
        if np.ndim(text) and not isinstance(text[0], str):
            return False  # a list of rows
        raise ValueError(f"X[{i}] = {text!r} is not a text; {_remedy_for(text)}")
    return True


def _refuse_columns_of_texts(X):
    """Raise if the first cell of a two-dimensional X is a text."""
    if not len(X):
        return
    first = X.iloc[0, 0] if hasattr(X, "iloc") else X[0, 0]
    if isinstance(first, str | bytes):
        raise ValueError('X has columns; pass one column of texts, like df["text"]')


def _remedy_for(text):
    """Remedy for an element that is not a text."""
    if isinstance(text, dict):
        return "put sklearn.feature_extraction.DictVectorizer in front of this pipeline"
    if np.ndim(text):
        return "join the words with ' '.join(words)"
    return "pass only strings, and an empty string for a missing text"
