"""Cells of experiments keep the rules of the code; ruff reads those of chapters."""

import subprocess
import sys

import nbformat
import pytest

from compendium.execution.notebooks import read_source
from compendium.project import root

EXPERIMENTS = root() / "book" / "experiments"


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
