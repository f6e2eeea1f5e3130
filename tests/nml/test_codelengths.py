import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml import (
    conditional_codelength,
    conditional_complexity,
    conditional_error,
    gene_codelengths,
)
from memdlib.nml.level_model import level_model
from memdlib.nml.logit_fit import LogitSolver
from memdlib.nml.separation import on_boundary


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
        fit = LogitSolver.of(model).fit(ones[:, None])
        assert found.error == pytest.approx(-fit.log_likelihood[0], abs=1e-12)
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


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("values", [None, [-2.0, -1.0, 0.0, 1.0, 2.0]])
def test_many_genes_are_single_ones(values, intercept):
    rng = np.random.default_rng([5, 5])
    levels = rng.integers(0, 5, size=(16, 20))
    levels[:, 3] = 2
    levels[:, 4] = rng.integers(1, 3, size=16)
    y = rng.integers(0, 2, size=16)
    levels[:, 5] = 4 * y
    moments = (1, 2, 3, 7)
    found = gene_codelengths(levels, y, moments, values, intercept)
    coded = np.arange(1.0, 6.0) if values is None else np.array(values)
    for j in range(20):
        for i, m in enumerate(moments):
            one = conditional_codelength(coded[levels[:, j]], y, m, intercept)
            assert found.error[j, i] == pytest.approx(one.error, abs=1e-12)
            assert found.complexity[j, i] == pytest.approx(one.complexity, abs=1e-12)
    assert found.total.shape == (20, 4)
    assert np.isfinite(found.total).all()
    assert (found.total == found.error + found.complexity).all()
    constant = found.total[3]
    assert constant == pytest.approx(constant[0], abs=1e-12)


def test_more_levels_than_are_used():
    levels = [[0], [1], [1]]
    few = gene_codelengths(levels, [0, 1, 1], [1])
    more = gene_codelengths(levels, [0, 1, 1], [1], level_values=[1, 2, 3])
    assert few.total == pytest.approx(more.total, abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conditional_codelength([], [], 1), "x has shape"),
        (lambda: conditional_codelength([[1.0]], [1], 1), "x has shape"),
        (lambda: conditional_codelength([math.nan], [1], 1), "x holds nan"),
        (lambda: conditional_codelength([1.0], [2], 1), "labels holds 2; map the two"),
        (lambda: conditional_codelength([1.0], ["ALL"], 1), "labels holds 'ALL'"),
        (lambda: conditional_codelength([1.0], [0, 1], 1), "labels has shape"),
        (lambda: conditional_codelength([1.0], [1], 0), "n_moments is 0"),
        (lambda: conditional_error([2], [3], 1), "ones holds 3.0; give integers bet"),
        (lambda: conditional_error([2], [0.5], 1), "ones holds 0.5"),
        (lambda: conditional_error([2], [math.nan], 1), "ones holds nan"),
        (lambda: conditional_error([2], [1, 1], 1), "ones has shape"),
        (lambda: gene_codelengths([0, 1], [0, 1]), "levels has shape"),
        (lambda: gene_codelengths([[0.5]], [0]), "levels is float64; give level ind"),
        (lambda: gene_codelengths([[-1]], [0]), "levels is negative; give level ind"),
        (lambda: gene_codelengths([[2]], [0], [1], [1, 2]), "levels holds 2, but the"),
        (lambda: gene_codelengths([[0]], [3]), "labels holds 3"),
        (lambda: gene_codelengths([[0]], [0], [0]), "n_moments is 0"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
