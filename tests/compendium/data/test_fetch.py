"""Where a file is looked for, and what is said when it cannot be had."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from dataclasses import replace

import pooch
import pytest

from compendium.data import DatasetError, MissingDataError, fetch
from compendium.data.fetch import read_archive, tree_sha256
from tests.compendium.data.conftest import CONTENT


def put(folder, content=CONTENT):
    path = folder / "gene" / "tiny.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def locate(entry):
    (path,) = fetch.locate(entry)
    return path


def files_below(folder):
    return [path for path in folder.rglob("*") if not path.is_dir()]


def error_of(entry, kind=DatasetError):
    with pytest.raises(DatasetError) as caught:
        locate(entry)
    assert type(caught.value) is kind
    return str(caught.value)


def test_mirror_comes_first_then_cache_then_network(folders, server, make_entry):
    mirror, cache = folders
    entry = make_entry(url=server.url)
    downloaded = locate(entry)
    assert downloaded == cache / "gene" / "tiny.bin"
    assert downloaded.read_bytes() == CONTENT
    assert locate(entry) == downloaded
    in_mirror = put(mirror)
    assert locate(entry) == in_mirror
    assert server.requests == ["/folder/tiny.bin"]


def test_empty_variables_count_as_unset(folders, tmp_path, monkeypatch, make_entry):
    monkeypatch.setenv("MEMDLIB_DATA", "")
    in_cache = put(folders[1])
    assert locate(make_entry()) == in_cache
    monkeypatch.setenv("MEMDLIB_CACHE", "")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / f"of {name}")
    in_cache = put(tmp_path / "of memdlib")
    assert locate(make_entry()) == in_cache


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch, make_entry):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMDLIB_DATA", "~/mirror")
    monkeypatch.setenv("MEMDLIB_CACHE", "~/cache")
    in_mirror = put(tmp_path / "mirror")
    assert locate(make_entry()) == in_mirror
    in_mirror.unlink()
    in_cache = put(tmp_path / "cache")
    assert locate(make_entry()) == in_cache


def test_symbolic_links_are_judged_by_what_they_lead_to(folders, tmp_path, make_entry):
    """Mirrors are often trees of links; one that leads nowhere counts as absent."""
    path, elsewhere = put(folders[0]), tmp_path / "elsewhere.bin"
    path.unlink()
    path.symlink_to(elsewhere)
    elsewhere.write_bytes(CONTENT)
    assert locate(make_entry()) == path
    elsewhere.write_bytes(b"other bytes")
    assert f"{path} is corrupt or another edition" in error_of(make_entry())
    elsewhere.unlink()
    in_cache = put(folders[1])
    assert locate(make_entry()) == in_cache


def test_a_wrong_mirror_is_an_error_even_with_the_file_in_the_cache(
    folders, tmp_path, monkeypatch, make_entry
):
    put(folders[1])
    monkeypatch.setenv("MEMDLIB_DATA", str(tmp_path / "wrong"))
    message = error_of(make_entry())
    assert f"MEMDLIB_DATA is '{tmp_path / 'wrong'}', which is not a folder" in message


@pytest.mark.parametrize("place", ["mirror", "cache"])
def test_corrupt_file_is_an_error_and_stays_untouched(
    folders, server, make_entry, place
):
    path = put(folders[place == "cache"], b"other bytes")
    entry = make_entry(url=server.url)
    message = error_of(entry)
    assert str(path) in message and entry.files[0].sha256 in message
    assert make_entry(b"other bytes").files[0].sha256 in message
    remedy = f"{server.url}, or unset MEMDLIB_DATA" if place == "mirror" else "delete"
    assert remedy in message
    assert path.read_bytes() == b"other bytes"
    assert server.requests == []
    assert files_below(folders[1]) == ([path] if place == "cache" else [])


def way_to_the_file(entry, cache):
    (file,) = entry.files
    return [
        "Get it by other means, and load again:",
        f"  from    {file.url or 'wherever you have it'}",
        f"  sha256  {file.sha256}",
        f"  put in  {cache / 'gene'}",
        "or set MEMDLIB_DATA to a folder that holds gene/tiny.bin.",
    ]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/tiny.bin", "tiny.bin"),  # nobody listens there
        ("", "no address is known"),
        ("tiny.bin", "tiny.bin"),
    ],
)
def test_the_way_to_a_missing_file_is_told(folders, make_entry, url, reason):
    entry = make_entry(url=url)
    first, *others = error_of(entry, MissingDataError).split("\n")
    assert first.startswith("data set 'tiny': tiny.bin is not on this machine and cou")
    assert reason in first
    assert others == way_to_the_file(entry, folders[1])


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"status": 404}, "404"),
        ({"body": b"a page that is not the file", "length": 27}, "does not match"),
        ({"body": CONTENT[:8]}, "IncompleteRead"),
        ({"body": b"", "length": 0}, "does not match"),
    ],
)
def test_bad_download_leaves_nothing_behind(folders, server, make_entry, fault, reason):
    vars(server).update(fault)
    entry = make_entry(url=server.url)
    message = error_of(entry, MissingDataError)
    assert reason in message
    assert message.endswith("\n".join(way_to_the_file(entry, folders[1])))
    assert files_below(folders[1]) == []
    server.body, server.status, server.length = CONTENT, 200, len(CONTENT)
    assert locate(entry).read_bytes() == CONTENT


def test_silent_server_is_given_up(folders, server, monkeypatch, make_entry):
    monkeypatch.setattr(fetch, "TIMEOUT", (1.0, 0.1))
    server.gate.clear()
    assert "timed out" in error_of(make_entry(url=server.url), MissingDataError)
    assert files_below(folders[1]) == []


def test_cache_that_cannot_be_made(tmp_path, folders, monkeypatch, server, make_entry):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MEMDLIB_CACHE", str(tmp_path / "file"))
    error_of(make_entry(url=server.url), MissingDataError)


def test_download_prints_nothing(folders, server, make_entry):
    """As a notebook would show it."""
    program = (
        "from compendium.data.fetch import locate\n"
        "from compendium.data.registry import DataFile, Entry\n"
        f"locate({make_entry(url=server.url)!r})\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=os.environ, check=True
    )
    assert (run.stdout, run.stderr) == (b"", b"")
    assert len(files_below(folders[1])) == 1


def test_git_blob_or_its_beginning_identifies_a_file(folders, server, make_entry):
    content = b"blob %d\0" % len(CONTENT) + CONTENT
    blob = hashlib.sha1(content).hexdigest()
    path = put(folders[0])
    for known in (blob, blob[:8]):
        entry = make_entry(hashes={"git_blob_sha1": known})
        assert locate(entry) == path
        assert entry.fingerprint == known
    wrong = make_entry(url=server.url, hashes={"git_blob_sha1": "0" * 8})
    said = f"expected git_blob_sha1 {'0' * 8}, found {blob}"
    assert said in error_of(wrong)
    path.unlink()
    assert said in error_of(wrong, MissingDataError)
    assert files_below(folders[1]) == []


def test_several_files_come_in_their_order(folders, make_entry):
    entry = make_entry()
    put(folders[0]).with_name("other.bin").write_bytes(CONTENT)
    (file,) = entry.files
    both = replace(entry, files=(replace(file, path="gene/other.bin"), file))
    assert [p.name for p in fetch.locate(both)] == ["other.bin", "tiny.bin"]


def write(path, files, links=(), mode="w"):
    """A tar archive of files, in their order, and of (name, type, target) links."""
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for name, kind, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            tar.addfile(info)
    return path


TREE = {"train/a/1": b"one", "test/b/2": b"two"}
HASHES = {"tree_sha256": tree_sha256(TREE), "root": "deep/data"}


@pytest.mark.parametrize(
    ("prefix", "others", "mode"),
    [
        ("", {}, "w"),
        ("top/", {}, "w:gz"),
        ("x/deep/data/", {"x/README": b"?"}, "w:bz2"),
    ],
)
def test_any_archive_of_the_same_documents_will_do(
    folders, tmp_path, server, make_entry, prefix, others, mode
):
    files = {prefix + k: v for k, v in TREE.items()} | others
    server.body = write(tmp_path / "a.tar", files, mode=mode).read_bytes()
    server.length = len(server.body)
    entry = make_entry(url=server.url, hashes=HASHES)
    assert locate(entry).read_bytes() == server.body
    assert entry.fingerprint == HASHES["tree_sha256"]


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_archive_that_is_cut_off(folders, tmp_path, server, make_entry, cut):
    server.body = write(tmp_path / "a.tar", TREE, mode="w:gz").read_bytes()[:cut]
    server.length = len(server.body)
    entry = make_entry(url=server.url, hashes=HASHES)
    assert "not a whole tar archive" in error_of(entry, MissingDataError)
    assert files_below(folders[1]) == []
    put(folders[0], server.body)
    assert "not a whole tar archive" in error_of(entry)


def test_archive_of_other_documents(folders, make_entry):
    path = put(folders[0])
    write(path, TREE | {"test/b/3": b"three"})
    message = error_of(make_entry(hashes=HASHES))
    assert f"expected tree_sha256 {HASHES['tree_sha256']}, found " in message


def test_only_regular_files_of_an_archive_are_read_and_none_is_written(tmp_path):
    (tmp_path / "secret").write_text("not in the archive")
    links = [
        ("top/soft", tarfile.SYMTYPE, str(tmp_path / "secret")),
        ("top/hard", tarfile.LNKTYPE, "top/a"),
        ("top/folder", tarfile.DIRTYPE, ""),
    ]
    files = {"top/a": b"1", "top/deep/b": b"2"}
    path = write(tmp_path / "a.tar", files, links)
    before = sorted(tmp_path.rglob("*"))
    assert read_archive(path) == {"a": b"1", "deep/b": b"2"}
    evil = write(path, {"../../evil": b"1", "/etc/evil": b"2"})
    assert len(read_archive(evil)) == 2
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("files", "root", "expected"),
    [
        ({}, "", {}),
        ({"a.txt": b"1"}, "", {"a.txt": b"1"}),
        ({"x/data/deep/a.txt": b"1"}, "", {"a.txt": b"1"}),
        ({"top/ab/1": b"1", "top/ac/2": b"2"}, "", {"ab/1": b"1", "ac/2": b"2"}),
        ({"top/data/a": b"1", "top/mydata/b": b"2"}, "data", {"a": b"1"}),
        ({"top/a": b"1", "top/b": b"2"}, "data", {"a": b"1", "b": b"2"}),
    ],
)
def test_folders_that_all_share_and_other_folders_are_left_out(
    tmp_path, files, root, expected
):
    assert read_archive(write(tmp_path / "a.tar", files), root) == expected


def test_what_is_kept_is_never_another_archive(tmp_path):
    path = write(tmp_path / "a.tar", {"x/r/1": b"1", "x/s/2": b"2"})
    assert read_archive(path, "r") == {"1": b"1"}
    assert read_archive(path, "s") == {"2": b"2"}
    time = path.stat().st_mtime_ns
    write(path, {"x/r/1": b"5", "x/s/2": b"6"})
    os.utime(path, ns=(time, time + 1))
    assert read_archive(path, "s") == {"2": b"6"}


def test_the_hash_of_an_archive_is_that_of_names_and_contents():
    one = tree_sha256({"a": b"1", "b": b"2"})
    assert tree_sha256({"b": b"2", "a": b"1"}) == one
    for other in ({"a": b"2", "b": b"1"}, {"a": b"1"}, {"a": b"1", "c": b"2"}):
        assert tree_sha256(other) != one
    lines = f"{hashlib.sha256(b'1').hexdigest()}  a\n"
    assert tree_sha256({"a": b"1"}) == hashlib.sha256(lines.encode()).hexdigest()
