"""What every classifier has to do, whichever way it computes.

The classifiers are found in the public names. A new one needs a reference here: its
scores in numbers of many digits, from the training rows, or from its fitted parameters
where these depend on the far class.
"""

import re
import tempfile
import warnings
from functools import singledispatch
from operator import methodcaller

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from memdlib import (
    ConditionalMaxEntClassifier,
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MeMdClassifier,
    generative,
    make_memd,
)
from memdlib.nml import NMLClassifier
from tests.scikit_learn import public

# Standard deviations, and how many classes are so far away.
FAR = [(1e2, 1), (-1e4, 2), (1e6, 2), (-1e8, 1), (1e10, 1), (-1e12, 2)]

LEFT_OUT = {NMLClassifier: "two classes only"}
# of texts there is no pipeline here: documents count as directions, none of them far
SETTINGS = [
    generative.CorrelatedMeMdClassifier(2, variance_shrinkage=0.2),
    JointMaxEntClassifier("pooled"),
    JointMaxEntClassifier("diagonal"),
    MeMdClassifier(family="poisson", alpha=0.0),
    generative.RegularisedMeMdClassifier(
        0.2, correlation_shrinkage=0.9, variance_shrinkage="auto"
    ),
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
    parts = [rest[y == k] for k in range(y.max() + 1)]
    return np.array([part.T @ part / len(part) for part in parts])


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
    kind = "variance" if model.covariance == "diagonal" else "correlation"
    shrinkage = getattr(model, f"{kind}_shrinkage_")
    S, shrinkage = covariances(X, y), np.broadcast_to(shrinkage, y.max() + 1)
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
    g = float(model.variance_shrinkage_)
    S = (S * (1 - g) + pooled * g) * exact(np.eye(X.shape[1]))
    return normal(new, y, means(X, y), S)


@reference.register
def _(model: generative.MultinomialMeMdClassifier, X, y, new):
    theta, new = exact(model.mean_params_[..., 0]), exact(new)
    kept, rest = np.split(model.order_, [model.n_selected_])
    score = log(shares(y)) + new[:, kept] @ log(theta[:, kept]).T
    if len(rest):
        others = log(theta[:, rest].sum(axis=1))
        score = score + np.outer(new[:, rest].sum(axis=1), others)
    return score


@reference.register
def _(model: generative.CorrelatedMeMdClassifier, X, y, new):
    X, new = exact(X), exact(new)
    S = np.tensordot(shares(y), covariances(X, y), 1)
    deviations, R = scaled(S)
    middle, g = np.median(np.diag(S)), model.variance_shrinkage_
    wide = np.array([mpmath.sqrt(v * (1 - g) + g * middle) for v in deviations**2])
    R = less_correlated(R, model.correlation_shrinkage_)
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
def _(model: generative.RegularisedMeMdClassifier, X, y, new):
    X, new = exact(X), exact(new)
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.where(high > low, high - low, 1)
    X, new = X / width, np.clip(new, low, high) / width
    S = covariances(X, y)
    pooled = np.tensordot(shares(y), S, 1)
    deviations, R = scaled(pooled)
    middle, g = np.median(np.diag(pooled)), model.variance_shrinkage_
    wide = np.array([mpmath.sqrt(v * (1 - g) + g * middle) for v in deviations**2])
    common = np.outer(wide, wide) * less_correlated(R, model.correlation_shrinkage_)
    h = model.class_shrinkage
    return normal(new, y, means(X, y), [h * common + (1 - h) * own for own in S])


@reference.register
def _(model: ConditionalMaxEntClassifier, X, y, new):
    return exact(new) @ exact(model.coef_).T + exact(model.intercept_)


@reference.register
def _(model: generative.MixtureClassifier, X, y, new):
    table = model.cv_results_
    weights = dict(zip(table["name"], table["weight"], strict=True))
    total = mpmath.mpf(weights["class shares"]) * shares(y)
    for name, member in model.named_estimators_.items():
        found = model.calibrations_[name]
        share = mpmath.mpf(found.uniform_share)
        score = reference(member, X, y, new) * mpmath.mpf(found.multipliers[0])
        p = exp(score - score.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        total = total + mpmath.mpf(weights[name]) * (
            (1 - share) * p + share / p.shape[1]
        )
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


@pytest.mark.parametrize(
    ("model", "distance", "n_far"),
    [
        pytest.param(model, *far, id=f"{name(model)}-{far[0]:g}")
        for model in [*(k() for k in classifiers()), *SETTINGS]
        for far in (FAR[4:5] if isinstance(model, Pipeline) else FAR)
    ],
)
def test_far_classes_keep_the_digits_of_near_ones(model, distance, n_far):
    counts = get_tags(model).input_tags.positive_only
    counts |= getattr(model, "family", None) == "poisson"
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


# --- Writing the same data in another way --------------------------------------------

# Standardised inside, or families whose parameters change with the unit.
UNITS = [
    MeMdClassifier(n_features=3),
    JointMaxEntClassifier(),
    JointMaxEntClassifier("pooled"),
    JointMaxEntClassifier("diagonal"),
    generative.CorrelatedMeMdClassifier(3, correlation_shrinkage=0.2),
    generative.RegularisedMeMdClassifier(0.2, correlation_shrinkage=0.9),
    DivergenceRanker(n_features=3),
    GreedyGaussianRanker(n_features=3),
]
# Settings in which nothing is chosen by rows held out: these see a row of weight two
# and the same row written twice as one thing, and no order of rows.
FIXED = [
    *UNITS,
    MeMdClassifier("js", n_features=None, variance_shrinkage=0.3),
    MeMdClassifier(family="poisson", n_features=3, alpha=0.5),
    MeMdClassifier(family="bernoulli", n_features=3),
    MeMdClassifier(family="multinomial", n_features=None),
    generative.MultinomialMeMdClassifier(n_features=3),
    ConditionalMaxEntClassifier(tol=1e-7, max_iter=1000),
    GreedyInformationRanker(n_features=3),
    GreedyInformationRanker(n_features=3, family="poisson"),
    generative.DivergenceWeighter(),
]


def counted(seed=5):
    """Counts of three classes in six features, which every estimator here takes."""
    rng = np.random.default_rng(seed)
    y = np.arange(90) % 3
    return rng.poisson(1.0 + 3.0 * rng.random((3, 6))[y]).astype(float), y


def answer(fitted, X):
    """Log posteriors, what each feature is worth, or transformed rows."""
    if hasattr(fitted, "predict_log_proba"):
        return fitted.predict_log_proba(X)
    if hasattr(fitted, "order_"):
        return getattr(fitted, "gains_", getattr(fitted, "scores_", None))
    out = fitted.transform(X)
    return out.toarray() if sparse.issparse(out) else np.asarray(out, dtype=float)


def agree(found, expected, atol=1e-7):
    assert_allclose(found, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("model", FIXED, ids=name)
def test_weights_are_copies_and_rows_have_no_order(model):
    X, y = counted()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    one = clone(model).fit(X, y, sample_weight=weight)
    rows = np.repeat(range(len(y)), weight.astype(int))
    rows = np.random.default_rng(2).permutation(rows)
    agree(answer(clone(model).fit(X[rows], y[rows]), X), answer(one, X))


@pytest.mark.parametrize("model", FIXED, ids=name)
def test_labels_are_names_only(model):
    X, y = counted()
    names = np.array(["c", "b", "a"])
    one, other = clone(model).fit(X, y), clone(model).fit(X, names[y])
    if hasattr(one, "classes_") and hasattr(one, "predict_log_proba"):
        agree(answer(other, X)[:, ::-1], answer(one, X))
    else:
        agree(answer(other, X), answer(one, X))


def mapped(X):
    """The same numbers in a file."""
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, X.dtype, "w+", shape=X.shape)
    found[:] = X
    return found


SPARSE = ("csr", "csc", "coo", "parts")
DENSE = {
    "list": np.ndarray.tolist,
    "mapped": mapped,
    "fortran": np.asfortranarray,
    **{kind: methodcaller("astype", kind) for kind in ("float32", "int8", "int64")},
}


@pytest.mark.parametrize("model", FIXED, ids=name)
@pytest.mark.parametrize("form", [*SPARSE, *DENSE])
def test_other_types_of_the_same_numbers(model, form):
    X, y = counted()
    if form in DENSE:
        other = DENSE[form](X)
    elif not get_tags(model).input_tags.sparse:
        with pytest.raises(TypeError, match="dense data"):
            clone(model).fit(sparse.csr_array(X), y)
        if hasattr(model, "predict"):
            with pytest.raises(TypeError, match="dense data"):
                clone(model).fit(X, y).predict(sparse.csr_array(X))
        return
    elif form == "parts":  # each entry is stored as two
        whole = sparse.csr_array(X)
        parts = np.repeat(whole.data, 2) * np.tile([2.0, -1.0], whole.nnz)
        parts = parts, np.repeat(whole.indices, 2), 2 * whole.indptr
        other = sparse.csr_array(parts, X.shape)
    else:
        other = sparse.coo_array(X).asformat(form)
    before = getattr(other, "nnz", None)
    agree(answer(clone(model).fit(other, y), other), answer(clone(model).fit(X, y), X))
    assert getattr(other, "nnz", None) == before


@pytest.mark.parametrize("model", FIXED, ids=name)
def test_columns_have_no_order_and_a_constant_one_says_nothing(model):
    X, y = counted()
    order = np.random.default_rng(3).permutation(X.shape[1])
    one, other = clone(model).fit(X, y), clone(model).fit(X[:, order], y)
    if hasattr(one, "predict_log_proba"):
        agree(answer(other, X[:, order]), answer(one, X))
    elif hasattr(one, "order_"):
        assert order[other.order_].tolist() == one.order_.tolist()
    wide = np.column_stack([X, np.full(len(X), 3.0)])
    if not get_tags(model).input_tags.positive_only and hasattr(one, "predict"):
        fitted = clone(model).fit(wide, y)
        moved = wide + 50.0 * (np.arange(7) == 6)
        assert np.isfinite(answer(fitted, wide)).all()
        agree(answer(fitted, moved), answer(fitted, wide))


@pytest.mark.parametrize("model", UNITS, ids=name)
@pytest.mark.parametrize(("spread", "offset"), [(1, 0.0), (1, 1e6), (29, 0.0)])
def test_units_and_origins_are_conventions(model, spread, offset):
    rng = np.random.default_rng(4)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 5)) + rng.normal(size=(3, 5))[y]
    # powers of two, so that the other numbers are the same to the last digit
    unit = 2.0 ** (spread * np.array([-9, 0, 4, 10, -3]))
    sign = np.array([1, -1, 1, -1, 1])
    other = X * unit * sign + offset
    X = (other - offset) / (unit * sign)
    one, two = clone(model).fit(X, y), clone(model).fit(other, y)
    agree(answer(two, other), answer(one, X), atol=1e-5)
    if not hasattr(one, "predict"):
        assert two.order_.tolist() == one.order_.tolist()


