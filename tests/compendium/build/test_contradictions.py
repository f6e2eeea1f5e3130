"""Numbers of the prose that nearly are numbers of a table on the page are found."""

import nbformat
import pytest

from compendium.build.contradictions import lint_contradictions
from compendium.project import root

STORED = sorted((root() / "book/notebooks").rglob("*.ipynb"))
MARKDOWN = {"text/markdown": "| task | RMS |\n| :--- | ---: |\n| talk | 1.08 ± 0.30 |"}
HTML = {"text/html": "<table><td>1.08</td><td>0.30</td><td>-2.45</td></table>"}


def page(said, table):
    record = "application/papermill.record/text/plain"
    glued = nbformat.v4.new_output(
        "display_data",
        data={record: repr(said)},
        metadata={"scrapbook": {"name": "rms"}},
    )
    shown = nbformat.v4.new_output("display_data", data=table)
    cells = [nbformat.v4.new_code_cell(outputs=[one]) for one in (glued, shown)]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize("table", [MARKDOWN, HTML], ids=["Markdown", "HTML"])
@pytest.mark.parametrize("said", ["1.08", "1.1", "0.3", "1.2", "1.074", "7 of 9", "1"])
def test_a_rounding_and_another_number_pass(said, table):
    assert lint_contradictions("page", page(said, table)) == []


@pytest.mark.parametrize("table", [MARKDOWN, HTML], ids=["Markdown", "HTML"])
@pytest.mark.parametrize("said", ["1.0", "0.9 to 1.0 points", "5.0 and 1.0"])
def test_a_near_miss_is_found(said, table):
    (problem,) = lint_contradictions("page", page(said, table))
    assert problem.startswith("page: the prose says 1.0 ('rms')") and "1.08" in problem


@pytest.mark.parametrize("said", ["−2.4", "-2.5"])
def test_halves_round_either_way_and_a_sign_counts(said):
    assert lint_contradictions("page", page(said, HTML)) == []
    assert lint_contradictions("page", page("−2.3", HTML)) == []
    assert lint_contradictions("page", page("−1.0", HTML)) == []


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_the_book_does_not_contradict_itself(path):
    assert lint_contradictions(path.stem, nbformat.read(path, as_version=4)) == []
