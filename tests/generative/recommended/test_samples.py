import numpy as np
import pytest
from scipy import stats

from memdlib.generative.recommended.samples import normal_scores, standardised


def chips(seed=0, n=5, d=40):
    rng = np.random.default_rng([44, seed])
    return np.exp(rng.normal(6, 2, size=(n, d)))


def test_rows_have_mean_zero_and_variance_one():
    X = chips()
    np.testing.assert_allclose(
        standardised(X), stats.zscore(X, axis=1), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e290])
def test_standardised_rows_have_no_scale(scale):
    X = chips(1)
    np.testing.assert_allclose(standardised(scale * X), standardised(X), rtol=1e-12)


def test_a_constant_row_is_zero():
    X = np.array([[0.1, 0.1, 0.1], [0.0, 0.0, 0.0], [5e-324, 0.0, 0.0]])
    assert standardised(X)[:2].tolist() == [[0.0] * 3] * 2
    assert np.isfinite(standardised(X)).all()
    assert normal_scores(X)[:2].tolist() == [[0.0] * 3] * 2


def test_normal_scores_are_quantiles_of_ranks():
    X = chips(2)
    Z = normal_scores(X)
    for x, z in zip(X, Z, strict=True):
        for s in range(40):
            rank = 1 + (x < x[s]).sum()
            assert z[s] == pytest.approx(stats.norm.ppf((rank - 0.5) / 40))


def test_normal_scores_forget_increasing_functions():
    X = chips(3)
    np.testing.assert_array_equal(normal_scores(np.log(X)), normal_scores(X))
    np.testing.assert_array_equal(normal_scores(X**3 - 7), normal_scores(X))


def test_equal_values_share_a_score():
    z = normal_scores([[2.0, 2.0, 1.0, 9.0]])[0]
    assert z[0] == z[1] == 0.0
    assert -z[2] == z[3] == pytest.approx(stats.norm.ppf(0.875))


@pytest.mark.parametrize("function", [normal_scores, standardised])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], "Expected 2D array, got 1D"),
        (np.ones((2, 2, 2)), "Found array with dim 3"),
        ([[1.0, 2.0], [3.0, np.nan]], "Input X contains NaN"),
        ([[np.inf, 2.0]], "Input X contains infinity"),
        ([["a"]], "could not convert string"),
    ],
)
def test_what_are_no_rows_of_numbers_is_named(function, X, message):
    with pytest.raises(ValueError, match=message):
        function(X)


def test_rows_of_any_size_are_standardised_side_by_side():
    row = np.array([-9.0, 2.0, 4.0, -1.0, 2.0])
    scales = np.ldexp(1.0, [-1060, -1022, 0, 40, 1010])
    X = np.array(
        [*(scale * row for scale in scales), *(-scale * row for scale in scales)]
    )
    before = X.copy()
    expected = stats.zscore(row)
    found = standardised(X)
    np.testing.assert_allclose(found[:5], [expected] * 5, rtol=1e-12)
    np.testing.assert_allclose(found[5:], [-expected] * 5, rtol=1e-12)
    np.testing.assert_array_equal(X, before)


def test_a_row_keeps_a_spread_that_its_digits_hold():
    steps = np.array([0.0, 3.0, 1.0, 7.0, 2.0])
    for value in (1.0, -1.0):
        X = np.array([value + 2.0**-38 * steps, value + 2.0**-51 * steps])
        found = standardised(X)
        np.testing.assert_allclose(found[0], stats.zscore(steps), rtol=0, atol=1e-3)
        assert not found[1].any()


@pytest.mark.parametrize("d", [1, 3, 7, 10, 49, 1000])
@pytest.mark.parametrize("value", [0.1, -1e300, 7e-310, 5e-324])
def test_constants_have_no_spread(d, value):
    assert not standardised(np.full((2, d), value)).any()
    assert not normal_scores(np.full((2, d), value)).any()


@pytest.mark.parametrize("kind", [int, float, np.float32, list])
@pytest.mark.parametrize("d", [1, 2, 5, 30])
def test_scores_of_rows_with_many_ties(d, kind):
    X = np.random.default_rng([44, 10, d]).integers(-3, 4, size=(6, d))
    X[0] = np.arange(d)[::-1]
    given = X.tolist() if kind is list else X.astype(kind)
    expected = stats.norm.ppf((stats.rankdata(X, axis=1) - 0.5) / d)
    found = normal_scores(given)
    assert found.dtype == standardised(given).dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(X[0], np.arange(d)[::-1])
