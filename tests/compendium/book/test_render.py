import nbformat
import pytest

from compendium.book import render
from tests.compendium.conftest import HEADER, cell

CONFIG = """title: Tiny
author: nobody
only_build_toc_files: true
exclude_patterns: [".*", "_build"]
execute: {execute_notebooks: "off", stderr_output: error}
sphinx: {config: {nb_ipywidgets_js: {}}}
"""
TOC = """format: jb-book
root: book/index
chapters:
  - file: book/notebooks/c
  - file: book/api
"""


def chapter(stream):
    """A stored notebook that has written something."""
    shown = nbformat.v4.new_markdown_cell("(there)=\n# There", id="cell-000")
    output = nbformat.v4.new_output("stream", name=stream, text="42\n")
    code = nbformat.v4.new_code_cell("40 + 2", outputs=[output], execution_count=1)
    code.id = "cell-001"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    about = {"kernelspec": kernel}
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=[shown, code], metadata=about)
    )


@pytest.fixture
def book(project):
    """A book of two pages that renders."""
    project.write("_config.yml", CONFIG)
    project.write("_toc.yml", TOC)
    project.write("book/index.md", "# Start\n\nSee {ref}`there`.\n")
    project.write("book/api.md", "# Reference\n")  # names nothing
    project.write("compendium/.git_archival.txt", "seconds: 1767312000\n")
    project.write("book/notebooks/c.ipynb", chapter("stdout"))
    return project


def test_a_book_replaces_the_last_one(book):
    book.write("_build/html/stale.html", "")
    target = book.root / "_build" / "html"
    render.render(book.root, target)
    assert "42" in (target / "book/notebooks/c.html").read_text()
    assert not (target / "stale.html").exists()
    assert [p.name for p in target.parent.iterdir()] == ["html"]


def test_a_faulty_book_leaves_the_last_one(book, capsys):
    last = book.write("_build/html/index.html", "the last one")
    book.write("book/index.md", "# Start\n\nSee {ref}`lost`.\n")
    book.write("book/notebooks/c.ipynb", chapter("stderr"))
    book.write("_toc.yml", TOC + "  - file: book/none\n")
    assert render.main() == 1
    said = capsys.readouterr().out
    assert "The book was not rendered; the last one is kept." in said
    assert "index.md:3: WARNING: undefined label: 'lost'" in said
    assert "stderr was found in the" in said and "book/none" in said
    assert "\x1b" not in said
    files = [path for path in (book.root / "_build").rglob("*") if path.is_file()]
    assert files == [last] and last.read_text() == "the last one"


LOCK = "numpy==1.0 \\\n    --hash=sha256:00\ntqdm==2.0 ; x \\\n    --hash=sha256:11\n"
CONDA = """channels: [conda-forge, nodefaults]
dependencies: [python=3.11, pip, {pip: ["-e .[notebooks]", numpy==1.0, tqdm==2.0 ; x]}]
"""
RUN = '[r]\ntitle = "R"\nnotebook = "e.md"\n'


@pytest.fixture
def repository(book):
    """A project on whose sources every gate is open."""
    book.write("requirements.lock", LOCK)
    book.write("environment.yml", CONDA)
    book.write("_toc.yml", TOC + "  - glob: book/records/r*\n")
    book.write("book/experiments/runs.toml", RUN)
    book.write("book/experiments/e.md", HEADER + cell("print(1)"))
    book.chapter("c", cell("print(1)"))
    book.write("book/records/r.ipynb", "")
    return book


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("environment.yml", CONDA.replace("1.0", "1.1"), "differs from requirements"),
        ("environment.yml", CONDA.replace("[notebooks]", ""), "differs from requirem"),
        ("environment.yml", CONDA.replace("p, {", "p, numpy=2, {"), "differs from re"),
        ("book/experiments/e.md", HEADER + "It is 97.3.\n", "e.md:12: '97.3' is"),
        ("book/plain.md", "# Plain\n", "_toc.yml does not list book/plain"),
        ("book/records/other.ipynb", "", "_toc.yml does not list book/records/other"),
        ("book/experiments/runs.toml", RUN.replace("[r]", "[s]"), "no lab record boo"),
    ],
)
def test_every_gate_is_asked(repository, name, text, message):
    assert render.check_sources(repository.root) == []
    repository.write(name, text)
    assert any(message in p for p in render.check_sources(repository.root))
