import math
import re
from collections import Counter
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks import nml_claims
from memdlib.nml import (
    ComplexityEstimate,
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    feature_codelengths,
    multinomial_complexity,
)
from memdlib.nml._engine.boundary import on_boundary
from memdlib.nml._engine.complexity import forget
from memdlib.nml._engine.fits import suprema
from memdlib.nml._engine.level_model import level_model, orthonormal_basis
from memdlib.nml.codes import conditional

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
    assert (found.method, found.kind) == ("monte-carlo", "standard error")
    assert conditional_complexity([100] * 4, 3) == found.complexity
    # a sum of fifty million terms
    assert found.complexity == pytest.approx(8.696982, abs=5 * found.uncertainty)
    many = conditional_complexity_estimate([90] * 8, 3, n_draws=2**12)
    assert many.method == "monte-carlo"
    assert 1e-6 < many.uncertainty < 0.05


def test_stacks_are_their_rows():
    rows = np.random.default_rng([5, 1]).integers(0, 5, size=(12, 4))
    rows[:, 3] += 1
    found = conditional_complexity(rows, 2)
    assert found.shape == (12,)
    each = [conditional_complexity(row, 2) for row in rows]
    assert found.tolist() == each
    drawn = conditional_complexity(rows[:2], 2, method="monte-carlo")
    assert drawn.shape == (2,)


def test_a_zero_level_without_intercept():
    with_zero = conditional_complexity([9, 4, 3], 1, [0, 1, 2])
    assert with_zero == conditional_complexity([4, 3], 1, [1, 2])
    assert conditional_complexity([9], 3, [0]) == 0.0
    assert conditional_error([9], [4], 3, [0]) == pytest.approx(9 * math.log(2))
    assert conditional_complexity([9], 3, [0], method="monte-carlo") == 0.0


def test_several_classes():
    """All 3^n label sequences of a saturated model."""
    counts, total = [2, 3], 0.0
    level = np.repeat([0, 1], counts)
    for labels in product(range(3), repeat=5):
        table = np.histogram2d(level, labels, bins=(range(3), range(4)))[0]
        share = table / table.sum(axis=1, keepdims=True)
        total += np.prod(share[table > 0] ** table[table > 0])
    found = conditional_complexity(counts, 2, n_classes=3)
    assert found == pytest.approx(math.log(total), abs=1e-12)
    with pytest.raises(ValueError, match="1 parameters.*raise n_moments"):
        conditional_complexity(counts, 1, n_classes=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3, -1], 1), "level_counts holds -1.0; give nonnegative integers"),
        (([3, 0.5], 1), "level_counts holds 0.5"),
        (([3, math.nan], 1), "level_counts holds nan"),
        (([0, 0], 1), "level_counts sums to 0"),
        (([[1, 2], [0, 0]], 1), "level_counts sums to 0"),
        (([], 1), "level_counts has shape"),
        (([[[1]]], 1), "level_counts has shape"),
        (([3, 1], 0), "n_moments=0 must be an integer, 1 or more"),
        (([3, 1], 1.5), "n_moments=1.5 must be"),
        (([3, 1], math.inf), "n_moments=inf must be"),
        (([3, 1], "2"), "n_moments='2' must be"),
        (([3, 1], 1, [1, 1]), "level_values holds 1.0 more than once"),
        (([3, 1], 1, [1, math.inf]), "level_values holds inf"),
        (([3, 1], 1, [1]), "level_values has shape"),
        (([3, 1], 1, None, False, "best"), "method='best' must be one of"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        conditional_complexity(*arguments)


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conditional_codelength([], [], 1), "x has shape"),
        (lambda: conditional_codelength([[1.0]], [1], 1), "x has shape"),
        (lambda: conditional_codelength([math.nan], [1], 1), "x holds nan"),
        (lambda: conditional_codelength([1j], [1], 1), "x must be real numbers"),
        (lambda: conditional_codelength([1.0], [2], 1), "labels holds 2; map the two"),
        (lambda: conditional_codelength([1.0], ["ALL"], 1), "labels holds 'ALL'"),
        (lambda: conditional_codelength([1.0], [0, 1], 1), "labels has shape"),
        (lambda: conditional_codelength([1.0], [1], 0), "n_moments=0 must be"),
        (lambda: conditional_error([2], [3], 1), "ones holds 3.0; give integers bet"),
        (lambda: conditional_error([2], [0.5], 1), "ones holds 0.5"),
        (lambda: conditional_error([2], [math.nan], 1), "ones holds nan"),
        (lambda: conditional_error([2], [1, 1], 1), "ones has shape"),
    ],
)
def test_labels_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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


