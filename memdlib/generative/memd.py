"""MeMd: generative maximum-entropy classification with maximum discrimination.

The class marginals are maximum-entropy densities with a few given moments. Features are
ranked by the divergence between their class marginals, and the top S features enter the
Bayes rule

    argmax_k  log pi_k + sum_{s <= S} log p*_k(x_(s)),

which is linear in the sufficient statistics phi(x).
"""

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import StrOptions
from memdlib._types import Array, Indices, NDArray
from memdlib.densities.moment_problem import DENSITY_ERRORS, RoundedMomentsError
from memdlib.estimator import BayesClassifier, fitted_attribute
from memdlib.families.counts import Binomial, Multinomial
from memdlib.generative.grouped import (
    GroupedMarginals,
    GroupedMoments,
    GroupedScores,
)
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    FamilySelector,
    collect_moments,
    common_family,
    make_marginals,
    rank,
)
from memdlib.generative.scores import MarginalScores, Scores, check_long_documents
from memdlib.moments import leave_one_out, translate, translate_natural
from memdlib.validation import (
    Interval,
    check_priors,
    count_features,
    restore_on_error,
    validate_batch,
    validate_labelled,
)

# The default grid holds every number up to _DENSE, then grows by the factor _STEP.
_DENSE = 64
_STEP = 1.03

# With fractional weights, equal accuracies agree only up to rounding.
_TIE = 1e-12

# Warn if the accuracy on the training rows is below that on held-out rows by more than
# this and by more than four standard errors.
_FAR_BELOW = 0.1


@dataclass(frozen=True, eq=False)
class MarginalModel:
    """Result of a fit: the class marginals, and scores from some of the features."""

    classes: NDArray
    marginals: ClassMarginals | GroupedMarginals
    scores: Scores

    @property
    def moments(self):
        """Class moments of the data."""
        return self.marginals.moments

    @property
    def class_prior(self):
        """Class probabilities, shape (K,)."""
        return self.marginals.prior

    @property
    def mean_params(self):
        """Mean parameters about zero, shape (K, d, m)."""
        location = self.moments.location
        return translate(self.marginals.mean_params, np.ones(1), location)

    @property
    def natural_params(self):
        """Natural parameters about zero, shape (K, d, m)."""
        location = self.moments.location
        return translate_natural(self.marginals.natural_params, location)


@dataclass(frozen=True, eq=False)
class RankedModel(MarginalModel):
    """A marginal model with the order of its features and the number in use."""

    feature_divergences: Array
    order: Indices
    n_selected: int
    validation_n_features: Indices = None
    validation_curve: Array = None
    n_held_out: int = 0


class MomentClassifier(BayesClassifier):
    """Base of Bayes classifiers that depend on the data only through class moments.

    Moments of batches add up, which is what ``partial_fit`` relies on. Subclasses
    implement :meth:`_batch_moments` and :meth:`_estimate`.
    """

    classes_ = fitted_attribute("classes")
    class_prior_ = fitted_attribute("class_prior")
    mean_params_ = fitted_attribute("mean_params")
    natural_params_ = fitted_attribute("natural_params")

    @abstractmethod
    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        """Validate a batch; return its moments and the array of all classes."""

    @abstractmethod
    def _estimate(self, moments, classes):
        """Return the fitted model, which follows from the moments alone."""

    @restore_on_error
    def partial_fit(
        self,
        X,
        y,
        classes=None,
        sample_weight=None,
    ):
        """Update the model with a batch of rows.

        The result is the same as that of a single fit on all batches together. If a
        batch raises an error, the model is left unchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Rows of the batch.
        y : array-like of shape (n,)
            Class labels.
        classes : array-like of shape (K,), default=None
            All classes that will ever occur. Required on the first call and optional
            afterwards.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows, in all batches on the same scale; None gives every row the
            weight 1. The first batch warns as ``fit`` does.

        Returns
        -------
        self
        """
        if self.__sklearn_is_fitted__():
            known = self._fitted.classes
            batch, classes = self._batch_moments(X, y, sample_weight, classes, known)
            moments = self._fitted.moments.merge(batch)
        else:
            moments, classes = self._batch_moments(X, y, sample_weight, classes, None)
        self._fitted = self._estimate(moments, classes)
        return self

    def _joint_log_density(self, X):
        return self._fitted.scores.total(X)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_fitted")


