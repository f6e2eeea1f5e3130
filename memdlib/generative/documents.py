"""MeMd of documents: the selected words, and the rest of the document.

The counts of a document add up to its length, so words that are not selected still
carry information: their total number. With a set V of selected words, the rest of the
document is one more category, and Bayes' rule is

    argmax_k  log pi_k + sum_{w in V} x_w log theta_kw
                       + (N - sum_{w in V} x_w) log(1 - sum_{w in V} theta_kw).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from memdlib._types import Array, Indices
from memdlib.estimator import check_finite_scores
from memdlib.families import Binomial
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.scores import Scores, by_step, steps_of

# Stands for minus infinity, whose product with a count of zero is NaN; far below any
# log probability times a count.
_IMPOSSIBLE = -1e200


@dataclass(frozen=True, eq=False)
class DocumentScores(Scores):
    """Log probabilities of documents, from some words and the number of all others.

    Parameters
    ----------
    family : Binomial
    log_prior : ndarray of shape (K,)
    features : ndarray of int, shape (f,)
        Selected words.
    theta : ndarray of shape (K, d)
        Word probabilities of each class.
    slopes : ndarray of shape (d, K)
        Log probability of each selected word, and for every other word that of all
        others together, up to a term that all classes share.
    """

    family: Binomial
    log_prior: Array
    features: Indices
    theta: Array
    slopes: Array

    @classmethod
    def of(cls, marginals, features):
        """Build scores from some words (f,) and all others together."""
        theta = marginals.mean_params[..., 0]
        left_out = np.ones(theta.shape[1], dtype=bool)
        left_out[features] = False
        theta_left_out = theta[:, left_out].sum(axis=1)[:, None]
        with np.errstate(divide="ignore"):
            log_prior = np.log(marginals.prior)
        slopes = _log_relative(np.where(left_out, theta_left_out, theta)).T
        return cls(
            family=marginals.family,
            log_prior=log_prior,
            features=features,
            theta=theta,
            slopes=slopes,
        )

    def total(self, X):
        counts = self.family.observe(X)
        scores = self.log_prior + counts @ self.slopes
        scores = np.where(scores < 1e-50 * _IMPOSSIBLE, -np.inf, scores)
        impossible = np.isneginf(scores).all(axis=1)
        if impossible.any():
            raise ValueError(
                f"row {impossible.argmax()} of X holds words that no class has "
                "together; use alpha > 0"
            )
        return check_finite_scores(scores, X)

    def running_totals(self, X, grid):
        X = self.family.observe(X)
        counts = X[:, self.features]
        slopes = _log_relative(self.theta[:, self.features])
        step = steps_of(grid)
        added = counts @ by_step(slopes, step, len(grid))
        n_added = counts @ by_step(np.ones((1, len(step))), step, len(grid))
        if sparse.issparse(added):
            added, n_added = added.toarray(), n_added.toarray()
        totals = added.reshape(len(n_added), len(grid), -1)
        totals[:, 0] += self.log_prior
        np.cumsum(totals, axis=1, out=totals)
        n_words = np.asarray(X.sum(axis=1)).reshape(-1, 1)
        n_others = n_words - np.cumsum(n_added, axis=1)
        # with fractional counts, rounding may leave a negative number
        n_others = np.maximum(n_others, 0.0)
        return totals + n_others[..., None] * self._other_slopes()[grid]

    def _other_slopes(self):
        """Slopes (f + 1, K) of all words except the first 0, 1, ..., f ranked ones.

        Their probabilities are summed from the last word on, to avoid differences of
        nearly equal numbers. Where no words remain, the slopes are zero.
        """
        theta_left_out = np.delete(self.theta, self.features, axis=1).sum(axis=1)
        from_last = np.column_stack(
            [theta_left_out, self.theta[:, self.features[::-1]]]
        )
        theta = np.cumsum(from_last, axis=1)[:, ::-1]
        return _log_relative(theta).T


class MultinomialMeMdClassifier(MeMdClassifier):
    """Multinomial MeMd of word counts, with all other words as one more category.

    With the multinomial family, :class:`memdlib.MeMdClassifier` sums over the selected
    words, which is Bayes' rule only if all words are selected. This classifier adds the
    missing term: the number of all other words of the document, among those that are
    columns of X. If all words are selected, the two classifiers agree.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Divergence that ranks the words, each against the rest of the document
        (:class:`memdlib.families.Binomial`). The values are those of
        :class:`memdlib.MeMdClassifier`.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        Number of top-ranked words to select: an int S, a float for a share of the
        words, or None for all. "auto" chooses the smallest S with the highest accuracy
        on held-out documents; in ``partial_fit`` it uses all words.
    cv : float in (0, 1) or int >= 2, default=0.2
        How "auto" holds out documents, stratified by class: a float holds out that
        share once (the paper's rule for text), an int each of that many folds in turn.
    alpha : float >= 0, default=1.0
        Additive smoothing of the word probabilities, as in
        :class:`memdlib.MeMdClassifier`.
    random_state : int, RandomState or None, default=None
        Seed for drawing the documents that "auto" holds out.
    n_features_grid : None, "every" or array-like of int, default=None
        Values of S that "auto" tries. None tries every S up to 64, then steps of 3 per
        cent, and d; "every" tries every S; an array lists the values.
    priors : array-like of shape (K,), default=None
        Class probabilities in the order of ``classes_``. None uses the shares of the
        instance weight.
    class_weight : None, "balanced" or dict, default=None
        Factors on the instance weights of each class. "balanced" gives all classes the
        same total weight; it is not available in ``partial_fit``.

    Attributes
    ----------
    mean_params_ : ndarray of shape (K, d, 1)
        Word probabilities theta of each class, which sum to one over the words.
    natural_params_ : ndarray of shape (K, d, 1)
        -logit theta.
    classes_, class_prior_, scores_, feature_importances_, order_, \
ranking_, n_selected_, validation_n_features_, validation_curve_, n_features_in_, \
feature_names_in_
        As in :class:`memdlib.MeMdClassifier`.

    See Also
    --------
    memdlib.MeMdClassifier : The sum over the selected words alone, with
        ``family="multinomial"``.
    memdlib.make_memd : The recommended pipeline for texts.

    Notes
    -----
    Probabilities of words are rounded, so that log-odds are off by about 1e-16 nats a
    count. Documents of more than 4e11 counts are therefore refused, unless one class is
    certain.

    The rest of the document counts as much as the selected words. With thirty words of
    newsgroups, this may gain or lose twenty points of accuracy, so compare this
    classifier with ``MeMdClassifier(family="multinomial")`` on held-out documents.

    References
    ----------
    .. [1] McCallum, Nigam, A comparison of event models for naive Bayes text
       classification, AAAI-98 workshop on learning for text categorization.

    Examples
    --------
    >>> from memdlib import MeMdClassifier
    >>> from memdlib.datasets import simulate_text_counts
    >>> from memdlib.generative import MultinomialMeMdClassifier
    >>> text = simulate_text_counts(n_documents=400, n_words=300, random_state=1)
    >>> train, test = slice(None, None, 2), slice(1, None, 2)
    >>> clf = MultinomialMeMdClassifier(n_features=5).fit(text.X[train], text.y[train])
    >>> plain = MeMdClassifier(family="multinomial", n_features=5)
    >>> plain.fit(text.X[train], text.y[train]).score(text.X[test], text.y[test])
    0.695
    >>> clf.score(text.X[test], text.y[test])
    0.785
    """

    family = Binomial()
    variance_shrinkage = 0.0
    _scores_type = DocumentScores
    _outcome_remedy = 'the densities do not fit; compare memdlib.make_memd("text")'

    def __init__(
        self,
        divergence="js_gm",
        *,
        n_features="auto",
        cv=0.2,
        alpha=1.0,
        random_state=None,
        n_features_grid=None,
        priors=None,
        class_weight=None,
    ):
        self.divergence = divergence
        self.n_features = n_features
        self.cv = cv
        self.alpha = alpha
        self.random_state = random_state
        self.n_features_grid = n_features_grid
        self.priors = priors
        self.class_weight = class_weight


def _log_relative(theta):
    """Logarithms (K, ...) relative to the class with the largest probability.

    Words, or sets of them, that no class has say nothing: their logarithms are zero.
    """
    largest = theta.max(axis=0)
    relative = np.where(largest > 0, theta / np.where(largest > 0, largest, 1.0), 1.0)
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(relative), _IMPOSSIBLE)
