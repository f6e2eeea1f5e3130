"""Statements of *Divergences*, each tried in two ways."""

from itertools import product

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, optimize, special, stats

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


def exact(*rows):
    """Rows in the working precision of mpmath, each with the sum one."""
    rows = [[mp.mpf(float(v)) for v in row] for row in rows]
    return [[v / mp.fsum(row) for v in row] for row in rows]


@pytest.mark.wrong(
    "Jeffreys' divergence is a difference", "forward + backward", "forward - backward"
)
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


@pytest.mark.wrong(
    "nine tenths of the bound by total variation",
    "<= (1 + 1e-12) * entropy",
    "<= 0.9 * entropy",
)
@pytest.mark.wrong("rounding leaves nine tenths", "< full", "< 0.9 * full")
@pytest.mark.wrong("processing leaves nine tenths", "value, rtol", "0.9 * value, rtol")
def test_thm_dv_f_witness():
    """Bounds, channels, mixtures and permutations; normal laws rounded and cut."""
    rng = np.random.default_rng([3, 3])
    entropy = stats.entropy([0.3, 0.7])

    def uneven_js(p, q):
        return divergences.jensen_shannon(np.stack([p, q]), [0.3, 0.7])

    assert uneven_js([1.0, 0.0], [0.0, 1.0]) <= (1 + 1e-12) * entropy
    for _ in range(200):
        concentration = np.full(6, 10.0 ** rng.uniform(-0.5, 1))
        (p, q), (r, s) = rng.dirichlet(concentration, size=(2, 2))
        W, a = rng.dirichlet(np.full(4, 0.5), size=6), rng.random()
        for measure in (divergences.kl, divergences.jeffreys, uneven_js):
            value = measure(p, q)
            assert value > 0 and measure(p @ W, q @ W) <= value
            mixed = measure(a * p + (1 - a) * r, a * q + (1 - a) * s)
            assert mixed <= a * value + (1 - a) * measure(r, s)
            assert_allclose(measure(p[::-1], q[::-1]), value, rtol=1e-12)
        assert uneven_js(p, q) <= entropy * 0.5 * np.abs(p - q).sum()
    one, two = stats.norm(0, 1), stats.norm(1, 2)
    full = np.log(2) + (1 + 1) / (2 * 4) - 0.5
    rounded = []
    for width in (4.0, 1.0, 0.25):
        walls = np.arange(-60, 60 + width, width)
        cells = [np.diff(law.cdf(walls)) for law in (one, two)]
        rounded.append(special.rel_entr(*cells).sum())
    assert (np.diff(rounded) > 0).all() and rounded[-1] < full
    atom = special.rel_entr(one.cdf(0.5), two.cdf(0.5))
    rest = integrate.quad(
        lambda x: one.pdf(x) * (one.logpdf(x) - two.logpdf(x)), 0.5, 30
    )[0]
    assert 0 < atom + rest < rounded[-1]


def f_divergence(f, at_zero, at_infinity, p, q):
    """The definition for any convex f, with zeros in both densities."""
    both = (p > 0) & (q > 0)
    total = np.sum(q[both] * f(p[both] / q[both]))
    for limit, mass in ((at_zero, q[p == 0].sum()), (at_infinity, p[q == 0].sum())):
        total += limit * mass if mass > 0 else 0.0
    return total


def test_thm_dv_f_second():
    """An attack: channels improved step by step never make a divergence grow."""
    rng = np.random.default_rng([3, 4])
    convex = {
        "KL": (lambda u: u * np.log(u), 0.0, np.inf),
        "J": (lambda u: (u - 1) * np.log(u), np.inf, np.inf),
        "JS": (
            lambda u: 0.5 * u * np.log(u) - 0.5 * (u + 1) * np.log(0.5 * (u + 1)),
            0.5 * np.log(2),
            0.5 * np.log(2),
        ),
        "total variation": (lambda u: 0.5 * np.abs(u - 1), 0.5, 0.5),
        "squared Hellinger": (lambda u: (np.sqrt(u) - 1) ** 2, 1.0, 1.0),
    }
    apart = np.array([0.4, 0.6, 0, 0]), np.array([0, 0, 0.9, 0.1])
    for f in convex.values():
        assert_allclose(f_divergence(*f, *apart), f[1] + f[2], rtol=1e-12)
        for _ in range(20):
            p, q = rng.dirichlet(np.ones(4), size=2)
            p[rng.integers(4)], q[rng.integers(4)] = 0, 0
            p, q = p / p.sum(), q / q.sum()
            before = f_divergence(*f, p, q)
            assert before <= (f[1] + f[2]) * 0.5 * np.abs(p - q).sum() + 1e-12
            channel, best = rng.dirichlet(np.ones(3), size=4), -1.0
            for _ in range(60):
                trial = np.abs(channel + 0.3 * rng.normal(size=channel.shape))
                trial /= trial.sum(axis=1, keepdims=True)
                after = f_divergence(*f, p @ trial, q @ trial)
                if after > best:
                    channel, best = trial, after
            assert 0 <= best <= before + 1e-12


