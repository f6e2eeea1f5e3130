"""The chapters that run in the browser find there what they import, in its ranges."""

import ast
import sys

import nbformat
import pytest
from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION
from packaging.requirements import Requirement

from compendium.book.archive import LEFT_OUT
from compendium.execution.notebooks import code_cells
from compendium.project import root
from tests.pyodide import recorded
from tests.wheel import declared, in_extra

NOTEBOOKS = root() / "book" / "notebooks"
LIVE = sorted({path.stem for path in NOTEBOOKS.glob("*.ipynb")} - LEFT_OUT)
BESIDE = {"helpers", "rules"}
BROWSER = {"sys_platform": "emscripten", "extra": ""}


def imported(code):
    """Modules that a text of Python names, by the first part of their names."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    return found


def lacking(code):
    """Modules that a text of Python names and that a browser has not."""
    there = {*sys.stdlib_module_names, *recorded()["modules"], *BESIDE, "memdlib"}
    return imported(code) - there


def test_the_record_is_of_the_pyodide_that_the_site_loads():
    assert recorded()["pyodide"] == PYODIDE_VERSION


def test_pyodide_has_what_the_package_asks_for():
    python, versions = recorded()["python"], recorded()["versions"]
    where = BROWSER | {"python_version": python.rpartition(".")[0]}
    assert Requirement(f"python{declared()['requires-python']}").specifier.contains(
        python
    )
    asked = map(Requirement, [*declared()["dependencies"], *in_extra("plot")])
    asked = [one for one in asked if one.marker is None or one.marker.evaluate(where)]
    assert {one.name for one in asked} >= {"numpy", "scipy", "scikit-learn", "pandas"}
    for one in asked:
        assert one.specifier.contains(versions[one.name]), one


@pytest.mark.parametrize("name", LIVE)
def test_pyodide_has_what_a_chapter_imports(name):
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    code = "\n\n".join(cell.source for cell in code_cells(notebook))
    assert lacking(code) == set()


@pytest.mark.parametrize("name", sorted(BESIDE))
def test_pyodide_has_what_the_modules_beside_them_import(name):
    assert lacking((NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8")) == set()


def test_a_module_that_is_lacking_is_noticed():
    assert lacking("import numpy.linalg\nfrom catboost import Pool") == {"catboost"}
