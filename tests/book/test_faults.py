"""Negative controls: each planted fault turns exactly the check red that is to find it.

``negative.toml`` lists them. Wrong statements and broken formulas have lists of their
own (``wrong_statements.toml``, ``mutants.py``), and so have changed outputs
(``test_nbval.py``); here all other checks look at one book with one fault.
"""

import hashlib
import json
import shutil
import tomllib
from functools import partial
from pathlib import Path

import nbformat
import pytest

from compendium.build import chapters
from compendium.build.experiments import make_run
from compendium.build.gates import (
    lint_figure_files,
    lint_notebook,
    lint_site,
    lint_source,
)
from compendium.build.readable import FIGURE
from compendium.build.runs import problems, runs
from compendium.data import DatasetError
from compendium.data.fetch import locate
from compendium.data.registry import DataFile, Entry
from tests.compendium.conftest import HEADER, Project, cell

FAULTS = tomllib.loads(Path(__file__).with_name("negative.toml").read_text())
CONTENT = b"a file of our own"
FOLDS = "method,repeat,right_0,of_0,right_1,of_1\nm,0,1,2,1,2\nm,1,2,2,1,2\n"
CHAPTER = "![a line that rises](a.png)\n\n" + cell("6 * 7\n") * 3 + "The end.\n"
RUN = '[r]\ntitle = "R"\nnotebook = "e.md"\nparameters = { size = 2 }\n'
EXPERIMENT = (
    cell('run = ""\nsize = 1', "parameters")
    + cell("print(size)")
    + cell("size")
    + cell(
        f"""
        import json
        from pathlib import Path
        from IPython.display import display
        scored = {{"accuracy": {{"mean": 62.5}}, "correct": [2, 3]}}
        Path("result.json").write_text(json.dumps({{"m": scored}}))
        about = {{"name": "r-accuracy", "caption": "C.", "alt": "a"}}
        drawn = {{"image/svg+xml": '<svg viewBox="0 0 9 9"/>', "image/png": "cA=="}}
        drawn |= {{"text/plain": {FOLDS!r}, {FIGURE!r}: about}}
        display(drawn, raw=True)
        """
    )
)


def check_sources(root):
    paths = (root / "book").rglob("*.md")
    return [line for p in paths for line in lint_source(p.name, p.read_text())]


def check_notebooks(root):
    stored = (root / "book").rglob("*.ipynb")
    return [
        line
        for path in stored
        for line in lint_notebook(path.name, nbformat.read(path, as_version=4))
        + lint_figure_files(root, path)
    ]


def check_records(root):
    return problems(root, runs(root)["r"])


def check_data(root, patch):
    sha = hashlib.sha256(CONTENT).hexdigest()
    file = DataFile("tiny.bin", url="http://127.0.0.1:1/tiny.bin", sha256=sha)
    patch.setenv("MEMDLIB_DATA", str(root / "mirror"))
    try:
        locate(Entry("tiny", (file,), "r_list", "here", "none", "tiny"))
    except DatasetError as error:
        return [str(error)]
    return []


CHECKS = {
    "sources": check_sources,
    "notebooks": check_notebooks,
    "records": check_records,
    "pages": lambda root: lint_site(root / "_build" / "html"),
    "data": check_data,
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A tiny book with a chapter, a run, its result and record, a page and data."""
    with pytest.MonkeyPatch.context() as patch:
        made = Project(tmp_path_factory.mktemp("sound") / "book")
        patch.setenv("MEMDLIB_PROJECT", str(made.root))
        made.write("book/c.md", HEADER + "# C\n\n" + CHAPTER)
        made.write("book/experiments/runs.toml", RUN)
        made.write("book/experiments/e.md", HEADER + "What it does.\n\n" + EXPERIMENT)
        chapters.store_chapter(made.root, made.root / "book/c.md")
        make_run(made.root, runs(made.root)["r"], made.root)
        page = "<html><body><h1 id='here'>C</h1><a href='#here'>C</a></body></html>"
        made.write("_build/html/index.html", page)
        made.write("mirror/tiny.bin", CONTENT.decode())
    return made.root


@pytest.fixture
def looked_at(sound, tmp_path, monkeypatch):
    """A copy to plant a fault in, and what all checks say of it."""
    root = tmp_path / "book"
    shutil.copytree(sound, root)
    monkeypatch.setenv("MEMDLIB_PROJECT", str(root))
    checks = CHECKS | {"data": partial(check_data, patch=monkeypatch)}

    def look():
        said = {name: check(root) for name, check in checks.items()}
        return {name: lines for name, lines in said.items() if lines}

    return root, look


def plant(root, fault):
    path = root / fault["file"]
    if fault.get("strip"):
        notebook = json.loads(path.read_text())
        for made in notebook["cells"]:
            if made["cell_type"] == "code":
                made["outputs"] = []
        path.write_text(json.dumps(notebook))
    else:
        text = path.read_text()
        assert fault["old"] in text
        path.write_text(text.replace(fault["old"], fault["new"], 1))


def test_a_sound_book_is_green(looked_at):
    _, look = looked_at
    assert look() == {}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_turns_exactly_its_check_red(looked_at, name):
    (root, look), fault = looked_at, FAULTS[name]
    plant(root, fault)
    said = look()
    assert list(said) == fault["checks"]
    assert any(fault["says"] in line for line in said[fault["checks"][0]])


def test_every_check_has_a_fault():
    assert {name for f in FAULTS.values() for name in f["checks"]} == set(CHECKS)
