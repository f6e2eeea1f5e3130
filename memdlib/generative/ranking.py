"""Ranking of features by the divergence between their class marginals.

By Theorem 1 of MeMd, the greedy choice of features under class-conditional independence
is the ranking by marginal divergence. A single number per feature is therefore enough:
data -> moments -> class marginals -> divergences -> order.
"""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import (
    StrOptions,
    check_feature_names_in,
    check_pandas_support,
)
from memdlib.families import MarginalFamily, Normal, get_family
from memdlib.families.base import ROUNDING
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
    check_integer,
    count_features,
    restore_on_error,
    validate_labelled,
)

# Constraints on the parameters that several estimators share.
MARGINAL_CONSTRAINTS = {
    "divergence": [StrOptions(set(DIVERGENCES))],
    "family": [str, MarginalFamily, "array-like"],
    "variance_shrinkage": [StrOptions({"auto"}), UNIT_INTERVAL],
    "alpha": [NONNEGATIVE],
}
SIZE_CONSTRAINTS = {"n_features": [COUNT, FRACTION, None]}


def common_family(spec):
    """Return the family of all columns; None if families differ by column."""
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
    """Compute the class moments of X, grouped if families differ by column.

    Parameters
    ----------
    estimator : FamilySelector
        Estimator that has validated X, and whose ``family`` determines the moments.
    X : {ndarray, csr_array} of shape (n, d)
    codes : ndarray of int, shape (n,)
    n_classes : int
    weight : ndarray of shape (n,)
    known : tuple of MarginalFamily, default=None
        Families of the columns in previous batches.
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
    """Build class marginals from moments, regularised by an estimator's parameters."""
    options = {
        "variance_shrinkage": estimator.variance_shrinkage,
        "alpha": estimator.alpha,
        "prior": prior,
    }
    if isinstance(moments, GroupedMoments):
        return GroupedMarginals.of(moments, **options)
    return ClassMarginals(moments, common_family(estimator.family), **options)


def rank(divergences):
    """Order features (d,) by decreasing divergence; ties keep column order."""
    order = np.argsort(-divergences, kind="stable")
    descending = divergences[order]
    # values that differ only by rounding are ties; else the order depends on the CPU
    falls = descending[1:] < (1.0 - 1e-12) * descending[:-1]
    tie_group = np.append(0, np.cumsum(falls))
    return order[np.lexsort((order, tie_group))]


def _columns_of_family(family, moments, labels):
    """Columns of the ranking table that follow from moments of one family.

    Parameters
    ----------
    family : str
    moments : ClassMoments
        Moments of K classes and f features, before regularisation.
    labels : list of length K

    Returns
    -------
    dict from str to ndarray of shape (f,), or to one value for all features
        "marks" holds codes of classes, -1 for none.
    """
    columns = {"family": family}
    if family == "categorical":
        level = _clearest_level(moments)
        columns["level"] = level
        moments = replace(moments, sums=moments.sums[..., [level]])
    mean = _class_means(family, moments)
    columns["marks"] = _marked_classes(mean, moments)
    count = moments.count
    observed_mean = np.where(count > 0, mean, np.nan)
    columns |= zip([f"mean_{label}" for label in labels], observed_mean, strict=True)
    columns |= zip([f"count_{label}" for label in labels], count, strict=True)
    known_share = count.sum(axis=0) / moments.weight.sum()
    columns["missing"] = np.maximum(1.0 - known_share, 0.0)
    return columns


def _clearest_level(moments):
    """Level whose largest share in a class exceeds its mean share by most.

    It is the last one if several do, such as 1 of 0 and 1.
    """
    share = moments.mean[:, 0]
    excess = share.max(axis=0) - share.mean(axis=0)
    return np.flatnonzero(excess >= excess.max() - ROUNDING)[-1]


def _class_means(family, moments):
    """Means (K, d) of what a family observes, of all classes where one has no value."""
    mean = moments.location + moments.mean[..., 0]
    if family in ("multinomial", "binomial"):
        length = mean.sum(axis=1, keepdims=True)
        mean = mean / np.where(length > 0, length, 1.0)
    return mean


