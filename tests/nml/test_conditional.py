import math
from collections import Counter
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks import nml_claims
from memdlib.nml import (
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    feature_codelengths,
    multinomial_complexity,
)
from memdlib.nml.boundary import on_boundary
from memdlib.nml.complexity import solve
from memdlib.nml.fits import suprema
from memdlib.nml.level_model import level_model, orthonormal_basis

BALANCED = [8, 8, 8, 7, 7]


def powers(values, m, intercept):
    """An orthonormal basis of the logits on these levels, by singular values."""
    exponents = np.arange(0 if intercept else 1, m + 1)
    x = np.asarray(values, dtype=float)
    u, s, _ = np.linalg.svd((x / np.abs(x).max())[:, None] ** exponents)
    return u[:, : (s > 1e-12 * s[0]).sum()]


def supremum(counts, ones, values, m, intercept):
    """Supremum of the log-likelihood by a solver that follows it to infinity."""
    basis, n, k = powers(values, m, intercept), np.array(counts), np.array(ones)

    def minus(b):
        eta = basis @ b
        return (n * np.logaddexp(0, eta)).sum() - k @ eta

    def slope(b):
        return basis.T @ (n * expit(basis @ b) - k)

    def curvature(b):
        p = expit(basis @ b)
        return basis.T * (n * p * (1 - p)) @ basis

    start = np.zeros(basis.shape[1])
    options = {"gtol": 1e-10, "max_trust_radius": 1e3, "maxiter": 500}
    return -minimize(
        minus, start, jac=slope, hess=curvature, method="trust-exact", options=options
    ).fun


def literal(counts, values, m, intercept):
    """Log of the sum of the maximised likelihoods of all 2^n label sequences."""
    level = np.repeat(np.arange(len(counts)), counts)
    sequences = Counter(
        tuple(np.bincount(level, weights=labels, minlength=len(counts)))
        for labels in product((0, 1), repeat=len(level))
    )
    return math.log(
        sum(
            times * math.exp(supremum(counts, ones, values, m, intercept))
            for ones, times in sequences.items()
        )
    )


CODINGS = [
    ([3, 3, 3], [1, 2, 3], 1, False),
    ([3, 3, 3], [1, 2, 3], 2, False),
    ([3, 3, 3], [1, 2, 3], 1, True),
    ([4, 0, 3, 3], [0, 1, 2, 3], 1, False),
    ([4, 1, 3, 3], [0, 1, 2, 3], 2, False),
    ([2, 3, 1, 4], [-1.5, -0.5, 0.5, 1.5], 2, False),
    ([2, 3, 1, 4], [-1.5, -0.5, 0.5, 1.5], 1, False),
    ([2, 3, 1, 4], [1, 2, 3, 4], 2, True),
    ([2, 2, 2, 2, 2], [-2, -1, 0, 1, 2], 3, False),
    ([2, 2, 2, 2, 2], [1, 2, 3, 4, 5], 3, False),
    ([2, 2, 2, 2, 2], [1, 2, 3, 4, 5], 4, False),
    ([1, 2, 4, 1], [math.pi, 0.1, 7.0, 2.5], 2, False),
    ([1, 2, 4, 1], [math.pi, 0.1, 7.0, 2.5], 3, False),
    ([1, 2, 4, 1], [math.pi, 0.1, -7.0, 2.5], 1, True),
    ([5, 7], [3, 1], 1, False),
    ([12], [2], 1, False),
]


@pytest.mark.parametrize(("counts", "values", "m", "intercept"), CODINGS)
def test_the_sum_over_all_label_sequences(counts, values, m, intercept):
    expected = literal(counts, values, m, intercept)
    found = conditional_complexity(counts, m, values, intercept, method="exact")
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("m", "expected"),
    [
        (1, 2.2401720600),
        (2, 4.1823749538),
        (3, 5.6934072377),
        (4, 6.6753273094),
        (5, 7.1188757552),
    ],
)
def test_figures_of_38_samples(m, expected):
    found = conditional_complexity(BALANCED, m)
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("counts", "m", "expected"),
    [
        ([15, 14, 14, 14, 15], 5, 8.4752809547),
        ([40] * 5, 1, 3.0330967090),
        ([40] * 5, 2, 5.7370521302),
        ([40] * 5, 5, 10.7641064942),
        ([200] * 5, 1, 3.8204885768),
        ([200] * 5, 7, 14.5613304398),
    ],
)
def test_figures_of_more_samples(counts, m, expected):
    assert conditional_complexity(counts, m) == pytest.approx(expected, abs=2e-10)
    assert conditional_complexity_estimate(counts, m).uncertainty <= 1e-11


