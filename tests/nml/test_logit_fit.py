import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog

from memdlib.nml import conditional_complexity
from memdlib.nml.level_model import level_model, null_basis, orthonormal_basis
from memdlib.nml.logit_fit import LogitSolver, damped_newton
from memdlib.nml.separation import boundary_sum, on_boundary, saturated_log_likelihood

CODINGS = [
    (np.arange(1.0, 6.0), False),
    (np.arange(1.0, 6.0), True),
    (np.arange(-2.0, 3.0), False),
    (np.array([-1.0, 0.5, 3.0, 4.0, 11.0]), False),
    (np.array([0.1, 0.7, 2.0, 9.0, 31.0]), True),
]


def separated(model, ones):
    """Whether a polynomial of the model separates the labels, by linear programming."""
    exponents = np.arange(0 if model.intercept else 1, 50)[: model.dimension]
    x = model.values / np.abs(model.values).max()
    features = x[:, None] ** exponents
    sign = np.where(ones == model.counts, 1.0, np.where(ones == 0, -1.0, 0.0))
    mixed = sign == 0
    signed = features * np.where(mixed, 1.0, sign)[:, None]
    rows = np.vstack([-signed[~mixed], signed[~mixed]])
    limits = np.repeat([0.0, 1.0], (~mixed).sum())
    found = linprog(
        -signed[~mixed].sum(axis=0),
        A_ub=rows if rows.size else None,
        b_ub=limits if rows.size else None,
        A_eq=signed[mixed] if mixed.any() else None,
        b_eq=np.zeros(mixed.sum()) if mixed.any() else None,
        bounds=(-1e7, 1e7),
    )
    assert found.status == 0
    return -found.fun > 1e-6


def random_ones(rng, counts, size):
    """Label counts with many pure levels among them."""
    kind = rng.integers(0, 3, size=(len(counts), size))
    ones = rng.integers(0, counts[:, None] + 1, size=kind.shape)
    pure = np.where(kind == 0, 0, counts[:, None])
    return np.where(kind == 1, ones, pure).astype(float)


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_the_boundary_by_linear_programming(values, intercept, m):
    rng = np.random.default_rng([5, 2, m])
    model = level_model(rng.integers(1, 6, size=5), values, m, intercept)
    ones = random_ones(rng, model.counts.astype(int), 40)
    found = on_boundary(model, ones)
    assert found.tolist() == [separated(model, k) for k in ones.T]


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_the_sum_over_the_boundary(values, intercept, m):
    model = level_model(np.array([3, 1, 2, 4, 2]), values, m, intercept)
    sizes = model.counts.astype(int) + 1
    grid = np.indices(sizes).reshape(len(sizes), -1).astype(float)
    on = grid[:, on_boundary(model, grid)]
    sequences = [
        math.prod(math.comb(n - 1, int(k)) for n, k in zip(sizes, ones, strict=True))
        for ones in on.T
    ]
    likelihood = np.exp(saturated_log_likelihood(model.counts[:, None], on))
    assert boundary_sum(model) == pytest.approx(sequences @ likelihood, rel=1e-13)


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_every_maximum_has_its_certificate(values, intercept, m):
    model = level_model(np.array([8, 3, 1, 6, 5]), values, m, intercept)
    sizes = model.counts.astype(int) + 1
    grid = np.indices(sizes).reshape(len(sizes), -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)]
    if model.saturated:
        assert not inside.size
        return
    solver = LogitSolver.of(model)
    fit = solver.fit(inside)
    assert np.abs(fit.gap).max() < 1e-12
    assert np.abs(solver.log_likelihood(inside) - fit.log_likelihood).max() < 1e-12
    assert np.abs(null_basis(solver.basis).T @ fit.logits).max() < 1e-10
    flipped = solver.log_likelihood(model.counts[:, None] - inside)
    assert np.abs(flipped - fit.log_likelihood).max() < 5e-12