def _marked_classes(mean, moments):
    """Code of the class that each feature marks, (d,), -1 for none; means (K, d)."""
    top = mean.argmax(axis=0)
    is_top = np.arange(len(mean))[:, None] == top
    largest = mean.max(axis=0)
    # means that differ only by rounding are the same, whatever the order of the rows
    least_lead = ROUNDING * abs(largest)
    if moments.sums.shape[-1] > 1:
        count = np.where(moments.count > 0, moments.count, np.inf)
        squared_error = Normal.class_variance(moments.mean) / count
        error_of_top = squared_error.sum(axis=0, where=is_top)
        least_lead = least_lead + 2.0 * np.sqrt(squared_error + error_of_top)
    stands_out = (largest - mean > least_lead) | is_top
    return np.where(stands_out.all(axis=0), top, -1)


class RankedSelector(SelectorMixin, BaseEstimator):
    """Base of selectors that keep the first ``n_selected_`` features of ``order_``.

    A subclass keeps the class moments of normal features in ``_moments``, and ranks by
    ``gains_``, or overrides the private methods.
    """

    def ranking_table(self, n_features=None, input_features=None):
        """Tabulate the ranked features and the class that each one marks.

        A feature marks the class k with the largest mean m_k, provided that it exceeds
        the mean of each other class j by more than two standard errors:

            m_k - m_j > 2 sqrt(v_k / n_k + v_j / n_j),

        with the variances v and the weights n of the values, where a row of weight 2
        counts as two rows. A feature whose classes differ by the variance alone, or
        that is as high in a second class, therefore marks none. In families with the
        mean as their only moment (counts, presence, exponential), where classes cannot
        differ otherwise, the largest mean is enough, unless classes share it.

        Parameters
        ----------
        n_features : int, default=None
            Number of rows, from the first rank on; None for all ranked features.
        input_features : array-like of str of shape (d,), default=None
            Names of the features, as in ``get_feature_names_out``. None uses
            ``feature_names_in_``, or "x0", "x1", ... if it is not defined. The last
            step of a pipeline takes ``pipeline[:-1].get_feature_names_out()``.

        Returns
        -------
        pandas.DataFrame
            One row per ranked feature, the first rank first, with the columns

            - "feature": its name;
            - "nats": what it is ranked by, that is, its divergence, the gain of a
              greedy choice, or a code length (the shortest first);
            - "family": name of its family; "levels" in a ranking by code length;
            - "marks": the class that it marks, as a categorical of ``classes_``, or
              NaN for none;
            - "mean_<class>": for each class, the weighted mean of the values that are
              not missing. In the family "bernoulli" this is the share of values above
              zero, and in "multinomial" and "binomial" that of the word among all words
              of the class;
            - "count_<class>": for each class, the sum of the weights of these values;
            - "missing": weight of the missing values as a share of all weight.

            The codes of a categorical feature have no order and hence no mean. It
            counts as the presence of one level, that whose largest share in a class
            exceeds its mean share in the classes by most. Where there are such
            features, a column "level" holds its code (NaN in other families).

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If ``n_features`` is no positive integer, or ``input_features`` are not as
            many names as there are features, or not ``feature_names_in_``.

        Examples
        --------
        >>> from memdlib import DivergenceRanker
        >>> from sklearn.datasets import load_iris
        >>> iris = load_iris(as_frame=True)
        >>> y = iris.target_names[iris.target]
        >>> table = DivergenceRanker().fit(iris.data, y).ranking_table(n_features=2)
        >>> table[["feature", "nats", "marks", "mean_virginica"]].round(2)
                     feature   nats      marks  mean_virginica
        0  petal length (cm)  52.79  virginica            5.55
        1   petal width (cm)  27.68  virginica            2.03
        """
        check_is_fitted(self)
        pandas = check_pandas_support(f"{type(self).__name__}.ranking_table")
        order = self.order_
        if n_features is not None:
            order = order[: check_integer(n_features, "n_features")]
        parts = []
        for columns, family, moments in self._moments_by_family():
            values = _columns_of_family(family, moments, self.classes_.tolist())
            parts.append(pandas.DataFrame(values, index=columns))
        table = pandas.concat(parts).loc[order].reset_index(drop=True)
        table["marks"] = pandas.Categorical.from_codes(table["marks"], self.classes_)
        names = check_feature_names_in(self, input_features)
        table.insert(0, "feature", names[order])
        table.insert(1, "nats", self._ranked_values()[: len(order)])
        return table

    def _moments_by_family(self):
        """Columns, family and moments of the features of each family."""
        return [(np.arange(self.n_features_in_), "normal", self._moments)]

    def _ranked_values(self):
        """What the features are ranked by, in the sequence of ``order_``."""
        return self.gains_

    @property
    def ranking_(self):
        """Rank of each feature, from 1; those not in ``order_`` share the last rank."""
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
    """Base of selectors by class marginals; ``family`` determines the valid data.

    The moments are those of ``_fitted``, which are class marginals or a whole model.
    """

    def _moments_by_family(self):
        moments = self._fitted.moments
        if isinstance(moments, GroupedMoments):
            return [(g.columns, g.family.name, g.moments) for g in moments.groups]
        return [(np.arange(moments.n_features), self.families_[0], moments)]

    def _ranked_values(self):
        return self.scores_[self.order_]

    @property
    def _weights_count_rows(self):
        """Whether smoothing, or shrinkage that is estimated, counts rows."""
        smooths = self.alpha > 0 and common_family(self.family) != Normal()
        return smooths or self.variance_shrinkage == "auto"

    def __sklearn_tags__(self):
        # skip those of RankedSelector, which only set the target tag
        tags = super(RankedSelector, self).__sklearn_tags__()
        try:
            family = common_family(self.family)
        except ValueError:  # fit rejects unknown families; tags must never raise
            family = None
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = not isinstance(family, Multinomial | Binomial)
        tags.input_tags.positive_only = family is not None and family.nonnegative
        if tags.classifier_tags is not None:
            # continuous test data are of little use to families of counts
            tags.classifier_tags.poor_score = tags.input_tags.positive_only
        return tags


