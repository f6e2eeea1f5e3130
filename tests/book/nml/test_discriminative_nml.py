"""Statements of *Discriminative NML*."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy import optimize
from scipy.special import logit, xlogy

from memdlib.nml import conditional_complexity, conditional_error
from tests.book.nml.labels import coin, counts_below, likelihood, powers
from tests.nml.literal import literal_complexity, suprema


def has_no_maximum(n, k, values, p, constant=False):
    """The rule of signs."""
    mixed, turn = (0 < k) & (k < n), 1 if constant else np.sign(values)
    below = np.cumsum(mixed) - mixed
    sign = (np.where(k == n, 1, -1) * turn * (-1.0) ** below)[~mixed]
    changes = (sign[1:] != sign[:-1]).sum()
    return bool(mixed.sum() < p and changes <= p - 1 - mixed.sum())


@pytest.mark.wrong(
    "the model has a constant term",
    "conditional_complexity(n, m)",
    "conditional_complexity(n, m, intercept=True)",
)
def test_prop_dn_model_witness():
    """Sums over label sequences, each with a maximum of its own."""
    n, x = np.array([2, 4, 3]), np.array([1.0, 2, 3])
    labels = np.array(list(product((0, 1), repeat=9)))
    k = np.add.reduceat(labels, [0, 2, 6], axis=1)
    for m in (1, 2):
        value = suprema(n, k, powers(x, m))
        found = conditional_complexity(n, m)
        np.testing.assert_allclose(np.log(np.exp(value).sum()), found, atol=1e-9)
        error = conditional_error(np.tile(n, (len(k), 1)), k, m)
        np.testing.assert_allclose(-value, error, rtol=0, atol=1e-7)


@pytest.mark.wrong(
    "the model has a constant term", "np.arange(1, m + 1)", "np.arange(m + 1)"
)
def test_prop_dn_model_second():
    """The error is the largest conditional entropy: no polynomial, no likelihood."""
    rng = np.random.default_rng([43, 1])
    for _ in range(25):
        n, m = rng.integers(2, 12, size=5), int(rng.integers(1, 4))
        k = np.clip(rng.binomial(n, 0.5), 1, n - 1)
        X = (np.arange(1, 6)[:, None] / 5) ** np.arange(1, m + 1)
        moments = {
            "type": "eq",
            "fun": lambda q, X=X, n=n, k=k: X.T @ (n * q - k),
            "jac": lambda q, X=X, n=n: X.T * n,
        }
        least = optimize.minimize(
            lambda q, n=n: n @ (xlogy(q, q) + xlogy(1 - q, 1 - q)),
            0.9 * k / n + 0.05,
            jac=lambda q, n=n: n * logit(np.clip(q, 1e-12, 1 - 1e-12)),
            bounds=[(0, 1)] * 5,
            constraints=moments,
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        ).fun
        np.testing.assert_allclose(-least, conditional_error(n, k, m), atol=1e-5)


@pytest.mark.wrong(
    "nine tenths of the bound will do", "found < exact", "found < 0.9 * exact"
)
def test_prop_dn_saturated_witness():
    rng = np.random.default_rng([43, 2])
    for _ in range(30):
        n = rng.integers(1, 15, size=rng.integers(1, 6)).tolist()
        exact = np.log(float(prod(map(coin, n))))
        for m in range(1, len(n)):
            found = conditional_complexity(n, m)
            assert found < exact
        for m in (len(n), len(n) + 2):
            found = conditional_complexity(n, m)
            np.testing.assert_allclose(found, exact, rtol=1e-12)


@pytest.mark.wrong("with one moment less", "x, len(x), False", "x, len(x) - 1, False")
def test_prop_dn_saturated_second():
    """Maxima that know of no saturation."""
    for n, x in (
        ([3, 2, 4], [1, 2, 3]),
        ([2, 5], [-1, 4]),
        ([1, 2, 3, 1], [1, 2, 3, 4]),
    ):
        literal = literal_complexity(n, x, len(x), False)
        found = conditional_complexity(n, len(x), x)
        np.testing.assert_allclose(literal, found, rtol=0, atol=1e-9)


@pytest.mark.wrong(
    "shifts do not matter without a constant term", "x + b, intercept=True", "x + b"
)
def test_prop_dn_invariance_witness():
    rng = np.random.default_rng([43, 3])
    for _ in range(40):
        n, m = rng.integers(1, 5, size=4), int(rng.integers(1, 4))
        x = np.sort(rng.choice(np.arange(1, 12), 4, replace=False))
        k = rng.binomial(n, 0.5)
        with_zero = np.append(n, 6), m, np.append(x, 0)
        base = conditional_complexity(n, m, x)
        for same in (
            conditional_complexity(n, m, -2.5 * x),
            conditional_complexity(*with_zero),
        ):
            np.testing.assert_allclose(same, base, rtol=1e-11)
        shifted = [conditional_complexity(n, m, x + b, intercept=True) for b in (0, 7)]
        np.testing.assert_allclose(*shifted, rtol=1e-11)
        error = conditional_error(n, k, m, x)
        flipped = conditional_error(n, n - k, m, x)
        longer = conditional_error(with_zero[0], np.append(k, 2), m, with_zero[2])
        np.testing.assert_allclose(flipped, error, rtol=0, atol=1e-10)
        np.testing.assert_allclose(longer, error + 6 * np.log(2), rtol=0, atol=1e-10)


@pytest.mark.wrong("the unit matters", "-3 * x", "x + 1")
@pytest.mark.wrong("level zero counts", "np.append(x, 0)", "np.append(x, 1)")
def test_prop_dn_invariance_second():
    """The same for sums and maxima of the definition."""
    n, x = np.array([2, 3, 2]), np.array([1.0, 2.0, 4.0])
    k, _ = counts_below(n)
    for m in (1, 2):
        same = literal_complexity(n, x, m, False)
        unit = literal_complexity(n, -3 * x, m, False)
        zero = suprema([*n, 2], counts_below([*n, 2])[0], powers(np.append(x, 0), m))
        zero = np.log(counts_below([*n, 2])[1] @ np.exp(zero))
        np.testing.assert_allclose([unit, zero], same, rtol=0, atol=1e-9)
        pair = (suprema(n, c, powers(x, m)) for c in (k, n - k))
        np.testing.assert_allclose(*pair, rtol=0, atol=1e-7)


@pytest.mark.wrong(
    "statistics near the boundary have no maximum either", "< 1e-7", "< 0.2"
)
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
        error = conditional_error(n, k, m, x, constant)
        assert error > saturated - 1e-12
        assert abs(suprema(n, [k], X)[0] + error) < 1e-6
        if outside:
            np.testing.assert_allclose(error, saturated, rtol=0, atol=1e-12)
    assert seen == {True, False}


@pytest.mark.wrong(
    "two parameters more", "chebvander(x, p - 1)", "chebvander(x, p + 1)"
)
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
            error = conditional_error(
                np.full((25, 5), 2), k, p - constant, values, constant
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
            error = conditional_error(np.tile(n, (len(k), 1)), k, m, values)
            terms = number_of * np.exp(-error)
            closed = 2 * sum(
                comb(L - j - 1, i) * e[j] for j in range(m) for i in range(m - j)
            )
            np.testing.assert_allclose(terms[edge].sum(), closed, rtol=1e-12)
            found = np.exp(conditional_complexity(n, m, values))
            np.testing.assert_allclose(closed + terms[~edge].sum(), found, rtol=1e-12)


@pytest.mark.wrong(
    "corners count for nothing", "range(1, n[turn] + 1)", "range(1, n[turn])"
)
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
