import math

import numpy as np
import pytest
from scipy.optimize import brentq

from memdlib.nml._engine import compiled, compiled_maxima, logit_fit
from memdlib.nml._engine.enumeration import interior_counts
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.logit_fit import LogitSolver
from memdlib.nml._engine.newton import logistic, pairs, tabulated_logits
from memdlib.nml._engine.separation import on_boundary

# Without numba the kernels run in Python, on fewer cases.
COMPILED = compiled.numba is not None
# The largest logits reach 60 to 90.
HARD = [
    ([9, 9, 14, 5, 1], 3),
    ([4, 12, 13, 4, 5], 4),
    ([9, 13, 12, 3, 1], 4),
    ([10, 15, 9, 3, 1], 4),
]


@pytest.mark.parametrize(("counts", "m"), HARD)
@pytest.mark.parametrize("fast", [False, True])
def test_maxima_have_their_certificates(monkeypatch, counts, m, fast):
    monkeypatch.setattr(compiled, "numba", math if fast else None)
    model = level_model(np.array(counts), np.arange(1.0, 6.0), m, False)
    grid = np.indices(np.array(counts) + 1).reshape(5, -1).astype(float)
    inside = grid[:, ~on_boundary(model, grid)][
        :, :: 1 if COMPILED or not fast else 199
    ]
    solver = LogitSolver.of(model)
    fit = solver.fit(inside)
    # Python warns of the lanes that hold no case
    with np.errstate(all="ignore"):
        found = solver.log_likelihood(inside)
    assert np.abs(fit.gap).max() < 1e-12
    assert np.abs(found - fit.log_likelihood).max() < 5e-13


def test_runs_go_on_where_one_level_goes_up():
    ones = np.array([[0.0, 0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 5, 6, 8]])
    assert compiled_maxima._runs(ones, 1, 16).tolist() == [0, 3, 5, 6, 7]
    assert compiled_maxima._runs(ones, 0, 16).tolist() == list(range(8))
    long = np.arange(40.0)[None]
    assert np.diff(compiled_maxima._runs(long, 0, 16)).tolist() == [16, 16, 8]


@pytest.mark.parametrize(
    ("counts", "first", "n_lost"),
    [([20, 10, 5, 2, 1], [1, 9, 1, 0, 0], 1), ([2, 17, 12, 6, 1], [1, 9, 1, 0, 0], 0)],
)
def test_a_neighbour_that_leads_astray_is_left(counts, first, n_lost):
    """One case has no full steps to its maximum; those after it start anew."""
    n, along = np.array(counts, dtype=float), int(np.argmax(counts))
    model = level_model(np.array(counts), np.arange(1.0, 6.0), 3, False)
    ones = np.tile(np.array(first, dtype=float)[:, None], 8)
    ones[along] += np.arange(8)
    solver = LogitSolver.of(model)
    with np.errstate(all="ignore"):
        found = compiled_maxima.maxima(
            n, solver.basis, pairs(solver.basis), ones, *tabulated_logits(n), 16
        )
    lost = np.isnan(found)
    assert lost.sum() == lost[:n_lost].sum() == n_lost
    assert np.abs((found - solver.fit(ones).log_likelihood)[~lost]).max() < 5e-13


@pytest.mark.parametrize("m", [1, 2, 3])
def test_any_order_of_the_cases_has_the_same_maxima(monkeypatch, m):
    """Neighbours start from each other's maxima, other cases on their own."""
    monkeypatch.setattr(compiled, "numba", math)
    monkeypatch.setattr(logit_fit, "longest_run", lambda n_cases: 16)
    counts = np.array([4, 9, 3, 1, 2])
    model = level_model(counts, np.arange(1.0, 6.0), m, False)
    sizes = tuple((counts + 1).tolist())
    ones = interior_counts(model, sizes, 0, math.prod(sizes) // 2)[0]
    ones = ones[:, : None if COMPILED else 150]
    mixed = np.random.default_rng([13, m]).permutation(ones.shape[1])
    solver = LogitSolver.of(model)
    with np.errstate(all="ignore"):
        found = solver.log_likelihood(ones)
        again = solver.log_likelihood(ones[:, mixed])
    assert np.abs(found[mixed] - again).max() < 1e-13
    assert np.abs(found - solver.fit(ones).log_likelihood).max() < 5e-13


def test_a_correction_that_cancels_the_step_settles_nothing():
    """At a third of the observed share, Newton's step is 2 and its correction -2."""
    counts, ones = np.array([3e4, 3e4, 2e4]), np.array([4.0, 3.0, 2.0])
    model = level_model(counts.astype(int), np.array([1.0, 1.01, 1.02]), 1, False)
    solver = LogitSolver.of(model)
    basis = solver.basis[:, 0]

    def whole_step(state):
        q = logistic(basis * state)
        weight = counts * q * (1 - q)
        newton = basis @ (ones - counts * q) / (weight @ basis**2)
        skew = weight * (1 - 2 * q) * (basis * newton) ** 2
        return newton - 0.5 * basis @ skew / (weight @ basis**2)

    start = brentq(whole_step, -11.0 / basis.max(), -9.7 / basis.max())
    logit = np.outer(basis * start, np.ones(8))
    with np.errstate(all="ignore"):
        found = compiled_maxima.maxima(
            counts,
            solver.basis,
            pairs(solver.basis),
            ones[:, None],
            logit,
            np.ones_like(logit),
            1,
        )
    right = solver.fit(ones[:, None]).log_likelihood
    # rounding leads away from such a start, or it is left to a general method
    found = np.where(np.isnan(found), right, found)
    assert found == pytest.approx(right, abs=1e-10)