def size_grid(spec, d):
    """Increasing numbers of features to try, out of d features.

    Parameters
    ----------
    spec : None, "every" or array-like of int
        The parameter ``n_features_grid`` of :class:`MeMdClassifier`.
    d : int
        Number of features of X.
    """
    if spec is None:
        grid = list(range(1, min(d, _DENSE) + 1))
        while grid[-1] < d:
            grid.append(min(d, math.ceil(grid[-1] * _STEP)))
        return np.array(grid)
    if isinstance(spec, str) and spec == "every":
        return np.arange(1, d + 1)
    grid = np.unique(spec)
    if not grid.size or grid.dtype.kind not in "iu" or grid[0] < 1 or grid[-1] > d:
        raise ValueError(
            f"n_features_grid={spec!r} must hold integers from 1 to {d}, the number "
            'of features in X; alternatively, pass "every" or None'
        )
    return grid


def held_out_folds(codes, cv, random_state):
    """Assign rows to folds, stratified by class, and count the held-out folds.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row.
    cv : float in (0, 1) or int >= 2
        A float holds out that share of the rows once; an int holds out each of that
        many folds in turn.
    random_state : int, RandomState or None
        Seed of the random assignment.

    Returns
    -------
    fold : ndarray of int, shape (n,)
        Fold of each row. Rows that are always used for training, like the only row of
        a class, form an additional last fold.
    n_held_out : int
        Number of folds that are held out; zero if no class has two rows.
    """
    class_size = np.bincount(codes)
    rows = np.flatnonzero(class_size[codes] > 1)
    if not rows.size:
        return np.zeros(len(codes), dtype=np.intp), 0
    if cv < 1:
        n_classes = np.count_nonzero(class_size > 1)
        n_test = math.ceil(cv * len(rows))
        # leave room for every class on both sides of the split
        n_test = int(np.clip(n_test, n_classes, len(rows) - n_classes))
        splitter = StratifiedShuffleSplit(
            1, test_size=n_test, random_state=random_state
        )
        _, test = next(splitter.split(rows, codes[rows]))
        fold_of_rows = np.ones(len(rows), dtype=np.intp)
        fold_of_rows[test] = 0
        n_folds = 1
    else:
        n_folds = min(int(cv), int(class_size.max()))
        fold_of_rows = _stratified_folds(codes[rows], n_folds, random_state)
    fold = np.full(len(codes), n_folds)
    fold[rows] = fold_of_rows
    return fold, n_folds


def _stratified_folds(codes, n_folds, random_state):
    """Fold (n,) of each row, the same as by scikit-learn's StratifiedKFold.

    That splitter warns of classes with fewer rows than folds. Here such a class is
    simply missing from some folds, and to hide the warning would change the filters of
    all threads.
    """
    rng = check_random_state(random_state)
    fold = np.empty(len(codes), dtype=np.intp)
    n_assigned = 0
    for k in codes[np.sort(np.unique(codes, return_index=True)[1])]:
        rows = np.flatnonzero(codes == k)
        # dealt out in turn, beginning where the class before has ended
        fold_of_rows = np.sort((n_assigned + np.arange(len(rows))) % n_folds)
        rng.shuffle(fold_of_rows)
        fold[rows] = fold_of_rows
        n_assigned += len(rows)
    return fold


def smallest_best(grid, accuracy):
    """Return the smallest number in a grid (G,) with the highest accuracy (G,)."""
    return int(grid[np.argmax(accuracy >= accuracy.max() - _TIE)])


