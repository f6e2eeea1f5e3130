"""MeMd of documents: the words that are kept, and the rest of the document.

The counts of a document add up to its length, so that words which are left out still
say something: there are so many of them. With the words V kept, the rest of the
document is one more category, and Bayes' rule is

    argmax_k  log pi_k + sum_{w in V} x_w log theta_kw
                       + (N - sum_{w in V} x_w) log(1 - sum_{w in V} theta_kw).
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from memdlib._types import Array, ArrayLike, Indices, MatrixLike
from memdlib.estimator import finite_scores
from memdlib.families import Binomial
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.scores import Scores, by_feature, running, step_sums


@dataclass(frozen=True)
class DocumentScores(Scores):
    """Log probabilities of documents, of which some words are kept.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    features : ndarray of int, shape (f,)
        Words that are kept.
    theta : ndarray of shape (K, d)
        Word probabilities of each class.
    slopes : ndarray of shape (d, K)
        Log probabilities of kept words, of the rest for others, less what is shared.
    """

    log_prior: Array
    features: Indices
    theta: Array
    slopes: Array

    @classmethod
    def of(cls, marginals: ClassMarginals, features: Indices) -> "DocumentScores":
        """Scores by some words (f,) and the rest."""
        theta = marginals.mean_params[..., 0]
        left_out = np.ones(theta.shape[1], dtype=bool)
        left_out[features] = False
        share = np.where(left_out, theta[:, left_out].sum(axis=1)[:, None], theta)
        with np.errstate(divide="ignore"):
            return cls(np.log(marginals.prior), features, theta, _relative(share).T)

    def total(self, X: MatrixLike) -> Array:
        """Log joint probability (n, K) of counts X (n, d), but for what is shared."""
        return finite_scores(self.log_prior + X @ self.slopes, X)

    def _totals(self, X, grid):
        order = np.append(
            self.features, np.setdiff1d(np.arange(X.shape[1]), self.features)
        )
        columns, theta = by_feature(X)[order], self.theta[:, order]
        # from the last word on: no rest is a difference of nearly equal numbers
        rest = _relative(np.cumsum(theta[:, ::-1], axis=1)[:, ::-1])
        rest = np.column_stack([rest, np.zeros(len(rest))]).T[:, None]
        # one column more: how many words are left
        slopes = np.vstack([_relative(theta), -np.ones(len(order))])
        start = np.tile(self.log_prior, (columns.shape[1], 1))
        start = np.column_stack([start, X @ np.ones(len(order))])

        def added(edges):
            if sparse.issparse(columns):
                return step_sums(columns, slopes, edges)
            part = slice(edges[0], edges[-1])
            block, some = columns[part], slopes[:, part]
            if len(edges) == 2:
                return (some @ block).T[None]
            return np.moveaxis(some[..., None] * block, 0, -1)

        sizes = iter(grid)
        for scores in running(start, X.shape[0], grid, added, sparse.issparse(X)):
            stops = list(islice(sizes, len(scores)))
            yield scores[..., :-1] + np.maximum(scores[..., -1:], 0.0) * rest[stops]


class MultinomialMeMdClassifier(MeMdClassifier):
    """MeMd of word counts by Bayes' rule on the words kept and the rest as one more.

    The sum over the words kept that :class:`memdlib.MeMdClassifier` takes under the
    multinomial family is Bayes' rule only if all words are kept. This classifier adds
    what is missing, the number of all other words of the document (of those that are
    columns of X). With all words kept the two are one.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Ranks the words, each against the rest of the document
        (:class:`memdlib.families.Binomial`).
    n_features : "auto", int, float in (0, 1] or None, default="auto"
    validation : float in (0, 1) or int >= 2, default=0.2
    smoothing : float >= 0, default=1.0
    random_state : int, RandomState or None, default=None
    n_features_grid : None, "every" or array-like of int, default=None
    priors : array-like of shape (K,), default=None
    class_weight : None, "balanced" or dict, default=None
        All as in :class:`memdlib.MeMdClassifier`.

    Attributes
    ----------
    mean_params_ : ndarray of shape (K, d, 1)
        Word probabilities theta of each class, of sum one over the words.
    natural_params_ : ndarray of shape (K, d, 1)
        -logit theta.
    classes_, class_prior_, feature_divergences_, feature_importances_, order_, \
ranking_, n_selected_, validation_n_features_, validation_curve_, n_features_in_, \
feature_names_in_
        As in :class:`memdlib.MeMdClassifier`.

    Notes
    -----
    The rest is trusted as much as the words that were kept: with thirty words of
    newsgroups that may gain or lose twenty points of accuracy. So compare this
    classifier with ``MeMdClassifier(family="multinomial")`` on held-out documents.

    References
    ----------
    .. [1] McCallum, Nigam, A comparison of event models for naive Bayes text
       classification, AAAI-98 workshop on learning for text categorization.

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> text = simulate_text_counts(n_documents=400, n_words=300, seed=1)
    >>> train, test = slice(None, None, 2), slice(1, None, 2)
    >>> clf = MultinomialMeMdClassifier(n_features=5).fit(text.X[train], text.y[train])
    >>> plain = MeMdClassifier(family="multinomial", n_features=5)
    >>> plain.fit(text.X[train], text.y[train]).score(text.X[test], text.y[test])
    0.695
    >>> clf.score(text.X[test], text.y[test])
    0.785
    """

    family: Binomial = Binomial()
    shrinkage: float = 0.0
    _kind_of_scores: ClassVar = DocumentScores

    def __init__(
        self,
        divergence: str = "js_gm",
        n_features: float | int | str | None = "auto",
        validation: float | int = 0.2,
        smoothing: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        *,
        n_features_grid: ArrayLike | str | None = None,
        priors: ArrayLike | None = None,
        class_weight: dict[Any, Any] | str | None = None,
    ) -> None:
        self.divergence = divergence
        self.n_features = n_features
        self.validation = validation
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_features_grid = n_features_grid
        self.priors = priors
        self.class_weight = class_weight


def _relative(share: Array) -> Array:
    """Logarithms, less what all classes have in common."""
    return np.log(share / share.max(axis=0))
