"""Weights of every scale and span: light rows, the order of rows, and what is counted.

Estimators are those of tests/test_behaviour.py, in which nothing is chosen by rows held
out, and all others where the rows that are held out stay the same.
"""

import warnings

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
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
from memdlib.families import Normal, Polynomial
from memdlib.generative.pooled import PooledMoments
from memdlib.moments import class_moments, joint_moments
from tests.test_behaviour import FIXED, agree, answer, counted, name

# Rows are held out by number: what a light row holds may not matter, its number does.
# Not so in make_memd("table"), whose first step takes all rows for equal.
HELD_OUT = [
    MeMdClassifier(random_state=0),
    generative.MultinomialMeMdClassifier(random_state=0),
    generative.MixtureClassifier(random_state=0),
    make_memd("expression", random_state=0, cv=2),
    make_memd("text", random_state=0, cv=2),
]
SPANNING = [
    *FIXED,
    JointMaxEntClassifier("diagonal", variance_shrinkage=0.0),
    MeMdClassifier(n_features=None, family=Polynomial(2, support=(0.0, 40.0))),
    MeMdClassifier(n_features=None, family="exponential"),
    MeMdClassifier(n_features=None, family="auto"),
    MeMdClassifier("jeffreys", n_features=None, family="geometric"),
]


def fit(model, X, y, weight):
    """Fit with weights, also a pipeline, which passes them to its last step."""
    prefix = "memd__" if hasattr(model, "steps") else ""
    return clone(model).fit(X, y, **{f"{prefix}sample_weight": weight})


@pytest.mark.parametrize("weight", [1e-100, 1e-50, 1e-20, 1e-12])
@pytest.mark.parametrize("model", SPANNING, ids=name)
def test_a_row_of_next_to_no_weight_is_no_row(model, weight):
    X, y = counted()
    everything = np.ones(len(y))
    # a row under another label, in every place
    light, label = X[1], y[0]
    expected = answer(fit(model, X, y, everything), X)
    for place in (0, 45, 90):
        found = fit(
            model,
            np.insert(X, place, light, axis=0),
            np.insert(y, place, label),
            np.insert(everything, place, weight),
        )
        agree(answer(found, X), expected, atol=2e-6)


@pytest.mark.parametrize("model", [*SPANNING, *HELD_OUT], ids=name)
def test_a_row_of_weight_zero_is_no_row(model):
    X, y = counted()
    everything = np.ones(len(y))
    found = fit(
        model,
        np.insert(X, 5, 1e6, axis=0),
        np.insert(y, 5, 1),
        np.insert(everything, 5, 0.0),
    )
    agree(answer(found, X), answer(fit(model, X, y, everything), X), atol=0)


@pytest.mark.parametrize("model", HELD_OUT, ids=name)
def test_what_a_light_row_holds_is_nothing(model):
    X, y = counted()
    weight = np.ones(len(y))
    weight[0] = 1e-12
    other = X.copy()
    other[0] = X[1]
    one, two = fit(model, X, y, weight), fit(model, other, y, weight)
    agree(answer(two, X[1:]), answer(one, X[1:]), atol=1e-5)


@pytest.mark.parametrize("span", [40, 100, 330])
@pytest.mark.parametrize("model", SPANNING, ids=name)
def test_rows_have_no_order_however_far_their_weights_span(model, span):
    X, y = counted()
    # halving every few rows, as in exponential forgetting
    weight = 40 * 2.0 ** -np.linspace(0, span, len(y))

    def answers(order):
        fitted = fit(model, X[order], y[order], weight[order])
        found = answer(fitted, X)
        return np.exp(found) if hasattr(fitted, "predict_log_proba") else found

    expected = answers(np.arange(len(y)))
    for order in (np.arange(len(y))[::-1], np.random.default_rng(3).permutation(90)):
        # the probability that a word is absent has few digits where it is near zero
        assert_allclose(answers(order), expected, rtol=1e-12, atol=3e-5)


