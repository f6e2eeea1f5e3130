"""All notebooks of the archive, with its wheel alone; run by ``make test-nightly``."""

import pytest

from compendium.book.archive import LEFT_OUT
from tests.book.test_archive import check_notebook, unpacked
from tests.wheel import PROJECT

__all__ = ["unpacked"]
STORED = {path.stem for path in (PROJECT / "book" / "notebooks").glob("*.ipynb")}


@pytest.mark.parametrize("name", sorted(STORED - LEFT_OUT))
def test_a_notebook_draws_its_own_figures_and_tables(unpacked, name):
    check_notebook(unpacked, name)
