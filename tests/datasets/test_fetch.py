"""Where a file is looked for, and what is said when it cannot be had."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pooch
import pytest

from memdlib.datasets import DatasetError, fetch, load
from memdlib.datasets.fetch import (
    cache_folder,
    content_hash,
    from_extra,
    read_archive,
    tree_sha256,
)
from memdlib.datasets.readers import READERS

CONTENT = b"a file of our own"


def put(folder: Path, content: bytes = CONTENT) -> Path:
    path = folder / "gene" / "tiny.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def locate(entry) -> Path:
    (path,) = fetch.locate(entry)
    return path


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]


def error_of(entry) -> str:
    with pytest.raises(DatasetError) as caught:
        locate(entry)
    return str(caught.value)


def test_mirror_comes_first_then_cache_then_network(folders, server, make_entry):
    mirror, cache = folders
    entry = make_entry(url=server.url)
    downloaded = locate(entry)
    assert downloaded == cache / "gene" / "tiny.bin"
    assert downloaded.read_bytes() == CONTENT
    assert server.requests == ["/folder/tiny.bin"]
    assert locate(entry) == downloaded
    assert locate(entry) == downloaded
    in_mirror = put(mirror)
    assert locate(entry) == in_mirror
    assert len(server.requests) == 1


def test_empty_variables_count_as_unset(folders, monkeypatch, make_entry):
    _, cache = folders
    monkeypatch.setenv("MEMDLIB_DATA", "")
    in_cache = put(cache)
    assert locate(make_entry()) == in_cache
    monkeypatch.setenv("MEMDLIB_CACHE", "")
    assert cache_folder() == Path(pooch.os_cache("memdlib"))


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch, make_entry):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMDLIB_DATA", "~/mirror")
    monkeypatch.setenv("MEMDLIB_CACHE", "~/cache")
    assert cache_folder() == tmp_path / "cache"
    in_mirror = put(tmp_path / "mirror")
    assert locate(make_entry()) == in_mirror
    in_mirror.unlink()
    in_cache = put(tmp_path / "cache")
    assert locate(make_entry()) == in_cache


def test_symbolic_links_are_followed_and_judged_by_what_they_lead_to(
    folders, tmp_path, monkeypatch, make_entry
):
    """Mirrors are often trees of links; what counts is the hash of the content."""
    path, elsewhere = put(folders[0]), tmp_path / "elsewhere.bin"
    path.unlink()
    path.symlink_to(elsewhere)
    elsewhere.write_bytes(CONTENT)
    assert locate(make_entry()) == path
    elsewhere.write_bytes(b"other bytes")
    assert f"{path} is corrupt or another edition" in error_of(make_entry())
    (tmp_path / "linked").symlink_to(folders[0])
    monkeypatch.setenv("MEMDLIB_DATA", str(tmp_path / "linked"))
    elsewhere.write_bytes(CONTENT)
    assert locate(make_entry()) == tmp_path / "linked" / "gene" / "tiny.bin"
    (tmp_path / "astray").symlink_to(tmp_path / "nowhere")
    for variable in ("MEMDLIB_CACHE", "MEMDLIB_DATA"):
        monkeypatch.setenv(variable, str(tmp_path / "astray"))
        assert f"{variable} is" in (message := error_of(make_entry(path="new.bin")))
        assert "not a folder" in message


def test_a_link_that_leads_nowhere_counts_as_absent(
    folders, tmp_path, server, make_entry
):
    """A download takes the place of the link; nothing is written where it led."""
    mirror, cache = folders
    for folder in (mirror, cache):
        (folder / "gene").mkdir(parents=True)
        (folder / "gene" / "tiny.bin").symlink_to(tmp_path / "nowhere")
    path = locate(make_entry(url=server.url))
    assert path == cache / "gene" / "tiny.bin"
    assert path.read_bytes() == CONTENT and not path.is_symlink()
    assert not (tmp_path / "nowhere").exists()
    assert (mirror / "gene" / "tiny.bin").is_symlink()


@pytest.mark.parametrize("is_file", [False, True])
def test_wrong_mirror_setting_is_an_error_even_with_the_file_in_the_cache(
    folders, tmp_path, monkeypatch, make_entry, is_file
):
    put(folders[1])
    wrong = tmp_path / "wrong"
    if is_file:
        wrong.write_text("not a folder")
    monkeypatch.setenv("MEMDLIB_DATA", str(wrong))
    message = error_of(make_entry())
    assert "MEMDLIB_DATA" in message and str(wrong) in message
    assert ("is not a folder" if is_file else "does not exist") in message
    assert "unset it" in message


def test_cache_setting_that_is_a_file(tmp_path, folders, monkeypatch, make_entry):
    wrong = tmp_path / "wrong"
    wrong.write_text("not a folder")
    monkeypatch.setenv("MEMDLIB_CACHE", str(wrong))
    message = error_of(make_entry())
    assert "MEMDLIB_CACHE" in message and str(wrong) in message


@pytest.mark.parametrize("place", ["mirror", "cache"])
def test_corrupt_file_is_an_error_and_stays_untouched(
    folders, server, make_entry, place
):
    path = put(folders[place == "cache"], b"other bytes")
    entry = make_entry(url=server.url)
    message = error_of(entry)
    assert str(path) in message and entry.files[0].sha256 in message
    assert make_entry(b"other bytes").files[0].sha256 in message
    assert ("unset MEMDLIB_DATA" if place == "mirror" else "delete the file") in message
    assert path.read_bytes() == b"other bytes"
    assert server.requests == []
    assert files_below(folders[1]) == ([path] if place == "cache" else [])


@pytest.mark.parametrize("place", [0, 1])
def test_a_folder_in_place_of_the_file(folders, make_entry, place):
    path = folders[place] / "gene" / "tiny.bin"
    path.mkdir(parents=True)
    assert f"{path} cannot be read" in error_of(make_entry())


def assert_tells_how_to_get_it(message, entry, cache):
    assert repr(entry.name) in message
    (file,) = entry.files
    for fact in ("tiny.bin", file.url, file.sha256, str(cache / "gene")):
        assert fact in message
    assert "MEMDLIB_DATA" in message
    assert files_below(cache) == []


def test_no_network(folders, dead_url, make_entry):
    entry = make_entry(url=dead_url)
    assert_tells_how_to_get_it(error_of(entry), entry, folders[1])


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"status": 404}, "404"),
        ({"status": 503}, "503"),
        ({"body": b"a page that is not the file", "length": 27}, "does not match"),
        ({"body": CONTENT[:8], "length": 8}, "does not match"),
        ({"body": CONTENT[:8]}, "IncompleteRead"),
        ({"body": b"", "length": 0}, "does not match"),
    ],
)
def test_bad_download_leaves_nothing_behind(folders, server, make_entry, fault, reason):
    for name, value in fault.items():
        setattr(server, name, value)
    entry = make_entry(url=server.url)
    message = error_of(entry)
    assert reason in message
    assert_tells_how_to_get_it(message, entry, folders[1])
    server.body, server.status, server.length = CONTENT, 200, len(CONTENT)
    assert locate(entry).read_bytes() == CONTENT


def test_silent_server_is_given_up(folders, server, monkeypatch, make_entry):
    monkeypatch.setattr(fetch, "TIMEOUT", (1.0, 0.1))
    server.gate.clear()
    entry = make_entry(url=server.url)
    message = error_of(entry)
    assert "timed out" in message
    assert_tells_how_to_get_it(message, entry, folders[1])


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/tiny.bin", "tiny.bin", "http://"])
def test_url_that_is_none(folders, make_entry, url):
    entry = make_entry(url=url)
    assert_tells_how_to_get_it(error_of(entry), entry, folders[1])


def test_cache_that_cannot_be_made(tmp_path, folders, monkeypatch, server, make_entry):
    (tmp_path / "file").write_text("in the way")
    cache = tmp_path / "file" / "cache"
    monkeypatch.setenv("MEMDLIB_CACHE", str(cache))
    assert "cannot be read" in error_of(make_entry(url=server.url))


@pytest.mark.parametrize(
    "file",
    ["../tiny.bin", "gene/../../tiny.bin", "/etc/hosts", "..\\x", "C:\\x", "", "."],
)
def test_path_that_leaves_the_folder_is_refused(folders, server, make_entry, file):
    message = error_of(make_entry(path=file, url=server.url))
    assert repr(file) in message and "stays in the data folder" in message
    assert server.requests == []


def test_logging_level_of_pooch_is_put_back(folders, server, make_entry):
    level = pooch.get_logger().level
    locate(make_entry(url=server.url))
    broken = make_entry(b"else", url=server.url, path="else.bin")
    error_of(broken)
    assert pooch.get_logger().level == level


def test_download_prints_nothing(folders, server, make_entry):
    entry = make_entry(url=server.url)
    program = (
        "from memdlib.datasets.fetch import locate\n"
        "from memdlib.datasets.registry import DataFile, Entry\n"
        f"locate({entry!r})\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=os.environ, check=True
    )
    assert (run.stdout, run.stderr) == (b"", b"")
    (file,) = entry.files
    unreachable = replace(file, url="http://127.0.0.1:1/")
    assert locate(replace(entry, files=(unreachable,))).read_bytes() == CONTENT


def test_address_that_nobody_knows(folders, make_entry):
    message = error_of(make_entry(url=""))
    assert "no address is known" in message and "put in" in message


def test_git_blob_or_its_beginning_identifies_a_file(folders, make_entry):
    content = b"blob %d\0" % len(CONTENT) + CONTENT
    blob = hashlib.sha1(content).hexdigest()
    path = put(folders[0])
    for known in (blob, blob[:8]):
        entry = make_entry(hashes={"git_blob_sha1": known})
        assert locate(entry) == path
        assert content_hash(entry) == hashlib.sha256(CONTENT).hexdigest()
    wrong = make_entry(hashes={"git_blob_sha1": "0" * 8})
    assert f"expected git_blob_sha1 {'0' * 8}, found {blob[:8]}" in error_of(wrong)


def test_file_of_any_edition_is_known_by_what_it_is(folders, make_entry):
    entry = make_entry(hashes={})
    assert "any edition of the file will do" in error_of(entry)
    path = put(folders[0], b"one edition")
    assert locate(entry) == path
    assert content_hash(entry) == hashlib.sha256(b"one edition").hexdigest()


def test_several_files_have_one_hash(folders, make_entry):
    entry = make_entry()
    path = put(folders[0])
    path.with_name("other.bin").write_bytes(CONTENT)
    (file,) = entry.files
    both = replace(entry, files=(file, replace(file, path="gene/other.bin")))
    assert [p.name for p in fetch.locate(both)] == ["tiny.bin", "other.bin"]
    lines = f"{file.sha256}\n" * 2
    assert content_hash(both) == hashlib.sha256(lines.encode()).hexdigest()


def archive(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


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
    folders, server, make_entry, prefix, others, mode
):
    server.body = archive({prefix + k: v for k, v in TREE.items()} | others, mode)
    server.length = len(server.body)
    entry = make_entry(url=server.url, hashes=HASHES)
    assert locate(entry).read_bytes() == server.body
    assert content_hash(entry) == HASHES["tree_sha256"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_archive_that_is_cut_off(folders, server, make_entry, cut):
    content = archive(TREE)[:cut]
    entry = make_entry(url=server.url, hashes=HASHES)
    server.body, server.length = content, len(content)
    message = error_of(entry)
    assert "not a whole tar archive" in message and files_below(folders[1]) == []
    put(folders[0], content)
    assert "not a whole tar archive" in error_of(entry)


def test_archive_of_other_documents(folders, make_entry):
    put(folders[0], archive(TREE | {"test/b/3": b"three"}))
    message = error_of(make_entry(hashes=HASHES))
    assert f"expected sha256 {HASHES['tree_sha256']}, found " in message


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


def test_a_package_that_is_there():
    assert from_extra("json", "a test").dumps([1]) == "[1]"


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pandas", lambda: load("iris", as_frame=True)),
        ("pandas", lambda: READERS["csv_class_last"]("lost")),
        ("pandas", lambda: READERS["orange_tab"]("lost")),
        ("pandas", lambda: READERS["tsv_genes_by_samples"]("lost")),
        ("pandas", lambda: READERS["amazon_reviews"]("lost")),
        ("rdata", lambda: READERS["r_list"]("lost")),
        ("rdata", lambda: READERS["r_train_test"]("lost", train="a", test="b")),
        ("rdata", lambda: READERS["r_srbct"]("lost", n_train=1)),
    ],
)
def test_a_package_that_is_not_installed(monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}.*'memdlib\[data\]'"):
        call()


def test_what_needs_no_package_of_the_extra(folders, monkeypatch, make_entry):
    """Looking into the mirror, and the sets of scikit-learn."""
    for package in ("pandas", "pooch", "rdata", "xarray"):
        monkeypatch.setitem(sys.modules, package, None)
    assert load("iris").X.shape == (150, 4)
    path = folders[0] / "tiny.bin"
    path.write_bytes(b"tiny")
    assert fetch.locate(make_entry(b"tiny", path="tiny.bin")) == [path]
    path.unlink()
    monkeypatch.delenv("MEMDLIB_CACHE")
    with pytest.raises(ImportError, match=r"pooch.*'memdlib\[data\]'"):
        fetch.locate(make_entry(b"tiny", path="tiny.bin"))


@pytest.mark.parametrize("url", ["https://example.org/tiny.bin", ""])
def test_a_corrupt_file_of_the_mirror_is_replaced_from_its_address_if_it_has_one(
    folders, make_entry, url
):
    put(folders[0], b"other bytes")
    origin = f" by the file from {url}" if url else ""
    assert error_of(make_entry(url=url)).endswith(
        f"; replace it{origin}, or unset MEMDLIB_DATA"
    )


@pytest.mark.parametrize("known", [True, False])
def test_the_way_to_a_missing_file_is_told_line_by_line(
    folders, dead_url, make_entry, known
):
    entry = make_entry(**({"url": dead_url} if known else {"url": "", "hashes": {}}))
    first, *others = error_of(entry).split("\n")
    assert first.startswith("data set 'tiny': tiny.bin is not on this machine and cou")
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert others == [
        "Get it by other means, and load again:",
        f"  from    {dead_url if known else 'wherever you have it'}",
        f"  sha256  {digest}" if known else "  any edition of the file will do",
        f"  put in  {folders[1] / 'gene'}",
        "or set MEMDLIB_DATA to a folder that holds gene/tiny.bin.",
    ]
