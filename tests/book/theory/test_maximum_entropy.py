"""Statements of *Maximum entropy as constraint*, each tried in two ways."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
import sympy
from numpy.polynomial.legendre import leggauss, legvander
from numpy.testing import assert_allclose
from scipy import optimize, special, stats
from sklearn.datasets import load_wine

from memdlib import MaxEntDensity
from memdlib.densities import Support, solve_dual
from memdlib.families import (
    Bernoulli,
    Exponential,
    Geometric,
    Normal,
    TruncatedExponential,
)
from tests.book.distributions import dual, flattest

FACES = np.arange(1, 7)


@pytest.mark.wrong("other densities lose 0.1 nats", "lost > 0", "lost > 0.1")
def test_thm_me_unique_witness():
    """An attack: dice with the same two moments, none with more entropy."""
    rng = np.random.default_rng([1, 1])
    powers = np.array([FACES**0, FACES, FACES**2])
    keeps_moments = np.linalg.svd(powers)[2][3:]
    for _ in range(60):
        start = rng.dirichlet(np.ones(6))
        die = MaxEntDensity(2, levels=FACES).from_moments(powers[1:] @ start)
        p = die.pdf(FACES)
        linear = die.log_normaliser_ + die.natural_params_ @ powers[1:]
        assert_allclose(np.log(p), -linear, rtol=0, atol=1e-9)
        change = rng.normal(size=3) @ keeps_moments
        reach = np.min(p / np.abs(change)) * rng.uniform(0.01, 1)
        for other in (start, p + reach * change, p - reach * change):
            lost = die.entropy_ - special.entr(other).sum()
            assert lost > 0
            divergence = special.rel_entr(other, p).sum()
            assert_allclose(lost, divergence, rtol=1e-5, atol=1e-12)


def test_thm_me_unique_second():
    """An optimiser that knows no exponential form; laws against the normal one."""
    found = flattest(np.vstack([np.ones(6), FACES]), [1, 4.5], np.ones(6))
    assert_allclose(np.diff(np.log(found), 2), 0, rtol=0, atol=1e-5)
    normal = stats.norm()
    for law in (  # of mean 0 and variance 1
        stats.logistic(scale=np.sqrt(3) / np.pi),
        stats.laplace(scale=np.sqrt(0.5)),
        stats.t(5, scale=np.sqrt(0.6)),
        stats.expon(-1),
        stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    ):
        low, high = np.clip([-300, 300], *law.support())
        divergence = law.expect(
            lambda x, law=law: law.logpdf(x) - normal.logpdf(x), lb=low, ub=high
        )
        lost = normal.entropy() - law.entropy()
        assert lost > 0
        assert_allclose(lost, divergence, rtol=1e-5)


@pytest.mark.wrong("the gradient is the mean itself", "slope, -f", "slope, f")
@pytest.mark.wrong("no parameter comes near the entropy", "> best", "> best + 0.01")
def test_thm_me_dual_witness():
    """Newton's bounds fall to the entropy; gradient and Hessian by differences."""
    rng = np.random.default_rng([1, 2])
    x = rng.beta(2, 5, size=500)
    nodes, weights = leggauss(256)
    means = legvander(2 * x - 1, 3)[:, 1:].mean(axis=0, keepdims=True)
    solved = solve_dual(legvander(nodes, 3)[:, 1:], np.log(weights), means)
    bounds = solved.history[:, 0] + np.log(0.5)
    density = MaxEntDensity(3, support=(0, 1)).fit(x)
    assert (np.diff(bounds) <= 1e-12).all()
    assert_allclose(bounds[-1], density.entropy_, rtol=0, atol=1e-10)
    assert max(density.moment_residual_, density.duality_gap_) < 1e-10
    for family, lam in (
        (Normal(), np.array([-0.6, 0.8])),
        (Exponential(), np.array([0.7])),
        (TruncatedExponential(), np.array([-3.0])),
        (Geometric(), np.array([0.4])),
        (Bernoulli(), np.array([1.2])),
    ):
        psi, mean = family.log_normaliser, family.mean
        ends = lam + 1e-4 * np.eye(len(lam)), lam - 1e-4 * np.eye(len(lam))
        slope = (psi(ends[0]) - psi(ends[1])) / 2e-4
        assert_allclose(slope, -family.mean(lam), rtol=1e-5)
        assert np.linalg.eigvalsh((mean(ends[1]) - mean(ends[0])) / 2e-4).min() > 0
        others = lam * np.exp(0.3 * rng.normal(size=(50, len(lam))))
        best = psi(lam) + lam @ mean(lam)
        assert (psi(others) + others @ mean(lam) > best).all()


