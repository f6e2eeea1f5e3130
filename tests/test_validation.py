from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from memdlib.validation import (
    check_choice,
    check_integer,
    check_nonnegative,
    check_positive,
    check_sample_weight,
    check_unit_interval,
    count_features,
    sum_duplicates,
    unchanged_on_failure,
)


def test_weights_pass_through_and_scalars_spread():
    assert check_sample_weight(None, 2).tolist() == [1, 1]
    assert check_sample_weight(3, 2).tolist() == [3, 3]
    assert check_sample_weight([0, 2], 2).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 3], r"shape \(3,\); expected \(2,\)"),
        ([1, -1], r"sample_weight\[1\] = -1\.0"),
        ([np.inf, 1], r"sample_weight\[0\] = inf"),
        ([0, 0], "at least one non-zero number"),
        (0, "at least one non-zero number"),
        ([[1], [2]], r"shape \(2, 1\); expected \(2,\)"),
        ([1, np.nan], r"sample_weight\[1\] = nan"),
    ],
)
def test_bad_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, 2)


@pytest.mark.parametrize(
    ("asked", "meant"), [(None, 7), (7, 7), (np.int64(2), 2), (0.2, 2), (1e-9, 1)]
)
def test_counts_and_shares(asked, meant):
    assert count_features(asked, 7, "k") == meant


@pytest.mark.parametrize("available", [10, 50, 100, 1000])
def test_a_share_in_per_cent_is_not_rounded_up_by_a_rounding_error(available):
    found = [count_features(p / 100, available, "k") for p in range(1, 101)]
    assert found == [-(-p * available // 100) for p in range(1, 101)]


@pytest.mark.parametrize("asked", [8, 0, -1, 1.01, 0.0, True, "3", np.nan, 1j])
def test_impossible_counts(asked):
    with pytest.raises(ValueError, match="^k="):
        count_features(asked, 7, "k")


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25)])
def test_numbers_in_range_become_floats(value):
    for check in (check_unit_interval, check_nonnegative):
        assert isinstance(check(value, "a"), float)
        assert check(value, "a") == value


@pytest.mark.parametrize(
    "value", [-1e-9, np.nan, np.inf, "0.5", None, 1j, [0.5], True, np.False_]
)
def test_numbers_out_of_range_are_named(value):
    for check in (check_unit_interval, check_nonnegative, check_positive):
        with pytest.raises(ValueError, match=r"^a=.* must be a"):
            check(value, "a")
    with pytest.raises(ValueError, match=r"^a=1\.5 must be a number between 0 and 1"):
        check_unit_interval(1.5, "a")


def test_zero_is_not_positive():
    assert check_positive(np.float32(0.25), "a") == 0.25
    with pytest.raises(ValueError, match="a=0 must be a finite number above zero"):
        check_positive(0, "a")


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, True, np.True_, "2", None])
def test_what_is_no_integer_is_named(value):
    assert check_integer(np.int64(3), "a") == 3
    assert check_integer(0, "a", minimum=0) == 0
    with pytest.raises(ValueError, match="^a=.* must be an integer, 1 or more"):
        check_integer(value, "a")


def test_a_failure_leaves_an_object_as_it_was():
    model = SimpleNamespace(a=1)

    @unchanged_on_failure(model)
    def fail():
        model.a, model.b = 2, 3
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert vars(model) == {"a": 1}
    with unchanged_on_failure(model):
        model.a = 2
    assert model.a == 2


@pytest.mark.parametrize("value", ["z", None, ["x"], 3])
def test_unknown_words_are_named(value):
    assert check_choice("x", "a", ("x", "y")) == "x"
    with pytest.raises(ValueError, match=r"^a=.* must be one of \['x', 'y'\]"):
        check_choice(value, "a", ("x", "y"))


def test_duplicates_are_summed_in_a_copy_only_where_there_are_any():
    X = sparse.csr_array(np.eye(3))
    assert sum_duplicates(X) is X
    dense = np.eye(3)
    assert sum_duplicates(dense) is dense
    twice = sparse.csr_array(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))
    assert sum_duplicates(twice).data.tolist() == [3.0]
    assert twice.data.tolist() == [1.0, 2.0]
    assert sum_duplicates(sparse.lil_array(X)).shape == (3, 3)
