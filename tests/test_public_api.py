import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import memdlib
from memdlib.compendium.gates import lint_imports

CORE = [
    m.name
    for m in pkgutil.iter_modules(memdlib.__path__)
    if m.name not in ("compendium", "datasets")
]


def public(module):
    return [
        (name, thing)
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
        and (inspect.isclass(thing) or inspect.isfunction(thing))
    ]


def test_the_names_that_others_rely_on():
    assert memdlib.__all__ == ["DivergenceRanker", "MeMdClassifier"]
    for name in memdlib.__all__:
        assert hasattr(memdlib, name)
    assert Path(memdlib.__file__).with_name("py.typed").is_file()


def test_the_core_does_not_know_the_compendium():
    assert lint_imports(Path(memdlib.__file__).parents[1]) == []


@pytest.mark.parametrize("name", CORE)
def test_everything_public_is_documented(name):
    module = importlib.import_module(f"memdlib.{name}")
    assert module.__doc__
    for label, thing in public(module):
        text = inspect.getdoc(thing)
        assert text, label
        if inspect.isfunction(thing) and len(inspect.signature(thing).parameters) > 2:
            assert "Parameters" in text or len(text.splitlines()) == 1, label
