"""Workflows run the commands of the Makefile, and those of CI."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github/workflows").glob("*.yml")}
FILES = sorted(WORKFLOWS.values())
TARGETS = set(re.findall(r"(?m)^([a-z][a-z-]*):", (ROOT / "Makefile").read_text()))


def steps(path):
    """Steps of all jobs of a workflow."""
    (job,) = yaml.safe_load(path.read_text())["jobs"].values()
    return job["steps"]


def made(text):
    """Targets that commands make."""
    return re.findall(r'(?m)(?:^|RUN |"|&& )make ([a-z-]+)', text)


def commands(path):
    return "\n".join(step.get("run", "") for step in steps(path))


def version(path, pattern):
    return re.search(pattern, (ROOT / path).read_text())[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_command_is_a_target(path):
    text = commands(path)
    assert made(text)
    assert set(made(text)) <= TARGETS


def test_workflows_make_what_ci_makes_in_its_order():
    first, rest = (made(commands(WORKFLOWS[name])) for name in ("tests", "book"))
    rest.remove("html")  # in one checkout, make test leaves it
    assert first + rest == made((ROOT / ".ci/run").read_text())


def test_every_place_has_a_python_that_the_package_supports():
    oldest = version("pyproject.toml", r'requires-python = ">=([\d.]+)"')
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert conda["channels"] == ["conda-forge", "nodefaults"]
    assert conda["dependencies"][0] == f"python={oldest}"
    text = WORKFLOWS["tests"].read_text()
    matrix = yaml.safe_load(text)["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert matrix[0] == oldest
    for name in ("book", "pages"):
        (used,) = (s["with"] for s in steps(WORKFLOWS[name]) if "with" in s)
        assert used["python-version"] == oldest
