"""Features ranked by the code length of the labels, given the level of one feature."""

from numbers import Integral

import numpy as np
from sklearn.utils import ClassifierTags

from memdlib._sklearn import StrOptions
from memdlib.generative.ranking import SIZE_CONSTRAINTS, RankedSelector
from memdlib.moments import class_moments
from memdlib.nml.conditional import count_levels, feature_codelengths
from memdlib.nml.multinomial import multinomial_codelength
from memdlib.nml.quantiser import QUANTISER_CONSTRAINTS, LevelQuantiser
from memdlib.validation import (
    COUNT,
    Interval,
    check_integer,
    count_features,
    restore_on_error,
    validate_labelled,
)

CODE_CONSTRAINTS = {
    **SIZE_CONSTRAINTS,
    **QUANTISER_CONSTRAINTS,
    "n_moments": [COUNT, "array-like", range],
    "intercept": ["boolean"],
    "criterion": [StrOptions({"nml", "error"})],
    "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
}

# Decimal places, in nats, to which two ways to add the same terms agree.
_DIGITS = 9


class NMLFeatureSelector(RankedSelector):
    """Select the features that give two-class labels the shortest NML code.

    Each feature is cut into levels. For every number m of moments, the labels have a
    code length under the conditional maximum-entropy model, in which P(1 | x) is the
    logistic function of a polynomial of degree m in the level x; the m with the
    shortest code is kept, and the features are ranked by its code length [1]_.

    Parameters
    ----------
    n_features : int, float in (0, 1] or None, default=None
        How many features to keep: a number, a fraction of them, or all.
    n_moments : int or iterable of int, default=7
        The numbers m to choose from: 1 to that number, or those listed.
    n_bins : int, default=5
        Number of levels that each feature is cut into; their values are
        1, .., ``n_bins``.
    strategy : {"uniform", "quantile", "kmeans"}, default="uniform"
        How the features are cut; see :class:`memdlib.nml.LevelQuantiser`.
    intercept : bool, default=False
        Whether the polynomial has a constant term.
    criterion : {"nml", "error"}, default="nml"
        What is minimised: error plus complexity, or the error alone, which is the
        minimax entropy principle.
    verbose : int, default=0
        Above zero, print how many complexities are left, at every tenth of them.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The second is the label 1 of the model.
    n_moments_ : ndarray of shape (M,)
        The numbers m tried, increasing.
    level_counts_, level_ones_ : ndarray of shape (d, L)
        Number of training rows at each level of each feature, and of those that belong
        to the second class.
    errors_, complexities_, codelengths_ : ndarray of shape (d, M)
        In nats; the code lengths are the sums of the other two.
    uncertainties_, methods_ : ndarray of shape (d, M)
        Of the complexities; see `memdlib.nml.ComplexityEstimate`.
    best_n_moments_ : ndarray of shape (d,)
        The m that minimises the criterion; the smallest if there are several.
    feature_codelengths_ : ndarray of shape (d,)
        NML code length at ``best_n_moments_``, in nats.
    order_ : ndarray of shape (d,)
        Feature indices, the shortest code first; ties keep the order of the columns.
    n_selected_ : int
        The number of features kept.
    null_codelength_ : float
        Code length of the labels without features, in nats.
    quantiser_ : LevelQuantiser
        Fitted to the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    Notes
    -----
    Complexities whose exact sum takes less than about a tenth of a second are exact;
    the others are estimated by random draws, see `memdlib.nml.feature_codelengths`. A
    fit to hundreds of rows takes about half a second for each feature. The
    choice among features and moments is not part of the code length: a code that says
    which of d features and M numbers of moments it uses is log(d M) nats longer.

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

    _parameter_constraints = CODE_CONSTRAINTS

    def __init__(
        self,
        n_features=None,
        *,
        n_moments=7,
        n_bins=5,
        strategy="uniform",
        intercept=False,
        criterion="nml",
        verbose=0,
    ):
        self.n_moments = n_moments
        self.n_features = n_features
        self.n_bins = n_bins
        self.strategy = strategy
        self.intercept = intercept
        self.criterion = criterion
        self.verbose = verbose

    @restore_on_error
    def fit(self, X, y):
        """Quantise the features, compute their code lengths and rank them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite values.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y has more than two classes, or if an argument is out of range.
        """
        X, codes, _, self.classes_ = validate_labelled(self, X, y, None)
        if len(self.classes_) > 2:
            # the first sentence is the one that scikit-learn's checks look for
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"multiclass: y holds {len(self.classes_)} classes"
            )
        self.n_selected_ = count_features(self.n_features, X.shape[1], "n_features")
        candidates = self.n_moments
        if isinstance(candidates, Integral):
            candidates = range(1, candidates + 1)
        self.n_moments_ = np.unique([check_integer(m, "n_moments") for m in candidates])
        quantiser = LevelQuantiser(self.n_bins, strategy=self.strategy)
        # levels are indices here, also where transform_output asks for frames
        self.quantiser_ = quantiser.set_output(transform="default").fit(X)
        levels = self.quantiser_.transform(X)
        self.level_counts_, self.level_ones_ = count_levels(
            levels, codes, n_levels=self.n_bins
        )
        codelength = feature_codelengths(
            self.level_counts_,
            self.level_ones_,
            n_moments=self.n_moments_,
            intercept=self.intercept,
            verbose=self.verbose,
        )
        self._rank(codelength)
        self._moments = class_moments(X, codes, 2, order=2)
        self.null_codelength_ = multinomial_codelength(np.bincount(codes))
        return self

    def _rank(self, codelength):
        """Choose the moments of each feature and order the features by code length."""
        self.errors_ = codelength.error
        self.complexities_ = codelength.complexity
        self.uncertainties_ = codelength.uncertainty
        self.methods_ = codelength.method
        self.codelengths_ = codelength.total
        lengths = self.codelengths_ if self.criterion == "nml" else self.errors_
        self._minima = lengths.min(axis=1)
        lengths = lengths.round(_DIGITS)
        best = lengths.argmin(axis=1)
        self.best_n_moments_ = self.n_moments_[best]
        self.feature_codelengths_ = self.codelengths_[np.arange(len(best)), best]
        self.order_ = np.argsort(lengths.min(axis=1), kind="stable")

    def _moments_by_family(self):
        return [(np.arange(self.n_features_in_), "levels", self._moments)]

    def _ranked_values(self):
        return self._minima[self.order_]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