@pytest.mark.wrong("nine tenths of the bound by total variation", "0.5 *", "0.45 *")
def test_prop_dv_members_witness():
    """JS is at most H V, reached on disjoint sets; for near pairs half of J."""
    rng = np.random.default_rng([3, 5])
    P, w = rng.dirichlet(np.ones(5), size=(200, 2)), rng.dirichlet(np.ones(2), 200)
    P[0] = [[0.5, 0.5, 0, 0, 0], [0, 0, 0.2, 0.3, 0.5]]
    for (p, q), weight in zip(P, w, strict=True):
        js = divergences.jensen_shannon(np.stack([p, q]), weight)
        assert js <= stats.entropy(weight) * 0.5 * np.abs(p - q).sum() + 1e-12
    p, change = np.full(4, 0.25), np.array([1.0, -2.0, 3.0, -2.0]) * 1e-5
    js = divergences.jensen_shannon(np.stack([p + change, p]), [0.2, 0.8])
    assert_allclose(0.16 * divergences.jeffreys(p + change, p) / js, 2, rtol=1e-3)


def test_prop_dv_members_second():
    """KL, J and JS by their curves f, which have the curvatures of the table."""
    rng = np.random.default_rng([3, 6])

    def js_curve(u, a, b):
        return a * u * mp.log(u) - (a * u + b) * mp.log(a * u + b)

    with mp.workdps(30):
        for _ in range(30):
            (p, q), (w,) = exact(*rng.dirichlet(np.ones(5), 2)), exact(rng.random(2))
            cells, (a, b) = list(zip(p, q, strict=True)), w
            J = mp.fsum((u - v) * mp.log(u / v) for u, v in cells)
            of_curve = mp.fsum(v * (u / v - 1) * mp.log(u / v) for u, v in cells)
            assert abs(J - of_curve) < 1e-25
            mean = [a * u + b * v for u, v in cells]
            js = mp.fsum(
                a * u * mp.log(u / m) + b * v * mp.log(v / m)
                for (u, v), m in zip(cells, mean, strict=True)
            )
            of_curve = mp.fsum(v * js_curve(u / v, a, b) for u, v in cells)
            assert abs(js - of_curve) < 1e-25
        for b in (mp.mpf("0.2"), mp.mpf("0.5")):
            for f, second in (
                (lambda u: u * mp.log(u), 1),
                (lambda u: (u - 1) * mp.log(u), 2),
                (lambda u, b=b: js_curve(u, 1 - b, b), (1 - b) * b),
            ):
                assert abs(mp.diff(f, 1, 2) - second) < 1e-9


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
        unscaled = np.exp(-lam @ powers)
        psi = np.log(unscaled @ weights / 2)
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
        (
            Bernoulli(),
            lambda a, b: (a - b) * (log(a / (1 - a)) - log(b / (1 - b))),
        ),
        (
            Geometric(),
            lambda a, b: (a - b) * log(a * (1 + b) / (b * (1 + a))),
        ),
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


@pytest.mark.wrong("the terms add up to two divergences", "kl(p, q)", "2 * kl(p, q)")
def test_prop_dv_digits_witness():
    """The terms are nonnegative and add up to KL; an empty cell leaves its q."""
    p, q = np.random.default_rng([3, 12]).dirichlet(np.ones(6), size=(2, 200))
    kl = divergences.kl
    terms = p * divergences.x_minus_log1p((q - p) / p)
    assert (terms >= 0).all()
    assert_allclose(terms.sum(axis=1), kl(p, q), rtol=1e-12)
    assert_allclose(kl([0.5, 0, 0.5], [0.25, 0.25, 0.5]), 0.5 * np.log(2), rtol=1e-14)


def test_prop_dv_digits_second():
    """The identity in sixty digits, on exact fractions with an empty cell."""
    rng = np.random.default_rng([3, 13])
    for _ in range(50):
        whole = rng.multinomial(40, np.full(5, 0.2), size=2)
        whole[0, 0], whole[1] = 0, whole[1] + 1
        with mp.workdps(60):
            cells = list(zip(*exact(*whole), strict=True))
            left = mp.fsum(a * mp.log(a / b) for a, b in cells if a > 0)
            terms = [
                a * ((b - a) / a - mp.log(b / a)) if a > 0 else b for a, b in cells
            ]
            assert min(terms) >= 0 and abs(mp.fsum(terms) - left) < 1e-55
