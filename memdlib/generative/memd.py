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
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Array, ArrayLike, Indices, MatrixLike, NDArray, Weights
from memdlib.densities.moment_problem import NOT_FOUND, RoundedMomentsError
from memdlib.estimator import BayesClassifier, all_or_nothing, fitted
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
    rank,
)
from memdlib.generative.scores import MarginalScores
from memdlib.generative.table import (
    Asked,
    TableMarginals,
    TableMoments,
    TableScores,
    estimate,
    one_family,
    read,
)
from memdlib.moments import ClassMoments, leave_one_out, translate, translate_natural
from memdlib.validation import (
    Number,
    Words,
    check_priors,
    count_features,
    labelled_batch,
    labelled_data,
)

# Every number up to here, and then steps of this ratio.
_DENSE, _STEP = 64, 1.03

# Fractional weights add up to equal accuracies only within rounding.
_TIE = 1e-12

# Accuracy lost between rows held out and those of the fit that is worth a warning, if
# it is more than four standard errors of a share of as many rows, too.
_FAR_BELOW = 0.1


@dataclass(frozen=True)
class MarginalModel:
    """What a fit finds: class marginals, and scores by some of the features."""

    classes: NDArray[Any]
    marginals: ClassMarginals | TableMarginals
    scores: Any

    @property
    def moments(self) -> ClassMoments | TableMoments:
        """Of the data."""
        return self.marginals.moments

    @property
    def class_prior(self) -> Array:
        """Class probabilities, shape (K,)."""
        return self.marginals.prior

    @property
    def shrinkage(self) -> float:
        """Shrinkage in use."""
        return np.float64(self.marginals.shrinkage)

    @property
    def mean_params(self) -> Array:
        """Mean parameters about zero, shape (K, d, m)."""
        location = self.moments.location
        return translate(self.marginals.mean_params, np.ones(1), location)

    @property
    def natural_params(self) -> Array:
        """Natural parameters about zero, shape (K, d, m)."""
        location = self.moments.location
        return translate_natural(self.marginals.natural_params, location)

    def joint_log_density(self, X: MatrixLike) -> Array:
        """Log p(x, k) up to what is common to all classes, (n, K), of X (n, d)."""
        return self.scores.total(self.marginals.observe(X))


@dataclass(frozen=True)
class RankedModel(MarginalModel):
    """The same, with the order of the features, and how many of them are used."""

    feature_divergences: Array
    order: Indices
    n_selected: int
    validation_n_features: Indices | None = None
    validation_curve: Array | None = None


