"""All notebooks of the archive, with its wheel alone; run by ``make test-nightly``."""

import nbformat
import pytest
from nbclient import NotebookClient

from compendium.book.archive import LEFT_OUT
from compendium.execution.notebooks import code_cells
from tests.book.test_archive import check_notebook, unpacked
from tests.book.test_cells import visible
from tests.wheel import PROJECT

__all__ = ["unpacked"]
STORED = {path.stem for path in (PROJECT / "book" / "notebooks").glob("*.ipynb")}


@pytest.mark.parametrize("name", sorted(STORED - LEFT_OUT))
def test_a_notebook_draws_its_own_figures_and_tables(unpacked, name):
    check_notebook(unpacked, name)


@pytest.mark.parametrize("name", sorted(STORED - LEFT_OUT))
def test_the_cells_that_a_page_shows_run_alone(unpacked, name):
    """As a reader runs them who copies what is visible, in its order."""
    notebook = nbformat.read(unpacked / f"{name}.ipynb", as_version=4)
    notebook.cells = [cell for cell in code_cells(notebook) if visible(cell)]
    client = NotebookClient(notebook, kernel_name="reader", timeout=600)
    client.execute(cwd=str(unpacked))