def test_thm_me_dual_second():
    """Derivatives of an integral in 18 digits are moments of the normal law."""
    with mp.workdps(18):

        def log_integral(a, b):
            return mp.log(mp.quad(lambda t: mp.exp(-a * t - b * t * t), [-7, 0, 7]))

        point, orders = (mp.mpf("-0.6"), mp.mpf("0.8")), ((2, 0), (1, 1), (0, 2))
        first = [-mp.diff(log_integral, point, n) for n in ((1, 0), (0, 1))]
        second = [mp.diff(log_integral, point, n) for n in orders]
    # mean -a / (2 b), variance 1 / (2 b)
    m1, m2, m3, m4 = (stats.norm(0.375, np.sqrt(0.625)).moment(j) for j in (1, 2, 3, 4))
    assert_allclose(np.array(first, float), [m1, m2], rtol=1e-9)
    covariance = [m2 - m1**2, m3 - m1 * m2, m4 - m2**2]
    assert_allclose(np.array(second, float), covariance, rtol=1e-9)
    # the lowest point of the dual of the die is the root of the moment equation
    least = optimize.minimize_scalar(
        lambda lam: np.log(np.exp(-lam * FACES).sum()) + 4.5 * lam,
        bounds=(-2, 2),
        method="bounded",
        options={"xatol": 1e-10},
    )
    root = optimize.brentq(
        lambda lam: special.softmax(-lam * FACES) @ FACES - 4.5, -2, 2, xtol=1e-14
    )
    entropy = special.entr(special.softmax(-root * FACES)).sum()
    assert_allclose([least.x, least.fun], [root, entropy], rtol=1e-6)


def test_proof_of_thm_me_dual_has_a_dominating_function():
    """For x and x²: the sum over the corners is a product of hyperbolic cosines."""
    t, eps = np.linspace(-40, 40, 4001), 0.1
    size = np.abs(t) + t**2
    corners = 4 * np.cosh(2 * eps * t) * np.cosh(2 * eps * t**2)
    for k in range(1, 5):
        constant = (k / (np.e * eps)) ** k
        assert (size**k * np.exp(eps * size) <= constant * corners).all()


@pytest.mark.wrong("the likelihood is the entropy", "best, -d", "best, d")
def test_prop_me_likelihood_witness():
    """Fits have the entropy as likelihood, and fits to other moments do worse."""
    rng = np.random.default_rng([1, 3])
    for m, support, sample in (
        (2, (-np.inf, np.inf), rng.normal(3, 2, size=200)),
        (4, (0, 1), rng.beta(0.8, 1.3, size=200)),
        (1, (0, np.inf), rng.exponential(4, size=200)),
        (2, Support(0, 4, levels=tuple(range(5))), rng.integers(0, 5, size=200)),
    ):
        density = MaxEntDensity(m, support=support).fit(sample)
        best = density.logpdf(sample).mean()
        assert_allclose(best, -density.entropy_, rtol=1e-9)
        for moved in density.mean_params_ * (1 + 1e-3 * np.eye(m)):
            worse = MaxEntDensity(m, support=support).from_moments(moved)
            assert worse.logpdf(sample).mean() < best


