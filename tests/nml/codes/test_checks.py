import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from memdlib.nml.codes.checks import (
    check_binary_labels,
    check_boolean,
    check_counts,
    check_level_indices,
    check_levels,
    check_moments,
    check_ones,
    finite_range,
    positive_range,
)


def test_what_passes():
    assert check_counts([2.0, 0], "counts").tolist() == [2.0, 0.0]
    assert check_counts([[1, 2]], "counts", stack=True).shape == (1, 2)
    counts, values = check_levels([[3, 0], [0, 1]], [5, -1])
    assert counts.dtype == np.int64
    assert values.tolist() == [5.0, -1.0]
    assert check_levels([1, 1, 1], None)[1].tolist() == [1.0, 2.0, 3.0]
    assert check_ones([[3, 0], [0, 1]], counts).tolist() == [[3.0, 0.0], [0.0, 1.0]]
    assert check_binary_labels(np.array([True, False]), 2).tolist() == [1.0, 0.0]


def test_ranges_that_pass():
    assert finite_range((-1, 2), "range", "why") == (-1.0, 2.0)
    ends = positive_range((1, np.inf), "range", "scale", upper_may_be_infinite=True)
    assert ends == (1.0, np.inf)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_counts([[1, 2]], "k"), r"k has shape \(1, 2\); .* \(L,\)$"),
        (lambda: check_counts([], "k"), r"k has shape \(0,\); give one count a level"),
        (lambda: check_counts([[]], "k", stack=True), r"shape \(L,\) or \(G, L\)"),
        (lambda: check_counts([1, -1], "k"), "k holds -1.0; give nonnegative integers"),
        (lambda: check_counts([np.inf], "k"), "k holds inf"),
        (lambda: check_levels([[1, 0], [0, 0]], None), "level_counts sums to 0"),
        (lambda: check_levels([1, 2], [1, 1]), "level_values holds 1.0 more than once"),
        (lambda: check_ones([3], np.array([2])), "ones holds 3.0; give integers betw"),
        (lambda: check_ones([1, 1], np.array([2])), r"ones has shape \(2,\)"),
        (lambda: finite_range(3, "a", "so"), "must be a pair .* because so"),
        (lambda: finite_range((0, None), "a", "so"), "the upper bound is missing"),
        (lambda: finite_range((0, "b"), "a", "so"), "the upper end must be a number"),
        (lambda: finite_range((2, 1), "a", "so"), "lower end below its upper end"),
        (lambda: positive_range((0, 1), "a", "scale"), "every doubling of the scale"),
        (lambda: check_binary_labels([2], 1), "labels holds 2; map the two classes"),
        (lambda: check_binary_labels([1], 2), r"labels has shape \(1,\)"),
        (lambda: check_binary_labels([1, None], 2), "labels holds None; map the two"),
        (lambda: check_binary_labels([0, 1 + 0j], 2), "labels holds 0j; map the two"),
        (lambda: check_binary_labels([[1], [1, 0]], 2), "labels is no array"),
        (lambda: check_counts([1, 2j], "k"), "k must be real numbers"),
        (lambda: check_counts([[1], [2, 3]], "k"), "k must be real numbers, in rows"),
        (lambda: check_counts(sparse.csr_array([[1]]), "k"), r"pass k.toarray\(\)"),
        (lambda: check_counts([1e308] * 2, "k"), r"k, which holds 1e\+308, is beyond"),
        (lambda: check_levels([1, 2], [1, 2j]), "level_values must be real numbers"),
        (lambda: check_ones([1j], np.array([2])), "ones must be real numbers"),
        (lambda: check_moments(3), "n_moments=3 must be several numbers of moments"),
        (lambda: check_level_indices([[1], [2, 3]]), "levels is no array"),
        (lambda: check_level_indices(sparse.csr_array([[1]])), r"pass levels.toarr"),
        (lambda: finite_range(np.ones((2, 2)), "a", "so"), "the lower end must be"),
        (lambda: check_binary_labels([1, "a", None], 3), "labels holds 'a'; map the"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check_counts(np.ones((2, 1)), "k"),
            "k has shape (2, 1); give one count a level, shape (L,)",
        ),
        (
            lambda: check_counts(np.ones((1, 1, 1)), "k", stack=True),
            "k has shape (1, 1, 1); give one count a level, shape (L,) or (G, L)",
        ),
        (
            lambda: check_counts(3, "k", stack=True),
            "k has shape (); give one count a level, shape (L,) or (G, L)",
        ),
        (
            lambda: check_counts([2, 0, -1, 0.5], "k"),
            "k holds -1.0; give nonnegative integers",
        ),
        (
            lambda: check_counts([2, np.nan, 0.5], "k"),
            "k holds nan; give nonnegative integers",
        ),
        (
            lambda: check_counts([5, 1e308, 1e308], "k"),
            "the sum of k, which holds 1e+308, is beyond the largest float; give "
            "numbers of samples",
        ),
        (
            lambda: check_moments(True),
            "n_moments=True must be several numbers of moments, such as range(1, 6)",
        ),
        (
            lambda: check_moments(iter(())),
            "n_moments is empty; give at least one number of moments",
        ),
        (lambda: check_boolean(1, "flag"), "flag=1 must be True or False"),
        (
            lambda: check_levels([[2.0**52, 1], [2.0**52, 0], [2.0**53, 0]], None),
            "level_counts sums to 9.01e+15; counts are exact up to 4.5e+15 samples",
        ),
        (
            lambda: check_levels([2.0**52, 1.0], None),
            "level_counts sums to 4.5e+15; counts are exact up to 4.5e+15 samples",
        ),
        (
            lambda: check_levels([[0, 0], [1, 0]], None),
            "level_counts sums to 0; a code length needs n >= 1 samples",
        ),
        (
            lambda: check_levels([[1, 2]], [[1, 2]]),
            "level_values has shape (1, 2); give one value for each of the 2 levels",
        ),
        (
            lambda: check_levels([1, 2, 3], [1, np.nan, np.inf]),
            "level_values holds nan; give finite values",
        ),
        (
            lambda: check_levels([1] * 5, [7, 3, 1, 3, 1]),
            "level_values holds 1.0 more than once; join levels of equal value",
        ),
        (
            lambda: check_ones([[1, 2]], np.array([1, 2])),
            "ones has shape (1, 2); give one number a level, shape (2,)",
        ),
        (
            lambda: check_ones([2, -1, 0.5], np.array([2, 3, 3])),
            "ones holds -1.0; give integers between 0 and level_counts",
        ),
        (
            lambda: check_ones([2, 0.5, 4], np.array([2, 3, 3])),
            "ones holds 0.5; give integers between 0 and level_counts",
        ),
        (
            lambda: check_binary_labels([[0, 1]], 2),
            "labels has shape (1, 2); give one class a sample, 2",
        ),
        (
            lambda: check_binary_labels([0, -1], 2),
            "labels holds -1; map the two classes to 0 and 1",
        ),
        (
            lambda: check_binary_labels(["1", "0"], 2),
            "labels holds '0'; map the two classes to 0 and 1",
        ),
        (
            lambda: check_level_indices(np.zeros((0, 3), dtype=int)),
            "levels has shape (0, 3); give samples x features",
        ),
        (
            lambda: check_level_indices(np.zeros((1, 1, 1), dtype=int)),
            "levels has shape (1, 1, 1); give samples x features",
        ),
        (
            lambda: check_level_indices([[0, -1]]),
            "levels is negative; give level indices 0, 1, ..",
        ),
        (
            lambda: check_level_indices([[True]]),
            "levels is bool; give level indices 0, 1, ..",
        ),
        (
            lambda: check_level_indices([[-0.5]]),
            "levels is float64; give level indices 0, 1, ..",
        ),
        (
            lambda: finite_range((1, 2, 3), "a", "so"),
            "a=(1, 2, 3) must be a pair (low, high); without a bound log C is "
            "infinite, because so",
        ),
        (
            lambda: finite_range((None, 1), "a", "so"),
            "a=(None, 1): log C is infinite, because the lower bound is missing and "
            "so; give a finite lower end inside the domain",
        ),
        (
            lambda: finite_range((-np.inf, 1), "a", "so", upper_may_be_infinite=True),
            "a=(-inf, 1): log C is infinite, because the lower bound is missing and "
            "so; give a finite lower end inside the domain",
        ),
        (
            lambda: finite_range((1, None), "a", "so", upper_may_be_infinite=True),
            "a=(1, None): log C is infinite, because the upper bound is missing and "
            "so; give a finite upper end inside the domain",
        ),
        (
            lambda: finite_range((0, np.inf), "a", "so"),
            "a=(0, inf): log C is infinite, because the upper bound is missing and "
            "so; give a finite upper end inside the domain",
        ),
        (
            lambda: finite_range((0, -np.inf), "a", "so", upper_may_be_infinite=True),
            "a=(0, -inf): the upper end must be a number up to 1e+100",
        ),
        (
            lambda: finite_range((np.inf, np.inf), "a", "so"),
            "a=(inf, inf): the lower end must be a number up to 1e+100",
        ),
        (
            lambda: finite_range((0, np.nan), "a", "so", upper_may_be_infinite=True),
            "a=(0, nan): the upper end must be a number up to 1e+100",
        ),
        (
            lambda: finite_range((1, 1.0), "a", "so"),
            "a=(1, 1.0) must have its lower end below its upper end",
        ),
        (
            lambda: positive_range((-1, np.inf), "a", "b", upper_may_be_infinite=True),
            "a=(-1, inf): log C is infinite, because the lower bound is missing and "
            "every doubling of the b adds as much, or more; give a finite lower end "
            "inside the domain",
        ),
        (
            lambda: positive_range((1, np.inf), "a", "b"),
            "a=(1, inf): log C is infinite, because the upper bound is missing and "
            "every doubling of the b adds as much, or more; give a finite upper end "
            "inside the domain",
        ),
    ],
)
def test_messages_name_what_is_wrong_and_the_remedy(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


def test_what_is_at_the_edge_passes():
    counts, values = check_levels([[2.0**52, 0], [1, 2.0**52 - 1]], None)
    assert counts.tolist() == [[2**52, 0], [1, 2**52 - 1]]
    assert values.tolist() == [1.0, 2.0]
    assert check_ones([0, 3, 2], np.array([0, 3, 4])).tolist() == [0.0, 3.0, 2.0]
    assert check_counts([0], "k").dtype == np.float64
    assert check_counts([1e308, 0.0], "k").tolist() == [1e308, 0.0]
    assert check_moments(iter([3, np.int64(1)])) == [3, 1]
    for flag in (True, False, np.True_, np.False_):
        assert check_boolean(flag, "flag") is None
    for kind in (np.uint8, np.int16):
        table = check_level_indices(np.array([[0, 2]], dtype=kind))
        assert table.dtype == kind and table.tolist() == [[0, 2]]


def test_labels_may_be_numbers_of_any_kind():
    for given in (
        [1.0, 0.0, 1.0],
        np.array([1, 0, 1], dtype=np.uint8),
        np.array([np.True_, 0, 1.0], dtype=object),
    ):
        found = check_binary_labels(given, 3)
        assert found.tolist() == [1.0, 0.0, 1.0] and found.dtype == np.float64


def test_ranges_are_floats_of_any_real_numbers():
    for ends in ((Fraction(1, 4), 2), [np.float32(0.25), np.int64(2)]):
        for check in (finite_range, positive_range):
            found = check(ends, "range", "what")
            assert found == (0.25, 2.0)
            assert [type(end) for end in found] == [float, float]
    least = float(np.nextafter(0.0, 1.0))
    assert positive_range((least, 1), "range", "scale") == (least, 1.0)
    for check in (finite_range, positive_range):
        ends = check((2, np.inf), "range", "what", upper_may_be_infinite=True)
        assert ends == (2.0, np.inf)
