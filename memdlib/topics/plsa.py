"""Probabilistic latent semantic analysis: counts as a mixture of topics.

Each count of word w in document d carries an unobserved topic z,

    P(w, d) = sum_z P(z) P(w | z) P(d | z) = P(d) sum_z P(z | d) P(w | z).

If the topics were observed, all of these would be relative frequencies: the
maximum-likelihood, and so the maximum-entropy, distributions with the moments E [z, w]
and E [z, d]. EM substitutes the expected moments for the unobserved ones.

Finding the topics of a document for given topics of words is a convex problem: the
log-likelihood sum_w c_w log sum_z theta_z Q_zw is concave in theta. Its maximum on the
simplex is found by a primal-dual interior-point method and certified by the dual.
"""

import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import xlogy
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from memdlib._types import Array
from memdlib.topics.counts import (
    as_counts,
    cell_probabilities,
    log_terms,
    ratios,
    scale_rows,
)
from memdlib.validation import (
    COUNT,
    FRACTION,
    NONNEGATIVE,
    POSITIVE,
    check_real_array,
    check_sample_weight,
    restore_on_error,
    validate_features,
)

# Fraction of the log-likelihood that a step of EM may lose to rounding.
_ROUNDING = 1e-11


class EMResult(NamedTuple):
    """Where EM stopped."""

    theta: Array  # P(z | d), (n_documents, n_components)
    words: Array  # P(w | z), (n_words, n_components)
    history: Array  # objective at the start and after each step, in nats
    gaps: Array  # bounds on the nats to gain by other theta, and by other words, (2,)


def em(
    counts,
    theta,
    words,
    *,
    beta,
    alpha,
    tol,
    max_iter,
):
    """Maximise the objective of pLSA by EM, from given theta and words.

    The objective is sum C log sum_z (theta_dz Q_zw)^beta / beta + alpha sum log Q,
    in nats. EM stops after a step that gains no more than ``tol`` nats per count.
    """
    total = counts.sum()
    history = []
    while True:
        objective, theta_gradient, words_gradient = _objective_and_gradients(
            counts, theta, words, beta=beta, alpha=alpha
        )
        if history and objective < history[-1] - _ROUNDING * abs(history[-1]):
            raise ValueError(
                f"EM lowered the objective from {history[-1]} to {objective}; counts "
                "span too many orders of magnitude: drop the rarest words"
            )
        history.append(objective)
        converged = len(history) > 1 and objective - history[-2] <= tol * total
        if converged or len(history) > max_iter:
            gaps = _gaps(counts, words, theta_gradient, words_gradient, alpha)
            return EMResult(theta, words, np.array(history), gaps)
        # A parameter times its gradient is the expected number of counts behind it.
        document_topic_counts = theta * theta_gradient
        word_topic_counts = words * words_gradient
        theta = document_topic_counts / document_topic_counts.sum(axis=1, keepdims=True)
        # A topic that explains no count any more keeps its distribution of words.
        topic_counts = word_topic_counts.sum(axis=0)
        alive = topic_counts > 0
        words = np.divide(
            word_topic_counts, topic_counts, out=words.copy(), where=alive
        )


def _objective_and_gradients(counts, theta, words, *, beta, alpha):
    """The objective of :func:`em` and its gradients in theta and in words.

    The gradients have the shapes (n_documents, n_components) and (n_words,
    n_components).
    """
    theta_power = theta**beta
    words_power = words**beta
    probability = cell_probabilities(counts, theta_power, words_power)
    quotient = ratios(counts, probability)
    objective = log_terms(counts, probability).sum() / beta
    theta_gradient = quotient @ words_power
    words_gradient = quotient.T @ theta_power
    if beta < 1:
        theta_gradient *= _derivative_of_power(theta, beta)
        words_gradient *= _derivative_of_power(words, beta)
    if alpha:
        objective += alpha * np.log(words).sum()
        words_gradient += alpha / words
    return objective, theta_gradient, words_gradient


def _derivative_of_power(x, beta):
    """Derivative x^(beta - 1) of x^beta / beta; zero where x is, as x stays zero."""
    return np.power(x, beta - 1.0, out=np.zeros_like(x), where=x > 0)


def _gaps(counts, words, theta_gradient, words_gradient, alpha):
    """Bounds on what other theta, and what other words, would gain, in nats.

    Let m_z be the expected counts of topic z, and C_w those of word w in all topics. By
    log x <= x - 1 no other words have an objective that is larger by more than

        sum_w C_w log max_z(gradient_wz / m_z),

    and likewise for theta, with documents in the place of both. If beta < 1, an entry
    of exactly zero stays zero: the bounds are on parameters that have these zeros, too.
    """
    document_counts = counts.sum(axis=1)
    word_counts = counts.sum(axis=0) + alpha * words.shape[1]
    topic_counts = (words * words_gradient).sum(axis=0)
    alive = topic_counts > 0
    largest_in_theta = theta_gradient.max(axis=1) / document_counts
    largest_in_words = (words_gradient[:, alive] / topic_counts[alive]).max(axis=1)
    theta_gap = math.fsum(document_counts * np.log(largest_in_theta))
    words_gap = math.fsum(word_counts * np.log(largest_in_words))
    # Rounding alone makes them negative.
    return np.maximum([theta_gap, words_gap], 0.0)


