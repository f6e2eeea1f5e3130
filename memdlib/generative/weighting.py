"""Divergence as a term weight: a word counts by how well it separates the classes."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import (
    _num_samples,
    check_is_fitted,
    check_non_negative,
)

from memdlib._sklearn import StrOptions
from memdlib.generative.marginals import DIVERGENCES
from memdlib.generative.ranking import DivergenceRanker
from memdlib.validation import (
    NONNEGATIVE,
    POSITIVE,
    restore_on_error,
    validate_features,
    validate_labelled,
)


class DivergenceWeighter(
    OneToOneFeatureMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Scale rows of word counts to length one, weighting words by their divergence.

    Like :class:`sklearn.feature_extraction.text.TfidfTransformer` with sublinear counts
    (1 + log c, and c itself below one), with one more factor: the divergence of the
    word between the classes, as a fraction of the largest, to a power.
    The weights depend on the labels: tune whatever follows them inside one pipeline.
    Like that transformer, it returns arrays even where ``transform_output`` asks for
    frames.

    Parameters
    ----------
    power : float >= 0, default=0.25
        Exponent of the divergence; 0 leaves it out, and y is then not needed.
    divergence : {"js_gm", "jeffreys", "js"}, default="jeffreys"
        Between the class marginals of the presence of the word.
    alpha : float > 0, default=1.0
        Smoothing of the marginals; see :class:`memdlib.MeMdClassifier`.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        Factors of the sublinear counts; zero for words that occur in no training
        document.
    n_features_in_ : int

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> from memdlib.generative import DivergenceWeighter
    >>> text = simulate_text_counts(n_documents=200, n_words=100, random_state=1)
    >>> Z = DivergenceWeighter().fit_transform(text.X, text.y)
    >>> Z.power(2).sum(axis=1)[:3].round(12).tolist()
    [1.0, 1.0, 1.0]
    """

    _parameter_constraints = {
        "power": [NONNEGATIVE],
        "divergence": [StrOptions(set(DIVERGENCES))],
        "alpha": [POSITIVE],
    }

    def __init__(
        self,
        power=0.25,
        *,
        divergence="jeffreys",
        alpha=1.0,
    ):
        self.power = power
        self.divergence = divergence
        self.alpha = alpha

    @restore_on_error
    def fit(self, X, y=None, sample_weight=None):
        """Compute the weights of the words.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Nonnegative counts.
        y : array-like of shape (n,), default=None
            Class labels; not needed with ``power=0``.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a count is negative, or labels are needed and missing.
        """
        if y is None:
            if self.power:
                raise ValueError(
                    "requires y to be passed, but the target y is None; pass labels, "
                    "or power=0"
                )
            y = np.zeros(_num_samples(X))
        X, codes, weight, _ = validate_labelled(
            self, X, y, sample_weight, several=self.power > 0
        )
        check_non_negative(X, type(self).__name__)
        document_frequency = np.ravel(weight @ (X > 0))
        weights = (document_frequency > 0).astype(np.float64)
        # the smooth inverse document frequency of TfidfTransformer
        weights *= 1.0 + np.log((1.0 + weight.sum()) / (1.0 + document_frequency))
        if self.power:
            ranker = DivergenceRanker(
                self.divergence, family="bernoulli", alpha=self.alpha
            )
            divergences = ranker.fit(X, codes, weight).scores_
            if divergences.any():
                weights *= (divergences / divergences.max()) ** self.power
        self.weights_ = weights
        return self

    def transform(self, X):
        """Weight the words of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)

        Returns
        -------
        {ndarray, csr_array} of shape (n, d)
            Rows of Euclidean length one; a row is zero if it holds no word of positive
            weight.
        """
        check_is_fitted(self)
        X = validate_features(self, X, reset=False)
        check_non_negative(X, type(self).__name__)
        Z = X.astype(np.float64, copy=True)
        if sparse.issparse(Z):
            Z.data = _sublinear(Z.data) * self.weights_[Z.indices]
        else:
            Z = _sublinear(Z) * self.weights_
        return normalize(Z, copy=False).astype(X.dtype, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = bool(self.power)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _sublinear(counts):
    """Transform counts of any shape: c up to one, 1 + log c above."""
    return np.minimum(counts, 1.0) + np.log(np.maximum(counts, 1.0))
