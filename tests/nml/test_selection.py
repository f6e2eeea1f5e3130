import itertools
import math
import os
import re

import numpy as np
import pytest
from scipy import optimize
from sklearn.utils.estimator_checks import parametrize_with_checks

from compendium.study.preparations import ExpressionFilter
from memdlib.datasets import load
from memdlib.nml import NMLMomentSelector, conditional_codelength
from memdlib.nml.levels import STRATEGIES


@parametrize_with_checks(
    [
        NMLMomentSelector(n_moments=2, n_levels=3),
        NMLMomentSelector(
            n_moments=(2, 3),
            n_levels=3,
            k=1,
            strategy="frequency",
            intercept=True,
            criterion="error",
        ),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def simulated(n=12, d=6, seed=1):
    rng = np.random.default_rng([72, seed])
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + np.linspace(0, 3, d) * y[:, None]
    X[:, 0] = 4.0
    return X, y


def supremum(x, labels, m):
    """Log-likelihood by a general optimiser, far enough out at separation."""
    powers = np.power.outer(x / x.max(), np.arange(1, m + 1))

    def loss(coefficients):
        logits = powers @ coefficients
        return np.logaddexp(0, logits).sum() - labels @ logits

    def slope(coefficients):
        return powers.T @ (1 / (1 + np.exp(-powers @ coefficients)) - labels)

    best = 0.0 if m == 0 else np.inf
    for scale in (0.0, 1.0, 30.0):
        start = np.where(np.arange(m) % 2, -scale, scale)
        with np.errstate(over="ignore"):
            best = min(best, optimize.minimize(loss, start, jac=slope).fun)
    return -best


@pytest.mark.parametrize("m", [1, 2])
def test_all_label_sequences_one_by_one(m):
    """Complexity from its definition: 2^n fits of a logistic regression."""
    X, y = simulated(n=7, d=3)
    model = NMLMomentSelector(n_moments=(m,), n_levels=3).fit(X, y)
    levels = model.quantiser_.transform(X)
    x = levels[:, 2].astype(float)
    assert np.bincount(levels[:, 2], minlength=4)[1:].min() > 0
    total = sum(
        math.exp(supremum(x, np.array(labels), m))
        for labels in itertools.product((0, 1), repeat=7)
    )
    assert model.complexities_[2, 0] == pytest.approx(math.log(total), abs=1e-3)
    assert model.errors_[2, 0] == pytest.approx(-supremum(x, y, m), abs=1e-3)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature_and_one_moment_at_a_time(strategy, intercept):
    X, y = simulated()
    model = NMLMomentSelector(4, n_levels=4, strategy=strategy, intercept=intercept)
    model.fit(X, y)
    levels = model.quantiser_.transform(X)
    for j, x in enumerate(levels.T):
        single = [conditional_codelength(x, y, m, intercept) for m in range(1, 5)]
        total = np.array([s.total for s in single])
        np.testing.assert_allclose(model.codelengths_[j], total, atol=1e-11)
        np.testing.assert_allclose(
            model.errors_[j], [s.error for s in single], atol=1e-11
        )
        least = total.min()
        assert model.feature_codelengths_[j] == pytest.approx(least, abs=1e-11)
        chosen = model.best_moments_[j]
        assert chosen == 1 + np.flatnonzero(total < least + 1e-9)[0]
    np.testing.assert_array_equal(
        model.codelengths_, model.errors_ + model.complexities_
    )
    np.testing.assert_array_equal(
        model.ranking_,
        sorted(range(6), key=lambda j: (round(model.feature_codelengths_[j], 9), j)),
    )


def test_what_is_kept():
    X, y = simulated()
    model = NMLMomentSelector(2, k=2).fit(X, y)
    assert model.get_support().sum() == 2
    kept = np.sort(model.ranking_[:2])
    np.testing.assert_array_equal(model.transform(X), X[:, kept])
    assert NMLMomentSelector(2).fit(X, y).get_support().all()
    assert model.moments_.tolist() == [1, 2]
    assert NMLMomentSelector([3, 1, 3]).fit(X, y).moments_.tolist() == [1, 3]


def test_equal_features_keep_their_order():
    X, y = simulated()
    twice = np.hstack([X, X])
    order = NMLMomentSelector(3).fit(twice, y).ranking_
    at = np.argsort(order)
    assert (at[:6] < at[6:]).all()
    np.testing.assert_array_equal(at[6:] - at[:6] > 0, np.full(6, True))


def test_names_of_the_classes_do_not_matter():
    X, y = simulated()
    first = NMLMomentSelector(3).fit(X, y)
    second = NMLMomentSelector(3).fit(X, np.where(y == 1, "a", "b"))
    assert second.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(first.codelengths_, second.codelengths_, atol=1e-11)


def test_with_one_occupancy_nml_ranks_by_error():
    """No ties and equal frequencies: all features pay the same complexity."""
    rng = np.random.default_rng([72, 5])
    X, y = rng.normal(size=(25, 40)), np.arange(25) % 2
    nml = NMLMomentSelector((2,), strategy="frequency").fit(X, y)
    error = NMLMomentSelector((2,), strategy="frequency", criterion="error").fit(X, y)
    assert np.ptp(nml.complexities_) < 1e-12
    np.testing.assert_array_equal(nml.ranking_, error.ranking_)


def test_the_error_alone_takes_all_moments():
    X, y = simulated(n=30, d=20, seed=3)
    model = NMLMomentSelector(5, n_levels=5, criterion="error").fit(X, y)
    errors = model.errors_[np.arange(20), model.best_moments_ - 1]
    np.testing.assert_allclose(errors, model.errors_[:, -1], atol=1e-9)
    chosen = NMLMomentSelector(5, n_levels=5).fit(X, y).best_moments_
    assert chosen.mean() < model.best_moments_.mean()


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [0, 0, 0], "y holds one class only (0); give two classes"),
        ({}, [0, 1, 2], "y holds 3 classes; compare them two at a time"),
        ({"n_moments": 0}, [0, 1, 1], "n_moments is 0; give an integer"),
        ({"n_moments": ()}, [0, 1, 1], "n_moments is empty"),
        ({"criterion": "aic"}, [0, 1, 1], "criterion='aic' must be one of"),
        ({"k": 3}, [0, 1, 1], "k=3 is out of range: X has 1 features"),
    ],
)
def test_bad_input(parameters, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        NMLMomentSelector(**parameters).fit([[1.0], [2.0], [4.0]], y)


@pytest.mark.parametrize(
    ("strategy", "least", "gene"),
    [
        ("width", 7.395312, "M55150_at"),
        ("frequency", 8.805997, "M27891_at"),
        ("kmeans", 7.425537, "X95735_at"),
    ],
)
def test_leukemia(strategy, least, gene):
    """Figures of another implementation, for the genes that matter."""
    if "MEMDLIB_DATA" not in os.environ:
        return
    bunch = load("leukemia")
    train = bunch.split == "train"
    screen = ExpressionFilter().fit(bunch.X[train])
    X, y = screen.transform(bunch.X[train]), bunch.y[train]
    names = screen.get_feature_names_out(bunch.feature_names)
    assert X.shape == (38, 3051)
    contrast = abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0)
    best = np.argsort(-contrast)[:150]
    model = NMLMomentSelector((1, 2, 5), strategy=strategy).fit(X[:, best], y)
    assert model.feature_codelengths_.min() == pytest.approx(least, abs=1e-6)
    assert names[best[model.ranking_[0]]] == gene
    assert model.null_codelength_ == pytest.approx(24.9931091317, abs=1e-9)
    # the sources' sharp drop, for good genes
    top = model.codelengths_[model.ranking_[:25]]
    assert (top[:, 1] < top[:, 0]).all()
