"""What every classifier has to do, whichever way it computes.

The classifiers are found in the public names. A new one needs a reference here: its
scores in numbers of many digits, from the training rows, or from its fitted parameters
where these depend on the far class.
"""

import re
import warnings
from functools import singledispatch

import mpmath
import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from memdlib import (
    ConditionalMaxEntClassifier,
    JointMaxEntClassifier,
    MeMdClassifier,
    make_memd,
)
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    MixtureClassifier,
    MultinomialMeMdClassifier,
    RegularisedMeMdClassifier,
)
from memdlib.nml import NMLClassifier
from tests.scikit_learn import public

# Standard deviations, and how many classes are so far away.
FAR = [(1e2, 1), (-1e4, 2), (1e6, 2), (-1e8, 1), (1e10, 1), (-1e12, 2)]

LEFT_OUT = {NMLClassifier: "two classes only"}
# of texts there is no pipeline here: documents count as directions, none of them far
SETTINGS = [
    CorrelatedMeMdClassifier(2, variance_shrinkage=0.2),
    CorrelatedMeMdClassifier("auto", random_state=0),
    JointMaxEntClassifier("pooled"),
    JointMaxEntClassifier("diagonal"),
    MeMdClassifier(family="poisson", smoothing=0.0),
    RegularisedMeMdClassifier(0.2, 0.9, "auto"),
    make_memd("expression", random_state=0),
    make_memd("table", random_state=0, cv=2),
]


def classifiers():
    left = public(ClassifierMixin) - LEFT_OUT.keys()
    return sorted(left, key=lambda kind: kind.__name__)


exact = np.vectorize(mpmath.mpf, otypes=[object])
log = np.vectorize(mpmath.log, otypes=[object])
exp = np.vectorize(mpmath.exp, otypes=[object])


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(60):
        yield


def shares(y):
    return exact(np.bincount(y)) / len(y)


def means(X, y):
    return np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])


def covariances(X, y):
    rest = X - means(X, y)[y]
    return np.array(
        [rest[y == k].T @ rest[y == k] / (y == k).sum() for k in range(y.max() + 1)]
    )


def scaled(S):
    """Standard deviations and correlations."""
    deviations = np.array([mpmath.sqrt(v) for v in np.diag(S)])
    return deviations, S / np.outer(deviations, deviations)


def less_correlated(R, shrinkage):
    return R * (1 - shrinkage) + shrinkage * exact(np.eye(len(R)))


def normal(new, y, centres, S):
    """Joint log densities under one covariance a class, by elimination."""
    found = []
    for prior, centre, own in zip(shares(y), centres, S, strict=True):
        own, rest, score = own.copy(), new - centre, mpmath.log(prior)
        for j, row in enumerate(own):
            pivot, after = row[j], slice(j + 1, None)
            score = score - (mpmath.log(pivot) + rest[:, j] ** 2 / pivot) / 2
            rest[:, after] -= np.outer(rest[:, j], row[after] / pivot)
            own[after, after] -= np.outer(row[after], row[after] / pivot)
        found.append(score)
    return np.array(found).T


@singledispatch
def reference(model, X, y, new):
    raise NotImplementedError(f"no reference for {type(model).__name__}")


@reference.register
def _(model: Pipeline, X, y, new):
    for _, step in model.steps[:-1]:
        X, new = step.transform(X), step.transform(new)
    return reference(model[-1], X, y, new)


@reference.register
def _(model: JointMaxEntClassifier, X, y, new):
    X, new = exact(X), exact(new)
    S, shrinkage = covariances(X, y), np.broadcast_to(model.shrinkage_, y.max() + 1)
    pooled = np.tensordot(shares(y), S, 1)
    if model.covariance == "diagonal":
        kept = exact(np.eye(X.shape[1]))
        S = (S * (1 - shrinkage[0]) + pooled * shrinkage[0]) * kept
        return normal(new, y, means(X, y), S)
    if model.covariance == "pooled":
        S = [pooled for _ in S]
    found = []
    for own, g in zip(S, shrinkage, strict=True):
        deviations, R = scaled(own)
        found.append(np.outer(deviations, deviations) * less_correlated(R, float(g)))
    return normal(new, y, means(X, y), found)


@reference.register
def _(model: MeMdClassifier, X, y, new):
    used = model.order_[: model.n_selected_]
    X, new = exact(X)[:, used], exact(new)[:, used]
    if model.family == "poisson":
        lam = exact(model.natural_params_[:, used, 0])
        return log(shares(y)) - exp(-lam).sum(axis=1) - new @ lam.T
    S = covariances(X, y)
    pooled = np.tensordot(shares(y), S, 1)
    g = float(model.shrinkage_)
    S = (S * (1 - g) + pooled * g) * exact(np.eye(X.shape[1]))
    return normal(new, y, means(X, y), S)


