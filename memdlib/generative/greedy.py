"""Features chosen one after another, each in view of those already chosen.

A ranking by marginal divergence is greedy selection only if features are independent
given the class (Theorem 1 of MeMd). Two rankers drop that: one takes the divergence
between the joint class densities, the other pays for redundancy. A step costs O(n d);
no d x d matrix is formed.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags

from memdlib._types import MatrixLike
from memdlib.estimator import all_or_nothing
from memdlib.families import MarginalFamily, Normal, get
from memdlib.families.multivariate import is_varying
from memdlib.families.shrinkage import correlation_intensity
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
)
from memdlib.moments import ClassMoments
from memdlib.validation import (
    UNIT,
    Words,
    check_parameters,
    count_features,
    labelled_data,
)

Array = NDArray[np.float64]
Columns = Callable[[int], Array]

# A feature whose residual variance is this share of its variance depends on others.
_COLLINEAR = 1e-10


def greedy_gaussian(
    covariances: Columns, variance: Array, mean: Array, prior: Array, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy maximisation of JS_GM between joint class Gaussians.

    Parameters
    ----------
    covariances : callable
        Takes a feature s, returns column s of each class covariance, shape (K, d).
    variance, mean : ndarray of shape (K, d)
    prior : ndarray of shape (K,)
    k : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of shape (k,) or shorter
    gains : ndarray of the same shape
        Nats.

    Notes
    -----
    Let e_k be the residual of x after the regression of class k on the chosen features,
    T_k its second moments in class k and M_k those in the mixture of all classes. By
    the chain rule, adding t increases KL(p_j || p_k) by

        (log(T_k[t,t] / T_j[t,t]) + E_j e_k[t]^2 / T_k[t,t] - 1) / 2.

    In the sum over ordered pairs, of weight pi_j pi_k, the logarithms cancel and the
    rest is a sum over classes, not pairs: sum_k pi_k (M_k[t,t] / T_k[t,t] - 1) / 2.
    Choosing s eliminates it from both matrices with b = T_k[:,s] / T_k[s,s]:

        T_k <- T_k - b b^T T_k[s,s],
        M_k <- M_k - b M_k[s,:] - M_k[:,s] b^T + b b^T M_k[s,s].

    Only their diagonals are kept, and the columns of the features chosen.

    Examples
    --------
    >>> import numpy as np
    >>> S = np.array([[[1.0, 0.9], [0.9, 1.0]]] * 2)  # the second feature is noise
    >>> mean = np.array([[0.0, 0.0], [2.0, 0.0]])
    >>> order, gains = greedy_gaussian(
    ...     lambda s: S[:, s], np.ones((2, 2)), mean, np.full(2, 0.5), 2
    ... )
    >>> order.tolist(), gains.round(3).tolist()
    ([0, 1], [1.0, 4.263])
    """
    n_classes, d = variance.shape
    offset = mean - prior @ mean
    residual = variance.copy()
    mixture = prior @ (variance + offset**2) + offset**2
    free = np.ones(d, dtype=bool)
    order, gains = [], []
    # b, and M_k[:, s] - b M_k[s, s] / 2, of every step so far
    slope, lever = np.empty((2, k, n_classes, d))
    pivot = np.empty((k, n_classes))
    for step in range(k):
        free &= (residual > _COLLINEAR * variance).all(axis=0)
        if not free.any():
            break
        ratio = mixture / np.where(free, residual, 1.0) - 1.0
        gain = np.where(free, 0.5 * (prior @ ratio), -np.inf)
        s = int(gain.argmax())
        order.append(s)
        gains.append(max(gain[s], 0.0))
        free[s] = False
        past = slope[:step], lever[:step], pivot[:step]
        own = covariances(s)
        mixed = prior @ (own + offset * offset[:, [s]]) + offset * offset[:, [s]]
        own = own - np.einsum("rkd,rk,rk->kd", past[0], past[0][..., s], past[2])
        mixed = mixed - np.einsum("rkd,rk->kd", past[0], past[1][..., s])
        mixed -= np.einsum("rkd,rk->kd", past[1], past[0][..., s])
        pivot[step] = own[:, s]
        slope[step] = own / own[:, [s]]
        lever[step] = mixed - 0.5 * slope[step] * mixed[:, [s]]
        residual = residual - slope[step] ** 2 * own[:, [s]]
        mixture = mixture - 2.0 * slope[step] * lever[step]
    return np.array(order), np.array(gains)