class DivergenceRanker(FamilySelector):
    """Select the features with the largest divergence between their class marginals.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Divergence that ranks the features. For two classes "js_gm" and "jeffreys" give
        the same ranking; "js" is the Jensen-Shannon divergence itself, by quadrature.
    family : str, MarginalFamily, dict or sequence, default="normal"
        Maximum-entropy family of the class marginals, for all columns or by column. The
        values are those of :class:`memdlib.MeMdClassifier`.
    n_features : int, float in (0, 1] or None, default=0.1
        Number of features to keep: an int, a float for a share of the features, or None
        for all.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        Shrinkage of class variances towards the within-class variance, for "normal"
        only. At 0 the moments are unchanged, except that a variance of zero is
        replaced; "auto" estimates the shrinkage.
    alpha : float >= 0, default=1.0
        Additive smoothing, for all families but "normal": weight, in instances, of the
        pooled mean that is added to each class. It keeps the class means off the
        boundary of the family.

    Attributes
    ----------
    scores_ : ndarray of shape (d,)
        Divergence of each feature, in nats.
    order_ : ndarray of shape (d,)
        Feature indices in order of decreasing divergence.
    ranking_ : ndarray of shape (d,)
        Rank of each feature; 1 is the most divergent.
    families_ : ndarray of shape (d,)
        Name of the family of each column.
    n_selected_ : int
        Number of features to keep.
    classes_ : ndarray of shape (K,)
        Class labels.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (d,)
        Column names; defined only if X has string column names.

    See Also
    --------
    memdlib.MeMdClassifier : The classifier built on this ranking.
    memdlib.GreedyInformationRanker : A ranking that also takes redundancy into account.
    memdlib.GreedyGaussianRanker : A greedy ranking by joint normal densities.

    References
    ----------
    .. [1] Dukkipati, Pandey, Ghoshdastidar, Koley, Sriram, Generative maximum entropy
       learning for multiclass classification, ICDM 2013, Theorem 1.

    Examples
    --------
    >>> from memdlib import DivergenceRanker
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
            Array or data frame of numbers inside the support of the family; NaN marks a
            missing cell.
        y : array-like of shape (n,)
            Class labels of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row. Divide
            weights on any other scale by their mean. None gives every row the weight 1.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If the weights of several rows sum to one or less and smoothing, or a
            shrinkage that is estimated, compares them with rows.
        """
        X, codes, weight, self.classes_ = validate_labelled(self, X, y, sample_weight)
        self.n_selected_ = count_features(self.n_features, X.shape[1], "n_features")
        moments = collect_moments(self, X, codes, len(self.classes_), weight)
        marginals = make_marginals(self, moments)
        self._fitted = marginals
        self.families_ = marginals.families
        self.scores_ = marginals.divergences(self.divergence)
        self.order_ = rank(self.scores_)
        return self
