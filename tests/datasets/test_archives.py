"""Archives are read in memory, and known by what they hold."""

import io
import os
import tarfile

import pytest

from memdlib.datasets.archives import read_archive, tree_sha256


def write(path, files, links=()):
    """A tar archive of files, in their order, and of (name, type, target) links."""
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for name, kind, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return path


def test_names_in_an_archive_lead_nowhere(tmp_path):
    path = write(tmp_path / "evil.tar", {"../../evil": b"1", "/etc/evil": b"2"})
    before = sorted(tmp_path.rglob("*"))
    assert len(read_archive(path)) == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_links_in_an_archive_are_left_out(tmp_path):
    (tmp_path / "secret").write_text("not in the archive")
    links = [
        ("top/soft", tarfile.SYMTYPE, str(tmp_path / "secret")),
        ("top/hard", tarfile.LNKTYPE, "top/a"),
        ("top/folder", tarfile.DIRTYPE, ""),
        ("top/pipe", tarfile.FIFOTYPE, ""),
    ]
    path = write(tmp_path / "a.tar", {"top/a": b"1", "top/deep/b": b"2"}, links)
    assert read_archive(path) == {"a": b"1", "deep/b": b"2"}


@pytest.mark.parametrize("name", ["a.txt", "top/a.txt", "x/data/deep/a.txt"])
def test_an_archive_of_a_single_file(tmp_path, name):
    path = write(tmp_path / "a.tar", {name: b"1"})
    assert read_archive(path) == {"a.txt": b"1"}
    assert tree_sha256(read_archive(path)) == tree_sha256({"a.txt": b"1"})


def test_an_empty_archive(tmp_path):
    assert read_archive(write(tmp_path / "a.tar", {})) == {}


def test_only_whole_folders_are_common(tmp_path):
    path = write(tmp_path / "a.tar", {"top/ab/1": b"1", "top/ac/2": b"2"})
    assert sorted(read_archive(path)) == ["ab/1", "ac/2"]
    path = write(tmp_path / "b.tar", {"top/data/a": b"1", "top/mydata/b": b"2"})
    assert read_archive(path, "data") == {"a": b"1"}
    assert len(read_archive(path, "dat")) == 2  # no such folder: all that it holds


def test_what_is_kept_is_never_another_archive(tmp_path):
    """The newest is kept, known by its path, root, time and size."""
    path = write(tmp_path / "a.tar", {"x/r/1": b"1", "x/s/2": b"2"})
    assert read_archive(path, "r") == {"1": b"1"}
    assert read_archive(path, "s") == {"2": b"2"}
    other = write(tmp_path / "b.tar", {"x/r/1": b"3", "x/s/2": b"4"})
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    os.utime(other, ns=times)
    assert read_archive(other, "s") == {"2": b"4"}
    # another content of the same size at another time, then of another size
    write(other, {"x/r/1": b"5", "x/s/2": b"6"})
    os.utime(other, ns=(times[0], times[1] + 1))
    assert read_archive(other, "s") == {"2": b"6"}
    write(other, {"x/r/1": b"5", "x/s/2": b"7" * 20_000})
    os.utime(other, ns=(times[0], times[1] + 1))
    assert read_archive(other, "s") == {"2": b"7" * 20_000}


def test_what_is_handed_out_may_be_changed(tmp_path):
    path = write(tmp_path / "a.tar", {"a": b"1"})
    read_archive(path).clear()
    assert read_archive(path) == {"a": b"1"}


def test_the_hash_is_that_of_names_and_contents():
    one = tree_sha256({"a": b"1", "b": b"2"})
    assert tree_sha256({"b": b"2", "a": b"1"}) == one
    for other in ({"a": b"2", "b": b"1"}, {"a": b"1"}, {"a": b"1", "c": b"2"}):
        assert tree_sha256(other) != one
