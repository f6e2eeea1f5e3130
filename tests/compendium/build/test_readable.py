import nbformat
import pytest

from compendium.build.notebooks import normalise, twin
from compendium.build.readable import RECORD, glued_values, readable


def glued(name, value):
    output = nbformat.v4.new_output("display_data", {f"{RECORD}text/plain": value})
    output.metadata = {"scrapbook": {"name": name, "mime_prefix": RECORD}}
    return nbformat.v4.new_code_cell("say()", outputs=[output])


def notebook(text, *cells):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text), *cells])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("n is {glue:text}`n`.", "3", "n is 3."),
        ("{glue:text}`n`. Then", "3", "3\\. Then"),
        ("{glue:text}`n`. Then", "−3.5", "−3.5. Then"),
        ("In {glue:text}`n`, *x*", "a_b *c* _d_", "In a_b \\*c\\* \\_d\\_, *x*"),
        ("{glue:text}`other`", "3", "{glue:text}`other`"),
        ("In {glue:md}`n` ways", "$10^{23}$", "In $10^{23}$ ways"),
    ],
)
def test_a_role_becomes_its_value(text, value, expected):
    assert readable(text, {"n": value}) == expected


def test_equations_stand_between_dollars_and_keep_their_labels():
    text = "- is\n\n  ```{math}\n  :label: eq-a\n  a &= b \\\\\n  &= c\n  ```\n\nend"
    assert readable(text, {}) == (
        "- is\n\n  $$\n  \\begin{aligned}\n  a &= b \\\\\n  &= c\n  \\end{aligned}\n"
        "  $$ (eq-a)\n\nend"
    )
    assert readable("```{math}\na\n```", {}) == "$$\na\n$$"


def test_stored_prose_holds_the_values_of_its_outputs():
    source = notebook("All {glue:text}`n`.", nbformat.v4.new_code_cell("say()"))
    stored = normalise(notebook("All {glue:text}`n`.", glued("n", "'35'")), {})
    assert glued_values(stored) == {"n": "35"}
    assert stored.cells[0].source == "All 35."
    assert twin(stored, source).cells[0].source == "All 35."


def test_a_formula_in_the_prose_is_glued_as_markdown():
    cell = glued("n", "<IPython.core.display.Markdown object>")
    cell.outputs[0].data[f"{RECORD}text/markdown"] = "$2$"
    assert glued_values(notebook("x", cell)) == {"n": "$2$"}
