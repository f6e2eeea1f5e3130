import re

import nbformat
import pytest

from compendium.book.reading import reading_minutes
from compendium.execution.chapters import read_stored, sources
from compendium.project import root

STATED = re.compile(r"Reading time: (\d+)\s+minutes")
TIMED = [
    pytest.param(source, int(found[1]), id=source.stem)
    for source in sources(root())
    if (found := STATED.search(source.read_text(encoding="utf-8")))
]


def minutes(*texts):
    cells = [nbformat.v4.new_markdown_cell(text) for text in texts]
    return reading_minutes(nbformat.v4.new_notebook(cells=cells))


def test_what_is_folded_costs_nothing():
    shown = "word " * 150
    folds = [
        f":::{{dropdown}} Answer\n{shown}\n:::",
        f":::{{prf:proof}}\n:class: long\n{shown}\n:::",
    ]
    for fold in folds:
        assert minutes(shown, fold) == minutes(shown) == 1
    start = ":::{solution-start} ex\n:class: dropdown\n:::\n"
    assert minutes(shown, start, shown, ":::{solution-end}\n:::") == pytest.approx(1)


def test_numbers_and_formulas_cost_more_than_words():
    assert minutes("30 " * 30) == 1
    assert minutes("$$\nx\n$$\n" * 2) == 1
    assert minutes("$x$ " * 150) == 1


@pytest.mark.parametrize(("source", "stated"), TIMED)
def test_a_page_states_the_time_that_it_takes(source, stated):
    measured = reading_minutes(read_stored(root(), source))
    assert abs(stated - measured) <= 2, f"state {round(measured)} minutes"
