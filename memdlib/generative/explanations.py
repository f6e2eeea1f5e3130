"""Why this class: what each feature adds to the score of a row.

Scores of independent features are sums over the features, and linear scores are. So

    decision_function(x) = base + sum_s value_s(x),

in nats. For two classes this is the log-odds of the second. For more, where only
differences between classes matter, score and values of a class are those beyond the
average of the classes.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from memdlib._types import Estimator, Matrix, MatrixLike
from memdlib.generative.correlated.ridge import (
    RidgeDiscriminantClassifier,
    holds_any,
    with_one_more_row,
)
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.weighting import weighted_rows
from memdlib.validation import check_integer, checked_data

Array = NDArray[np.float64]


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
    """

    classes: NDArray
    feature_names: NDArray
    base: Array
    values: tuple

    @property
    def total(self) -> Array:
        """Base and values added, (n,) for two classes, else (n, K).

        For two classes it is ``decision_function``; for more it is that less its mean
        over the classes (over those that are possible, if some have the prior zero).
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
        Fitted. A classifier of memdlib whose score is a sum over features, a linear one
        of scikit-learn, or a pipeline that ends in one of them.
    X : {array-like, sparse matrix} of shape (n, d)
        Whatever ``model.predict`` takes. The features are the columns that the last
        step of a pipeline gets, such as words after a ``CountVectorizer``.
    feature_names : array-like of str, shape (d,), default=None
        None takes those that the model knows, or numbers.

    Returns
    -------
    Contributions
        ``total`` is ``decision_function``: the calibrated score, before any mixture
        with uniform posteriors.

    Raises
    ------
    ValueError
        If the score is no such sum, or of a row that overflows; if the names are not d.

    Notes
    -----
    The base is the score where no feature speaks:

    - families of values zero or above (counts, presence of words): a row of zeros, so
      that a word says something where it occurs, and sparse rows give sparse values;
    - all other families: the priors alone; a feature adds the log density of each
      class;
    - :class:`memdlib.generative.CorrelatedMeMdClassifier`: a row at the mean of the
      class means;
    - other linear classifiers: a row of zeros, so that the values depend on where each
      feature has its zero.

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
    if not np.isfinite(joint.total.max(axis=1)).all():
        raise ValueError("the scores of a row overflow; bring X to the scale of fit")
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
    return Contributions(model.classes_, names, *found)


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
    """

    base: Array
    values: list

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
        Fitted. Of one that is not registered the coefficients are read, if they are
        those of its decision function.
    X : {array-like, sparse matrix} of shape (n, d)

    Returns
    -------
    JointByFeature

    Raises
    ------
    ValueError
        If the score is no sum over features.
    """
    K = len(getattr(model, "classes_", ()))
    if K > 1 and len(getattr(model, "coef_", ())) in ((1, 2) if K == 2 else (K,)):
        found, score = _linear(model, X), model.decision_function(X)
        if K == 2:
            expected = found.total[:, 1] - found.total[:, 0]
        else:
            expected = found.total - found.total.mean(axis=1, keepdims=True)
            score = score - score.mean(axis=1, keepdims=True)
        if np.allclose(expected, score, rtol=1e-8):
            return found
    raise ValueError(
        f"the score of {type(model).__name__} is no sum over features; take a "
        "classifier of memdlib or a linear one of scikit-learn, or explain this one by "
        "sklearn.inspection.permutation_importance"
    )


def _linear(model, X) -> JointByFeature:
    X, coef, intercept = checked_rows(model, X), model.coef_, model.intercept_
    coef = np.asarray(coef, dtype=np.float64)
    if len(coef) < len(model.classes_):
        coef = np.vstack([np.zeros_like(coef), coef])
        intercept = np.append(0.0, intercept)
    return JointByFeature(intercept, [X @ sparse.diags_array(row) for row in coef])


@joint_by_feature.register
def _(model: Pipeline, X):
    return joint_by_feature(model[-1], model[:-1].transform(X) if model[:-1] else X)


@joint_by_feature.register
def _(model: MeMdClassifier, X):
    fitted = model._fitted
    X = fitted.marginals.family.observe(checked_rows(model, X))
    return JointByFeature(*fitted.scores.by_feature(X))


@joint_by_feature.register
def _(model: MultinomialMeMdClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    X = fitted.marginals.family.observe(X)
    values = [X @ sparse.diags_array(column) for column in fitted.scores.slopes.T]
    return JointByFeature(fitted.scores.log_prior, values)


@joint_by_feature.register
def _(model: CorrelatedMeMdClassifier, X):
    fitted, X = model._fitted, checked_rows(model, X)
    slopes, scores = fitted.scores.slopes[0], fitted.scores
    u = np.where(slopes.any(axis=0), X - scores.points[0], 0.0)
    return JointByFeature(scores.offsets[0], [u * slope for slope in slopes])


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
        second = scores.by_feature(counts)
        base = base + sure * second[0]
        values = [v + sure * w for v, w in zip(values, second[1], strict=True)]
    if fitted.known is not None:
        speaks = holds_any(X, fitted.known)
        base = np.where(speaks[:, None], base, np.log(fitted.class_prior))
        kept = sparse.diags_array(speaks.astype(np.float64))
        values = [kept @ v for v in values]
    return JointByFeature(base, values)


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
    return sparse.csr_array(X) if sparse.issparse(X) else X


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
