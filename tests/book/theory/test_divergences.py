"""Statements of *Divergences*, each tried in two ways."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats

from memdlib import divergences
from memdlib.families import (
    Bernoulli,
    Exponential,
    Geometric,
    Multinomial,
    MultivariateNormal,
    Normal,
    Poisson,
    Polynomial,
    TruncatedExponential,
)
from tests.book.distributions import exact


@pytest.mark.wrong("Jeffreys' divergence is a difference", "forward +", "forward -")
def test_lem_dv_gibbs_witness():
    """Random pairs, from nearly equal to very uneven ones, and empty cells."""
    rng = np.random.default_rng([3, 1])
    kl, jeffreys = divergences.kl, divergences.jeffreys
    for spread in (-1, 0, 1, 2):
        p, q = rng.dirichlet(np.full(6, 10.0**spread), size=(2, 200))
        forward, backward = kl(p, q), kl(q, p)
        assert (forward > 0).all() and (kl(p, p) == 0).all()
        assert_allclose(jeffreys(p, q), forward + backward, rtol=1e-12)
    assert kl([0.5, 0.5, 0], [1, 0, 0]) == np.inf
    assert jeffreys([1, 0, 0], [0.5, 0.5, 0]) == np.inf
    assert_allclose(kl([1, 0, 0], [0.5, 0.5, 0]), np.log(2), rtol=1e-15)


def test_lem_dv_gibbs_second():
    """In fifty digits; and walking q downhill ends at p, not below zero."""
    rng = np.random.default_rng([3, 2])
    for p, q in rng.dirichlet(np.full(5, 0.7), size=(40, 2)):
        with mp.workdps(50):
            terms = [a * mp.log(a / b) for a, b in zip(*exact(p, q), strict=True)]
            assert min(terms) < 0 < mp.fsum(terms)
    p, q = rng.dirichlet(np.ones(5), size=(2, 10))
    for _ in range(400):  # with q = softmax(theta) the gradient in theta is q - p
        q = q * np.exp(p - q)
        q /= q.sum(axis=1, keepdims=True)
        assert (np.sum(p * np.log(p / q), axis=1) > -1e-15).all()
    assert np.abs(q - p).max() < 0.02


@pytest.mark.wrong("every pair twice", "of_pairs, rtol", "2 * of_pairs, rtol")
def test_prop_gm_pairs_witness():
    """JS_GM of two to six distributions, among them very uneven ones."""
    rng = np.random.default_rng([6, 1])
    for _ in range(200):
        K, cells = rng.integers(2, 7), rng.integers(2, 9)
        P = rng.dirichlet(np.full(cells, 10.0 ** rng.uniform(-0.5, 1)), size=K)
        w = rng.dirichlet(np.ones(K))
        of_pairs = sum(
            w[k] * w[j] * divergences.jeffreys(P[k], P[j])
            for k in range(K)
            for j in range(k)
        )
        assert_allclose(divergences.js_gm(P, w), of_pairs, rtol=1e-11)
    assert divergences.js_gm([[0.5, 0.5], [1.0, 0.0]]) == np.inf
    assert divergences.js_gm([[0.3, 0.7]] * 4) == 0


def test_prop_gm_pairs_second():
    """The definition, with the geometric mean, against J of pairs in thirty digits."""
    rng = np.random.default_rng([6, 2])
    for _ in range(40):
        with mp.workdps(30):
            P = exact(*rng.dirichlet(np.full(5, 0.5), size=4))
            (w,) = exact(rng.dirichlet(np.ones(4)))
            mean = [
                mp.fprod(p[c] ** v for p, v in zip(P, w, strict=True)) for c in range(5)
            ]
            left = mp.fsum(
                v * a * mp.log(a / g)
                for p, v in zip(P, w, strict=True)
                for a, g in zip(p, mean, strict=True)
            )
            right = mp.fsum(
                w[k] * w[j] * (a - b) * mp.log(a / b)
                for k, j in product(range(4), repeat=2)
                for a, b in zip(P[k], P[j], strict=True)
            )
            assert abs(2 * left / right - 1) < 1e-25


@pytest.mark.wrong("twice the product", ", change @", ", 2 * change @")
def test_thm_dv_remark_witness():
    """KL as a Bregman divergence and J as a product, in seven families."""
    rng = np.random.default_rng([3, 7])
    for family, draw in {
        Normal(): lambda: Normal.mean_parameters(rng.normal(), rng.uniform(0.2, 4)),
        Exponential(): lambda: rng.uniform(0.1, 5, size=1),
        TruncatedExponential(): lambda: rng.uniform(0.02, 0.98, size=1),
        Bernoulli(): lambda: rng.uniform(0.02, 0.98, size=1),
        Geometric(): lambda: rng.uniform(0.1, 5, size=1),
        Poisson(): lambda: rng.uniform(0.1, 5, size=1),
        Polynomial(3): lambda: Polynomial(3).mean(rng.normal(size=3)),
    }.items():
        for _ in range(10):
            one, two = draw(), draw()
            lam, other = family.natural(one), family.natural(two)
            change = other - lam
            psi = family.log_normaliser(other) - family.log_normaliser(lam)
            kl, J = family.kl(one, two), family.jeffreys(one, two)
            assert_allclose(kl, psi + change @ one, rtol=1e-8, atol=1e-12)
            assert_allclose(J, change @ (one - two), rtol=1e-8, atol=1e-12)


def test_thm_dv_remark_second():
    """Three moments on [0, 1], a family scipy does not have: by quadrature."""
    rng = np.random.default_rng([3, 8])
    nodes, weights = np.polynomial.legendre.leggauss(60)
    powers = ((nodes + 1) / 2) ** np.array([[1], [2], [3]])
    for _ in range(20):
        lam = 2 * rng.normal(size=(2, 3))
        psi = np.log(np.exp(-lam @ powers) @ weights / 2)
        log_p = -psi[:, None] - lam @ powers
        mu = (np.exp(log_p) * weights / 2) @ powers.T
        ratio = log_p[0] - log_p[1]
        forward, backward = (np.exp(log_p) * weights / 2) @ ratio * [1, -1]
        change = lam[1] - lam[0]
        assert_allclose(forward, psi[1] - psi[0] + change @ mu[0], rtol=0, atol=1e-12)
        J = change @ (mu[0] - mu[1])
        assert_allclose(forward + backward, J, rtol=0, atol=1e-12)


@pytest.mark.wrong("twice the closed form", "formula(a, b),", "2 * formula(a, b),")
def test_prop_dv_table_witness():
    """Closed forms against the families of memdlib."""
    rng, log = np.random.default_rng([3, 9]), np.log
    for family, formula in (
        (Exponential(), lambda a, b: (a - b) ** 2 / (a * b)),
        (Bernoulli(), lambda a, b: (a - b) * (log(a / (1 - a)) - log(b / (1 - b)))),
        (Geometric(), lambda a, b: (a - b) * log(a * (1 + b) / (b * (1 + a)))),
        (Poisson(), lambda a, b: (a - b) * log(a / b)),
    ):
        a, b = rng.uniform(0.05, 0.95, size=(2, 100))
        found = family.jeffreys(a[:, None], b[:, None])
        assert_allclose(found, formula(a, b), rtol=1e-10)
    for _ in range(50):
        (a, b), (v, u) = rng.normal(size=2), rng.uniform(0.1, 4, size=2)
        mu = Normal.mean_parameters(a, v), Normal.mean_parameters(b, u)
        J = 0.5 * (v / u + u / v - 2 + (a - b) ** 2 * (1 / v + 1 / u))
        assert_allclose(Normal().jeffreys(*mu), J, rtol=1e-10)
        theta = rng.dirichlet(np.ones(3), size=2)
        J = (theta[0] - theta[1]) @ log(theta[0] / theta[1])
        words = Multinomial().jeffreys(*theta[:, :, None]).sum()
        assert_allclose(words, J, rtol=1e-10)
        root = rng.normal(size=(2, 3, 5))
        S, a = root @ root.transpose(0, 2, 1), rng.normal(size=(2, 3))
        inverse, shift = np.linalg.inv(S), a[0] - a[1]
        J = np.trace(inverse[0] @ S[1] + inverse[1] @ S[0] - 2 * np.eye(3))
        J += shift @ (inverse[0] + inverse[1]) @ shift
        joint = MultivariateNormal()
        mu = [joint.mean_parameters(*p) for p in zip(a, S, strict=True)]
        assert_allclose(joint.jeffreys(*mu), J / 2, rtol=1e-10)


def summed(p, q, x):
    """J of two discrete laws of scipy by its definition."""
    return np.sum((p.pmf(x) - q.pmf(x)) * (p.logpmf(x) - q.logpmf(x)))


def integrated(p, q, low, high):
    """J of two continuous laws of scipy by its definition."""

    def term(x):
        return (p.pdf(x) - q.pdf(x)) * (p.logpdf(x) - q.logpdf(x))

    return integrate.quad(term, low, high, limit=400, epsrel=1e-11)[0]


def test_prop_dv_table_second():
    """Every row of the table by the definition, over laws of scipy."""
    rng, log, counts = np.random.default_rng([3, 10]), np.log, np.arange(400)
    for a, b in rng.uniform(0.1, 0.9, size=(3, 2)):
        coins = summed(stats.bernoulli(a), stats.bernoulli(b), counts[:2])
        J = (a - b) * (log(a / (1 - a)) - log(b / (1 - b)))
        assert_allclose(coins, J, rtol=1e-9)
        poisson = summed(stats.poisson(a), stats.poisson(b), counts[:60])
        assert_allclose(poisson, (a - b) * log(a / b), rtol=1e-9)
        laws = (stats.geom(1 / (1 + m), loc=-1) for m in (a, b))
        J = (a - b) * log(a * (1 + b) / (b * (1 + a)))
        assert_allclose(summed(*laws, counts), J, rtol=1e-9)
        J = integrated(stats.expon(scale=a), stats.expon(scale=b), 0, 90)
        assert_allclose(J, (a - b) ** 2 / (a * b), rtol=1e-9)
        J = integrated(stats.norm(a, 1), stats.norm(0, b), -25, 25)
        closed = (b**2 + 1 / b**2 - 2 + a**2 * (1 + 1 / b**2)) / 2
        assert_allclose(J, closed, rtol=1e-9)
        rate = [
            optimize.brentq(lambda r, m=m: 1 / r - 1 / np.expm1(r) - m, *ends)
            for m, ends in ((a / 2, (1e-6, 60)), ((1 + b) / 2, (-60, -1e-6)))
        ]
        laws = (stats.truncexpon(r, scale=1 / r) for r in (rate[0], -rate[1]))
        falling, rising = laws
        J = integrate.quad(
            lambda x, f=falling, g=rising: (
                (f.pdf(x) - g.pdf(1 - x)) * (f.logpdf(x) - g.logpdf(1 - x))
            ),
            0,
            1,
        )[0]
        moments = (rate[1] - rate[0]) * (a / 2 - (1 + b) / 2)
        found = TruncatedExponential().jeffreys([a / 2], [(1 + b) / 2])
        assert_allclose([J, found], moments, rtol=1e-9)
    texts = np.array([(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)])
    s, t = rng.dirichlet(np.ones(3), size=2)
    J = summed(stats.multinomial(4, s), stats.multinomial(4, t), texts) / 4
    assert_allclose(J, (s - t) @ log(s / t), rtol=1e-9)


def test_joint_normal_of_prop_dv_table_on_a_gauss_hermite_grid():
    """The last row: a log-ratio is quadratic, and four nodes an axis are exact."""
    rng = np.random.default_rng([3, 11])
    z, weight = np.polynomial.hermite_e.hermegauss(4)
    z = np.array(list(product(z, repeat=3)))
    weight = np.prod(list(product(weight / weight.sum(), repeat=3)), axis=1)
    root, mean = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3))
    S = root @ root.transpose(0, 2, 1)
    laws = [stats.multivariate_normal(m, C) for m, C in zip(mean, S, strict=True)]
    J = 0.0
    for own, other in (laws, laws[::-1]):
        x = own.mean + z @ np.linalg.cholesky(own.cov).T
        J += weight @ (own.logpdf(x) - other.logpdf(x))
    shift, solve = mean[0] - mean[1], np.linalg.solve
    closed = np.trace(solve(S[0], S[1]) + solve(S[1], S[0])) / 2 - 3
    closed += shift @ (solve(S[0], shift) + solve(S[1], shift)) / 2
    assert_allclose(J, closed, rtol=1e-9)
