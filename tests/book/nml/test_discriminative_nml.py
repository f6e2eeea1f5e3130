"""Statements of *Discriminative NML: choosing features by code length*."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy import optimize
from scipy.special import logit, xlogy

from memdlib.nml import conditional_complexity, conditional_error
from tests.book.nml.labels import coin, counts_below, powers
from tests.nml.literal import literal_complexity, suprema


@pytest.mark.wrong("the model has a constant term", "(n, m)", "(n, m, intercept=True)")
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


@pytest.mark.wrong("the model has a constant term", "arange(1, m", "arange(m")
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


@pytest.mark.wrong("nine tenths of the bound will do", "< exact", "< 0.9 * exact")
def test_prop_dn_saturated_witness():
    rng = np.random.default_rng([43, 2])
    for _ in range(30):
        n = rng.integers(1, 15, size=rng.integers(1, 6)).tolist()
        exact = np.log(float(prod(map(coin, n))))
        for m in range(1, len(n)):
            found = conditional_complexity(n, m)
            assert found < exact
        for m in (len(n), len(n) + 2):
            np.testing.assert_allclose(conditional_complexity(n, m), exact, rtol=1e-12)


@pytest.mark.wrong("with one moment less", "x, len(x), False", "x, len(x) - 1, False")
def test_prop_dn_saturated_second():
    """Maxima that know of no saturation."""
    for n, x in (
        ([3, 2, 4], [1, 2, 3]),
        ([2, 5], [-1, 4]),
        ([1, 2, 3, 1], [1, 2, 3, 4]),
    ):
        literal = literal_complexity(n, x, len(x), False)
        found = conditional_complexity(n, len(x), level_values=x)
        np.testing.assert_allclose(literal, found, rtol=0, atol=1e-9)


@pytest.mark.wrong("shifts do not matter without a constant", ", intercept=True", "")
def test_prop_dn_invariance_witness():
    rng = np.random.default_rng([43, 3])
    for _ in range(40):
        n, m = rng.integers(1, 5, size=4), int(rng.integers(1, 4))
        x = np.sort(rng.choice(np.arange(1, 12), 4, replace=False))
        k = rng.binomial(n, 0.5)
        with_zero = np.append(n, 6), m, np.append(x, 0)
        base = conditional_complexity(n, m, level_values=x)
        for same in (
            conditional_complexity(n, m, level_values=-2.5 * x),
            conditional_complexity(*with_zero[:2], level_values=with_zero[2]),
        ):
            np.testing.assert_allclose(same, base, rtol=1e-11)
        shifted = [
            conditional_complexity(n, m, level_values=x + b, intercept=True)
            for b in (0, 7)
        ]
        np.testing.assert_allclose(*shifted, rtol=1e-11)
        error = conditional_error(n, k, m, level_values=x)
        flipped = conditional_error(n, n - k, m, level_values=x)
        longer = conditional_error(
            with_zero[0], np.append(k, 2), m, level_values=with_zero[2]
        )
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


@pytest.mark.wrong("nine tenths of the statistics", "= prod(", "= 0.9 * prod(")
def test_prop_dn_table_witness():
    """Tables and listed counts give one sum, and statistics keep their bound."""
    for n in ([8, 7, 8, 7], [20, 3, 2, 9, 1], [5, 5, 6]):
        values = np.arange(1.0, len(n) + 1)
        k, number_of = counts_below(n)
        for m, constant in ((1, False), (1, True), (2, False), (2, True)):
            error = conditional_error(
                np.tile(n, (len(k), 1)), k, m, level_values=values, intercept=constant
            )
            found = conditional_complexity(
                n, m, level_values=values, intercept=constant
            )
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
    found = conditional_complexity(n, 2, level_values=x)
    np.testing.assert_allclose(np.log(total), found, rtol=0, atol=1e-9)
