import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse

from memdlib.conditional.iterative_scaling import (
    constant_step,
    feature_sums,
    varying_step,
)


def problem(seed, n=12, K=3, m=4):
    rng = np.random.default_rng([53, seed])
    Z = rng.uniform(size=(n, m)) * (rng.uniform(size=(n, m)) < 0.6)
    Z[:, 0] = 1.0
    share = rng.dirichlet(np.ones(n * K)).reshape(n, K)
    observed = rng.dirichlet(np.ones(K), size=n).T @ Z / n
    value = rng.normal(size=(K, m))
    penalty = np.array([0.0, 1e-3, 0.1, 5.0])
    return Z, share, observed, (Z.T @ share).T, value, penalty


@given(st.integers(0, 10**6))
def test_constant_step_solves_its_equation(seed):
    Z, _, observed, expected, value, penalty = problem(seed)
    size = float(Z.sum(axis=1).max())
    delta = constant_step(size, observed, expected, value, penalty)
    lack = observed - expected * np.exp(size * delta) - penalty * (value + delta)
    np.testing.assert_allclose(lack, 0, rtol=0, atol=1e-10)


@given(st.integers(0, 10**6), st.sampled_from([np.asarray, sparse.csr_array]))
def test_varying_step_solves_its_equations_one_by_one(seed, kind):
    Z, share, observed, expected, value, penalty = problem(seed)
    found = varying_step(
        kind(Z), feature_sums(Z), share, observed, expected, value, penalty
    )
    size = Z.sum(axis=1)
    for k in range(3):
        for j in range(4):

            def lack(delta, k=k, j=j):
                model = share[:, k] @ (Z[:, j] * np.exp(delta * size))
                return observed[k, j] - model - penalty[j] * (value[k, j] + delta)

            expected_root = optimize.brentq(lack, -60, 60, xtol=1e-13)
            assert found[k, j] == pytest.approx(expected_root, abs=1e-8)


def test_equal_sizes_make_both_steps_one():
    _, share, observed, _, value, penalty = problem(1)
    Z = np.random.default_rng([53, 2]).dirichlet(np.ones(4), size=12) * 2.5
    expected = (Z.T @ share).T
    np.testing.assert_allclose(
        varying_step(Z, feature_sums(Z), share, observed, expected, value, penalty),
        constant_step(2.5, observed, expected, value, penalty),
        rtol=0,
        atol=1e-10,
    )


def test_a_class_that_never_shows_a_feature_takes_a_finite_step():
    Z, share, observed, expected, value, penalty = problem(3)
    observed[1] = 0.0
    expected[2] = 0.0
    steps = (
        constant_step(4.0, observed, expected, value, 0 * penalty),
        constant_step(4.0, observed, expected, value, penalty),
        varying_step(
            Z, feature_sums(Z), share, observed, (Z.T @ share).T, value, 0 * penalty
        ),
    )
    for step in steps:
        assert np.isfinite(step).all()
    assert (steps[0][1] < 0).all()


def test_sizes_are_those_of_the_instances_that_show_a_feature():
    Z = np.array([[1.0, 0.0, 2.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0] * 4])
    for kind in (np.asarray, sparse.csr_array):
        rows, smallest, largest = feature_sums(kind(Z))
        assert rows.tolist() == [3.0, 1.0, 0.0]
        assert smallest.tolist() == [1.0, 1.0, 3.0, 1.0]
        assert largest.tolist() == [3.0, 1.0, 3.0, 1.0]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("penalty", [0.0, 1e-300, 1e-18, 1e-9, 1.0, 1e9])
def test_a_slight_penalty_and_sizes_far_apart_are_solved(penalty, kind):
    """One step of factor 1e6, where exp(step size) has overflown long before."""
    Z, one = np.array([[1e-3], [1e3]]), np.ones((1, 1))
    share, observed = np.array([[0.3], [1e-250]]), 0.2 * one
    value = -0.5 * one
    r = np.array([penalty])
    expected = (Z.T @ share).T
    found = varying_step(
        kind(Z), feature_sums(kind(Z)), share, observed, expected, value, r
    )[0, 0]

    def lack(delta):
        with np.errstate(over="ignore"):
            model = share[:, 0] @ (Z[:, 0] * np.exp(delta * Z[:, 0]))
        return 0.2 - model - penalty * (delta - 0.5)

    root = optimize.brentq(lack, -60, 60, xtol=1e-15, rtol=1e-14)
    assert found == pytest.approx(root, rel=1e-9)
    alone = constant_step(2.0, observed, expected, value, r)[0, 0]
    plain = np.log(0.2 / expected[0, 0]) / 2.0
    if penalty <= 1e-18:
        assert alone == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_totals_of_zero_are_met_alike_by_both_steps_and_exactly_with_a_penalty(kind):
    """Without a penalty both leave the same small total of what is never shown."""
    Z = np.array([[0.2, 0.1], [0.6, 0.0], [0.0, 0.3]])
    share = np.array([[0.3, 0.1], [0.2, 0.1], [0.2, 0.1]])
    sizes, expected = feature_sums(kind(Z)), (Z.T @ share).T
    value, size, zero = np.full((2, 2), 0.4), Z.sum(axis=1), np.zeros((2, 2))
    observed = np.array([[0.0, 0.05], [0.02, 0.0]])
    step = varying_step(kind(Z), sizes, share, observed, expected, value, np.zeros(2))
    plain = constant_step(0.6, observed, expected, value, np.zeros(2))
    reached = np.einsum(
        "ik,ij,kij->kj", share, Z, np.exp(step[:, None] * size[:, None])
    )
    np.testing.assert_allclose(reached, expected * np.exp(0.6 * plain), rtol=1e-7)
    for penalty in (1e-10, 1e-3):
        r = np.full(2, penalty)
        step = varying_step(kind(Z), sizes, share, zero, expected, value, r)
        grown = np.exp(step[:, None] * size[:, None])
        reached = np.einsum("ik,ij,kij->kj", share, Z, grown)
        np.testing.assert_allclose(reached, -penalty * (value + step), rtol=1e-7)
