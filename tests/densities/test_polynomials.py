import numpy as np
import pytest

from memdlib.densities.polynomials import LogPolynomials, orthonormal, spread
from memdlib.densities.support import panel_nodes


def uneven(m=4, batch=3):
    """A batch of densities on panels of their own, and a basis that is not theirs."""
    rng = np.random.default_rng([49, m])
    theta = rng.normal(size=(batch, m + 1)) * 0.3
    alpha, beta = rng.normal(size=(batch, m)), rng.uniform(0.5, 2.0, size=(batch, m))
    ends = np.array([-1.5, 2.0, 0.3])[:batch, None] + np.linspace(0.0, 2.0, 31)
    return LogPolynomials(alpha, beta, theta), ends


def test_a_basis_is_orthonormal_and_keeps_the_density():
    density, ends = uneven()
    u, weights = panel_nodes(ends)
    mass = weights * np.exp(-density(u))
    mass /= mass.sum(axis=1, keepdims=True)
    found, values = orthonormal(u, mass, density(u), 4)
    gram = np.einsum("bin,bjn,bn->bij", values, values, mass)
    np.testing.assert_allclose(gram, np.tile(np.eye(5), (3, 1, 1)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found(u), density(u), rtol=1e-9, atol=1e-9)
    powers = u[:, None] ** np.arange(5)[:, None]
    np.testing.assert_allclose(found.coefficients() @ powers, values, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("place", "width"), [(0.0, 1.0), (3.0, 0.01), (150.0, 0.5)])
def test_panels_follow_a_density_wherever_it_lives(place, width):
    """A normal one, integrated on twenty panels of a cut at two hundred."""
    density = LogPolynomials(
        np.full((1, 2), place),
        width * np.sqrt([[1.0, 2.0]]),
        np.array([[0.0, 0.0, np.sqrt(0.5)]]),
    )
    low, high, ends = np.array([-200.0]), np.array([200.0]), None
    for n_panels in (20, 21, 20, 21):
        ends = spread([density], low, high, ends, n_panels)
        assert ends.shape == (1, n_panels + 1)
        assert ends[0, [0, -1]].tolist() == [-200.0, 200.0]
        assert (np.diff(ends) > 0).all()
    u, weights = panel_nodes(ends)
    mass = (weights * np.exp(0.5 - density(u))).sum()
    assert mass == pytest.approx(width * np.sqrt(2 * np.pi) * np.exp(1.0), rel=1e-4)
