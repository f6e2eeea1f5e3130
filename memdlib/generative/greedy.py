"""Features chosen one after another, each in view of those already chosen.

A ranking by marginal divergence is greedy selection only if the features are
independent given the class (Theorem 1 of MeMd). The two rankers here do not assume
that. Neither forms a d x d matrix.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from memdlib._sklearn import StrOptions
from memdlib._types import Array
from memdlib.families import MarginalFamily, family_names, get_family
from memdlib.families.base import ROUNDING
from memdlib.generative.pooled import PooledMoments
from memdlib.generative.ranking import (
    SIZE_CONSTRAINTS,
    DivergenceRanker,
    RankedSelector,
)
from memdlib.moments import class_moments
from memdlib.validation import (
    UNIT_INTERVAL,
    count_features,
    restore_on_error,
    validate_labelled,
)

Columns = Callable[[int], Array]

# A feature whose residual variance is at most this fraction of its variance depends
# linearly on the features that it was regressed on.
_COLLINEAR = 1e-10


def greedy_gaussian(covariances, variance, mean, prior, k):
    """Greedy maximisation of JS_GM between joint Gaussians.

    The loop stands in one piece, next to its derivation.

    Parameters
    ----------
    covariances : callable
        Takes a feature s to the columns s of the class covariances, (K, d).
    variance, mean : ndarray of shape (K, d)
    prior : ndarray of shape (K,)
    k : int
        Number of features to choose.

    Returns
    -------
    order, gains : ndarray of shape (S,)
        The features chosen, S <= k, and what each adds to JS_GM, in nats.
    """
    # With T_k the second moments of the residuals, after the regression of class k on
    # the chosen features, in class k, and M_k those in the mixture of all classes, the
    # gain of t is sum_k pi_k (M_k[t,t] / T_k[t,t] - 1) / 2: in the sum of KL over pairs
    # of classes the logarithms cancel. Choosing s eliminates it from both matrices, of
    # which the diagonals ``within`` and ``mixture`` (K, d) are kept.
    offset = mean - prior @ mean
    within = variance
    mixture = prior @ (variance + offset**2) + offset**2
    eliminations = np.empty((3, k, *mean.shape))
    free = np.ones_like(mean[0], dtype=bool)
    order = []
    gains = []
    for step in range(k):
        free &= (within > _COLLINEAR * variance).all(axis=0)
        if not free.any():
            break
        gain = _gain(within, mixture, prior, free)
        s = _first_best(gain)
        order.append(s)
        gains.append(gain[s])
        free[s] = False
        b, c, h = _elimination(s, covariances(s), offset, prior, eliminations[:, :step])
        within = within - c * b
        mixture = mixture - 2.0 * c * h
        eliminations[:, step] = b, c, h
    return np.array(order), np.maximum(gains, 0.0)


def _gain(within, mixture, prior, free):
    """What each feature (d,) adds to JS_GM; -inf where it is not free."""
    ratio = mixture / np.where(free, within, 1.0) - 1.0
    return np.where(free, 0.5 * (prior @ ratio), -np.inf)


def _elimination(s, covariance, offset, prior, earlier):
    """Vectors b, c and h (K, d) by which T_k - c b^T and M_k - c h^T - h c^T lack s.

    With b and m the columns s of T_k and M_k, c = b / b_s are the coefficients of s in
    the regression, and h = m - c m_s / 2. ``covariance`` (K, d) are columns s before
    any step, ``earlier`` (3, steps, K, d) the b, c and h of the steps before this one.
    """
    earlier_b, earlier_c, earlier_h = earlier
    product = offset * offset[:, [s]]
    second_moment = prior @ (covariance + product) + product
    b = covariance - _weighted_sum(earlier_b, earlier_c[..., s])
    m = second_moment - _weighted_sum(earlier_c, earlier_h[..., s])
    m -= _weighted_sum(earlier_h, earlier_c[..., s])
    c = b / b[:, [s]]
    h = m - 0.5 * c * m[:, [s]]
    return b, c, h


def _weighted_sum(vectors, weight):
    """Sum over steps r of vectors (r, K, d) times weights (r, K), of shape (K, d)."""
    return np.einsum("rkd,rk->kd", vectors, weight)


def _first_best(gain):
    """First feature whose gain (d,) equals the largest but for rounding."""
    # Every elimination costs digits.
    return int(np.isclose(gain, gain.max(), rtol=1e-9, atol=1e-12).argmax())


def greedy_information(relevance, correlations, k):
    """Greedy choice by relevance less mean Gaussian mutual information.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        Nats.
    correlations : callable
        Takes a feature s to its correlations with all features, (d,).
    k : int
        Number of features to choose.

    Returns
    -------
    order, scores : ndarray of shape (S,)
        The features chosen, S <= k, and the score of each at its choice, in nats.
    """
    redundancy = np.zeros_like(relevance)
    free = np.ones(len(relevance), dtype=bool)
    order = []
    scores = []
    while len(order) < k and free.any():
        score = np.where(free, relevance - redundancy / max(len(order), 1), -np.inf)
        s = _first_best(score)
        order.append(s)
        scores.append(score[s])
        unexplained = 1.0 - correlations(s) ** 2
        free &= unexplained > _COLLINEAR
        free[s] = False
        redundancy -= 0.5 * np.log(np.where(free, unexplained, 1.0))
    return np.array(order), np.array(scores)


class GreedyGaussianRanker(RankedSelector):
    """Greedy MeMd: the features whose *joint* class Gaussians diverge most.

    Each step adds the feature that increases JS_GM most, the sum of pi_i pi_j J(p_i,
    p_j) over pairs of classes.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a fraction of them, or all.
    correlation_shrinkage : float in [0, 1] or "auto", default="auto"
        Multiplies class correlations by 1 - correlation_shrinkage, as in
        :class:`memdlib.JointMaxEntClassifier`. At 1 the order is that of
        :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_, gains_ : ndarray of shape (S,)
        Features in the order of their choice, and what each added to JS_GM, in nats;
        fewer than asked for where all others depend linearly on the chosen ones in some
        class.
    ranking_ : ndarray of shape (d,)
        1 for the first feature chosen; those not chosen share the last rank.
    correlation_shrinkage_ : ndarray of shape (K,)
        Intensity in use for each class.
    n_selected_, n_features_in_ : int
    classes_ : ndarray of shape (K,)

    References
    ----------
    .. [1] Dukkipati, Yadav & Murty, Maximum entropy model based classification with
       feature selection, ICPR 2010.

    Examples
    --------
    >>> from memdlib import GreedyGaussianRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = GreedyGaussianRanker(n_features=4).fit(*load_wine(return_X_y=True))
    >>> ranker.order_.tolist(), ranker.gains_.round(2).tolist()
    ([6, 11, 9, 12], [6.01, 6.17, 4.59, 3.51])
    """

    _parameter_constraints = SIZE_CONSTRAINTS | {
        "correlation_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL]
    }

    def __init__(
        self,
        n_features=0.1,
        *,
        correlation_shrinkage="auto",
    ):
        self.n_features = n_features
        self.correlation_shrinkage = correlation_shrinkage

    @property
    def _weights_count_rows(self):
        """Whether the shrinkage is estimated, which counts rows."""
        return self.correlation_shrinkage == "auto"

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Choose the features.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self
        """
        X, codes, weight, self.classes_ = validate_labelled(self, X, y, sample_weight)
        n_classes = len(self.classes_)
        n_features = count_features(self.n_features, X.shape[1], "n_features")
        pooled = PooledMoments.of(X, codes, n_classes, weight)
        by_class = [
            _moments_of_one_class(X[codes == k], weight[codes == k])
            for k in range(n_classes)
        ]
        self.correlation_shrinkage_ = _shrinkage_of_classes(
            self.correlation_shrinkage, by_class
        )
        variance = np.array([moments.variance for moments in by_class])
        # A feature that is constant in one class takes its variance within classes.
        fallback = pooled.standard_deviations(0.0)[0] ** 2
        variance = np.where(variance > 0, variance, fallback)
        self.order_, self.gains_ = greedy_gaussian(
            _covariance_columns(by_class, variance, self.correlation_shrinkage_),
            variance,
            mean=(pooled.means - pooled.means[0]) + pooled.mean_lo,
            prior=pooled.prior,
            k=n_features,
        )
        self.n_selected_ = len(self.order_)
        self._moments = class_moments(
            X, codes, n_classes, order=2, sample_weight=weight
        )
        return self


