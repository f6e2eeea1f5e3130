from itertools import product

import mpmath as mp
import numpy as np
import pytest

from memdlib.nml import conditional_complexity
from memdlib.nml._engine.fits import LogitSolver
from memdlib.nml._engine.level_model import level_model, orthonormal_basis
from memdlib.nml._engine.separation import on_boundary

CODINGS = [
    (np.arange(1.0, 6.0), False),
    (np.arange(1.0, 6.0), True),
    (np.arange(-2.0, 3.0), False),
    (np.array([-1.0, 0.5, 3.0, 4.0, 11.0]), False),
    (np.array([0.1, 0.7, 2.0, 9.0, 31.0]), True),
]


def random_ones(rng, counts, size):
    """Label counts with many pure levels among them."""
    kind = rng.integers(0, 3, size=(len(counts), size))
    ones = rng.integers(0, counts[:, None] + 1, size=kind.shape)
    pure = np.where(kind == 0, 0, counts[:, None])
    return np.where(kind == 1, ones, pure).astype(float)


@pytest.mark.parametrize(
    ("values", "intercept", "m"),
    [
        (values, intercept, m)
        for values, intercept in CODINGS
        for m in range(1, 5)
        if m + intercept < (len(values) if intercept else np.count_nonzero(values))
    ],
)
def test_every_maximum_has_its_certificate(values, intercept, m):
    model = level_model(np.array([8, 3, 1, 6, 5]), values, m, intercept)
    sizes = model.counts.astype(int) + 1
    grid = np.indices(sizes).reshape(len(sizes), -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)]
    solver = LogitSolver(model)
    fit = solver.fit(inside)
    null = np.linalg.qr(solver.basis, mode="complete")[0][:, model.dimension :]
    assert np.abs(fit.gap).max() < 2e-12
    assert np.abs(solver.log_likelihood(inside) - fit.log_likelihood).max() < 1e-12
    assert np.abs(null.T @ fit.logits).max() < 1e-10
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
        solver = LogitSolver(model)
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
    found = LogitSolver(model).log_likelihood(inside)
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
    fit = LogitSolver(model).fit(inside)
    assert np.abs(fit.gap).max() < 1e-11
    found = LogitSolver(model).log_likelihood(inside)
    assert np.abs(found - fit.log_likelihood).max() < 1e-11


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
    solver = LogitSolver(model)
    fit = solver.fit(interior)
    np.testing.assert_allclose(
        solver.log_likelihood(interior), fit.log_likelihood, rtol=1e-12, atol=1e-11
    )
    assert np.isfinite(fit.log_likelihood).all() and np.isinf(fit.gap).sum() < 5
    if expected is not None:
        complexity = conditional_complexity(counts, n_moments, values)
        assert complexity == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (1.0, 1096.51, 1202335.93)])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_fit_cut_short_tells_what_it_may_miss(monkeypatch, values, steps):
    model = level_model(np.array([6, 6, 6]), np.array(values), 2, False)
    solver = LogitSolver(model)
    grid = np.indices((7, 7, 7)).reshape(3, -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)]
    best = solver.fit(inside)
    assert np.abs(best.gap).max() < 1e-12
    monkeypatch.setattr("memdlib.nml._engine.fits._STEPS", steps)
    short = solver.fit(inside)
    missing = best.log_likelihood - short.log_likelihood
    assert missing.max() > 1e-9
    assert (short.gap >= missing - 1e-12).all()