def test_more_levels_than_are_used():
    levels = [[0], [1], [1]]
    few = feature_codelengths(*count_levels(levels, [0, 1, 1]), [1])
    more = feature_codelengths(*count_levels(levels, [0, 1, 1], 3), [1])
    assert few.total == pytest.approx(more.total, abs=1e-14)


def test_complexities_carry_the_error_of_their_way():
    counts = [[100] * 4, [110] * 4, [9, 0, 0, 391]]
    found = feature_codelengths(counts, [[7] * 4, [7] * 4, [7, 0, 0, 7]], [3])
    ways = ["monte-carlo", "monte-carlo", "saturated"]
    assert found.method.ravel().tolist() == ways
    assert (0.001 < found.uncertainty[:2]).all() and found.uncertainty.max() < 0.02
    assert found.uncertainty[2, 0] < 1e-12
    alone = conditional_complexity_estimate(counts[0], 3, n_draws=2**13)
    assert found.complexity[0, 0] == alone.complexity


def test_threads_change_nothing_and_progress_is_printed_on_request(capsys):
    rng = np.random.default_rng([5, 8])
    table = count_levels(rng.integers(0, 4, size=(14, 30)), np.arange(14) % 2)
    forget()
    alone = feature_codelengths(*table, (1, 2))
    assert capsys.readouterr() == ("", "")
    forget()
    with parallel_config("threading"):
        threads = feature_codelengths(*table, (1, 2), n_jobs=2, verbose=1)
    np.testing.assert_array_equal(threads.total, alone.total)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "[NML] errors for n_moments=1: 30 features",
        "[NML] errors for n_moments=2: 30 features",
        "[NML] complexities of 52 models",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_levels([0, 1], [0, 1]), "levels has shape"),
        (lambda: count_levels([[0.5]], [0]), "levels is float64; give level ind"),
        (lambda: count_levels([[-1]], [0]), "levels is negative; give level ind"),
        (lambda: count_levels([[2]], [0], 2), "levels holds 2, but n_levels is 2"),
        (lambda: count_levels([[0]], [0], 1.0), "n_levels=1.0 must be an integer"),
        (lambda: count_levels([[0]], [3]), "labels holds 3"),
        (lambda: feature_codelengths([[2]], [[1]], [0]), "n_moments=0 must be"),
        (lambda: feature_codelengths([[2]], [[1]], []), "n_moments is empty"),
        (lambda: feature_codelengths([[2]], [[3]], [1]), "ones holds 3.0"),
        (lambda: feature_codelengths([[2]], [[1]], [1], [1, 2]), "level_values has"),
        (lambda: feature_codelengths([[2]], [[1]], 3), "n_moments=3 must be several"),
        (lambda: feature_codelengths([[2j]], [[1]]), "counts must be real numbers"),
        (
            lambda: feature_codelengths([[2]], sparse.csr_array([[1]])),
            r"ones is sparse; pass ones.toarray\(\)",
        ),
        (lambda: count_levels([[0], [1]], [1, None]), "labels holds None"),
    ],
)
def test_features_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
    assert found.kind.tolist() == [one.kind for one in each]


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


@pytest.mark.parametrize("doubt", [0.1, [0.0, 0.1]])
def test_up_to_a_tenth_of_a_nat_of_doubt_there_is_no_warning(monkeypatch, doubt):
    found = ComplexityEstimate(np.ones(2), np.array(doubt), "bounds")
    monkeypatch.setattr(
        conditional, "conditional_complexity_estimate", lambda *_, **__: found
    )
    assert conditional_complexity([[1, 2]], 1) is found.complexity


def test_beyond_a_tenth_of_a_nat_of_doubt_there_is_a_warning(monkeypatch):
    found = ComplexityEstimate(np.ones(3), np.array([0.0, 0.13, 0.11]), "bounds")
    monkeypatch.setattr(
        conditional, "conditional_complexity_estimate", lambda *_, **__: found
    )
    said = (
        "^a complexity may be off by 0.13 nats; conditional_complexity_estimate tells "
        "which and how it was found$"
    )
    with pytest.warns(UserWarning, match=said) as told:
        conditional_complexity([[1, 2]], 1)
    assert told[0].filename == __file__
    drawn = conditional_complexity([[1, 2]], 1, method="monte-carlo")
    assert drawn is found.complexity


