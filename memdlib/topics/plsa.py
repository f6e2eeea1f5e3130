"""Probabilistic latent semantic analysis: counts as a mixture of topics.

Each count of word w in document d carries a topic z that is not seen,

    P(w, d) = sum_z P(z) P(w | z) P(d | z) = P(d) sum_z P(z | d) P(w | z).

Were the topics seen, all these would be shares: the maximum-likelihood, and so the
maximum-entropy, distributions with the moments E [z, w] and E [z, d]. EM puts the
expected moments in the place of those that are not seen.

The topics of a document under given topics of words are a convex problem: the
log-likelihood sum_w c_w log sum_z theta_z Q_zw is concave in theta. Its maximum on
the simplex is found by a primal-dual interior-point method, and certified by the dual.
"""

import math
import warnings
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.special import xlogy
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from memdlib._types import Array, MatrixLike, Weights
from memdlib.estimator import all_or_nothing
from memdlib.topics.counts import as_counts, log_terms, mixture, ratios, times_rows
from memdlib.validation import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    SHARE,
    check_sample_weight,
    checked_data,
)

# A step may lose this share of the log-likelihood to rounding.
_ROUNDING = 1e-11


class Found(NamedTuple):
    """Where EM stopped."""

    theta: Array  # P(z | d), (n_documents, n_topics)
    words: Array  # P(w | z), (n_words, n_topics)
    history: Array  # objective at the start and after each step, in nats
    gaps: tuple[float, float]  # nats to gain by other topics, or by other words


def climb(
    counts: sparse.csr_array,
    theta: Array,
    words: Array,
    *,
    beta: float,
    smoothing: float,
    tol: float,
    max_iter: int,
) -> Found:
    """Raise sum C log sum_z (theta_dz Q_zw)^beta / beta + smoothing sum log Q_zw."""
    # With the expected counts m_dw = sum of both kinds of responsibilities, and rho_w =
    # max_z (gradient in Q_zw) / m_z, log x <= x - 1 gives for every other Q that the
    # objective is larger by sum_w C_w log rho_w at most, where C_w = sum_z m_zw; the
    # same holds for theta. Where beta < 1 an entry of exactly zero stays zero: gaps are
    # to parameters that have those zeros, too.
    length = counts.sum(axis=1)
    used = counts.sum(axis=0) + smoothing * words.shape[1]
    total = float(length.sum())
    history: list[float] = []
    while True:
        own, given = (theta, words) if beta == 1 else (theta**beta, words**beta)
        probability = mixture(counts, own, given)
        quotient = ratios(counts, probability)
        by_document, by_word = quotient @ given, quotient.T @ own
        objective = float(log_terms(counts, probability).sum()) / beta
        if beta < 1:
            by_document *= _tilt(theta, beta)
            by_word *= _tilt(words, beta)
        if smoothing:
            objective += smoothing * float(np.log(words).sum())
            by_word += smoothing / words
        new_theta, new_words = theta * by_document, words * by_word
        mass = new_words.sum(axis=0)
        alive = mass > 0
        gaps = (
            _bound(length, by_document.max(axis=1) / length),
            _bound(used, (by_word[:, alive] / mass[alive]).max(axis=1)),
        )
        if history and objective < history[-1] - _ROUNDING * abs(history[-1]):
            raise ValueError(
                f"EM lowered the objective from {history[-1]} to {objective}; counts "
                "span too many orders of magnitude: drop the rarest words"
            )
        history.append(objective)
        settled = len(history) > 1 and objective - history[-2] <= tol * total
        if settled or len(history) > max_iter:
            return Found(theta, words, np.array(history), gaps)
        theta = new_theta / new_theta.sum(axis=1, keepdims=True)
        # a topic that gives no word any more keeps those it had
        words = np.where(alive, new_words / np.where(alive, mass, 1.0), words)


def _bound(weight: Array, ratio: Array) -> float:
    """Sum of weight log ratio; not below zero, but for rounding."""
    return max(math.fsum(weight * np.log(ratio)), 0.0)


