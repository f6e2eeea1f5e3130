"""Features ranked by how short the labels become, given the level of one of them."""

from collections.abc import Iterable
from numbers import Integral
from typing import Self

import numpy as np
from sklearn.utils import ClassifierTags, Tags

from memdlib._types import Array, ArrayLike, NDArray
from memdlib.generative.ranking import SIZE_CONSTRAINTS, RankedSelector
from memdlib.nml.conditional import count_levels, feature_codelengths
from memdlib.nml.multinomial import multinomial_codelength
from memdlib.nml.quantiser import QUANTISER_CONSTRAINTS, LevelQuantiser
from memdlib.validation import (
    COUNT,
    Words,
    all_or_nothing,
    check_integer,
    count_features,
    labelled_data,
)

CODE_CONSTRAINTS = {
    **SIZE_CONSTRAINTS,
    **QUANTISER_CONSTRAINTS,
    "n_moments": [COUNT, "array-like", range],
    "intercept": ["boolean"],
    "criterion": [Words("nml", "error")],
}

# Digits after the point, in nats, that two ways to add the same terms agree in.
_DIGITS = 9


class NMLFeatureSelector(RankedSelector):
    """Select the features that give two-class labels the shortest NML code.

    Each feature is cut into levels. For every number m of moments, the labels have a
    code length under the conditional maximum-entropy model with P(1 | x) the logistic
    function of a polynomial of degree m in the level x; the best m is kept, and the
    features are ranked by the code length it gives [1]_.

    Parameters
    ----------
    n_moments : int or iterable of int, default=7
        The numbers m to choose from: 1 to that number, or those listed.
    n_features : int, float in (0, 1] or None, default=None
        How many features to keep: a number, a share of them, or all.
    n_bins : int, default=5
        Levels that each feature is cut into; their values are 1, .., ``n_bins``.
    strategy : {"uniform", "quantile", "kmeans"}, default="uniform"
        How; see :class:`memdlib.nml.LevelQuantiser`.
    intercept : bool, default=False
        Whether the polynomial has a constant term.
    criterion : {"nml", "error"}, default="nml"
        What is made least: error plus complexity, or the error alone, which is the
        minimax entropy principle.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is the label 1 of the model.
    n_moments_ : ndarray of shape (M,)
        The numbers m tried, increasing.
    level_counts_, level_ones_ : ndarray of shape (d, L)
        Training rows at each level of each feature, and those of the second class.
    errors_, complexities_, codelengths_ : ndarray of shape (d, M)
        In nats; the last is the sum of the others.
    uncertainties_, methods_ : ndarray of shape (d, M)
        Of the complexities; see `memdlib.nml.ComplexityEstimate`.
    best_n_moments_ : ndarray of shape (d,)
        Of equally good m the smallest.
    feature_codelengths_ : ndarray of shape (d,)
        NML code length at ``best_n_moments_``, in nats.
    order_ : ndarray of shape (d,)
        Feature indices, the shortest code first; ties keep the order of the columns.
    n_selected_ : int
        The number of features kept.
    null_codelength_ : float
        Code length of the labels without features, in nats.
    quantiser_ : LevelQuantiser
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    Complexities whose exact sum takes less than about a tenth of a second are exact,
    others are drawn; see `memdlib.nml.feature_codelengths`. The choice among features
    and moments is not part of the code length. A code that says which of d features and
    M moments it uses is log(d M) nats longer.

    References
    ----------
    .. [1] Pandey and Dukkipati, Minimum description length principle for maximum
       entropy model selection, ISIT 2013.

    Examples
    --------
    >>> from memdlib.nml import NMLFeatureSelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> two = (y < 2) & (X.index % 2 == 0)
    >>> selector = NMLFeatureSelector(n_moments=2, n_features=2)
    >>> selector = selector.fit(X[two], y[two])
    >>> selector.get_feature_names_out().tolist()
    ['alcohol', 'proline']
    """

    quantiser_: LevelQuantiser
    n_moments_: NDArray[np.int64]
    best_n_moments_: NDArray[np.int64]
    level_counts_: NDArray[np.int64]
    level_ones_: NDArray[np.int64]
    errors_: Array
    complexities_: Array
    uncertainties_: Array
    codelengths_: Array
    feature_codelengths_: Array
    methods_: NDArray[np.str_]
    null_codelength_: float

    _parameter_constraints = CODE_CONSTRAINTS

    def __init__(
        self,
        n_moments: int | Iterable[int] = 7,
        n_features: int | float | None = None,
        n_bins: int = 5,
        strategy: str = "uniform",
        intercept: bool = False,
        criterion: str = "nml",
    ):
        self.n_moments = n_moments
        self.n_features = n_features
        self.n_bins = n_bins
        self.strategy = strategy
        self.intercept = intercept
        self.criterion = criterion

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Quantise the features and find their code lengths.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self
        """
        X, codes, _, self.classes_ = labelled_data(self, X, y, None)
        if len(self.classes_) > 2:
            # the first sentence is the one that scikit-learn's checks look for
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass: y holds {len(self.classes_)} classes"
            )
        self.n_selected_ = count_features(self.n_features, X.shape[1], "n_features")
        m = self.n_moments
        asked = range(1, m + 1) if isinstance(m, Integral) else m
        self.n_moments_ = np.unique([check_integer(m, "n_moments") for m in asked])
        self.quantiser_ = LevelQuantiser(self.n_bins, self.strategy).fit(X)
        levels = self.quantiser_.transform(X)
        self.level_counts_, self.level_ones_ = count_levels(levels, codes, self.n_bins)
        counts, moments = (self.level_counts_, self.level_ones_), self.n_moments_
        found = feature_codelengths(*counts, moments, intercept=self.intercept)
        self.errors_, self.complexities_ = found.error, found.complexity
        self.uncertainties_, self.methods_ = found.uncertainty, found.method
        self.codelengths_ = found.total
        cost = self.codelengths_ if self.criterion == "nml" else self.errors_
        cost = cost.round(_DIGITS)
        best = cost.argmin(axis=1)
        row = np.arange(len(best))
        self.best_n_moments_ = self.n_moments_[best]
        self.feature_codelengths_ = self.codelengths_[row, best]
        self.order_ = np.argsort(cost[row, best], kind="stable")
        self.null_codelength_ = multinomial_codelength(np.bincount(codes))
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
