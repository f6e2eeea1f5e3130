"""Which files are meant by a place, and what is in them."""

import fsspec
import numpy as np
import pytest
from scipy import sparse

from memdlib.parts.files import found_files, is_address, load_array, open_address

NAMES = ("part-00010", "part-00002", "b[1].npy", "_SUCCESS", ".part.crc", "sub/part-9")


@pytest.fixture(params=["folder", "address"])
def folder(request, tmp_path):
    """The same files on this computer and in the memory of fsspec."""
    memory = fsspec.filesystem("memory")
    for name in NAMES:
        memory.pipe(f"/f/{name}", b"")
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    yield "memory://f" if request.param == "address" else str(tmp_path)
    memory.rm("/f", recursive=True)


def test_folders_and_patterns(folder):
    for place, expected in (
        ("", ["b[1].npy", "part-00002", "part-00010"]),
        ("/", ["b[1].npy", "part-00002", "part-00010"]),
        ("/part-*", ["part-00002", "part-00010"]),
        ("/*", ["b[1].npy", "part-00002", "part-00010"]),
        ("/*/part-?", ["sub/part-9"]),
        ("/b[1].npy", ["b[1].npy"]),
    ):
        found = found_files(folder + place)
        assert [one.replace("memory:///", "memory://") for one in found] == [
            f"{folder}/{name}" for name in expected
        ]
        assert all(is_address(one) == is_address(folder) for one in found)
    places = [folder + "/part-00010", folder + "/b*"]
    assert [one.rsplit("/", 1)[1] for one in found_files(places)] == [
        "part-00010",
        "b[1].npy",
    ]


def test_what_is_not_there_and_what_is_no_place(folder):
    lost = found_files(f"{folder}/lost")
    assert len(lost) == 1 and lost[0].endswith("/lost")
    for nothing in (f"{folder}/lost*", []):
        with pytest.raises(ValueError, match="holds no file; give at least one"):
            found_files(nothing)
    labels = [np.ones(2), ["ape", "bee"]]
    assert all(a is b for a, b in zip(found_files(labels), labels, strict=True))
    with pytest.raises(ValueError, match="lost"):
        open_address("lost://x")


def test_a_file_is_read_wherever_it_is(tmp_path):
    X = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "X.npy", X)
    sparse.save_npz(tmp_path / "X.npz", sparse.csc_array(X))
    memory = fsspec.filesystem("memory")
    for name in ("X.npy", "X.npz"):
        memory.pipe(f"/{name}", (tmp_path / name).read_bytes())
    for place in (tmp_path, tmp_path.as_uri(), "memory://"):
        dense, rows = (
            load_array(found_files(f"{place}/X.{e}")[0]) for e in ("npy", "npz")
        )
        assert isinstance(dense, np.memmap) == (place != "memory://")
        np.testing.assert_array_equal(dense, X)
        assert rows.format == "csr"
        np.testing.assert_array_equal(rows.toarray(), X)
    np.save(tmp_path / "p.npy", np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="Python objects"):
        load_array(str(tmp_path / "p.npy"))
    memory.rm(["/X.npy", "/X.npz"])
