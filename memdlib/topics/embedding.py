"""Eight generative embeddings of documents by pLSA, as one transformer."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import StrOptions, check_feature_names_in
from memdlib.topics.counts import as_counts
from memdlib.topics.plsa import PLSA
from memdlib.topics.scores import (
    fisher_scores,
    free_energy_terms,
    log_likelihoods,
    posterior_divergences,
)
from memdlib.validation import restore_on_error, validate_features, validate_labelled


class Kind(NamedTuple):
    """An embedding: how it is computed, and from which models."""

    embed: Callable[..., Any]  # takes a model and X; returns (n, n_features_out)
    by_class: bool  # whether there is one model per class, or one for all documents
    blocks: tuple[str, ...]  # one column per topic; "words": one per topic and word


_GRADIENT = ("prior", "words")
_ENERGY = ("entropy", "prior", "fit")
_DIVERGENCE = ("entropy", "prior", "fit", "cost")
KINDS = {
    "MT-1": Kind(PLSA.transform, by_class=True, blocks=("topic",)),
    "MT-2": Kind(PLSA.transform, by_class=False, blocks=("topic",)),
    "FESS-1": Kind(free_energy_terms, by_class=True, blocks=_ENERGY),
    "FESS-2": Kind(free_energy_terms, by_class=False, blocks=_ENERGY),
    "LLR": Kind(fisher_scores, by_class=True, blocks=_GRADIENT),
    "FS": Kind(fisher_scores, by_class=False, blocks=_GRADIENT),
    "TOP": Kind(fisher_scores, by_class=True, blocks=_GRADIENT),
    "PD": Kind(posterior_divergences, by_class=False, blocks=_DIVERGENCE),
}


class GenerativeEmbedding(TransformerMixin, BaseEstimator):
    """Embed documents by the features that fitted pLSA models give them [1]_.

    Parameters
    ----------
    kind : str, default="MT-2"
        The embedding, of a size given here for Z topics, W features and K classes:

        - "MT-2", "MT-1": mixture of topics P(z | d), under one model of all documents
          (Z columns) or one model per class (K Z);
        - "FESS-2", "FESS-1": terms of the free energy, likewise (3 Z, or 3 K Z);
        - "FS": Fisher score, the gradient of the log-likelihood, under one model of
          all documents (Z (1 + W)); "LLR": the same under one model per class
          (K Z (1 + W));
        - "TOP": log-odds of the second of two classes, and their gradient
          (1 + 2 Z (1 + W)); without the former it gives the linear kernel of "LLR";
        - "PD": posterior divergence, under one model of all documents (4 Z).
    plsa : PLSA, default=None
        Model to clone and fit; None is ``PLSA()``.
    random_state : int, RandomState instance or None, default=None
        Replaces the ``random_state`` of ``plsa``; None keeps it.

    Attributes
    ----------
    models_ : list of PLSA
        The fitted models: one, or one per class.
    classes_ : ndarray of shape (K,)
        Class labels, only for the kinds with one model per class.
    class_prior_ : ndarray of shape (K,)
        Fraction of the weight of each class, likewise.
    n_features_in_ : int
        Number of features seen in :meth:`fit`.
    feature_names_in_ : ndarray of shape (W,)
        Only if X has column names that are all strings.

    Notes
    -----
    Documents of the training set are embedded like any others. If some class can
    support all topics of ``plsa``, a class with fewer distinct documents or words than
    topics gets as many topics as it has of them.

    References
    ----------
    .. [1] Bicego et al., Combining information theoretic kernels with generative
       embeddings for classification, Neurocomputing 101 (2013), section 2.2.

    Examples
    --------
    >>> from memdlib.topics import PLSA, GenerativeEmbedding
    >>> X = [[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [4, 2, 3, 3]]
    >>> plsa = PLSA(n_components=2, random_state=0)
    >>> embedding = GenerativeEmbedding("FESS-2", plsa=plsa)
    >>> embedding.fit_transform(X).shape
    (4, 6)
    >>> embedding.get_feature_names_out().tolist()
    ['entropy0', 'entropy1', 'prior0', 'prior1', 'fit0', 'fit1']
    """

    _parameter_constraints = {
        "kind": [StrOptions(set(KINDS))],
        "plsa": [PLSA, None],
        "random_state": ["random_state"],
    }

    # Weights multiply the counts of words: they need not be of order one.
    _weights_count_rows = False

    def __init__(
        self,
        kind="MT-2",
        *,
        plsa=None,
        random_state=None,
    ):
        self.kind = kind
        self.plsa = plsa
        self.random_state = random_state

    @restore_on_error
    def fit(self, X, y=None, sample_weight=None):
        """Fit the models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, W)
            Nonnegative, as for :class:`PLSA`.
        y : array-like of shape (n,), default=None
            Class labels, for the kinds with one model per class; ignored otherwise.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative weights of the documents.

        Returns
        -------
        self
        """
        # An earlier fit may have been of a kind with one model per class.
        for stale in ("classes_", "class_prior_"):
            vars(self).pop(stale, None)
        model = PLSA() if self.plsa is None else clone(self.plsa)
        if self.random_state is not None:
            model.set_params(random_state=self.random_state)
        if KINDS[self.kind].by_class:
            self._fit_by_class(model, X, y, sample_weight)
        else:
            X = validate_features(self, X)
            self.models_ = [model.fit(X, sample_weight=sample_weight)]
        self.kind_ = self.kind
        return self

    def _fit_by_class(self, model, X, y, sample_weight):
        """Fit a clone of the model to the documents of each class."""
        X, codes, weight, self.classes_ = validate_labelled(self, X, y, sample_weight)
        n_classes = len(self.classes_)
        if self.kind == "TOP" and n_classes != 2:
            raise ValueError(
                f"kind='TOP' is for two classes, and y holds {n_classes}; use "
                "kind='LLR'"
            )
        rows = [codes == k for k in range(n_classes)]
        n_components = [_feasible_topics(X[row], model.n_components) for row in rows]
        # If no class supports all topics, n_components is wrong, and the fit says so.
        if max(n_components) < model.n_components:
            n_components = [model.n_components] * n_classes
        self.class_prior_ = np.bincount(codes, weight) / weight.sum()
        self.models_ = []
        for k, row in enumerate(rows):
            of_class = clone(model).set_params(n_components=n_components[k])
            self.models_.append(of_class.fit(X[row], sample_weight=weight[row]))

    def transform(self, X):
        """Embed documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, W)

        Returns
        -------
        ndarray or csr_array of shape (n, n_features_out)
            Gradients are sparse if X is.
        """
        check_is_fitted(self)
        X = validate_features(self, X, reset=False)
        embed = KINDS[self.kind_].embed
        blocks = [embed(model, X) for model in self.models_]
        if self.kind_ == "TOP":
            first, second = (log_likelihoods(model, X) for model in self.models_)
            prior = np.log(self.class_prior_)
            log_odds = (second + prior[1]) - (first + prior[0])
            blocks = [log_odds[:, None], -blocks[0], blocks[1]]
        # Gradients are the last of the blocks.
        if sparse.issparse(blocks[-1]):
            blocks = [sparse.csr_array(block) for block in blocks]
            return sparse.hstack(blocks, format="csr")
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, such as ``a_words0_w1``.

        They hold the class, the term, the number of the topic and, for gradients, the
        feature.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of X, if X had no column names in :meth:`fit`.

        Returns
        -------
        ndarray of str of shape (n_features_out,)
        """
        check_is_fitted(self)
        features = check_feature_names_in(self, input_features)
        kind = KINDS[self.kind_]
        names = []
        if self.kind_ == "TOP":
            names.append("log_odds")
        for k, model in enumerate(self.models_):
            prefix = f"{self.classes_[k]}_" if kind.by_class else ""
            for block in kind.blocks:
                for z in range(len(model.components_)):
                    name = f"{prefix}{block}{z}"
                    if block == "words":
                        names.extend(f"{name}_{feature}" for feature in features)
                    else:
                        names.append(name)
        return np.array(names, dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = self.kind in KINDS and KINDS[self.kind].by_class
        if self.kind == "TOP":
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _feasible_topics(X, n_components):
    """Number of topics, but at most that of distinct documents, or of words, in X.

    Documents without counts do not count.
    """
    counts = as_counts(X)
    words = set(counts.indices)
    documents = {
        counts.indices[start:stop].tobytes() + counts.data[start:stop].tobytes()
        for start, stop in pairwise(counts.indptr)
        if stop > start
    }
    return max(1, min(n_components, len(words), len(documents)))
