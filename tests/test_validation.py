import numpy as np
import pytest

from memdlib.validation import check_sample_weight, count_features


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


@pytest.mark.parametrize("asked", [8, 0, -1, 1.01, 0.0, True, "3"])
def test_impossible_counts(asked):
    with pytest.raises(ValueError, match="^k="):
        count_features(asked, 7, "k")
