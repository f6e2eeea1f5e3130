from itertools import product
from math import comb, factorial, prod

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from memdlib.densities.moment_problem import NotConvergedError
from memdlib.nml import alphabet
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
    ("n", "levels", "m"),
    [(4, (0, 1, 2), 1), (5, (0, 1, 2, 3), 1), (4, (0, 1, 2, 3), 2), (5, (0, 1, 3), 1)],
)
def test_complexity_is_the_sum_over_all_sequences(n, levels, m):
    total, known = 0.0, {}
    for sequence in product(range(len(levels)), repeat=n):
        counts = tuple(np.bincount(sequence, minlength=len(levels)).tolist())
        if counts not in known:
            entropy = largest_entropy(levels, m, np.array(counts) / n)
            known[counts] = np.exp(-n * entropy)
        total += known[counts]
    assert alphabet_complexity(n, levels, m) == pytest.approx(np.log(total), abs=1e-8)


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


def test_gale_rule_is_that_of_the_text_on_all_supports():
    for pattern in product([0, 1], repeat=7):
        if not any(pattern) or all(pattern):
            continue
        runs = [len(r) for r in "".join(map(str, pattern)).split("0")]
        ends, inner = runs[0] + runs[-1], runs[1:-1]
        needed = ends + sum(r + r % 2 for r in inner)
        for m in range(1, 6):
            assert is_boundary(pattern, m) == (needed <= m)


def test_merged_types_give_the_sum_over_all_types():
    for levels, m in (((0, 1, 2, 3, 4), 1), ((0, 2, 3, 5, 7), 2), ((0, 0.5, 2), 1)):
        total = 0.0
        for counts in types(5, len(levels)):
            number = factorial(5) / prod(factorial(k) for k in counts)
            total += number * np.exp(-alphabet_codelength(counts, levels, m).error)
        found = alphabet_complexity(5, levels, m)
        assert found == pytest.approx(np.log(total), abs=1e-12)


def test_levels_that_are_no_multiples_of_a_unit():
    even = alphabet_complexity(9, [0, 1, 2, 3, 4], 2)
    nearly = alphabet_complexity(9, [0, 1, 2 + 1e-7, 3, 4], 2)
    assert nearly == pytest.approx(even, abs=1e-6)
    assert alphabet_complexity(9, [0, 1, np.pi, 4], 1) > 0


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


def test_one_observation_on_the_corner_of_a_face():
    # n = 1: every type is a single level; with m >= 2 all of them are certain
    assert alphabet_complexity(1, range(6), 2) == pytest.approx(np.log(6), abs=1e-13)
    # with m = 1 the inner levels share their model with spread-out types
    assert alphabet_complexity(1, range(6), 1) < np.log(6)


def test_levels_too_uneven_to_resolve_are_refused():
    levels = [0.0, 1e-9, 2e-9, 3.3e-9, 1.0, 1.1]
    with pytest.raises(NotConvergedError, match="too uneven"):
        alphabet_complexity(6, levels, 4)


@pytest.mark.parametrize("origin", [-1e3, 1e4, 1e6])
def test_the_place_of_levels_does_not_count(origin):
    levels = np.array([0.0, 1.0, 2.5, 4.0, 7.0])
    for m in (2, 3):
        expected = alphabet_complexity(8, levels, m)
        found = alphabet_complexity(8, levels + origin, m)
        assert found == pytest.approx(expected, rel=1e-9)


def exact_largest_entropy(levels, m, mu):
    """Largest entropy under the first powers' moments, by Newton steps in 30 digits."""
    with mp.workdps(30):
        x = [mp.mpf(float(v)) for v in levels]
        middle, half = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 2
        phi = [[((v - middle) / half) ** j for j in range(1, m + 1)] for v in x]
        target, lam = mp.matrix([mp.mpf(0)] * m), mp.matrix([mp.mpf(0)] * m)
        for share, row in zip(mu, phi, strict=True):
            for j in range(m):
                target[j] += share * row[j]
        for _ in range(60):
            weights = [mp.exp(-mp.fdot(lam, r)) for r in phi]
            total = mp.fsum(weights)
            p = [w / total for w in weights]
            mean = [mp.fdot(p, [r[j] for r in phi]) for j in range(m)]
            hessian = mp.matrix(m, m)
            for i in range(m):
                for j in range(m):
                    second = mp.fdot(p, [r[i] * r[j] for r in phi])
                    hessian[i, j] = second - mean[i] * mean[j]
            gap = mp.matrix([mean[j] - target[j] for j in range(m)])
            step = mp.lu_solve(hessian, gap)
            longest = max(abs(s) for s in step)
            lam += step if longest < 1 else step / longest
            if longest < mp.mpf(10) ** -25:
                break
        return mp.log(total) + mp.fdot(lam, target)


