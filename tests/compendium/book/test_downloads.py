import io
import os
import subprocess
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)
from sphinx.application import Sphinx

from compendium.book import downloads
from compendium.execution.notebooks import DARK
from compendium.project import root

HELPERS = (root() / "book/notebooks/helpers.py").read_text(encoding="utf-8")
BUTTON = "btn-run-in-the-browser"
PROSE = """(here)=
# The size $n$

There are {glue:text}`n` of {glue:md}`x` with {glue:text}`stars`, as {ref}`here`,
{eq}`eq-a` and {term}`moments <moment>` say; `literal {ref}` stays.

$$ a $$ (eq-a)

:::{glossary}
moment
  A mean.
:::
"""


def said(name, text):
    prefix = "application/papermill.record/"
    return new_output(
        "display_data",
        {f"{prefix}text/plain": repr(text), f"{prefix}text/markdown": text},
        metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
    )


@pytest.fixture
def notebook():
    outputs = [said("n", "35"), said("x", "$x_*$"), said("stars", "a_*")]
    outputs.append(new_output("display_data", {"text/plain": "1", DARK: "cA=="}))
    code = new_code_cell("1 + 1", outputs=outputs, execution_count=1)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [code, new_markdown_cell(PROSE)]
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def test_prose_says_what_its_roles_stand_for(tmp_path, notebook):
    """As the page does, which Sphinx makes of the same cells."""
    nbformat.write(notebook, tmp_path / "index.ipynb")
    config = {
        "extensions": ["myst_nb"],
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
        "nb_execution_mode": "off",
        "suppress_warnings": ["mystnb.unknown_mime_type"],
        "nb_ipywidgets_js": {},
    }
    folders = [str(tmp_path / name) for name in ("out", "doctrees")]
    warnings = io.StringIO()
    streams = {"status": None, "warning": warnings}
    app = Sphinx(str(tmp_path), None, *folders, "html", config, **streams)
    app.build()
    assert "index.ipynb" not in warnings.getvalue()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    code, prose = downloads.resolved(app, "index", notebook).cells
    assert code.outputs[-1].data == {"text/plain": "1"}  # only pages are dark
    result = prose.source
    assert "There are 35 of $x_*$ with a\\_\\*, as The size n,\n" in result
    assert "(1) and moments say; `literal {ref}` stays." in result
    assert '<span class="pasted-text">35</span>' in page
    assert '<span class="pasted-text">a_*</span>' in page
    assert ":::{glossary}" in result


def test_a_notebook_that_is_taken_away_alone_runs(tmp_path, notebook):
    notebook.cells[0].source = "from helpers import number\nprint(number(-0.001, 2))"
    modules = {"helpers": HELPERS, "rules": "raise ImportError"}
    alone = downloads.complete(notebook, modules)
    nbformat.validate(alone)
    path = tmp_path / "alone.ipynb"
    nbformat.write(alone, path)
    command = [sys.executable, "-m", "jupyter", "execute", "--inplace", path.name]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    executed = nbformat.read(path, as_version=4)
    assert executed.cells[1].outputs[0].text == "0.00\n"
    assert (tmp_path / "helpers.py").read_text(encoding="utf-8") == HELPERS


def test_a_notebook_on_the_project_says_what_it_needs(notebook):
    notebook.cells[0].source = "from compendium.project import root"
    first = downloads.complete(notebook, {"helpers": HELPERS}).cells[0]
    assert first.cell_type == "markdown" and "runs in a checkout" in first.source


def test_a_notebook_that_reads_tables_names_them_and_says_so_if_they_are_missing(
    tmp_path, notebook
):
    notebook.cells[0].source = (
        "from helpers import find_table\n"
        "from rules import holm\n"
        'print(find_table("a-folds.csv").name, holm([0.5]))'
    )
    rules = (root() / "book/notebooks/rules.py").read_text(encoding="utf-8")
    alone = downloads.complete(notebook, {"helpers": HELPERS, "rules": rules})
    assert "`a-folds.csv`" in alone.cells[0].source
    assert [cell.source.split("\n")[0] for cell in alone.cells[1:3]] == [
        "%%writefile helpers.py",
        "%%writefile rules.py",
    ]
    nbformat.write(alone, tmp_path / "alone.ipynb")
    command = [sys.executable, "-m", "jupyter", "execute", "alone.ipynb"]
    missing = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "a-folds.csv is missing: download it" in missing.stderr
    (tmp_path / "a-folds.csv").write_text("draw\n", encoding="utf-8")
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_a_page_offers_its_notebook_in_the_browser_where_there_is_such_a_site(tmp_path):
    """All pages are written anew once there is one, and those on the project stay."""
    source, html = tmp_path / "source", tmp_path / "html"
    (source / "book" / "notebooks").mkdir(parents=True)
    (source / "index.md").write_text("# A\n```{toctree}\n:glob:\nbook/notebooks/*\n```")
    (source / "conf.py").write_text(
        'extensions = ["myst_nb", "sphinx_book_theme", "compendium.book.downloads"]\n'
        'html_theme = "sphinx_book_theme"\nnb_execution_mode = "off"\n'
    )
    pages = [f"book/notebooks/{name}" for name in ("memd", "claims")]
    for page in pages:
        (source / f"{page}.md").write_text("# A chapter\n")

    def buttons(**variables):
        """Where the buttons of the pages lead to, after a build of what has changed."""
        # in a process of its own: Sphinx keeps parsers of earlier builds in one
        command = [sys.executable, "-m", "sphinx", "-q", "-d", tmp_path / "doctrees"]
        subprocess.run(
            [*command, source, html],
            check=True,
            capture_output=True,
            env=os.environ | variables,
        )
        targets = {}
        for page in pages:
            text = (html / f"{page}.html").read_text(encoding="utf-8")
            link = BeautifulSoup(text, "html.parser").find("a", class_=BUTTON)
            targets[page] = link and link["href"]
        return targets

    assert buttons() == dict.fromkeys(pages)
    assert buttons(MEMDLIB_LIVE="1")[pages[0]]  # it will be there
    runs = html / "live" / "notebooks" / "index.html"
    runs.parent.mkdir(parents=True)
    runs.touch()
    target = "../../live/notebooks/index.html?path=chapters/memd.ipynb"
    assert buttons() == {pages[0]: target, pages[1]: None}
    runs.unlink()
    assert buttons() == dict.fromkeys(pages)
