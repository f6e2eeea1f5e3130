import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdlib.nml import (
    conditional_complexity,
    conditional_complexity_estimate,
    conditional_error,
)
from memdlib.nml.codes.multiclass import (
    multiclass_codelength,
    multiclass_complexity,
    multiclass_error,
)
from tests.nml import literal_joint as literal


def powers(x, m, intercept):
    x = np.asarray(x, dtype=float)
    return x[:, None] ** np.arange(0 if intercept else 1, m + 1)


@settings(max_examples=15)
@given(st.data())
def test_code_lengths_by_literal_enumeration(data):
    k = data.draw(st.sampled_from([2, 3]))
    n = data.draw(st.integers(1, 7 if k == 2 else 5))
    x = data.draw(
        st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)
    )
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    m, intercept = data.draw(st.integers(1, 2)), data.draw(st.booleans())
    found = multiclass_codelength(x, labels, m, k, intercept)
    rows = powers(x, m, intercept)
    assert found.complexity == pytest.approx(literal.complexity(rows, k), abs=1e-6)
    expected = -literal.supremum(rows, np.array(labels), k)
    assert found.error == pytest.approx(expected, abs=1e-6)
    assert 0.0 <= found.error <= n * math.log(k) + 1e-12


def test_four_classes_by_literal_enumeration():
    x = [1.0, 2.0, 3.0, 3.0]
    found = multiclass_complexity([1, 1, 2], 1, 4)
    expected = literal.complexity(powers(x, 1, False), 4)
    assert found.complexity == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("intercept", [False, True])
def test_two_classes_are_the_binary_model(m, intercept):
    counts, ones = [8, 0, 7, 8, 7], [0, 0, 2, 5, 7]
    found = multiclass_complexity(counts, m, 2, intercept=intercept)
    expected = conditional_complexity(counts, m, intercept=intercept)
    assert found.complexity == pytest.approx(expected, abs=1e-10)
    tables = np.column_stack([np.subtract(counts, ones), ones])
    error = conditional_error(counts, ones, m, intercept=intercept)
    assert multiclass_error(tables, m, intercept=intercept) == pytest.approx(
        error, abs=1e-10
    )


@pytest.mark.parametrize("k", [3, 5])
def test_a_saturated_model_has_the_closed_form(k):
    found = multiclass_complexity([5, 8, 3], 3, k)
    assert found.method == "saturated"
    expected = conditional_complexity([5, 8, 3], 3, n_classes=k)
    assert found.complexity == pytest.approx(expected, rel=1e-14)


def test_complexity_rises_with_moments_and_classes():
    by_m = [multiclass_complexity([4, 3, 4, 3], m, 3).complexity for m in (1, 2, 3, 4)]
    assert (np.diff(by_m) > 0).all()
    by_k = [multiclass_complexity([3, 3, 3], 1, k).complexity for k in (2, 3, 4)]
    assert (np.diff(by_k) > 0).all()


def test_classes_may_be_renamed_and_need_not_occur():
    tables = np.array([[3, 1, 0], [1, 1, 2], [0, 1, 3]])
    for order in ([1, 0, 2], [2, 1, 0], [1, 2, 0]):
        assert multiclass_error(tables[:, order], 1) == pytest.approx(
            multiclass_error(tables, 1), abs=1e-10
        )
    x, labels = [1, 1, 2, 2, 3], [0, 0, 1, 1, 1]
    found = multiclass_codelength(x, labels, 2, 4)
    assert found.complexity == multiclass_complexity([2, 2, 1], 2, 4).complexity


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: multiclass_complexity([3, 4], 1, 1),
            "n_classes=1 must be an integer, 2",
        ),
        (lambda: multiclass_complexity([[3, 4]], 1, 3), "give one count a level"),
        (lambda: multiclass_complexity([3, 4], 0, 3), "n_moments=0"),
        (lambda: multiclass_complexity([3, 4], 1, 3, [1, 1]), "more than once"),
        (
            lambda: multiclass_complexity([3, 4], 1, 3, intercept=1),
            "intercept=1 must be",
        ),
        (lambda: multiclass_complexity([3, 4], 1, 3, method="table"), "method='table'"),
        (lambda: multiclass_error([[3], [4]], 1), "give levels x classes"),
        (lambda: multiclass_error([[3, -1]], 1), "class_counts holds -1"),
        (lambda: multiclass_error([[1e300, 1]], 1), r"sums to 1e\+300"),
        (lambda: multiclass_codelength([], [], 1, 3), "x has shape"),
        (lambda: multiclass_codelength([1j], [0], 1, 3), "x must be real numbers"),
        (lambda: multiclass_codelength([1, 2], [0, None], 1, 3), "labels holds None"),
        (lambda: multiclass_codelength([np.nan], [0], 1, 3), "x holds nan"),
        (lambda: multiclass_codelength([1.0], [3], 1, 3), "labels holds 3"),
        (
            lambda: multiclass_complexity([90] * 5, 1, 4, method="exact"),
            "450 samples in 5 cells make .* label tables or more",
        ),
    ],
)
def test_what_cannot_be_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("intercept", [False, True])
def test_levels_too_uneven_for_its_fits_are_refused(intercept):
    counts, uneven = [2, 3, 2, 2], [1.0, 2.0, 4.0, 1e7]
    with pytest.raises(ValueError, match="too uneven for"):
        multiclass_complexity(counts, 3 - intercept, 3, uneven, intercept)
    # where the certified solver of two classes can tell, they agree
    for last in (8.0, 100.0, 1e3):
        levels = [1.0, 2.0, 4.0, last]
        m = 2 - intercept
        cells = multiclass_complexity(counts, m, 2, levels, intercept)
        exact = conditional_complexity_estimate(counts, m, levels, intercept=intercept)
        assert abs(cells[0] - exact[0]) < 1e-9
