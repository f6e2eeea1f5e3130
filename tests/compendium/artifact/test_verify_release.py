"""The verifier needs Python alone, and each kind of fault turns its own check red."""

import ast
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from compendium.artifact import verify_release
from compendium.artifact.release import packed, release_files

SCRIPT = Path(verify_release.__file__)


@pytest.fixture
def files(built):
    return release_files(built.root)


def summed(files):
    """The files with check sums that fit, as one who forges them would."""
    files = {name: data for name, data in files.items() if name != "SHA256SUMS"}
    lines = [f"{hashlib.sha256(files[n]).hexdigest()}  {n}\n" for n in sorted(files)]
    return files | {"SHA256SUMS": "".join(lines).encode()}


def red(tmp_path, files):
    """Checks with a problem."""
    path = tmp_path / "r.tar.gz"
    path.write_bytes(packed(files, "r", 1700000000))
    outcomes = verify_release.verify(path)
    return {name for name, looks in outcomes.items() if set(looks) != {None}}


def edited(files, name, old, new):
    (path,) = (n for n in files if n.endswith(name))
    assert old.encode() in files[path]
    return files | {path: files[path].replace(old.encode(), new.encode())}


@pytest.mark.parametrize(
    ("name", "old", "new", "checks"),
    [
        ("html/index.html", "page", "Page", set()),
        ("codemeta.json", '"0.3.0"', '"0.3.1"', {"one version"}),
        ("CHANGELOG.md", "## 0.3.0", "## 0.4.0", {"one version"}),
        ("requirements.lock", "--hash=sha256:", "--hash=md5:", {"locks"}),
        ("book/records/r.ipynb", '\\"r\\"', '\\"s\\"', {"lab records", "crate"}),
        ("data/results/r.json", '"b": 2.5', '"b": 3.5', {"numbers", "crate"}),
        ("data/results/r.json", "62.5", "62.4", {"means", "numbers", "crate"}),
        ("r-accuracy.csv", "m,1,2,2", "m,1,1,2", {"means", "crate"}),
        ("export/facts.csv", ",2.5,", ",3.5,", {"numbers", "crate"}),
        ("export/verdicts.csv", "reproduced", "beyond reach", {"verdicts", "crate"}),
        (
            "ro-crate-metadata.json",
            '"@id": "book/records/r.ipynb"\n    }\n   ]',
            '"@id": "lost.ipynb"\n    }\n   ]',
            {"crate"},
        ),
    ],
)
def test_a_fault_turns_its_check_red(tmp_path, files, name, old, new, checks):
    wrong = edited(files, name, old, new)
    assert red(tmp_path, wrong) == checks | {"check sums"}
    assert red(tmp_path, summed(wrong)) == checks


def test_files_lost_and_added_are_noticed(tmp_path, files):
    assert red(tmp_path, files) == set()
    assert red(tmp_path, files | {"new": b""}) == {"check sums"}
    lost = {n: d for n, d in files.items() if n != "html/index.html"}
    assert red(tmp_path, lost) == {"check sums"}
    lost = {n: d for n, d in files.items() if n != "export/facts.csv"}
    assert red(tmp_path, summed(lost)) == {"numbers", "verdicts", "crate"}


def test_a_wheel_with_another_file_is_noticed(tmp_path, files):
    (name,) = (n for n in files if n.startswith("dist/") and n.endswith(".whl"))
    stream = io.BytesIO(files[name])
    with zipfile.ZipFile(stream, "a") as wheel:
        wheel.writestr("memdlib/more.py", "x = 1")
    wrong = summed(files | {name: stream.getvalue()})
    assert red(tmp_path, wrong) == {"wheel"}


def test_entries_that_are_no_plain_files_are_noticed(tmp_path, files):
    path = tmp_path / "r.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"r/{name}")
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
        link = tarfile.TarInfo("r/../../etc")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    outcomes = verify_release.verify(path)
    wrong = [look for look in outcomes["archive"] if look]
    link = "r/../../etc: not a plain file in the folder"
    assert wrong == ["names are not sorted", link]


def run(*arguments):
    """Without site packages, user settings or the variables of this process."""
    command = [sys.executable, "-I", "-S", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={})


def test_python_alone_verifies_a_release_from_its_own_copy(tmp_path, files):
    path, script = tmp_path / "r.tar.gz", tmp_path / "verify_release.py"
    path.write_bytes(packed(files, "r", 1700000000))
    script.write_bytes(files["verify_release.py"])
    done = run(script, path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0].split() == ["check", "looked", "at", "problems"]
    assert [line.split("  ")[0] for line in done.stdout.splitlines()[1:-1]] == [
        "archive",
        *verify_release.CHECKS,
    ]
    broken = edited(files, "html/index.html", "page", "Page")
    path.write_bytes(packed(broken, "r", 1700000000))
    done = run(script, path)
    assert done.returncode == 1
    assert "check sums: html/index.html: another hash" in done.stdout


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_what_is_no_archive_is_one_line(tmp_path, content):
    path = tmp_path / "r.tar.gz"
    if content is not None:
        path.write_bytes(content)
    done = run(SCRIPT, path)
    assert done.returncode == 2
    (line,) = done.stdout.splitlines()
    assert "no archive that can be read" in line


def test_half_an_archive_is_not_verified(tmp_path, files):
    whole = packed(files, "r", 1700000000)
    path = tmp_path / "r.tar.gz"
    path.write_bytes(whole[: len(whole) // 2])
    assert run(SCRIPT, path).returncode == 2
    assert run(SCRIPT).returncode == 2


def test_the_verifier_imports_the_standard_library_only():
    tree = ast.parse(SCRIPT.read_text())
    names = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        node.module.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    assert names <= sys.stdlib_module_names
