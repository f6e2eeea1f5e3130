from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from compendium.study import error_bounds
from memdlib.generative import DivergenceRanker


def three_classes(n=600, seed=3):
    """One class far from two others in many features, these apart in the last."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 8))
    X[:, :6] += 8.0 * (y == 2)[:, None]
    X[:, 7] += 2.0 * (y == 1)
    return X, y


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 6))
def test_every_choice_is_the_best_one(seed, n_classes, d):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(n_classes))
    first, second = np.triu_indices(n_classes, 1)
    B, w = rng.exponential(size=(len(first), d)), np.sqrt(prior[first] * prior[second])
    order, log_bounds = error_bounds.error_bound_order(B, prior, d)
    assert sorted(order) == list(range(d))
    for size in range(1, d + 1):
        before = list(order[: size - 1])
        bounds = {
            s: float(w @ np.exp(-B[:, [*before, s]].sum(axis=1)))
            for s in set(range(d)) - set(before)
        }
        found = [bounds[order[size - 1]], np.exp(log_bounds[size - 1])]
        assert found == pytest.approx([min(bounds.values())] * 2)


def test_distances_of_normal_densities_by_quadrature():
    X, y = three_classes(60)
    X[y == 1] *= 3.0
    mean = np.array([X[y == k].mean(axis=0) for k in range(3)])
    deviation = np.array([X[y == k].std(axis=0) for k in range(3)])
    found = error_bounds.bhattacharyya_distances(mean, deviation**2)
    laws = [stats.norm(*law) for law in zip(mean, deviation, strict=True)]
    x = np.linspace(-60, 90, 60001)[:, None]
    for row, (k, j) in zip(found, combinations(range(3), 2), strict=True):
        root = np.exp(0.5 * (laws[k].logpdf(x) + laws[j].logpdf(x)))
        overlap = integrate.trapezoid(root, x, axis=0)
        np.testing.assert_allclose(row, -np.log(overlap), rtol=1e-6, atol=1e-9)


def test_a_distant_class_does_not_fill_the_ranking():
    X, y = three_classes()
    assert 7 in error_bounds.balanced_order(X, y, 2)
    assert 7 in error_bounds.whitened_order(X, y, 2)
    assert 7 not in DivergenceRanker(n_features=2).fit(X, y).order_[:2]