def _tilt(x: Array, beta: float) -> Array:
    """x^(beta - 1): what the gradient of its power has besides the ratios."""
    return np.power(x, beta - 1.0, out=np.zeros_like(x), where=x > 0)


_MAX_STEPS = 100
# Nats a count, far above the rounding of a gradient.
_TOLERANCE = 1e-9
# Share of the way to the boundary that a step may go.
_REACH = 0.995


def fold_in(counts: MatrixLike, components: Array, prior: Array) -> tuple[Array, Array]:
    """Most likely topics of each document, the topics of words being given.

    Parameters
    ----------
    counts : {array-like, sparse matrix} of shape (n_documents, n_words)
        Nonnegative.
    components : ndarray of shape (n_topics, n_words)
        Q_zw = P(w | z).
    prior : ndarray of shape (n_topics,)
        P(z): what a document without known words gets. A topic of prior zero is left
        out.

    Returns
    -------
    theta : ndarray of shape (n_documents, n_topics)
        P(z | d). Words that no topic can give are passed over. Where several theta
        are most likely, one in their midst.
    gap : ndarray of shape (n_documents,)
        Certificate, in nats: no theta has a log-likelihood larger by more.

    Warns
    -----
    ConvergenceWarning
        If a gap is above 1e-9 nats a count.

    Examples
    --------
    >>> import numpy as np
    >>> Q = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> theta, gap = fold_in(np.array([[3.0, 4.0, 1.0]]), Q, np.array([0.5, 0.5]))
    >>> theta.round(6).tolist(), bool(gap[0] < 1e-8)
    ([[0.75, 0.25]], True)
    """
    counts = as_counts(counts)
    theta, gap = np.tile(prior, (counts.shape[0], 1)), np.zeros(counts.shape[0])
    used = np.flatnonzero(prior > 0)
    words = np.ascontiguousarray(components[used].T)
    known = words.any(axis=1)
    worst = 0.0
    for d in range(len(theta)):
        part = slice(counts.indptr[d], counts.indptr[d + 1])
        place, number = counts.indices[part], counts.data[part]
        place, number = place[known[place]], number[known[place]]
        if place.size:
            length = number.sum()
            found, shortfall = _best_mixture(number / length, words[place])
            theta[d, used], gap[d] = found, length * shortfall
            worst = max(worst, shortfall)
    if worst > _TOLERANCE:
        warnings.warn(
            f"the topics of a document are certified to {worst:.1e} nats a count only; "
            "drop the rarest words, or use smoothing in PLSA",
            ConvergenceWarning,
            stacklevel=3,
        )
    return theta, gap


def _best_mixture(share: Array, members: Array) -> tuple[Array, float]:
    """Maximise sum_w share_w log (members @ theta)_w; shares add up to one."""
    # Newton on the conditions grad f = s, theta s = mu, where f is sum(theta) less the
    # objective: its minimum over theta >= 0 has sum one by itself
    n_topics = members.shape[1]
    # a word of tiny probability under all topics would spoil the digits of the others
    members = members / members.max(axis=1, keepdims=True)
    theta, slack = np.full(n_topics, 1.0 / n_topics), np.ones(n_topics)
    best, least = theta, np.inf
    for _ in range(_MAX_STEPS):
        found = members @ theta
        pull = (share / found) @ members
        # at the sum of one that scaling gives, the best along a ray
        gap = np.log(max(pull.max() * theta.sum(), 1.0))
        if gap < least:
            best, least = theta / theta.sum(), gap
        if gap <= 0.01 * _TOLERANCE:
            break
        target = 0.1 * float(theta @ slack) / n_topics
        scaled = members * (np.sqrt(share) / found)[:, None]
        system = scaled.T @ scaled
        system[np.diag_indices(n_topics)] += slack / theta
        step, failed = lapack.dposv(system, pull - 1.0 + target / theta)[1:]
        if failed:
            break
        push = target / theta - slack - slack / theta * step
        theta = theta + _reach(theta, step) * step
        slack = slack + _reach(slack, push) * push
    return best, float(least)


