import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memdlib.families.shrinkage import correlation_intensity
from memdlib.generative.pooled import PooledMoments


def sample(seed, n=12, d=7):
    """Rows of correlated features, each of three classes with a row, and weights."""
    rng = np.random.default_rng([41, seed])
    codes = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + codes[:, None]
    return X, codes, rng.integers(1, 4, size=n).astype(float)


def literal(X, codes, weight):
    """Means and within-class covariance."""
    rows = [codes == k for k in range(3)]
    means = np.array([np.average(X[r], axis=0, weights=weight[r]) for r in rows])
    rest = X - means[codes]
    return means, np.einsum("i,is,it->st", weight, rest, rest) / weight.sum()


def moments_of(X, codes, weight):
    return PooledMoments.of(X, codes, 3, weight)


@given(st.integers(0, 10**6), st.integers(4, 20), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_moments_are_those_of_a_loop(seed, n, d):
    X, codes, weight = sample(seed, n, d)
    moments = moments_of(X, codes, weight)
    means, S = literal(X, codes, weight)
    assert_allclose(moments.means, means, rtol=0, atol=1e-12)
    assert_allclose(moments.variance, np.diag(S), rtol=1e-10)
    prior = np.bincount(codes, weight) / weight.sum()
    between = prior @ (means - prior @ means) ** 2
    assert_allclose(moments.between, between, rtol=1e-9, atol=1e-20)
    R = S / np.sqrt(np.outer(np.diag(S), np.diag(S)))
    Z = moments.residuals
    assert_allclose(Z.T @ Z, R, rtol=0, atol=1e-10)
    assert moments.degrees_of_freedom == weight.sum() - 3


@pytest.mark.parametrize("n", [9, 30])
def test_a_feature_without_variance_keeps_to_itself(n):
    X, codes, weight = sample(1, n, 12)
    one = moments_of(np.delete(X, [4, 7], axis=1), codes, weight)
    X[:, 4], X[:, 7] = codes, 3.0
    moments = moments_of(X, codes, weight)
    assert moments.variance[[4, 7]].tolist() == [0, 0]
    assert moments.between[4] > 0 == moments.between[7]
    root, other = moments.inverse_root(), one.inverse_root()
    assert root.correlation_shrinkage == pytest.approx(
        other.correlation_shrinkage, rel=1e-10
    )
    W = root(np.eye(12))
    assert_allclose(W[[4, 7]], np.eye(12)[[4, 7]], rtol=0, atol=1e-13)
    W = np.delete(np.delete(W, [4, 7], axis=0), [4, 7], axis=1)
    assert_allclose(W, other(np.eye(10)), rtol=0, atol=1e-10)
    deviations, _ = moments.standard_deviations(0.5)
    assert deviations[7] == 1.0
    assert deviations[4] == np.sqrt(moments.between[4])


@pytest.mark.parametrize("n", [20, 4])
def test_correlations_that_are_singular_are_an_error(n):
    X, codes, weight = sample(2, n, 5)
    X[:, 3] = X[:, 1] - X[:, 2]
    moments = moments_of(X, codes, weight)
    message = "smallest eigenvalue of the correlations is .*; use correlation_shrinka"
    with pytest.raises(ValueError, match=message):
        moments.inverse_root(0.0)
    assert np.isfinite(moments.inverse_root(1e-3)(np.eye(5))).all()


def test_correlations_that_are_rounding_are_none():
    X = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 0.1
    X, codes = np.concatenate([X, X + 0.3]), np.repeat([0, 1], 4)
    for kind in (X, X + 1.0):
        moments = PooledMoments.of(kind, codes, 2, np.ones(8))
        assert moments.inverse_root().correlation_shrinkage == correlation_intensity(
            0.0, 3, 6.0
        )


@pytest.mark.parametrize("asked", [0.25, 1.0, "auto"])
@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_variances_move_towards_their_median(asked, scale):
    X, codes, weight = sample(4, 30, 9)
    X *= 10.0 ** np.linspace(-1, 1, 9)
    v = np.diag(literal(X, codes, weight)[1])
    share = asked
    if asked == "auto":
        noise = 2 * (v**2).sum() / (weight.sum() - 3 + 2)
        share = min(1, noise / ((v - np.median(v)) ** 2).sum())
    expected = (1 - share) * v + share * np.median(v)
    # constants have no part in the median
    wide = np.column_stack([scale * X, np.ones((30, 12))])
    deviations, used = moments_of(wide, codes, weight).standard_deviations(asked)
    assert used == pytest.approx(share)
    assert_allclose(deviations[:9], scale * np.sqrt(expected))
    unit = 2.0 ** np.arange(9)
    moments = moments_of(unit * X, codes, weight)
    deviations, _ = moments.standard_deviations(asked, unit)
    assert_allclose(deviations, unit * np.sqrt(expected))
    assert moments.standard_deviations(0.0)[1] == 0.0


@pytest.mark.parametrize("asked", [0.0, 0.4, "auto"])
def test_where_nothing_varies_no_variance_moves(asked):
    codes = np.arange(12) % 3
    X = np.array([[0.0, 5.0], [3.0, 5.0], [8.0, 5.0]])[codes]
    deviations, used = moments_of(X, codes, np.ones(12)).standard_deviations(asked)
    assert (used, deviations[1]) == (0.0, 1.0)
    assert deviations[0] == pytest.approx(np.std([0, 3, 8]))


@pytest.mark.parametrize("value", [0.3, -1e9, 1e-90, 2e90])
def test_a_constant_that_rounding_has_touched_has_no_variance(value):
    steps = np.array([0, 1, -1, 2, 0, -2, 1, 0])
    X = (value + steps * np.spacing(value))[:, None]
    moments = PooledMoments.of(X, np.arange(8) % 2, 2, np.ones(8))
    assert moments.variance == 0 and moments.between == 0
    assert not moments.residuals.any()
