"""What a reader types from a chapter runs with the installed package alone.

The visible cells of a chapter are run in their order, without those that are hidden or
folded, in an environment that holds the wheel, its data extra and matplotlib. Warnings
are errors, and every cell but that of the imports has something to show.
"""

import ast
import json
import os

import pytest

from compendium.build.form import visible_cells
from compendium.build.statements import chapters_with_statements
from compendium.project import root
from memdlib.datasets import names
from tests.data import skip_without
from tests.wheel import build, environment, run

CHAPTERS = chapters_with_statements(root())

PROGRAM = """
import ast
import builtins
import importlib.util
import io
import json
import sys
from contextlib import redirect_stdout

assert importlib.util.find_spec("compendium") is None
assert importlib.util.find_spec("IPython") is None
builtins.display = print  # as in a notebook

scope = {"__name__": "__main__"}
for number, (line, code) in enumerate(json.load(sys.stdin)):
    tree = ast.parse(code)
    ast.increment_lineno(tree, line - 1)
    *body, last = tree.body
    shown = io.StringIO()
    with redirect_stdout(shown):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(body, []), "chapter", "exec"), scope)
            value = eval(compile(ast.Expression(last.value), "chapter", "eval"), scope)
            if value is not None:
                print(value)
        else:
            exec(compile(tree, "chapter", "exec"), scope)
    assert number == 0 or shown.getvalue().strip(), f"line {line} shows nothing"
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    return environment(folder, build(folder), extras=("data", "plot"))


def data_of(cells):
    """Registered data sets that the cells name."""
    found = {
        node.value
        for cell in cells
        for node in ast.walk(cell.tree())
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return sorted(found & set(names()))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_visible_cells_run_alone(python, tmp_path, path):
    cells = visible_cells(path.read_text())
    for name in data_of(cells):
        skip_without(name)
    variables = {"MPLBACKEND": "agg", "MPLCONFIGDIR": str(tmp_path)}
    for name in ("MEMDLIB_DATA", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if name in os.environ:
            variables[name] = os.environ[name]
    typed = json.dumps([(cell.line, cell.code) for cell in cells])
    command = (python, "-I", "-W", "error", "-c", PROGRAM)
    run(*command, cwd=tmp_path, env=variables, input=typed)
