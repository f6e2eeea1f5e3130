"""Probabilistic latent semantic analysis: counts as a mixture of topics.

Each count of word w in document d carries a topic z that is not seen,

    P(w, d) = sum_z P(z) P(w | z) P(d | z) = P(d) sum_z P(z | d) P(w | z).

Were the topics seen, all these would be shares: the maximum-likelihood, and so the
maximum-entropy, distributions with the moments E [z, w] and E [z, d]. EM puts the
expected moments in the place of those that are not seen.
"""

import warnings
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_non_negative

from memdlib.state import all_or_nothing
from memdlib.topics.counts import as_counts, log_terms, mixture, times_rows
from memdlib.topics.em import climb
from memdlib.topics.folding import MOST, fold_in
from memdlib.validation import (
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    SHARE,
    Number,
    check_parameters,
    check_sample_weight,
    checked_data,
    sum_duplicates,
)

Array = NDArray[np.float64]

# Below it products of sums of counts with logarithms lose digits.
_LEAST = 1e-300


class PLSA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Probabilistic latent semantic analysis by expectation maximisation.

    Parameters
    ----------
    n_topics : int, default=2
        At most the number of rows, and of columns, that hold counts: with as many the
        model is the table itself.
    beta : float in (0, 1], default=1.0
        Exponent of the parameters in the responsibilities; below 1, tempered EM, which
        spreads them out. :meth:`transform` uses the fitted words as they are.
    smoothing : float >= 0, default=0.0
        Counts added to every word in every topic. 0 is maximum likelihood, under which
        words that no row holds have no probability.
    n_init : int, default=1
        Number of random starts; the one with the largest objective is kept.
    tol : float > 0, default=1e-3
        Certificate to stop at, in nats a count: see ``gaps_``.
    max_iter : int, default=500
    random_state : int, RandomState instance or None, default=None
        Of the starts, which do not depend on the order of the rows.
    verbose : int, default=0
        If not 0, a line is printed every so many steps.

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
        Certificates in nats a count: other topics of the documents, with the words as
        they are, or other words of the topics, with the documents as they are, have an
        objective that is larger by no more. Both are zero at a stationary point; there
        may be better ones elsewhere.
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

    Notes
    -----
    A step takes one pass over the counts and memory for one number a count. Up to a
    constant the log-likelihood is minus the generalised Kullback-Leibler divergence of
    non-negative matrix factorisation, which has the same stationary points.

    References
    ----------
    .. [1] Hofmann, Unsupervised learning by probabilistic latent semantic analysis,
       Machine Learning 42 (2001).
    .. [2] Bicego et al., Combining information theoretic kernels with generative
       embeddings for classification, Neurocomputing 101 (2013), section 2.1.

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

    _parameter_constraints: ClassVar[dict] = {
        "n_topics": [COUNT],
        "beta": [SHARE],
        "smoothing": [NONNEGATIVE],
        "n_init": [COUNT],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "random_state": ["random_state"],
        "verbose": [Number(Integral, 0, None)],
    }

    def __init__(
        self,
        n_topics=2,
        beta=1.0,
        smoothing=0.0,
        n_init=1,
        tol=1e-3,
        max_iter=500,
        random_state=None,
        verbose=0,
    ):
        self.n_topics = n_topics
        self.beta = beta
        self.smoothing = smoothing
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None):
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

        Raises
        ------
        ValueError
            On negative amounts, a table of zeros, more topics than rows or columns with
            counts, counts whose sum is next to the ends of the range of numbers or,
            without smoothing, of which a column has less than a share of 2e-308, or a
            parameter out of range. A fit that fails changes nothing.

        Warns
        -----
        ConvergenceWarning
            If ``tol`` is not reached.
        """
        check_parameters(self)
        X = self._counts(X, reset=True)
        weight = check_sample_weight(sample_weight, X.shape[0])
        table, columns = _table(X, weight, self.n_topics, self.smoothing > 0)
        rng = check_random_state(self.random_state)
        starts = (self._climb(table, columns, rng) for _ in range(self.n_init))
        best = max(starts, key=lambda found: found.history[-1])
        self._describe(best, table, columns)
        if self.gaps_.max() > self.tol:
            warnings.warn(
                f"EM stopped after max_iter={self.max_iter} steps with "
                f"{self.gaps_.max():.1e} nats a count to gain at most, which is above "
                f"tol={self.tol}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def transform(self, X):
        """Fold documents in: their most likely topics under the words of the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)
            Seen in :meth:`fit` or not. Words without probability are passed over.

        Returns
        -------
        ndarray of shape (n, n_topics)
            P(z | d); ``topic_prior_`` for a row that has no known word.

        Raises
        ------
        ValueError
            On negative amounts, or a row that sums to 1e305 or more.

        Warns
        -----
        ConvergenceWarning
            As :func:`memdlib.topics.fold_in`, which also returns the certificates.
        """
        counts = self.read_counts(X)
        return fold_in(counts, self.components_, self.topic_prior_)[0]

    def read_counts(self, X):
        """Check documents as :meth:`transform` does, and bring them into its form.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, n_features)

        Returns
        -------
        ndarray or csr_array of shape (n, n_features)
            float64; sparse if few of its numbers are above zero.
        """
        check_is_fitted(self)
        return self._counts(X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _counts(self, X, reset):
        X = checked_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=reset,
        )
        check_non_negative(X, f"{type(self).__name__} (input X)")
        return as_counts(sum_duplicates(X))

    def _climb(self, table, columns, rng):
        """One start: words at random about their shares, all documents alike."""
        size = (self.n_features_in_, self.n_topics)
        noise = rng.standard_gamma(1.0, size=size)[columns]
        share = np.asarray(table.sum(axis=0)).ravel() + self.smoothing
        words = np.maximum(noise, np.finfo(float).tiny) * share[:, None]

        def report(step, objective, gaps):
            if self.verbose and step % self.verbose == 0:
                print(
                    f"PLSA, step {step}: {objective:.8g} nats, to gain at most "
                    f"{gaps[0]:.1e} by documents, {gaps[1]:.1e} by words, a count"
                )

        return climb(
            table,
            np.full((table.shape[0], self.n_topics), 1.0 / self.n_topics),
            words / words.sum(axis=0),
            beta=self.beta,
            smoothing=self.smoothing,
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )

    def _describe(self, found, table, columns):
        length = np.asarray(table.sum(axis=1)).ravel()
        occupied = np.asarray(table.sum(axis=0)).ravel() > 0
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
        n_topics, n_rows, n_columns = len(alive), len(length), int(occupied.sum())
        self.n_parameters_ = n_topics - 1 + n_topics * (n_rows + n_columns - 2)
        penalty = 0.5 * self.n_parameters_ * float(np.log(total))
        self.bic_ = penalty - self.log_likelihood_


def _table(X, weight: Array, n_topics: int, every_word: bool):
    """Weighted counts of the rows, and of the columns, that hold any."""
    with np.errstate(over="ignore"):
        rows = np.flatnonzero((weight > 0) & (np.asarray(X.sum(axis=1)).ravel() > 0))
        X = times_rows(X[rows], weight[rows])
        total = X.sum()
    if rows.size and not _LEAST < total < MOST:
        raise ValueError(
            f"the counts, times their weights, sum to {total:.3g}, which leaves their "
            "logarithms no room among numbers; bring X and sample_weight to order one "
            "(divide each by its largest value)"
        )
    by_word = np.asarray(X.sum(axis=0)).ravel()
    used = np.flatnonzero(by_word > 0)
    if not used.size:
        raise ValueError(
            "X holds no counts: all its numbers are zero; pLSA needs one row with words"
        )
    if n_topics > min(len(rows), len(used)):
        raise ValueError(
            f"n_topics={n_topics} is more than the counts can tell apart: they stand "
            f"in n_samples={len(rows)} rows and n_features={len(used)} columns; use "
            f"n_topics={min(len(rows), len(used))} or less"
        )
    rarest = used[by_word[used].argmin()]
    if not every_word and by_word[rarest] < np.finfo(float).tiny * total:
        raise ValueError(
            f"column {rarest} of X has {by_word[rarest]:.3g} of {total:.3g} counts, "
            "which leaves its probability no digits; leave the feature out, or use "
            "smoothing above zero"
        )
    columns = np.arange(X.shape[1]) if every_word else used
    return as_counts(X if every_word else X[:, used]), columns
