import numpy as np
import pytest

from memdlib.nml import conditional_complexity_estimate
from memdlib.nml._engine.complexity import forget
from memdlib.nml._engine.fits import fit_levels
from memdlib.nml._engine.level_model import level_model, orthonormal_basis
from memdlib.nml._engine.separation import on_boundary

DECADES = tuple(10.0 ** np.arange(7))
FAR = (1.0, 1096.51, 1202335.93)
PAIR = (8.04458458, 10.67083473, 10.69627066, 594.79399895, 594.79697993)


def interior(model):
    sizes = model.counts.astype(int) + 1
    grid = np.indices(sizes).reshape(len(sizes), -1).astype(float)
    return grid[:, ~on_boundary(model, grid)]


@pytest.mark.parametrize(
    ("counts", "m", "values", "intercept"),
    [
        ([1, 2, 1, 2, 1, 3, 2], 4, DECADES, False),
        ([16, 17, 12], 2, FAR, False),
        ([5, 3, 1, 5, 3], 3, PAIR, True),
        ([1, 5, 4, 3, 2], 3, (1.487, 1.6, 4.63727, 4.63883, 5.848), False),
        ([6, 6, 5, 2], 2, (1.23142299, 5967.88282, 8151.17045, 8151.19434), False),
    ],
)
def test_every_fit_has_its_certificate(counts, m, values, intercept):
    model = level_model(np.array(counts), np.array(values), m, intercept)
    ones = interior(model)
    value, logits, gap = fit_levels(model, model.counts[:, None], ones)
    assert gap.max() < 2e-13
    mirrored = fit_levels(model, model.counts[:, None], model.counts[:, None] - ones)
    np.testing.assert_allclose(mirrored[0], value, rtol=0, atol=2e-13)
    cost = ones * np.logaddexp(0, -logits)
    cost += (model.counts[:, None] - ones) * np.logaddexp(0, logits)
    np.testing.assert_allclose(value, -cost.sum(axis=0), rtol=0, atol=1e-13)


def test_counts_of_each_case():
    """Other samples at each level are another model on the same levels."""
    counts = np.array([[5.0, 9.0], [4.0, 8.0], [6.0, 3.0]])
    ones = np.array([[2.0, 4.0], [4.0, 1.0], [1.0, 3.0]])
    models = [level_model(n.astype(int), np.array(FAR), 2, False) for n in counts.T]
    together = fit_levels(models[0], counts, ones)[0]
    for j, model in enumerate(models):
        alone = fit_levels(model, counts[:, [j]], ones[:, [j]])[0]
        assert together[j] == pytest.approx(alone[0], abs=1e-13)


def test_a_basis_of_levels_of_many_magnitudes_and_near_ties():
    """Orthogonal to the divided difference, which is known in all digits."""
    for values in (FAR, PAIR, DECADES):
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


@pytest.mark.parametrize(
    ("counts", "m", "values", "truth"),
    [
        ([1, 2, 1, 2, 1, 3, 2], 4, DECADES, 5.427753846510149),
        (
            [5, 2, 3, 3, 1],
            3,
            (
                4.288947729025339,
                53208.728191376125,
                3937.070505233464,
                6.030620800865298,
                3628.749038377449,
            ),
            4.427381832109569,
        ),
        ([16, 17, 12], 2, FAR, 4.33054920531679),
    ],
)
def test_uneven_levels_in_sixty_digits(counts, m, values, truth):
    """Truths from sums in mpmath, by `benchmarks.nml_claims.reference`."""
    forget()
    found = conditional_complexity_estimate(counts, m, values)
    assert (found.method, found.kind) == ("enumeration", "bound")
    assert found.uncertainty < 1e-12
    assert abs(found.complexity - truth) <= found.uncertainty


@pytest.mark.parametrize("method", ["gauss", "monte-carlo"])
def test_other_ways_refuse_levels_of_many_magnitudes(method):
    with pytest.raises(ValueError, match=r"too uneven .* use method=\"exact\" or"):
        conditional_complexity_estimate([9] * 7, 4, DECADES, method=method)


def test_what_nobody_can_certify_is_between_the_bounds():
    found = conditional_complexity_estimate([200] * 7, 4, DECADES)
    assert (found.method, found.kind) == ("facets", "bound")
    assert 0.5 < found.uncertainty < 5.0


def test_a_refused_exact_sum_is_not_replaced_by_fits_of_less_care(monkeypatch):
    """Whatever finds no certificate leaves the proved bounds alone."""
    monkeypatch.setattr("memdlib.nml._engine.fits._STEPS", 1)
    forget()
    found = conditional_complexity_estimate([1, 2, 1, 2, 1, 3, 2], 4, DECADES)
    forget()
    assert found.kind == "bound" and found.uncertainty > 0.1
    assert abs(found.complexity - 5.427753846510149) <= found.uncertainty
    with pytest.raises(ValueError, match="join levels whose values are close"):
        conditional_complexity_estimate(
            [1, 2, 1, 2, 1, 3, 2], 4, DECADES, method="exact"
        )
