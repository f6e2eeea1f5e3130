"""A release is the same bytes wherever it is made, and whole or not there."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from compendium.artifact import release

ROOT = Path(__file__).parents[3]
NAME = "_build/memdlib-compendium-0.3.0.tar.gz"


def command(folder, **environment):
    """Make a release as the Makefile does, in an environment of its own."""
    return subprocess.run(
        [sys.executable, "-m", "compendium", "release"],
        cwd=ROOT,  # the code is that of this checkout
        env=os.environ | {"MEMDLIB_PROJECT": str(folder)} | environment,
        capture_output=True,
        text=True,
    )


def test_the_bytes_are_equal_elsewhere_and_hold_what_they_promise(built, tmp_path):
    first = command(built.root, TZ="UTC", LC_ALL="C.UTF-8", PYTHONHASHSEED="1")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "CITATION.cff says nothing of: date-released" in first.stdout
    other = tmp_path / "an other" / "folder"
    other.parent.mkdir()
    shutil.copytree(built.root, other, ignore=shutil.ignore_patterns("*.tar.gz"))
    for path in (other / "_build").rglob("*"):
        os.utime(path, (1, 1))
    second = command(other, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="2")
    assert second.returncode == 0, second.stdout + second.stderr
    assert (built.root / NAME).read_bytes() == (other / NAME).read_bytes()
    with tarfile.open(built.root / NAME) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    packages = {f"dist/memdlib-0.3.0{end}" for end in ("-py3-none-any.whl", ".tar.gz")}
    made = {"html/index.html", "export/facts.csv", "SHA256SUMS"}
    assert held > packages | made | {"README.md", "data/results/r.json"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("_build/html/index.html", "call 'make book' first"),
        ("README.md", "this is not committed:\nD README.md"),
    ],
)
def test_what_is_not_of_one_state_is_not_released(built, capsys, name, said):
    (built.root / name).unlink()
    assert release.main() == 1
    assert said in capsys.readouterr().out
    assert not (built.root / NAME).exists()


def test_the_check_sums_find_a_changed_file(built, tmp_path):
    assert release.main() == 0
    make = ["make", "-f", ROOT / "Makefile", "verify-release"]
    assert subprocess.run([*make, f"FILE={built.root / NAME}"]).returncode == 0
    subprocess.run(["tar", "-xzf", built.root / NAME, "-C", tmp_path], check=True)
    (folder,) = tmp_path.glob("memdlib-*")
    (folder / "html/index.html").write_text("changed")
    changed = tmp_path / "changed.tar.gz"
    subprocess.run(["tar", "-czf", changed, "-C", tmp_path, folder.name], check=True)
    said = subprocess.run([*make, f"FILE={changed}"], capture_output=True, text=True)
    assert said.returncode != 0
    assert "html/index.html: FAILED" in said.stdout


def test_without_an_answer_of_git_nothing_is_released(built, capsys, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # a switch of git itself
    assert release.main() == 1
    assert "what is committed is unknown: git says:" in capsys.readouterr().out
    assert not (built.root / NAME).exists()
