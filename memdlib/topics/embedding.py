"""Eight generative embeddings of documents by pLSA, as one transformer."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from memdlib._types import Array, ArrayLike, MatrixLike, NDArray, Weights
from memdlib.estimator import all_or_nothing
from memdlib.topics.plsa import PLSA
from memdlib.topics.scores import (
    fisher_scores,
    free_energy_terms,
    log_likelihoods,
    posterior_divergences,
)
from memdlib.validation import Words, checked_data, labelled_data


class Kind(NamedTuple):
    """An embedding: what it is made of, and of which models."""

    of_model: Callable[..., Any]  # gets a model and documents; gives (n, size) numbers
    by_class: bool  # whether there is one model a class, or one for all
    parts: tuple[str, ...]  # of one number a topic; "words" has one a word and topic


_GRADIENT = ("prior", "words")
_ENERGY = ("entropy", "prior", "fit")
KINDS = {
    "MT-1": Kind(PLSA.transform, True, ("topic",)),
    "MT-2": Kind(PLSA.transform, False, ("topic",)),
    "FESS-1": Kind(free_energy_terms, True, _ENERGY),
    "FESS-2": Kind(free_energy_terms, False, _ENERGY),
    "LLR": Kind(fisher_scores, True, _GRADIENT),
    "FS": Kind(fisher_scores, False, _GRADIENT),
    "TOP": Kind(fisher_scores, True, _GRADIENT),
    "PD": Kind(posterior_divergences, False, (*_ENERGY, "cost")),
}


class GenerativeEmbedding(TransformerMixin, BaseEstimator):
    """Embed documents by what pLSA models of training documents say about them [1]_.

    Parameters
    ----------
    kind : str, default="MT-2"
        With Z topics, W features and K classes:

        - "MT-2", "MT-1": mixture of topics P(z | d), of one model for all (Z numbers)
          or of one a class (K Z);
        - "FESS-2", "FESS-1": terms of the free energy, likewise (3 Z, or 3 K Z);
        - "FS": Fisher score, the gradient of the log-likelihood, of one model for all
          (Z (1 + W)); "LLR": the same of one model a class (K Z (1 + W));
        - "TOP": log-odds of the second of two classes, and their gradient
          (1 + 2 Z (1 + W)); without the former it gives the linear kernel of "LLR";
        - "PD": posterior divergence, with one model for all (4 Z).
    plsa : PLSA, default=None
        Copied and fitted; None is ``PLSA()``.
    random_state : int, RandomState instance or None, default=None
        Of the models, in place of that of ``plsa``; None leaves it.

    Attributes
    ----------
    models_ : list of PLSA
        One, or one a class.
    classes_ : ndarray of shape (K,)
        Only for the kinds with one model a class.
    class_prior_ : ndarray of shape (K,)
        Shares of the weight; likewise.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (W,)
        Only when X has string column names.

    Notes
    -----
    Documents of the training set are treated like any others. If some class can bear
    all topics of ``plsa``, one of fewer different documents, or of fewer words, gets as
    many topics as it has of them.

    References
    ----------
    .. [1] Bicego et al., Combining information theoretic kernels with generative
       embeddings for classification, Neurocomputing 101 (2013), section 2.2.

    Examples
    --------
    >>> from memdlib.topics import PLSA, GenerativeEmbedding
    >>> X = [[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [4, 2, 3, 3]]
    >>> embedding = GenerativeEmbedding("FESS-2", PLSA(n_topics=2, random_state=0))
    >>> embedding.fit_transform(X).shape
    (4, 6)
    >>> embedding.get_feature_names_out().tolist()
    ['entropy0', 'entropy1', 'prior0', 'prior1', 'fit0', 'fit1']
    """

    kind_: str
    models_: list[PLSA]
    classes_: NDArray[Any]
    class_prior_: Array

    _parameter_constraints: ClassVar[dict] = {
        "kind": [Words(*KINDS)],
        "plsa": [PLSA, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kind: str = "MT-2",
        plsa: PLSA | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kind = kind
        self.plsa = plsa
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: Weights = None
    ) -> Self:
        """Fit the models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, W)
            Nonnegative, as for :class:`PLSA`.
        y : array-like of shape (n,), default=None
            Class labels, for the kinds with one model a class; else ignored.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative.

        Returns
        -------
        self
        """
        for stale in ("classes_", "class_prior_"):
            vars(self).pop(stale, None)
        kind = KINDS[self.kind]
        model = clone(PLSA() if self.plsa is None else self.plsa)
        if self.random_state is not None:
            model.set_params(random_state=self.random_state)
        if kind.by_class:
            X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
            n_classes = len(self.classes_)
            if self.kind == "TOP" and n_classes != 2:
                raise ValueError(
                    f"kind='TOP' is for two classes, and y holds {n_classes}; use "
                    "kind='LLR'"
                )
            parts = [(X[codes == k], weight[codes == k]) for k in range(n_classes)]
            topics = [_most_topics(rows, model.n_topics) for rows, _ in parts]
            if max(topics) < model.n_topics:  # too many for all, which its fit says
                topics = [model.n_topics] * n_classes
            self.class_prior_ = np.bincount(codes, weight) / weight.sum()
        else:
            X = checked_data(self, X)
            parts, topics = [(X, sample_weight)], [model.n_topics]
        self.models_ = [
            clone(model).set_params(n_topics=n).fit(rows, sample_weight=own)
            for n, (rows, own) in zip(topics, parts, strict=True)
        ]
        self.kind_ = self.kind
        return self

    def transform(self, X: MatrixLike) -> MatrixLike:
        """Embed documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, W)

        Returns
        -------
        ndarray or csr_array of shape (n, size)
            Gradients are sparse if X is.
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        parts = [KINDS[self.kind_].of_model(model, X) for model in self.models_]
        if self.kind_ == "TOP":
            logs = [log_likelihoods(model, X) for model in self.models_]
            prior = np.log(self.class_prior_)
            odds = (logs[1] + prior[1]) - (logs[0] + prior[0])
            parts = [odds[:, None], -parts[0], parts[1]]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack([sparse.csr_array(p) for p in parts], format="csr")
        return np.hstack(parts)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Names of the numbers: class, part, topic and, for gradients, feature.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of X, where they have none of their own.

        Returns
        -------
        ndarray of str of shape (size,)
        """
        check_is_fitted(self)
        features = _check_feature_names_in(self, input_features)
        kind = KINDS[self.kind_]
        names = ["log_odds"] if self.kind_ == "TOP" else []
        for k, model in enumerate(self.models_):
            label = f"{self.classes_[k]}_" if kind.by_class else ""
            for part in kind.parts:
                ends = [f"_{name}" for name in features] if part == "words" else [""]
                for z in range(len(model.components_)):
                    names += [f"{label}{part}{z}{end}" for end in ends]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = self.kind in KINDS and KINDS[self.kind].by_class
        if self.kind == "TOP":
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _most_topics(X, n_topics: int) -> int:
    """Number of topics, but no more than there are different documents, or words."""
    rows = np.flatnonzero((X > 0).sum(axis=1))
    most = min(n_topics, max(np.count_nonzero((X > 0).sum(axis=0)), 1))
    different: set[bytes] = set()
    for i in rows:
        row = X[[i]].toarray() if sparse.issparse(X) else X[i]
        different.add((row + 0.0).tobytes())
        if len(different) == most:
            break
    return max(len(different), 1)
