"""What each feature adds in a mixture, and behind functions of one feature each.

The log of a sum is no sum of logs: a mixture has no exact terms. What its members add
is averaged, with their posterior weights for the row and the class that is predicted.
"""

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from memdlib.estimator import log_posterior
from memdlib.generative.explanations import (
    JointByFeature,
    NotAdditiveError,
    checked_rows,
    joint_by_feature,
)
from memdlib.generative.recommended.features import LinearSplines
from memdlib.generative.recommended.mixed import MixedMeMdClassifier


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


def joint_by_column(model: BaseEstimator, X: NDArray) -> JointByFeature:
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