def newton_in_30_digits(model, ones):
    """Maximised log-likelihood in plain powers of x."""
    with mp.workdps(30):
        first = 0 if model.intercept else 1
        x = [mp.mpf(float(v)) for v in model.values]
        basis = mp.matrix(
            [[v ** (first + j) for j in range(model.dimension)] for v in x]
        )
        n = [mp.mpf(int(c)) for c in model.counts]
        solver = LogitSolver.of(model)
        start = solver.fit(ones[:, None]).logits[:, 0]
        used = range(model.dimension)
        b = mp.lu_solve(
            mp.matrix([[basis[i, j] for j in used] for i in used]),
            mp.matrix([mp.mpf(float(start[i])) for i in used]),
        )
        for _ in range(6):
            eta = basis * b
            p = [1 / (1 + mp.exp(-e)) for e in eta]
            slope = [int(ones[i]) - n[i] * p[i] for i in range(len(x))]
            weight = mp.diag([n[i] * p[i] * (1 - p[i]) for i in range(len(x))])
            b += mp.lu_solve(basis.T * weight * basis, basis.T * mp.matrix(slope))
        eta = basis * b
        assert mp.norm(basis.T * mp.matrix(slope)) < mp.mpf(10) ** -15
        terms = [
            int(ones[i]) * eta[i] - n[i] * mp.log(1 + mp.exp(eta[i]))
            for i in range(len(x))
        ]
        return float(mp.fsum(terms))


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_maxima_in_30_digits(values, intercept, m):
    rng = np.random.default_rng([5, 3, m])
    model = level_model(np.array([9, 4, 6, 7, 12]), values, m, intercept)
    ones = random_ones(rng, model.counts.astype(int), 12)
    inside = ones[:, ~on_boundary(model, ones)]
    found = LogitSolver.of(model).log_likelihood(inside)
    expected = [newton_in_30_digits(model, k) for k in inside.T]
    assert found == pytest.approx(expected, abs=2e-13)


def test_ten_levels_and_seven_moments():
    """Where powers of x would leave no digit."""
    rng = np.random.default_rng([5, 4])
    model = level_model(rng.integers(3, 30, size=10), np.arange(1.0, 11.0), 7, False)
    basis = orthonormal_basis(model)
    assert np.abs(basis.T * model.counts @ basis - np.eye(7)).max() < 1e-14
    ones = rng.integers(0, model.counts[:, None] + 1, size=(10, 300)).astype(float)
    inside = ones[:, ~on_boundary(model, ones)]
    assert inside.shape[1] > 250
    fit = LogitSolver.of(model).fit(inside)
    assert np.abs(fit.gap).max() < 1e-11
    found = LogitSolver.of(model).log_likelihood(inside)
    assert np.abs(found - fit.log_likelihood).max() < 1e-11


def test_a_step_that_overshoots_is_halved():
    counts = np.array([[1.0], [1000.0]])
    basis = np.array([[1.0], [1e-3]])
    target = basis.T @ np.array([[1.0], [1.0]])
    value, coefficients = damped_newton(counts, basis, target)
    mean = counts / (1 + np.exp(-basis @ coefficients))
    assert basis.T @ mean == pytest.approx(target, abs=1e-12)
    assert value < 0


@pytest.mark.parametrize(
    ("counts", "n_moments", "values", "expected"),
    [
        ([5, 5, 5, 5, 5, 4], 5, [-3, 12, 17, 19, 24, 28], 7.244884625693139),
        ([4, 3, 8, 9], 2, [-17.5, -4.725, 0.0585, 5.0246], None),
    ],
)
def test_weights_that_underflow_raise_no_warning(counts, n_moments, values, expected):
    model = level_model(np.array(counts), np.array(values, float), n_moments, False)
    ones = np.array(list(product(*(range(n + 1) for n in counts))), float).T
    interior = ones[:, ~on_boundary(model, ones)]
    solver = LogitSolver.of(model)
    fit = solver.fit(interior)
    np.testing.assert_allclose(
        solver.log_likelihood(interior), fit.log_likelihood, rtol=1e-12, atol=1e-11
    )
    assert np.isfinite(fit.log_likelihood).all() and np.isinf(fit.gap).sum() < 5
    if expected is not None:
        complexity = conditional_complexity(counts, n_moments, values)
        assert complexity == pytest.approx(expected, abs=1e-11)
