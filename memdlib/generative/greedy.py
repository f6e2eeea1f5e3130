"""Features chosen one after another, each in view of those already chosen.

A ranking by marginal divergence is greedy selection only if features are independent
given the class (Theorem 1 of MeMd). Two rankers drop that; no d x d matrix is formed.
"""

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.sparsefuncs import mean_variance_axis

from memdlib._types import Array, ArrayLike, Indices, MatrixLike, Weights
from memdlib.estimator import all_or_nothing
from memdlib.families import MarginalFamily, get
from memdlib.families.base import ROUNDING
from memdlib.generative.pooled import PooledMoments
from memdlib.generative.ranking import (
    SIZE_CONSTRAINTS,
    DivergenceRanker,
    RankedSelector,
)
from memdlib.validation import UNIT, Words, count_features, labelled_data

Columns = Callable[[int], Array]

# A feature whose residual variance is this share of its variance depends on others.
_COLLINEAR = 1e-10


def greedy_gaussian(
    covariances: Columns, variance: Array, mean: Array, prior: Array, k: int
) -> tuple[Indices, Array]:
    """Greedy maximisation of JS_GM; ``covariances(s)`` are columns s, (K, d)."""
    # With T_k the second moments of the residuals, after the regression of class k on
    # the chosen features, in class k, and M_k those in the mixture of all classes, the
    # gain of t is sum_k pi_k (M_k[t,t] / T_k[t,t] - 1) / 2: in the sum of KL over pairs
    # of classes the logarithms cancel. Choosing s eliminates it from both matrices.
    offset = mean - prior @ mean
    residual = variance.copy()
    mixture = prior @ (variance + offset**2) + offset**2
    free = np.ones(len(offset.T), dtype=bool)
    order, gains = [], []
    slope, lever, column = np.empty((3, k, *mean.shape))
    for step in range(k):
        free &= (residual > _COLLINEAR * variance).all(axis=0)
        if not free.any():
            break
        ratio = mixture / np.where(free, residual, 1.0) - 1.0
        gain = np.where(free, 0.5 * (prior @ ratio), -np.inf)
        s = _first_best(gain)
        order.append(s)
        gains.append(max(gain[s], 0.0))
        free[s] = False
        own = covariances(s)
        mixed = prior @ (own + offset * offset[:, [s]]) + offset * offset[:, [s]]
        own = own - _sums(column[:step], slope[:step, :, s])
        mixed = mixed - _sums(slope[:step], lever[:step, :, s])
        mixed -= _sums(lever[:step], slope[:step, :, s])
        column[step], slope[step] = own, own / own[:, [s]]
        lever[step] = mixed - 0.5 * slope[step] * mixed[:, [s]]
        residual = residual - slope[step] * own
        mixture = mixture - 2.0 * slope[step] * lever[step]
    return np.array(order), np.array(gains)


def _sums(rows: Array, weight: Array) -> Array:
    """Sum over the steps so far of rows (r, K, d) times weights (r, K)."""
    return np.einsum("rkd,rk->kd", rows, weight)


def _first_best(gain: Array) -> int:
    """First of the features (d,) whose gain rounding may set below the largest."""
    # every elimination costs digits
    return int(np.isclose(gain, gain.max(), rtol=1e-9, atol=1e-12).argmax())