@pytest.mark.parametrize(
    "model", [m for m in FIXED if hasattr(m, "class_weight")], ids=name
)
def test_weights_of_classes_are_weights_of_their_rows(model):
    X, y = counted()
    own = clone(model).set_params(class_weight={0: 3.0, 2: 0.5}).fit(X, y)
    weight = np.take([3.0, 1.0, 0.5], y)
    agree(answer(own, X), answer(clone(model).fit(X, y, sample_weight=weight), X))
    balanced = clone(model).set_params(class_weight="balanced").fit(X[5:], y[5:])
    if hasattr(balanced, "class_prior_"):
        agree(balanced.class_prior_, 1 / 3, atol=1e-12)


IN_BATCHES = pytest.mark.parametrize(
    "model", [m for m in FIXED if hasattr(m, "partial_fit")], ids=name
)


@IN_BATCHES
def test_classes_that_have_not_come_yet_are_never_predicted(model):
    X, y = counted()
    fitted = clone(model).partial_fit(X, y + 1, classes=range(5))
    proba = fitted.predict_proba(X)
    assert not proba[:, [0, 4]].any()
    agree(proba[:, 1:4], clone(model).fit(X, y).predict_proba(X), atol=1e-9)
    assert np.isfinite(fitted.natural_params_).all()


