"""Small files of arrays come back as they were, or not at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from memdlib.parts.stored import (
    check_sum,
    packed,
    read_arrays,
    unpacked,
    write_arrays,
)

VALUES = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "words": np.array(["a", "bumblebee", ""]),
    "texts": np.array(["a", "bumblebee", ""], dtype=object),
    "scalar": np.float64(3.5),
    "none": np.zeros((0, 4), dtype=np.int8),
}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.npz"
    assert read_arrays(path) is None
    assert read_arrays(tmp_path) is None
    write_arrays(path, packed(VALUES, "0/") | packed({"other": np.ones(1)}, "1/"))
    assert [one.name for one in tmp_path.iterdir()] == ["a.npz"]
    found = unpacked(read_arrays(path), "0/")
    assert list(found) == list(VALUES)
    for name, values in VALUES.items():
        np.testing.assert_array_equal(found[name], values, strict=True)
    assert unpacked(read_arrays(path), "2/") is None and packed(None) == {}


def test_no_damage_goes_unseen(tmp_path):
    path = tmp_path / "a.npz"
    write_arrays(path, {"n": np.arange(3)})
    whole = path.read_bytes()
    for i in range(0, len(whole), 7):
        for broken in (whole[:i], whole[:i] + b"x" + whole[i:]):
            path.write_bytes(broken)
            assert read_arrays(path) is None


@pytest.mark.parametrize("fails", ["savez", "fsync"])
def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch, fails):
    path = tmp_path / "a.npz"
    write_arrays(path, {"n": np.arange(3)})

    def full(*_, **more):
        raise OSError("no space left")

    monkeypatch.setattr(
        f"memdlib.parts.stored.{'np' if fails == 'savez' else 'os'}.{fails}", full
    )
    with pytest.raises(OSError, match="no space left"):
        write_arrays(path, {"n": np.zeros(3)})
    assert read_arrays(path)["n"].tolist() == [0, 1, 2]


@given(arrays(np.int64, array_shapes(max_dims=3, max_side=5)), st.integers(0, 10**6))
def test_check_sums_are_of_values_and_shapes_not_of_memory(values, place):
    one = check_sum(values)
    assert check_sum(np.asfortranarray(values)) == one
    assert check_sum(values.tolist()) == one
    other = values.copy()
    other.flat[place % values.size] ^= 1
    assert check_sum(other) != one
    assert check_sum(values[None]) != one
    assert check_sum(values.astype(np.int32)) != one
    assert check_sum(values, None) != one


def test_check_sums_of_sparse_matrices_and_text():
    X = np.diag([1.0, 2.0])
    assert check_sum(sparse.csc_array(X)) == check_sum(sparse.csr_array(X))
    assert check_sum(sparse.csr_array(X[::-1])) != check_sum(sparse.csr_array(X))
    words = np.array(["ape", "bee"], dtype=object)
    assert check_sum(words) != check_sum(words[::-1])