def test_72_samples():
    found = [conditional_complexity([15, 15, 14, 14, 14], m) for m in (1, 2, 3, 4)]
    expected = [2.5427257993, 4.7716476773, 6.5731464065, 7.8276104788]
    assert found == pytest.approx(expected, abs=1e-9)


occupancies = st.lists(st.integers(0, 5), min_size=2, max_size=5).filter(any)


@given(occupancies, st.integers(1, 4), st.booleans(), st.data())
@settings(max_examples=40, deadline=None)
def test_invariances(counts, m, intercept, data):
    n_levels = len(counts)
    values = np.array(
        data.draw(
            st.lists(
                st.integers(-6, 6), min_size=n_levels, max_size=n_levels, unique=True
            )
        ),
        dtype=float,
    )
    found = conditional_complexity(counts, m, values, intercept)
    assert 0.0 <= found < math.log(2) * sum(counts) + 1e-12

    def same(counts, values, m=m):
        again = conditional_complexity(counts, m, values, intercept)
        assert again == pytest.approx(found, abs=1e-12)

    scale = data.draw(st.sampled_from([-1.0, -0.3, 1e-6, 7.0, 1e6]))
    same(counts, scale * values + (2.5 * scale if intercept else 0.0))
    order = np.array(data.draw(st.permutations(range(n_levels))))
    same(np.array(counts)[order], values[order])
    same([*counts, 0], [*values, 6.5])
    assert conditional_complexity(counts, m + 1, values, intercept) >= found - 1e-12
    saturated = sum(
        multinomial_complexity(c, 2)
        for c, v in zip(counts, values, strict=True)
        if intercept or v
    )
    for more in (n_levels, n_levels + 3):
        end = conditional_complexity(counts, more, values, intercept)
        assert end == pytest.approx(saturated, abs=1e-12)


def test_what_no_exact_sum_reaches_is_drawn():
    found = conditional_complexity_estimate([100] * 4, 3)
    assert found.method == "monte-carlo"
    assert conditional_complexity([100] * 4, 3) == found.complexity
    # a sum of fifty million terms
    assert found.complexity == pytest.approx(8.696982, abs=5 * found.uncertainty)
    many = conditional_complexity_estimate([90] * 8, 3, n_draws=2**12)
    assert many.method == "monte-carlo"
    assert 1e-6 < many.uncertainty < 0.05


def test_a_zero_level_without_intercept():
    with_zero = conditional_complexity([9, 4, 3], 1, [0, 1, 2])
    assert with_zero == conditional_complexity([4, 3], 1, [1, 2])
    assert conditional_complexity([9], 3, [0]) == 0.0
    assert conditional_error([9], [4], 3, [0]) == pytest.approx(9 * math.log(2))
    assert conditional_complexity([9], 3, [0], method="monte-carlo") == 0.0


def entropy_error(counts, ones):
    """Maximised code length with a probability of its own for each level."""
    n, k = np.array(counts, dtype=float), np.array(ones, dtype=float)
    share = np.clip(k / n, 1e-300, 1)
    other = np.clip(1 - k / n, 1e-300, 1)
    return -(k * np.log(share) + (n - k) * np.log(other)).sum()


levels_and_labels = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([1.0, 2.0, 4.0, 5.0]), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
    )
)