@IN_BATCHES
def test_batches_are_one_fit(model):
    X, y = counted()
    blocks = np.split(np.random.default_rng(6).permutation(len(y)), [1, 7, 40])
    parts = clone(model)
    for rows in blocks:
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    agree(answer(parts, X), answer(clone(model).fit(X, y), X), atol=1e-9)


@pytest.mark.parametrize("model", [k() for k in classifiers()], ids=name)
def test_rows_that_repeat_are_rows(model):
    X = np.repeat([[0.0], [1.0]], [800, 200], axis=0)
    y = np.repeat([0, 1, 0, 1], [640, 160, 40, 160])
    if get_tags(model).input_tags.positive_only:
        X = np.column_stack([X, 1 - X])
    assert clone(model).fit(X, y).score(X, y) == 0.8


@pytest.mark.parametrize("kind", ["table", "expression", "text"])
def test_posteriors_of_repeated_rows_are_their_shares(kind):
    y = np.repeat([0, 1, 0, 1], [320, 80, 20, 80])
    X = np.repeat(["no", "yes"], [400, 100])
    if kind != "text":
        X = (X == "yes")[:, None].astype(float)
    found = make_memd(kind, random_state=0).fit(X, y).predict_proba(X[[0, -1]])
    assert_allclose(found[:, 1], [0.2, 0.8], rtol=0, atol=0.03)
    assert make_memd(kind, random_state=0).fit(X, X.ravel()).score(X, X.ravel()) == 1


@pytest.mark.parametrize("model", [*(k() for k in classifiers()), *SETTINGS], ids=name)
def test_a_class_of_one_row_is_a_class(model):
    X, y = counted()
    X, y = X + 1, np.where(np.arange(len(y)) == 7, 3, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the class is that small
        fitted = clone(model).fit(X, y)
    proba = fitted.predict_proba(X)
    assert proba.shape == (len(y), 4)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()


@pytest.mark.parametrize(
    "model", [*(k() for k in classifiers()), *SETTINGS[:5]], ids=name
)
def test_a_far_row_is_scored_and_one_beyond_all_numbers_refused(model):
    X, y = counted()
    fitted = clone(model).fit(X, y)
    assert np.isfinite(fitted.predict_proba(1e98 * X)).all()
    with pytest.raises(ValueError, match=r"feature \d of X is 1e\+300"):
        fitted.predict(np.full((1, 6), 1e300))
