import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer

from memdlib.nml import LevelQuantiser

STRATEGIES = ("uniform", "quantile", "kmeans")


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_thresholds_of_scikit_learn(strategy):
    X = np.random.default_rng([71, 1]).normal(size=(38, 50))
    peer = KBinsDiscretizer(
        5, encode="ordinal", strategy=strategy, quantile_method="linear"
    ).fit(X)
    model = LevelQuantiser(5, strategy).fit(X)
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
        levels = LevelQuantiser(n_bins, "kmeans").fit_transform(X)
        for x, found in zip(X.T, levels.T, strict=True):
            ordered, least = np.sort(x), np.inf
            for cuts in itertools.combinations(range(1, n), min(n_bins, n) - 1):
                parts = np.split(ordered, cuts)
                cost = sum(((p - p.mean()) ** 2).sum() for p in parts)
                least = min(least, cost)
            assert within(x, found) == pytest.approx(least, abs=1e-10)
            assert len(set(found)) == min(n_bins, len(set(x)))


def test_kmeans_of_many_values_takes_little_memory():
    X = np.random.default_rng([71, 3]).normal(size=(4000, 1))
    tracemalloc.start()
    model = LevelQuantiser(4, "kmeans").fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a table of all intervals has 128 million bytes
    assert peak < 8e6
    levels = model.transform(X)[:, 0]
    centres = np.array([X[levels == level].mean() for level in range(4)])
    np.testing.assert_array_equal(np.abs(X - centres).argmin(axis=1), levels)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_equal_values_share_a_level_whatever_their_place(strategy):
    rng = np.random.default_rng([71, 4])
    X = rng.integers(0, 4, (40, 30)).astype(float)
    X[:, 0] = 2.0
    levels = LevelQuantiser(5, strategy).fit_transform(X)
    assert (levels[:, 0] == 0).all()
    assert levels.min() == 0
    assert levels.max() <= 4
    for x, found in zip(X.T, levels.T, strict=True):
        assert len(set(zip(x, found, strict=True))) == len(set(x))
    order = rng.permutation(40)
    np.testing.assert_array_equal(
        LevelQuantiser(5, strategy).fit_transform(X[order]), levels[order]
    )


def test_a_constant_feature_later_on():
    model = LevelQuantiser(5).fit([[2.0], [2.0], [2.0]])
    assert model.transform([[1.0], [2.0], [3.0]]).ravel().tolist() == [0, 0, 4]


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_neighbouring_floats_are_still_told_apart(strategy):
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2.0)]])
    assert LevelQuantiser(2, strategy).fit_transform(X).ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bins": 0}, "'n_bins' parameter.*Got 0"),
        ({"strategy": "ranks"}, "'strategy' parameter.*Got 'ranks'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LevelQuantiser(**parameters).fit([[1.0], [2.0]])


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


def test_only_rounding_puts_a_value_on_a_threshold():
    """A share of 1e-15 of the values is rounding, one of 4e-15 is not."""
    for sign in (1.0, -1.0):
        for share, level in ((1e-15, 0), (4e-15, 1)):
            x = np.array([0.0, 5.0 + 10.0 * share, 10.0])
            x = x if sign > 0 else x - 10.0
            found = LevelQuantiser(2).fit_transform(x[:, None])[:, 0]
            assert found.tolist() == [0, level, 1]


@pytest.mark.parametrize("n_bins", [2, 3, 4])
def test_of_equally_good_clusters_the_first_are_the_smallest(n_bins):
    """All partitions of whole numbers, with exact costs; cuts lie half way."""
    rng = np.random.default_rng([71, 6, n_bins])
    for _ in range(20):
        x = np.sort(rng.integers(0, 9, rng.integers(n_bins, 10)))
        values = sorted(set(x.tolist()))
        if len(values) < n_bins:
            values = sorted({*values, *range(n_bins)})
            x = np.array([*x, *range(n_bins)])

        def cost(cuts, x=x):
            total, ends = Fraction(0), [-1.0, *cuts, 99.0]
            for low, high in itertools.pairwise(ends):
                part = [int(v) for v in x if low < v <= high]
                mean = Fraction(sum(part), len(part))
                total += sum((v - mean) ** 2 for v in part)
            return total

        between = [(a + b) / 2 for a, b in itertools.pairwise(values)]
        ways = [(cost(c), c) for c in itertools.combinations(between, n_bins - 1)]
        least = min(ways)[0]
        equal = [c for total, c in ways if total == least]
        found = LevelQuantiser(n_bins, "kmeans").fit(x[:, None]).thresholds_[0]
        assert tuple(found) == min(equal, key=lambda c: c[::-1])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_levels_are_whole_numbers_of_any_numbers(strategy):
    """Lists, integers and single precision; the data stay as they are."""
    X = [[3, 8], [1, 9], [2, 5], [7, 5], [9, 4], [0, 1]]
    model = LevelQuantiser(3, strategy).fit(np.array(X, dtype=float))
    expected = model.transform(np.array(X, dtype=float))
    assert expected.dtype == np.int64
    assert expected.max() == 2
    for kind in (list, np.int16, np.float32):
        data = kind(X)
        again = LevelQuantiser(3, strategy).fit(data)
        assert again.thresholds_.dtype == np.float64
        np.testing.assert_array_equal(again.thresholds_, model.thresholds_)
        found = model.transform(data)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(data, X)
    assert LevelQuantiser(1, strategy).fit(X).thresholds_.shape == (2, 0)
    assert not LevelQuantiser(1, strategy).fit_transform(X).any()