@reference.register
def _(model: MultinomialMeMdClassifier, X, y, new):
    theta, new = exact(model.mean_params_[..., 0]), exact(new)
    kept, rest = np.split(model.order_, [model.n_selected_])
    score = log(shares(y)) + new[:, kept] @ log(theta[:, kept]).T
    if len(rest):
        score = score + np.outer(
            new[:, rest].sum(axis=1), log(theta[:, rest].sum(axis=1))
        )
    return score


@reference.register
def _(model: CorrelatedMeMdClassifier, X, y, new):
    X, new = exact(X), exact(new)
    S = np.tensordot(shares(y), covariances(X, y), 1)
    deviations, R = scaled(S)
    middle, g = np.median(np.diag(S)), model.variance_shrinkage_
    wide = np.array([mpmath.sqrt(v * (1 - g) + g * middle) for v in deviations**2])
    R = less_correlated(R, model.shrinkage_)
    centres, new = means(X, y) / wide, new / wide
    if model.n_selected_ == X.shape[1]:
        return normal(new, y, centres, [R] * len(centres))
    values, vectors = mpmath.eigsy(mpmath.matrix(R.tolist()))
    vectors = np.array(vectors.tolist(), dtype=object)
    root = (vectors / np.array([mpmath.sqrt(v) for v in values])) @ vectors.T
    used = model.order_[: model.n_selected_]
    one = exact(np.eye(len(used)))
    centres, new = ((part @ root)[:, used] for part in (centres, new))
    return normal(new, y, centres, [one] * len(centres))


@reference.register
def _(model: RegularisedMeMdClassifier, X, y, new):
    X, new = exact(X), exact(new)
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.where(high > low, high - low, 1)
    X, new = X / width, np.clip(new, low, high) / width
    S = covariances(X, y)
    pooled = np.tensordot(shares(y), S, 1)
    deviations, R = scaled(pooled)
    middle, g = np.median(np.diag(pooled)), model.variance_shrinkage_
    wide = np.array([mpmath.sqrt(v * (1 - g) + g * middle) for v in deviations**2])
    common = np.outer(wide, wide) * less_correlated(R, model.shrinkage_)
    h = model.class_shrinkage
    return normal(new, y, means(X, y), [h * common + (1 - h) * own for own in S])


@reference.register
def _(model: ConditionalMaxEntClassifier, X, y, new):
    return exact(new) @ exact(model.coef_).T + exact(model.intercept_)


@reference.register
def _(model: MixtureClassifier, X, y, new):
    table, total = model.cv_results_, 0
    weights = dict(zip(table["name"], table["weight"], strict=True))
    for name, member in model.named_estimators_.items():
        found = model.calibrations_[name]
        share = mpmath.mpf(found.uniform_share)
        score = reference(member, X, y, new) * mpmath.mpf(found.multipliers[0])
        p = exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        total += mpmath.mpf(weights[name]) * ((1 - share) * p + share / p.shape[1])
    return log(total)


def near_and_far(distance, n_far, counts):
    """Two classes that overlap, and one or two that are far from both."""
    rng = np.random.default_rng(12)
    y = np.arange(15 * (2 + n_far)) % (2 + n_far)
    if counts:
        X = rng.poisson(4.0 + 2.0 * (y[:, None] == np.arange(3))).astype(float)
        X[y > 1, 0] += abs(distance)
        return X, y
    X = rng.normal(size=(len(y), 3)) @ [
        [1.0, 0.5, 0.0],
        [0.0, 1.0, 0.3],
        [0.2, 0.0, 2.0],
    ]
    X += np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5], [0.0, 0.0, 1.0], [1, 0, 0]])[y]
    X[y > 1] += np.multiply(distance, [1.0, -0.7, 0.0])
    return X, y


def name(model):
    return re.sub(r"\s+|random_state=0", "", str(model))[:80]


@pytest.mark.parametrize("model", [*(k() for k in classifiers()), *SETTINGS], ids=name)
@pytest.mark.parametrize(("distance", "n_far"), FAR)
def test_far_classes_keep_the_digits_of_near_ones(model, distance, n_far):
    counts = get_tags(model).input_tags.positive_only or (
        getattr(model, "family", None) == "poisson"
    )
    X, y = near_and_far(distance, n_far, counts)
    new = X[y < 2][::3] + 0.125
    with warnings.catch_warnings():
        # features of such scales leave some solvers unfinished
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).fit(X, y)
    found = exact(fitted.decision_function(new))
    expected = reference(fitted, X, y, new)
    lost = (found - expected)[:, 1] - (found - expected)[:, 0]
    assert abs(lost).max() < 1e-10