def _reach(at: Array, step: Array) -> float:
    """Longest step up to one that keeps all numbers above zero."""
    down = step < 0
    return min(1.0, _REACH * float((-at[down] / step[down]).min(initial=np.inf)))


class PLSA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Probabilistic latent semantic analysis by expectation maximisation [1]_.

    Parameters
    ----------
    n_topics : int, default=2
        At most the number of rows, and of columns, that hold counts: with as many the
        model is the table itself.
    beta : float in (0, 1], default=1.0
        Exponent of the parameters in the responsibilities; below 1, tempered EM, which
        spreads them out. :meth:`transform` uses the fitted words as they are.
    smoothing : float >= 0, default=0.05
        Counts added to every word in every topic. 0 is maximum likelihood, under which
        a word may have no probability: one that no row holds, or that no topic of a
        class has.
    n_init : int, default=1
        Number of random starts; the one with the largest objective is kept.
    tol : float > 0, default=1e-5
        Gain of a step to stop at, in nats a count. What it leaves to gain is told by
        ``gaps_``.
    max_iter : int, default=500
    random_state : int, RandomState instance or None, default=None
        Of the starts, which do not depend on the order of the rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_features)
        P(w | z); rows sum to one.
    topic_prior_ : ndarray of shape (n_topics,)
        P(z); zero for a topic that has died out.
    topic_counts_ : ndarray of shape (n_topics,)
        Expected number of counts of each topic, the added ones among them.
    history_ : ndarray of shape (number of steps + 1,)
        Objective at the start and after each step, in nats; it never falls. For
        ``beta=1`` and ``smoothing=0`` the log-likelihood.
    n_iter_ : int
    gaps_ : ndarray of shape (2,)
        Certificates in nats a count: other topics of the documents, or other words of
        the topics, the rest as it is, have an objective that is larger by no more
        (where ``beta`` is below 1, others with the same zeros). Both are zero at a
        stationary point; there may be better ones elsewhere.
    log_likelihood_ : float
        sum C log P(w, d), in nats.
    n_parameters_ : int
        Free parameters ``|Z| - 1 + |Z| (|D| + |W| - 2)``, of occupied rows and columns.
    bic_ : float
        ``-log_likelihood_`` plus ``n_parameters_`` times half the logarithm of the sum
        of all counts, in nats; the smaller, the better.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has string column names.

    References
    ----------
    .. [1] Hofmann, Unsupervised learning by probabilistic latent semantic analysis,
       Machine Learning 42 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib import PLSA
    >>> X = np.array([[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [4, 2, 3, 3]])
    >>> model = PLSA(n_topics=2, random_state=0).fit(X)
    >>> model.transform([[2, 1, 0, 0], [0, 0, 1, 1], [2, 1, 3, 3]]).round(2) + 0.0
    array([[1.  , 0.  ],
           [0.  , 1.  ],
           [0.33, 0.67]])
    """

    components_: Array
    topic_prior_: Array
    topic_counts_: Array
    history_: Array
    gaps_: Array
    n_iter_: int
    n_parameters_: int
    log_likelihood_: float
    bic_: float

    _parameter_constraints: ClassVar[dict] = {
        "n_topics": [COUNT],
        "beta": [SHARE],
        "smoothing": [NONNEGATIVE],
        "n_init": [COUNT],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_topics: int = 2,
        beta: float = 1.0,
        smoothing: float = 0.05,
        n_init: int = 1,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.beta = beta
        self.smoothing = smoothing
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: MatrixLike, y: None = None, sample_weight: Weights = None) -> Self:
        """Find topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Counts of words, or other nonnegative amounts. Rows of zeros tell nothing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative; multiplies the counts of a row. Topics are those of a table
            in which a row of weight 2 stands twice; ``history_``, ``log_likelihood_``,
            ``n_parameters_`` and ``bic_`` take it for one longer row.

        Returns
        -------
        self

        Warns
        -----
        ConvergenceWarning
            If the last of ``max_iter`` steps gained more than ``tol``.
        """
        X = self._counts(X, reset=True)
        weight = check_sample_weight(sample_weight, X)
        table, columns = _table(X, weight, self.n_topics, self.smoothing > 0)
        rng = check_random_state(self.random_state)
        starts = (self._climb(table, columns, rng) for _ in range(self.n_init))
        best = max(starts, key=lambda found: found.history[-1])
        self._describe(best, table, columns)
        gain = (best.history[-1] - best.history[-2]) / table.sum()
        if gain > self.tol:
            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} steps; the last gained "
                f"{gain:.1e} nats a count: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X: MatrixLike) -> Array:
        """Fold documents in, as :func:`memdlib.topics.fold_in` with its certificates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Seen in :meth:`fit` or not. Words without probability are passed over.

        Returns
        -------
        ndarray of shape (n, n_topics)
            P(z | d); ``topic_prior_`` for a row that has no known word.
        """
        counts = self.read_counts(X)
        return fold_in(counts, self.components_, self.topic_prior_)[0]

    def read_counts(self, X: MatrixLike) -> sparse.csr_array:
        """Check documents as :meth:`transform` does, and give their table of counts."""
        check_is_fitted(self)
        return self._counts(X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _counts(self, X, reset):
        X = checked_data(self, X, reset=reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return as_counts(X)

    def _climb(self, table, columns, rng):
        """One start: words at random about their shares, all documents alike."""
        size = (self.n_features_in_, self.n_topics)
        noise = rng.standard_gamma(1.0, size=size)[columns]
        share = table.sum(axis=0) + self.smoothing
        words = np.maximum(noise, np.finfo(float).tiny) * share[:, None]
        theta = np.full((table.shape[0], self.n_topics), 1.0 / self.n_topics)
        names = ("beta", "smoothing", "tol", "max_iter")
        options = {name: getattr(self, name) for name in names}
        return climb(table, theta, words / words.sum(axis=0), **options)

    def _describe(self, found, table, columns):
        length = table.sum(axis=1)
        total = length.sum()
        expected = length @ found.theta
        # less than this of a count is rounding
        alive = expected > 1e-12 * total
        self.components_ = np.zeros((len(alive), self.n_features_in_))
        self.components_[:, columns] = found.words.T
        self.topic_prior_ = np.where(alive, expected, 0.0) / expected[alive].sum()
        self.topic_counts_ = total * self.topic_prior_ + self.smoothing * len(columns)
        self.history_ = found.history + xlogy(length, length / total).sum()
        self.n_iter_ = len(found.history) - 1
        self.gaps_ = np.array(found.gaps) / total
        plain = log_terms(table, mixture(table, found.theta, found.words)).sum()
        self.log_likelihood_ = float(plain + xlogy(length, length / total).sum())
        n_cells = len(length) + int((table.sum(axis=0) > 0).sum())
        self.n_parameters_ = len(alive) - 1 + len(alive) * (n_cells - 2)
        penalty = 0.5 * self.n_parameters_ * float(np.log(total))
        self.bic_ = penalty - self.log_likelihood_


def _table(X, weight: Array, n_topics: int, every_word: bool):
    """Weighted counts of the rows, and of the columns, that hold any."""
    rows = np.flatnonzero((weight > 0) & (X.sum(axis=1) > 0))
    X = times_rows(X[rows], weight[rows])
    by_word = X.sum(axis=0)
    used = np.flatnonzero(by_word > 0)
    if not used.size:
        raise ValueError("X holds no counts: all its numbers are zero")
    if n_topics > min(len(rows), len(used)):
        raise ValueError(
            f"n_topics={n_topics} is more than n_samples={len(rows)} rows and "
            f"n_features={len(used)} columns with counts can tell apart"
        )
    columns = np.arange(X.shape[1]) if every_word else used
    return X[:, columns], columns
