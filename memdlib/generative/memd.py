"""MeMd: generative maximum-entropy classification with maximum discrimination.

Class marginals are maximum-entropy densities of a few moments, features are ranked by
the divergence between them, and the top S features enter the Bayes rule

    argmax_k  log pi_k + sum_{s <= S} log p*_k(x_(s)),

which is linear in the sufficient statistics phi(x).
"""

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Integral, Real

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from memdlib._sklearn import StrOptions
from memdlib._types import Array, Indices, NDArray
from memdlib.densities.moment_problem import NOT_FOUND, RoundedMomentsError
from memdlib.estimator import BayesClassifier, fitted_attribute
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
from memdlib.generative.scores import MarginalScores, Scores
from memdlib.moments import leave_one_out, translate, translate_natural
from memdlib.validation import (
    Interval,
    check_priors,
    count_features,
    restore_on_error,
    validate_batch,
    validate_labelled,
)

# The default grid holds every number up to here, and then steps of this ratio.
_DENSE = 64
_STEP = 1.03

# Fractional weights add up to equal accuracies only up to rounding.
_TIE = 1e-12

# A warning is due where the accuracy on the rows of the fit is lower than on held-out
# rows by more than this, and by more than four standard errors.
_FAR_BELOW = 0.1


@dataclass(frozen=True, eq=False)
class MarginalModel:
    """What a fit finds: class marginals, and scores by some of the features."""

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
    def variance_shrinkage(self):
        """Shrinkage in use."""
        return np.float64(self.marginals.variance_shrinkage)

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
    """The same, with the order of the features, and how many of them are used."""

    feature_divergences: Array
    order: Indices
    n_selected: int
    validation_n_features: Indices = None
    validation_curve: Array = None


