"""State a theorem wrongly, or break a formula, and the test that tries it fails.

A test under ``tests/book/<part>/`` that carries ``@pytest.mark.wrong(what, old, new)``
is run once more with ``new`` in the place of ``old``, which stands once in its source.
``mutants.py`` lists broken formulas of memdlib and the tests that must notice them.
Such tests are plain functions, without fixtures or parameters.
"""

import ast
import inspect
import runpy
from importlib import import_module
from pathlib import Path

import pytest

from tests.book.mutants import MUTANTS

HERE = Path(__file__).parent
MODULES = {
    path: import_module(f"tests.book.{path.parent.name}.{path.stem}")
    for path in sorted(HERE.glob("*/test_*.py"))
}
TESTS = {
    name: path
    for path, module in MODULES.items()
    for name, value in vars(module).items()
    if name.startswith("test_") and inspect.isfunction(value)
}


WRONG = [
    pytest.param(path, name, *mark.args, id=f"{name}-{mark.args[0]}")
    for name, path in TESTS.items()
    for mark in getattr(getattr(MODULES[path], name), "pytestmark", ())
    if mark.name == "wrong"
]


def source(path, name):
    """The source of a test, without its marks, its lines as many as before."""
    text = path.read_text()
    (node,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    body = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return "\n".join([""] * (node.lineno - 1) + body)


@pytest.mark.parametrize(("path", "name", "what", "old", "new"), WRONG)
def test_a_wrong_statement_fails(path, name, what, old, new):
    code = source(path, name)
    assert code.count(old) == 1, f"{what}: {old!r} does not stand once in {name}"
    scope = dict(vars(MODULES[path]))
    exec(compile(code.replace(old, new), path, "exec"), scope)
    with pytest.raises(AssertionError):
        scope[name]()


@pytest.mark.parametrize(("holder", "attribute", "breaking", "name"), MUTANTS)
def test_a_broken_formula_is_noticed(monkeypatch, holder, attribute, breaking, name):
    monkeypatch.setattr(holder, attribute, breaking(getattr(holder, attribute)))
    with pytest.raises(AssertionError):  # of a module that imports what is broken
        runpy.run_path(TESTS[f"test_{name}"])[f"test_{name}"]()
