import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import memdlib
from tests.scikit_learn import offered

CORE = [m.name for m in pkgutil.walk_packages(memdlib.__path__, "memdlib.")]


def test_the_names_that_others_rely_on():
    assert " ".join(memdlib.__all__) == (
        "PLSA ConditionalMaxEntClassifier DivergenceRanker GreedyGaussianRanker "
        "GreedyInformationRanker JointMaxEntClassifier MaxEntDensity MeMdClassifier "
        "make_memd"
    )
    names = {}
    exec("from memdlib import *", names)
    assert set(names) - {"__builtins__"} == set(memdlib.__all__)
    assert memdlib.__version__.count(".") == 2


def is_function(thing):
    """Also one whose results are kept for later calls."""
    return inspect.isfunction(thing) or hasattr(thing, "cache_info")


def public(holder, module):
    return [
        (name, thing)
        for name, thing in vars(holder).items()
        if not name.startswith("_")
        and (inspect.isclass(thing) or is_function(thing))
        and thing.__module__ == module.__name__
    ]


@pytest.mark.parametrize("name", CORE)
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    shown = public(module, module) or vars(module).keys() & {"__path__", "__all__"}
    assert shown or name.startswith("memdlib._")
    for label, thing in public(module, module):
        assert thing.__doc__, label
        promised = f"{module.__name__}.{label}" in OFFERED
        if is_function(thing):
            if promised:
                says_what_it_takes(label, thing, inspect.getdoc(thing))
            continue
        for method, function in public(thing, module):
            text = inspect.getdoc(getattr(thing, method))
            assert text, f"{label}.{method}"
            overrides = any(hasattr(base, method) for base in thing.__mro__[1:])
            if promised and (label in memdlib.__all__ or not overrides):
                says_what_it_takes(f"{label}.{method}", function, text)


def says_what_it_takes(label, function, text):
    """A text of one line, or sections that name every parameter."""
    taken = [p for p in inspect.signature(function).parameters if p != "self"]
    if len(text.splitlines()) > 1 and taken:
        assert "Parameters\n---" in text, label
        assert "Returns\n---" in text or "Yields\n---" in text, label
        listed = text.split("Parameters\n---")[1].split("Returns\n---")[0]
        assert [p for p in taken if p not in listed] == [], label


def told_defaults(text):
    """Defaults that a section of parameters tells, by name, as Python."""
    section = text.split("Parameters\n---")[-1].split("Returns\n---")[0]
    for names, told in re.findall(r"(?m)^(\w[\w, ]*) : .*, default=(.+)$", section):
        names = names.split(", ")
        values = told.split(" and ") if " and " in told else [told] * len(names)
        yield from zip(names, values, strict=True)


@pytest.mark.parametrize("name", CORE)
def test_defaults_are_those_that_are_documented(name):
    module = importlib.import_module(name)
    calls = public(module, module)
    for label, thing in list(calls):
        if inspect.isclass(thing):
            calls += [(f"{label}.{n}", f) for n, f in public(thing, module)]
    for label, call in calls:
        told = dict(told_defaults(inspect.getdoc(call) or ""))
        taken = inspect.signature(call).parameters if told else {}
        for parameter, value in told.items():
            meant = eval(value, vars(module) | {"inf": np.inf, "numpy": np})
            assert taken[parameter].default == meant, (label, parameter)


OFFERED = {
    f"{thing.__module__}.{thing.__name__}": thing
    for thing in offered()
    if inspect.isclass(thing) or is_function(thing)
}
