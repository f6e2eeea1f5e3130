"""Statements of *Discriminative NML, computed*."""

from math import comb, prod

import numpy as np
import pytest
from scipy import optimize
from scipy.special import entr, expit

from memdlib.nml import (
    conditional_complexity,
    conditional_error,
    multinomial_complexity,
)
from tests.book.nml.labels import coin, counts_below, powers
from tests.nml.literal import literal_complexity, suprema


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


@pytest.mark.wrong(
    "the gap is at most nine tenths of the quadratic form",
    "<= (5 * (1 - q) / q)",
    "<= 0.9 * (5 * (1 - q) / q)",
)
@pytest.mark.wrong(
    "other counts of the same statistic are less certain",
    ">= value - 1e-9",
    "<= value - 1e-9",
)
def test_prop_dn_gap_witness():
    """Likelihood, its supremum, entropy and quadratic form are in order."""
    fits = 0
    for rng, n, k, values, p in some_mixed_counts(1):
        X = powers(values, p)
        value = -conditional_error(n, k, p, values)
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
        error = conditional_error(n, k, 2, values)
        np.testing.assert_allclose(-least, error, rtol=0, atol=1e-7)


@pytest.mark.wrong(
    "nine tenths of the number of statistics", "most = prod(", "most = 0.9 * prod("
)
def test_prop_dn_table_witness():
    """Tables and listed counts give one sum, and statistics keep their bound."""
    for n in ([8, 7, 8, 7], [20, 3, 2, 9, 1], [5, 5, 6]):
        values = np.arange(1.0, len(n) + 1)
        k, number_of = counts_below(n)
        for m, constant in ((1, False), (1, True), (2, False), (2, True)):
            error = conditional_error(np.tile(n, (len(k), 1)), k, m, values, constant)
            found = conditional_complexity(n, m, values, constant)
            listed = np.log(number_of @ np.exp(-error))
            np.testing.assert_allclose(found, listed, rtol=1e-12)
    for a, n, x in ((1, [1], [-1]), (2, [3, 2], [-2, 1]), (4, [1, 3, 2], [-1, 3, 4])):
        for m in (1, 2, 3):
            statistics = counts_below(n)[0] @ np.power.outer(x, np.arange(1, m + 1))
            most = prod(a**j * sum(n) + 1 for j in range(1, m + 1))
            assert len(np.unique(statistics, axis=0)) <= most


@pytest.mark.wrong("one sequence for each count", "copies * comb(count, k)", "copies")
def test_prop_dn_table_second():
    """A dictionary of statistics, with the maximum of any counts of each."""
    n, x, number_of = [3, 2, 4, 2], np.array([1, 2, 3, 5]), {(0, 0): 1}
    for count, value in zip(n, x.tolist(), strict=True):
        longer = {}
        for (s, t), copies in number_of.items():
            for k in range(count + 1):
                key = s + k * value, t + k * value**2
                longer[key] = longer.get(key, 0) + copies * comb(count, k)
        number_of = longer
    k, _ = counts_below(n)
    any_counts = dict(zip(zip(k @ x, k @ x**2, strict=True), k, strict=True))
    value = suprema(n, [any_counts[t] for t in number_of], powers(x, 2))
    total = np.array(list(number_of.values())) @ np.exp(value)
    found = conditional_complexity(n, 2, x)
    np.testing.assert_allclose(np.log(total), found, rtol=0, atol=1e-9)


def boundary(a, r):
    """Log of the sum over the counts without a maximum."""
    e = np.poly(1 - a)
    ways = [sum(comb(len(a) - j - 1, i) for i in range(r - j)) for j in range(r)]
    return np.log(2 * (ways @ e[:r]))


def truncated(a, r):
    """Log of the upper bound."""
    return np.log(np.poly(-a)[: r + 1].sum())


@pytest.mark.wrong(
    "one degree less is enough",
    "found < truncated(a, m)",
    "found < truncated(a, m - 1)",
)
@pytest.mark.wrong(
    "the complexity is a ninth above the boundary at least",
    "boundary(one, 4) < near",
    "boundary(one, 4) - np.log(0.9) < near",
)
@pytest.mark.wrong(
    "nine tenths of the truncated product",
    "near < truncated(one, 4)",
    "near < truncated(one, 4) + np.log(0.9)",
)
def test_thm_dn_truncated_witness():
    rng = np.random.default_rng([43, 2, 3])
    some = [-9.0, -4, -2, -1, 1, 2, 3, 5, 8, 13, 40]
    for _ in range(40):
        L = int(rng.integers(2, 6))
        n = np.minimum(1 + rng.geometric(rng.choice([0.2, 0.5, 0.9], size=L)), 12)
        x = np.sort(rng.choice(some, L, replace=False))
        a = np.exp([multinomial_complexity(int(v), 2) for v in n]) - 1
        for m in range(1, L):
            found = conditional_complexity(n, m, x)
            assert boundary(a, m) < found
            assert found < truncated(a, m)
        full = conditional_complexity(n, L, x)
        np.testing.assert_allclose(full, truncated(a, L), rtol=1e-12)
    # one label at each of five levels, four parameters: both bounds are near
    one, near = np.ones(5), conditional_complexity(np.ones(5, int), 4)
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
