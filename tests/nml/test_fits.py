from contextlib import nullcontext

import numpy as np
import pytest

from memdlib.nml import fits
from memdlib.nml.boundary import on_boundary
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import UncertifiedError, level_model, orthonormal_basis


def best(model, ones):
    """Largest log-likelihoods, logits of the maxima, and the bound of the errors."""
    basis = orthonormal_basis(model)
    value, coefficients, error = max_log_likelihoods(
        model, basis, model.counts[:, None], ones
    )
    return value, basis @ coefficients, error


def damped_newton(model, ones):
    """What the damped Newton search alone finds."""
    counts = np.broadcast_to(model.counts[:, None], ones.shape)
    return fits._damped_newton(model, orthonormal_basis(model), counts, ones)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_search_cut_short_tells_what_it_may_miss(monkeypatch, steps):
    model = level_model(np.array([6, 6, 6]), np.array(FAR), 2, False)
    ones = interior(model)
    value, _, gap = damped_newton(model, ones)
    assert gap.max() < 1e-12
    monkeypatch.setattr(fits, "_DAMPED_STEPS", steps)
    short, _, gap = damped_newton(model, ones)
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
    value, logits, error = best(model, ones)
    assert error < 2e-13
    mirrored = best(model, model.counts[:, None] - ones)[0]
    np.testing.assert_allclose(mirrored, value, rtol=0, atol=2e-12)
    cost = ones * np.logaddexp(0, -logits)
    cost += (model.counts[:, None] - ones) * np.logaddexp(0, logits)
    np.testing.assert_allclose(value, -cost.sum(axis=0), rtol=0, atol=2e-12)


def test_what_cannot_be_certified_is_refused(monkeypatch):
    monkeypatch.setattr(fits, "_DAMPED_STEPS", 1)
    model = level_model(np.array([6, 6, 6]), np.array(FAR), 2, False)
    with pytest.raises(UncertifiedError, match="join levels that are close"):
        best(model, interior(model))


@pytest.mark.parametrize(
    ("values", "m", "intercept", "refused"),
    [
        ((1.0, 9e11), 1, False, False),
        ((1.0, 1.1e12), 1, False, True),
        ((1.0, 2.0, 3e12), 1, True, True),
        ((1.0, 2.0, 3.0, 1e5), 3, False, True),
        ((1.0, 2.0, 3.0, 1e5), 4, False, False),
        (tuple(range(1, 51)), 7, False, False),
        ((1.0, 1.0 + 1e-12, 2.0), 2, False, True),
        ((1e100, 2e100, 3e100), 2, False, False),
        ((1e-100, 1.0, 1e100), 2, False, True),
    ],
)
def test_levels_too_uneven_for_the_digits_of_a_fit(values, m, intercept, refused):
    message = "too uneven for .* parameters.*join levels"
    with pytest.raises(ValueError, match=message) if refused else nullcontext():
        level_model(np.full(len(values), 2), np.array(values, float), m, intercept)
