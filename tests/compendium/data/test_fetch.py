"""Where a file is looked for, and what is said when it cannot be had."""

import subprocess

import pytest

from compendium.data import DatasetError, MissingDataError, fetch
from compendium.data.fetch import read_archive, tree_sha256
from tests.compendium.data.conftest import CONTENT, tar_of


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


def test_corrupt_file_is_an_error_and_stays_untouched(folders, server, make_entry):
    for folder in folders[::-1]:  # the mirror comes first
        path = put(folder, b"other bytes")
        message = error_of(make_entry(url=server.url))
        assert f"{path} is corrupt or another edition" in message
        assert make_entry(b"other bytes").files[0].sha256 in message
        assert path.read_bytes() == b"other bytes"
    assert server.requests == []


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"status": 404}, "404"),
        ({"body": b"a page that is not the file", "length": 27}, "does not match"),
        ({"body": CONTENT[:8]}, "IncompleteRead"),
        ({"url": ""}, "no address is known"),
    ],
)
def test_bad_download_leaves_nothing_behind(folders, server, make_entry, fault, reason):
    vars(server).update(fault)
    entry = make_entry(url=server.url)
    message = error_of(entry, MissingDataError)
    for fact in (reason, server.url, entry.files[0].sha256, str(folders[1] / "gene")):
        assert fact in message
    assert files_below(folders[1]) == []


TREE = {"train/a/1": b"one", "test/b/2": b"two"}
HASHES = {"tree_sha256": tree_sha256(TREE), "root": "deep/data"}


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("prefix", "more"),
    [("", {}), ("top/", {}), ("x/deep/data/", {"x/a": b"?"})],
)
def test_any_archive_of_the_same_documents_will_do(
    tmp_path, server, make_entry, prefix, more
):
    files = {prefix + k: v for k, v in TREE.items()} | more
    server.body = tar_of(tmp_path / "a.tar", files).read_bytes()
    server.length = len(server.body)
    entry = make_entry(url=server.url, hashes=HASHES)
    assert locate(entry).read_bytes() == server.body
    assert entry.fingerprint == HASHES["tree_sha256"]


@pytest.mark.parametrize("cut", [0, 60])
def test_archive_that_is_cut_off(folders, tmp_path, server, make_entry, cut):
    server.body = tar_of(tmp_path / "a.tar", TREE).read_bytes()[:cut]
    server.length = len(server.body)
    entry = make_entry(url=server.url, hashes=HASHES)
    assert "not a whole tar archive" in error_of(entry, MissingDataError)
    assert files_below(folders[1]) == []
    put(folders[0], server.body)
    assert "not a whole tar archive" in error_of(entry)


@pytest.mark.parametrize(
    ("files", "root", "expected"),
    [
        ("", "", ""),
        ("x/data/deep/a", "", "a"),
        ("top/ab/1 top/ac/2", "", "ab/1 ac/2"),
        ("top/data/a top/mydata/b", "data", "a"),
        ("top/a top/b", "data", "a b"),
    ],
)
def test_folders_that_all_share_and_other_folders_are_left_out(
    tmp_path, files, root, expected
):
    path = tar_of(tmp_path / "a.tar", dict.fromkeys(files.split(), b"1"))
    assert read_archive(path, root) == dict.fromkeys(expected.split(), b"1")


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("MOST_UNPACKED", 5000, "it unpacks to more than 5000 bytes"),
        ("MOST_MEMBERS", 1, "it has more than 1 members"),
    ],
)
def test_an_archive_is_unpacked_only_so_far(
    folders, tmp_path, make_entry, monkeypatch, limit, most, said
):
    monkeypatch.setattr(fetch, limit, most)
    packed = tar_of(tmp_path / "a.tar", TREE).read_bytes()
    path = put(folders[0], packed)
    message = error_of(make_entry(hashes=HASHES))
    assert f"{path} is corrupt or another edition: {said}" in message


def test_a_file_that_only_says_to_be_large_is_not_read(tmp_path):
    with (tmp_path / "hole").open("wb") as stream:
        stream.truncate(2**40)
    (tmp_path / "a").write_bytes(b"1")
    command = ["tar", "--sparse", "-czf", "a.tar.gz", "hole", "a"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert read_archive(tmp_path / "a.tar.gz") == {"a": b"1"}
