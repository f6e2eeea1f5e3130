import numpy as np
import pytest

from compendium.study.preparations import ExpressionFilter
from memdlib.nml import NMLFeatureSelector, conditional_codelength
from tests.data import load_or_skip


def simulated(n=12, d=6, seed=1):
    rng = np.random.default_rng([72, seed])
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + np.linspace(0, 3, d) * y[:, None]
    X[:, 0] = 4.0
    return X, y


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_feature_and_one_moment_at_a_time(strategy, intercept):
    X, y = simulated()
    model = NMLFeatureSelector(
        n_moments=4, n_bins=4, strategy=strategy, intercept=intercept
    )
    model.fit(X, y)
    levels = model.quantiser_.transform(X)
    for j, x in enumerate(levels.T):
        codes = [
            conditional_codelength(x + 1, y, m, intercept=intercept)
            for m in range(1, 5)
        ]
        total = np.array([code.total for code in codes])
        error = [code.error for code in codes]
        least = total.min()
        np.testing.assert_allclose(model.codelengths_[j], total, rtol=0, atol=1e-11)
        np.testing.assert_allclose(model.errors_[j], error, rtol=0, atol=1e-11)
        assert model.feature_codelengths_[j] == pytest.approx(least, abs=1e-11)
        chosen = model.best_n_moments_[j]
        assert chosen == 1 + np.flatnonzero(total < least + 1e-9)[0]
    whole = model.errors_ + model.complexities_
    np.testing.assert_array_equal(model.codelengths_, whole)
    least = model.feature_codelengths_.round(9)
    assert model.order_.tolist() == np.argsort(least, kind="stable").tolist()


def test_what_is_kept():
    X, y = simulated()
    model = NMLFeatureSelector(n_moments=2, n_features=2).fit(X, y)
    assert model.get_support().sum() == 2
    kept = np.sort(model.order_[:2])
    np.testing.assert_array_equal(model.transform(X), X[:, kept])
    assert NMLFeatureSelector(n_moments=2).fit(X, y).get_support().all()
    assert model.n_moments_.tolist() == [1, 2]
    assert NMLFeatureSelector(n_moments=[3, 1, 3]).fit(X, y).n_moments_.tolist() == [
        1,
        3,
    ]


def test_a_feature_and_its_mirror_image_keep_the_order_of_the_columns():
    """Their codes are equally long, but not to the last digit."""
    rng = np.random.default_rng([72, 6])
    X = rng.normal(size=(24, 30))
    y = np.arange(24) % 2
    for both in (np.hstack([X, -X]), np.hstack([-X, X])):
        model = NMLFeatureSelector(n_moments=3, intercept=True).fit(both, y)
        first, second = np.split(model.feature_codelengths_, 2)
        assert (first > second).any()
        assert (first < second).any()
        position = np.argsort(model.order_)
        assert (position[:30] < position[30:]).all()


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
    X = screen.transform(bunch.X[train])
    y = bunch.y[train]
    names = screen.get_feature_names_out(bunch.feature_names)
    assert X.shape == (38, 3051)
    contrast = abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0)
    best = np.argsort(-contrast)[:60]
    model = NMLFeatureSelector(n_moments=(1, 2, 5), strategy=strategy).fit(
        X[:, best], y
    )
    assert model.feature_codelengths_.min() == pytest.approx(least, abs=1e-6)
    assert names[best[model.order_[0]]] == gene
    assert model.null_codelength_ == pytest.approx(24.9931091317, abs=1e-9)
    # the sources' sharp drop, for good genes
    top = model.codelengths_[model.order_[:25]]
    assert (top[:, 1] < top[:, 0]).all()
