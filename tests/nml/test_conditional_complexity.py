import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from memdlib.nml import (
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    multinomial_complexity,
)
from memdlib.nml.exact import enumerated_complexity
from memdlib.nml.level_model import level_model
from memdlib.nml.statistic_table import statistic_lattice, tabulated_complexity

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
    assert conditional_complexity_estimate(counts, m).error <= 1e-12


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


@given(occupancies, st.integers(1, 2), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_table_is_the_enumeration(counts, m, intercept):
    values = np.arange(len(counts)) - 1.0
    model = level_model(np.array(counts), values, m, intercept)
    lattice = statistic_lattice(model)
    if model.saturated or model.dimension > 2:
        assert lattice is None
        return
    assert tabulated_complexity(model, lattice) == pytest.approx(
        enumerated_complexity(model), abs=1e-12
    )


def test_two_thousand_samples_and_no_more_are_in_reach_of_the_table():
    for n, there in ((1000, True), (1001, False)):
        model = level_model(np.array([n, n]), np.array([1.0, 2.0]), 1, False)
        assert (statistic_lattice(model) is not None) == there
    found = conditional_complexity([1000, 1000], 1)
    estimate = conditional_complexity_estimate([1000, 1000], 1, method="monte-carlo")
    assert found == pytest.approx(estimate.log_complexity, abs=5 * estimate.error)


def test_values_that_no_scale_makes_integers_are_enumerated():
    found = conditional_complexity_estimate([3, 4, 5], 1, [1.0, math.e, math.pi])
    assert found.method == "enumeration"
    close = conditional_complexity_estimate([3, 4, 5], 1, [0.1, 0.2, 0.3])
    assert close.method in ("table", "enumeration")
    assert close.log_complexity == conditional_complexity([3, 4, 5], 1)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_estimates(m):
    exact = conditional_complexity(BALANCED, m)
    drawn = conditional_complexity_estimate(BALANCED, m, method="monte-carlo")
    assert drawn.method == "monte-carlo" and 0 < drawn.error < 0.01
    assert drawn.log_complexity == pytest.approx(exact, abs=5 * drawn.error)
    facets = conditional_complexity(BALANCED, m, method="facets")
    assert facets == pytest.approx(exact, abs=0.04)
    fisher = conditional_complexity_estimate(BALANCED, m, method="fisher")
    assert -0.5 < fisher.log_complexity - exact < -0.05
    assert fisher.error == math.inf


def test_the_volume_of_one_level_is_the_known_expansion():
    fisher = conditional_complexity([50], 1, method="fisher")
    facets = conditional_complexity([50], 1, method="facets")
    assert fisher == pytest.approx(math.log(math.sqrt(math.pi * 25)), abs=1e-12)
    assert facets == pytest.approx(math.log(math.sqrt(math.pi * 25) + 2 / 3), abs=1e-12)
    drawn = conditional_complexity_estimate([50], 1, method="monte-carlo")
    assert (drawn.log_complexity, drawn.error) == (multinomial_complexity(50, 2), 0.0)


def test_what_is_out_of_reach_is_drawn():
    found = conditional_complexity_estimate([200] * 5, 4)
    assert found.method == "monte-carlo"
    assert found.log_complexity == pytest.approx(12.83497, abs=5 * found.error)
    assert conditional_complexity([200] * 5, 4) == found.log_complexity


def test_stacks_are_their_rows():
    rows = np.random.default_rng([5, 1]).integers(0, 5, size=(12, 4))
    rows[:, 3] += 1
    found = conditional_complexity(rows, 2)
    assert found.shape == (12,)
    each = [conditional_complexity(row, 2) for row in rows]
    assert found.tolist() == each
    drawn = conditional_complexity(rows[:2], 2, method="facets")
    assert drawn.shape == (2,)


def test_a_zero_level_without_intercept():
    with_zero = conditional_complexity([9, 4, 3], 1, [0, 1, 2])
    assert with_zero == conditional_complexity([4, 3], 1, [1, 2])
    assert conditional_complexity([9], 3, [0]) == 0.0
    assert conditional_error([9], [4], 3, [0]) == pytest.approx(9 * math.log(2))
    facets = conditional_complexity([9], 3, [0], method="facets")
    assert facets == 0.0


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
    with pytest.raises(ValueError, match="n_classes is 3 and 1 parameters"):
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
        (([3, 1], 0), "n_moments is 0; give an integer of 1 or more"),
        (([3, 1], 1.5), "n_moments is 1.5"),
        (([3, 1], math.inf), "n_moments is inf"),
        (([3, 1], "2"), "n_moments is '2'"),
        (([3, 1], 1, [1, 1]), "level_values holds 1.0 more than once"),
        (([3, 1], 1, [1, math.inf]), "level_values holds inf"),
        (([3, 1], 1, [1]), "level_values has shape"),
        (([3, 1], 1, None, False, "best"), "method is 'best'; choose from"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        conditional_complexity(*arguments)


def test_too_many_subsets():
    with pytest.raises(ValueError, match="sets of 10 of 20 levels are too many"):
        conditional_complexity([2] * 20, 10, method="facets")
