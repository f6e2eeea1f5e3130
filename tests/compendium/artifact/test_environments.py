"""Workflows run the commands of the Makefile, and those of CI."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.wheel import ranges

ROOT = Path(__file__).parents[3]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github/workflows").glob("*.yml")}
FILES = sorted(WORKFLOWS.values())
TARGETS = set(re.findall(r"(?m)^([a-z][a-z-]*):", (ROOT / "Makefile").read_text()))


def workflow(path):
    return yaml.safe_load(path.read_text())


def steps(path):
    """Steps of all jobs of a workflow that have any."""
    jobs = workflow(path)["jobs"].values()
    return [step for job in jobs for step in job.get("steps", [])]


def called(path):
    """Workflows that the jobs of a workflow call."""
    jobs = workflow(path)["jobs"].values()
    return [Path(job["uses"]).stem for job in jobs if "uses" in job]


def made(text):
    """Targets that commands make."""
    return re.findall(r'(?m)(?:^ *|RUN |"|&& )make ([a-z-]+)', text)


def commands(path):
    return "\n".join(step.get("run", "") for step in steps(path))


def version(path, pattern):
    return re.search(pattern, (ROOT / path).read_text())[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_command_is_a_target(path):
    text = commands(path)
    assert made(text) or called(path)
    assert set(made(text)) <= TARGETS


def test_workflows_make_what_ci_makes():
    texts = [commands(WORKFLOWS[name]) for name in ("tests", "book")]
    by_workflows = {target for text in texts for target in made(text)}
    by_ci = made((ROOT / ".ci/run").read_text())
    assert set(by_ci) == by_workflows | {"setup"}
    # what reads the pages of another one comes after it
    in_turn = ["test", "live", "test-browser"]
    assert [target for target in by_ci if target in in_turn] == in_turn


def conda():
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def test_readers_with_conda_have_the_ranges_of_the_notebooks_and_of_jupyterlab():
    assert conda()["channels"] == ["conda-forge", "nodefaults"]
    _, *by_conda, pip, by_pip = conda()["dependencies"]
    *lab_extension, package = by_pip["pip"]
    assert (pip, package) == ("pip", "-e .[notebooks]")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    wanted = [one for one in ranges() if one.name != "dask"]
    wanted += map(Requirement, groups["lab"])
    assert {Requirement(one) for one in by_conda + lab_extension} == set(wanted)


def test_every_place_has_a_python_that_the_package_supports():
    oldest = version("pyproject.toml", r'requires-python = ">=([\d.]+)"')
    assert conda()["dependencies"][0] == f"python={oldest}"
    matrix = workflow(WORKFLOWS["tests"])["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"][0] == oldest
    (used,) = (s["with"] for s in steps(WORKFLOWS["book"]) if "python" in str(s))
    assert used["python-version"] == oldest
    assert f"--python-version {oldest} " in (ROOT / "Makefile").read_text()


def test_pages_are_published_after_every_test_of_a_change_has_passed():
    # YAML reads the key "on" as true
    on_change = {n for n, p in WORKFLOWS.items() if "pull_request" in workflow(p)[True]}
    pages = workflow(WORKFLOWS["pages"])
    assert set(called(WORKFLOWS["pages"])) == on_change == {"tests", "lowest", "book"}
    assert set(pages["jobs"]["editions"]["needs"]) == on_change
    assert pages["jobs"]["deploy"]["needs"] == ["editions"]
    assert pages[True] == {"push": {"branches": ["main"]}, "workflow_dispatch": None}
    for name in on_change:  # not twice for main
        triggers = workflow(WORKFLOWS[name])[True]
        assert triggers["push"] == {"branches-ignore": ["main"]}
        assert "workflow_call" in triggers


# Answers as GitHub's program does, which asks GitHub.
GH = """#!/bin/bash -e
case "$1 $2" in
"run download")
    mkdir "$7"; tar -cf "$7/artifact.tar" -C "$OLDPWD/main" . ;;
"release list")
    printf '%s\\n' v0.4.0 0.3.0 v0.5.0rc1 '../x' ;;
"release download")
    [ "$3" = v0.4.0 ] || [ "$3" = 0.3.0 ]
    folder=${5%.tar.gz}
    mkdir -p "$folder/html/book" "$folder/html/sources"
    echo "$folder" > "$folder/html/book/page.html"
    touch "$folder/README.md"
    tar -czf "$5" "$folder" ;;
*) exit 1 ;;
esac
"""


def test_each_release_has_a_folder_below_the_newest_pages(tmp_path):
    program, newest, run = (tmp_path / name for name in ("bin/gh", "main", "run"))
    for folder in (program.parent, newest, run):
        folder.mkdir()
    program.write_text(GH.replace("$OLDPWD", str(tmp_path)))
    program.chmod(0o755)
    (newest / "index.html").write_text("newest")
    step, upload = workflow(WORKFLOWS["pages"])["jobs"]["editions"]["steps"]
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "GITHUB_RUN_ID": "1"}
    command = ["bash", "-e", "-c", step["run"]]
    subprocess.run(command, cwd=run, env=environment, check=True)
    site = run / upload["with"]["path"]
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.*")}
    pages = {f"{version}/book/page.html" for version in ("0.3.0", "0.4.0")}
    assert made == {"index.html", "0.3.0", "0.4.0"} | pages
    shown = (site / "0.4.0/book/page.html").read_text()
    assert shown == "memdlib-compendium-0.4.0\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_may_write_runs_no_code_of_others(path):
    about = workflow(path)
    assert about["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in about[True]
    for job in about["jobs"].values():
        if "write" in job.get("permissions", {}).values():
            (step,) = job["steps"]
            assert step["uses"].startswith("actions/deploy-pages@")
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_actions_are_pinned_by_commit_each_in_one_version():
    lines = [
        line.partition("uses: ")[2]
        for path in FILES
        for line in path.read_text().splitlines()
        if "uses: " in line and "uses: ./" not in line
    ]
    pins = {}
    for line in lines:
        pinned = re.fullmatch(
            r"(actions/[a-z-]+)@([0-9a-f]{40}  # v\d+\.\d+\.\d+)", line
        )
        assert pinned, f"{line} is not pinned by a commit, with its version beside it"
        pins.setdefault(pinned[1], set()).add(pinned[2])
    assert {"actions/checkout", "actions/deploy-pages"} < pins.keys()
    assert all(len(versions) == 1 for versions in pins.values())


def test_the_verifiers_are_locked_with_hashes():
    wanted = version("Makefile", r"(?m)^VERIFIERS := (.*)$").split()
    text = (ROOT / version("Makefile", r"(?m)^VERIFIERS_LOCK := (.*)$")).read_text()
    parts = re.split(r"(?m)^(?=\S)", text.strip())[1:]
    names = [part.partition("==")[0] for part in parts]
    assert set(wanted) <= set(names)
    assert all("--hash=sha256:" in part for part in parts)
    assert "://" not in text


def test_every_night_all_is_made_whatever_is_red(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@" >> "$SEEN"\nexit 1\n')
    python.chmod(0o755)
    seen = tmp_path / "seen"
    done = subprocess.run(
        ["make", "test-nightly", "READY=", f"BIN={python.parent}", "CORETYPES=Nehalem"],
        cwd=ROOT,
        env=os.environ | {"SEEN": str(seen), "MAKEFLAGS": ""},
    )
    assert done.returncode != 0
    first, second, third = seen.read_text().splitlines()
    assert "tests/nightly" in first
    assert "--nbval" in second
    assert third == "-m compendium experiments --recheck"
