"""Every symbol of the symbols page is listed once and used where it is said to be."""

import re

import pytest

from compendium.build.statements import chapters_with_statements
from compendium.project import root

BOOK = root() / "book"
ROW = re.compile(r"^\| \$(?P<symbol>[^$]+)\$ \| .* \| \{ref\}`(?P<label>[\w-]+)` \|$")
ROWS = [
    match.groups()
    for line in (BOOK / "symbols.md").read_text().splitlines()
    if (match := ROW.match(line))
]
CHAPTERS = {
    re.search(r"^\((.+)\)=$", text, re.MULTILINE)[1]: text
    for text in (path.read_text() for path in chapters_with_statements(root()))
}


def test_every_line_of_the_table_was_read_and_no_symbol_comes_twice():
    lines = (BOOK / "symbols.md").read_text().splitlines()
    assert len(ROWS) == sum(line.startswith("| $") for line in lines) > 20
    symbols = [symbol for symbol, _ in ROWS]
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize(("symbol", "label"), ROWS)
def test_a_symbol_is_used_in_the_chapter_that_defines_it(symbol, label):
    plain = re.sub(r"\s|\\[,;!]", "", symbol)
    text = re.sub(r"\s|\\[,;!]", "", CHAPTERS[label])
    assert plain in text
