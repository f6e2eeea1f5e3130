import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from memdlib.nml._engine.fits import (
    FullSteps,
    empirical_logits,
    maximise,
    pairs,
    solve,
)

BASIS = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0], [1.0, 5.0]])
COUNTS = np.array([6.0, 9.0, 5.0, 7.0])


def by_bfgs(counts, basis, ones):
    def minus(b):
        logits = basis @ b
        slope = basis.T @ (counts * expit(logits) - ones)
        return counts @ np.logaddexp(0, logits) - ones @ logits, slope

    start = np.zeros(basis.shape[1])
    found = minimize(minus, start, jac=True, options={"gtol": 1e-10})
    return -found.fun, found.x


def interior(size):
    rng = np.random.default_rng([5, 9])
    return rng.integers(1, COUNTS[:, None], size=(4, size)).astype(float)


def test_packed_systems_are_solved():
    rng = np.random.default_rng([5, 10])
    columns, weight = rng.normal(size=(6, 4)), rng.uniform(0.5, 2.0, size=(6, 3))
    right = rng.normal(size=(4, 3))
    packed = pairs(columns) @ weight
    assert packed.shape == (10, 3)
    found = solve(packed.copy(), right)
    for j in range(3):
        gram = columns.T @ (weight[:, [j]] * columns)
        np.testing.assert_allclose(packed[:, j], gram[np.tril_indices(4)], rtol=1e-12)
        expected = np.linalg.solve(gram, right[:, j])
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-10)


def test_smoothed_logits_and_their_weights():
    counts, ones = np.array([[10.0]]), np.array([[0.0, 4.0, 10.0]])
    logits, weight = empirical_logits(counts, ones)
    share = (ones + 0.3) / (counts + 0.6)
    assert logits == pytest.approx(np.log(share / (1 - share)), rel=1e-14)
    assert weight == pytest.approx((counts + 0.6) * share * (1 - share), rel=1e-14)


def test_full_steps_reach_the_maximum():
    ones, form = interior(60), FullSteps(COUNTS[:, None], BASIS)
    value, state, unsettled = maximise(
        form, form.basis.T @ ones, lambda rough, at: rough.begin(ones[:, at])
    )
    assert unsettled.size == 0
    for j, k in enumerate(ones.T):
        expected, where = by_bfgs(COUNTS, BASIS, k)
        assert value[j] == pytest.approx(expected, abs=1e-10)
        np.testing.assert_allclose(state[:, j], where, rtol=0, atol=1e-5)


def test_batches_are_one_search(monkeypatch):
    ones, form = interior(60), FullSteps(COUNTS[:, None], BASIS)

    def search():
        return maximise(
            form, form.basis.T @ ones, lambda rough, at: rough.begin(ones[:, at])
        )[0]

    whole = search()
    monkeypatch.setattr("memdlib.nml._engine.fits._BATCH", 7)
    assert search() == pytest.approx(whole, abs=1e-13)


def test_what_full_steps_do_not_settle_is_told():
    form = FullSteps(np.c_[[5.0, 5.0]], np.c_[[1.0, 2.0]])
    ones = np.array([[2.0, 5.0], [3.0, 5.0]])
    *_, unsettled = maximise(
        form, form.basis.T @ ones, lambda rough, at: rough.begin(ones[:, at])
    )
    assert unsettled.tolist() == [1]
