import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from memdlib.nml import LevelQuantiser


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_thresholds_of_scikit_learn(strategy):
    X = np.random.default_rng([71, 1]).normal(size=(38, 50))
    peer = KBinsDiscretizer(
        5, encode="ordinal", strategy=strategy, quantile_method="linear"
    ).fit(X)
    model = LevelQuantiser(5, strategy=strategy).fit(X)
    edges = np.array([e[1:-1] for e in peer.bin_edges_])
    np.testing.assert_allclose(model.thresholds_, edges, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(model.transform(X), peer.transform(X))


def within(x, levels):
    return sum(
        ((x[levels == level] - x[levels == level].mean()) ** 2).sum()
        for level in np.unique(levels)
    )


@pytest.mark.parametrize("n_bins", [1, 2, 3, 4])
def test_no_partition_is_better_than_kmeans(n_bins):
    rng = np.random.default_rng([71, 2])
    for n in (1, 2, 5, 8):
        X = rng.integers(-3, 4, (n, 20)) * 0.1 + 50.0
        X[:, ::2] += rng.normal(size=(n, 10))
        levels = LevelQuantiser(n_bins, strategy="kmeans").fit_transform(X)
        for x, found in zip(X.T, levels.T, strict=True):
            ordered = np.sort(x)
            least = np.inf
            for cuts in itertools.combinations(range(1, n), min(n_bins, n) - 1):
                parts = np.split(ordered, cuts)
                cost = sum(((p - p.mean()) ** 2).sum() for p in parts)
                least = min(least, cost)
            assert within(x, found) == pytest.approx(least, abs=1e-10)
            assert len(set(found)) == min(n_bins, len(set(x)))


def test_a_constant_feature_later_on():
    model = LevelQuantiser(5).fit([[2.0], [2.0], [2.0]])
    assert model.transform([[1.0], [2.0], [3.0]]).ravel().tolist() == [0, 0, 4]


@pytest.mark.parametrize("unit", [1.0, 0.1, 3.3, 1e-90, 1e90])
@pytest.mark.parametrize("zero", [0, 4, 10, 25])
@pytest.mark.parametrize("n_bins", [2, 3, 5, 10])
def test_levels_of_equal_width_are_those_of_fractions(n_bins, zero, unit):
    """Also of negative values only, and of values far from zero."""
    steps = np.array([0, 1, 2, 3, 5, 6, 7, 8, 10])
    X = np.column_stack([unit * (steps - zero), unit * (zero - steps[::-1])])
    model = LevelQuantiser(n_bins).fit(X)
    levels = model.transform(X)
    for s, at in enumerate((steps, 10 - steps[::-1])):
        expected = [
            sum(Fraction(10 * i, n_bins) < int(v) for i in range(1, n_bins)) for v in at
        ]
        assert levels[:, s].tolist() == expected
    cuts = unit * (10 * np.arange(1, n_bins) / n_bins - zero)
    np.testing.assert_allclose(
        model.thresholds_[0], cuts, rtol=0, atol=1e-14 * unit * 30
    )


@pytest.mark.parametrize("n_bins", [2, 5])
def test_many_values_are_cut_as_by_the_plain_dynamic_program(n_bins):
    """More values than are searched at once."""
    x = np.sort(np.random.default_rng([71, 3]).exponential(size=400))
    levels = LevelQuantiser(n_bins, strategy="kmeans").fit_transform(x[:, None])[:, 0]
    # squared distances of the values i to j - 1 from their mean
    total = np.concatenate([[0.0], np.cumsum(x)])
    squares = np.concatenate([[0.0], np.cumsum(x**2)])
    least = np.full(401, np.inf)
    least[0] = 0.0
    for _ in range(n_bins):
        extended = np.full(401, np.inf)
        for j in range(1, 401):
            cluster_total = total[j] - total[:j]
            cost = squares[j] - squares[:j] - cluster_total**2 / np.arange(j, 0, -1)
            extended[j] = (least[:j] + cost).min()
        least = extended
    assert within(x, levels) == pytest.approx(least[400], rel=1e-10)