class MeMdClassifier(FamilySelector, MomentClassifier):
    """Maximum-entropy Bayes classifier on the most discriminative features.

    Every feature gets a maximum-entropy density in each class, its class marginal.
    Features are ranked by the divergence between their class marginals, and the top
    ``n_features`` of them enter Bayes' rule as if they were independent within a class.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Divergence that ranks the features. "js_gm" is MeMd-JS, the Jensen-Shannon
        divergence with the geometric mean in place of the mixture; "jeffreys" is
        MeMd-J, one-vs-rest for more than two classes. For two classes they are the same
        algorithm. "js" is the Jensen-Shannon divergence itself, by quadrature.
    family : str, MarginalFamily, dict or sequence, default="normal"
        Maximum-entropy family of the class marginals. One of:

        - the name of a family for all columns (see
          :func:`memdlib.families.family_names`): "normal" (two moments), "bernoulli"
          (presence of counts), "multinomial" (the counts of a document as a whole),
          "poisson", ...;
        - a family with a support of its own, like ``Polynomial(4, (0.0, 1.0))``;
        - "auto": Bernoulli for columns that hold only 0 and 1, normal for all others;
        - a dict from column to family, where unlisted columns get "auto";
        - a sequence with one family per column.

        In a dict or a sequence, a family may also be "categorical", for a column of
        level codes 0, 1, ...; levels that were not seen during ``fit`` add nothing to
        the scores. Missing cells (NaN) are left out of the moments and of the scores;
        "multinomial" does not accept them.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        Number of top-ranked features that enter Bayes' rule: an int S, a float for a
        share of the features, or None for all. "auto" chooses the smallest S with the
        highest accuracy on held-out rows, which take no part in the ranking. In
        ``partial_fit``, "auto" uses all features, because rows of earlier batches can
        no longer be held out.
    n_features_grid : None, "every" or array-like of int, default=None
        Values of S that "auto" tries. None tries every S up to 64, then steps of 3 per
        cent, and d; "every" tries every S, as in the paper; an array lists the values.
    cv : float in (0, 1) or int >= 2, default=0.2
        How "auto" holds out rows, stratified by class. A float holds out that share of
        the rows once (the paper's rule for text); an int holds out each of that many
        folds in turn (its rule for genes). The only row of a class is never held out.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        Shrinkage of class variances towards the within-class variance, for "normal"
        only: each class variance v_k becomes (1 - variance_shrinkage) v_k +
        variance_shrinkage v_within. At 0 the moments are unchanged, except that a
        variance of zero is replaced (see :meth:`memdlib.families.Normal.regularise`);
        "auto" estimates the shrinkage (see
        :meth:`memdlib.families.Normal.choose_shrinkage`). The default keeps the paper's
        plain moments, which is possible because each variance stands alone; estimators
        whose covariance could be singular default to "auto".
    alpha : float >= 0, default=1.0
        Additive smoothing, for all families but "normal": weight, in instances, of the
        pooled mean that is added to each class. It keeps the class means off the
        boundary of the family.
    priors : array-like of shape (K,), default=None
        Class probabilities in the order of ``classes_``, used in Bayes' rule and in the
        divergences. None uses the shares of the instance weight.
    class_weight : None, "balanced" or dict, default=None
        Factors on the instance weights of each class. "balanced" gives all classes the
        same total weight; it is not available in ``partial_fit``.
    random_state : int, RandomState or None, default=None
        Seed for drawing the rows that "auto" holds out.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Class labels.
    class_prior_ : ndarray of shape (K,)
        Class probabilities: ``priors``, or the shares of the instance weight.
    mean_params_ : ndarray of shape (K, d, m)
        Mean parameters E x^j of the class marginals, after regularisation. Available
        only if a single family was given for all columns.
    natural_params_ : ndarray of shape (K, d, m)
        Natural parameters, p(x) = exp(-lambda_0 - sum_j lambda_j x^j). Available only
        if a single family was given for all columns.
    scores_, feature_importances_ : ndarray of shape (d,)
        Divergence of each feature, in nats. The second name is the one that
        scikit-learn's meta-selectors look for.
    families_ : ndarray of shape (d,)
        Name of the family of each column.
    order_ : ndarray of shape (d,)
        Feature indices in order of decreasing divergence.
    ranking_ : ndarray of shape (d,)
        Rank of each feature; 1 is the most divergent.
    n_selected_ : int
        S, the number of features in use.
    variance_shrinkage_ : float
        The variance shrinkage in use.
    validation_n_features_, validation_curve_ : ndarray of shape (G,) or None
        Values of S that were tried, and the held-out accuracy with the top S features.
        None unless ``n_features="auto"``, and also None if no class has two rows, in
        which case all features are used.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (d,)
        Column names; defined only if X has string column names.

    See Also
    --------
    memdlib.DivergenceRanker : The ranking alone, as a selector for any classifier.
    memdlib.JointMaxEntClassifier : Normal classes with correlated features.
    memdlib.make_memd : The recommended pipeline for each kind of data, calibrated.

    Notes
    -----
    Features are treated as independent within a class, so posteriors are too close to
    zero and one: they are not calibrated. For calibrated posteriors use
    :func:`memdlib.make_memd`, or wrap this classifier in
    ``sklearn.calibration.CalibratedClassifierCV``.

    X must hold numbers. A data frame with string columns needs an encoder first, which
    turns levels into codes and keeps the column names, as in the second example.

    References
    ----------
    .. [1] Dukkipati, Pandey, Ghoshdastidar, Koley, Sriram, Generative maximum entropy
       learning for multiclass classification, ICDM 2013, algorithms 1-3.

    Examples
    --------
    >>> from memdlib import MeMdClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MeMdClassifier(n_features=5).fit(X[::2], y[::2])
    >>> clf.order_[:5].tolist()
    [6, 9, 11, 12, 10]
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.955

    A table with a string column:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OrdinalEncoder
    >>> table = pd.DataFrame({"colour": [*"rggbrb"], "size": [3, 1, 2, 5, 4, 6.0]})
    >>> encoder = make_column_transformer(
    ...     (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
    ...      ["colour"]),
    ...     remainder="passthrough",
    ...     verbose_feature_names_out=False,
    ... ).set_output(transform="pandas")
    >>> memd = MeMdClassifier(family={"colour": "categorical"}, n_features=None)
    >>> clf = make_pipeline(encoder, memd).fit(table, [0, 0, 0, 1, 1, 1])
    >>> clf[-1].families_.tolist()
    ['categorical', 'normal']
    >>> clf.predict(pd.DataFrame({"colour": ["violet"], "size": [5.5]})).tolist()
    [1]
    """

    _parameter_constraints = MARGINAL_CONSTRAINTS | {
        "n_features": [StrOptions({"auto"}), *SIZE_CONSTRAINTS["n_features"]],
        "n_features_grid": [None, StrOptions({"every"}), "array-like"],
        "cv": [
            Interval(Real, 0, 1, closed="neither"),
            Interval(Integral, 2, None, closed="left"),
        ],
        "priors": [None, "array-like"],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        divergence="js_gm",
        *,
        family="normal",
        n_features="auto",
        cv=0.2,
        variance_shrinkage=0.0,
        alpha=1.0,
        random_state=None,
        n_features_grid=None,
        priors=None,
        class_weight=None,
    ):
        self.divergence = divergence
        self.family = family
        self.n_features = n_features
        self.cv = cv
        self.variance_shrinkage = variance_shrinkage
        self.alpha = alpha
        self.random_state = random_state
        self.n_features_grid = n_features_grid
        self.priors = priors
        self.class_weight = class_weight

    scores_ = fitted_attribute("feature_divergences")
    feature_importances_ = fitted_attribute("feature_divergences")
    order_ = fitted_attribute("order")
    families_ = fitted_attribute("marginals.families")
    n_selected_ = fitted_attribute("n_selected")
    variance_shrinkage_ = fitted_attribute("marginals.variance_shrinkage")
    validation_n_features_ = fitted_attribute("validation_n_features")
    validation_curve_ = fitted_attribute("validation_curve")

    _scores_type = MarginalScores

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Rank the features, choose how many to use, and estimate their marginals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Numbers inside the support of the family; NaN marks a missing cell.
        y : array-like of shape (n,)
            Class labels of at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Counts of rows: a weight of 2 is equivalent to repeating the row, except for
            the choice of held-out rows. Divide weights on any other scale by their
            mean. None gives every row the weight 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X holds strings (the message names the column and an encoder), infinite
            values, or values outside the support of the family.

        Warns
        -----
        UserWarning
            If a class with a normal marginal has only one row; if the accuracy on the
            training rows is much lower than on held-out rows, or lower than the share
            of the largest class; if all rows have the same posteriors; or if the
            weights of several rows sum to one or less and smoothing compares them with
            rows.
        """
        X, codes, weight, classes = validate_labelled(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        if self.n_features == "auto":
            self._fitted = self._choose_n_features(X, codes, weight, classes)
        else:
            moments = collect_moments(self, X, codes, len(classes), weight)
            self._fitted = self._estimate(moments, classes)
        # only without weights is a class of weight 1 a class of one row
        if sample_weight is None and self.class_weight is None:
            self._warn_of_single_rows()
        self._warn_of_outcome(X, codes, weight)
        return self

    def _estimate(self, moments, classes, n_features=None):
        """Build the model from moments: marginals, divergences, order and scores.

        ``n_features`` is the number of features to use. None defers to the estimator's
        parameter, where "auto" stands for all features.
        """
        prior = self.priors
        if prior is not None:
            prior = check_priors(prior, len(classes))
        scores_type = self._scores_type
        if isinstance(moments, GroupedMoments):
            scores_type = GroupedScores
        marginals = make_marginals(self, moments, prior)
        try:
            divergences = marginals.divergences(self.divergence)
            order = rank(divergences)
            if n_features is None:
                spec = None if self.n_features == "auto" else self.n_features
                n_features = count_features(spec, len(order), "n_features")
            scores = scores_type.of(marginals, order[:n_features])
        except DENSITY_ERRORS as error:
            raise _named_failure(error, marginals, classes) from error
        return RankedModel(
            classes=classes,
            marginals=marginals,
            scores=scores,
            feature_divergences=divergences,
            order=order,
            n_selected=n_features,
        )

    def _choose_n_features(self, X, codes, weight, classes):
        """Build the model with the smallest S of highest accuracy on held-out rows.

        Long because every step of the choice is here: folds, moments, accuracy, model.
        """
        grid = size_grid(self.n_features_grid, X.shape[1])
        fold, n_held_out = held_out_folds(codes, self.cv, self.random_state)
        if not n_held_out:
            return self._estimate(
                collect_moments(self, X, codes, len(classes), weight), classes
            )
        # one pass over X collects the moments of every class in every fold; the moments
        # of several folds are the sum over these folds
        n_folds = fold.max() + 1
        group = fold * len(classes) + codes  # one for each fold and class
        group_moments = collect_moments(self, X, group, n_folds * len(classes), weight)
        fold_moments = group_moments.split(n_folds)
        training_moments = leave_one_out(fold_moments)
        correct_weight = np.zeros(len(grid))
        for f in range(n_held_out):
            # held-out rows are used neither for the ranking nor for the marginals
            model = self._estimate(training_moments[f], classes, grid[-1])
            rows = np.flatnonzero(fold == f)
            correct_weight += model.scores.correct_weight(
                X[rows], codes[rows], weight[rows], grid
            )
        held_out = fold < n_held_out
        accuracy = correct_weight / weight[held_out].sum()
        # all rows together
        moments = fold_moments[0].merge(training_moments[0])
        model = self._estimate(moments, classes, smallest_best(grid, accuracy))
        return replace(
            model,
            validation_n_features=grid,
            validation_curve=accuracy,
            n_held_out=np.count_nonzero(held_out),
        )

    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows at once; in partial_fit, pass '
                "priors or a dict of class weights instead"
            )
        known_families = None
        if self.__sklearn_is_fitted__():
            known_families = self._check_family_unchanged()
        X, codes, weight, classes = validate_batch(
            self,
            X,
            y,
            sample_weight,
            classes,
            known_classes,
            class_weight=self.class_weight,
        )
        n_classes = len(classes)
        moments = collect_moments(self, X, codes, n_classes, weight, known_families)
        return moments, classes

    def _training_scores(self, X):
        return self._fitted.scores.total(
            X
        )  # long documents are counted, not classified

    def _joint_log_density(self, X):
        scores = super()._joint_log_density(X)
        family = getattr(self._fitted.marginals, "family", None)
        if isinstance(family, Multinomial | Binomial):
            check_long_documents(scores, X)
        return scores

    def _check_family_unchanged(self):
        """Raise if ``family`` changed since the last batch; return known families.

        These are the families of the columns, or None if all columns share one.
        """
        moments = self._fitted.moments
        grouped = isinstance(moments, GroupedMoments)
        before = None if grouped else self._fitted.marginals.family
        family = common_family(self.family)
        if family != before:
            raise ValueError(
                f"family={self.family if family is None else family!r} differs from "
                f"that of the previous batches, {before or moments.families}; restore "
                "that value, or call fit to start again"
            )
        return moments.families if grouped else None

    def accuracy_curve(
        self,
        X,
        y,
        sample_weight=None,
        *,
        n_features_grid=None,
    ):
        """Accuracy with the top S features, for many S, in one pass over X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Test rows.
        y : array-like of shape (n,)
            True labels. A label that was not seen during ``fit`` counts as an error.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; None gives every row the weight 1.
        n_features_grid : None, "every" or array-like of int, default=None
            Values of S, specified as for the estimator's parameter of the same name.

        Returns
        -------
        n_features : ndarray of int, shape (G,)
            Values of S.
        accuracy : ndarray of shape (G,)
            Accuracy with the top S features, for each S.
        """
        check_is_fitted(self)
        X, codes, weight, labels = validate_labelled(
            self, X, y, sample_weight, reset=False, several=False
        )
        # labels not seen during fit become -1, which no prediction equals
        known = np.isin(labels, self.classes_)
        class_codes = np.full(len(labels), -1)
        class_codes[known] = np.searchsorted(self.classes_, labels[known])
        grid = size_grid(n_features_grid, X.shape[1])
        model = self._fitted
        scores = type(model.scores).of(model.marginals, model.order[: grid[-1]])
        correct = scores.correct_weight(X, class_codes[codes], weight, grid)
        return grid, correct / weight.sum()

    _outcome_remedy = (
        "the densities do not fit; compare another family, variance_shrinkage=1.0, "
        "with which the classes share their variances, or memdlib.make_memd"
    )

    def _outcome_message(self, is_constant, accuracy, share):
        model = self._fitted
        if model.n_held_out:
            held_out = model.validation_curve.max()
            # upper bound for a share of rows
            standard_error = 0.5 / math.sqrt(model.n_held_out)
            if accuracy < held_out - max(_FAR_BELOW, 4.0 * standard_error):
                return (
                    f"accuracy is {accuracy:.3f} on the training rows but "
                    f"{held_out:.3f} on held-out rows: some density depends on few "
                    "rows, like a normal density for a column with two values; code "
                    'such values as 0 and 1 and try family="auto", or try '
                    'variance_shrinkage="auto"'
                )
        return super()._outcome_message(is_constant, accuracy, share)

    def _warn_of_single_rows(self):
        """Warn about classes of a single row, which have no variance of their own."""
        single = self._fitted.marginals.moments.weight == 1
        if single.any() and "normal" in self.families_ and self.variance_shrinkage != 1:
            names = ", ".join(map(repr, self.classes_[single].tolist()))
            warnings.warn(
                f"only one row in class {names}: such a class has no variance of its "
                "own and takes the variance within the other classes; add rows, drop "
                "the class, or set variance_shrinkage=1.0, which makes all classes "
                "share their variances",
                UserWarning,
                stacklevel=4,
            )


def _named_failure(error, marginals, classes):
    """Return the error with the class and feature of the first failing density."""
    if isinstance(marginals, GroupedMarginals):
        return error
    family = marginals.family
    mu = marginals.mean_params  # about zero: only other families than the normal fail
    # all at once: one after the other they would take far longer than the fit
    try:
        family.natural(mu)
    except DENSITY_ERRORS as failure:
        kind = type(failure)
        row = failure.row
    else:
        return error
    if row is None:
        return error
    k, s = np.unravel_index(row, mu.shape[:2])
    moments = mu[k, s].tolist()
    if kind is RoundedMomentsError:
        reason = (
            f"rounding of its moments {moments} leaves the density of {family} in "
            f"doubt; shift the feature and the support by {-moments[0]:g}, towards "
            "zero, or use fewer moments"
        )
    else:
        reason = (
            f"there is no density of {family} with its moments {moments}, or it could "
            "not be computed; use a larger alpha, fewer moments or another family"
        )
    return kind(f"class {classes.tolist()[k]!r}, feature {s}: {reason}")