@given(levels_and_labels, st.integers(1, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_code_lengths(data, m, intercept):
    x, y = np.array(data[0]), np.array(data[1])
    found = conditional_codelength(x, y, m, intercept)
    values, level = np.unique(x, return_inverse=True)
    counts, ones = np.bincount(level), np.bincount(level, weights=y)
    assert found.total == found.error + found.complexity
    assert found.complexity == conditional_complexity(counts, m, values, intercept)
    model = level_model(counts, values, m, intercept)
    least = entropy_error(counts, ones)
    if on_boundary(model, ones[:, None])[0]:
        assert found.error == pytest.approx(least, abs=1e-12)
    else:
        basis = orthonormal_basis(model)
        best = suprema(model, basis, model.counts[:, None], ones[:, None])[0]
        assert found.error == pytest.approx(-best[0], abs=1e-12)
        assert least <= found.error <= len(y) * math.log(2) + 1e-12
    assert math.copysign(1.0, found.error) == 1.0
    flipped = conditional_codelength(x, 1 - y, m, intercept)
    assert flipped.error == pytest.approx(found.error, abs=1e-12)
    more = conditional_codelength(x, y, m + 1, intercept)
    assert more.error <= found.error + 1e-12
    order = np.argsort(y, kind="stable")
    assert conditional_codelength(x[order], y[order], m, intercept) == found


def test_figures_by_hand():
    separable = conditional_codelength([1, 1, 2, 2], [False, False, True, True], 2)
    assert separable.error == 0.0 and math.copysign(1.0, separable.error) == 1.0
    assert separable.complexity == pytest.approx(2 * math.log(2.5), abs=1e-14)
    one_mixed = conditional_error([20, 7, 11], [0, 2, 11], 2)
    assert one_mixed == pytest.approx(entropy_error([7], [2]), abs=1e-13)
    half = conditional_error([9, 5], [9, 2], 1, [0, 1])
    assert half == pytest.approx(9 * math.log(2) + entropy_error([5], [2]), abs=1e-13)


def test_errors_at_levels_of_many_magnitudes():
    """Labels whose mixed levels leave the others certain, so that only those cost."""
    found = conditional_error([4, 4], [3, 4], 1, [1.0, 1e6])
    assert found == pytest.approx(entropy_error([4], [3]), abs=1e-13)
    counts, ones, values = [5, 5, 3, 4, 2], [2, 1, 3, 0, 2], [1.0, 2.0, 10, 2e3, 5e3]
    found = conditional_error(counts, ones, 4, values)
    with mpmath.workdps(60):
        x = [mpmath.mpf(value) for value in values]
        truth = -nml_claims.supremum(x, x, 4, counts, ones, [0.0] * 5)
    assert found == pytest.approx(float(truth), abs=1e-12)
    with pytest.raises(ValueError, match="too uneven for 4 parameters.*fewer moments"):
        conditional_error(counts, ones, 4, [1.0, 2.0, 1e4, 1e5, 1e8])


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng([5, 7])
    levels, labels = rng.integers(0, 3, size=(11, 4)), rng.integers(0, 2, size=11)
    counts, ones = count_levels(levels, labels, 4)
    for j in range(4):
        for level in range(4):
            here = [y for x, y in zip(levels[:, j], labels, strict=True) if x == level]
            assert counts[j, level] == len(here)
            assert ones[j, level] == sum(here)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("values", [None, [-2.0, -1.0, 0.0, 1.0, 2.0]])
def test_many_features_are_single_ones(values, intercept):
    rng = np.random.default_rng([5, 5])
    levels = rng.integers(0, 5, size=(16, 20))
    levels[:, 3] = 2
    levels[:, 4] = rng.integers(1, 3, size=16)
    y = rng.integers(0, 2, size=16)
    levels[:, 5] = 4 * y
    moments = (1, 2, 3, 7)
    found = feature_codelengths(*count_levels(levels, y), moments, values, intercept)
    x = np.arange(1.0, 6.0) if values is None else np.array(values)
    for j in range(20):
        for i, m in enumerate(moments):
            one = conditional_codelength(x[levels[:, j]], y, m, intercept)
            assert found.error[j, i] == pytest.approx(one.error, abs=1e-12)
            assert found.complexity[j, i] == pytest.approx(one.complexity, abs=1e-12)
            assert found.uncertainty[j, i] == one.uncertainty < 1e-12
            assert found.method[j, i] == one.method
    assert found.total.shape == (20, 4)
    assert np.isfinite(found.total).all()
    assert (found.total == found.error + found.complexity).all()
    constant = found.total[3]
    assert constant == pytest.approx(constant[0], abs=1e-12)


def test_complexities_carry_the_error_of_their_way():
    counts = [[100] * 4, [110] * 4, [9, 0, 0, 391]]
    found = feature_codelengths(counts, [[7] * 4, [7] * 4, [7, 0, 0, 7]], [3])
    ways = ["monte-carlo", "monte-carlo", "saturated"]
    assert found.method.ravel().tolist() == ways
    assert (0.001 < found.uncertainty[:2]).all() and found.uncertainty.max() < 0.02
    assert found.uncertainty[2, 0] < 1e-12
    alone = conditional_complexity_estimate(counts[0], 3, n_draws=2**13)
    assert found.complexity[0, 0] == alone.complexity


def test_threads_change_nothing():
    rng = np.random.default_rng([5, 8])
    table = count_levels(rng.integers(0, 4, size=(14, 30)), np.arange(14) % 2)
    alone = feature_codelengths(*table, (1, 2))
    solve.cache_clear()
    with parallel_config("threading"):
        threads = feature_codelengths(*table, (1, 2), n_jobs=2)
    np.testing.assert_array_equal(threads.total, alone.total)


@pytest.mark.parametrize("intercept", [False, True])
def test_errors_of_a_stack_are_those_of_a_general_optimiser(intercept):
    """Rows of many patterns and sizes, a level at zero, and labels that separate."""
    values = [-1.5, 0.0, 0.5, 2.0]
    counts = [[3, 5, 2, 6], [0, 4, 7, 1], [3, 5, 2, 6], [9, 0, 0, 2], [1, 8, 0, 0]]
    ones = [[1, 2, 2, 4], [0, 1, 7, 0], [3, 0, 0, 2], [4, 0, 0, 2], [0, 3, 0, 0]]
    for m in (1, 2, 3):
        found = conditional_error(counts, ones, m, values, intercept)
        assert found.shape == (5,)
        for n, k, error in zip(counts, ones, found.tolist(), strict=True):
            kept = [i for i, c in enumerate(n) if c and (intercept or values[i])]
            rest = sum(n) - sum(n[i] for i in kept)
            best = 0.0
            if kept:
                part = [[row[i] for i in kept] for row in (n, k, values)]
                best = supremum(*part, m, intercept)
            assert error == pytest.approx(rest * math.log(2) - best, abs=1e-7)
            one = conditional_error(n, k, m, values, intercept)
            assert type(one) is float and one == pytest.approx(error, abs=1e-12)
            assert math.copysign(1.0, error) == 1.0


def test_equal_rows_and_others_keep_their_places_ways_and_doubts():
    counts = np.array([[100] * 4, [5, 0, 3, 4], [2, 2, 0, 0], [5, 0, 3, 4], [100] * 4])
    found = conditional_complexity_estimate(counts, 3, [0.0, 1.0, 2.0, 4.0], True)
    each = [
        conditional_complexity_estimate(row, 3, [0.0, 1.0, 2.0, 4.0], True)
        for row in counts
    ]
    for part, name in zip(found, found._fields, strict=True):
        assert part.shape == (5,)
        assert part.tolist() == [getattr(one, name) for one in each]
    assert [type(part) for part in each[0]] == [float, float, str]


def test_draws_follow_their_seed_and_number():
    given = [9, 8, 7, 9], 2, None, False, "monte-carlo"
    found = conditional_complexity_estimate(*given, 2**10)
    assert found == conditional_complexity_estimate(*given, 2**10, 0)
    other = conditional_complexity_estimate(*given, 2**10, 1)
    assert other.complexity != found.complexity
    more = conditional_complexity_estimate(*given, n_draws=2**14)
    assert more.uncertainty == pytest.approx(found.uncertainty / 4, rel=0.3)
    with pytest.raises(ValueError, match="n_draws=0 must be an integer, 1 or more"):
        conditional_complexity_estimate(*given, 0)
    with pytest.raises(ValueError, match="n_draws=1024.0 must be an integer"):
        conditional_complexity_estimate(*given, 1024.0)


def test_tables_of_any_integers_are_counted_up_to_the_largest():
    levels = np.array([[0, 3], [1, 3], [1, 0]], dtype=np.uint8)
    found = count_levels(levels, [True, False, True])
    assert found[0].tolist() == [[1, 2, 0, 0], [1, 0, 0, 2]]
    assert found[1].tolist() == [[1, 1, 0, 0], [1, 0, 0, 1]]
