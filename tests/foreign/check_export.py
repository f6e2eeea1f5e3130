"""Verifiers of others read the export: green as it is, red with one thing broken."""

import json
import os
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from compendium.artifact import export
from compendium.artifact.crate import METADATA

ROOT = Path(__file__).parents[2]
BIN = (ROOT / os.environ["FOREIGN"] / "bin").absolute()
CONTEXT = "https://w3id.org/ro/crate/1.3/context"
COMPACT = ["-p", "ro-crate-1.3", "-l", "required", "--no-paging"]


def run(program, *arguments, folder):
    command = [str(BIN / program), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def exported():
    return export.export_files(ROOT)


@pytest.fixture
def crate(exported, tmp_path):
    """The whole export, where a test may break it."""
    export.write_folder(exported, tmp_path / "export")
    return tmp_path / "export"


def validate(crate, tmp_path):
    context = files("rocrate") / "data" / "ro-crate.jsonld"
    script = Path(__file__).with_name("serve_context.py")
    served = run("python", script, tmp_path / "http", CONTEXT, context, folder=tmp_path)
    assert served.returncode == 0, served.stderr
    options = ["--offline", "--cache-path", tmp_path / "http", *COMPACT]
    options += ["-f", "json", "-o", tmp_path / "report.json"]
    run("rocrate-validator", "-y", "validate", *options, crate, folder=tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    return report["passed"], {issue["message"] for issue in report["issues"]}


def test_the_crate_is_valid(crate, tmp_path):
    assert validate(crate, tmp_path) == (True, set())


def test_a_broken_crate_is_not(crate, tmp_path):
    about = (crate / METADATA).read_text()
    (crate / METADATA).write_text(re.sub(r'\n *"datePublished": .*', "", about))
    (crate / "data/results/identities.json").unlink()
    passed, messages = validate(crate, tmp_path)
    assert not passed
    for missing in ("datePublished", "identities"):
        assert any(missing in line for line in messages)


def test_the_citation_is_valid(tmp_path):
    text = (ROOT / "CITATION.cff").read_text()
    (tmp_path / "CITATION.cff").write_text(text)
    assert run("cffconvert", "--validate", folder=tmp_path).returncode == 0
    (tmp_path / "CITATION.cff").write_text(text.replace("version:", "edition:"))
    assert run("cffconvert", "--validate", folder=tmp_path).returncode == 1
