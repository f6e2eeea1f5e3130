import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from compendium.study.preparations import PREPARATIONS, ExpressionFilter, prepare
from tests.data import load_or_skip

X = np.random.default_rng([3, 1]).lognormal(4.0, 2.0, (5, 30))


def test_each_preparation():
    np.testing.assert_array_equal(prepare(X, "raw"), X)
    np.testing.assert_array_equal(prepare(X, "log"), np.log(X))
    np.testing.assert_array_equal(prepare(X, "log", 20), np.log(np.clip(X, 20, None)))
    scaled = StandardScaler().fit_transform(X.T).T
    np.testing.assert_allclose(prepare(X, "standardised"), scaled)
    both = StandardScaler().fit_transform(np.log(X).T).T
    np.testing.assert_allclose(prepare(X, "log, standardised"), both)


@pytest.mark.parametrize("how", PREPARATIONS)
def test_a_sample_does_not_depend_on_the_others(how):
    np.testing.assert_allclose(prepare(X, how, 1.0)[:2], prepare(X[:2], how, 1.0))


@pytest.mark.parametrize(
    ("values", "how", "message"),
    [
        ([[1.0, 2.0]], "sqrt", "how='sqrt' must be one of raw, log"),
        ([[1.0, -2.0]], "log", "positive values, found -2; give a floor"),
    ],
)
def test_bad_input(values, how, message):
    with pytest.raises(ValueError, match=message):
        prepare(np.array(values), how)


def test_the_filter_gene_by_gene():
    rng = np.random.default_rng([3, 2])
    train, test = rng.lognormal(6.0, 1.0, (2, 8, 60)) * rng.lognormal(0, 1, 60) - 100
    train[:, 0] = [100, *[600] * 7]  # more than five times, but no more than 500 above
    train[:, 1] = [125, *[625] * 7]  # exactly both
    train[:, 2] = [100, *[601] * 7]
    screen = ExpressionFilter().fit(train)
    low, high = (np.clip(end, 100, 16000) for end in (train.min(0), train.max(0)))
    kept = [j for j in range(60) if high[j] > 5 * low[j] and high[j] > 500 + low[j]]
    assert 5 < len(kept) < 55 and kept[0] == 2
    assert screen.get_support(indices=True).tolist() == kept
    clipped = np.minimum(np.maximum(test[:, kept], 100), 16000)
    np.testing.assert_allclose(screen.transform(test), np.log(clipped) / np.log(10))
    names = np.array([f"gene {j}" for j in range(60)])
    assert (screen.get_feature_names_out(names) == names[kept]).all()


def test_the_filter_of_leukemia():
    bunch = load_or_skip("leukemia")
    train = bunch.X[bunch.split == "train"]
    assert ExpressionFilter().fit_transform(train).shape == (38, 3051)
    assert ExpressionFilter().fit_transform(bunch.X).shape == (72, 3571)