def greedy_information(
    relevance: Array, correlations: Columns, k: int
) -> tuple[Indices, Array]:
    """Greedy choice by relevance less mean Gaussian mutual information, in nats."""
    redundancy = np.zeros_like(relevance)
    free = np.ones(len(relevance), dtype=bool)
    order, scores = [], []
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

    Each step adds the feature that most increases JS_GM, the sum of pi_i pi_j J(p_i,
    p_j) over pairs of classes.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        A number, a share, or all.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Multiplies class correlations by 1 - shrinkage, as in
        :class:`memdlib.JointMaxEntClassifier`. At 1 the order is that of
        :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_, gains_ : ndarray of shape (S,)
        Features as they are chosen, and what each added to JS_GM, in nats; fewer where
        all others depend linearly on the chosen ones in some class.
    ranking_ : ndarray of shape (d,)
        1 the first chosen; those not chosen share the last rank.
    shrinkage_ : ndarray of shape (K,)
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

    gains_: Array
    shrinkage_: Array

    _parameter_constraints = SIZE_CONSTRAINTS | {"shrinkage": [Words("auto"), UNIT]}

    def __init__(
        self, n_features: float | int | None = 0.1, shrinkage: float | str = "auto"
    ) -> None:
        self.n_features = n_features
        self.shrinkage = shrinkage

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Two classes at least.
        sample_weight : array-like of shape (n,), default=None
            Weight 2 means the row twice.

        Returns
        -------
        self
        """
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        size = count_features(self.n_features, X.shape[1], "n_features")
        pooled = PooledMoments.of(X, codes, len(self.classes_), weight)
        members = (codes == k for k in range(len(self.classes_)))
        classes = [_one_class(X[own], weight[own]) for own in members]
        shrinkage = self.shrinkage
        if shrinkage == "auto":
            shrinkage = [moments.correlation_intensity for moments in classes]
        self.shrinkage_ = np.broadcast_to(shrinkage, len(classes))
        variance = np.array([moments.variance for moments in classes])
        fallback = pooled.standard_deviations(0.0)[0] ** 2
        variance = np.where(variance > 0, variance, fallback)
        deviation = np.sqrt(variance)
        mean = (pooled.means - pooled.means[0]) + pooled.rest
        prior = pooled.weight / pooled.weight.sum()

        def covariances(s):
            residuals = (moments.residuals for moments in classes)
            column = np.array([z[:, s] @ z for z in residuals])
            column *= 1.0 - self.shrinkage_[:, None]
            column[:, s] = 1.0
            return column * deviation * deviation[:, [s]]

        self.order_, self.gains_ = greedy_gaussian(
            covariances, variance, mean, prior, size
        )
        self.n_selected_ = len(self.order_)
        return self


class GreedyInformationRanker(DivergenceRanker):
    """Greedy ranker: relevance less mean redundancy with the features chosen so far.

    Relevance is the divergence between the class marginals, redundancy with a feature
    of total correlation r the mutual information -log(1 - r^2) / 2 of jointly normal
    features.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        A number, a share, or all.
    divergence : {"js", "js_gm", "jeffreys"}, default="js"
    family : str or Family, default="normal"
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float, default=1.0
        Of the marginals, as in :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_, gains_ : ndarray of shape (S,)
        Features as they are chosen, without copies of chosen ones, and divergence less
        mean redundancy at each choice, in nats.
    ranking_ : ndarray of shape (d,)
        1 the first chosen; those not chosen share the last rank.
    feature_divergences_ : ndarray of shape (d,)
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

    gains_: Array

    def __init__(
        self,
        n_features: float | int | None = 0.1,
        divergence: str = "js",
        family: str | MarginalFamily = "normal",
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
    ) -> None:
        super().__init__(divergence, family, n_features, shrinkage, smoothing)

    @all_or_nothing
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Two classes at least.
        sample_weight : array-like of shape (n,), default=None
            Weight 2 means the row twice.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        X, _, weight, _ = labelled_data(self, X, y, sample_weight)
        correlations = _correlations(get(self.family).observe(X), weight)
        self.order_, self.gains_ = greedy_information(
            self.feature_divergences_, correlations, self.n_selected_
        )
        self.n_selected_ = len(self.order_)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def _one_class(X, weight: Array) -> PooledMoments:
    return PooledMoments.of(X, np.zeros(len(X), dtype=np.intp), 1, weight)


def _correlations(X, weight: Array) -> Columns:
    """Correlations of a feature with all features over all rows, on demand."""
    if not sparse.issparse(X):
        z = _one_class(X, weight).residuals
        return lambda s: z[:, s] @ z
    X = X.astype(np.float64)
    mean, variance = mean_variance_axis(X, axis=0, weights=weight)
    varies = variance > ROUNDING * mean**2
    scale = np.where(varies, variance, np.inf) ** -0.5
    z = X.multiply(np.sqrt(weight / weight.sum())[:, None]).multiply(scale).tocsc()
    mean *= scale
    return lambda s: (z[:, [s]].T @ z).toarray()[0] - mean[s] * mean