_MAX_STEPS = 100
# In nats per count; far above the rounding of a gradient.
_TOLERANCE = 1e-9
# Fraction of the way to the boundary that an interior-point step may go.
_STEP_FRACTION = 0.995


def fold_in(counts, components, prior):
    """Find the most likely topics of each document, for given topics of words.

    Parameters
    ----------
    counts : {array-like, sparse matrix} of shape (n_documents, n_words)
        Nonnegative.
    components : ndarray of shape (n_components, n_words)
        Q_zw = P(w | z).
    prior : ndarray of shape (n_components,)
        P(z), assigned to a document without known words. A topic of prior zero is left
        out.

    Returns
    -------
    theta : ndarray of shape (n_documents, n_components)
        P(z | d). Words that have no probability in any topic are ignored. If several
        theta are most likely, one from their interior.
    gap : ndarray of shape (n_documents,)
        Certificate in nats: no theta has a log-likelihood larger by more than this.

    Warns
    -----
    ConvergenceWarning
        If a gap is above 1e-9 nats per count.

    Examples
    --------
    >>> import numpy as np
    >>> Q = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> theta, gap = fold_in(np.array([[3.0, 4.0, 1.0]]), Q, np.array([0.5, 0.5]))
    >>> theta.round(6).tolist(), bool(gap[0] < 1e-8)
    ([[0.75, 0.25]], True)
    """
    counts, components, prior = _check_topics(counts, components, prior)
    topics = np.flatnonzero(prior > 0)
    known = components[topics].any(axis=0)
    words = np.ascontiguousarray(components[topics][:, known].T)
    counts = counts[:, known]
    length = counts.sum(axis=1)
    theta = np.tile(prior, (len(length), 1))
    gap_per_count = np.zeros(len(length))
    for d in np.flatnonzero(length):
        document = slice(counts.indptr[d], counts.indptr[d + 1])
        theta[d, topics], gap_per_count[d] = _max_likelihood_topics(
            counts.data[document] / length[d], words[counts.indices[document]]
        )
    largest = gap_per_count.max(initial=0.0)
    if not largest <= _TOLERANCE:
        warnings.warn(
            f"the topics of a document are certified to {largest:.1e} nats per count "
            "only; drop the rarest words, or use alpha > 0 in PLSA",
            ConvergenceWarning,
            stacklevel=3,
        )
    return theta, length * gap_per_count


def _check_topics(counts, components, prior):
    """Return the arguments of `fold_in` as arrays; raise unless their shapes agree."""
    prior = check_real_array(prior, "prior")
    components = check_real_array(components, "components")
    counts = check_array(counts, accept_sparse=True, input_name="counts")
    shape = (prior.size, counts.shape[1])
    if prior.ndim != 1 or components.shape != shape:
        raise ValueError(
            f"components of shape {components.shape} and prior of shape {prior.shape} "
            f"do not fit counts of shape {counts.shape}; expected a row of components "
            "for each topic, and a column for each word"
        )
    return as_counts(counts), components, prior


def _max_likelihood_topics(frequency, words):
    """Topics theta that maximise sum_w frequency_w log (words @ theta)_w.

    Takes relative frequencies (n_words,) and Q^T (n_words, n_components) of the words
    of one document. Returns theta (n_components,), and a bound on what another theta
    gains.

    f = sum(theta) minus the objective has its minimum over theta >= 0 where the sum is
    one. Newton's method solves grad f = slack and theta slack = target for each topic,
    while the target goes to zero.
    """
    n_components = words.shape[1]
    # A word of tiny probability in all topics would spoil the digits of the others.
    words = words / words.max(axis=1, keepdims=True)
    theta = np.full(n_components, 1.0 / n_components)
    slack = np.ones(n_components)
    best_theta = theta
    best_gap = np.inf
    for _ in range(_MAX_STEPS):
        probability = words @ theta
        gradient = (frequency / probability) @ words
        # The gap at theta / sum(theta), where the objective is largest along the ray.
        gap = np.log(max(gradient.max() * theta.sum(), 1.0))
        if gap < best_gap:
            best_theta = theta / theta.sum()
            best_gap = gap
        if gap <= 0.01 * _TOLERANCE:
            break
        scaled = words * (np.sqrt(frequency) / probability)[:, None]
        theta_step, slack_step, failed = _newton_directions(
            scaled.T @ scaled, gradient, theta, slack
        )
        if failed:
            break
        theta = theta + _step_length(theta, theta_step) * theta_step
        slack = slack + _step_length(slack, slack_step) * slack_step
    return best_theta, best_gap


