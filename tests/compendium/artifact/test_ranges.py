"""The ranges of the package have no upper ends, and both of their ends are tested."""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.wheel import asked_here, declared, in_extra, ranges

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RANGES = {requirement.name: requirement for requirement in ranges()}
PYTHON = "Programming Language :: Python :: 3."


def commands(target):
    """What ``make`` would run."""
    make = ("make", "--dry-run", "--no-print-directory", target)
    return subprocess.run(
        make, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def workflow(name):
    """The Pythons of a workflow's only job, and what it makes."""
    text = (ROOT / f".github/workflows/{name}.yml").read_text()
    (job,) = yaml.safe_load(text)["jobs"].values()
    (python,) = (
        step["with"]["python-version"]
        for step in job["steps"]
        if "python-version" in step.get("with", {})
    )
    pythons = job["strategy"]["matrix"]["python"] if "matrix" in python else [python]
    return pythons, [step["run"] for step in job["steps"] if "run" in step]


def pythons_declared():
    classifiers = PROJECT["project"]["classifiers"]
    return [item.rpartition(" ")[2] for item in classifiers if item.startswith(PYTHON)]


@pytest.mark.parametrize("requirement", RANGES.values(), ids=str)
def test_a_range_has_a_lower_end_and_no_upper_one(requirement):
    assert [part.operator for part in requirement.specifier] == [">="]


def test_a_group_of_makers_declares_the_same_lower_end():
    items = [item for group in PROJECT["dependency-groups"].values() for item in group]
    repeated = [Requirement(item) for item in items if isinstance(item, str)]
    repeated = [one for one in repeated if one.name in RANGES]
    assert {"matplotlib", "pandas", "dask"} <= {one.name for one in repeated}
    for one in repeated:
        assert one.specifier == RANGES[one.name].specifier, one


def test_every_declared_python_is_tested():
    tested, _ = workflow("tests")
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"
    assert pythons_declared() == tested


def test_the_lowest_versions_are_tested_with_the_oldest_python():
    assert workflow("lowest") == (pythons_declared()[:1], ["make test-lowest"])
    assert "tests/lowest/check_*.py" in commands("test-lowest")


def test_the_newest_versions_are_tested_with_the_newest_python():
    pythons, made = workflow("canary")
    assert pythons == [pythons_declared()[-1], "3.x"]
    assert made == ["make test-newest"]


@pytest.mark.parametrize(
    ("target", "resolution"),
    [("test-lowest", "lowest-direct"), ("test-newest", "highest")],
)
def test_an_end_is_resolved_from_all_that_is_declared_without_the_lock(
    target, resolution
):
    text = commands(target)
    assert f"--resolution {resolution} " in text
    (extras,) = re.findall(r" -e \.\[([a-z,]+)\]", text)
    resolved = declared()["dependencies"]
    for extra in extras.split(","):
        resolved = resolved + in_extra(extra)
    assert {*asked_here(resolved)} == {*RANGES.values()}
    assert "lock" not in text


def test_the_lock_has_one_version_of_each_package_for_all_pythons():
    text = (ROOT / "requirements.lock").read_text()
    versions = dict(re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", text))
    pins = Counter(re.findall(r"(?m)^([\w.-]+)==", text))
    assert [name for name, count in pins.items() if count > 1] == []
    for requirement in RANGES.values():
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier
