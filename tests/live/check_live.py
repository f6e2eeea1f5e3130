"""The site that runs the chapters, in headless Chromium.

Run it by ``make test-browser``, after ``make live``.
Whether their cells run is beyond it: Python for the browser comes from the address of
Pyodide, which a machine without a network does not reach.
"""

from urllib.parse import urljoin

import nbformat
import pytest
from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

from compendium.book.archive import LEFT_OUT
from compendium.book.live import CHAPTERS, FOLDER, INSTALL
from tests.browser.conftest import SITE, base, browser, contexts, visit

__all__ = ["base", "browser", "contexts", "visit"]
DESKTOP = (1280, 900)
TALL = (1280, 3000)  # a list holds only the entries that are seen
LISTED = ".jp-DirListing-itemText"
NOTEBOOKS = sorted(SITE.glob(f"{FOLDER}/files/{CHAPTERS}/*.ipynb"))
BUTTON = "a.btn-run-in-the-browser"
PATIENCE = 60_000  # milliseconds


def asked_outside(one):
    """Requests of a visit that leave the site, as its problems list them."""
    start = "request to the outside: "
    return [text for text in one.problems if text.startswith(start)]


def test_all_chapters_are_listed(visit):
    assert len(NOTEBOOKS) > 25
    one = visit(TALL)
    page = one.open(f"{FOLDER}/tree/index.html")
    page.locator(LISTED, has_text=CHAPTERS).dblclick(timeout=PATIENCE)
    page.locator(LISTED, has_text=NOTEBOOKS[0].name).wait_for(timeout=PATIENCE)
    listed = {text.strip() for text in page.locator(LISTED).all_inner_texts()}
    assert listed >= {path.name for path in NOTEBOOKS}
    assert asked_outside(one) == []


@pytest.mark.parametrize("name", ["memd", "genes"])
def test_the_button_of_a_page_opens_its_notebook(visit, name):
    """Its title, the cell that installs memdlib, and an output of the book."""
    one = visit(DESKTOP)
    page = one.open(f"book/notebooks/{name}.html")
    button = page.locator(BUTTON)
    assert button.inner_text() == "Run in the browser"
    title = page.locator("h1").first.inner_text().strip("#").strip()
    page.goto(urljoin(page.url, button.get_attribute("href")))
    heading = page.locator(".jp-MarkdownCell h1").first
    heading.wait_for(timeout=PATIENCE)
    assert heading.inner_text().strip("¶").strip() in title
    first = page.locator(".jp-CodeCell .cm-content").first
    assert first.inner_text().splitlines() == INSTALL.splitlines()
    page.locator(".jp-OutputArea-output img").first.wait_for(timeout=PATIENCE)
    only = f"request to the outside: {PYODIDE_CDN_URL}/"
    assert [text for text in asked_outside(one) if not text.startswith(only)] == []


def test_the_pages_of_chapters_have_the_button_and_no_others():
    with_button = {
        path.stem
        for path in (SITE / "book" / "notebooks").glob("*.html")
        if 'class="btn btn-sm btn-run-in-the-browser"' in path.read_text("utf-8")
    }
    assert with_button == {path.stem for path in NOTEBOOKS}
    assert not with_button & LEFT_OUT


def test_a_notebook_is_that_of_the_archive_with_one_more_cell():
    for path in NOTEBOOKS:
        live = nbformat.read(path, as_version=4).cells
        (added,) = [cell for cell in live if cell.id == "install-memdlib"]
        assert added.source == INSTALL
        first = next(cell for cell in live if cell.cell_type == "code")
        assert first is added
