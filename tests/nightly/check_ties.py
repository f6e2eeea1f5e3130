"""No count of wins and no rank in a chapter hangs on the last bits of equal numbers.

Run it by ``make test-nightly``.
"""

import ast

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from compendium.execution.notebooks import code_cells
from compendium.project import root

NOTEBOOKS = root() / "book" / "notebooks"
COMPARING = (
    "beyond",
    "genes",
    "lecture",
    "leukemia",
    "newsgroups",
    "rankings",
    "what-failed",
    "your-data",
)
BEFORE = f"""
import sys
sys.path.insert(0, {str(root())!r})
from tests.ties import watch
decided_by_noise = watch()
"""
AFTER = "print(decided_by_noise)"
PLANTED = """
import pandas as pd
equal = pd.DataFrame({"one": [0.1 + 0.2, 1.0], "other": [0.3, 2.0]})
(equal["one"] - equal["other"] > 0).sum()
equal.rank(axis="columns")
(equal["other"] > 0.1).sum()
"""


def decided_by_noise(*codes):
    """What the watch notes while cells of a chapter run."""
    cells = [new_code_cell(code) for code in (BEFORE, *codes, AFTER)]
    notebook = new_notebook(cells=cells)
    NotebookClient(notebook, timeout=600).execute(cwd=str(NOTEBOOKS))
    return ast.literal_eval(notebook.cells[-1].outputs[0].text)


@pytest.mark.parametrize("name", COMPARING)
def test_equal_numbers_are_ties(name):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    assert decided_by_noise(*(cell.source for cell in code_cells(notebook))) == []


def test_what_noise_decides_is_noticed():
    assert decided_by_noise(PLANTED) == ["Series.__gt__", "DataFrame.rank"]
