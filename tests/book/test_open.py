"""Chapters compute their evidence in the open: a reader sees what is computed."""

import re

import pytest

from compendium.execution.chapters import read_stored, sources
from compendium.execution.notebooks import code_cells
from compendium.project import root

# Pages about the repository itself, and those that list all claims.
OF_THE_LEDGER = {"index", "install", "article", "artifact", "reproduce"}
OF_THE_LEDGER |= {"claims", "every-setting"}
CHAPTERS = [
    pytest.param(source, id=source.stem)
    for source in sources(root())
    if source.stem not in OF_THE_LEDGER
]
# Of evidence; theory has examples, whose numbers stand in its sentences.
EVIDENCE = {
    "lecture",
    "found-in-the-data",
    "genes",
    "newsgroups",
    "rankings",
    "beyond",
    "cost",
    "what-failed",
    "leukemia",
    "information-kernels",
    "more-divergences",
}
REMOVED_LINES = 40  # of code that no page shows: the style of figures, and glue
GLUED = 5  # numbers of the prose that come from such code


def removed_lines(notebook):
    """Lines of code, without blank ones, of cells that a page does not show at all."""
    return sum(
        bool(line.strip())
        for cell in code_cells(notebook)
        if {"remove-cell", "remove-input"} & {*cell.metadata.get("tags", ())}
        for line in cell.source.splitlines()
    )


@pytest.mark.parametrize("source", CHAPTERS)
def test_no_chapter_needs_the_compendium(source):
    text = "\n".join(cell.source for cell in code_cells(read_stored(root(), source)))
    assert not re.search(r"(?m)^\s*(?:from|import) compendium\b", text)


@pytest.mark.parametrize("name", sorted(EVIDENCE))
def test_evidence_is_computed_in_the_open(name):
    (source,) = [source for source in sources(root()) if source.stem == name]
    notebook = read_stored(root(), source)
    assert removed_lines(notebook) <= REMOVED_LINES
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert sum(text.count("{glue:") for text in prose) <= GLUED


def test_every_table_is_offered_by_the_page_that_reads_it():
    for source in sources(root()):
        text = source.read_text(encoding="utf-8")
        for name in set(re.findall(r'find_table\("([^"]+)"\)', text)):
            assert f"](../../data/tables/{name})" in text, f"{source.stem}: {name}"