class MomentClassifier(BayesClassifier):
    """Bayes classifier that is a function of class moments, so that batches add up.

    A subclass supplies :meth:`_batch_moments` and :meth:`_estimate`.
    """

    classes_ = fitted_attribute("classes")
    class_prior_ = fitted_attribute("class_prior")
    mean_params_ = fitted_attribute("mean_params")
    natural_params_ = fitted_attribute("natural_params")

    @abstractmethod
    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        """Moments of a batch that a user passes, and all classes."""

    @abstractmethod
    def _estimate(self, moments, classes):
        """Everything that follows from the moments: the fitted model."""

    @restore_on_error
    def partial_fit(
        self,
        X,
        y,
        classes=None,
        sample_weight=None,
    ):
        """Add a batch; the result is that of one fit on all batches together.

        A batch that fails changes nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like of shape (K,), default=None
            All classes that will ever occur; required on the first call.
        sample_weight : array-like of shape (n,), default=None

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
    """Numbers of features to try, increasing, of d features.

    Parameters
    ----------
    spec : None, "every" or array-like of int
        As ``n_features_grid`` of :class:`MeMdClassifier`.
    d : int
    """
    if spec is None:
        grid = list(range(1, min(d, _DENSE) + 1))
        while grid[-1] < d:
            grid.append(min(d, math.ceil(grid[-1] * _STEP)))
        return np.array(grid)
    if isinstance(spec, str):
        return np.arange(1, d + 1)
    grid = np.unique(spec)
    if not grid.size or grid.dtype.kind not in "iu" or grid[0] < 1 or grid[-1] > d:
        raise ValueError(
            f"n_features_grid={spec!r} must hold integers from 1 to {d}, the number "
            'of features of X; or give "every", or None'
        )
    return grid


def held_out_folds(codes, cv, random_state):
    """Fold of each row, and how many folds are held out; stratified by class.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row.
    cv : float in (0, 1) or int >= 2
        A share of the rows, held out once, or that many folds in turn.
    random_state : int, RandomState or None

    Returns
    -------
    fold : ndarray of int, shape (n,)
        Rows that are never held out, as the only row of a class, are in a last fold.
    n_held_out : int
        Zero if no class has two rows.
    """
    class_size = np.bincount(codes)
    rows = np.flatnonzero(class_size[codes] > 1)
    if not rows.size:
        return np.zeros(len(codes), dtype=np.intp), 0
    if cv < 1:
        n_classes = np.count_nonzero(class_size > 1)
        n_test = math.ceil(cv * len(rows))
        # every class has a row on either side
        n_test = int(np.clip(n_test, n_classes, len(rows) - n_classes))
        splitter = StratifiedShuffleSplit(
            1, test_size=n_test, random_state=random_state
        )
    else:
        n_folds = min(int(cv), int(class_size.max()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():  # classes of fewer rows are in some folds only
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        tests = [test for _, test in splitter.split(rows, codes[rows])]
    fold = np.full(len(codes), len(tests))
    for f, test in enumerate(tests):
        fold[rows[test]] = f
    return fold, len(tests)


def smallest_best(grid, accuracy):
    """Return the smallest number of a grid (G,) of highest accuracy (G,)."""
    return int(grid[np.argmax(accuracy >= accuracy.max() - _TIE)])


class MeMdClassifier(FamilySelector, MomentClassifier):
    """Maximum-entropy Bayes classifier on the features that discriminate most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Ranks the features. "js_gm" is MeMd-JS; "jeffreys" is MeMd-J, one-vs-rest for
        more than two classes. For two classes they are one algorithm. "js" is the
        Jensen-Shannon divergence itself, by quadrature.
    family : str, MarginalFamily, dict or sequence, default="normal"
        Maximum-entropy family of the class marginals, by name (see
        :func:`memdlib.families.family_names`): "normal" (two moments), "bernoulli"
        (presence of counts), "multinomial" (counts of a document as a whole),
        "poisson", ...; or a family with its own support, such as ``Polynomial(4, (0.0,
        1.0))``. "auto" is Bernoulli for columns that hold only 0 and 1, and normal for
        all others. A dict names families by column, the others being "auto"; a sequence
        holds one for each. One of these may be "categorical", for a column that holds
        the codes 0, 1,
        ... of levels; a level that the fit has not seen adds nothing to the scores.
        Missing cells (NaN; not under "multinomial") are left out of the moments and of
        the scores.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        How many of the ranked features enter the Bayes rule: a number S, a share of
        them, all (None), or the smallest S of highest accuracy on rows held out from
        the ranking ("auto"; in ``partial_fit`` all features, because rows that have
        gone by cannot be held out).
    n_features_grid : None, "every" or array-like of int, default=None
        Which S "auto" tries: every S up to 64, then steps of 3 per cent, and d (None);
        every S ("every", as in the paper); or those listed.
    cv : float in (0, 1) or int >= 2, default=0.2
        How "auto" holds rows out, stratified by class: a share of them once (the
        paper's rule for text), or that many folds in turn (its rule for genes). The
        only row of a class is never held out.
    variance_shrinkage : float in [0, 1] or "auto", default=0.0
        "normal" only: replaces each class variance v_k by (1 - variance_shrinkage) v_k
        + variance_shrinkage v_within. At 0 the moments are left as they are, except
        that a variance of zero is replaced (see
        :meth:`memdlib.families.Normal.regularise`); "auto" estimates it (see
        :meth:`memdlib.families.Normal.choose_shrinkage`). The default is the paper's
        plain moments, which single variances allow; where a covariance could be
        singular, the default is "auto".
    alpha : float >= 0, default=1.0
        All other families: weight, in instances, of the pooled mean added to each
        class, which keeps it off the boundary of the family.
    priors : array-like of shape (K,), default=None
        Class probabilities, in the order of ``classes_``, for Bayes' rule and for the
        divergences; None takes the shares of the instance weight.
    class_weight : None, "balanced" or dict, default=None
        Multiplies the weights of the instances of each class; "balanced" gives all
        classes the same weight (not in ``partial_fit``).
    random_state : int, RandomState or None, default=None
        Draws the rows that "auto" holds out.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    class_prior_ : ndarray of shape (K,)
        ``priors``, or shares of the instance weight.
    mean_params_ : ndarray of shape (K, d, m)
        Mean parameters E x^j of the class marginals, regularised.
    natural_params_ : ndarray of shape (K, d, m)
        Natural parameters, p(x) = exp(-lambda_0 - sum_j lambda_j x^j).
    scores_, feature_importances_ : ndarray of shape (d,)
        Nats; the second name is the one that scikit-learn's selectors look for.
    families_ : ndarray of shape (d,)
        Names. ``mean_params_`` and ``natural_params_`` exist where all columns were
        given one.
    order_ : ndarray of shape (d,)
        Feature indices, the most divergent first.
    ranking_ : ndarray of shape (d,)
        Rank of each feature, 1 the most divergent.
    n_selected_ : int
        S, the number of features in use.
    variance_shrinkage_ : float
        The shrinkage in use.
    validation_n_features_, validation_curve_ : ndarray of shape (G,) or None
        Numbers S tried, and the held-out accuracy with the top S features; None unless
        n_features="auto", or if no class has two rows (all features are then used).
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    See Also
    --------
    memdlib.DivergenceRanker : the ranking alone, in front of any classifier.

    Notes
    -----
    Features are taken for independent within a class, so that posteriors are too near
    to zero and one: they are not calibrated. Those of :func:`memdlib.make_memd` are,
    and so are those of ``sklearn.calibration.CalibratedClassifierCV`` around this.

    X holds numbers. A frame with columns of strings needs an encoder in front, which
    turns levels into codes and keeps the names of the columns, as in the second
    example.

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

    A table with a column of strings:

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
    variance_shrinkage_ = fitted_attribute("variance_shrinkage")
    validation_n_features_ = fitted_attribute("validation_n_features")
    validation_curve_ = fitted_attribute("validation_curve")

    _scores_type = MarginalScores

    @restore_on_error
    def fit(self, X, y, sample_weight=None):
        """Rank the features, choose how many to use, and estimate their marginals.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Numbers inside the support of the family; NaN where a cell is missing.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights. Weight 2 means the row twice, except where
            rows are held out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X holds strings, infinite values, or values outside the support of the
            family; the message names the column and a remedy.

        Warns
        -----
        UserWarning
            If a normal class has one row only, or if the accuracy on the rows of the
            fit is much lower than on held-out rows.
        """
        X, codes, weight, classes = validate_labelled(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        if self.n_features == "auto":
            self._fitted = self._fit_validated(X, codes, weight, classes)
        else:
            moments = collect_moments(self, X, codes, len(classes), weight)
            self._fitted = self._estimate(moments, classes)
        if sample_weight is None and self.class_weight is None:
            self._warn_of_single_rows()
        return self

    def _estimate(self, moments, classes, n_features=None):
        """The model of moments: marginals, divergences, order, and scores.

        ``n_features`` is how many features are used; None takes the parameter of the
        estimator, and all features where that is "auto".
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
        except NOT_FOUND as error:
            raise _named_failure(error, marginals, classes) from error
        return RankedModel(
            classes=classes,
            marginals=marginals,
            scores=scores,
            feature_divergences=divergences,
            order=order,
            n_selected=n_features,
        )

    def _fit_validated(self, X, codes, weight, classes):
        """The model of the smallest size of highest accuracy on held-out rows."""
        grid = size_grid(self.n_features_grid, X.shape[1])
        fold, n_held_out = held_out_folds(codes, self.cv, self.random_state)
        if not n_held_out:
            return self._estimate(
                collect_moments(self, X, codes, len(classes), weight), classes
            )
        # one pass over X collects the moments of every class in every fold, and the
        # moments of several folds are their sum
        n_folds = fold.max() + 1
        cell = fold * len(classes) + codes
        cells = collect_moments(self, X, cell, n_folds * len(classes), weight)
        fold_moments = cells.split(n_folds)
        training_moments = leave_one_out(fold_moments)
        correct_weight = np.zeros(len(grid))
        held_out_weight = 0.0
        for f in range(n_held_out):
            # the held-out rows take part neither in the ranking nor in the marginals
            model = self._estimate(training_moments[f], classes, grid[-1])
            rows = np.flatnonzero(fold == f)
            correct_weight += model.scores.correct_weight(
                X[rows], codes[rows], weight[rows], grid
            )
            held_out_weight += weight[rows].sum()
        accuracy = correct_weight / held_out_weight
        moments = fold_moments[0].merge(training_moments[0])
        model = self._estimate(moments, classes, smallest_best(grid, accuracy))
        best = model.scores.total(X).argmax(axis=1)
        _warn_of_lower_accuracy(
            on_fit=weight[best == codes].sum() / weight.sum(),
            held_out=accuracy.max(),
            n_held_out=np.count_nonzero(fold < n_held_out),
        )
        return replace(model, validation_n_features=grid, validation_curve=accuracy)

    def _batch_moments(self, X, y, sample_weight, classes, known_classes):
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows at once; in partial_fit give '
                "priors, or a dict of weights"
            )
        known_families = None
        if self.__sklearn_is_fitted__():
            known_families = self._families_of_batches_before()
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

    def _families_of_batches_before(self):
        """Families of the columns, None if they have one; refuse another one now."""
        moments = self._fitted.moments
        grouped = isinstance(moments, GroupedMoments)
        before = None if grouped else self._fitted.marginals.family
        family = common_family(self.family)
        if family != before:
            raise ValueError(
                f"family={self.family if family is None else family!r} differs from "
                f"that of the batches before, {before or moments.families}; set it "
                "back, or call fit"
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
        """Accuracy with the top S features, for many S, from one pass over X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        y : array-like of shape (n,)
            Labels; one that the fit has not seen counts as an error.
        sample_weight : array-like of shape (n,), default=None
        n_features_grid : None, "every" or array-like of int, default=None
            Which S, as for the estimator.

        Returns
        -------
        n_features : ndarray of int, shape (G,)
        accuracy : ndarray of shape (G,)
        """
        check_is_fitted(self)
        X, codes, weight, labels = validate_labelled(
            self, X, y, sample_weight, reset=False, several=False
        )
        # -1, which no prediction equals, for labels that the fit has not seen
        known = np.isin(labels, self.classes_)
        class_codes = np.where(known, np.searchsorted(self.classes_, labels), -1)
        grid = size_grid(n_features_grid, X.shape[1])
        model = self._fitted
        scores = type(model.scores).of(model.marginals, model.order[: grid[-1]])
        correct = scores.correct_weight(X, class_codes[codes], weight, grid)
        return grid, correct / weight.sum()

    def _warn_of_single_rows(self):
        """Warn of classes that have no variance of their own."""
        single = self._fitted.marginals.moments.weight == 1
        if single.any() and "normal" in self.families_ and self.variance_shrinkage != 1:
            names = ", ".join(map(repr, self.classes_[single].tolist()))
            warnings.warn(
                f"one row only of class {names}: it has no variance of its own and "
                "takes that within the other classes; add rows, leave the class out, "
                "or use variance_shrinkage=1.0, with which all classes share their "
                "variances",
                UserWarning,
                stacklevel=4,
            )


def _warn_of_lower_accuracy(on_fit, held_out, n_held_out):
    """Warn if rows of the fit are classified much worse than held-out rows."""
    standard_error = 0.5 / math.sqrt(n_held_out)  # at most, of a share of as many rows
    if on_fit < held_out - max(_FAR_BELOW, 4.0 * standard_error):
        warnings.warn(
            f"accuracy is {on_fit:.3f} on the rows of the fit and {held_out:.3f} on "
            "held-out rows: some density depends on few rows, as a normal density of a "
            "column of two values does; code such values as 0 and 1 and try "
            'family="auto", or try variance_shrinkage="auto"',
            UserWarning,
            stacklevel=5,
        )


def _named_failure(error, marginals, classes):
    """The same error with the class and the feature of the first density that fails."""
    if isinstance(marginals, GroupedMarginals):
        return error
    kind = type(error)
    family = marginals.family
    mu = marginals.mean_params
    for k, s in np.ndindex(mu.shape[:2]):
        try:
            family.natural(mu[k, s])
        except NOT_FOUND as failure:
            if isinstance(failure, kind):
                break
    else:
        return error
    moments = mu[k, s].tolist()
    if kind is RoundedMomentsError:
        reason = (
            f"rounding its moments {moments} leaves the density of {family} in doubt; "
            f"shift the feature and the support by {-moments[0]:g}, towards zero, or "
            "use fewer moments"
        )
    else:
        reason = (
            f"there is no density of {family} with its moments {moments}, or none was "
            "found; use a larger alpha, fewer moments or another family"
        )
    return kind(f"class {classes.tolist()[k]!r}, feature {s}: {reason}")
