import numpy as np
import pytest
from scipy import linalg

from memdlib.generative.correlations import PooledMoments
from memdlib.generative.whitened_means import WhitenedMeans


def case(n=90, d=4, seed=0):
    rng = np.random.default_rng([51, seed])
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * codes[:, None]
    return X, codes, rng.integers(1, 4, size=n).astype(float)


def found(X, codes, weight, **options):
    return WhitenedMeans.of(PooledMoments.of(X, codes, 3, weight), **options)


def test_coordinates_are_uncorrelated_within_the_classes():
    X, codes, weight = case()
    means = found(X, codes, weight, shrinkage=0.0)
    z = means.whiten(X)
    residuals = z - means.means[codes]
    covariance = (residuals * weight[:, None]).T @ residuals / weight.sum()
    np.testing.assert_allclose(covariance, np.eye(4), rtol=0, atol=1e-10)
    np.testing.assert_allclose(means.prior @ means.means, 0.0, rtol=0, atol=1e-10)


def test_divergences_add_up_to_those_of_pairs_of_normal_classes():
    X, codes, weight = case(seed=1)
    means = found(X, codes, weight, shrinkage=0.0)
    prior = np.bincount(codes, weight) / weight.sum()
    centre = np.stack(
        [np.average(X[codes == k], 0, weight[codes == k]) for k in range(3)]
    )
    residuals = X - centre[codes]
    within = (residuals * weight[:, None]).T @ residuals / weight.sum()
    precision = linalg.inv(within)
    pairs = [(k, j) for k in range(3) for j in range(k)]
    total = sum(
        prior[k]
        * prior[j]
        * (centre[k] - centre[j])
        @ precision
        @ (centre[k] - centre[j])
        for k, j in pairs
    )
    assert means.divergences.sum() == pytest.approx(total, rel=1e-9)


def test_scores_are_those_of_the_normal_densities():
    X, codes, weight = case(seed=2)
    means = found(X, codes, weight, shrinkage=0.3)
    order, grid = np.array([2, 0, 3, 1]), np.array([1, 4])
    scores = means.scores(X[:5], order, grid)
    z = means.whiten(X[:5])
    for g, size in enumerate(grid):
        used = order[:size]
        gap = z[:, None, used] - means.means[:, used]
        log_density = np.log(means.prior) - 0.5 * (gap**2).sum(axis=2)
        shift = scores[g] - log_density
        np.testing.assert_allclose(shift - shift[:, :1], 0.0, rtol=0, atol=1e-10)


def test_shrunken_correlations_by_a_matrix_root():
    X, codes, weight = case(seed=3)
    means = found(X, codes, weight, shrinkage=0.4)
    plain = found(X, codes, weight, shrinkage=0.0)
    residuals = (X / plain.unit - plain.centre) / plain.deviations
    residuals = (
        residuals
        - np.stack(
            [np.average(residuals[codes == k], 0, weight[codes == k]) for k in range(3)]
        )[codes]
    )
    R = (residuals * weight[:, None]).T @ residuals / weight.sum()
    half = linalg.inv(linalg.sqrtm(0.4 * np.eye(4) + 0.6 * R).real)
    rows = (X / plain.unit - plain.centre) / plain.deviations
    np.testing.assert_allclose(means.whiten(X), rows @ half, rtol=0, atol=1e-9)


def test_a_class_without_rows_has_the_average_mean():
    X, codes, weight = case(seed=4)
    here = codes != 1
    means = found(X[here], codes[here], weight[here])
    np.testing.assert_array_equal(means.means[1], 0.0)
    np.testing.assert_array_equal(means.root(np.zeros((1, 4))), 0.0)
