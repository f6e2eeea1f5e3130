"""Divergence as a term weight: words count by how much they tell the classes apart.

A ranking keeps words or drops them. A power of the divergence does it by degrees: 0
leaves all words alike, and the larger it is, the nearer it comes to a selection.
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from memdlib._types import MatrixLike
from memdlib.estimator import all_or_nothing
from memdlib.families import get
from memdlib.generative.marginals import DIVERGENCES, ClassMarginals, family_moments
from memdlib.moments import ClassMoments
from memdlib.validation import (
    NONNEGATIVE,
    POSITIVE,
    Words,
    check_parameters,
    checked_data,
    labelled_data,
)

Array = NDArray[np.float64]

COUNTS = ("log", "presence", "raw")


def divergence_weights(marginals: ClassMarginals, divergence: str) -> Array:
    """Divergence of each feature as a share of the largest.

    Parameters
    ----------
    marginals : ClassMarginals
        Of d features, in a family of finite divergences.
    divergence : {"js_gm", "jeffreys", "js"}

    Returns
    -------
    ndarray of shape (d,)
        From 0 to 1; 1 for all features if none tells anything.

    Examples
    --------
    >>> from memdlib.families import Bernoulli
    >>> X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> moments = family_moments(Bernoulli(), X, np.array([0, 0, 1, 1]), 2, np.ones(4))
    >>> divergence_weights(ClassMarginals(moments, Bernoulli()), "js_gm").tolist()
    [1.0, 0.0]
    """
    value = marginals.divergences(divergence)
    return value / value.max() if value.max() > 0 else np.ones_like(value)


def weighted_rows(X: MatrixLike, weight: Array) -> MatrixLike:
    """Multiply the columns, and then each row so that it keeps its length.

    Parameters
    ----------
    X : {ndarray, csr} of shape (n, d)
    weight : ndarray of shape (d,)
        Zero or above.

    Returns
    -------
    {ndarray, csr_array} of shape (n, d), float64
        A row whose columns all have weight zero becomes zero.

    Examples
    --------
    >>> weighted_rows(np.array([[3.0, 4.0]]), np.array([1.0, 0.0])).tolist()
    [[5.0, 0.0]]
    """
    return _of_length(_scaled_columns(X, weight), np.sqrt(_squares(X)))


class DivergenceWeighter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Counts of words as rows of length one, words weighted by their divergence.

    A count c becomes 1 + log c (c itself below one), times 1 + log((1 + n) / (1 + df))
    for a word that is in df of n training documents, times its divergence between the
    classes to a power; then each document is divided by its length. A word that no
    training document holds weighs nothing.

    Parameters
    ----------
    power : float >= 0, default=0.25
        0 leaves the divergence out: y is then not needed.
    divergence : {"js_gm", "jeffreys", "js"}, default="jeffreys"
        Between the class marginals of the presence of the word.
    counts : {"log", "presence", "raw"}, default="log"
        1 + log c, 1, or c for a count c of one or more. A share of a count c below one
        is c, but for "presence", where it is 1.
    idf : bool, default=True
        Whether rare words weigh more.
    smoothing : float > 0, default=1.0
        Of the marginals; see :class:`memdlib.MeMdClassifier`.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        What the counts, or their logarithms, are multiplied by.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    Each choice says what a classifier of means is constrained to match. Raw counts:
    the mean count, to which one long document may contribute without bound. Rows of
    length one: means of directions, to which every document contributes equally,
    however many junk tokens an attachment adds. Log counts: the second occurrence of a
    word says less than the first. Weights: how tightly each mean is to be matched; a
    penalty of the squared coefficients in these units forgives a mismatch of words of
    small weight.

    The weights are fitted to the labels. What is chosen after them, such as a penalty,
    must be chosen on rows that they have not seen: put both into one pipeline.

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> text = simulate_text_counts(n_documents=200, n_words=100, seed=1)
    >>> Z = DivergenceWeighter().fit_transform(text.X, text.y)
    >>> Z.power(2).sum(axis=1)[:3].round(12).tolist()
    [1.0, 1.0, 1.0]
    """

    weights_: Array

    _parameter_constraints: ClassVar[dict] = {
        "power": [NONNEGATIVE],
        "divergence": [Words(*DIVERGENCES)],
        "counts": [Words(*COUNTS)],
        "idf": ["boolean"],
        "smoothing": [POSITIVE],
    }

    def __init__(
        self,
        power: float = 0.25,
        divergence: str = "jeffreys",
        counts: str = "log",
        idf: bool = True,
        smoothing: float = 1.0,
    ) -> None:
        self.power = power
        self.divergence = divergence
        self.counts = counts
        self.idf = idf
        self.smoothing = smoothing

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Find the weights of the words.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Counts, zero or above.
        y : array-like of shape (n,), default=None
            Class labels, at least two classes; not needed with ``power=0``.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On negative counts, a single class, or a parameter out of range.
        """
        check_parameters(self)
        if y is None:
            if self.power:
                raise ValueError(
                    "requires y to be passed, but the target y is None: with "
                    f"power={self.power} words are weighted by what they tell of y; "
                    "pass labels, or power=0"
                )
            y = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X))
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, several=self.power > 0
        )
        _check_counts(X)
        documents = np.ravel(weight @ (X > 0))
        moments = None
        if self.power:
            family = get("bernoulli")
            seen = family.observe(X)
            moments = family_moments(family, seen, codes, len(classes), weight)
        self.weights_ = word_weights(self, documents, weight.sum(), moments)
        return self

    def transform(self, X: MatrixLike) -> MatrixLike:
        """Weigh the words of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Counts, zero or above.

        Returns
        -------
        {ndarray, csr_array} of shape (n, d)
            Rows of length one; zero where no word of any weight occurs.

        Raises
        ------
        ValueError
            On negative counts.
        """
        check_is_fitted(self)
        X = checked_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=False,
        )
        _check_counts(X)
        kept = X.dtype
        X = X.astype(np.float64, copy=True)
        values = X.data if sparse.issparse(X) else X
        if self.counts != "raw":
            positive = values > 0
            values[positive] = (
                1.0 if self.counts == "presence" else _log_counts(values[positive])
            )
        X = _scaled_columns(X, self.weights_)
        return _of_length(X, 1.0).astype(kept, copy=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = bool(self.power)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def word_weights(
    weighter: DivergenceWeighter,
    documents: Array,
    total: float,
    moments: ClassMoments | None,
) -> Array:
    """Weights of the words, from how many documents hold them.

    Parameters
    ----------
    weighter : DivergenceWeighter
    documents : ndarray of shape (d,)
        Weight of those that hold each word.
    total : float
        Weight of all.
    moments : ClassMoments or None
        Of the presence of the words; not looked at with ``power=0``.

    Returns
    -------
    ndarray of shape (d,)
    """
    found = (documents > 0).astype(np.float64)
    if weighter.idf:
        found *= 1.0 + np.log((1.0 + total) / (1.0 + documents))
    if weighter.power:
        marginals = ClassMarginals(
            moments, get("bernoulli"), smoothing=weighter.smoothing
        )
        found *= divergence_weights(marginals, weighter.divergence) ** weighter.power
    return found


def _check_counts(X):
    values = X.data if sparse.issparse(X) else X
    if values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: {values.min()} is no count; counts of words are "
            "zero or above"
        )


def _log_counts(counts: Array) -> Array:
    """1 + log c, and below one its tangent there, c, which stays above zero."""
    return np.minimum(counts, 1.0) + np.log(np.maximum(counts, 1.0))


def _of_length(X, length):
    """Rows of these lengths; zeros stay zeros."""
    own = np.sqrt(_squares(X))
    return _scaled_rows(
        X, np.divide(length, own, out=np.zeros_like(own), where=own > 0)
    )


def _squares(X) -> Array:
    if sparse.issparse(X):
        return _with_values(X, X.data * X.data) @ np.ones(X.shape[1])
    return np.einsum("ij,ij->i", X, X)


def _scaled_columns(X, factor: Array):
    if sparse.issparse(X):
        return _with_values(X, X.data * factor[X.indices])
    return X * factor


def _scaled_rows(X, factor: Array):
    if sparse.issparse(X):
        return _with_values(X, X.data * np.repeat(factor, np.diff(X.indptr)))
    return X * factor[:, None]


def _with_values(X, values: Array) -> sparse.csr_array:
    """Other values where those of X are."""
    return sparse.csr_array((values, X.indices, X.indptr), X.shape)
