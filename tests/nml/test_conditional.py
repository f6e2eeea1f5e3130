import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml import (
    conditional_codelength,
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
    count_levels,
    feature_codelengths,
    multinomial_complexity,
)
from tests.nml.literal import design, suprema


@pytest.mark.parametrize(
    ("counts", "m", "expected"),
    [
        ([8, 8, 8, 7, 7], 1, 2.2401720600),
        ([8, 8, 8, 7, 7], 2, 4.1823749538),
        ([8, 8, 8, 7, 7], 3, 5.6934072377),
        ([8, 8, 8, 7, 7], 4, 6.6753273094),
        ([8, 8, 8, 7, 7], 5, 7.1188757552),
        ([15, 15, 14, 14, 14], 1, 2.5427257993),
        ([15, 15, 14, 14, 14], 2, 4.7716476773),
        ([15, 15, 14, 14, 14], 3, 6.5731464065),
        ([15, 15, 14, 14, 14], 4, 7.8276104788),
        ([15, 14, 14, 14, 15], 5, 8.4752809547),
        ([40] * 5, 1, 3.0330967090),
        ([40] * 5, 2, 5.7370521302),
        ([40] * 5, 5, 10.7641064942),
        ([200] * 5, 1, 3.8204885768),
        ([200] * 5, 7, 14.5613304398),
    ],
)
def test_figures(counts, m, expected):
    found = conditional_complexity_estimate(counts, m)
    assert found.complexity == pytest.approx(expected, rel=0, abs=1e-10)
    assert found.uncertainty <= 1e-11


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
                n_kept, k_kept, x = ([row[i] for i in kept] for row in (n, k, values))
                best = suprema(n_kept, [k_kept], design(x, m, intercept))[0]
            assert error == pytest.approx(rest * math.log(2) - best, abs=1e-7)
            one = conditional_error(n, k, m, values, intercept)
            assert type(one) is float and one == pytest.approx(error, abs=1e-12)
            assert math.copysign(1.0, error) == 1.0


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