def _shrinkage_of_classes(correlation_shrinkage, by_class):
    """Intensity (K,) for the moments of each class."""
    if correlation_shrinkage == "auto":
        correlation_shrinkage = [moments.correlation_intensity for moments in by_class]
    return np.broadcast_to(correlation_shrinkage, len(by_class))


def _covariance_columns(by_class, variance, correlation_shrinkage):
    """Columns (K, d) of the class covariances after shrinkage, on demand.

    Correlations are those of the residuals of each class; ``variance`` is (K, d) and
    ``correlation_shrinkage`` (K,).
    """
    deviation = np.sqrt(variance)

    def columns(s):
        residuals = (moments.residuals for moments in by_class)
        column = np.array([Z[:, s] @ Z for Z in residuals])
        column *= 1.0 - correlation_shrinkage[:, None]
        column[:, s] = 1.0
        return column * deviation * deviation[:, [s]]

    return columns


class GreedyInformationRanker(DivergenceRanker):
    """Greedy ranker: relevance less mean redundancy with the features chosen so far.

    Relevance is the divergence between the class marginals. Redundancy with a feature
    whose correlation over all rows is r is the mutual information -log(1 - r^2) / 2 of
    jointly normal features.

    Parameters
    ----------
    divergence : {"js", "js_gm", "jeffreys"}, default="js"
    family : str or Family, default="normal"
        Maximum-entropy family of all marginals; families by column are refused.
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a fraction of them, or all.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
    alpha : float, default=1.0
        Both of the marginals, as in :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_, gains_ : ndarray of shape (S,)
        Features in the order of their choice, without copies of chosen ones, and
        divergence less mean redundancy at each choice, in nats.
    ranking_ : ndarray of shape (d,)
        1 for the first feature chosen; those not chosen share the last rank.
    scores_ : ndarray of shape (d,)
        Nats.
    n_selected_, n_features_in_ : int
    classes_ : ndarray of shape (K,)

    References
    ----------
    .. [1] Dukkipati et al., Generative maximum entropy learning for multiclass
       classification, ICDM 2013, section IV-B.
    .. [2] Peng, Long & Ding, Feature selection based on mutual information, IEEE
       Transactions on Pattern Analysis and Machine Intelligence 27 (2005).

    Examples
    --------
    >>> from memdlib import GreedyInformationRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = GreedyInformationRanker(n_features=4).fit(*load_wine(return_X_y=True))
    >>> ranker.order_.tolist()
    [6, 9, 12, 11]
    """

    # Redundancy is between values of one family: none by column, and no "auto".
    _parameter_constraints = DivergenceRanker._parameter_constraints | {
        "family": [StrOptions(set(family_names())), MarginalFamily]
    }

    def __init__(
        self,
        divergence="js",
        *,
        family="normal",
        n_features=0.1,
        variance_shrinkage=0.0,
        alpha=1.0,
    ):
        super().__init__(
            divergence,
            family=family,
            n_features=n_features,
            variance_shrinkage=variance_shrinkage,
            alpha=alpha,
        )

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Choose the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        X, _, weight, _ = validate_labelled(self, X, y, sample_weight, reset=False)
        correlations = _correlation_columns(get_family(self.family).observe(X), weight)
        self.order_, self.gains_ = greedy_information(
            self.scores_, correlations, self.n_selected_
        )
        self.n_selected_ = len(self.order_)
        return self

    def _ranked_values(self):
        return self.gains_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags


def _moments_of_one_class(X, weight):
    """Moments of rows (n, d) and weights (n,) that count as one class."""
    return PooledMoments.of(X, np.zeros(len(X), dtype=np.intp), 1, weight)


def _correlation_columns(X, weight):
    """Correlations (d,) of a feature with all features over all rows, on demand."""
    if not sparse.issparse(X):
        Z = _moments_of_one_class(X, weight).residuals
        return lambda s: Z[:, s] @ Z
    X = X.astype(np.float64)
    mean, variance = mean_variance_axis(X, axis=0, weights=weight)
    varies = variance > ROUNDING * mean**2
    scale = np.where(varies, variance, np.inf) ** -0.5
    # Scaled, but not centred, or zeros would have to be stored.
    row_scale = np.sqrt(weight / weight.sum())[:, None]
    Z = X.multiply(row_scale).multiply(scale).tocsc()
    mean *= scale
    return lambda s: (Z[:, [s]].T @ Z).toarray()[0] - mean[s] * mean
