import numpy as np
import pytest

from memdlib.nml.level_model import (
    level_model,
    orthonormal_basis,
)


def test_levels_that_matter_in_increasing_order():
    counts = np.array([4, 0, 3, 5, 2])
    values = np.array([2.0, 9.0, 0.0, -1.0, 1.0])
    model = level_model(counts, values, 2, intercept=False)
    assert model.values.tolist() == [-1.0, 1.0, 2.0]
    assert model.counts.tolist() == [5.0, 2.0, 4.0]
    assert model.order.tolist() == [3, 4, 0]
    assert (model.dimension, model.saturated) == (2, False)
    model = level_model(counts, values, 2, intercept=True)
    assert model.values.tolist() == [-1.0, 0.0, 1.0, 2.0]
    assert (model.dimension, model.saturated) == (3, False)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_bases_are_the_polynomials(intercept, m):
    counts, values = np.array([3, 1, 4, 1, 5]), np.array([-2.0, -0.5, 1.0, 3.0, 7.0])
    model = level_model(counts, values, m, intercept)
    basis = orthonormal_basis(model)
    null = np.linalg.qr(basis, mode="complete")[0][:, model.dimension :]
    np.testing.assert_allclose(
        basis.T * counts @ basis, np.eye(model.dimension), rtol=0, atol=1e-14
    )
    powers = values[:, None] ** np.arange(0 if intercept else 1, m + 1)
    assert np.linalg.matrix_rank(np.hstack([powers, basis])) == model.dimension
    assert null.shape == (5, 5 - model.dimension)
    np.testing.assert_allclose(null.T @ null, np.eye(null.shape[1]), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        null.T @ (powers / abs(powers).max()), 0.0, rtol=0, atol=1e-14
    )


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
    counts = np.full(len(values), 2)
    if not refused:
        assert level_model(counts, np.array(values, float), m, intercept) is not None
        return
    with pytest.raises(ValueError, match="too uneven for .* parameters.*join levels"):
        level_model(counts, np.array(values, float), m, intercept)
