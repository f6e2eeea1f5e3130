"""Statements of *NML of maximum entropy*."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.nml import (
    exponential_complexity,
    gaussian_complexity,
    geometric_complexity,
    multinomial_complexity,
)
from memdlib.nml.alphabet import alphabet_codelength, is_boundary

LEVELS = np.array([0.0, 1, 2, 3, 5])


def some_counts(seed, cases):
    """Counts of eight values on the levels, and scaled powers of these."""
    rng = np.random.default_rng([42, seed])
    for _ in range(cases):
        m = int(rng.integers(1, 4))
        counts = rng.multinomial(8, rng.dirichlet(np.full(5, 0.6)))
        yield counts, m, np.vander(LEVELS / 5, m + 1, increasing=True).T


@pytest.mark.wrong("on the line every sequence has a largest likelihood", "> 6", "< 1")
def test_thm_gm_error_witness():
    """Likelihoods by a general optimiser, and normal laws of two observations."""

    def dual(lam, phi, mean):
        energy = -lam @ phi
        p = np.exp(energy - logsumexp(energy))
        return logsumexp(energy) + lam @ mean, mean - phi @ p

    for counts, m, powers in some_counts(1, 40):
        phi, options = powers[1:], {"gtol": 1e-9}
        found = optimize.minimize(
            dual, np.zeros(m), (phi, phi @ counts / 8), jac=True, options=options
        )
        error = alphabet_codelength(counts, LEVELS, m).error
        np.testing.assert_allclose(8 * found.fun, error, rtol=0, atol=1e-4)
    for pair in np.random.default_rng([42, 2]).normal(size=(20, 2)):
        reached = stats.norm(pair.mean(), pair.std()).logpdf(pair).sum()
        entropy = 2 * stats.norm(0, pair.std()).entropy()
        np.testing.assert_allclose(-reached, entropy, rtol=1e-12)
    alone = [stats.norm(0.3, s).logpdf(0.3) for s in (1, 1e-3, 1e-6)]
    assert (np.diff(alone) > 6).all()


@pytest.mark.wrong("the error is n - 1 times the entropy", "-8 * found", "-7 * found")
def test_thm_gm_error_second():
    """No family and no likelihood: entropy maximised over the probabilities."""
    for counts, m, powers in some_counts(3, 30):
        moments = {
            "type": "eq",
            "fun": lambda p, A=powers, k=counts: A @ (p - k / 8),
            "jac": lambda p, A=powers: A,
        }
        found = optimize.minimize(
            lambda p: xlogy(p, p).sum(),
            0.9 * counts / 8 + 0.02,
            jac=lambda p: np.log(np.maximum(p, 1e-300)) + 1,
            bounds=[(1e-12, 1)] * 5,
            constraints=moments,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        error = alphabet_codelength(counts, LEVELS, m).error
        np.testing.assert_allclose(-8 * found.fun, error, rtol=0, atol=1e-5)


@pytest.mark.wrong("others never have these moments", "> 1e-7", "> 1")
@pytest.mark.wrong("the error is zero on the boundary", "counts / 6)", "1 + counts)")
def test_thm_gm_boundary_witness():
    """Linear programmes for another distribution of the same moments."""
    rng, seen = np.random.default_rng([42, 4]), set()
    for _ in range(60):
        L = int(rng.integers(3, 8))
        m = int(rng.integers(1, L - 1))
        levels = np.cumsum(rng.uniform(0.5, 1.5, L))
        counts = rng.multinomial(6, rng.dirichlet(np.full(L, 0.5)))
        x = (levels - levels.mean()) / np.ptp(levels)
        powers = np.vander(x, m + 1, increasing=True).T
        most = [  # that each level can have
            -optimize.linprog(-unit, A_eq=powers, b_eq=powers @ counts).fun / 6
            for unit in np.eye(L)
        ]
        edge = is_boundary(counts, m)
        assert edge != (min(most) > 1e-7)
        seen.add(bool(edge))
        if edge:
            error = alphabet_codelength(counts, levels, m).error
            frequencies = -xlogy(counts, counts / 6).sum()
            np.testing.assert_allclose(error, frequencies, rtol=0, atol=1e-12)
    assert seen == {True, False}


@pytest.mark.wrong(
    "inner runs need no even number of roots", "r + r % 2 for r", "r for r"
)
def test_thm_gm_boundary_second():
    """Linear programmes for the polynomial, of sum one over the levels."""
    x = np.linspace(-1, 1, 6)
    for pattern in list(product([False, True], repeat=6))[1:]:
        runs = [len(r) for r in "".join(" x"[o] for o in pattern).split(" ")]
        outer = 6 if all(pattern) else runs[0] + runs[-1]
        needed = outer + sum(r + r % 2 for r in runs[1:-1])
        for m in (1, 2, 3, 4):
            powers = np.polynomial.legendre.legvander(x, m)
            equal = np.vstack([powers[list(pattern)], powers.sum(axis=0)])
            found = optimize.linprog(
                np.zeros(m + 1), -powers, np.zeros(6), equal,
                np.eye(len(equal))[-1], bounds=(None, None),
            )  # fmt: skip
            assert (found.status == 0) == (needed <= m)
            assert is_boundary(pattern, m) == (needed <= m)


@pytest.mark.wrong(
    "the density at another parameter than the estimate",
    "n, 1 / (1 + means)",
    "n, 1 / (2 + means)",
)
def test_thm_gm_estimate_witness():
    """A negative binomial law, and the law of a sum of uniforms by folding."""
    n, sums = 6, np.arange(1, 41)
    means = sums / n
    terms = stats.nbinom.pmf(sums, n, 1 / (1 + means))
    found = geometric_complexity(n, largest_sum=40)
    np.testing.assert_allclose(np.log(1 + terms.sum()), found, rtol=1e-12)

    cells, law = np.full(1000, 1e-3), np.ones(1)
    for _ in range(4):
        law = np.convolve(law, cells)
    mean = (np.arange(len(law)) + 2) / 4000
    rates = np.linspace(-40, 40, 4000)  # none is zero
    of_mean = np.log(-np.expm1(-rates) / rates) + rates * mean[:, None]
    inside = (mean > 0.2) & (mean < 0.8)
    folded = law[inside] @ np.exp(-4 * of_mean[inside].min(axis=1))
    found = exponential_complexity(4, upper=1, mean_range=(0.2, 0.8))
    np.testing.assert_allclose(np.log(folded), found, rtol=0, atol=3e-3)


@pytest.mark.wrong(
    "the factor that knows no parameter has to be one", "width * around", "width"
)
def test_thm_gm_estimate_second():
    """Over the data themselves: the unit square, triples of counts, normal pairs."""

    def across(a):  # the larger of the two is the coordinate
        loss = optimize.minimize_scalar(
            lambda r: np.log(-np.expm1(-r) / r) + r * a,
            bounds=(-60.1, 60),
            method="bounded",
            options={"xatol": 1e-9},
        ).fun
        return 4 * (min(2 * a, 1) - a) * np.exp(-2 * loss)

    total = sum(integrate.quad(across, *ends)[0] for ends in ((0.2, 0.5), (0.5, 0.8)))
    found = exponential_complexity(2, upper=1, mean_range=(0.2, 0.8))
    np.testing.assert_allclose(np.log(total), found, rtol=1e-7)

    total = Fraction(0)
    for s in (sum(y) for y in product(range(10), repeat=3)):
        total += (s <= 9) * Fraction(3, 3 + s) ** 3 * Fraction(s, 3 + s) ** s
    found = geometric_complexity(3, largest_sum=9)
    np.testing.assert_allclose(np.log(float(total)), found, rtol=1e-12)

    # what knows no mean of normal pairs is the density of their difference
    width, law = 1.3, stats.norm(0, 2)
    around = integrate.quad(lambda u: 2 * law.pdf(u) ** 2, -60, 60, epsabs=1e-13)[0]
    found = np.exp(gaussian_complexity(2, mean_range=(0.2, 1.5), scale=2))
    np.testing.assert_allclose(width * around, found, rtol=1e-9)


def area(function):
    return integrate.quad(function, 0.5, 4, epsabs=0, epsrel=1e-11)[0]


@pytest.mark.wrong("a range of three is like one of four", "4 * both", "3 * both")
@pytest.mark.wrong("the tails add nothing", "of_means + tails", "of_means")
def test_prop_gm_table_witness():
    """Integrals of laws of scipy at their own parameter."""

    def scale_law(s, n, free):
        return stats.chi.pdf(s, free, scale=s / np.sqrt(n))

    for n in (2, 7, 38):
        exact = 4 * stats.norm.pdf(0, 0, 2 / np.sqrt(n))
        found = gaussian_complexity(n, mean_range=(-1, 3), scale=2)
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)
        exact = area(lambda s, n=n: scale_law(s, n, n))
        found = gaussian_complexity(n, scale_range=(0.5, 4))
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)
        both = area(
            lambda s, n=n: scale_law(s, n, n - 1) * stats.norm.pdf(0, 0, s / np.sqrt(n))
        )
        found = gaussian_complexity(n, mean_range=(-1, 3), scale_range=(0.5, 4))
        np.testing.assert_allclose(np.log(4 * both), found, rtol=0, atol=1e-9)
        of_means = area(lambda m, n=n: stats.gamma.pdf(m, n, scale=m / n))
        tails = stats.gamma.cdf(n, n) + stats.gamma.sf(n, n)
        for counted, exact in (("data", of_means), ("parameter", of_means + tails)):
            found = exponential_complexity(n, mean_range=(0.5, 4), counted=counted)
            np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)


@pytest.mark.wrong("the scale is the distance", "r / np.sqrt(2), 0.5", "r, 0.5")
@pytest.mark.wrong(
    "the parameter is not confined", "y.mean(axis=1), 0.5, 4", "y.mean(axis=1), 0.4, 4"
)
def test_prop_gm_table_second():
    """Over the data: two normal ones, and exponential draws with weights."""

    def pair(r):  # at distance r from 0
        s = np.clip(r / np.sqrt(2), 0.5, 4)
        return r * np.exp(-r * r / (2 * s * s)) / s**2

    edges = np.array([0, 0.5, 4, 40]) * np.sqrt(2)
    parts = [integrate.quad(pair, *edges[i : i + 2])[0] for i in range(3)]
    for counted, exact in (("data", parts[1]), ("parameter", sum(parts))):
        found = gaussian_complexity(2, scale_range=(0.5, 4), counted=counted)
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-8)

    y = 2 * np.random.default_rng([42, 5]).exponential(size=(200_000, 3))
    estimate, total = np.clip(y.mean(axis=1), 0.5, 4), y.sum(axis=1)
    weight = np.exp(-total / estimate + total / 2) * (2 / estimate) ** 3
    found = exponential_complexity(3, mean_range=(0.5, 4), counted="parameter")
    close = 4 * weight.std() / np.sqrt(len(y))
    assert close < 0.05 * np.exp(found)
    np.testing.assert_allclose(weight.mean(), np.exp(found), rtol=0, atol=close)


@pytest.mark.wrong(
    "the shortest code has the largest entropy",
    "entropies.argmin()",
    "entropies.argmax()",
)
def test_cor_gm_minimax_witness():
    """Every feature with two values on eight points, once up to complement."""
    rng = np.random.default_rng([42, 6])
    codes = [alphabet_codelength([4 - k, k], [0, 1], 1) for k in range(5)]
    error, total = np.array([(code.error, code.total) for code in codes]).T
    features = (np.arange(1, 128)[:, None] >> np.arange(8)) & 1
    block = features.sum(axis=1)
    for _ in range(100):
        data = rng.choice(8, size=4, p=rng.dirichlet(np.full(8, 0.5)))
        ones = features[:, data].sum(axis=1)
        # the label of the block, then the place in it
        spread = (4 - ones) * np.log(8 - block) + ones * np.log(block)
        lengths, entropies = total[ones] + spread, (error[ones] + spread) / 4
        assert lengths.argmin() == entropies.argmin()
        complexity = multinomial_complexity(4, 2)
        np.testing.assert_allclose(lengths - 4 * entropies, complexity, rtol=1e-12)


@pytest.mark.wrong("the most probable has the most", "entropy.min(", "entropy.max(")
def test_cor_gm_minimax_second():
    """NML as probabilities, normalised over all sequences."""
    x1, x2, x3 = np.array(list(product((0, 1), repeat=3))).T
    every = np.array(list(product(range(8), repeat=4)))
    probability, entropy = [], []
    for f in (x1, x2, x3, x1 * x2, x1 ^ x2, (x1 + x2 + x3) % 2, x1 * x2 * x3):
        share, block = f[every].mean(axis=1, keepdims=True), f.mean()
        p = np.where(f[every], share / block, (1 - share) / (1 - block)) / 8
        probability.append(p.prod(axis=1) / p.prod(axis=1).sum())
        entropy.append(-np.log(p).mean(axis=1))
    entropy = np.array(entropy)
    best = np.argmax(probability, axis=0)
    found = entropy[best, np.arange(len(every))]
    np.testing.assert_allclose(found, entropy.min(axis=0), rtol=0, atol=1e-12)


@pytest.mark.wrong(
    "a moment lowers the complexity", "<= codes[1:, :, 1]", ">= codes[1:, :, 1]"
)
def test_prop_gm_nested_witness():
    """All counts of three values on five levels, up to all four moments."""
    counts = [c for c in product(range(4), repeat=5) if sum(c) == 3]
    codes = [[alphabet_codelength(c, LEVELS, m) for c in counts] for m in range(1, 5)]
    codes = np.array([[(c.error, c.complexity) for c in row] for row in codes])
    assert (codes[1:, :, 0] <= codes[:-1, :, 0] + 1e-12).all()
    assert (codes[:-1, :, 1] <= codes[1:, :, 1]).all()


@pytest.mark.wrong(
    "they stay the same",
    "larger.sum() > smaller.sum()",
    "larger.sum() == smaller.sum()",
)
def test_prop_gm_nested_second():
    """Blocks of eight points, refined: their shares are likelihoods."""
    every = np.array(list(product(range(8), repeat=4)))
    point, likelihoods = np.arange(8), []
    for block_of in (point // 8, point // 4, point // 2, point):
        share = (block_of[every][:, :, None] == block_of[every][:, None]).mean(axis=2)
        size = np.bincount(block_of)[0]
        likelihoods.append((share / size).prod(axis=1))
    for smaller, larger in pairwise(likelihoods):
        assert (smaller <= larger).all()
        assert larger.sum() > smaller.sum()


@pytest.mark.wrong("a block of two counts twice", "/ block_of.count(b)", "* 1")
def test_independent_partitions_add_their_complexities():
    """Blocks of sizes one to three, and a product of two by three, in fractions."""
    for partitions, parts in (
        ([[0, 1, 1, 2, 2, 2]], (3,)),
        ([[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]], (2, 3)),
    ):
        total = Fraction(0)
        for s in product(range(6), repeat=4):
            likelihood = Fraction(1, 6**4)
            for block_of in partitions:
                seen = [block_of[x] for x in s]
                for b in seen:
                    likelihood *= Fraction(6 * seen.count(b), 4) / block_of.count(b)
            total += likelihood
        exact = sum(multinomial_complexity(4, L) for L in parts)
        np.testing.assert_allclose(np.log(float(total)), exact, rtol=1e-12)


@pytest.mark.wrong("the complexity grows faster", "exact >= c * ", "exact >= 2 * c * ")
def test_prop_gm_infinite_witness():
    for n in (2, 3, 5, 9, 20, 38):
        c = np.exp(n * np.log(n) - n - gammaln(n))
        for a in 10.0 ** -np.arange(2, 9):
            exact = np.exp(exponential_complexity(n, upper=1, mean_range=(a, 0.5)))
            assert exact >= c * np.log(1 / (n * a))
        for ratio in (1, 10, 100, 1000, 10000):
            found = np.exp(geometric_complexity(n, largest_sum=n * ratio))
            assert found >= c / 2**n * np.log(ratio)
    for ends in ((0, 0.5), (0.5, 1), (None, 0.5)):
        with pytest.raises(ValueError, match="log C is infinite"):
            exponential_complexity(5, upper=1, mean_range=ends)


@pytest.mark.wrong("a factor of ten adds less", "4 * np.exp(-2)", "3.8 * np.exp(-2)")
def test_prop_gm_infinite_second():
    """Two data, nearer and nearer to zero: each factor of ten adds the same."""

    def integrand(u):
        m = np.exp(u)
        r = optimize.brentq(
            lambda r: 1 / r + np.exp(-r) / np.expm1(-r) - m, 0.5 / m, 2 / m
        )
        # the pairs of mean m form a segment, of weight 4 m
        return 4 * m * m * np.exp(-2 * (np.log(-np.expm1(-r) / r) + r * m))

    limit = 4 * np.exp(-2) * np.log(10)
    for j in (3, 4, 5):
        ends = np.log([10.0**-j, 10.0 ** (1 - j)])
        np.testing.assert_allclose(
            integrate.quad(integrand, *ends)[0], limit, rtol=1e-6
        )
    s = np.arange(10_000)
    terms = np.cumsum((s + 1) * (2 / (2 + s)) ** 2 * np.exp(xlogy(s, s / (2 + s))))
    np.testing.assert_allclose(np.diff(terms[[99, 999, 9999]]), limit, rtol=0.03)
