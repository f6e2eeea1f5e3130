"""MeMd of documents: the words that are kept, and the rest of the document.

The counts of a document add up to its length, so that words which are left out still
say something: there are so many of them. With the words V kept, the rest of the
document is one more category, and Bayes' rule is

    argmax_k  log pi_k + sum_{w in V} x_w log theta_kw
                       + (N - sum_{w in V} x_w) log(1 - sum_{w in V} theta_kw).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.estimator import finite_scores
from memdlib.families import Binomial
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.memd.classifier import MeMdClassifier
from memdlib.generative.memd.model import MarginalModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DocumentScores:
    """Log probabilities of documents, of which some words are kept.

    Parameters
    ----------
    theta : ndarray of shape (K, d)
        Word probabilities of each class.
    log_prior : ndarray of shape (K,)

    Examples
    --------
    >>> theta = np.array([[0.9, 0.05, 0.05], [0.8, 0.1, 0.1]])
    >>> scores = DocumentScores(theta, np.log([0.5, 0.5]))
    >>> total = scores.total(np.array([[8.0, 2.0, 0.0]]), np.array([0]))
    >>> odds = 8 * np.log(0.9 / 0.8) + 2 * np.log(0.1 / 0.2)
    >>> bool(np.isclose(total[0, 0] - total[0, 1], odds))
    True
    """

    theta: Array
    log_prior: Array

    @classmethod
    def of(cls, marginals: ClassMarginals) -> "DocumentScores":
        """Scores of class marginals, whose mean parameters are word probabilities.

        Parameters
        ----------
        marginals : ClassMarginals

        Returns
        -------
        DocumentScores
        """
        with np.errstate(divide="ignore"):
            return cls(marginals.mean_params[..., 0], np.log(marginals.prior))

    @np.errstate(over="ignore", invalid="ignore")
    def total(self, X: MatrixLike, features: NDArray[np.intp]) -> Array:
        """Joint log probability of class, kept words and rest, but for a constant.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Counts of all words.
        features : ndarray of int
            Which words are kept.

        Returns
        -------
        ndarray of shape (n, K)

        Raises
        ------
        ValueError
            If a row overflows in every class; names its largest value.
        """
        # log theta of the kept words, that of the rest for all others
        left_out = np.ones(X.shape[1], dtype=bool)
        left_out[features] = False
        share = self.theta.copy()
        share[:, left_out] = self.theta[:, left_out].sum(axis=1, keepdims=True)
        return finite_scores(self.log_prior + X @ _relative(share).T, X)

    @np.errstate(over="ignore", invalid="ignore")
    def correct_weight(
        self,
        X: MatrixLike,
        codes: NDArray[np.intp],
        weight: Array,
        order: NDArray[np.intp],
        grid: Sequence[int],
    ) -> Array:
        """Weight of the documents classified rightly with the top S words.

        Parameters
        ----------
        X : ndarray or sparse of shape (n, d)
        codes : ndarray of shape (n,)
            Class indices; one that is no class counts as an error.
        weight : ndarray of shape (n,)
        order : ndarray of int of shape (d,)
            Words, the best first.
        grid : sequence of int
            Values of S, ascending.

        Returns
        -------
        ndarray of shape (len(grid),)

        Raises
        ------
        ValueError
            If a row overflows in every class; names its largest value.
        """
        X = X[:, order].tocsc() if sparse.issparse(X) else X[:, order]
        theta, one = self.theta[:, order], np.ones(X.shape[1])
        # from the last word on: no rest is a difference of nearly equal numbers
        rest = _relative(np.cumsum(theta[:, ::-1], axis=1)[:, ::-1])
        slope, total = _relative(theta), np.tile(self.log_prior, (X.shape[0], 1))
        left, correct, start = X @ one, np.empty(len(grid)), 0
        for place, stop in enumerate(grid):
            block = X[:, start:stop]
            total += block @ slope[:, start:stop].T
            left = np.maximum(left - block @ one[start:stop], 0.0)
            score = total
            if stop < len(order):
                score = total + np.outer(left, rest[:, stop])
            correct[place] = (finite_scores(score, X).argmax(axis=1) == codes) @ weight
            start = stop
        return correct


@dataclass(frozen=True)
class DocumentModel(MarginalModel):
    """Word probabilities, the order of the words, and how many of them are kept.

    The parameters are those of :class:`memdlib.generative.memd.model.MarginalModel`.
    """

    @cached_property
    def scores(self) -> DocumentScores:
        """Log probabilities of documents with the words that are kept."""
        return DocumentScores.of(self.marginals)


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
    Words are ranked one at a time. Their divergences do not add up, so that the S best
    need not be the best S; see the book on additivity.

    The rest is trusted as much as the words that were kept. On newsgroups that may gain
    or lose twenty points of accuracy with thirty words: it gains where they are typical
    of one class, and loses where files sent as text fill a few documents. With S chosen
    by accuracy there is next to no difference. So compare this classifier with
    ``MeMdClassifier(family="multinomial")`` on held-out documents.

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

    _parameter_constraints: ClassVar = {
        name: allowed
        for name, allowed in MeMdClassifier._parameter_constraints.items()
        if name not in ("family", "shrinkage")
    }
    family: Binomial = Binomial()
    shrinkage: float = 0.0

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

    def _estimate(self, moments, classes) -> DocumentModel:
        model = super()._estimate(moments, classes)
        return DocumentModel(**{f.name: getattr(model, f.name) for f in fields(model)})


def _relative(share: Array) -> Array:
    """Logarithms, less what all classes have in common."""
    return np.log(share / share.max(axis=0))