def test_prop_me_likelihood_second():
    """Scipy maximises the likelihood; its gamma and beta fits have the moments."""
    rng = np.random.default_rng([1, 4])
    sample = rng.gamma(2.5, 3, size=300)
    shape, _, scale = stats.gamma.fit(sample, floc=0)
    fitted = special.digamma(shape) + np.log(scale), shape * scale
    assert_allclose(fitted, [np.log(sample).mean(), sample.mean()], rtol=1e-6)
    gamma = stats.gamma(shape, scale=scale)
    assert_allclose(gamma.logpdf(sample).mean(), -gamma.entropy(), rtol=1e-7)
    sample = rng.beta(2.0, 0.7, size=300)
    a, b, _, _ = stats.beta.fit(sample, floc=0, fscale=1)
    fitted = special.digamma([a, b]) - special.digamma(a + b)
    means = np.log(sample).mean(), np.log1p(-sample).mean()
    assert_allclose(fitted, means, rtol=1e-6)


@pytest.mark.wrong("the dual with the other sign", "psi(lam) +", "psi(lam) -")
def test_prop_me_table_witness():
    """Log-normaliser, means and entropy of the families of memdlib."""
    root = optimize.brentq(lambda v: 1 / v - 1 / np.expm1(v) - 0.2, 1, 9, xtol=1e-14)
    for family, mu, natural, psi in (
        (
            Normal(),
            [1.0, 3.0],
            [-1 / 2, 1 / 4],
            lambda v: v[0] ** 2 / (4 * v[1]) + 0.5 * np.log(np.pi / v[1]),
        ),
        (Exponential(), [2.5], [0.4], lambda v: -np.log(v[0])),
        (
            TruncatedExponential(),
            [0.2],
            [root],
            lambda v: np.log((1 - np.exp(-v[0])) / v[0]),
        ),
        (Bernoulli(), [0.2], [np.log(4)], lambda v: np.log(1 + np.exp(-v[0]))),
        (Geometric(), [2.5], [np.log(1.4)], lambda v: -np.log(1 - np.exp(-v[0]))),
    ):
        lam = family.natural(mu)
        assert_allclose(lam, natural, rtol=1e-11)
        assert_allclose(family.mean(lam), mu, rtol=1e-12)
        assert_allclose(family.log_normaliser(lam), psi(lam), rtol=1e-12)
        assert_allclose(family.entropy(mu), psi(lam) + lam @ np.array(mu), rtol=1e-12)


def test_prop_me_table_second():
    """From the means to the parameters and back, by sums and integrals."""
    log, exp, inf, q, r = mp.log, mp.exp, mp.inf, mp.mpf(0.2), mp.mpf(2.5)
    totals = (
        lambda f: mp.quad(f, [-inf, 0, 1, inf]),
        lambda f: mp.quad(f, [0, 1, inf]),
        lambda f: mp.quad(f, [0, 1]),
        lambda f: f(0) + f(1),
        lambda f: mp.nsum(f, [0, inf]),
    )
    psis = (
        lambda a, b: a * a / (4 * b) + log(mp.pi / b) / 2,
        lambda a: -log(a),
        lambda a: log((1 - exp(-a)) / a),
        lambda a: log(1 + exp(-a)),
        lambda a: -log(1 - exp(-a)),
    )
    with mp.workdps(20):
        rate = mp.findroot(lambda a: 1 / a - 1 / mp.expm1(a) - q, 5)
        odds = log(1 / q - 1), log(1 + 1 / r)
        naturals = (-0.5, 0.25), (1 / r,), (rate,), odds[:1], odds[1:]
        means = (1, 3), (r,), (q,), (q,), (r,)
        for total, psi, natural, mu in zip(totals, psis, naturals, means, strict=True):

            def weight(x, natural=natural):
                return exp(-sum(a * x**j for j, a in enumerate(natural, 1)))

            mass = total(weight)
            assert abs(log(mass) - psi(*map(mp.mpf, natural))) < 1e-15
            for j, mean in enumerate(mu, 1):
                moment = total(lambda x, j=j, weight=weight: x**j * weight(x)) / mass
                assert abs(moment - mean) < 1e-15


