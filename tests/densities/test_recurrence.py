import numpy as np
import pytest
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


def test_every_operation_is_that_on_powers_of_u():
    """A batch of uneven measures, against polynomials written out in powers."""
    rng = np.random.default_rng([49, 4])
    n_batch, m = 3, 5
    basis = Recurrence(
        rng.normal(size=(n_batch, m)), rng.uniform(0.5, 2, size=(n_batch, m))
    )
    other = Recurrence(
        rng.normal(size=(n_batch, m)), rng.uniform(0.5, 2, size=(n_batch, m))
    )
    theta, u = rng.normal(size=(n_batch, m + 1)), rng.normal(size=(n_batch, 7))

    def written_out(recurrence, b):
        x, found = np.polynomial.Polynomial([0.0, 1.0]), [np.polynomial.Polynomial([1])]
        for j in range(m):
            before = recurrence.beta[b, j - 1] * found[j - 1] if j else 0.0
            following = (x - recurrence.alpha[b, j]) * found[j] - before
            found.append(following / recurrence.beta[b, j])
        return found

    origin, unit = np.array([0.5, -1.0, 2.0]), np.array([2.0, 0.3, -1.5])
    moved = basis.move(origin, unit)
    lower = np.append(theta[:, :-1], np.zeros((n_batch, 1)), axis=1)
    got = {
        "values": basis.evaluate(u),
        "total": basis.expand(theta, u),
        "slope": basis.expand(basis.differentiate(theta), u),
        "times u": basis.expand(basis.times_u(lower), u),
        "powers": basis.powers(theta),
        "other": np.einsum(
            "bij,jbn->ibn", basis.coefficients(other), basis.evaluate(u)
        ),
        "moved": moved.evaluate(u),
        "roots": basis.roots(np.stack([theta, theta + np.eye(m + 1)[0]], axis=1)),
    }
    close = {"rtol": 1e-9, "atol": 1e-9}
    for b in range(n_batch):
        own = written_out(basis, b)
        total, part = (
            sum((c * p for c, p in zip(row[b], own, strict=True)), 0 * own[0])
            for row in (theta, lower)
        )
        for j, polynomial in enumerate(own):
            expected = polynomial(u[b])
            np.testing.assert_allclose(got["values"][j, b], expected, **close)
            far = polynomial((u[b] - origin[b]) / unit[b])
            np.testing.assert_allclose(got["moved"][j, b], far, **close)
        np.testing.assert_allclose(got["total"][b], total(u[b]), **close)
        np.testing.assert_allclose(got["slope"][b], total.deriv()(u[b]), **close)
        np.testing.assert_allclose(got["times u"][b], u[b] * part(u[b]), **close)
        np.testing.assert_allclose(got["powers"][b], total.coef, **close)
        for j, polynomial in enumerate(written_out(other, b)):
            np.testing.assert_allclose(got["other"][j, b], polynomial(u[b]), **close)
        for shift in (0, 1):
            roots = np.sort((total + shift).roots().real)
            np.testing.assert_allclose(np.sort(got["roots"][b, shift]), roots, **close)
        matrix = np.diag(basis.alpha[b]) + np.diag(basis.beta[b, :-1], 1)
        matrix += np.diag(basis.beta[b, :-1], -1)
        np.testing.assert_array_equal(basis.jacobi()[b], matrix)
    assert basis.degree == m and basis[[2, 0]].alpha.shape == (2, m)


@pytest.mark.parametrize(
    ("coef", "step", "degree"),
    [
        ([0.5, 1.0, -2.0, 0.0, 3.0], 0, 4),
        ([0.5, 1.0, -2.0, 1.0, 3e-13], 0, 3),
        ([0.5, 1.0, -2.0, 1.0, 3e-9], 0, 4),
        ([0.5, 1.0, -2.0, 1.0, -3.0], 0, 4),
        ([0.5, 1.0, 2.0, 1.0, 3e-13], 1, 3),
        ([0.5, 1.0, 2.0, 1e-13, 3e-13], 1, 2),
        ([0.5, 1.0, -2.0, 1e-13, 3e-13], 1, 3),
        ([0.5, 1.0, 2.0, -1.0, 3e-13], 1, 4),
        ([0.5, 1.0, 2.0, 1.0, 3e-13], 2, 4),
        ([0.5, 1.0, 2.0, 1e-13, 3e-13], 2, 2),
        ([0.5, 1.0, -2.0, 1e-13, 3e-13], 2, 4),
        ([0.5, 1.0, 2.0, 1.0, 3.0], 2, 4),
        ([0.5, 0.0, 0.0, 0.0, 0.0], 0, 0),
        ([0.5, 2.0, 0.0, 0.0, 0.0], 1, 1),
    ],
)
def test_next_to_no_leading_coefficients_are_dropped_down_to_one_that_rises(
    coef, step, degree
):
    """The second row of the batch keeps all of its own."""
    full = np.array([-1.0, 0.3, 0.5, 0.2, 1.0])
    found = hermite(4, 2).roots(np.array([coef, full])[:, None], step)[:, 0]
    for roots, row, kept in zip(found, (coef, full), (degree, 4), strict=True):
        assert np.isnan(roots).sum() == 4 - kept
        power = np.polynomial.HermiteE(
            np.array(row)[: kept + 1] / np.sqrt(special.factorial(np.arange(kept + 1)))
        )
        expected = np.sort(power.roots().real)
        np.testing.assert_allclose(
            np.sort(roots[:kept]), expected, rtol=1e-4, atol=1e-7
        )
