"""MeMd: generative maximum-entropy classification with maximum discrimination.

Class marginals are maximum-entropy densities of a few moments, features are ranked by
the divergence between them, and the top S features enter the Bayes rule

    argmax_k  log pi_k + sum_{s <= S} log p*_k(x_(s)),

which is linear in the sufficient statistics phi(x).
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from memdlib._types import MatrixLike
from memdlib.estimator import all_or_nothing, fitted
from memdlib.families import MarginalFamily, Normal, get
from memdlib.generative.marginals import ClassMarginals, family_moments, fold_moments
from memdlib.generative.memd.model import MarginalModel, MomentClassifier
from memdlib.generative.ranking import (
    MARGINAL_CONSTRAINTS,
    SIZE_CONSTRAINTS,
    RankedSelector,
    describe_input,
)
from memdlib.holdout import content_positions
from memdlib.moments import ClassMoments
from memdlib.validation import (
    Number,
    Words,
    check_integer,
    check_parameters,
    check_priors,
    count_features,
    labelled_data,
)

Array = NDArray[np.float64]

# Every number up to here, and then steps of this ratio.
_DENSE, _STEP = 64, 1.03

# Fractional weights add up to equal accuracies only within rounding.
_TIE = 1e-12


def size_grid(asked: str | ArrayLike | None, d: int) -> NDArray[np.intp]:
    """Numbers of features to try.

    Parameters
    ----------
    asked : None, "every" or array-like of int
        None: every number up to 64, then steps of 3 per cent, and d.
    d : int
        Number of features there are.

    Returns
    -------
    ndarray of int, increasing

    Raises
    ------
    ValueError
        If a number asked for is not an integer from 1 to d.

    Examples
    --------
    >>> size_grid(None, 5).tolist()
    [1, 2, 3, 4, 5]
    >>> size_grid(None, 10000)[60:70].tolist(), len(size_grid(None, 10000))
    ([61, 62, 63, 64, 66, 68, 71, 74, 77, 80], 228)
    >>> size_grid([100, 10], 200).tolist()
    [10, 100]
    """
    d = check_integer(d, "d")
    if asked is None:
        grid = list(range(1, min(d, _DENSE) + 1))
        while grid[-1] < d:
            grid.append(min(d, math.ceil(grid[-1] * _STEP)))
        return np.array(grid)
    if isinstance(asked, str):
        return np.arange(1, d + 1)
    grid = np.asarray(asked)
    grid = np.unique(grid) if grid.dtype.kind in "iu" else grid.ravel()
    if not grid.size or grid.dtype.kind not in "iu" or grid[0] < 1 or grid[-1] > d:
        raise ValueError(
            f"n_features_grid={asked!r} must hold integers from 1 to {d}, the number "
            'of features of X; or give "every", or None'
        )
    return grid


def held_out_accuracy(
    estimate: Callable[[ClassMoments], MarginalModel],
    data: tuple[Any, ...],
    fold: NDArray[np.intp],
    exclusive: list[ClassMoments],
    grid: NDArray[np.intp],
) -> Array | None:
    """Accuracy on held-out rows with the best S features, for each S of a grid.

    Parameters
    ----------
    estimate : callable
        Makes a model of moments.
    data : tuple
        X (observed), codes and weight of all rows.
    fold : ndarray of int, shape (n,)
    exclusive : list of ClassMoments
        Of all rows but those of a fold; the folds to hold out come first.
    grid : ndarray of int, shape (G,)

    Returns
    -------
    ndarray of shape (G,), or None
        None if there is no row to hold out, or none but these.
    """
    correct, tested = np.zeros(len(grid)), 0.0
    for f, moments in enumerate(exclusive):
        test = fold == f
        if test.any() and moments.weight.any():
            part = [values[test] for values in data]
            correct += estimate(moments).correct_weight(*part, grid)
            tested += part[-1].sum()
    return correct / tested if tested else None


def smallest_best(grid: NDArray[np.intp], accuracy: Array) -> int:
    """Return the smallest number of features of highest accuracy.

    Parameters
    ----------
    grid : ndarray of int, shape (G,)
        Increasing.
    accuracy : ndarray of shape (G,)

    Returns
    -------
    int

    Examples
    --------
    >>> smallest_best(np.array([1, 2, 3]), np.array([0.5, 0.9 - 1e-16, 0.9]))
    2
    """
    return int(grid[np.argmax(accuracy >= accuracy.max() - _TIE)])


class MeMdClassifier(RankedSelector, MomentClassifier):
    """Maximum-entropy Bayes classifier on the features that discriminate most.

    Parameters
    ----------
    divergence : {"js_gm", "jeffreys", "js"}, default="js_gm"
        Ranks the features. "js_gm" is MeMd-JS; "jeffreys" is MeMd-J, one-vs-rest for
        more than two classes. For two classes they are one algorithm. "js" is the
        Jensen-Shannon divergence itself, by quadrature.
    family : str or Family, default="normal"
        Maximum-entropy family of the class marginals, by name (see
        :func:`memdlib.families.names`): "normal" (two moments), "bernoulli" (presence
        of counts), "multinomial" (counts of a document as a whole), "poisson", ...; or
        a family with its own support, such as ``Polynomial(4, (0.0, 1.0))``.
    n_features : "auto", int, float in (0, 1] or None, default="auto"
        How many of the ranked features enter the Bayes rule: a number S, a share of
        them, all (None), or the smallest S of highest accuracy on training rows that
        the ranking did not see ("auto"; in ``partial_fit`` all features, because rows
        that have gone by cannot be held out).
    n_features_grid : None, "every" or array-like of int, default=None
        Which S "auto" tries: every S up to 64, then steps of 3 per cent, and d (None);
        every S ("every", as in the paper); or those listed.
    validation : float in (0, 1) or int >= 2, default=0.2
        How "auto" sets rows aside: a share of them once (the paper's rule for text),
        or that many cross-validation folds (its rule for genes).
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
        Draws the rows that "auto" sets aside.

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
        n_features="auto", or with too few rows to hold any out (all features are then
        used).
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        Only when X has string column names.

    See Also
    --------
    memdlib.DivergenceRanker : the ranking alone, in front of any classifier.

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

    feature_divergences_: Array

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
        family: str | MarginalFamily = "normal",
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

    feature_divergences_: Array
    feature_importances_: Array
    feature_divergences_ = feature_importances_ = fitted("feature_divergences")
    order_: NDArray[np.intp] = fitted("order")
    n_selected_: int = fitted("n_selected")
    validation_n_features_: NDArray[np.intp] | None = fitted("validation_n_features")
    validation_curve_: Array | None = fitted("validation_curve")

    @all_or_nothing
    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Estimate the class marginals, rank the features and choose how many to use.

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

        Warns
        -----
        UserWarning
            If a class has one row only, under the normal family.
        """
        check_parameters(self)
        X, codes, weight, classes = labelled_data(
            self, X, y, sample_weight, class_weight=self.class_weight
        )
        if self.n_features == "auto":
            self._fitted = self._choose_size(X, codes, weight, classes)
        else:
            moments = self._collect(X, codes, len(classes), weight)
            self._fitted = self._estimate(moments, classes)
        if sample_weight is None:
            self._warn_of_single_rows(codes)
        return self

    def accuracy_curve(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        n_features_grid: ArrayLike | str | None = None,
    ) -> tuple[NDArray[np.intp], Array]:
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
            The numbers S, increasing.
        accuracy : ndarray of shape (G,)
            Exact at each of them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> S, accuracy = MeMdClassifier(n_features=1).fit(X, y).accuracy_curve(X, y)
        >>> S.tolist(), accuracy.round(3).tolist()
        ([1, 2, 3, 4], [0.953, 0.96, 0.967, 0.96])
        """
        check_is_fitted(self)
        X, codes, weight, seen = labelled_data(
            self, X, y, sample_weight, reset=False, several=False
        )
        known = np.isin(seen, self.classes_)
        position = np.where(known, np.searchsorted(self.classes_, seen), -1)
        grid = size_grid(n_features_grid, X.shape[1])
        X = self._fitted.marginals.family.observe(X)
        correct = self._fitted.correct_weight(X, position[codes], weight, grid)
        return grid, correct / weight.sum()

    def __sklearn_tags__(self) -> Tags:
        tags = describe_input(super().__sklearn_tags__(), self.family)
        # continuous test data mean little to a family of counts
        tags.classifier_tags.poor_score = get(self.family).nonnegative
        return tags

    def _batch_options(self):
        old, family = getattr(self, "_fitted", None), get(self.family)
        if old is not None and old.marginals.family != family:
            raise ValueError(
                f"family={family} differs from that of the batches before, "
                f"{old.marginals.family}; set it back, or call fit"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all rows at once; in partial_fit give '
                "priors, or a dict of weights"
            )
        return {"class_weight": self.class_weight}

    def _collect(self, X, codes, n_classes, weight):
        family = get(self.family)
        return family_moments(family, family.observe(X), codes, n_classes, weight)

    def _estimate(self, moments, classes) -> MarginalModel:
        marginals = ClassMarginals(
            moments,
            get(self.family),
            self.shrinkage,
            self.smoothing,
            check_priors(self.priors, len(classes)),
        )
        model = MarginalModel.of(classes, marginals, self.divergence)
        if self.n_features == "auto":
            return model
        size = count_features(self.n_features, len(model.order), "n_features")
        return replace(model, n_selected=size)

    def _choose_size(self, X, codes, weight, classes) -> MarginalModel:
        """Model of the smallest size of highest accuracy on rows held out."""
        family = get(self.family)
        data = X, codes, weight = family.observe(X), codes, weight
        at = content_positions(*data, check_random_state(self.random_state))
        once = self.validation < 1
        n_folds = 2 if once else int(self.validation)
        fold = (at >= self.validation if once else at * n_folds).astype(np.intp)
        moments, training = fold_moments(
            family, X, codes, len(classes), weight, fold, n_folds
        )
        grid = size_grid(self.n_features_grid, X.shape[1])
        accuracy = held_out_accuracy(
            lambda part: self._estimate(part, classes),
            data,
            fold,
            training[:1] if once else training,
            grid,
        )
        model = self._estimate(moments, classes)
        if accuracy is None:
            return model
        return replace(
            model,
            n_selected=smallest_best(grid, accuracy),
            validation_n_features=grid,
            validation_curve=accuracy,
        )

    def _warn_of_single_rows(self, codes):
        """Warn of classes that have no variance; weighted rows may be several."""
        single = np.bincount(codes) == 1
        if single.any() and get(self.family) == Normal() and self.shrinkage != 1:
            names = ", ".join(map(repr, self.classes_[single].tolist()))
            warnings.warn(
                f"one row only of class {names}: it has no variance of its own and "
                "takes that within the other classes; add rows, leave the class out, "
                "or use shrinkage=1.0, with which all classes share their variances",
                UserWarning,
                stacklevel=4,
            )
