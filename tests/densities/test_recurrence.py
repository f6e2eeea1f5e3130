import numpy as np
from scipy import special

from memdlib.densities.recurrence import Recurrence, stieltjes


def hermite(m, batch=1):
    beta = np.sqrt(np.arange(1.0, m + 1))
    return Recurrence(np.zeros((batch, m)), np.tile(beta, (batch, 1)))


def test_hermite_polynomials_and_their_expansions():
    basis, u = hermite(5), np.linspace(-2, 2, 7)[None]
    values = basis.evaluate(u)
    for j in range(6):
        expected = special.eval_hermitenorm(j, u) / np.sqrt(special.factorial(j))
        np.testing.assert_allclose(values[j], expected, rtol=0, atol=1e-12)
    theta = np.random.default_rng([49, 1]).normal(size=(1, 6))
    total = np.einsum("bj,jbn->bn", theta, values)
    np.testing.assert_allclose(basis.expand(theta, u), total, rtol=0, atol=1e-12)
    power = np.polynomial.Polynomial(basis.powers(theta)[0])
    np.testing.assert_allclose(power(u), total, rtol=0, atol=1e-11)
    slope = basis.expand(basis.differentiate(theta), u)
    np.testing.assert_allclose(slope, power.deriv()(u), rtol=0, atol=1e-11)
    roots = basis.roots(theta[:, None])[0, 0]
    np.testing.assert_allclose(
        np.sort(roots), np.sort(power.roots().real), rtol=0, atol=1e-8
    )


def test_stieltjes_finds_the_recurrence_of_a_sample_and_its_gauss_rule():
    x = np.random.default_rng([49, 2]).normal(size=(3, 40))
    basis, values = stieltjes(x, np.full(x.shape, 1 / 40), 4)
    gram = np.einsum("ibn,jbn->bij", values, values) / 40
    np.testing.assert_allclose(gram, np.tile(np.eye(5), (3, 1, 1)), rtol=0, atol=1e-12)
    nodes, weights = basis.gauss()
    for j in range(8):
        np.testing.assert_allclose((weights * nodes**j).sum(1), (x**j).mean(1))


def test_other_polynomials_and_other_coordinates():
    x = np.random.default_rng([49, 3]).normal(size=(2, 30))
    basis, values = stieltjes(x, np.full(x.shape, 1 / 30), 3)
    other = hermite(3, 2).move(np.array([0.5, -1.0]), np.array([2.0, 0.3]))
    found = np.einsum("bij,jbn->ibn", basis.coefficients(other), values)
    np.testing.assert_allclose(found, other.evaluate(x), rtol=0, atol=1e-9)
