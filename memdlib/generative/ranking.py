"""Features ranked by how far apart a divergence puts the classes.

By Theorem 1 of MeMd the greedy choice of features under class-conditional independence
is the ranking by marginal divergence, so one number per feature is all that is needed:
data -> moments -> class marginals -> divergences -> order.
"""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import StrOptions
from memdlib.families import MarginalFamily, get_family
from memdlib.families.counts import Binomial, Multinomial
from memdlib.generative.grouped import (
    GroupedMarginals,
    GroupedMoments,
    column_families,
)
from memdlib.generative.marginals import (
    DIVERGENCES,
    ClassMarginals,
    family_moments,
)
from memdlib.validation import (
    COUNT,
    FRACTION,
    NONNEGATIVE,
    UNIT_INTERVAL,
    count_features,
    restore_on_error,
    validate_labelled,
)

# What the parameters that several estimators share may be.
MARGINAL_CONSTRAINTS = {
    "divergence": [StrOptions(set(DIVERGENCES))],
    "family": [str, MarginalFamily, "array-like"],
    "variance_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
    "alpha": [NONNEGATIVE],
}
SIZE_CONSTRAINTS = {"n_features": [COUNT, FRACTION, None]}


def common_family(spec):
    """Return the family of all columns; None if they have families of their own."""
    if not isinstance(spec, str | MarginalFamily) or spec in ("auto", "categorical"):
        return None
    return get_family(spec)


def collect_moments(
    estimator,
    X,
    codes,
    n_classes,
    weight,
    known=None,
):
    """Class moments of X, grouped if columns have families of their own.

    Parameters
    ----------
    estimator : FamilySelector
        Its ``family`` says which moments, and it has seen X.
    X : {ndarray, csr_array} of shape (n, d)
    codes : ndarray of int, shape (n,)
    n_classes : int
    weight : ndarray of shape (n,)
    known : tuple of MarginalFamily, default=None
        Families of the columns in the batches before.
    """
    family = common_family(estimator.family)
    if family is not None:
        return family_moments(family, X, codes, n_classes, weight)
    names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1])).tolist()
    families = column_families(estimator.family, X, names, known)
    return GroupedMoments.of(X, codes, n_classes, weight, families, names)


def make_marginals(
    estimator,
    moments,
    prior=None,
):
    """Class marginals of collected moments, as an estimator regularises them."""
    options = {
        "variance_shrinkage": estimator.variance_shrinkage,
        "alpha": estimator.alpha,
        "prior": prior,
    }
    if isinstance(moments, GroupedMoments):
        return GroupedMarginals.of(moments, **options)
    return ClassMarginals(moments, common_family(estimator.family), **options)


def rank(divergences):
    """Features (d,) from largest to smallest divergence; ties keep column order."""
    order = np.argsort(-divergences, kind="stable")
    descending = divergences[order]
    # values that differ by rounding alone are ties, or the processor would order them
    falls = descending[1:] < (1.0 - 1e-12) * descending[:-1]
    tie_group = np.append(0, np.cumsum(falls))
    return order[np.lexsort((order, tie_group))]


class RankedSelector(SelectorMixin, BaseEstimator):
    """Selects the first ``n_selected_`` features of ``order_``."""

    @property
    def ranking_(self):
        """Rank of each feature, 1 the best; those not in ``order_`` share the next."""
        check_is_fitted(self)
        ranks = np.full(self.n_features_in_, len(self.order_) + 1)
        ranks[self.order_] = np.arange(1, len(self.order_) + 1)
        return ranks

    def _get_support_mask(self):
        return self.ranking_ <= self.n_selected_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class FamilySelector(RankedSelector):
    """Selector by class marginals, whose ``family`` says which data it takes."""

    def __sklearn_tags__(self):
        # not RankedSelector's, which sets no more than the target
        tags = super(RankedSelector, self).__sklearn_tags__()
        try:
            family = common_family(self.family)
        except ValueError:  # an unknown family, which fit refuses; tags never raise
            family = None
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = not isinstance(family, Multinomial | Binomial)
        tags.input_tags.positive_only = family is not None and family.nonnegative
        if tags.classifier_tags is not None:
            # continuous test data mean little to a family of counts
            tags.classifier_tags.poor_score = tags.input_tags.positive_only
        return tags


class DivergenceRanker(FamilySelector):
    """Select the features whose class marginals diverge most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        For two classes the first two rank alike; "js" is the Jensen-Shannon divergence
        itself, by quadrature.
    family : str, Family, dict or sequence, default="normal"
        Maximum-entropy family of the marginals, or of each column.
    n_features : int, float in (0, 1] or None, default=0.1
        How many features to keep: a number, a share of them, or all.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
    alpha : float, default=1.0
        As in :class:`memdlib.MeMdClassifier`.

    Attributes
    ----------
    scores_ : ndarray of shape (d,)
        Nats.
    order_, ranking_ : ndarray of shape (d,)
        Feature indices, the most divergent first; rank of each feature, from 1.
    families_ : ndarray of shape (d,)
        Names.
    n_selected_ : int
    classes_ : ndarray of shape (K,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    References
    ----------
    .. [1] Dukkipati, Pandey, Ghoshdastidar, Koley, Sriram, Generative maximum entropy
       learning for multiclass classification, ICDM 2013, Theorem 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> DivergenceRanker(n_features=2).fit(X, y).get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    """

    _parameter_constraints = MARGINAL_CONSTRAINTS | SIZE_CONSTRAINTS

    def __init__(
        self,
        divergence="js_gm",
        *,
        family="normal",
        n_features=0.1,
        variance_shrinkage=0.0,
        alpha=1.0,
    ):
        self.divergence = divergence
        self.family = family
        self.n_features = n_features
        self.variance_shrinkage = variance_shrinkage
        self.alpha = alpha

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Rank the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Values inside the support of the family, or a frame.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        X, codes, weight, self.classes_ = validate_labelled(self, X, y, sample_weight)
        self.n_selected_ = count_features(self.n_features, X.shape[1], "n_features")
        moments = collect_moments(self, X, codes, len(self.classes_), weight)
        marginals = make_marginals(self, moments)
        self.families_ = marginals.families
        self.scores_ = marginals.divergences(self.divergence)
        self.order_ = rank(self.scores_)
        return self
