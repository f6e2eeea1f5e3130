"""A release is the same bytes wherever it is made, and whole or not there."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from compendium.artifact import release
from compendium.artifact.verify import verify
from compendium.book.manifest import MANIFEST, write_manifest, write_print_manifest

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
    made = {"html/index.html", "export/codecheck.yml", "SHA256SUMS"}
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


def test_the_digest_stands_beside_the_archive(built, capsys):
    assert release.main() == 0
    said = capsys.readouterr().out
    digest = hashlib.sha256((built.root / NAME).read_bytes()).hexdigest()
    anchor = built.root / f"{NAME}.sha256"
    assert anchor.read_text() == f"{digest}  {Path(NAME).name}\n"
    assert f"DIGEST={digest}" in said and "apart from the archive" in said
    command = ["sha256sum", "--check", anchor.name]
    assert subprocess.run(command, cwd=anchor.parent).returncode == 0
    assert verify(built.root / NAME, digest)[0] == []


def plant(project):
    project.write("_build/html/index.html", "<script>alert(1)</script>")


def add(project):
    project.write("_build/html/new.html", "new")


def move_on(project):
    project.write("README.md", "another state")
    project.commit()


def forget(project):
    (project.root / "_build/html" / MANIFEST).unlink()


def render_unclean(project):
    readme = project.root / "README.md"
    before = readme.read_bytes()
    readme.write_text("not committed")
    write_manifest(project.root, project.root / "_build/html")
    readme.write_bytes(before)


def link(project):
    (project.root / "_build/html/more").symlink_to(project.root)


def print_nothing_known(project):
    project.write("_build/article.pdf", "printed elsewhere")


def print_before_rendering(project):
    html = project.root / "_build/html"
    write_print_manifest(project.write("_build/article.pdf", "printed"), html)
    project.write("_build/html/new.html", "rendered again")
    write_manifest(project.root, html)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (plant, "renders them anew:\nindex.html has changed"),
        (add, "new.html is new"),
        (link, "more is new"),
        (move_on, "the pages are those of commit"),
        (forget, f"the pages have no {MANIFEST}; 'make release' renders"),
        (render_unclean, "rendered with changes that were not committed"),
        (
            print_nothing_known,
            "article.pdf was not printed from these pages; delete it",
        ),
        (print_before_rendering, "article.pdf was not printed from these pages"),
    ],
)
def test_pages_of_another_state_are_not_released(built, capsys, spoil, said):
    spoil(built)
    assert release.main() == 1
    assert said in capsys.readouterr().out
    assert not (built.root / NAME).exists()


def test_pages_that_are_gone_are_missed(built, capsys):
    page = built.write("_build/html/gone.html", "gone")
    write_manifest(built.root, built.root / "_build/html")
    page.unlink()
    assert release.main() == 1
    assert "gone.html is gone" in capsys.readouterr().out


def test_what_is_rendered_and_printed_from_this_commit_is_released(built):
    html = built.root / "_build/html"
    (html / "empty").mkdir()
    write_manifest(built.root, html)
    write_print_manifest(built.write("_build/article.pdf", "printed"), html)
    assert release.main() == 0
    with tarfile.open(built.root / NAME) as archive:
        assert any(name.endswith("/article.pdf") for name in archive.getnames())


def test_an_unknown_state_is_not_clean(built, tmp_path):
    config = tmp_path / "config"
    config.write_text("[core\n")
    broken = command(built.root, GIT_CONFIG_GLOBAL=str(config))
    assert broken.returncode == 1
    assert (
        "nothing was released: what is committed is unknown: git says: "
        in broken.stdout
    )
    assert "bad config" in broken.stdout
    without = command(built.root, PATH=str(tmp_path))
    assert without.returncode == 1
    assert "what is committed is unknown: git cannot be called" in without.stdout
    assert not (built.root / NAME).exists()


def test_line_ends_are_those_of_the_commit(built, tmp_path):
    config = tmp_path / "config"
    config.write_text("[core]\nautocrlf = true\n")
    assert command(built.root).returncode == 0
    before = (built.root / NAME).read_bytes()
    said = command(built.root, GIT_CONFIG_GLOBAL=str(config))
    assert said.returncode == 0, said.stdout
    assert (built.root / NAME).read_bytes() == before


def test_pages_are_rendered_anew_before_they_are_packed(tmp_path):
    (tmp_path / "_build/html").mkdir(parents=True)
    (tmp_path / "_build/html/planted.html").write_text("<script>")
    seen = tmp_path / "seen"
    for name in ("jupyter-book", "python"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho {name} "$@" $(ls _build) >> "{seen}"\n')
        program.chmod(0o755)
    make = ["make", "-f", ROOT / "Makefile", "release", "READY=", "BIN=bin"]
    environment = os.environ | {"MAKEFLAGS": ""}
    subprocess.run(make, cwd=tmp_path, env=environment, check=True)
    first, second = seen.read_text().splitlines()
    assert first.startswith("jupyter-book build .") and "html" not in first
    assert second == "python -m compendium release"
    (tmp_path / "bin/jupyter-book").write_text("#!/bin/sh\nexit 1\n")
    assert subprocess.run(make, cwd=tmp_path, env=environment).returncode != 0
    assert seen.read_text().splitlines() == [first, second]