@pytest.mark.wrong("the loss is one per cent more", "lost, d", "lost, 1.01 * d")
@pytest.mark.wrong("each moment lowers it by a hundredth", "lost > 0", "lost > 0.01")
def test_prop_me_more_witness():
    """Flavanoids of wines: entropy lost to one more moment, by quadrature."""
    rng, flavanoids = np.random.default_rng([1, 5]), load_wine().data[:, 6]
    fits = [MaxEntDensity(m, support=(0, 6)).fit(flavanoids) for m in range(1, 9)]
    nodes, weights = leggauss(400)
    t, w = 3 * (nodes + 1), 3 * weights
    for m, (fewer, more) in enumerate(pairwise(fits), 1):
        low = fewer.pdf(t)
        divergence = np.sum(w * special.rel_entr(more.pdf(t), low))
        lost = fewer.entropy_ - more.entropy_
        assert lost > 0
        assert_allclose(lost, divergence, rtol=1e-6)
        # other densities with the same m moments
        known, root = np.vander(nodes, m + 1), np.sqrt(w * low)[:, None]
        wave = legvander(nodes, m + 5) @ rng.normal(size=(m + 6, 20))
        wave -= known @ np.linalg.lstsq(known * root, wave * root)[0]
        wave *= rng.uniform(0.01, 1, size=20) / np.abs(wave).max(axis=0)
        other = low[:, None] * (1 + wave)
        moments = known.T @ (w * low)
        assert_allclose(known.T @ (w[:, None] * other) - moments[:, None], 0, atol=1e-9)
        assert (w @ special.entr(other) < fewer.entropy_).all()
    has_it = MaxEntDensity(3, support=(-1, 1)).from_moments([0.0, 0.2, 0.0])
    two = MaxEntDensity(2, support=(-1, 1)).from_moments([0.0, 0.2])
    assert_allclose(has_it.entropy_, two.entropy_, rtol=1e-10)


def test_prop_me_more_second():
    """Duals for one to six moments on a grid, by a quasi-Newton method of scipy."""
    rng, points = np.random.default_rng([1, 6]), (np.arange(4000) + 0.5) / 4000
    sample = np.concatenate([rng.beta(9, 3, size=300), rng.beta(2, 8, size=300)])
    features, means = (legvander(2 * x - 1, 6)[:, 1:].T for x in (points, sample))
    means = means.mean(axis=1)
    least, solved, options = [], [], {"gtol": 1e-9}
    for m in range(1, 7):
        known = features[:m], means[:m]
        found = optimize.minimize(dual, np.zeros(m), known, jac=True, options=options)
        least.append(found.fun)
        solved.append(special.softmax(-found.x @ features[:m]))
    divergence = special.rel_entr(solved[1:], solved[:-1]).sum(axis=1)
    assert (divergence > 0).all()
    assert_allclose(-np.diff(least), divergence, rtol=1e-4, atol=1e-8)


def test_first_throw_of_many_with_a_known_mean():
    """Shares of the faces, counted in integers, approach the die of the chapter."""
    die = MaxEntDensity(1, levels=FACES).from_moments([4.5]).pdf(FACES)
    off = []
    for n in (10, 20, 40, 80):
        ways = np.array([1], dtype=object)
        for _ in range(n - 1):
            ways = np.convolve(ways, [0, 1, 1, 1, 1, 1, 1])
        rest = ways[9 * n // 2 - FACES]
        off.append(np.abs(rest / rest.sum() - die).max())
    assert (np.diff(off) < 0).all()


def test_density_of_entropy_minus_infinity():
    """The exercise's integral, u = -log x: mass one, entropy without bound."""
    u, end = sympy.symbols("u U", positive=True)
    assert sympy.integrate(u**-2, (u, 1, sympy.oo)) == 1
    term = sympy.expand((u - 2 * sympy.log(u)) / u**2)
    up_to = -sympy.integrate(term, (u, 1, end))
    shown = 2 - 2 * (1 + sympy.log(end)) / end - sympy.log(end)
    assert sympy.expand(up_to - shown) == 0
    assert sympy.limit(shown, end, sympy.oo) == -sympy.oo
