"""A release is the same bytes wherever it is made, and whole or not there."""

import os
import shutil
import subprocess
import sys
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


def test_elsewhere_at_another_time_in_another_language_the_bytes_are_equal(
    built, tmp_path
):
    first = command(built.root, TZ="UTC", LC_ALL="C.UTF-8", PYTHONHASHSEED="1")
    assert first.returncode == 0, first.stdout + first.stderr
    other = tmp_path / "an other" / "folder"
    other.parent.mkdir()
    shutil.copytree(built.root, other, ignore=shutil.ignore_patterns("*.tar.gz"))
    for path in other.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700 if path.is_dir() else 0o600)
    second = command(
        other, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="2", SOURCE_DATE_EPOCH="5"
    )
    assert second.returncode == 0, second.stdout + second.stderr
    assert (built.root / NAME).read_bytes() == (other / NAME).read_bytes()
    assert "CITATION.cff says nothing of: date-released" in first.stdout
    assert "without article.pdf: 'make article' after 'make book'" in first.stdout


def test_it_holds_what_it_promises(built, capsys):
    files = release.release_files(built.root)
    for name in (
        "html/index.html",
        "notebooks/c.ipynb",
        "dist/memdlib-0.3.0-py3-none-any.whl",
        "dist/memdlib-0.3.0.tar.gz",
        "export/data/results/r.json",
        "export/book/records/r.ipynb",
        "requirements.lock",
        "SHA256SUMS",
    ):
        assert name in files
    assert not files.keys() & release.PRINTED.keys()
    for name in release.PRINTED:
        built.write(f"_build/{name}", "new")
        assert release.release_files(built.root)[name] == b"new"
        os.utime(built.root / "_build" / name, (1, 1))  # older than the pages
        assert name not in release.release_files(built.root)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("_build/html/index.html", None, "call 'make book' first"),
        ("memdlib/new.py", "x = 1\n", "is of another state; call 'make html'"),
        ("pyproject.toml", "[tool.hatch.build.hooks.lost]", "cannot be built"),
    ],
)
def test_what_does_not_fit_is_not_released(built, capsys, name, text, said):
    path = built.root / name
    if text is None:
        path.unlink()
    else:
        built.write(name, (path.read_text() if path.exists() else "") + text)
    assert release.main() == 1
    assert said in capsys.readouterr().out
    assert not (built.root / NAME).exists()


def test_a_release_that_fails_leaves_the_last_one(built, monkeypatch, capsys):
    assert release.main() == 0
    before = (built.root / NAME).read_bytes()

    def full(*given):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        release.main()
    assert (built.root / NAME).read_bytes() == before
    assert not list((built.root / "_build").glob(".*"))


def test_the_check_sums_find_a_changed_file(built, tmp_path):
    assert release.main() == 0
    make = ["make", "-f", ROOT / "Makefile", "verify-release"]
    command = [*make, f"FILE={built.root / NAME}"]
    assert subprocess.run(command, cwd=tmp_path).returncode == 0
    subprocess.run(["tar", "-xzf", built.root / NAME, "-C", tmp_path], check=True)
    (folder,) = tmp_path.glob("memdlib-*")
    (folder / "html/index.html").write_text("changed")
    changed = tmp_path / "changed.tar.gz"
    subprocess.run(["tar", "-czf", changed, "-C", tmp_path, folder.name], check=True)
    said = subprocess.run([*make, f"FILE={changed}"], capture_output=True, text=True)
    assert said.returncode != 0
    assert "html/index.html: FAILED" in said.stdout
