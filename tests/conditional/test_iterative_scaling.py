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
def test_varying_step_solves_its_equations(seed, kind):
    Z, share, *known = problem(seed)
    found = varying_step(kind(Z), feature_sums(Z), share, *known)
    observed, _, value, penalty = known

    def lack(delta):  # falls with the step
        grown = np.exp(np.multiply.outer(Z.sum(axis=1), delta))
        model = np.einsum("nk,nj,nkj->kj", share, Z, grown)
        return observed - model - penalty * (value + delta)

    assert (lack(found - 1e-8) > 0).all()
    assert (lack(found + 1e-8) < 0).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("penalty", [0.0, 1e-300, 1e-18, 1e-9, 1.0, 1e9])
def test_a_slight_penalty_and_sizes_far_apart_are_solved(penalty, kind):
    """One step of factor 1e6, where exp(step size) has overflown long before."""
    Z, one = np.array([[1e-3], [1e3]]), np.ones((1, 1))
    share, observed = np.array([[0.3], [1e-250]]), 0.2 * one
    value = -0.5 * one
    r = np.array([penalty])
    expected = (Z.T @ share).T
    known = share, observed, expected, value, r
    found = varying_step(kind(Z), feature_sums(kind(Z)), *known)[0, 0]

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