def forgotten(n=160):
    """Two classes whose old rows lie at another level, and weigh next to nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    age = np.arange(n)[::-1]
    X = rng.normal(size=(n, 1)) * 1e-3 + 1e-3 * y[:, None]
    X[age > 130] += 1e4
    return X, y, 0.5 ** (age / 2.0)


@pytest.mark.parametrize(
    "model",
    [
        MeMdClassifier(n_features=None),
        JointMaxEntClassifier("diagonal", variance_shrinkage=0.0),
        JointMaxEntClassifier(correlation_shrinkage=0.0),
        MeMdClassifier(n_features=None, family={0: "normal"}, alpha=0.0),
    ],
    ids=name,
)
@pytest.mark.parametrize("batches", [1, 2, 7])
def test_forgetting_is_that_of_gaussian_naive_bayes(model, batches):
    X, y, weight = forgotten()
    reference = GaussianNB(var_smoothing=0).fit(X, y, weight)
    expected = reference.predict_proba(X[-20:])
    for order in (slice(None), slice(None, None, -1)):
        rows = np.arange(len(y))[order]
        found = clone(model)
        for batch in np.array_split(rows, batches):
            found.partial_fit(X[batch], y[batch], [0, 1], weight[batch])
        assert_allclose(found.predict_proba(X[-20:]), expected, rtol=0, atol=1e-9)


def exact_moments(x, weight):
    x, weight = ([mp.mpf(float(v)) for v in values] for values in (x, weight))
    total = mp.fsum(weight)
    mean = mp.fsum(map(mp.fmul, weight, x)) / total
    square = mp.fsum(w * (v - mean) ** 2 for w, v in zip(weight, x, strict=True))
    return float(mean), float(square / total)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("heavy", [0.0, 1e4, -3.0])
def test_moments_of_light_rows_far_away_keep_their_digits(kind, heavy, missing):
    """Also where the heavy rows are stored and a light one is not, and the reverse."""
    rng = np.random.default_rng(7)
    x = np.where(rng.random(40) < 0.5, 0.0, 1e6)
    weight = 10.0 ** rng.uniform(-30, -14, 40)
    x[10:20] = heavy + 1e-3 * rng.normal(size=10) * (heavy != 0)
    x[20:22] = heavy + np.array([0.0, 1e-3])
    weight[10:22] = 1.0
    known = np.ones(40, dtype=bool)
    X = np.column_stack([x, x[::-1]])
    weights = np.column_stack([weight, weight[::-1]])
    if missing:
        known[[0, 11, 21]] = False
    with mp.workdps(60):
        mean, variance = exact_moments(x[known], weight[known])
    for s in (0, 1):
        data = X[:, [s]].copy()
        data[~(known if s == 0 else known[::-1])] = np.nan
        codes = np.zeros(40, dtype=int)
        found = class_moments(
            kind(data), codes, 1, order=2, sample_weight=weights[:, s]
        )
        first, second = found.mean[0, 0]
        assert found.location[0, 0] + first == pytest.approx(mean, rel=1e-13, abs=1e-12)
        assert second - first**2 == pytest.approx(variance, rel=1e-11)
        if not missing and kind is np.asarray:
            joint = joint_moments(data, codes, 1, sample_weight=weights[:, s])
            first, second = joint.mean[0, 0]
            assert second - first**2 == pytest.approx(variance, rel=1e-11)
            pooled = PooledMoments.of(data, codes, 1, weights[:, s])
            assert pooled.variance[0] == pytest.approx(variance, rel=1e-11)


# --- Weights that are no counts -------------------------------------------------------

COUNTING = [
    MeMdClassifier(family="bernoulli", n_features=None),
    MeMdClassifier(family="auto", n_features=None),
    MeMdClassifier(n_features=None, variance_shrinkage="auto"),
    DivergenceRanker(family="poisson"),
    GreedyGaussianRanker(),
    GreedyInformationRanker(family="poisson"),
    JointMaxEntClassifier(),
    JointMaxEntClassifier("diagonal"),
    generative.CorrelatedMeMdClassifier(),
    generative.RegularisedMeMdClassifier(),
    generative.MultinomialMeMdClassifier(n_features=None),
    generative.DivergenceWeighter(),
    generative.MixtureClassifier(random_state=0),
    make_memd("table", random_state=0, cv=2),
    ConditionalMaxEntClassifier(),
]
FREE = [
    MeMdClassifier(random_state=0),
    MeMdClassifier(family=Normal(), n_features=2, variance_shrinkage=0.5),
    MeMdClassifier(family="multinomial", n_features=None, alpha=0.0),
    DivergenceRanker(),
    GreedyGaussianRanker(correlation_shrinkage=0.1),
    JointMaxEntClassifier("pooled", correlation_shrinkage=0.1),
    JointMaxEntClassifier("diagonal", variance_shrinkage=0.1),
    generative.CorrelatedMeMdClassifier(correlation_shrinkage=0.1),
    ConditionalMaxEntClassifier(C=np.inf),
    AdaBoostClassifier(MeMdClassifier(n_features=2), n_estimators=2),
]


def shares(y):
    return np.full(len(y), 1 / len(y))


@pytest.mark.parametrize("model", COUNTING, ids=name)
def test_weights_that_sum_to_one_are_named_with_a_remedy_that_helps(model):
    X, y = counted()
    weight = shares(y)
    with pytest.warns(UserWarning, match="90 rows sum to 1, .*divide .* their mean"):
        fit(model, X, y, weight)
    remedied = fit(model, X, y, weight / weight.mean())
    agree(answer(remedied, X), answer(clone(model).fit(X, y), X))


@pytest.mark.parametrize("model", FREE, ids=name)
def test_no_warning_where_only_ratios_of_weights_count(model):
    X, y = counted()
    X = X + 0.5
    if isinstance(model, AdaBoostClassifier):
        clone(model).fit(X, y)
        return
    with warnings.catch_warnings():
        # without a penalty, the classes here have no optimum to the tolerance
        warnings.filterwarnings("ignore", "solver=|classes seem")
        found, expected = fit(model, X, y, shares(y)), clone(model).fit(X, y)
    agree(answer(found, X), answer(expected, X), atol=1e-6)


def test_boosting_passes_weights_that_are_no_counts():
    X, y = counted()
    boosted = AdaBoostClassifier(
        generative.RegularisedMeMdClassifier(), n_estimators=2, random_state=0
    )
    with pytest.warns(UserWarning, match="the weights of 90 rows sum to 1, "):
        boosted.fit(X, y)


def test_batches_of_one_row_and_old_rows_are_no_shares():
    X, y = counted()
    model = MeMdClassifier(family="poisson")
    for i in range(4):
        model.partial_fit(X[[i]], y[[i]], classes=[0, 1, 2], sample_weight=[0.5])
    model.partial_fit(X[4:], y[4:], sample_weight=shares(y[4:]))
    with pytest.warns(UserWarning, match="86 rows sum to 1, ") as caught:
        clone(model).partial_fit(X[4:], y[4:], [0, 1, 2], shares(y[4:]))
    assert caught[0].filename == __file__


def test_small_weights_of_classes_are_named_too():
    X, y = counted()
    model = ConditionalMaxEntClassifier(class_weight=dict.fromkeys(range(3), 1e-3))
    with pytest.warns(UserWarning, match=r"90 rows sum to 0\.09, ") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert not get_tags(model).input_tags.allow_nan
