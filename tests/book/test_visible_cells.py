"""What a reader types from a chapter runs with the installed package alone.

The visible cells of a chapter are run in their order, without those that are hidden or
folded, in an environment that holds the wheel and its extra for notebooks. Warnings are
errors, and every cell but that of the imports has something to show.
"""

import json
import os
import subprocess

import pytest

from compendium.build.cells import Cell, visible_cells
from compendium.build.statements import chapters_with_statements
from compendium.project import root
from tests.wheel import build, environment

CHAPTERS = chapters_with_statements(root())

# Every chapter is run in a copy of a process that has imported what all of them import.
PROGRAM = """
import ast
import builtins
import importlib.util
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout

import matplotlib.pyplot
import pandas
import memdlib.datasets

assert importlib.util.find_spec("compendium") is None
assert importlib.util.find_spec("IPython") is None
builtins.display = print  # as in a notebook


def typed(cells):
    scope = {"__name__": "__main__"}
    for number, (line, code) in enumerate(cells):
        tree = ast.parse(code)
        ast.increment_lineno(tree, line - 1)
        *body, last = tree.body
        shown = io.StringIO()
        with redirect_stdout(shown):
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(body, []), "chapter", "exec"), scope)
                last = ast.Expression(last.value)
                value = eval(compile(last, "chapter", "eval"), scope)
                if value is not None:
                    print(value)
            else:
                exec(compile(tree, "chapter", "exec"), scope)
        assert number == 0 or shown.getvalue().strip(), f"line {line} shows nothing"


for cells in sys.stdin:
    if os.fork() == 0:
        os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        typed(json.loads(cells))
        sys.exit()
    print(os.wait()[1], flush=True)
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Run cells in an environment of a reader; what was said, if it went wrong."""
    folder = tmp_path_factory.mktemp("reader")
    python = environment(folder, build(folder), extras=("notebooks",))
    variables = {"MPLBACKEND": "agg", "MPLCONFIGDIR": str(folder)}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if name in os.environ:
            variables[name] = os.environ[name]
    with subprocess.Popen(
        (python, "-I", "-W", "error", "-c", PROGRAM),
        cwd=folder,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def complaint(cells):
            typed = [(cell.line, cell.code) for cell in cells]
            process.stdin.write(json.dumps(typed) + "\n")
            process.stdin.flush()
            status = process.stdout.readline().strip()
            return "" if status == "0" else (folder / "said").read_text() or status

        yield complaint
        process.stdin.close()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_visible_cells_run_alone(reader, path):
    assert reader(visible_cells(path.read_text())) == ""


def test_what_goes_wrong_is_said(reader):
    """A cell that fails, one that warns, and one that has nothing to show."""
    wrong = {
        "1 / 0": "ZeroDivisionError",
        "import warnings; warnings.warn('careful')": "UserWarning: careful",
        "x = 1": "line 7 shows nothing",
    }
    for code, said in wrong.items():
        cells = [Cell(3, (), "import numpy as np"), Cell(7, (), code)]
        assert said in reader(cells)
    assert reader([Cell(3, (), "import numpy as np"), Cell(7, (), "np.pi")]) == ""
