from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from memdlib.densities.moment_problem import NotConvergedError
from memdlib.nml.alphabet import (
    alphabet_codelength,
    alphabet_complexity,
    is_boundary,
)


def largest_entropy(levels, m, frequencies):
    """Largest entropy under the moments of the frequencies, by a general optimiser."""
    free = np.flatnonzero(reachable(levels, m, frequencies))
    x = np.asarray(levels, dtype=float)[free]
    x = 2 * (x - x.mean()) / max(np.ptp(x), 1.0)
    powers = np.vander(x, m + 1, increasing=True)[:, 1:]
    mu = frequencies[free] @ powers

    def dual(lam):
        e = -powers @ lam
        top = e.max()
        p = np.exp(e - top)
        return top + np.log(p.sum()) + lam @ mu, mu - p @ powers / p.sum()

    return minimize(dual, np.zeros(m), jac=True, tol=1e-12).fun


def reachable(levels, m, frequencies):
    """Levels that some distribution with the same moments occupies, by LP."""
    x = np.asarray(levels, dtype=float)
    powers = np.vander((x - x.mean()) / np.ptp(x), m + 1, increasing=True).T
    most = [
        -linprog(
            -np.eye(len(x))[i], A_eq=powers, b_eq=powers @ frequencies, method="highs"
        ).fun
        for i in range(len(x))
    ]
    return np.array(most) > 1e-7


def types(n, n_levels):
    """All vectors of counts that sum to n."""
    if n_levels == 1:
        return [(n,)]
    return [
        (first, *rest)
        for first in range(n + 1)
        for rest in types(n - first, n_levels - 1)
    ]


@pytest.mark.parametrize(
    ("n_levels", "n", "m", "value"),
    [
        (3, 4, 1, 1.3701471233),
        (4, 5, 1, 1.5796001514),
        (4, 5, 2, 2.5368491368),
        (5, 6, 1, 1.7400352417),
        (5, 6, 2, 2.9684052669),
        (5, 6, 3, 3.5063768006),
        (5, 38, 4, 6.6771095427),
        (2, 38, 1, 2.1292784450),
    ],
)
def test_known_complexities(n_levels, n, m, value):
    found = alphabet_complexity(n, np.arange(n_levels), m)
    assert found == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize(("n", "n_levels"), [(1, 2), (7, 3), (12, 4), (6, 6)])
def test_a_free_model_has_the_multinomial_complexity(n, n_levels):
    # the recurrence of Kontkanen and Myllymaki
    coin = sum(comb(n, h) * (h / n) ** h * (1 - h / n) ** (n - h) for h in range(n + 1))
    before, now = 1.0, coin
    for k in range(1, n_levels - 1):
        before, now = now, now + n / k * before
    for m in (n_levels - 1, n_levels, n_levels + 3):
        found = alphabet_complexity(n, np.arange(n_levels), m)
        assert found == pytest.approx(np.log(now), abs=1e-12)


@given(st.integers(0, 10**6))
def test_gale_rule_agrees_with_linear_programming(seed):
    rng = np.random.default_rng([71, seed])
    n_levels = int(rng.integers(3, 9))
    m = int(rng.integers(1, n_levels))
    levels = np.cumsum(rng.uniform(0.5, 1.5, n_levels))
    occupied = rng.random(n_levels) < rng.choice([0.3, 0.5, 0.8])
    occupied[rng.integers(n_levels)] = True
    counts = np.where(occupied, rng.integers(1, 4, n_levels), 0)
    inner = reachable(levels, m, counts / counts.sum()).all()
    if m < n_levels - 1:
        assert is_boundary(counts, m) == (not inner)
    else:
        assert is_boundary(counts, m)


def test_merged_types_give_the_sum_over_all_types():
    for levels, m in (((0, 1, 2, 3, 4), 1), ((0, 2, 3, 5, 7), 2), ((0, 0.5, 2), 1)):
        total = 0.0
        for counts in types(5, len(levels)):
            number = factorial(5) / prod(factorial(k) for k in counts)
            total += number * np.exp(-alphabet_codelength(counts, levels, m).error)
        found = alphabet_complexity(5, levels, m)
        assert found == pytest.approx(np.log(total), abs=1e-12)


def test_only_order_and_relative_distances_matter():
    base = alphabet_complexity(8, [0, 1, 2, 5], 2)
    for levels in ([5, 2, 0, 1], [-3.0, 0.5, 3.0, 2.0 * 5.75 - 2], [0, -1, -2, -5]):
        levels = np.asarray(levels)
        assert alphabet_complexity(8, 1e3 * levels + 7, 2) == pytest.approx(
            alphabet_complexity(8, levels, 2), abs=1e-12
        )
    assert alphabet_complexity(8, [5, 2, 0, 1], 2) == base
    assert alphabet_complexity(8, [0, -1, -2, -5], 2) == pytest.approx(base, abs=1e-12)
    a = alphabet_codelength([3, 0, 4, 1], [0, 1, 2, 5], 2)
    b = alphabet_codelength([4, 1, 0, 3], [2, 5, 1, 0], 2)
    assert a == b


def test_error_is_n_times_the_largest_entropy():
    for counts in ([3, 0, 4, 1], [1, 1, 1, 5], [0, 0, 2, 6], [0, 1, 7, 0]):
        for m in (1, 2):
            frequencies = np.array(counts) / 8
            entropy = largest_entropy((0, 1, 2, 4), m, frequencies)
            code = alphabet_codelength(counts, (0, 1, 2, 4), m)
            assert code.error == pytest.approx(8 * entropy, abs=1e-6)
            assert code.total == code.error + code.complexity
    assert alphabet_codelength([0, 0, 0, 8], (0, 1, 2, 4), 2).error == 0.0


def test_the_code_lengths_of_all_sequences_add_up_to_one():
    total = 0.0
    for counts in types(7, 4):
        number = factorial(7) / prod(factorial(k) for k in counts)
        total += number * np.exp(-alphabet_codelength(counts, range(4), 2).total)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_levels_too_uneven_to_resolve_are_refused():
    levels = [0.0, 1e-9, 2e-9, 3.3e-9, 1.0, 1.1]
    with pytest.raises(NotConvergedError, match="too uneven"):
        alphabet_complexity(6, levels, 4)
