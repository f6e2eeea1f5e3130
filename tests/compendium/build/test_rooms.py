"""Imports follow the list of rooms; each fault is planted and found."""

import re
from itertools import pairwise

import pytest

from compendium.build.rooms import ROOMS, lint_imports, room_map

HOUSE = {
    "memdlib/validation.py": "import math\nimport numpy as np\n",
    "memdlib/moments/__init__.py": "from memdlib.moments.sums import f\n",
    "memdlib/moments/sums.py": "from memdlib.validation import check\n",
    "memdlib/families/__init__.py": "from memdlib import moments\n",
    "memdlib/nml/_engine/fits.py": "from scipy import linalg\n",
    "memdlib/nml/codes/__init__.py": "from memdlib.nml._engine import fits\n",
    "memdlib/nml/__init__.py": "from memdlib.nml.codes import f\n",
    "memdlib/datasets/__init__.py": "import pathlib\n",
    "memdlib/__init__.py": "from memdlib.families import get\n",
    "benchmarks/__main__.py": "import psutil\nimport memdlib.datasets\n",
    "compendium/__main__.py": "from compendium.build import render\n",
    "compendium/project.py": "from pathlib import Path\n",
    "compendium/study/peers.py": "from sklearn.svm import SVC\nimport memdlib\n",
    "compendium/ledger/claims.py": "import pandas\nimport compendium.project\n",
    "compendium/build/render.py": "from compendium.ledger.claims import f\n",
}


@pytest.fixture
def house(project):
    for name, code in HOUSE.items():
        project.write(name, code)
    assert lint_imports(project.root) == []
    return project


@pytest.mark.parametrize(
    "code",
    [
        "import memdlib.nml.codes\n",
        "import numpy as np\nimport memdlib.nml.codes as codes\n",
        "from memdlib.nml import codes\n",
        "from memdlib.nml.codes import f\n",
        "def f():\n    from memdlib.nml.codes.x import g\n",
        "if True:\n    import memdlib.nml.codes.x\n",
    ],
)
def test_no_import_runs_back_up_in_whatever_form(house, code):
    house.write("memdlib/moments/sums.py", code)
    (problem,) = lint_imports(house.root)
    assert problem.startswith("memdlib/moments/sums.py:")
    assert ": imports memdlib.nml" in problem
    assert problem.endswith(", which is not above memdlib.moments")


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("memdlib/validation.py", "memdlib.divergences"),
        ("memdlib/families/normal.py", "memdlib"),
        ("memdlib/nml/_engine/fits.py", "memdlib.nml.codes"),
        ("memdlib/nml/codes/x.py", "memdlib.nml.estimators"),
        ("memdlib/nml/codes/x.py", "memdlib.nml"),
        ("memdlib/nml/codes/x.py", "memdlib.datasets"),
        ("memdlib/datasets/x.py", "compendium.project"),
        ("memdlib/__init__.py", "benchmarks"),
        ("compendium/project.py", "compendium.ledger"),
        ("compendium/study/peers.py", "compendium.ledger"),
        ("compendium/ledger/claims.py", "compendium.build"),
        ("compendium/build/render.py", "compendium.__main__"),
    ],
)
def test_every_step_of_the_order_is_kept(house, name, imported):
    house.write(name, f"import {imported}\n")
    (problem,) = lint_imports(house.root)
    assert problem.startswith(f"{name}:1: imports {imported}, which is not above ")


@pytest.mark.parametrize(
    ("modules", "circle"),
    [
        ({"sums": "folds", "folds": "sums"}, 3),
        ({"sums": "folds", "folds": "joint", "joint": "sums"}, 4),
    ],
)
def test_no_room_runs_in_a_circle(house, modules, circle):
    for module, imported in modules.items():
        code = f"def f():\n    from memdlib.moments.{imported} import g\n"
        house.write(f"memdlib/moments/{module}.py", code)
    (problem,) = lint_imports(house.root)
    said, _, names = problem.partition(": ")
    names = names.split(" -> ")
    assert said == "imports run in a circle"
    assert names[0] == names[-1] and len(names) == circle
    for one, other in pairwise(names):
        assert modules[one.split(".")[-1]] == other.split(".")[-1]


def test_a_package_and_its_module_are_a_circle_too(house):
    house.write("memdlib/moments/sums.py", "from memdlib.moments import f\n")
    (problem,) = lint_imports(house.root)
    assert "circle: " in problem and "memdlib.moments.sums" in problem


@pytest.mark.parametrize("name", ["memdlib/utils.py", "compendium/utils.py"])
def test_a_module_without_a_room(house, name):
    house.write(name, "")
    (problem,) = lint_imports(house.root)
    assert problem == f"{name} stands in no room of compendium/build/rooms.py"


@pytest.mark.parametrize(
    ("code", "kind"),
    [("from .y import z", "relative"), ("from memdlib.validation import *", "star")],
)
def test_imports_that_the_digests_would_miss(house, code, kind):
    house.write("memdlib/datasets/x.py", f"\n{code}\n")
    assert f"memdlib/datasets/x.py:2: {kind} import" in lint_imports(house.root)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        (
            "memdlib/nml/x.py",
            "import pandas\n",
            "imports pandas, which memdlib.nml must",
        ),
        ("memdlib/moments/x.py", "from pathlib import Path\n", "uses files (pathlib)"),
        ("memdlib/moments/x.py", "def f(p):\n    open(p)\n", "uses files (io)"),
        (
            "memdlib/parts/x.py",
            "import dask\n",
            "imports dask, which memdlib.parts must",
        ),
        ("memdlib/topics/x.py", "import pathlib\n", "uses files (pathlib)"),
        (
            "compendium/study/x.py",
            "import papermill\n",
            "compendium.study must do without",
        ),
    ],
)
def test_what_a_room_must_do_without(house, name, code, message):
    house.write(name, code)
    (problem,) = lint_imports(house.root)
    assert problem.startswith(f"{name}:") and message in problem


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (
            "memdlib/nml/x.py",
            "try:\n    import pandas\nexcept ImportError:\n    pass\n",
        ),
        ("memdlib/generative/x.py", "def plot():\n    import matplotlib\n"),
        ("memdlib/datasets/x.py", "def f(p):\n    import pandas\n    open(p)\n"),
        ("memdlib/parts/x.py", "import pathlib\n"),
    ],
)
def test_extras_are_imported_on_use(house, name, code):
    house.write(name, code)
    assert lint_imports(house.root) == []


def test_the_map_has_every_room_in_ten_lines():
    lines = room_map()
    shown = re.findall(r"(?:- |; )`([\w.]+)`: ", "\n".join(lines))
    assert shown == [room.name for room in ROOMS]
    assert len(lines) == 10
