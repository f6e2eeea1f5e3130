import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from memdlib.compendium.preparations import PREPARATIONS, prepare

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
        ([[1.0, 2.0], [3.0, 3.0]], "standardised", "sample 1 has one value"),
    ],
)
def test_bad_input(values, how, message):
    with pytest.raises(ValueError, match=message):
        prepare(np.array(values), how)