class MomentClassifier(BayesClassifier):
    """Bayes classifier that is a function of class moments, so that batches add up.

    A subclass supplies :meth:`_collect` and :meth:`_estimate`.
    """

    classes_: NDArray[Any] = fitted("classes")
    class_prior_: Array = fitted("class_prior")
    mean_params_: Array = fitted("mean_params")
    natural_params_: Array = fitted("natural_params")
    shrinkage_: float | Array = fitted("shrinkage")

    @abstractmethod
    def _collect(self, X, codes, n_classes, weight):
        """Moments of valid data."""

    @abstractmethod
    def _estimate(self, moments, classes):
        """Everything that follows from the moments: the fitted model."""

    @all_or_nothing
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Estimate the class densities, and whatever is to be chosen.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
            Values inside the support of the family.
        y : array-like of shape (n,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n,), default=None
            Nonnegative instance weights; weight 2 means the row twice, but where rows
            are held out.

        Returns
        -------
        self
        """
        data = labelled_data(self, X, y, sample_weight, **self._options())
        self._fitted = self._fit(*data)
        return self

    def _fit(self, X, codes, weight, classes):
        """The fitted model of valid data."""
        return self._estimate(self._collect(X, codes, len(classes), weight), classes)

    @all_or_nothing
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ) -> Self:
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
        old = getattr(self, "_fitted", None)
        known = None if old is None else old.classes
        moments, classes = self._batch_moments(X, y, sample_weight, classes, known)
        if old is not None:
            moments = old.moments.merge(moments)
        self._fitted = self._estimate(moments, classes)
        return self

    def _batch_moments(self, X, y, weight, classes, known):
        """Moments of a batch, and the classes."""
        X, codes, weight, classes = labelled_batch(
            self, X, y, weight, classes, known, **self._options()
        )
        return self._collect(X, codes, len(classes), weight), classes

    def _options(self) -> dict[str, Any]:
        """How data are to be validated."""
        return {}

    def _joint_log_density(self, X):
        return self._fitted.joint_log_density(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


def size_grid(asked: str | ArrayLike | None, d: int) -> Indices:
    """Numbers of features to try, increasing: those asked for, or by steps up to d."""
    if asked is None:
        grid = list(range(1, min(d, _DENSE) + 1))
        while grid[-1] < d:
            grid.append(min(d, math.ceil(grid[-1] * _STEP)))
        return np.array(grid)
    if isinstance(asked, str):
        return np.arange(1, d + 1)
    grid = np.unique(asked)
    if not grid.size or grid.dtype.kind not in "iu" or grid[0] < 1 or grid[-1] > d:
        raise ValueError(
            f"n_features_grid={asked!r} must hold integers from 1 to {d}, the number "
            'of features of X; or give "every", or None'
        )
    return grid


def held_out_folds(
    codes: Indices, validation: float, random_state: int | np.random.RandomState | None
) -> tuple[Indices, int]:
    """Fold of each row, and how many folds are held out; stratified by class."""
    size = np.bincount(codes)
    rows = np.flatnonzero(size[codes] > 1)
    fold = np.zeros(len(codes), dtype=np.intp)
    if not rows.size:
        return fold, 0
    if validation < 1:
        n_classes = np.count_nonzero(size > 1)
        asked = math.ceil(validation * len(rows))
        asked = int(np.clip(asked, n_classes, len(rows) - n_classes))
        splitter = StratifiedShuffleSplit(1, test_size=asked, random_state=random_state)
    else:
        n_folds = min(int(validation), int(size.max()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():  # classes of fewer rows are in some folds only
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        tests = [rows[test] for _, test in splitter.split(rows, codes[rows])]
    fold += len(tests)
    for f, test in enumerate(tests):
        fold[test] = f
    return fold, len(tests)


def smallest_best(grid: Indices, accuracy: Array) -> int:
    """Return the smallest number of a grid (G,) of highest accuracy (G,)."""
    return int(grid[np.argmax(accuracy >= accuracy.max() - _TIE)])


class MeMdClassifier(RankedSelector, MomentClassifier):
    """Maximum-entropy Bayes classifier on the features that discriminate most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Ranks the features. "js_gm" is MeMd-JS; "jeffreys" is MeMd-J, one-vs-rest for
        more than two classes. For two classes they are one algorithm. "js" is the
        Jensen-Shannon divergence itself, by quadrature.
    family : str, Family, dict or sequence, default="normal"
        Maximum-entropy family of the class marginals, by name (see
        :func:`memdlib.families.names`): "normal" (two moments), "bernoulli" (presence
        of counts), "multinomial" (counts of a document as a whole), "poisson", ...; or
        a family with its own support, such as ``Polynomial(4, (0.0, 1.0))``. "auto"
        takes frames as they are: a column of strings or categories is "categorical"
        (a level that the fit has not seen says nothing), one of two numbers Bernoulli,
        any other normal. A dict names families by column, the others being "auto"; a
        sequence holds one for each. Missing cells (not under "multinomial") are left
        out of the moments and of the scores.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        How many of the ranked features enter the Bayes rule: a number S, a share of
        them, all (None), or the smallest S of highest accuracy on rows held out from
        the ranking ("auto"; in ``partial_fit`` all features, because rows that have
        gone by cannot be held out).
    n_features_grid : None, "every" or array-like of int, default=None
        Which S "auto" tries: every S up to 64, then steps of 3 per cent, and d (None);
        every S ("every", as in the paper); or those listed.
    validation : float in (0, 1) or int >= 2, default=0.2
        How "auto" holds rows out, stratified by class: a share of them once (the
        paper's rule for text), or that many folds in turn (its rule for genes). The
        only row of a class is never held out.
    shrinkage : float in [0, 1] or "auto", default=0.0
        "normal" only: replaces each class variance v_k by (1 - shrinkage) v_k +
        shrinkage v_within. At 0 the moments are left as they are, except that a
        variance of zero is replaced (see :meth:`memdlib.families.Normal.regularise`);
        "auto" estimates it (see :meth:`memdlib.families.Normal.choose_shrinkage`).
        The default is the paper's plain moments, which single variances allow; where a
        covariance could be singular, the default is "auto".
    smoothing : float >= 0, default=1.0
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
    feature_divergences_, feature_importances_ : ndarray of shape (d,)
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
    shrinkage_ : float
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
    """

    _parameter_constraints = MARGINAL_CONSTRAINTS | {
        "n_features": [Words("auto"), *SIZE_CONSTRAINTS["n_features"]],
        "n_features_grid": [None, Words("every"), "array-like"],
        "validation": [Number(Real, 0, 1, "neither"), Number(Integral, 2, None)],
        "priors": [None, "array-like"],
        "class_weight": [None, Words("balanced"), dict],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        divergence: str = "js_gm",
        family: Asked = "normal",
        n_features: float | int | str | None = "auto",
        validation: float | int = 0.2,
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
        *,
        n_features_grid: ArrayLike | str | None = None,
        priors: ArrayLike | None = None,
        class_weight: dict[Any, Any] | str | None = None,
    ) -> None:
        self.divergence = divergence
        self.family = family
        self.n_features = n_features
        self.validation = validation
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_features_grid = n_features_grid
        self.priors = priors
        self.class_weight = class_weight

    feature_divergences_: Array = fitted("feature_divergences")
    feature_importances_: Array = fitted("feature_divergences")
    order_: Indices = fitted("order")
    families_: NDArray[Any] = fitted("marginals.families")
    n_selected_: int = fitted("n_selected")
    validation_n_features_: Indices | None = fitted("validation_n_features")
    validation_curve_: Array | None = fitted("validation_curve")

    _kind_of_scores: ClassVar[Any] = MarginalScores

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: Weights = None) -> Self:
        """Rank the features, choose how many to use, and estimate their marginals.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`memdlib.JointMaxEntClassifier.fit`; X may be sparse, or a
            frame. A UserWarning names normal classes of one row, and a size that
            does much worse on the rows of the fit than on those held out.

        Returns
        -------
        self
        """
        super().fit(X, y, sample_weight)
        if sample_weight is None and self.class_weight is None:
            self._warn_of_single_rows()
        return self

    def accuracy_curve(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: Weights = None,
        n_features_grid: ArrayLike | str | None = None,
    ) -> tuple[Indices, Array]:
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
        X, codes, weight, seen = labelled_data(
            self, X, y, sample_weight, reset=False, several=False, read=self._read
        )
        known = np.isin(seen, self.classes_)
        position = np.where(known, np.searchsorted(self.classes_, seen), -1)
        grid, model = size_grid(n_features_grid, X.shape[1]), self._fitted
        scores = self._scores_of(model.marginals, model.order[: grid[-1]])
        X = model.marginals.observe(X)
        correct = scores.correct_weight(X, position[codes], weight, grid)
        return grid, correct / weight.sum()

    def __sklearn_tags__(self) -> Tags:
        tags = describe_input(super().__sklearn_tags__(), self.family)
        # continuous test data mean little to a family of counts
        tags.classifier_tags.poor_score = tags.input_tags.positive_only
        return tags

    def _options(self):
        learn = partial(self._read, learn=True)
        return {"class_weight": self.class_weight, "read": learn}

    def _read(self, X, *y, reset=True, learn=False, **options):
        """X, or X and y; with families and levels of the fit, unless they are new."""
        old = None if reset else getattr(self, "_fitted", None)
        if old is not None and isinstance(old.moments, TableMoments):
            options["families"] = old.moments.families
            options["levels"] = None if learn else old.moments.levels
        return read(self, X, *y, reset=reset, **options)

    def _batch_moments(self, *batch):
        old, family = getattr(self, "_fitted", None), one_family(self.family)
        before = old and getattr(old.marginals, "family", None)
        if old is not None and before != family:
            raise ValueError(
                f"family={family} differs from that of the batches before, {before}; "
                "set it back, or call fit"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows at once; in partial_fit give '
                "priors, or a dict of weights"
            )
        return super()._batch_moments(*batch)

    def _collect(self, X, codes, n_classes, weight):
        family = one_family(self.family)
        X = family.observe(X) if family else X
        return family_moments(family, X, codes, n_classes, weight)

    def _scores_of(self, marginals, features):
        """Scores by some features, in that order."""
        table = isinstance(marginals, TableMarginals)
        return (TableScores if table else self._kind_of_scores).of(marginals, features)

    def _estimate(self, moments, classes, size=None) -> RankedModel:
        settings = one_family(self.family), self.shrinkage, self.smoothing
        priors = check_priors(self.priors, len(classes))
        marginals = estimate(moments, *settings, priors)
        if size is None:
            asked = None if self.n_features == "auto" else self.n_features
            size = count_features(asked, moments.n_features, "n_features")
        try:
            divergences = marginals.divergences(self.divergence)
            order = rank(divergences)
            scores = self._scores_of(marginals, order[:size])
        except NOT_FOUND as error:
            raise _named(error, marginals, classes) from error
        return RankedModel(classes, marginals, scores, divergences, order, size)

    def _fit(self, X, codes, weight, classes) -> RankedModel:
        """Model of a given size, or the smallest of highest accuracy held out."""
        if self.n_features != "auto":
            return super()._fit(X, codes, weight, classes)
        grid = size_grid(self.n_features_grid, X.shape[1])
        fold, n_held_out = held_out_folds(codes, self.validation, self.random_state)
        if not n_held_out:
            return super()._fit(X, codes, weight, classes)
        family, n_classes = one_family(self.family), len(classes)
        X, n_folds = family.observe(X) if family else X, fold.max() + 1
        cell = fold * n_classes + codes  # one pass for all folds
        parts = family_moments(family, X, cell, n_folds * n_classes, weight)
        parts = parts.split(n_folds)
        training, correct, tested = leave_one_out(parts), 0.0, 0.0
        for f, part in enumerate(training[:n_held_out]):
            test = np.flatnonzero(fold == f)
            rows = X[test], codes[test], weight[test]
            scores = self._estimate(part, classes, grid[-1]).scores
            correct = correct + scores.correct_weight(*rows, grid)
            tested += weight[test].sum()
        accuracy = correct / tested
        whole, size = parts[0].merge(training[0]), smallest_best(grid, accuracy)
        model = self._estimate(whole, classes, size)
        best = model.scores.total(X).argmax(axis=1)
        own, held_out = weight[best == codes].sum() / weight.sum(), accuracy.max()
        error = 0.5 / math.sqrt(np.count_nonzero(fold < n_held_out))
        if own < held_out - max(_FAR_BELOW, 4.0 * error):
            warnings.warn(
                f"accuracy is {own:.3f} on the rows of the fit and {held_out:.3f} on "
                "those held out: some density hangs on few rows, as a normal one of a "
                'column of two values does; try family="auto", or shrinkage="auto"',
                UserWarning,
                stacklevel=5,
            )
        return replace(model, validation_n_features=grid, validation_curve=accuracy)

    def _warn_of_single_rows(self):
        """Warn of classes that have no variance."""
        single = self._fitted.moments.weight == 1
        if single.any() and "normal" in self.families_ and self.shrinkage != 1:
            names = ", ".join(map(repr, self.classes_[single].tolist()))
            warnings.warn(
                f"one row only of class {names}: it has no variance of its own and "
                "takes that within the other classes; add rows, leave the class out, "
                "or use shrinkage=1.0, with which all classes share their variances",
                UserWarning,
                stacklevel=3,
            )


def _named(error, marginals, classes):
    """The same error with the class and the feature of the first density that fails."""
    if isinstance(marginals, TableMarginals):
        return error
    family, mu, kind = marginals.family, marginals.mean_params, type(error)
    for k, s in np.ndindex(mu.shape[:2]):
        try:
            family.natural(mu[k, s])
        except NOT_FOUND as found:
            if isinstance(found, kind):
                break
    told = mu[k, s].tolist()
    why = (
        f"rounding its moments {told} leaves the density of {family} in doubt; shift "
        f"the feature and the support by {-told[0]:g}, towards zero, or use fewer "
        "moments"
        if kind is RoundedMomentsError
        else f"there is no density of {family} with its moments {told}, or none was "
        "found; use more smoothing, fewer moments or another family"
    )
    return kind(f"class {classes.tolist()[k]!r}, feature {s}: {why}")
