"""Texts as word counts, and what words say: the steps of ``make_memd("text")``."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.utils.validation import validate_data

from memdlib._sklearn import safe_indexing
from memdlib.generative.documents import MultinomialMeMdClassifier


class WordCounter(CountVectorizer):
    """Count the words of texts; pass counts through unchanged.

    Counts are sparse arrays, for which there are no data frames: ``set_output`` and the
    setting ``transform_output`` change nothing.
    """

    # the names of arguments are those of CountVectorizer, for metadata routing

    def fit(self, raw_documents, y=None):
        self.fit_transform(raw_documents, y)
        return self

    def fit_transform(self, raw_documents, y=None):
        texts = _texts_of(raw_documents)
        if texts is not None:
            return super().fit_transform(texts)
        validate_data(self, raw_documents, skip_check_array=True)
        return raw_documents

    def transform(self, raw_documents):
        texts = _texts_of(raw_documents)
        if texts is not None:
            return super().transform(texts)
        validate_data(self, raw_documents, reset=False, skip_check_array=True)
        return raw_documents

    def set_output(self, *, transform=None):
        """Return self: a pipeline calls this for all of its steps."""
        return self

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = True
        tags.input_tags.positive_only = True
        return tags


class WordRidge(ClassifierMixin, BaseEstimator):
    """Ridge regression of class indicators minus class shares, without an intercept.

    The scores are what the words of a document add to the class shares, and zero for a
    document without a known word. There, an intercept would be an extrapolation,
    because weighted documents have length one.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of the squared coefficients.
    """

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        """Fit to weighted words X (n, d) of classes y (n,); return self."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        indicators = np.eye(len(self.classes_))[codes]
        if len(self.classes_) == 2:
            indicators = indicators[:, 1]
        targets = indicators - np.average(indicators, axis=0, weights=sample_weight)
        ridge = Ridge(self.alpha, fit_intercept=False, solver="sparse_cg", tol=1e-3)
        self.ridge_ = ridge.fit(X, targets, sample_weight)
        return self

    def decision_function(self, X):
        """Scores (n, K) of X (n, d); for two classes (n,), of the second."""
        return self.ridge_.predict(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class WordEvidence(MultinomialMeMdClassifier):
    """Multinomial MeMd without the class shares: what the words alone say."""

    def _joint_log_density(self, X):
        return super()._joint_log_density(X) - np.log(self.class_prior_)


def _texts_of(X):
    """Texts of a sequence, None for rows of counts; raise if X is neither."""
    if sparse.issparse(X):
        return None
    is_container = hasattr(X, "__array__")
    if isinstance(X, str) or not (is_container or hasattr(X, "__len__")):
        raise ValueError(f"X is a {type(X).__name__}; pass a list of texts")
    texts = _column_of(X) if is_container else X
    if texts is None:
        return None
    if len(texts) == 0:
        raise ValueError(
            "Found array with 0 sample(s) while a minimum of 1 is required."
        )
    for i, text in enumerate(texts):
        if isinstance(text, str | bytes):
            continue
        if np.ndim(text) and not isinstance(text[0], str):
            return None  # a list of rows
        raise ValueError(f"X[{i}] = {text!r} is not a text; {_remedy_for(text)}")
    return texts


def _column_of(X):
    """One-dimensional array of the cells of a column, None for a table of counts."""
    if len(getattr(X, "shape", ())) > 1:
        _refuse_columns_of_texts(X)
        return None
    cells = np.asarray(X)  # pyarrow, for one, has strings of its own type
    if cells.ndim > 1:
        return None
    if cells.dtype.kind in "biuf":
        raise ValueError(
            "Expected 2D array, got 1D array instead. Reshape your data: "
            "X.reshape(1, -1) holds the counts of one document"
        )
    return np.atleast_1d(cells)


def _refuse_columns_of_texts(X):
    """Raise if one of the first rows of a two-dimensional X holds a text."""
    if not X.shape[0]:
        return
    n_rows = min(X.shape[0], 20)  # a text may be missing in the first one
    cells = np.asarray(safe_indexing(X, list(range(n_rows))), dtype=object)
    if any(isinstance(cell, str | bytes) for cell in cells.flat):
        raise ValueError('X has columns; pass one column of texts, like df["text"]')


def _remedy_for(text):
    """Remedy for an element that is not a text."""
    if isinstance(text, dict):
        return "put sklearn.feature_extraction.DictVectorizer in front of this pipeline"
    if np.ndim(text):
        return "join the words with ' '.join(words)"
    return "pass only strings, and an empty string for a missing text"
