from itertools import product

import mpmath as mp
import numpy as np
import pytest

from memdlib.nml import conditional_complexity, fits
from memdlib.nml.boundary import on_boundary
from memdlib.nml.fits import suprema
from memdlib.nml.level_model import (
    UncertifiedError,
    level_model,
    orthonormal_basis,
)


def best(model, ones):
    """Suprema, logits of the maxima, and the doubt about them."""
    basis = orthonormal_basis(model)
    value, state, doubt = suprema(model, basis, model.counts[:, None], ones)
    return value, basis @ state, doubt


def search(model, ones):
    """What the damped search alone finds."""
    counts = np.broadcast_to(model.counts[:, None], ones.shape)
    return fits._search(model, orthonormal_basis(model), counts, ones)


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
    value, logits, doubt = best(model, inside)
    searched, _, gap = search(model, inside)
    null = np.linalg.qr(orthonormal_basis(model), mode="complete")[0][
        :, model.dimension :
    ]
    assert max(doubt, gap.max()) < 2e-12
    assert np.abs(value - searched).max() < 1e-12
    assert np.abs(null.T @ logits).max() < 1e-10
    flipped = best(model, model.counts[:, None] - inside)[0]
    assert np.abs(flipped - value).max() < 5e-12


def newton_in_30_digits(model, ones):
    """Maximised log-likelihood in plain powers of x."""
    with mp.workdps(30):
        first = 0 if model.intercept else 1
        x = [mp.mpf(float(v)) for v in model.values]
        basis = mp.matrix(
            [[v ** (first + j) for j in range(model.dimension)] for v in x]
        )
        n = [mp.mpf(int(c)) for c in model.counts]
        start = best(model, ones[:, None])[1][:, 0]
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
    found = best(model, inside)[0]
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
    found, _, gap = search(model, inside)
    assert np.abs(gap).max() < 1e-11
    assert np.abs(found - best(model, inside)[0]).max() < 1e-11


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
    found, _, gap = search(model, interior)
    np.testing.assert_allclose(best(model, interior)[0], found, rtol=1e-12, atol=1e-11)
    assert np.isfinite(found).all() and np.isinf(gap).sum() < 5
    if expected is not None:
        complexity = conditional_complexity(counts, n_moments, values)
        assert complexity == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_search_cut_short_tells_what_it_may_miss(monkeypatch, steps):
    model = level_model(np.array([6, 6, 6]), np.array(FAR), 2, False)
    ones = interior(model)
    value, _, gap = search(model, ones)
    assert gap.max() < 1e-12
    monkeypatch.setattr(fits, "_STEPS", steps)
    short, _, gap = search(model, ones)
    assert (value - short).max() > 1e-9
    assert (gap >= value - short - 1e-12).all()


FAR = (1.0, 20.0, 300.0)
PAIR = (8.04, 10.67, 10.89, 94.79)


def interior(model):
    sizes = model.counts.astype(int) + 1
    grid = np.indices(sizes).reshape(len(sizes), -1).astype(float)
    return grid[:, ~on_boundary(model, grid)]


@pytest.mark.parametrize(
    ("counts", "m", "values", "intercept"),
    [
        ([16, 17, 12], 2, FAR, False),
        ([5, 3, 1, 5], 1, PAIR, True),
        ([1, 5, 4, 3, 2], 2, (1.487, 1.6, 4.63727, 4.64, 5.848), False),
    ],
)
def test_every_fit_of_uneven_levels_has_its_certificate(counts, m, values, intercept):
    model = level_model(np.array(counts), np.array(values), m, intercept)
    ones = interior(model)
    value, logits, doubt = best(model, ones)
    assert doubt < 2e-13
    mirrored = best(model, model.counts[:, None] - ones)[0]
    np.testing.assert_allclose(mirrored, value, rtol=0, atol=2e-12)
    cost = ones * np.logaddexp(0, -logits)
    cost += (model.counts[:, None] - ones) * np.logaddexp(0, logits)
    np.testing.assert_allclose(value, -cost.sum(axis=0), rtol=0, atol=2e-12)


def test_counts_of_each_case():
    """Other samples at each level are another model on the same levels."""
    counts = np.array([[5.0, 9.0], [4.0, 8.0], [6.0, 3.0]])
    ones = np.array([[2.0, 4.0], [4.0, 1.0], [1.0, 3.0]])
    models = [level_model(n.astype(int), np.array(FAR), 2, False) for n in counts.T]
    basis = orthonormal_basis(models[0])
    together = suprema(models[0], basis, counts, ones)[0]
    for j, model in enumerate(models):
        alone = best(model, ones[:, [j]])[0]
        assert together[j] == pytest.approx(alone[0], abs=1e-12)


def test_a_basis_of_levels_of_many_magnitudes_and_near_ties():
    """Orthogonal to the divided difference, which is known in all digits."""
    for values in (FAR, PAIR, (1.0, 2.0, 10.0, 20.0, 50.0)):
        n_levels = len(values)
        counts = np.arange(3, 3 + n_levels)
        model = level_model(counts, np.array(values), n_levels - 2, True)
        x, basis = np.array(values), orthonormal_basis(model)
        relation = [1.0 / np.prod(v - np.delete(x, i)) for i, v in enumerate(x)]
        relation /= np.abs(relation).max()
        np.testing.assert_allclose(
            basis.T * counts @ basis, np.eye(n_levels - 1), rtol=0, atol=1e-13
        )
        assert np.abs(relation @ basis).max() < 1e-14


def test_what_cannot_be_certified_is_refused(monkeypatch):
    monkeypatch.setattr(fits, "_STEPS", 1)
    model = level_model(np.array([6, 6, 6]), np.array(FAR), 2, False)
    with pytest.raises(UncertifiedError, match="join levels whose values are close"):
        best(model, interior(model))
