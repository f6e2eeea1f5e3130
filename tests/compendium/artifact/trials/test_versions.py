import sys
from pathlib import Path

from compendium.artifact.trials import versions
from compendium.artifact.trials.versions import TESTED, interpreters, unbounded

ROOT = Path(__file__).parents[4]


def test_requirements_lose_their_bounds():
    names = unbounded(ROOT)
    assert {"numpy", "sphinx", "jupyter-book<2", "pytest"} <= set(names)
    assert "dask[array,dataframe,distributed]" in names
    bounded = [name for name in names if set("<>=~!") & set(name)]
    assert bounded == ["jupyter-book<2"]
    assert not any(name.startswith(("memdlib", "roc-validator")) for name in names)


def test_what_is_tested_is_there():
    assert all((ROOT / name).exists() for name in TESTED)


def test_interpreters_are_found_by_what_they_say(tmp_path, monkeypatch):
    for name, said in (("python8.1", "8.1.0"), ("python8.2", "")):
        stub = tmp_path / name
        stub.write_text(f"#!/bin/sh\necho {said}\nexit {0 if said else 1}\n")
        stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = interpreters(("python8.1", "python8.2", "python8.3"))
    assert found == {"8.1.0": str(tmp_path / "python8.1")}


def test_tests_are_counted_as_pytest_counts_them(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(
        (ROOT / "pyproject.toml").read_text().partition("[tool.importlinter]")[0]
    )
    (tmp_path / "test_it.py").write_text(
        "def test_a(): pass\ndef test_b(): pass\ndef test_c(): assert not 1\n"
    )
    monkeypatch.setattr(versions, "TESTED", ("test_it.py",))
    found = versions.tested(tmp_path, Path(sys.executable))
    assert found["passed"] == 2 and found["last"].startswith("1 failed, 2 passed")
    (failed,) = found["failed"]
    assert failed.startswith("FAILED test_it.py::test_c")
