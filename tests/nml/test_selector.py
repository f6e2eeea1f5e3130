import itertools
import math
import re

import numpy as np
import pytest
from scipy import optimize

from compendium.study.preparations import ExpressionFilter
from memdlib.nml import (
    Codelength,
    NMLFeatureSelector,
    conditional_codelength,
    conditional_complexity_estimate,
    selector,
)
from tests.data import load_or_skip


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
    model = NMLFeatureSelector(n_moments=(m,), n_bins=3).fit(X, y)
    levels = model.quantiser_.transform(X)
    x = levels[:, 2] + 1.0
    assert np.bincount(levels[:, 2], minlength=3).min() > 0
    total = sum(
        math.exp(supremum(x, np.array(labels), m))
        for labels in itertools.product((0, 1), repeat=7)
    )
    assert model.complexities_[2, 0] == pytest.approx(math.log(total), abs=1e-3)
    assert model.errors_[2, 0] == pytest.approx(-supremum(x, y, m), abs=1e-3)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature_and_one_moment_at_a_time(strategy, intercept):
    X, y = simulated()
    model = NMLFeatureSelector(4, n_bins=4, strategy=strategy, intercept=intercept)
    model.fit(X, y)
    levels = model.quantiser_.transform(X)
    for j, x in enumerate(levels.T):
        single = [conditional_codelength(x + 1, y, m, intercept) for m in range(1, 5)]
        total = np.array([s.total for s in single])
        np.testing.assert_allclose(model.codelengths_[j], total, rtol=0, atol=1e-11)
        np.testing.assert_allclose(
            model.errors_[j], [s.error for s in single], rtol=0, atol=1e-11
        )
        least = total.min()
        assert model.feature_codelengths_[j] == pytest.approx(least, abs=1e-11)
        chosen = model.best_n_moments_[j]
        assert chosen == 1 + np.flatnonzero(total < least + 1e-9)[0]
    np.testing.assert_array_equal(
        model.codelengths_, model.errors_ + model.complexities_
    )
    np.testing.assert_array_equal(
        model.order_,
        sorted(range(6), key=lambda j: (round(model.feature_codelengths_[j], 9), j)),
    )


def test_what_is_kept():
    X, y = simulated()
    model = NMLFeatureSelector(2, n_features=2).fit(X, y)
    assert model.get_support().sum() == 2
    kept = np.sort(model.order_[:2])
    np.testing.assert_array_equal(model.transform(X), X[:, kept])
    assert NMLFeatureSelector(2).fit(X, y).get_support().all()
    assert model.n_moments_.tolist() == [1, 2]
    assert NMLFeatureSelector([3, 1, 3]).fit(X, y).n_moments_.tolist() == [1, 3]


def test_with_one_occupancy_nml_ranks_by_error():
    """No ties and equal frequencies: all features pay the same complexity."""
    rng = np.random.default_rng([72, 5])
    X, y = rng.normal(size=(25, 40)), np.arange(25) % 2
    nml = NMLFeatureSelector((2,), strategy="quantile").fit(X, y)
    error = NMLFeatureSelector((2,), strategy="quantile", criterion="error").fit(X, y)
    assert np.ptp(nml.complexities_) < 1e-12
    np.testing.assert_array_equal(nml.order_, error.order_)


def test_the_error_alone_takes_all_moments():
    X, y = simulated(n=30, d=20, seed=3)
    model = NMLFeatureSelector(5, n_bins=5, criterion="error").fit(X, y)
    errors = model.errors_[np.arange(20), model.best_n_moments_ - 1]
    np.testing.assert_allclose(errors, model.errors_[:, -1], rtol=0, atol=1e-9)
    chosen = NMLFeatureSelector(5, n_bins=5).fit(X, y).best_n_moments_
    assert chosen.mean() < model.best_n_moments_.mean()


@pytest.mark.parametrize("n_features", [1, 3])
def test_differences_of_rounding_do_not_decide(monkeypatch, n_features):
    """Below a billionth of a nat ties; above, the shorter code comes first."""
    X, y = simulated(d=4)
    error = np.array([[3.0, 4.0], [3.0 - 1e-12, 5.0], [9.0, 3.0 - 1e-7], [4.0, 4.0]])
    error[3, 1] -= 1e-13
    found = Codelength(error, np.zeros((4, 2)), np.zeros((4, 2)), "table")
    monkeypatch.setattr(selector, "feature_codelengths", lambda *a, **k: found)
    model = NMLFeatureSelector(2, n_features).fit(X, y)
    assert model.order_.tolist() == [2, 0, 1, 3]
    assert model.best_n_moments_.tolist() == [1, 1, 2, 1]
    assert model.n_selected_ == n_features
    assert np.flatnonzero(model.get_support()).tolist() == sorted(
        [2, 0, 1, 3][:n_features]
    )


