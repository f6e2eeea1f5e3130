import numpy as np
import pytest

from memdlib.families import MultivariateNormal
from memdlib.moments import joint, joint_moments


def three_classes():
    rng = np.random.default_rng([21, 0])
    y = rng.permutation(np.arange(120) % 3)
    X = np.einsum(
        "ia,iab->ib", rng.normal(size=(120, 4)), rng.normal(size=(3, 4, 4))[y]
    )
    return X + rng.normal(size=(3, 4))[y], y


def test_moments_are_sums_of_products():
    X, y = three_classes()
    w = np.arange(len(y)) % 3 + 0.5
    moments = joint_moments(X, y, 4, sample_weight=w)
    for k in range(4):
        rows, v = (X - moments.location[k])[y == k], w[y == k]
        first, second = v @ rows, (v * rows.T) @ rows
        assert moments.weight[k] == pytest.approx(v.sum())
        np.testing.assert_allclose(moments.sums[k, :, 0], first, rtol=0, atol=1e-11)
        np.testing.assert_allclose(moments.sums[k, :, 1:], second, rtol=0, atol=1e-11)
    z = X - moments.location[3]  # no row is of this class: it says what all say
    np.testing.assert_allclose(
        moments.mean[3, :, 0], np.average(z, 0, w), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(moments.mean[3, :, 1:], (w * z.T) @ z / w.sum())
    half = joint_moments(X[:50], y[:50], 4, sample_weight=w[:50])
    both = half.merge(joint_moments(X[50:], y[50:], 4, sample_weight=w[50:]))
    for k in range(3):
        covariance = np.cov(X[y == k].T, aweights=w[y == k], ddof=0)
        found = MultivariateNormal.covariance(both.mean[k])
        np.testing.assert_allclose(found, covariance, rtol=1e-12, atol=1e-14)
        centre = both.location[k] + both.mean[k, :, 0]
        np.testing.assert_allclose(centre, np.average(X[y == k], 0, w[y == k]))


def covariances(moments):
    return MultivariateNormal.covariance(moments.mean)


def test_a_class_beside_the_others_together():
    X, y = three_classes()
    pairs = joint_moments(X, y, 3).one_vs_rest()
    for k in range(3):
        for side, rows in enumerate((X[y == k], X[y != k])):
            assert pairs.weight[k, side] == len(rows)
            found = pairs._take((k, slice(side, side + 1)))
            expected = np.cov(rows.T, ddof=0)
            np.testing.assert_allclose(
                covariances(found)[0], expected, rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("features", [[2, 0], [False, True, False, True], slice(1, 3)])
def test_some_features(features):
    X, y = three_classes()
    found = joint_moments(X, y, 3).select(features)
    expected = joint_moments(X[:, features], y, 3)
    np.testing.assert_allclose(found.sums, expected.sums, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(found.location, expected.location)


@pytest.mark.parametrize("block", [1, 10, 4 * 31, 10**6])
def test_rows_are_added_whatever_the_block(monkeypatch, block):
    """Rows as single precision, codes and weights as lists."""
    X, y = three_classes()
    X = X.astype(np.float32)
    weight = np.random.default_rng([21, 1]).integers(1, 5, len(y))
    monkeypatch.setattr(joint, "_BLOCK", block)
    found = joint_moments(X, y.tolist(), 3, sample_weight=weight.tolist())
    assert found.sums.dtype == found.location.dtype == np.float64
    np.testing.assert_array_equal(found.weight, np.bincount(y, weight))
    for k in range(3):
        of_class = X[y == k].astype(np.float64)
        assert (of_class == found.location[k]).all(axis=1).any()
        z, w = of_class - found.location[k], weight[y == k]
        np.testing.assert_allclose(found.sums[k, :, 0], w @ z, rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            found.sums[k, :, 1:], np.einsum("i,ia,ib->ab", w, z, z), rtol=0, atol=1e-10
        )
    plain = joint_moments(X, y, 3)
    np.testing.assert_array_equal(plain.weight, np.bincount(y))
    for k in range(3):
        expected = np.cov(X[y == k].T.astype(np.float64), ddof=0)
        np.testing.assert_allclose(covariances(plain)[k], expected, rtol=0, atol=1e-10)
