"""Features chosen one after another, each in view of those already chosen.

A ranking by marginal divergence is greedy selection only if features are independent
given the class (Theorem 1 of MeMd). Two rankers drop that: one takes the divergence
between the joint class densities, the other pays for redundancy. A step costs O(n d);
no d x d matrix is formed.

A third asks how well the class is predicted with the features. The entropy of the class
less the expected log-loss of *any* posterior is at most the information that the
features hold about the class together. So what a feature adds for a model can be
measured on rows that the model has not seen, without the assumption that the model is
right: a copy of a chosen feature, which only makes the posteriors surer, adds nothing.

Two more let every pair of classes count until it is told apart. JS_GM adds up J over
pairs, without bound: one class that is far from all others fills the ranking with
features that tell it apart, again and again. The error of Bayes' rule does not: of
classes that are told apart there is nothing left to gain. With features that are
independent in every class it is at most

    sum_{k<l} sqrt(pi_k pi_l) exp(- sum_{s in S} B_kl(s)),

where B_kl(s) = -log int sqrt(p_k p_l) is the Bhattacharyya distance of two classes in
feature s. Each step chooses the feature with which that bound falls most. Two classes
are ranked by B alone, which is J / 8 for normal densities of one variance, and grows
with the logarithm of a quotient of variances where J grows with the quotient.
"""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils import Tags, check_random_state

from memdlib._types import MatrixLike
from memdlib.estimator import all_or_nothing
from memdlib.families import Family, MarginalFamily, Normal, get
from memdlib.families.multivariate import is_varying
from memdlib.families.shrinkage import correlation_intensity
from memdlib.generative.correlated.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.marginals import ClassMarginals, family_moments, fold_moments
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
    rank,
)
from memdlib.holdout import content_positions
from memdlib.moments.sums import ClassMoments
from memdlib.validation import (
    COUNT,
    UNIT,
    Number,
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
            Normal.centre(mu, moments.location),
            moments.prior,
            size,
        )
        self.n_selected_ = len(self.order_)
        return self


class _MarginalRanker(RankedSelector):
    """Base of rankers that choose by the marginals of each class.

    A subclass has the parameters ``n_features``, ``family``, ``shrinkage`` and
    ``smoothing`` of :class:`memdlib.DivergenceRanker`, and supplies ``_choose``.
    """

    classes_: NDArray[Any]
    order_: NDArray[np.intp]
    n_selected_: int

    @abstractmethod
    def _choose(self, family: Family, X, codes, weight, size: int) -> NDArray[np.intp]:
        """Order of the features chosen, of observed and valid data."""

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
        self.order_ = self._choose(family, family.observe(X), codes, weight, size)
        self.n_selected_ = len(self.order_)
        return self

    def _marginals(self, moments: ClassMoments, family: Family) -> ClassMarginals:
        return ClassMarginals(moments, family, self.shrinkage, self.smoothing)

    def __sklearn_tags__(self) -> Tags:
        return describe_input(super().__sklearn_tags__(), self.family)


class GreedyInformationRanker(_MarginalRanker):
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

    def _choose(self, family: Family, X, codes, weight, size: int) -> NDArray[np.intp]:
        moments = family_moments(family, X, codes, len(self.classes_), weight)
        marginals = self._marginals(moments, family)
        self.feature_divergences_ = marginals.divergences(self.divergence)
        order, self.gains_ = greedy_information(
            self.feature_divergences_, _correlations(X, weight), size
        )
        return order


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


# Entries of (rows, features, classes) arrays handled at a time.
_BLOCK = 2**21

# Nats: farther apart two classes need not be told in one feature.
_FAR = 1e9