def test_a_feature_and_its_mirror_image_keep_the_order_of_the_columns():
    """Their codes are equally long, but not to the last digit."""
    rng = np.random.default_rng([72, 6])
    X, y = rng.normal(size=(24, 30)), np.arange(24) % 2
    for both in (np.hstack([X, -X]), np.hstack([-X, X])):
        model = NMLFeatureSelector(3, intercept=True).fit(both, y)
        first, second = np.split(model.feature_codelengths_, 2)
        assert (first > second).any()
        assert (first < second).any()
        place = np.argsort(model.order_)
        assert (place[:30] < place[30:]).all()


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [0, 0, 0], "y holds one class only (0); give two classes"),
        ({}, [0, 1, 2], "y holds 3 classes; compare them two at a time"),
        (
            {"n_moments": 0},
            [0, 1, 1],
            "'n_moments' parameter of NMLFeature",
        ),
        ({"n_moments": ()}, [0, 1, 1], "n_moments is empty"),
        (
            {"criterion": "aic"},
            [0, 1, 1],
            "'criterion' parameter of NMLFeature",
        ),
        (
            {"n_features": 3},
            [0, 1, 1],
            "n_features=3 is out of range: X has 1 features",
        ),
    ],
)
def test_bad_input(parameters, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        NMLFeatureSelector(**parameters).fit([[1.0], [2.0], [4.0]], y)


@pytest.mark.parametrize(
    ("strategy", "least", "gene"),
    [
        ("uniform", 7.395312, "M55150_at"),
        ("quantile", 8.805997, "M27891_at"),
        ("kmeans", 7.425537, "X95735_at"),
    ],
)
def test_leukemia(strategy, least, gene):
    """Figures of another implementation, for the genes that matter."""
    bunch = load_or_skip("leukemia")
    train = bunch.split == "train"
    screen = ExpressionFilter().fit(bunch.X[train])
    X, y = screen.transform(bunch.X[train]), bunch.y[train]
    names = screen.get_feature_names_out(bunch.feature_names)
    assert X.shape == (38, 3051)
    contrast = abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0)
    best = np.argsort(-contrast)[:150]
    model = NMLFeatureSelector((1, 2, 5), strategy=strategy).fit(X[:, best], y)
    assert model.feature_codelengths_.min() == pytest.approx(least, abs=1e-6)
    assert names[best[model.order_[0]]] == gene
    assert model.null_codelength_ == pytest.approx(24.9931091317, abs=1e-9)
    # the sources' sharp drop, for good genes
    top = model.codelengths_[model.order_[:25]]
    assert (top[:, 1] < top[:, 0]).all()


def test_levels_and_labels_are_counted():
    """Also of levels without rows; all tables have a row a feature."""
    X, y = simulated(n=13)
    X[:, 1] = np.where(X[:, 1] > 0.5, 9.0, 0.0)
    for n_bins, n_moments in ((3, (1, 2)), (6, (2,))):
        model = NMLFeatureSelector(n_moments, n_bins=n_bins).fit(X, y)
        levels = model.quantiser_.transform(X)
        assert model.quantiser_.n_bins == n_bins
        for j in range(6):
            counts = np.bincount(levels[:, j], minlength=n_bins)
            ones = np.bincount(levels[:, j], y, n_bins)
            assert model.level_counts_[j].tolist() == counts.tolist()
            assert model.level_ones_[j].tolist() == ones.tolist()
        for name in ("errors", "complexities", "uncertainties", "codelengths"):
            table = getattr(model, f"{name}_")
            assert table.shape == (6, len(n_moments))
            assert table.dtype == np.float64
        assert model.methods_.shape == (6, len(n_moments))
        for i, m in enumerate(n_moments):
            found = conditional_complexity_estimate(model.level_counts_, m)
            assert model.methods_[:, i].tolist() == found.method.tolist()
            np.testing.assert_allclose(
                model.uncertainties_[:, i], found.uncertainty, rtol=1e-9, atol=1e-15
            )


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        (np.int64(2), [1, 2]),
        (range(2, 4), [2, 3]),
        (np.array([3, 1]), [1, 3]),
        ((2,), [2]),
    ],
)
def test_numbers_of_moments_in_any_form(asked, numbers):
    X, y = simulated()
    model = NMLFeatureSelector(asked, n_bins=3).fit(X[:, :2], y)
    assert model.n_moments_.tolist() == numbers
    assert model.n_moments_.dtype == np.int64
    assert set(model.best_n_moments_) <= set(numbers)


def test_labels_must_be_classes():
    X, y = simulated()
    with pytest.raises(ValueError, match="Unknown label type"):
        NMLFeatureSelector(1).fit(X, y + 0.5)
    model = NMLFeatureSelector(1, n_bins=2).fit(X, np.where(y, 7.0, -2.0))
    assert model.classes_.tolist() == [-2.0, 7.0]


def test_shares_of_the_features():
    X, y = simulated()
    model = NMLFeatureSelector(2, 0.5, n_bins=3).fit(X, y)
    assert model.n_selected_ == 3
    assert model.transform(X).shape == (12, 3)
    assert model.__sklearn_tags__().classifier_tags.multi_class is False
