"""Whatever is done to a release is found, each with what it is."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from compendium.artifact import release

ROOT = Path(__file__).parents[3]
NAME = "memdlib-compendium-0.3.0"
FILES = {
    "README.md": "read me",
    "html/index.html": "a page",
    "dist/memdlib-0.3.0-py3-none-any.whl": "a wheel",
    ".ci/run": "#!/bin/sh",
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A small archive of the form of a release."""
    folder = tmp_path_factory.mktemp("good") / NAME
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (folder / ".ci/run").chmod(0o755)
    write_sums(folder)
    target = folder.with_name(f"{NAME}.tar.gz")
    release.pack(folder, target, "0")
    return target


def write_sums(folder):
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in FILES
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


def digest(archive):
    return hashlib.sha256(archive.read_bytes()).hexdigest()


@pytest.fixture
def folder(good, tmp_path):
    """The release, unpacked to be tampered with."""
    with tarfile.open(good) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path / NAME


def packed(folder):
    """The folder as an archive, with all that a release would not keep."""
    target = folder.with_name("tampered.tar.gz")
    with tarfile.open(target, "w:gz") as tar:
        tar.add(folder, NAME)
    return target


def make(*arguments, **environment):
    """What ``make verify-release`` says, and whether it is content."""
    done = subprocess.run(
        ["make", "-s", "verify-release", *arguments],
        cwd=ROOT,
        env=os.environ | {"MAKEFLAGS": ""} | environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def refused(archive, *arguments):
    status, said = make(f"FILE={archive}", *arguments)
    assert status != 0
    assert f"{archive}: do not use this" in said
    return said


def found(archive, original, message):
    """The problem is named without a digest; with one, nothing else is looked at."""
    assert message in refused(archive)
    said = refused(archive, f"DIGEST={digest(original)}")
    assert f"this is not what was released: its SHA-256 is {digest(archive)}" in said


def test_what_was_released_is_recognised(good, tmp_path):
    status, said = make(f"FILE={good}", f"DIGEST={digest(good)}")
    assert status == 0
    assert (
        "all 4 files are as SHA256SUMS in the archive says, and the archive is" in said
    )
    beside = tmp_path / "published.sha256"
    beside.write_text(f"{digest(good).upper()}  {good.name}\n")
    assert make(f"FILE={good}", f"DIGEST={beside}") == (0, said)


def test_without_a_digest_it_says_what_is_not_proved(good):
    status, said = make(f"FILE={good}")
    assert status == 0
    assert "proves only that the archive is whole" in said
    assert digest(good) in said


def change(folder):
    (folder / "html/index.html").write_text("<script>")


def add(folder):
    (folder / "conftest.py").write_text("import os")


def add_folder(folder):
    (folder / "more").mkdir()


def drop_line(folder):
    change(folder)
    sums = folder / "SHA256SUMS"
    sums.write_text(re.sub(".*index.html\n", "", sums.read_text()))


def add_line(folder):
    with (folder / "SHA256SUMS").open("a") as stream:
        stream.write("read me\n")


def empty_sums(folder):
    (folder / "SHA256SUMS").write_text("")


def drop_sums(folder):
    (folder / "SHA256SUMS").unlink()


def drop(folder):
    (folder / "html/index.html").unlink()


def link(folder):
    drop(folder)
    outside = folder.with_name("outside")
    outside.write_text(FILES["html/index.html"])
    (folder / "html/index.html").symlink_to(outside)


def hard_link(folder):
    drop(folder)
    os.link(folder / "README.md", folder / "html/index.html")


def fifo(folder):
    os.mkfifo(folder / "pipe")


def set_user(folder):
    (folder / "README.md").chmod(0o4755)


def open_folder(folder):
    (folder / "html").chmod(0o777)


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (change, "html/index.html was changed: its sum is another"),
        (add, "conftest.py was added: no sum names it"),
        (add_folder, "more was added: a folder that holds nothing"),
        (drop_line, "html/index.html was added: no sum names it"),
        (add_line, "line 5 of SHA256SUMS is not the sum of one more file"),
        (empty_sums, "README.md was added: no sum names it"),
        (drop_sums, "there is no SHA256SUMS"),
        (drop, "html/index.html is missing"),
        (link, "html/index.html is neither a file nor a folder"),
        (hard_link, "is neither a file nor a folder"),
        (fifo, "pipe is neither a file nor a folder"),
        (set_user, "README.md has mode 4755; a release has 644 or 755"),
        (open_folder, "html has mode 777; a release has 755"),
    ],
)
def test_a_tampered_folder_is_found(good, folder, tamper, message):
    tamper(folder)
    found(packed(folder), good, message)


