import sys
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement

from compendium.build.portable import PUBLIC, needed_cells, portable_code
from tests.wheel import declared, in_extra


def test_public_packages_are_those_of_the_extra_for_notebooks():
    """What a plain notebook may import, it can install; IPython is Jupyter's own."""
    wanted = [*declared()["dependencies"], *in_extra("notebooks"), "memdlib", "ipython"]
    names = {Requirement(item).name for item in wanted} - {"threadpoolctl"}
    modules = PUBLIC - set(sys.stdlib_module_names)
    brought = packages_distributions() | {"memdlib": ["memdlib"]}
    for module in modules:
        assert names & set(brought[module]), module
    assert len(modules) == len(names)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["import numpy as np, os"], ["import numpy as np, os"]),
        (["from compendium.build import display\nx = 1", "x"], ["x = 1", "x"]),
        (["from compendium import f", "y = f()", "print(y)"], ["", None, None]),
        (["from compendium import f", "y = f()", "y = 2\ny"], ["", None, "y = 2\ny"]),
        # a name inside a function or a comprehension is another one
        (
            [
                "from compendium import f",
                "k = f()",
                "def g(k):\n    return k\n\n\ng(1)",
            ],
            ["", None, "def g(k):\n    return k\n\n\ng(1)"],
        ),
        (
            ["from compendium import k", "[k for k in (1, 2)]"],
            ["", "[k for k in (1, 2)]"],
        ),
        (
            ["from compendium import k, v", "{k: v for k, v in [(1, 2)]}"],
            ["", "{k: v for k, v in [(1, 2)]}"],
        ),
        (["from compendium import k", "{j: k for j in (1, 2)}"], ["", None]),
        (["from compendium import f", "def g():\n    return f()"], ["", None]),
        # what a private cell changes is private too, but not a module
        (
            ["import math\nrows = []\nfrom compendium import f", "rows.append(f())"],
            ["import math\nrows = []", None],
        ),
        (
            ["from compendium import checked", "checked('a', 'b', error=e, within=1)"],
            ["", "assert 0 <= e <= 1"],
        ),
        (
            [
                "from compendium import show",
                "x = 1\n\n# the figure\nshow(\n    x,\n)\nx",
            ],
            ["", "x = 1\n\nx"],
        ),
    ],
)
def test_code_that_needs_only_public_packages(cells, expected):
    assert portable_code(cells) == expected


def test_what_a_private_cell_changes_is_private():
    cells = ["rows = []\nfrom compendium import f", "rows.append(f())", "print(rows)"]
    assert portable_code(cells)[2] is None


def test_given_functions_are_not_private():
    cells = ["from compendium.build.display import number, show", "number(1, 2)"]
    assert portable_code(cells, {"number"}) == ["", "number(1, 2)"]
    assert portable_code(cells) == ["", ""]


def test_cells_stay_that_others_need():
    codes = ["x = 1", "y = []", "y.append(x)", None, "", "print(y)"]
    wanted = [False, False, False, True, True, True]
    assert needed_cells(codes, wanted) == [True, True, True, False, False, True]
