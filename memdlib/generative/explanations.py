"""Why this class: what each feature adds to the score of a row.

Scores of independent features are sums over the features, and linear scores are. A
quadratic score sums over pairs; each pair is split evenly between its two features. So

    decision_function(x) = base + sum_s value_s(x),

in nats. For two classes this is the log-odds of the second. For more, where only
differences between classes matter, score and values of a class are those beyond the
average of the classes.

The log of a sum is no sum of logs: a mixture has no exact terms. What its members add
is averaged, with their posterior weights for the row and the class that is predicted.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Estimator, Matrix, MatrixLike
from memdlib.estimator import finite_scores, log_posterior
from memdlib.families.multivariate import log_determinant
from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.ridge import (
    RidgeDiscriminantClassifier,
    holds_any,
    with_one_more_row,
)
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.memd.classifier import MeMdClassifier
from memdlib.generative.memd.documents import MultinomialMeMdClassifier
from memdlib.generative.memd.joint import JointMaxEntClassifier
from memdlib.generative.memd.model import MarginalModel
from memdlib.generative.recommended.features import LinearSplines
from memdlib.generative.recommended.mixed import MixedMeMdClassifier
from memdlib.generative.scores import scores_by_feature
from memdlib.generative.weighting import weighted_rows
from memdlib.validation import check_integer, checked_data, sum_duplicates

Array = NDArray[np.float64]

# Share of the terms of a sum by which it may miss a score that it is equal to.
_ROUNDING = 1e-8


class NotAdditiveError(ValueError):
    """The score of a classifier is no sum over features."""


@dataclass(frozen=True)
class Contributions:
    """What each feature adds to the scores of some rows.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    feature_names : ndarray of shape (d,)
    base : ndarray of shape (n, C)
        Scores before any feature is seen, nats; C is 1 for two classes, else K.
    values : tuple of C {ndarray, csr_array} of shape (n, d)
        What each feature adds, nats: for two classes towards the second, else towards
        each class beyond the average of the classes.
    left_out : ndarray of shape (n,) or None, default=None
        None: the sums are exact. Of a mixture, whose sums are averages over its models:
        posterior weight of the models that take functions of several features, and are
        left out of the average.
    """

    classes: NDArray
    feature_names: NDArray
    base: Array
    values: tuple
    left_out: Array | None = None

    @property
    def total(self) -> Array:
        """Base and values added, (n,) for two classes, else (n, K).

        For two classes it is ``decision_function``; for more it is that less its mean
        over the classes (over those that are possible, if some have the prior zero). Of
        a mixture it is the average score of the models.
        """
        found = self.base + _sums_of_rows(self.values)
        return found[:, 0] if len(self.values) == 1 else found

    def towards(self, label: float) -> MatrixLike:
        """Values towards one class.

        Parameters
        ----------
        label : scalar
            One of ``classes``; for two classes the values towards the first are those
            towards the second with the other sign.

        Returns
        -------
        {ndarray, csr_array} of shape (n, d)
            Nats.

        Raises
        ------
        ValueError
            If there is no such class.
        """
        k, sign = self._place(label)
        return sign * self.values[k]

    def base_towards(self, label: object) -> Array:
        """Base towards one class, (n,), nats; see :meth:`towards`."""
        k, sign = self._place(label)
        return sign * self.base[:, k]

    def _place(self, label) -> tuple[int, int]:
        found = np.flatnonzero(self.classes == label)
        if not found.size:
            raise ValueError(
                f"there is no class {label!r}; choose one of {self.classes.tolist()}"
            )
        k = int(found[0])
        return (0, 2 * k - 1) if len(self.values) == 1 else (k, 1)


def contributions(
    model: Estimator, X: MatrixLike, feature_names: ArrayLike | None = None
) -> Contributions:
    """What each feature of each row adds to the decision of a classifier.

    Parameters
    ----------
    model : classifier
        Fitted. A classifier of memdlib whose score is a sum over features or over pairs
        of them; a mixture of such; any linear classifier of scikit-learn with
        ``coef_``; or a pipeline that ends in one of them.
    X : {array-like, sparse matrix} of shape (n, d)
        Whatever ``model.predict`` takes. The features are the columns that the last
        step of a pipeline gets, such as words after a ``CountVectorizer``.
    feature_names : array-like of str, shape (d,), default=None
        None takes those that the model knows, or numbers.

    Returns
    -------
    Contributions
        ``total`` is ``decision_function``: the calibrated score, before any mixture
        with uniform posteriors. Not so for a mixture, see below.

    Raises
    ------
    ValueError
        If the score is no such sum; if the names are not d.

    Notes
    -----
    The base is the score where no feature speaks:

    - families of values zero or above (counts, presence of words): a row of zeros, so
      that a word says something where it occurs, and sparse rows give sparse values;
    - all other families: the priors alone; a feature adds the log density of each
      class;
    - classifiers with correlations: a row at the mean of the class means. Quadratic
      scores split each pair of features evenly between the two, values that
      :class:`memdlib.generative.RegularisedMeMdClassifier` clips count as clipped;
    - other linear classifiers: a row of zeros, so that the values depend on where each
      feature has its zero.

    The posterior of a mixture (:class:`memdlib.generative.MixedMeMdClassifier`) is a
    sum of posteriors, and its score no sum over features. Its values are those of its
    calibrated models, averaged with the posterior weights of the models for that row
    and the class predicted; steps that take functions of one feature each, such as
    normal scores of the row or splines, are seen through, and models that take
    functions of several features are left out (``left_out`` says how much that is).
    Contributions of ``estimators_`` are exact.

    Values say what the classifier adds up, not what would happen if a feature had
    another value in the world; and where features depend on each other, what one of
    them adds depends on which others are in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MeMdClassifier(n_features=2).fit(X[50:], y[50:])
    >>> found = contributions(model, X[50:53])
    >>> found.values[0].round(2).tolist()[0]
    [0.0, 0.0, -0.93, -2.91]
    >>> bool(np.allclose(found.total, model.decision_function(X[50:53])))
    True
    """
    check_is_fitted(model)
    joint = joint_by_feature(model, X)
    K, d = len(model.classes_), joint.values[0].shape[1]
    base, values = joint.base, joint.values
    if K == 2:
        found = base[:, 1:] - base[:, :1], (values[1] - values[0],)
    else:
        possible = np.isfinite(base).all(axis=0)
        average = sum(v for v, own in zip(values, possible, strict=True) if own)
        average = average / possible.sum()
        mean = base[:, possible].mean(axis=1, keepdims=True)
        found = base - mean, tuple(v - average for v in values)
    names = names_of_features(model, d, feature_names)
    return Contributions(model.classes_, names, *found, joint.left_out)


def top_features(
    model: Estimator,
    X: MatrixLike,
    n: int = 10,
    feature_names: ArrayLike | None = None,
) -> dict[object, list[tuple[str, float]]]:
    """Features that speak most for each class, on the rows that are given to it.

    Parameters
    ----------
    model : classifier
        As for :func:`contributions`.
    X : {array-like, sparse matrix} of shape (n_rows, d)
    n : int, default=10
        How many features a class, at most.
    feature_names : array-like of str, shape (d,), default=None

    Returns
    -------
    dict of class label to list of (str, float)
        Names, and the mean of what the feature adds towards the class over the rows
        that the model assigns to it, in nats: the largest first, those above zero only.
        Empty for a class without rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from memdlib import MeMdClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> top = top_features(MeMdClassifier(n_features=None).fit(X, y), X, n=2)
    >>> [name for name, nats in top[1]]
    ['petal length (cm)', 'petal width (cm)']
    """
    check_integer(n, "n")
    found, top = contributions(model, X, feature_names), {}
    best = model.predict(X)
    for label in found.classes.tolist():
        own = np.flatnonzero(best == label)
        values = found.towards(label)[own].sum(axis=0) / max(own.size, 1)
        values = np.asarray(values).ravel()
        strongest = np.argsort(-values, kind="stable")[:n]
        top[label] = [
            (str(found.feature_names[s]), float(values[s]))
            for s in strongest
            if values[s] > 0
        ]
    return top


@dataclass(frozen=True)
class JointByFeature:
    """Joint log densities of rows and classes, but for what the classes share.

    Parameters
    ----------
    base : ndarray of shape (K,) or (n, K)
        Of a row where no feature speaks; becomes (n, K).
    values : list of K {ndarray, csr_array} of shape (n, d)
        What each feature adds.
    left_out : ndarray of shape (n,) or None, default=None
        As in :class:`Contributions`.
    """

    base: Array
    values: list
    left_out: Array | None = None

    def __post_init__(self) -> None:
        shape = self.values[0].shape[0], len(self.values)
        object.__setattr__(self, "base", np.broadcast_to(self.base, shape))

    @property
    def total(self) -> Array:
        """Sum of all, (n, K)."""
        return self.base + _sums_of_rows(self.values)


def _sums_of_rows(values) -> Array:
    return np.column_stack([np.asarray(v.sum(axis=1)).ravel() for v in values])


@singledispatch
def joint_by_feature(model: BaseEstimator, X: MatrixLike) -> JointByFeature:
    """Joint log densities by feature, one registration for each kind of classifier.

    Parameters
    ----------
    model : classifier
        Fitted. Of one that is not registered the coefficients are read, and what they
        add up to is compared with its decision function.
    X : {array-like, sparse matrix} of shape (n, d)

    Returns
    -------
    JointByFeature

    Raises
    ------
    NotAdditiveError
        If the score is no sum over features.
    """
    X, coef = checked_rows(model, X), getattr(model, "coef_", None)
    classes = getattr(model, "classes_", ())
    each = (len(classes), X.shape[1])
    if np.shape(coef) in (each, (1, X.shape[1]) if len(classes) == 2 else each):
        coef = np.asarray(coef, dtype=np.float64)
        intercept = np.broadcast_to(model.intercept_, len(coef)).astype(np.float64)
        if len(coef) < len(classes):
            coef = np.vstack([np.zeros_like(coef), coef])
            intercept = np.append(np.zeros_like(intercept), intercept)
        found = JointByFeature(intercept, [X @ sparse.diags_array(row) for row in coef])
        if _adds_up(found, model.decision_function(X)):
            return found
    raise NotAdditiveError(
        f"the score of {type(model).__name__} is no sum over features; take a "
        "classifier of memdlib or a linear one of scikit-learn, or explain this one by "
        "sklearn.inspection.permutation_importance"
    )


def _adds_up(found: JointByFeature, score: Array) -> bool:
    joint = found.total
    size = np.abs(found.base) + _sums_of_rows(map(abs, found.values))
    if joint.shape[1] == 2:
        gap = joint[:, 1] - joint[:, 0] - score
    else:
        gap = joint - joint.mean(axis=1, keepdims=True)
        gap -= score - score.mean(axis=1, keepdims=True)
    return bool(np.abs(gap).max(initial=0.0) <= _ROUNDING * size.max(initial=1.0))


@joint_by_feature.register
def _(model: Pipeline, X):
    return joint_by_feature(model[-1], model[:-1].transform(X) if model[:-1] else X)


@joint_by_feature.register
def _(model: MeMdClassifier, X):
    fitted = model._fitted
    return _of_marginals(
        fitted, checked_rows(model, X), fitted.order[: fitted.n_selected]
    )


def _of_marginals(fitted: MarginalModel, X, features) -> JointByFeature:
    X = fitted.marginals.family.observe(X)
    return _finite(JointByFeature(*scores_by_feature(fitted.scores, X, features)), X)


@joint_by_feature.register
def _(model: MultinomialMeMdClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    X = fitted.marginals.family.observe(X)
    log_prior, features = fitted.scores.log_prior, fitted.order[: fitted.n_selected]
    # a score linear in the counts is known from the documents of one word
    words = fitted.scores.total(sparse.eye_array(X.shape[1], format="csr"), features)
    words = words - np.where(np.isfinite(log_prior), log_prior, 0.0)
    words = np.where(np.isfinite(log_prior), words, 0.0)
    values = [X @ sparse.diags_array(column) for column in words.T]
    return _finite(JointByFeature(log_prior, values), X)


@joint_by_feature.register
def _(model: JointMaxEntClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    if isinstance(fitted, MarginalModel):
        return _of_marginals(fitted, X, fitted.order)
    W, prior = fitted.whitening, fitted.class_prior
    centre = prior @ fitted.means
    u = X - centre
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        base, values = np.log(prior), []
        base = base + log_determinant(W)
        for k, mean in enumerate(fitted.means - centre):
            w = W if W.ndim == 2 else W[k]
            z = w @ mean
            base[k] -= 0.5 * (z @ z)
            # a square that all classes share tells nothing
            half = 0.0 if W.ndim == 2 else 0.5 * (u @ w.T)
            values.append(u * ((z - half) @ w))
    return _finite(JointByFeature(base, values), X)


@joint_by_feature.register
def _(model: CorrelatedMeMdClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    slopes, scores = fitted.scores.slopes[0], fitted.scores
    with np.errstate(over="ignore", invalid="ignore"):
        u = np.where(slopes.any(axis=0), X / fitted.unit - scores.points[0], 0.0)
        found = JointByFeature(scores.offsets[0], [u * slope for slope in slopes])
    return _finite(found, X)


@joint_by_feature.register
def _(model: RegularisedMeMdClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    pooled = fitted.pooled
    u = (fitted.within(X) - pooled.centre) / pooled.deviations
    z = pooled.root(u)
    with np.errstate(divide="ignore"):
        base, values = np.log(fitted.class_prior), []
    for k, (mean, spread) in enumerate(zip(pooled.means, fitted.spreads, strict=True)):
        base[k] -= 0.5 * (spread.distance(mean[None])[0] + spread.log_determinant)
        values.append(u * pooled.root(spread.solve(mean - 0.5 * z)))
    return _finite(JointByFeature(base, values), X)


@joint_by_feature.register
def _(model: RidgeDiscriminantClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    rows, sure = X, fitted.multipliers[0]
    if fitted.feature_weights is not None:
        rows = weighted_rows(X, fitted.feature_weights)
    base = sure * fitted.intercept
    values = [rows @ sparse.diags_array(sure * row) for row in fitted.coef]
    if fitted.marginals is not None and fitted.multipliers[1]:
        scores, sure = with_one_more_row(fitted.marginals), fitted.multipliers[1]
        counts = fitted.marginals.family.observe(X)
        second = scores_by_feature(scores, counts, np.arange(X.shape[1]))
        base = base + sure * second[0]
        values = [v + sure * w for v, w in zip(values, second[1], strict=True)]
    if fitted.known is not None:
        speaks = holds_any(X, fitted.known)
        base = np.where(speaks[:, None], base, np.log(fitted.class_prior))
        kept = sparse.diags_array(speaks.astype(np.float64))
        values = [kept @ v for v in values]
    return _finite(JointByFeature(base, values), X)


@joint_by_feature.register
def _(model: MixedMeMdClassifier, X):
    X, fitted = checked_rows(model, X), model._fitted
    members = list(zip(fitted.members, model.estimators_, strict=True))
    log_weights = [
        np.log(member.weight)
        + log_posterior(
            estimator.predict_log_proba(X) / member.temperature, fitted.uniform_share
        )
        for member, estimator in members
    ]
    best = fitted.log_posterior(X).argmax(axis=1)
    # of each member, given the row and the class
    share = softmax([own[np.arange(len(X)), best] for own in log_weights], axis=0)
    parts, kept = [], []
    for (member, estimator), own in zip(members, share, strict=True):
        try:
            parts.append((own / member.temperature, joint_by_column(estimator, X)))
            kept.append(own)
        except NotAdditiveError:
            continue
    if not parts:
        raise NotAdditiveError(
            "every model of this mixture takes functions of several features: there is "
            "no sum over features; take other candidates, or explain it by "
            "sklearn.inspection.permutation_importance"
        )
    known = np.sum(kept, axis=0)
    parts = [((weight / known)[:, None], joint) for weight, joint in parts]
    return JointByFeature(
        sum(weight * joint.base for weight, joint in parts),
        [
            sum(weight * joint.values[k] for weight, joint in parts)
            for k in range(len(fitted.classes))
        ],
        left_out=np.maximum(1.0 - known, 0.0),
    )


def joint_by_column(model: Estimator, X: NDArray[Any]) -> JointByFeature:
    """Joint log densities by the columns that a pipeline is given.

    Parameters
    ----------
    model : classifier
        Fitted; a pipeline whose steps are functions of one column each is seen through.
    X : ndarray of shape (n, d)

    Returns
    -------
    JointByFeature
        Of d features.

    Raises
    ------
    NotAdditiveError
        If a step takes functions of several columns.
    """
    if not isinstance(model, Pipeline):
        return joint_by_feature(model, X)
    n_columns, origin = X.shape[1], np.arange(X.shape[1])
    for _, step in model.steps[:-1]:
        origin = origin[column_origins(step, X.shape[1])]
        X = step.transform(X)
    found = joint_by_column(model[-1], X)
    place = np.arange(len(origin)), origin
    fold = sparse.csr_array((np.ones(len(origin)), place), (len(origin), n_columns))
    return JointByFeature(found.base, [v @ fold for v in found.values])


@singledispatch
def column_origins(step: BaseEstimator, n_columns: int) -> NDArray[np.intp]:
    """From which column each column that a transformer makes comes.

    Parameters
    ----------
    step : transformer
        Fitted.
    n_columns : int
        Columns that it takes.

    Returns
    -------
    ndarray of int, shape (number of columns that it makes,)

    Raises
    ------
    NotAdditiveError
        If it is not known to take functions of one column each.
    """
    raise NotAdditiveError(
        f"{type(step).__name__} takes functions of several features: what one of them "
        "adds is not known; explain the pipeline by "
        "sklearn.inspection.permutation_importance"
    )


@column_origins.register(OneToOneFeatureMixin)
@column_origins.register(FunctionTransformer)
def _(step, n_columns: int):
    return np.arange(n_columns)


@column_origins.register
def _(step: LinearSplines, n_columns: int):
    return step._feature if step._feature.size else np.zeros(1, dtype=np.intp)


def checked_rows(model: Estimator, X: MatrixLike) -> Matrix:
    """Rows as a classifier takes them.

    Parameters
    ----------
    model : classifier
        Fitted.
    X : {array-like, sparse matrix} of shape (n, d)

    Returns
    -------
    {ndarray, csr_array} of shape (n, d), float64
    """
    accepted = "csr" if get_tags(model).input_tags.sparse else False
    X = checked_data(model, X, accept_sparse=accepted, dtype=np.float64, reset=False)
    return sparse.csr_array(sum_duplicates(X)) if sparse.issparse(X) else X


def _finite(found: JointByFeature, X) -> JointByFeature:
    """The same; raise for a row whose scores overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite_scores(found.total, X)
    return found


def names_of_features(
    model: Estimator, d: int, given: ArrayLike | None = None
) -> NDArray[Any]:
    """Names of the features that an estimator, or the last one of a pipeline, gets.

    Parameters
    ----------
    model : estimator
        Fitted.
    d : int
        How many there are.
    given : array-like of str, shape (d,), default=None
        None takes those that it knows, or numbers.

    Returns
    -------
    ndarray of shape (d,)

    Raises
    ------
    ValueError
        If the names given are not d.
    """
    if given is None:
        given = _own_names(model)
    if given is None:
        given = [f"feature {s}" for s in range(d)]
    if len(given) != d:
        raise ValueError(
            f"feature_names has {len(given)} names; the estimator gets {d} features"
        )
    return np.asarray(given)


def _own_names(model):
    """Names of the columns that the estimator gets, None if they have none."""
    if not isinstance(model, Pipeline):
        return getattr(model, "feature_names_in_", None)
    if not model[:-1]:
        return _own_names(model[-1])
    try:
        return model[:-1].get_feature_names_out()
    except AttributeError:  # of a step that makes no names
        return None
