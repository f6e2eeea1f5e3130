"""Cells keep the rules of the code, and of what a reader of a page can do with them.

Ruff itself reads the cells of chapters; those of experiments are read here.
"""

import ast
import subprocess
import symtable
import sys
from collections import Counter

import nbformat
import pytest

from compendium.book.figures import fold_label
from compendium.execution.notebooks import code_cells, is_notebook, read_source
from compendium.project import root

EXPERIMENTS = root() / "book" / "experiments"
CHAPTERS = {
    path.stem: path
    for path in sorted((root() / "book" / "chapters").glob("*.md"))
    if is_notebook(path)
}
LONGEST = 8  # words of a label


def complaints(notebook, name, *command):
    """What ruff says of a notebook, as of a source of that name."""
    as_notebook = ("--no-cache", "--extension", "md:ipynb", "--stdin-filename")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *as_notebook, EXPERIMENTS / name, "-"],
        input=nbformat.writes(notebook),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=root(),
    )
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.parametrize("name", [path.name for path in EXPERIMENTS.glob("*.md")])
def test_cells_of_an_experiment_keep_the_rules(name):
    source = read_source(EXPERIMENTS / name)
    assert complaints(source, name, "check", "--output-format=concise") == ""
    assert complaints(source, name, "format", "--diff") == ""


def test_a_fault_is_told_with_its_place():
    cells = [nbformat.v4.new_code_cell(text) for text in ("x = [1]", "zip(x, x)")]
    planted = nbformat.v4.new_notebook(cells=cells)
    told = complaints(planted, "planted.md", "check", "--output-format=concise")
    assert "book/experiments/planted.md:cell 2:1:1: B905" in told


def test_another_format_is_told():
    cell = nbformat.v4.new_code_cell("x = [1,2]")
    planted = nbformat.v4.new_notebook(cells=[cell])
    assert "+x = [1, 2]" in complaints(planted, "planted.md", "format", "--diff")


def tags(cell):
    return cell.metadata.get("tags", [])


def fold_faults(notebook):
    """Folded cells whose line does not say what is under it."""
    faults, labels = [], Counter()
    for number, cell in enumerate(code_cells(notebook), 1):
        if "hide-output" in tags(cell):
            label = fold_label(cell.source)
            if label is None:
                faults.append(
                    f"code cell {number} folds a table without a name: make its "
                    "first line a comment that says what the table shows"
                )
            elif len(label.split()) > LONGEST:
                faults.append(
                    f"code cell {number}: {label!r} has more than {LONGEST} words"
                )
            labels[label] += 1
        if "hide-input" in tags(cell) and "show(" not in cell.source:
            faults.append(
                f"code cell {number} is folded as the code of a figure, but shows "
                "none: take the tag hide-input away"
            )
    equal = [label for label, times in labels.items() if label and times > 1]
    return faults + [f"two folded tables are named {label!r}" for label in equal]


def visible(cell):
    """Whether a page shows the code of a cell without a click."""
    hidden = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
    return not hidden & set(tags(cell))


def scopes(table):
    """The scope of a module and all within it."""
    yield table
    for child in table.get_children():
        yield from scopes(child)


def names(statement):
    """Names that a statement takes from its module, and those that it binds there."""
    module = symtable.symtable(ast.unparse(statement), "cell", "exec")
    used = {
        symbol.get_name()
        for scope in scopes(module)
        for symbol in scope.get_symbols()
        if symbol.is_referenced() and (scope is module or symbol.is_global())
    }
    bound = {
        symbol.get_name()
        for symbol in module.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    }
    if isinstance(statement, ast.AugAssign):
        return used | bound, bound
    if isinstance(statement, ast.Assign):
        return used, bound
    return used - bound, bound  # a loop binds its names before it uses them


def unseen_names(notebook):
    """Names that visible cells use and only cells out of sight have bound till then."""
    seen, unseen, faults = set(), set(), []
    for number, cell in enumerate(code_cells(notebook), 1):
        for statement in ast.parse(cell.source).body:
            used, bound = names(statement)
            if visible(cell):
                faults += [
                    f"code cell {number} uses {name!r}, which only cells that a page "
                    "folds or leaves out have bound: bind it in a visible cell"
                    for name in sorted(used & unseen - seen)
                ]
                seen |= bound
            else:
                unseen |= bound
    return faults


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_folded_table_is_named_and_a_folded_cell_shows_a_figure(name):
    assert fold_faults(read_source(CHAPTERS[name])) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_visible_cells_run_without_the_others(name):
    assert unseen_names(read_source(CHAPTERS[name])) == []


def of_cells(*cells):
    """A notebook of cells, each given by its code and its tags."""
    made = [
        nbformat.v4.new_code_cell(code, metadata={"tags": list(tags)})
        for code, *tags in cells
    ]
    return nbformat.v4.new_notebook(cells=made)


def test_faults_of_folds_are_told():
    table = ("remove-input", "hide-output")
    planted = of_cells(
        ("# Sizes\nsizes", *table),
        ("sizes", *table),
        ("# Sizes\nsizes.T", *table),
        ("# " + "very " * LONGEST + "long\nsizes", *table),
        ("show(figure)", "hide-input"),
        ("three = 3", "hide-input"),
    )
    told = [fault.split(": ")[0] for fault in fold_faults(planted)]
    assert told == [
        "code cell 2 folds a table without a name",
        "code cell 4",
        "code cell 6 is folded as the code of a figure, but shows none",
        "two folded tables are named 'Sizes'",
    ]


def test_names_from_cells_out_of_sight_are_told():
    planted = of_cells(
        ("import numpy as np\nfrom helpers import number", "remove-cell"),
        ("import numpy as np\none = np.array([1])",),
        ("three = [i for i in range(3)]\none = 1", "hide-input"),
        ("def four(i):\n    return three[i] + i\nthree = one",),
        ("for four in [1]:\n    number(four, 1)\none += 1",),
        ("five = 5", "remove-cell"),
        ("five += 1",),
    )
    told = [fault.split(",")[0] for fault in unseen_names(planted)]
    assert told == [
        "code cell 4 uses 'three'",
        "code cell 5 uses 'number'",
        "code cell 7 uses 'five'",
    ]