def _newton_directions(hessian, gradient, theta, slack):
    """Newton's steps of theta and slack (n_components,), and whether there are none.

    Takes the Hessian (n_components, n_components) of minus the objective and its
    gradient (n_components,). The step of slack is eliminated from the system of both.
    """
    # A tenth of the mean of theta slack, which is zero at the maximum.
    target = 0.1 * (theta @ slack) / len(theta)
    system = hessian + np.diag(slack / theta)
    _, theta_step, failed = lapack.dposv(system, gradient - 1.0 + target / theta)
    slack_step = target / theta - slack - slack / theta * theta_step
    return theta_step, slack_step, failed


def _step_length(x, step):
    """Longest step, at most 1, that keeps x (n_components,) above zero."""
    falling = step < 0
    to_boundary = (-x[falling] / step[falling]).min(initial=np.inf)
    return min(1.0, _STEP_FRACTION * to_boundary)


class PLSA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Probabilistic latent semantic analysis by expectation maximisation [1]_.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of rows, and of columns, that hold counts: with that many the
        model reproduces the table itself.
    beta : float in (0, 1], default=1.0
        Exponent of the parameters in the responsibilities; below 1, tempered EM, which
        spreads the responsibilities out. :meth:`transform` uses the fitted words as
        they are.
    alpha : float >= 0, default=0.05
        Counts added to every word in every topic. 0 is maximum likelihood, under which
        a word may have no probability: one that no row holds, or one that none of the
        topics of a class has.
    n_init : int, default=1
        Number of random starts; the one with the largest objective is kept.
    tol : float > 0, default=1e-5
        EM stops after a step that gains no more than this, in nats per count. What
        is still to be gained then is bounded by ``duality_gap_``.
    max_iter : int, default=500
        Largest number of steps of EM.
    random_state : int, RandomState instance or None, default=None
        Determines the starts, which do not depend on the order of the rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        P(w | z); rows sum to one.
    topic_prior_ : ndarray of shape (n_components,)
        P(z); zero for a topic that has died out.
    topic_counts_ : ndarray of shape (n_components,)
        Expected number of counts of each topic, including the added ones.
    history_ : ndarray of shape (number of steps + 1,)
        Objective at the start and after each step, in nats; it never falls. For
        ``beta=1`` and ``alpha=0`` it is the log-likelihood.
    n_iter_ : int
        Number of steps of EM.
    duality_gap_ : ndarray of shape (2,)
        Certificates in nats per count: replacing the topics of the documents, or the
        words of the topics, and keeping everything else, gains no more than this (if
        ``beta`` is below 1, among parameters with the same zeros). Both are zero at a
        stationary point; there may be better ones elsewhere.
    log_likelihood_ : float
        sum C log P(w, d), in nats.
    n_parameters_ : int
        Free parameters ``|Z| - 1 + |Z| (|D| + |W| - 2)``, for rows D and columns W that
        hold counts.
    bic_ : float
        ``-log_likelihood_`` plus ``n_parameters_`` times half the logarithm of the sum
        of all counts, in nats; smaller is better.
    n_features_in_ : int
        Number of features seen in :meth:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Only if X has column names that are all strings.

    References
    ----------
    .. [1] Hofmann, Unsupervised learning by probabilistic latent semantic analysis,
       Machine Learning 42 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib import PLSA
    >>> X = np.array([[4, 2, 0, 0], [2, 1, 0, 0], [0, 0, 3, 3], [4, 2, 3, 3]])
    >>> model = PLSA(n_components=2, random_state=0).fit(X)
    >>> model.transform([[2, 1, 0, 0], [0, 0, 1, 1], [2, 1, 3, 3]]).round(2) + 0.0
    array([[1.  , 0.  ],
           [0.  , 1.  ],
           [0.33, 0.67]])
    """

    _parameter_constraints = {
        "n_components": [COUNT],
        "beta": [FRACTION],
        "alpha": [NONNEGATIVE],
        "n_init": [COUNT],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=2,
        *,
        beta=1.0,
        alpha=0.05,
        n_init=1,
        tol=1e-5,
        max_iter=500,
        random_state=None,
    ):
        self.n_components = n_components
        self.beta = beta
        self.alpha = alpha
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @restore_on_error
    def fit(self, X, y=None, sample_weight=None):
        """Fit the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Counts of words, or other nonnegative amounts. Rows of zeros are ignored.
        y : None
            Ignored.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative; multiplies the counts of a row. The topics are those of a table
            that repeats a row of weight 2; ``history_``, ``log_likelihood_``,
            ``n_parameters_`` and ``bic_`` treat it as one longer row.

        Returns
        -------
        self

        Warns
        -----
        ConvergenceWarning
            If the last of ``max_iter`` steps gained more than ``tol``.
        """
        X = self._validate_counts(X, reset=True)
        weight = check_sample_weight(sample_weight, X)
        counts, columns = _occupied_counts(X, weight, self.n_components, self.alpha > 0)
        rng = check_random_state(self.random_state)
        results = (
            self._em_from_random_start(counts, columns, rng) for _ in range(self.n_init)
        )
        best = max(results, key=lambda result: result.history[-1])
        self._set_topics(best, counts, columns)
        self._set_likelihood(best, counts)
        last_gain = (best.history[-1] - best.history[-2]) / counts.sum()
        if not last_gain <= self.tol:
            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} steps; the last gained "
                f"{last_gain:.1e} nats per count: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X):
        """Fold documents in, by :func:`memdlib.topics.fold_in` and its certificates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Documents, whether seen in :meth:`fit` or not. Words without probability are
            ignored.

        Returns
        -------
        ndarray of shape (n, n_components)
            P(z | d); ``topic_prior_`` for a row that has no known word.
        """
        counts = self.read_counts(X)
        return fold_in(counts, self.components_, self.topic_prior_)[0]

    def read_counts(self, X):
        """Validate documents as :meth:`transform` does, and return their counts."""
        check_is_fitted(self)
        return self._validate_counts(X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _validate_counts(self, X, reset):
        """Validate X (n, n_features) and return it as a table of counts."""
        X = validate_features(self, X, reset=reset)
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return as_counts(X)

    def _em_from_random_start(self, counts, columns, rng):
        """Run EM once; words start near their overall frequencies, documents alike.

        Takes the counts of the kept ``columns`` of X.
        """
        # Noise for every column of X, so that a start does not depend on those kept.
        size = (self.n_features_in_, self.n_components)
        noise = rng.standard_gamma(1.0, size=size)[columns]
        word_counts = counts.sum(axis=0) + self.alpha
        words = np.maximum(noise, np.finfo(float).tiny) * word_counts[:, None]
        return em(
            counts,
            np.full((counts.shape[0], self.n_components), 1.0 / self.n_components),
            words / words.sum(axis=0),
            beta=self.beta,
            alpha=self.alpha,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _set_topics(self, result, counts, columns):
        """Set the attributes that describe the topics."""
        length = counts.sum(axis=1)
        total = length.sum()
        topic_counts = length @ result.theta
        # A topic with less than this fraction of all counts is rounding.
        topic_counts[topic_counts <= 1e-12 * total] = 0.0
        self.topic_prior_ = topic_counts / topic_counts.sum()
        added = self.alpha * len(columns)
        self.topic_counts_ = total * self.topic_prior_ + added
        self.components_ = np.zeros((self.n_components, self.n_features_in_))
        self.components_[:, columns] = result.words.T

    def _set_likelihood(self, result, counts):
        """Set the log-likelihood, and how EM reached it and what is left to gain."""
        length = counts.sum(axis=1)
        total = length.sum()
        # log P(w, d) is log P(w | d) + log P(d), and P(d) the share of a document.
        of_lengths = xlogy(length, length / total).sum()
        probability = cell_probabilities(counts, result.theta, result.words)
        log_likelihood = log_terms(counts, probability).sum() + of_lengths
        n_words = np.count_nonzero(counts.sum(axis=0))
        n_conditional = self.n_components * (len(length) + n_words - 2)
        self.history_ = result.history + of_lengths
        self.n_iter_ = len(result.history) - 1
        self.duality_gap_ = result.gaps / total
        self.log_likelihood_ = float(log_likelihood)
        self.n_parameters_ = self.n_components - 1 + n_conditional
        penalty = 0.5 * self.n_parameters_ * np.log(total)
        self.bic_ = float(penalty - log_likelihood)


def _occupied_counts(X, weight, n_components, every_word):
    """Weighted counts of the rows and columns that hold any, and these columns.

    Takes X (n, n_features) and weights (n,); ``every_word`` keeps the other columns.
    """
    rows = np.flatnonzero((weight > 0) & (X.sum(axis=1) > 0))
    counts = scale_rows(X[rows], weight[rows])
    columns = np.flatnonzero(counts.sum(axis=0) > 0)
    if not columns.size:
        raise ValueError("X holds no counts: all its numbers are zero")
    if n_components > min(len(rows), len(columns)):
        raise ValueError(
            f"n_components={n_components} is more than n_samples={len(rows)} rows and "
            f"n_features={len(columns)} columns with counts can tell apart"
        )
    if every_word:
        columns = np.arange(X.shape[1])
    return counts[:, columns], columns
