"""One symbol, one meaning: chapters and the page of symbols agree."""

from compendium.build.symbols import declared, lint_symbols
from compendium.project import root


def test_the_page_was_read():
    lines = (root() / "book" / "symbols.md").read_text().splitlines()
    assert len(declared(root())) >= sum(line.startswith("| $") for line in lines) > 100


def test_chapters_use_the_symbols_that_the_page_declares_for_them():
    assert lint_symbols(root()) == []