class GreedyHeldOutRanker(_MarginalRanker):
    """Greedy ranker: the features that leave least log-loss on rows held out.

    Each step adds the feature with which the Bayes rule of the class marginals, as in
    :class:`memdlib.MeMdClassifier`, has the least log-loss on training rows that the
    marginals have not seen. A step costs O(n C K) for C candidates.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all; never more than
        there are candidates.
    n_candidates : int or None, default=200
        How many features of largest marginal divergence to choose among; None is all.
    divergence : {"js", "js_gm", "jeffreys"}, default="js"
        That divergence, as in :class:`memdlib.DivergenceRanker`.
    family : str or Family, default="normal"
        Maximum-entropy family of the marginals.
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float, default=1.0
        Of the marginals, as in :class:`memdlib.DivergenceRanker`.
    validation : int >= 2, default=5
        Folds: the rows of each are scored by the marginals of the others.
    random_state : int, RandomState or None, default=None
        Draws the folds; copies of a row stay in one.

    Attributes
    ----------
    order_ : ndarray of shape (S,)
        Feature indices in the order of choice.
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the first chosen; those not chosen share the last.
    n_selected_ : int
        S, the number of features chosen.
    log_losses_ : ndarray of shape (S,)
        Mean held-out log-loss after each choice, in nats. Where it stops falling the
        model gains nothing more; as a minimum over candidates it flatters a little.
    feature_divergences_ : ndarray of shape (d,)
        Nats.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    See Also
    --------
    GreedyInformationRanker : pays for redundancy in pairs, and needs no rows held out.

    References
    ----------
    .. [1] Langley & Sage, Induction of selective Bayesian classifiers, UAI 1994: greedy
       choice of features for naive Bayes, there by accuracy.

    Examples
    --------
    >>> from memdlib.generative import GreedyHeldOutRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = GreedyHeldOutRanker(n_features=4, random_state=0)
    >>> ranker.fit(*load_wine(return_X_y=True)).order_.tolist()
    [6, 0, 10, 12]
    """

    feature_divergences_: Array
    log_losses_: Array

    _parameter_constraints = (
        MARGINAL_CONSTRAINTS
        | SIZE_CONSTRAINTS
        | {
            "n_candidates": [COUNT, None],
            "validation": [Number(Integral, 2, None)],
            "random_state": ["random_state"],
        }
    )

    def __init__(
        self,
        n_features: float | int | None = 0.1,
        n_candidates: int | None = 200,
        divergence: str = "js",
        family: str | MarginalFamily = "normal",
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
        validation: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.n_candidates = n_candidates
        self.divergence = divergence
        self.family = family
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.validation = validation
        self.random_state = random_state

    def _choose(self, family: Family, X, codes, weight, size: int) -> NDArray[np.intp]:
        at = content_positions(X, codes, weight, check_random_state(self.random_state))
        fold = (at * self.validation).astype(np.intp)
        moments, training = fold_moments(
            family, X, codes, len(self.classes_), weight, fold, self.validation
        )
        whole = self._marginals(moments, family)
        self.feature_divergences_ = whole.divergences(self.divergence)
        best = rank(self.feature_divergences_)[: self.n_candidates]
        X = X[:, best].toarray() if sparse.issparse(X) else X[:, best]
        margins = np.zeros((*X.shape, len(self.classes_)))
        for f, part in enumerate(training):
            rows = fold == f
            if rows.any() and part.weight.any():
                model = self._marginals(part, family)
                margins[rows] = _log_odds(model, X[rows], best, codes[rows])
        prior = np.log(moments.prior)
        order, self.log_losses_ = greedy_log_loss(
            margins,
            prior - prior[codes][:, None],
            weight / weight.sum(),
            min(size, len(best)),
        )
        return best[order]


def greedy_log_loss(
    log_odds: Array, prior_odds: Array, weight: Array, size: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice of the columns whose sum has the least log-loss.

    Parameters
    ----------
    log_odds : ndarray of shape (n, C, K)
        Log density of each class less that of the row's own class, for C features.
    prior_odds : ndarray of shape (n, K)
        Log prior of each class less that of the row's own class.
    weight : ndarray of shape (n,)
        Of sum one.
    size : int
        How many to choose.

    Returns
    -------
    order : ndarray of int of shape (size,)
        Columns; of equal ones the first.
    loss : ndarray of shape (size,)
        Log-loss after each choice, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> odds = np.zeros((2, 2, 2))
    >>> odds[:, 1, 1] = -np.log(3)
    >>> order, loss = greedy_log_loss(odds, np.zeros((2, 2)), np.full(2, 0.5), 2)
    >>> order.tolist(), loss.round(3).tolist()
    ([1, 0], [0.288, 0.288])
    """
    n, _, n_classes = log_odds.shape
    total, free = prior_odds.copy(), np.arange(log_odds.shape[1])
    step = max(1, _BLOCK // (n * n_classes))
    order, losses = [], []
    for _ in range(size):
        loss = np.concatenate(
            [
                weight @ _losses(total, log_odds[:, free[start : start + step]])
                for start in range(0, len(free), step)
            ]
        )
        best = int(loss.argmin())
        order.append(free[best])
        losses.append(loss[best])
        total += log_odds[:, free[best]]
        free = np.delete(free, best)
    return np.array(order), np.array(losses)


def _losses(total: Array, log_odds: Array) -> Array:
    """Log-loss (n, C) of each row with each feature; one class has the odds zero."""
    odds = total[:, None] + log_odds
    largest = odds.max(axis=-1)
    odds -= largest[..., None]
    return largest + np.log(np.exp(odds, out=odds).sum(axis=-1))


@np.errstate(over="ignore", invalid="ignore")
def _log_odds(marginals: ClassMarginals, X, features, codes) -> Array:
    """Log densities (n, C, K) of features, less those of the class of each row."""
    lam = marginals.natural_params[:, features]
    location = marginals.moments.location[:, features]
    log_density = np.stack(
        [
            marginals.family.log_density(X - at, member)
            for at, member in zip(location, lam, strict=True)
        ],
        axis=-1,
    )
    own = np.take_along_axis(log_density, codes[:, None, None], axis=-1)
    # a value that overflows in the class of its row and in others says nothing
    odds = np.nan_to_num(log_density - own, nan=0.0, posinf=_FAR, neginf=-_FAR)
    return np.clip(odds, -_FAR, _FAR)


def error_bound_order(
    distances: Array, weights: Array, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Greedy choice of the features with which a bound of the error falls most.

    Parameters
    ----------
    distances : ndarray of shape (P, d)
        Bhattacharyya distances of P pairs of classes in each feature, nats.
    weights : ndarray of shape (P,)
        sqrt(pi_k pi_l) of each pair; a pair of weight zero does not count.
    k : int
        Number of features to choose.

    Returns
    -------
    order : ndarray of int, shape (k,)
        Of equally good features the first.
    log_bounds : ndarray of shape (k,)
        Logarithm of sum_p w_p exp(-sum_s B_p(s)) after each choice.

    Examples
    --------
    Two features tell the same pair apart, the third another one.

    >>> B = np.array([[9.0, 8.0, 0.0], [0.0, 0.0, 1.0]])
    >>> error_bound_order(B, np.array([0.5, 0.5]), 2)[0].tolist()
    [0, 2]
    """
    with np.errstate(divide="ignore"):
        left = np.log(weights)
    free, order, log_bounds = np.ones(distances.shape[1], dtype=bool), [], []
    for _ in range(k):
        bound = np.where(free, logsumexp(left[:, None] - distances, axis=0), np.inf)
        s = int(bound.argmin())
        s = s if free[s] else int(free.argmax())
        free[s] = False
        left = left - distances[:, s]
        order.append(s)
        log_bounds.append(bound[s])
    return np.array(order), np.array(log_bounds)


def bhattacharyya_distances(marginals: ClassMarginals) -> Array:
    """Bhattacharyya distances of all pairs of classes in every feature.

    Parameters
    ----------
    marginals : ClassMarginals
        Of K classes and d features.

    Returns
    -------
    ndarray of shape (K (K - 1) / 2, d)
        -log int sqrt(p_k p_l) in nats, pairs in the order (0, 1), (0, 2), ...

    Notes
    -----
    With log-normaliser psi, (psi(lambda_k) + psi(lambda_l)) / 2 - psi((lambda_k +
    lambda_l) / 2); for normal densities in closed form, which keeps more digits.

    References
    ----------
    .. [1] T. Kailath, The divergence and Bhattacharyya distance measures in signal
       selection, IEEE Transactions on Communication Technology 15 (1967).

    Examples
    --------
    >>> from memdlib.moments import class_moments
    >>> X = np.array([[0.0, 1.0], [2.0, 2.0], [4.0, 1.5], [6.0, 1.5]])
    >>> marginals = ClassMarginals(class_moments(X, [0, 0, 1, 1], 2, order=2), Normal())
    >>> float(bhattacharyya_distances(marginals)[0, 0].round(6))
    2.0
    """
    first, second = np.triu_indices(len(marginals.prior), 1)
    if marginals.family == Normal():
        mu = marginals.mean_params
        centre = Normal.centre(mu, marginals.moments.location)
        variance = Normal.variance(mu)
        a, b = variance[first], variance[second]
        with np.errstate(over="ignore"):
            apart = ((centre[first] - centre[second]) / np.sqrt(a + b)) ** 2
        ratio = np.sqrt(a / b)
        return 0.25 * apart + 0.5 * np.log(0.5 * (ratio + 1.0 / ratio))
    psi, lam = marginals.family.log_normaliser, marginals.natural_params
    own, between = psi(lam), psi(0.5 * (lam[first] + lam[second]))
    return np.maximum(0.5 * (own[first] + own[second]) - between, 0.0)


class BhattacharyyaRanker(_MarginalRanker):
    """Select features that tell all pairs of classes apart, not one pair many times.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all.
    family : str or Family, default="normal"
        Maximum-entropy family of the marginals.
    shrinkage : float in [0, 1] or "auto", default=0.0
    smoothing : float, default=1.0
        Of the marginals, as in :class:`memdlib.DivergenceRanker`.

    Attributes
    ----------
    order_ : ndarray of shape (S,)
        Feature indices in the order of choice.
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the first chosen; those not chosen share the last.
    n_selected_ : int
        S, the number of features chosen.
    log_error_bounds_ : ndarray of shape (S,)
        Logarithm of the bound of the error after each choice, for densities that are
        what they are estimated to be, independent.
    classes_ : ndarray of shape (K,)
    n_features_in_ : int

    See Also
    --------
    WhitenedRanker : the same of coordinates without correlations.

    References
    ----------
    .. [1] T. Kailath, The divergence and Bhattacharyya distance measures in signal
       selection, IEEE Transactions on Communication Technology 15 (1967).

    Examples
    --------
    >>> from memdlib.generative import BhattacharyyaRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = BhattacharyyaRanker(n_features=4).fit(*load_wine(return_X_y=True))
    >>> ranker.order_.tolist(), ranker.log_error_bounds_.round(2).tolist()
    ([6, 0, 9, 12], [-0.97, -1.73, -2.52, -3.09])
    """

    log_error_bounds_: Array

    _parameter_constraints: ClassVar[dict] = {
        name: part
        for name, part in (MARGINAL_CONSTRAINTS | SIZE_CONSTRAINTS).items()
        if name != "divergence"
    }

    def __init__(
        self,
        n_features: float | int | None = 0.1,
        family: str | Family = "normal",
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
    ) -> None:
        self.n_features = n_features
        self.family = family
        self.shrinkage = shrinkage
        self.smoothing = smoothing

    def _choose(self, family: Family, X, codes, weight, size: int) -> NDArray[np.intp]:
        moments = family_moments(family, X, codes, len(self.classes_), weight)
        distances = bhattacharyya_distances(self._marginals(moments, family))
        order, self.log_error_bounds_ = _ordered(distances, moments.prior, size)
        return order


class WhitenedRanker(RankedSelector):
    """Select features by what they tell beyond their neighbours, for all pairs alike.

    Class densities are normal with one covariance. In the coordinates z = R^(-1/2)
    diag(1/s) (x - mu), which are independent in every class, the distance of two
    classes is a sum over features, in which correlated features share what they have
    in common; see :class:`memdlib.generative.CorrelatedMeMdClassifier`.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to choose: a number, a share of them, or all.
    shrinkage : float in [0, 1] or "auto", default="auto"
        Of correlations towards none, as there.

    Attributes
    ----------
    order_, ranking_, n_selected_, log_error_bounds_, classes_, n_features_in_
        As those of :class:`BhattacharyyaRanker`, for features in the place of the
        coordinates that lie next to them.

    References
    ----------
    .. [1] Zuber & Strimmer, Gene ranking and biomarker discovery under correlation,
       Bioinformatics 25 (2009): for two classes the order is that of their
       correlation-adjusted t-scores.

    Examples
    --------
    >>> from memdlib.generative import WhitenedRanker
    >>> from sklearn.datasets import load_wine
    >>> ranker = WhitenedRanker(n_features=4).fit(*load_wine(return_X_y=True))
    >>> ranker.order_.tolist()
    [6, 12, 9, 0]
    """

    classes_: NDArray[Any]
    order_: NDArray[np.intp]
    log_error_bounds_: Array
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
            On a single class, a parameter out of range, or correlations that are
            singular without shrinkage.
        """
        check_parameters(self)
        X, codes, weight, self.classes_ = labelled_data(
            self, X, y, sample_weight, sparse_too=False
        )
        size = count_features(self.n_features, X.shape[1], "n_features")
        moments = PooledMoments.of(X, codes, len(self.classes_), weight)
        whitened = WhitenedMeans.of(moments, shrinkage=self.shrinkage)
        first, second = np.triu_indices(len(self.classes_), 1)
        distances = (whitened.means[first] - whitened.means[second]) ** 2 / 8.0
        self.order_, self.log_error_bounds_ = _ordered(distances, whitened.prior, size)
        self.n_selected_ = len(self.order_)
        return self


def _ordered(distances: Array, prior: Array, size: int):
    first, second = np.triu_indices(len(prior), 1)
    return error_bound_order(distances, np.sqrt(prior[first] * prior[second]), size)
