import math

import numpy as np
import pytest
from scipy.optimize import linprog

from memdlib.nml.boundary import boundary_sum, on_boundary, saturated_log_likelihood
from memdlib.nml.level_model import level_model
from tests.nml.test_fits import CODINGS, random_ones


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


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_the_boundary_by_linear_programming(values, intercept, m):
    rng = np.random.default_rng([5, 2, m])
    model = level_model(rng.integers(1, 6, size=5), values, m, intercept)
    ones = random_ones(rng, model.counts.astype(int), 40)
    found = on_boundary(model, ones)
    assert found.tolist() == [separated(model, k) for k in ones.T]


@pytest.mark.parametrize(("values", "intercept"), CODINGS)
@pytest.mark.parametrize("m", [1, 2, 3])
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