def greedy_information(
    relevance: Array, correlations: Columns, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice by relevance less mean Gaussian mutual information.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        Nats.
    correlations : callable
        Takes a feature s, returns its correlations with all, shape (d,).
    k : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of shape (k,), or shorter
        A copy of a chosen feature, of infinite mutual information, is never chosen.
    scores : ndarray of the same shape
        Relevance less mean redundancy at each choice, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> greedy_information(np.array([2.0, 1.9, 1.0]), lambda s: R[s], 2)[0].tolist()
    [0, 2]
    """
    redundancy = np.zeros_like(relevance)
    free = np.ones(len(relevance), dtype=bool)
    order, scores = [], []
    while len(order) < k and free.any():
        mean = redundancy / max(len(order), 1)
        score = np.where(free, relevance - mean, -np.inf)
        s = int(score.argmax())
        order.append(s)
        scores.append(score[s])
        unexplained = 1.0 - correlations(s) ** 2
        free &= unexplained > _COLLINEAR
        free[s] = False
        redundancy -= 0.5 * np.log(np.where(free, unexplained, 1.0))
    return np.array(order), np.array(scores)


class GreedyGaussianRanker(RankedSelector):
    """Greedy MeMd: the features whose *joint* class Gaussians diverge most.

    Each step adds the feature that most increases

        JS_GM = sum_{i<j} pi_i pi_j J(p_i, p_j)

    between the multivariate normal class densities of the chosen features (pi_1 pi_2 J
    for two classes).

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Multiplies class correlations by 1 - shrinkage, as in
        :class:`memdlib.JointMaxEntClassifier` with covariance="full". At 1 the
        features are independent, and the order is that of
        :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_ : ndarray of shape (S,)
        Feature indices in the order of choice. Shorter where no feature is left that
        does not depend linearly on the chosen ones in some class, which takes
        shrinkage=0 (a class of n rows then allows n - 1 features).
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the first chosen; those not chosen share the last.
    n_selected_ : int
        S, the number of features chosen.
    gains_ : ndarray of shape (S,)
        What each added to JS_GM, in nats; the cumulative sum is JS_GM of the set.
    shrinkage_ : ndarray of shape (K,)
        Intensity in use.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

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

    classes_: NDArray[Any]
    order_: NDArray[np.intp]
    gains_: Array
    shrinkage_: Array
    n_selected_: int

    _parameter_constraints = SIZE_CONSTRAINTS | {"shrinkage": [Words("auto"), UNIT]}

    def __init__(
        self, n_features: float | int | None = 0.1, shrinkage: float | str = "auto"
    ) -> None:
        self.n_features = n_features
        self.shrinkage = shrinkage

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On a single class, or a parameter out of range.
        """
        check_parameters(self)
        X, codes, weight, self.classes_ = labelled_data(
            self, X, y, sample_weight, sparse_too=False
        )
        size = count_features(self.n_features, X.shape[1], "n_features")
        shrinkage = self.shrinkage
        moments = family_moments(Normal(), X, codes, len(self.classes_), weight)
        rows = _standardised_rows(X, codes, weight, moments)
        if shrinkage == "auto":
            varying = is_varying(moments.mean).sum(axis=1)
            squares = [_squared_correlations(z) for z in rows]
            shrinkage = correlation_intensity(squares, varying, moments.weight - 1.0)
        self.shrinkage_ = np.broadcast_to(shrinkage, len(self.classes_))
        mu = Normal().regularise(
            moments.mean,
            moments.weight,
            shrinkage=0.0,
            smoothing=0.0,
            location=moments.location,
        )
        variance = Normal.variance(mu)
        deviation = np.sqrt(variance)

        def covariances(s):
            column = np.array([z[:, s] @ z for z in rows])
            column *= 1.0 - self.shrinkage_[:, None]
            column[:, s] = 1.0
            return column * deviation * deviation[:, [s]]

        self.order_, self.gains_ = greedy_gaussian(
            covariances,
            variance,
            Normal.centre(mu, moments.weight, moments.location),
            moments.prior,
            size,
        )
        self.n_selected_ = len(self.order_)
        return self


class GreedyInformationRanker(RankedSelector):
    """Greedy ranker: relevance minus mean redundancy with the features chosen so far.

    Each step adds the feature of largest

        divergence between its class marginals - mean over the chosen features s of
        I(X_t; X_s),

    with the mutual information of two jointly normal features of the same *total*
    correlation r, -log(1 - r^2) / 2. Where the divergence is JS, the mutual information
    with the class, both terms are informations.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all.
    divergence : {"js", "js_gm", "jeffreys"}, default="js"
        Divergence between the class marginals, as in
        :class:`memdlib.DivergenceRanker`.
    family : str or Family, default="normal"
        Maximum-entropy family of the marginals.
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float, default=1.0
        Of the marginals, as in :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_ : ndarray of shape (S,)
        Feature indices in the order of choice. Shorter where only copies of chosen
        features are left (r = 1 or -1: infinite information).
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the first chosen; those not chosen share the last.
    n_selected_ : int
        S, the number of features chosen.
    gains_ : ndarray of shape (S,)
        Divergence less mean redundancy at each choice, in nats; may be negative.
    feature_divergences_ : ndarray of shape (d,)
        Nats.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    References
    ----------
    .. [1] Dukkipati et al., Generative maximum entropy learning for multiclass
       classification, ICDM 2013, section IV-B.
    .. [2] Peng, Long & Ding, Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy, IEEE Transactions on Pattern
       Analysis and Machine Intelligence 27 (2005).

    Examples
    --------
    >>> from memdlib import GreedyInformationRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = GreedyInformationRanker(n_features=4).fit(*load_wine(return_X_y=True))
    >>> ranker.order_.tolist()
    [6, 9, 12, 11]
    """

    classes_: NDArray[Any]
    order_: NDArray[np.intp]
    n_selected_: int
    feature_divergences_: Array
    gains_: Array

    _parameter_constraints = MARGINAL_CONSTRAINTS | SIZE_CONSTRAINTS

    def __init__(
        self,
        n_features: float | int | None = 0.1,
        divergence: str = "js",
        family: str | MarginalFamily = "normal",
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
    ) -> None:
        self.n_features = n_features
        self.divergence = divergence
        self.family = family
        self.shrinkage = shrinkage
        self.smoothing = smoothing

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Finite values inside the support of the family.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            On a single class, values outside the support, or a parameter out of range.
        """
        check_parameters(self)
        family = get(self.family)
        X, codes, weight, self.classes_ = labelled_data(self, X, y, sample_weight)
        size = count_features(self.n_features, X.shape[1], "n_features")
        X = family.observe(X)
        moments = family_moments(family, X, codes, len(self.classes_), weight)
        marginals = ClassMarginals(moments, family, self.shrinkage, self.smoothing)
        self.feature_divergences_ = marginals.divergences(self.divergence)
        self.order_, self.gains_ = greedy_information(
            self.feature_divergences_, _correlations(X, weight), size
        )
        self.n_selected_ = len(self.order_)
        return self

    def __sklearn_tags__(self) -> Tags:
        return describe_input(super().__sklearn_tags__(), self.family)


def _standardised_rows(X, codes, weight, moments: ClassMoments) -> list[Array]:
    """Rows of each class, such that z^T z is its correlation matrix.

    Columns that are constant in the class are zero.
    """
    rows, varies = [], is_varying(moments.mean)
    deviation = np.sqrt(np.where(varies, Normal.variance(moments.mean), np.inf))
    for k, total in enumerate(moments.weight):
        member = codes == k
        centred = X[member] - (moments.location[k] + moments.mean[k, :, 0])
        share = np.sqrt(weight[member] / total)
        rows.append(centred * share[:, None] / deviation[k])
    return rows


def _correlations(X, weight: Array) -> Columns:
    """Correlations of a feature with all features over all rows, on demand."""
    everyone = np.zeros(X.shape[0], dtype=np.intp)
    total = family_moments(Normal(), X, everyone, 1, weight)
    if not sparse.issparse(X):
        (z,) = _standardised_rows(X, everyone, weight, total)
        return lambda s: z[:, s] @ z
    (marginal,) = total.mean
    scale = np.where(is_varying(marginal), Normal.variance(marginal), np.inf) ** -0.5
    mean = (np.ravel(total.location) + marginal[:, 0]) * scale
    share = np.sqrt(weight / weight.sum())
    z = X.multiply(share[:, None]).multiply(scale).tocsc()
    return lambda s: (z[:, [s]].T @ z).toarray()[0] - mean[s] * mean


def _squared_correlations(z: Array) -> float:
    """Sum of squared correlations over ordered pairs, from the smaller Gram matrix."""
    gram = z @ z.T if len(z) < z.shape[1] else z.T @ z
    return (gram**2).sum() - ((z**2).sum(axis=0) ** 2).sum()
