import pytest

from compendium.build.form import lint_form, visible_cells

IMPORTS = "```{code-cell} ipython3\nimport numpy as np\n```\n"


def chapter(*cells, imports=IMPORTS):
    """A chapter of cells, each a pair of its tags and its code."""
    parts = [
        f"```{{code-cell}} ipython3\n:tags: [{tags}]\n{code}\n```\n"
        for tags, code in cells
    ]
    return "\n".join([imports, *parts])


def test_a_chapter_in_its_form_has_no_problems():
    text = chapter(
        ("remove-cell", "from compendium.build.display import checked, show"),
        ("", "x = np.ones(3)\nx.sum()"),
        ("", "for i in x:\n    print(i)"),
        ("hide-input", "show(figure, 'a')"),
        ("witness-thm-a, hide-cell, checked", "assert x[0] == 1\nchecked('a', 'b')"),
        ("remove-input, margin", "show_verdict('" + 80 * "x" + "')"),
    )
    assert lint_form("c", text) == []
    assert [cell.line for cell in visible_cells(text)] == [2, 12, 18]


@pytest.mark.parametrize(
    ("tags", "code", "message"),
    [
        ("", "x = 1", "ends in nothing to look at"),
        ("", "np.ones(3);", "ends in nothing to look at"),
        ("", "def f():\n    print(1)", "ends in nothing to look at"),
        ("", "assert True\n1", "an assertion in a visible cell"),
        ("", "import scipy\n1", "imports scipy outside the cell of imports"),
        ("hide-input", f"x = '{'x' * 80}'", "86 columns of code"),
        ("witness-thm-a, hide-input", "print(1)", "witness-thm-a lacks the tags"),
        ("hide-cell, checked", "print(1)", "go together"),
        ("hide-cell", "checked('a', 'b')", "go together"),
        ("remove-input", "show(figure, 'a')", "the code of a figure folds"),
    ],
)
def test_a_cell_out_of_form_is_named(tags, code, message):
    (problem,) = lint_form("c", chapter(("", "np.pi"), (tags, code)))
    assert problem.startswith("c:12") or problem.startswith("c:11")
    assert message in problem


@pytest.mark.parametrize(
    "imports",
    [
        "```{code-cell} ipython3\n:tags: [remove-cell]\nimport numpy as np\n```\n",
        "```{code-cell} ipython3\nimport numpy as np\nnp.pi\n```\n",
    ],
)
def test_the_first_cell_imports_for_all_to_see(imports):
    (problem,) = lint_form("c", chapter(("", "1"), imports=imports))
    assert "is not the visible one with the imports" in problem


def test_a_reader_needs_no_compendium():
    imports = "```{code-cell} ipython3\nfrom compendium.ledger import claims\n```\n"
    (problem,) = lint_form("c", chapter(imports=imports))
    assert problem == "c:2: a visible cell imports compendium.ledger"


def test_a_chapter_without_visible_cells_needs_no_imports():
    assert lint_form("c", chapter(("remove-cell", "x = 1"), imports="")) == []