@pytest.mark.parametrize("intercept", [False, True])
def test_several_classes_of_a_stack(intercept):
    """Each level is a multinomial, but for one at zero without an intercept."""
    counts = [[3, 0, 5], [1, 4, 2]]
    found = conditional_complexity(counts, 3, [1.0, 0.0, 2.0], intercept, n_classes=4)
    expected = [
        multinomial_complexity(3, 4) + multinomial_complexity(5, 4),
        multinomial_complexity(1, 4)
        + multinomial_complexity(2, 4)
        + intercept * multinomial_complexity(4, 4),
    ]
    assert isinstance(found, np.ndarray)
    assert found.tolist() == pytest.approx(expected, rel=1e-13)
    one = conditional_complexity(counts[1], 3, [1.0, 0.0, 2.0], intercept, n_classes=4)
    assert type(one) is float and one == found[1]
    assert conditional_complexity([3, 2], 2, n_classes=1) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: conditional_complexity([3, 0, 2, 4], 1, None, True, n_classes=4),
            "n_classes is 4 and 2 parameters a class do not saturate 3 levels; "
            "raise n_moments to their number",
        ),
        (
            lambda: conditional_complexity([3], 1, n_classes=0),
            "n_classes=0 must be an integer, 1 or more",
        ),
        (
            lambda: conditional_complexity([3], 0, n_classes=3),
            "n_moments=0 must be an integer, 1 or more",
        ),
        (
            lambda: conditional_complexity([3], 1, None, 1, n_classes=3),
            "intercept=1 must be True or False",
        ),
        (
            lambda: conditional_complexity([3], 1, [0, 1], n_classes=3),
            "level_values has shape (2,); give one value for each of the 1 levels",
        ),
        (
            lambda: conditional_complexity_estimate([3], 1, None, 1),
            "intercept=1 must be True or False",
        ),
        (
            lambda: conditional_error([3], [1], 0),
            "n_moments=0 must be an integer, 1 or more",
        ),
        (
            lambda: conditional_codelength([[1.0], [2.0]], [1, 0], 1),
            "x has shape (2, 1); give one level value a sample",
        ),
        (
            lambda: conditional_codelength([], [], 1),
            "x has shape (0,); give one level value a sample",
        ),
        (
            lambda: conditional_codelength([0.0, -math.inf, math.nan], [1, 0, 1], 1),
            "x holds -inf; leave out samples without a value",
        ),
        (
            lambda: count_levels([[0, 1], [3, 1]], [0, 1], 3),
            "levels holds 3, but n_levels is 3; indices start at 0",
        ),
        (
            lambda: count_levels([[0, 1], [3, 1]], [0, 1], 0),
            "n_levels=0 must be an integer, 1 or more",
        ),
        (
            lambda: feature_codelengths([[2]], [[1]], [1], None, 0),
            "intercept=0 must be True or False",
        ),
    ],
)
def test_messages_name_what_is_wrong_and_the_remedy(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call()


def test_tables_of_any_integers_are_counted_up_to_the_largest():
    levels = np.array([[0, 3], [1, 3], [1, 0]], dtype=np.uint8)
    found = count_levels(levels, [True, False, True])
    assert found.counts.tolist() == [[1, 2, 0, 0], [1, 0, 0, 2]]
    assert found.ones.tolist() == [[1, 1, 0, 0], [1, 0, 0, 1]]
    assert found.counts.dtype.kind == found.ones.dtype.kind == "i"


def test_seven_numbers_of_moments_without_intercept_if_nothing_else_is_said():
    counts, ones = [2, 1, 2, 1, 1, 1, 2, 1], [0, 1, 1, 0, 0, 1, 2, 1]
    found = feature_codelengths(counts, ones)
    said = feature_codelengths([counts], [ones], range(1, 8), range(1, 9), False)
    assert found.total.shape == (1, 7)
    np.testing.assert_array_equal(found.total, said.total)
    assert (np.diff(found.complexity[0]) > 0).all()


def test_workers_and_what_they_tell_are_as_asked(capsys):
    rows = np.random.default_rng([5, 9]).integers(1, 4, size=(3, 3))

    def told(call, **given):
        forget()
        with parallel_config("threading"):
            call(**given)
        return "".join(capsys.readouterr())

    for call in (
        lambda **given: conditional_complexity(rows, 1, **given),
        lambda **given: conditional_complexity_estimate(rows, 1, **given),
    ):
        assert told(call) == told(call, n_jobs=2) == ""
        assert "2 concurrent workers" in told(call, n_jobs=2, verbose=1)

    def both(**given):
        feature_codelengths(rows, rows, [1], **given)

    assert told(both) == ""
    assert "workers" not in told(both, n_jobs=2, verbose=1)
    assert "2 concurrent workers" in told(both, n_jobs=2, verbose=2)
