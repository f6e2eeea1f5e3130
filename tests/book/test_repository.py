"""The repository itself: its gates are open, and what it stores is in step."""

import re
import tomllib
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import yaml
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import memdlib
from memdlib.classifiers import MeMdClassifier
from memdlib.compendium import chapters, experiments, readme
from memdlib.compendium.claims import VERDICTS, read_claims
from memdlib.compendium.protocols import repeated_accuracy
from memdlib.compendium.render import check_sources
from memdlib.compendium.results import read_result
from memdlib.datasets import MissingDataError, load

ROOT = Path(__file__).parents[2]
RUNS = {run.name: run for run in experiments.runs(ROOT)}


def text_of(name):
    return (ROOT / name).read_text()


def test_every_gate_on_sources_is_open():
    assert check_sources(ROOT) == []


def test_every_claim_has_a_verdict_and_a_known_source():
    claims = read_claims(ROOT)
    assert claims
    assert {claim.verdict for claim in claims} <= set(VERDICTS)
    known = re.findall(r"(?m)^@\w+\{(\w+),", text_of("book/references.bib"))
    assert {claim.source for claim in claims} <= set(known)


def test_the_readme_is_in_step():
    assert readme.generated(ROOT) == text_of("README.md")


def test_no_chapter_is_stale_and_no_notebook_is_an_orphan():
    assert chapters.stale(ROOT) == []
    expected = {chapters.notebook_path(ROOT, s) for s in chapters.sources(ROOT)}
    assert set((ROOT / "book/notebooks").rglob("*.ipynb")) == expected


def test_results_and_records_are_those_of_the_runs():
    results = {path.stem for path in (ROOT / "data/results").iterdir()}
    records = {path.stem for path in (ROOT / "book/records").glob("*.ipynb")}
    assert results == records == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_no_run_is_stale(name):
    run, provenance = RUNS[name], read_result(name, ROOT)["provenance"]
    token = experiments.run_digest(ROOT, run, provenance["data"].get(run.data))
    assert experiments.stored_digests(ROOT, run) == (token, token)
    added = {"run": name} | ({"dataset": run.data} if run.data else {})
    assert provenance["parameters"] == run.parameters | added


def loadable(name):
    """Whether a data set is on this machine; nothing is downloaded."""
    with mock.patch("pooch.retrieve", side_effect=OSError("no downloads here")):
        try:
            load(name)
        except MissingDataError:
            return False
    return True


TRANSFORMS = {"raw": lambda X: X, "log": np.log}
METHODS = {
    "memd": MeMdClassifier(validation=10),
    "memd_shrunk": MeMdClassifier(validation=10, shrinkage=0.5),
    "svm": SVC(kernel="linear"),
    "svm_scaled": make_pipeline(StandardScaler(), SVC(kernel="linear")),
}


@pytest.mark.parametrize(
    "name",
    [n for n, r in RUNS.items() if r.notebook == "table2.md" and loadable(r.data)],
)
def test_the_first_repeat_comes_out_as_committed(name):
    run, values = RUNS[name], read_result(name, ROOT)["values"]
    bunch = load(run.data)
    assert read_result(name, ROOT)["provenance"]["data"] == {run.data: bunch.sha256}
    transforms = run.parameters.get("transforms", ["raw"])
    methods = run.parameters.get("methods", ["memd", "memd_shrunk", "svm_scaled"])
    for transform in transforms:
        found = repeated_accuracy(
            {method: METHODS[method] for method in methods},
            TRANSFORMS[transform](bunch.X),
            bunch.y,
            n_splits=run.parameters.get("n_splits", 10),
            repeats=1,
        )
        assert {m: part["correct"].sum() for m, part in found.items()} == {
            method: values[transform][method]["correct"][0] for method in methods
        }


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    required = {"cff-version", "message", "title", "authors", "version", "license"}
    assert required | {"date-released"} <= set(citation)
    declared = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert citation["version"] == declared["version"] == memdlib.__version__
    assert citation["license"] == declared["license"]


def test_every_command_that_is_named_exists():
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", text_of("Makefile")))
    named = set()
    for page in ("README.md", "CONTRIBUTING.md", "book/reproduce.md"):
        code = re.findall(r"(?s)```bash\n.*?```|`make [^`]*`", text_of(page))
        named |= set(re.findall(r"(?m)^`?make ([a-z][a-z-]*)", "\n".join(code)))
    named |= set(re.findall(r"(?m)^make ([a-z][a-z-]*)", text_of(".ci/run")))
    assert {"book", "test", "experiments", "html", "test-browser"} <= named
    assert named <= targets
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_no_published_figure_is_typed_into_a_source():
    printed = re.findall(r"\d+\.\d\d", text_of("data/published/table2.csv"))
    assert printed
    for source in (ROOT / "book").rglob("*.md"):
        text = source.read_text()
        assert [number for number in printed if number in text] == [], source.name


def test_notebooks_hold_no_paths_of_a_machine():
    for path in (ROOT / "book").rglob("*.ipynb"):
        text = path.read_text()
        assert str(ROOT) not in text
        assert "/tmp/" not in text
