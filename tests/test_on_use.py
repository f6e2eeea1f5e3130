"""Names that are imported when they are first used."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from memdlib.on_use import on_use

PACKAGES = ("memdlib", "memdlib.densities", "memdlib.generative")


def for_type_checkers(package):
    """Names and their modules, as type checkers and editors see them."""
    tree = ast.parse(Path(import_module(package).__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name: node.module for node in block.body for alias in node.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_listed(package):
    module = import_module(package)
    assert set(module.__all__) <= set(dir(module))
    late = for_type_checkers(package)
    assert late and set(late) < set(module.__all__)
    for name, place in late.items():
        assert getattr(module, name) is getattr(import_module(place), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_late_names_are_not_imported_before(package):
    late = sorted(for_type_checkers(package))
    program = f"""
import {package}
known = vars({package})
assert not set({late}) & set(known), known
from {package} import *
assert set({late}) <= set(known)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_that_are_not_there():
    get, names = on_use("memdlib", {"kernels": ["semigroup"]})
    assert "semigroup" in names() and "MeMdClassifier" in names()
    with pytest.raises(AttributeError, match="'memdlib' has no attribute 'lost'"):
        get("lost")
    with pytest.raises(ImportError, match="lost"):
        exec("from memdlib import lost")