@pytest.mark.parametrize(
    ("counts", "levels", "m"),
    [
        ([3, 1, 4, 1, 5], [0.0, 1.0, 2.5, 4.0, 7.0], 1),
        ([3, 1, 4, 1, 5], [0.0, 1.0, 2.5, 4.0, 7.0], 2),
        ([3, 1, 4, 1, 5], [0.0, 1.0, 2.5, 4.0, 7.0], 3),
        ([1, 0, 5, 0, 2, 4], [-3, -2, 0, 1, 5, 6], 2),
        ([400, 1, 0, 55], [10.0, 11.0, 12.0, 13.0], 1),
    ],
)
def test_errors_are_as_far_off_as_it_says(counts, levels, m):
    n = sum(counts)
    shares = [mp.mpf(k) / n for k in counts]
    exact = n * exact_largest_entropy(levels, m, shares)
    assert not is_boundary(counts, m)
    if n < 100:
        code = alphabet_codelength(counts, levels, m)
        error, uncertainty = code.error, code.uncertainty
        assert 1e-9 < uncertainty < 1e-9 + 1e-14 * n * np.log(4 * n)
    else:
        types = np.array([counts], dtype=float)
        error = alphabet._error(types, np.array(levels), m)[0]
        uncertainty = 1e-9
    assert abs(error - exact) < uncertainty
    assert error == pytest.approx(float(exact), rel=1e-12)


def test_rounding_of_a_long_sequence_is_told():
    counts = [70_000, 30_001]
    n = sum(counts)
    code = alphabet_codelength(counts, [-1, 1], 1)
    error = -sum(k * mp.log(mp.mpf(k) / n) for k in counts)
    # C(2, n) by Stirling's expansion
    q = mp.sqrt(mp.pi * n / 2) + mp.mpf(2) / 3 + mp.sqrt(mp.pi / (2 * n)) / 12
    q += -mp.mpf(4) / (135 * n) + mp.sqrt(mp.pi / (2 * mp.mpf(n) ** 3)) / 288
    assert abs(code.error - error) < code.uncertainty
    assert abs(code.complexity - mp.log(q)) < code.uncertainty
    least = np.finfo(float).eps * n * np.log(n)
    assert least < code.uncertainty < 50 * least


def test_merging_types_of_equal_moments_changes_nothing(monkeypatch):
    cases = [
        (6, [0, 1, 2, 3, 4, 5], 1),
        (6, [0, 1, 2, 3, 4, 5], 3),
        (7, [-2.0, -1.5, 0.5, 3.0], 1),
        (5, [1e6, 1e6 + 1, 1e6 + 3, 1e6 + 7], 2),
        # close to multiples of a unit, which is no reason to merge
        (7, [0, 1, 50.0004, 60, 100], 1),
        (7, [0, 1, 2.000001, 3, 4], 1),
    ]
    merged = [alphabet_complexity(*case) for case in cases]
    monkeypatch.setattr(alphabet, "multiples", lambda *_: None)
    each = [alphabet_complexity(*case) for case in cases]
    assert merged == pytest.approx(each, abs=1e-12)


def test_boundaries_of_a_stack_keep_its_shape():
    patterns = np.array(list(product([0, 2], repeat=6))[1:-1]).reshape(31, 2, 6)
    for m in range(1, 8):
        found = is_boundary(patterns, m)
        assert found.shape == (31, 2) and found.dtype == bool
        each = [[bool(is_boundary(row, m)) for row in pair] for pair in patterns]
        assert found.tolist() == each
    assert not is_boundary([1] * 6, 4)
    assert is_boundary([1] * 6, 5)
    assert is_boundary([3, 1], 1)
