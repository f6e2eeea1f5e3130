import numpy as np
import pytest
from scipy import sparse

from memdlib.nml.codes.checks import (
    check_binary_labels,
    check_classes,
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
        (lambda: check_classes([1, "a", None], 3, 2), "labels holds 'a'; map the cl"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_classes():
    found, k = check_classes([2, 0, True], 3, 3)
    assert (found.tolist(), found.dtype, k) == ([2, 0, 1], np.int64, 3)
    with pytest.raises(ValueError, match="labels holds 3; map the classes to 0, .., 2"):
        check_classes([0, 3], 2, 3)
    with pytest.raises(ValueError, match=r"labels has shape \(2,\); give one class"):
        check_classes([0, 1], 3, 2)
