"""Rankings for which every pair of classes counts until it is told apart.

JS_GM adds up J over pairs of classes, without bound: one class that is far from all
others fills the ranking with features that tell it apart, again and again. The error of
Bayes' rule does not: of classes that are told apart there is nothing left to gain. With
features that are independent in every class it is at most

    sum_{k<l} sqrt(pi_k pi_l) exp(- sum_{s in S} B_kl(s)),

where B_kl(s) = -log int sqrt(p_k p_l) is the Bhattacharyya distance of two classes in
feature s. Each step chooses the feature with which that bound falls most. Two classes
are ranked by B alone, which is J / 8 for normal densities of one variance, and grows
with the logarithm of a quotient of variances where J grows with the quotient.
"""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import Tags

from memdlib._types import MatrixLike
from memdlib.estimator import all_or_nothing
from memdlib.families import Family, Normal, get
from memdlib.generative.correlated.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
)
from memdlib.validation import (
    UNIT,
    Words,
    check_parameters,
    count_features,
    labelled_data,
)

Array = NDArray[np.float64]


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


class BhattacharyyaRanker(RankedSelector):
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
        moments = family_moments(
            family, family.observe(X), codes, len(self.classes_), weight
        )
        marginals = ClassMarginals(moments, family, self.shrinkage, self.smoothing)
        distances = bhattacharyya_distances(marginals)
        self.order_, self.log_error_bounds_ = _ordered(distances, moments.prior, size)
        self.n_selected_ = len(self.order_)
        return self

    def __sklearn_tags__(self) -> Tags:
        return describe_input(super().__sklearn_tags__(), self.family)


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
