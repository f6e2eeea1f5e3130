"""The two forms of every chapter are in step, and executed.

nbval compares their outputs with a new execution (``make notebooks``).
"""

import shutil

from jupytext.cli import jupytext

from compendium.execution.chapters import out_of_step, synchronise
from compendium.project import root


def test_every_chapter_is_stored_with_the_cells_of_its_source():
    assert out_of_step(root()) == []


def test_jupytext_has_nothing_to_do(tmp_path):
    """Both forms are as it writes them, so that an edit of one changes little else."""
    for name in ("jupytext.toml", "book/chapters", "book/notebooks"):
        source, target = root() / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copy(source, target)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert synchronise(tmp_path) == []
    for path in sorted((tmp_path / "book" / "chapters").glob("*.md")):
        path.touch()
    jupytext(["--sync", "--quiet", *map(str, sorted(tmp_path.rglob("*.md")))])
    for path, content in before.items():
        assert path.read_bytes() == content, path.name
