"""Every function of the asv suite does its work once, on next to no data."""

import inspect
import json

import numpy as np
import pytest

import memdlib
from benchmarks import asv_suite
from tests.wheel import PROJECT

TINY = {
    "Genes": {"shape": (60, 60, 3)},
    "Words": {"shape": (60, 100, 3), "learnable": (400, 100, 3)},
    "ChooseSize": {"shape": (60, 100, 3)},
    "Import": {},
}
KINDS = ("time_", "timeraw_", "peakmem_", "track_")


def test_every_class_of_the_suite_is_tried():
    found = {
        name
        for name, thing in vars(asv_suite).items()
        if inspect.isclass(thing) and thing.__module__ == asv_suite.__name__
    }
    assert found == set(TINY)


@pytest.mark.parametrize("name", TINY)
def test_each_function_does_its_work(name, monkeypatch):
    kind = getattr(asv_suite, name)
    for attribute, value in TINY[name].items():
        monkeypatch.setattr(kind, attribute, value)
    names = [name for name in vars(kind) if name.startswith(KINDS)]
    assert names
    for params in [(value,) for value in getattr(kind, "params", ())] or [()]:
        suite = kind()
        getattr(suite, "setup", lambda *_: None)(*params)
        for function in names:
            found = getattr(suite, function)(*params)
            if function.startswith("track_accuracy"):
                assert 0.4 < found <= 1
            elif function.startswith("timeraw_"):
                assert found == f"import {memdlib.__name__}"
            elif function.startswith("track_"):
                assert np.isfinite(found)


def test_its_settings_name_what_is_there():
    settings = json.loads((PROJECT / "asv.conf.json").read_text())
    assert (PROJECT / settings["benchmark_dir"] / "asv_suite.py").is_file()
    assert settings["project"] == "memdlib"
