"""One symbol, one meaning: chapters and the page of symbols agree."""

import re

from compendium.build.statements import chapters_with_statements
from compendium.build.symbols import declared, formulas, lint_symbols
from compendium.project import root


def test_the_page_was_read():
    lines = (root() / "book" / "symbols.md").read_text().splitlines()
    assert len(declared(root())) >= sum(line.startswith("| $") for line in lines) > 100


def test_chapters_use_the_symbols_that_the_page_declares_for_them():
    assert lint_symbols(root()) == []


def test_the_base_of_the_logarithm_is_no_variable():
    """It takes no value and is nobody's argument."""
    variable = re.compile(r"(?<![A-Za-z\\_])e\s*[=<>]|\(e\)|-\s*e(?![A-Za-z^])")
    assert variable.search(r"h(e) = -e \log e")
    assert not variable.search(r"e^{-\lambda_0} > \bigl(1 - \tfrac1e\bigr)")
    for path in chapters_with_statements(root()):
        for formula in formulas(path.read_text()):
            assert not variable.search(formula), (path.stem, formula)


def test_one_term_for_what_has_the_form_and_one_for_what_has_the_entropy():
    """They differ on the boundary: on {0, 1} with the mean 0."""
    other = re.compile(
        r"densit(?:y|ies)\s+of\s+(?:the\s+)?(?:maximum|maximal|greatest)\s+entropy"
        r"|densit(?:y|ies)\s+of\s+the\s+largest\s+entropy"
        r"|(?:maximum|max|largest)[ \n]entropy[ \n]densit"
    )
    pages = list((root() / "book").rglob("*.md"))
    for page in pages:
        assert not other.search(page.read_text()), page
    glossary = (root() / "book" / "glossary.md").read_text()
    for term, label in (
        ("density of largest entropy", "def-me-density"),
        ("maximum-entropy density", "def-maxent"),
    ):
        entry = glossary.split(f"\n{term}\n")[1].split("\n\n")[0]
        assert f"{{prf:ref}}`{label}`" in entry
