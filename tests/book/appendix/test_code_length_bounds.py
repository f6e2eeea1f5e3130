"""Statements of *Rules and bounds for code lengths*."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import entr, expit, gammaln, xlogy

from memdlib import nml
from memdlib.nml.discrete import discrete_codelength, is_boundary
from tests.book.nml.labels import coin, counts_below, likelihood, powers
from tests.nml.literal import literal_complexity, suprema


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
            error = discrete_codelength(counts, levels, m).error
            frequencies = -xlogy(counts, counts / 6).sum()
            np.testing.assert_allclose(error, frequencies, rtol=0, atol=1e-12)
    assert seen == {True, False}


@pytest.mark.wrong("inner runs need no even number of roots", "r + r % 2", "r")
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


@pytest.mark.wrong("the density at another parameter", "(1 + means)", "(2 + means)")
def test_thm_gm_estimate_witness():
    """A negative binomial law, and the law of a sum of uniforms by folding."""
    n, sums = 6, np.arange(1, 41)
    means = sums / n
    terms = stats.nbinom.pmf(sums, n, 1 / (1 + means))
    found = nml.geometric_complexity(n, largest_sum=40)
    np.testing.assert_allclose(np.log(1 + terms.sum()), found, rtol=1e-12)

    cells, law = np.full(1000, 1e-3), np.ones(1)
    for _ in range(4):
        law = np.convolve(law, cells)
    mean = (np.arange(len(law)) + 2) / 4000
    rates = np.linspace(-40, 40, 4000)  # none is zero
    of_mean = np.log(-np.expm1(-rates) / rates) + rates * mean[:, None]
    inside = (mean > 0.2) & (mean < 0.8)
    folded = law[inside] @ np.exp(-4 * of_mean[inside].min(axis=1))
    found = nml.exponential_complexity(4, upper=1, mean_range=(0.2, 0.8))
    np.testing.assert_allclose(np.log(folded), found, rtol=0, atol=3e-3)


@pytest.mark.wrong("a factor without parameter must be one", "width * around", "width")
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
    found = nml.exponential_complexity(2, upper=1, mean_range=(0.2, 0.8))
    np.testing.assert_allclose(np.log(total), found, rtol=1e-7)

    total = Fraction(0)
    for s in (sum(y) for y in product(range(10), repeat=3)):
        total += (s <= 9) * Fraction(3, 3 + s) ** 3 * Fraction(s, 3 + s) ** s
    found = nml.geometric_complexity(3, largest_sum=9)
    np.testing.assert_allclose(np.log(float(total)), found, rtol=1e-12)

    # what knows no mean of normal pairs is the density of their difference
    width, law = 1.3, stats.norm(0, 2)
    around = integrate.quad(lambda u: 2 * law.pdf(u) ** 2, -60, 60, epsabs=1e-13)[0]
    found = np.exp(nml.gaussian_complexity(2, mean_range=(0.2, 1.5), scale=2))
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
        found = nml.gaussian_complexity(n, mean_range=(-1, 3), scale=2)
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)
        exact = area(lambda s, n=n: scale_law(s, n, n))
        found = nml.gaussian_complexity(n, scale_range=(0.5, 4))
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)
        both = area(
            lambda s, n=n: scale_law(s, n, n - 1) * stats.norm.pdf(0, 0, s / np.sqrt(n))
        )
        found = nml.gaussian_complexity(n, mean_range=(-1, 3), scale_range=(0.5, 4))
        np.testing.assert_allclose(np.log(4 * both), found, rtol=0, atol=1e-9)
        of_means = area(lambda m, n=n: stats.gamma.pdf(m, n, scale=m / n))
        tails = stats.gamma.cdf(n, n) + stats.gamma.sf(n, n)
        for counted, exact in (("data", of_means), ("parameter", of_means + tails)):
            found = nml.exponential_complexity(n, mean_range=(0.5, 4), restrict=counted)
            np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-9)


@pytest.mark.wrong("the scale is the distance", "r / np.sqrt(2), 0.5", "r, 0.5")
@pytest.mark.wrong("the parameter is not confined", "axis=1), 0.5", "axis=1), 0.4")
def test_prop_gm_table_second():
    """Over the data: two normal ones, and exponential draws with weights."""

    def pair(r):  # at distance r from 0
        s = np.clip(r / np.sqrt(2), 0.5, 4)
        return r * np.exp(-r * r / (2 * s * s)) / s**2

    edges = np.array([0, 0.5, 4, 40]) * np.sqrt(2)
    parts = [integrate.quad(pair, *edges[i : i + 2])[0] for i in range(3)]
    for counted, exact in (("data", parts[1]), ("parameter", sum(parts))):
        found = nml.gaussian_complexity(2, scale_range=(0.5, 4), restrict=counted)
        np.testing.assert_allclose(np.log(exact), found, rtol=0, atol=1e-8)

    y = 2 * np.random.default_rng([42, 5]).exponential(size=(200_000, 3))
    estimate, total = np.clip(y.mean(axis=1), 0.5, 4), y.sum(axis=1)
    weight = np.exp(-total / estimate + total / 2) * (2 / estimate) ** 3
    found = nml.exponential_complexity(3, mean_range=(0.5, 4), restrict="parameter")
    close = 4 * weight.std() / np.sqrt(len(y))
    assert close < 0.05 * np.exp(found)
    np.testing.assert_allclose(weight.mean(), np.exp(found), rtol=0, atol=close)


@pytest.mark.wrong("the complexity grows faster", "exact >= c * ", "exact >= 2 * c * ")
def test_prop_gm_infinite_witness():
    for n in (2, 3, 5, 9, 20, 38):
        c = np.exp(n * np.log(n) - n - gammaln(n))
        for a in 10.0 ** -np.arange(2, 9):
            exact = np.exp(nml.exponential_complexity(n, upper=1, mean_range=(a, 0.5)))
            assert exact >= c * np.log(1 / (n * a))
        for ratio in (1, 10, 100, 1000, 10000):
            found = np.exp(nml.geometric_complexity(n, largest_sum=n * ratio))
            assert found >= c / 2**n * np.log(ratio)
    for ends in ((0, 0.5), (0.5, 1), (None, 0.5)):
        with pytest.raises(ValueError, match="log C is infinite"):
            nml.exponential_complexity(5, upper=1, mean_range=ends)


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


def has_no_maximum(n, k, values, p, constant=False):
    """The rule of signs."""
    mixed, turn = (0 < k) & (k < n), 1 if constant else np.sign(values)
    below = np.cumsum(mixed) - mixed
    sign = (np.where(k == n, 1, -1) * turn * (-1.0) ** below)[~mixed]
    changes = (sign[1:] != sign[:-1]).sum()
    return bool(mixed.sum() < p and changes <= p - 1 - mixed.sum())


@pytest.mark.wrong("statistics near the boundary have no maximum", "< 1e-7", "< 0.2")
def test_thm_dn_boundary_witness():
    """Linear programmes for the distance of a statistic from the walls."""
    rng, seen = np.random.default_rng([43, 4]), set()
    for case in range(60):
        constant, L = bool(case % 2), int(rng.integers(2, 8))
        x = np.sort(rng.choice([-4.0, -3, -2, -1, 1, 2, 3, 4, 5], L, replace=False))
        m = int(rng.integers(1, L - constant)) if L > 2 else 1
        p = m + constant
        n = rng.integers(1, 7, size=L)
        k = rng.binomial(n, rng.choice([0, 1, 0.5], size=L, p=[0.4, 0.4, 0.2]))
        X = powers(x, m, constant)
        # other counts of this statistic, as far from 0 and from n as can be
        equal = np.column_stack([X.T * n, np.zeros(p)]), X.T @ k
        walls = np.column_stack([np.vstack([-np.eye(L), np.eye(L)]), np.ones(2 * L)])
        limit, bounds = np.repeat([0, 1], L), [(0, 1)] * L + [(None, 1)]
        room = -optimize.linprog(
            np.r_[np.zeros(L), -1], walls, limit, *equal, bounds
        ).fun
        outside = p < L and has_no_maximum(n, k, x, p, constant)
        if p < L:
            assert outside == (room < 1e-7)
        seen.add(outside)
        saturated = -(xlogy(k, k / n) + xlogy(n - k, 1 - k / n)).sum()
        error = nml.conditional_error(n, k, m, level_values=x, intercept=constant)
        assert error > saturated - 1e-12
        assert abs(suprema(n, [k], X)[0] + error) < 1e-6
        if outside:
            np.testing.assert_allclose(error, saturated, rtol=0, atol=1e-12)
    assert seen == {True, False}


@pytest.mark.wrong("two parameters more", "(x, p - 1)", "(x, p + 1)")
def test_thm_dn_boundary_second():
    """Linear programmes for the coefficients of the polynomial."""
    rng = np.random.default_rng([43, 6])
    for values, constant in (
        (np.arange(1.0, 6.0), False),
        (np.array([-3.0, -1, 1, 2, 4]), False),
        (np.arange(5.0), True),
    ):
        for p in (2, 3, 4)[: 3 - constant]:
            x = values / np.abs(values).max()
            X = np.polynomial.chebyshev.chebvander(x, p - 1)
            X = X if constant else x[:, None] * X
            k = rng.integers(0, 3, size=(25, 5))
            error = nml.conditional_error(
                np.full((25, 5), 2),
                k,
                p - constant,
                level_values=values,
                intercept=constant,
            )
            # a pure level that costs nothing needs infinite logits
            mixed = (k == 1).sum(axis=1)
            boundary = (error < 2 * mixed * np.log(2) + 1e-9) & (mixed < 5)
            for side, expected in zip(k - 1.0, boundary, strict=True):
                right, zero = (side[:, None] * X)[side != 0], X[side == 0]
                found = optimize.linprog(
                    -right.sum(axis=0), -right, np.zeros(len(right)), zero,
                    np.zeros(len(zero)), bounds=(-1, 1),
                )  # fmt: skip
                assert (-found.fun > 1e-7) == expected


@pytest.mark.wrong("one sign less", "2 * sum", "sum")
def test_prop_dn_boundary_sum_witness():
    """All counts listed."""
    rng = np.random.default_rng([43, 5])
    for case in range(24):
        L = int(rng.integers(2, 6))
        n = rng.integers(1, 5, size=L)
        values = np.cumsum(rng.uniform(0.2, 2, L)) - 2.5 * (case % 2)
        k, number_of = counts_below(n)
        e = np.poly([2 - float(coin(v)) for v in n.tolist()])  # symmetric polynomials
        for m in range(1, L):
            edge = np.array([has_no_maximum(n, c, values, m) for c in k])
            error = nml.conditional_error(
                np.tile(n, (len(k), 1)), k, m, level_values=values
            )
            terms = number_of * np.exp(-error)
            closed = 2 * sum(
                comb(L - j - 1, i) * e[j] for j in range(m) for i in range(m - j)
            )
            np.testing.assert_allclose(terms[edge].sum(), closed, rtol=1e-12)
            found = np.exp(nml.conditional_complexity(n, m, level_values=values))
            np.testing.assert_allclose(closed + terms[~edge].sum(), found, rtol=1e-12)


@pytest.mark.wrong("corners count for nothing", "n[turn] + 1", "n[turn]")
def test_prop_dn_boundary_sum_second():
    """Two moments, along the edges of the polygon in the order of the slopes."""
    for n in ([4, 3, 5], [1, 2, 2, 6], [2, 3, 1, 3, 2]):
        total = Fraction(0)
        for start, turn in product((0, 1), range(len(n))):
            # levels below are flipped, one is on its way, others not
            below, above = ([v * side for v in n] for side in (1 - start, start))
            for k in range(1, n[turn] + 1):
                on_its_way = n[turn] - k if start else k
                total += likelihood(n, [*below[:turn], on_its_way, *above[turn + 1 :]])
        singles = sum(likelihood([v], [k]) for v in n for k in range(v + 1))
        assert total == 2 * (singles - len(n))


def certain(n, mu):
    """Minus the entropy of labels with these expected counts."""
    return -(n * (entr(mu / n) + entr(1 - mu / n))).sum(axis=-1)


def some_mixed_counts(seed, cases=30):
    rng = np.random.default_rng([43, 2, seed])
    for _ in range(cases):
        L = int(rng.integers(2, 7))
        n = rng.integers(3, 20, size=L)
        k = np.clip(rng.binomial(n, 0.4), 1, n - 1)  # mixed: there is a maximum
        yield rng, n, k, np.cumsum(rng.uniform(0.3, 2, L)), int(rng.integers(1, L))


@pytest.mark.wrong("nine tenths of the quadratic form", "<= (5", "<= 0.9 * (5")
@pytest.mark.wrong("other counts are less certain", ">= value", "<= value")
def test_prop_dn_gap_witness():
    """Likelihood, its supremum, entropy and quadratic form are in order."""
    fits = 0
    for rng, n, k, values, p in some_mixed_counts(1):
        X = powers(values, p)
        value = -nml.conditional_error(n, k, p, level_values=values)
        np.testing.assert_allclose(suprema(n, [k], X), value, rtol=0, atol=1e-6)
        # other expected counts of the same statistic
        direction = rng.normal(size=(10, len(n) - p)) @ np.linalg.svd(X.T)[2][p:]
        wall = np.where(direction > 0, n - k, k) / np.abs(direction)
        mu = k + (rng.uniform(size=10) * wall.min(axis=1))[:, None] * direction
        assert (certain(n, mu.clip(0, n)) >= value - 1e-9).all()
        # a Newton step from logits a little off
        off = X @ rng.normal(0, 1, p) + np.linalg.lstsq(X, np.log(k / (n - k)))[0] @ X.T
        w = n * expit(off) * expit(-off)
        step = X @ np.linalg.solve(X.T * w @ X, X.T @ (k - n * expit(off)))
        mu = n * expit(off) + w * step
        if ((mu >= 0) & (mu <= n)).all():
            here = k @ off - n @ np.logaddexp(0, off)
            assert here - 1e-9 <= value <= certain(n, mu) + 1e-9
            assert certain(n, mu) - here <= w @ step**2 + 1e-9
            fits += 1
    assert fits > 15
    q = expit(9.0)  # a level at a certain logit whose labels agree: nearly equality
    assert -5 * np.log(q) <= (5 * (1 - q) / q)


@pytest.mark.wrong("the error is the entropy of the counts", "inside.fun", "np.inf")
def test_prop_dn_gap_second():
    """Two parameters on three levels: expected counts are a segment, searched."""
    rng = np.random.default_rng([43, 2, 2])
    values = np.array([1.0, 2.0, 4.0])
    relation = np.cross(values, values**2)
    for _ in range(60):
        n = rng.integers(2, 9, size=3)
        k = rng.binomial(n, 0.5)
        ends = np.sort([-k / relation, (n - k) / relation], axis=0)
        low, high = ends[0].max(), ends[1].min()
        least = certain(n, k)
        if high - low > 1e-12:
            inside = optimize.minimize_scalar(
                lambda s, n=n, k=k: certain(n, np.clip(k + s * relation, 0, n)),
                bounds=(low, high),
                method="bounded",
                options={"xatol": 1e-10},
            )
            least = min(least, inside.fun)
        error = nml.conditional_error(n, k, 2, level_values=values)
        np.testing.assert_allclose(-least, error, rtol=0, atol=1e-7)


def boundary(a, r):
    """Log of the sum over the counts without a maximum."""
    e = np.poly(1 - a)
    ways = [sum(comb(len(a) - j - 1, i) for i in range(r - j)) for j in range(r)]
    return np.log(2 * (ways @ e[:r]))


def truncated(a, r):
    """Log of the upper bound."""
    return np.log(np.poly(-a)[: r + 1].sum())


@pytest.mark.wrong("a degree less is enough", "truncated(a, m)", "truncated(a, m - 1)")
@pytest.mark.wrong("a ninth above the boundary", "4) < near", "4) - np.log(0.9) < near")
@pytest.mark.wrong("nine tenths of the product", "near < t", "near - np.log(0.9) < t")
def test_thm_dn_truncated_witness():
    rng = np.random.default_rng([43, 2, 3])
    some = [-9.0, -4, -2, -1, 1, 2, 3, 5, 8, 13, 40]
    for _ in range(40):
        L = int(rng.integers(2, 6))
        n = np.minimum(1 + rng.geometric(rng.choice([0.2, 0.5, 0.9], size=L)), 12)
        x = np.sort(rng.choice(some, L, replace=False))
        a = np.exp([nml.multinomial_complexity(int(v), 2) for v in n]) - 1
        for m in range(1, L):
            found = nml.conditional_complexity(n, m, level_values=x)
            assert boundary(a, m) < found
            assert found < truncated(a, m)
        full = nml.conditional_complexity(n, L, level_values=x)
        np.testing.assert_allclose(full, truncated(a, L), rtol=1e-12)
    # one label at each of five levels, four parameters: both bounds are near
    one, near = np.ones(5), nml.conditional_complexity(np.ones(5, int), 4)
    assert boundary(one, 4) < near
    assert near < truncated(one, 4)


@pytest.mark.wrong("the levels count once together", "upper += a", "upper += 0.2 * a")
@pytest.mark.wrong("the score counts twice", "1 + 0.5 * area", "1 + area")
def test_thm_dn_truncated_second():
    """One parameter: the integral of the mean score, alone and level by level."""
    for n, x in (([3, 4, 2], [1, 2, 3]), ([5, 1, 6], [-2, 1, 3])):
        lam, law, score, apart, upper = np.linspace(-30, 30, 2001), 1, 0, 0, 1
        for count, value in zip(n, x, strict=True):
            k = np.arange(count + 1)[:, None]
            binomial = [[comb(count, j)] for j in range(count + 1)]
            p = binomial * np.exp(
                k * lam * value - count * np.logaddexp(0, lam * value)
            )
            own = value * (k - count * expit(lam * value))
            apart += (p * np.abs(own)).sum(axis=0)
            law = (np.atleast_2d(law)[:, None] * p).reshape(-1, lam.size)
            score = (np.atleast_2d(score)[:, None] + own).reshape(-1, lam.size)
            a = float(coin(count)) - 1
            upper += a
        area = 0.03 * (law * np.abs(score)).sum()
        found = np.exp(literal_complexity(n, np.sort(x), 1, False))
        np.testing.assert_allclose(1 + 0.5 * area, found, rtol=5e-4)
        np.testing.assert_allclose(1 + 0.015 * apart.sum(), upper, rtol=5e-4)


@pytest.mark.wrong("a ninth less is enough", "1 + sum(a)", "0.9 * (1 + sum(a))")
def test_thm_dn_truncated_on_lines_off_the_origin():
    """One parameter, maxima on a fine grid; levels far apart nearly reach the bound."""
    rng, t = np.random.default_rng([43, 2, 4]), np.linspace(-60, 60, 4001)[:, None]
    n = np.array([2, 1, 3])
    (k, number_of), a = counts_below(n), [float(coin(v)) - 1 for v in n.tolist()]
    apart = np.array([[0, 30, -30], [1, 1, 1]])
    for offset, along in [apart, *rng.normal(size=(5, 2, 3))]:
        eta = offset + t * along
        value = eta @ k.T - np.logaddexp(0, eta) @ n[:, None]
        assert number_of @ np.exp(value.max(axis=0)) <= 1 + sum(a)
