"""Every function of the asv suite does its work once, on next to no data."""

import json

import numpy as np
import pytest

from benchmarks import asv_suite
from tests.wheel import PROJECT

TINY = {
    "Genes": {"shape": (60, 60, 3)},
    "Words": {"shape": (60, 100, 3), "learnable": (400, 100, 3)},
    "ChooseSize": {"shape": (60, 100, 3)},
}


@pytest.mark.parametrize("name", TINY)
def test_each_function_does_its_work(name, monkeypatch):
    kind = getattr(asv_suite, name)
    for attribute, value in TINY[name].items():
        monkeypatch.setattr(kind, attribute, value)
    for params in [(value,) for value in getattr(kind, "params", ())] or [()]:
        suite = kind()
        suite.setup(*params)
        for function in vars(kind):
            if function.startswith(("time_", "peakmem_", "track_")):
                found = getattr(suite, function)(*params)
                assert found is None or np.isfinite(found)


def test_its_settings_name_what_is_there():
    folder = PROJECT / "benchmarks"
    settings = json.loads((folder / "asv.conf.json").read_text())
    assert (folder / settings["benchmark_dir"] / "asv_suite.py").is_file()
    assert (folder / settings["repo"] / "pyproject.toml").is_file()