def test_sums_made_anew_are_found_by_the_digest_alone(good, folder):
    change(folder)
    write_sums(folder)
    archive = packed(folder)
    assert make(f"FILE={archive}")[0] == 0
    assert "this is not what was released" in refused(archive, f"DIGEST={digest(good)}")


def member(name, content=b"", kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, target
    return info, io.BytesIO(content)


def test_a_file_through_a_link_is_found_and_nothing_is_written(good, tmp_path):
    outside, archive = tmp_path / "outside", tmp_path / "link.tar.gz"
    outside.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(*member(f"{NAME}/html", kind=tarfile.SYMTYPE, target=str(outside)))
        tar.addfile(*member(f"{NAME}/html/index.html", b"a page"))
    found(archive, good, "html is neither a file nor a folder")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", [f"{NAME}/../../pwned", "/pwned", "other/pwned", "."])
def test_a_name_outside_of_the_folder_is_found(good, tmp_path, name):
    archive = tmp_path / "outside.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(*member(f"{NAME}/README.md"))
        tar.addfile(*member(name))
    found(archive, good, f"{name} lies outside of the folder")


def test_a_name_that_is_there_twice_is_found(good, tmp_path):
    archive = tmp_path / "twice.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(*member(f"{NAME}/README.md", b"one"))
        tar.addfile(*member(f"{NAME}/README.md", b"other"))
    found(archive, good, "README.md is there twice")


def test_what_follows_the_end_is_found(good, tmp_path):
    archive = tmp_path / "longer.tar.gz"
    archive.write_bytes(good.read_bytes() * 2)
    found(archive, good, "something follows the end of the archive")


@pytest.mark.parametrize("left", [0, 1, 200, -1])
def test_an_archive_that_is_cut_off_is_found(good, tmp_path, left):
    archive = tmp_path / "cut.tar.gz"
    archive.write_bytes(good.read_bytes()[:left])
    found(archive, good, "it is not a whole archive")


def test_names_are_names_and_not_commands(good, tmp_path):
    folder = tmp_path / "a b $HOME $(shell touch INJECTED) 'ü\";"
    folder.mkdir()
    archive = shutil.copy(good, folder / "-a; touch INJECTED; #.tar.gz")
    status, said = make(f"FILE={archive}", f"DIGEST={digest(good)}")
    assert status == 0, said
    for name in ("x; touch INJECTED", "$(shell touch INJECTED)", "`touch INJECTED`"):
        assert "there is no such file" in refused(name)
        said = refused(good, f"DIGEST={name}")
        assert "neither the 64 digits of a SHA-256 nor a file" in said
    assert not (ROOT / "INJECTED").exists()


def test_without_an_archive_it_says_what_to_name(tmp_path):
    for given in ([], ["FILE="], [f"FILE={tmp_path}"]):
        status, said = make(*given)
        assert status != 0
        assert "there is no such file; name an archive by FILE=..." in said


def test_nothing_is_left_behind(good, tmp_path):
    assert make(f"FILE={good}", TMPDIR=str(tmp_path))[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_only_says_to_be_large_is_not_read(good, folder):
    with (folder / "hole").open("wb") as stream:
        stream.truncate(2**40)
    archive = folder.with_name("sparse.tar.gz")
    command = ["tar", "--sparse", "-czf", archive, "-C", folder.parent, NAME]
    subprocess.run(command, check=True)
    found(archive, good, "hole is neither a file nor a folder")
