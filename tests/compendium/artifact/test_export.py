"""The export stands by itself, and is the same twice."""

import csv
import hashlib
import io
import json
from pathlib import Path

import nbformat
import pytest
import yaml

from compendium.artifact import export
from compendium.artifact.crate import METADATA
from compendium.execution.notebooks import FIGURE
from compendium.execution.runs import runs
from compendium.ledger.claims import read_claims
from compendium.ledger.results import read_result

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def files():
    return export.export_files(ROOT)


def test_one_action_for_each_lab_record(files):
    entities = {e["@id"]: e for e in json.loads(files[METADATA])["@graph"]}
    actions = [e for e in entities.values() if e["@type"] == "CreateAction"]
    listed = runs(ROOT).values()
    assert [a["@id"] for a in actions] == [f"#run-{run.name}" for run in listed]
    for action, run in zip(actions, listed, strict=True):
        about = read_result(run.name, ROOT)
        assert action["instrument"] == {"@id": run.source()}
        assert [part["@id"] for part in action["result"]] == [
            f"data/results/{run.name}.json",
            f"book/records/{run.name}.ipynb",
        ]
        assert f"make experiments RUNS={run.name}: " in action["description"]
        known = about["dirty"] is False
        named = f"urn:git:commit:{about['commit']}" if known else None
        assert action.get("version") == named
        used = [entities[part["@id"]] for part in action["object"]]
        assert {u["name"]: u["sha256"] for u in used if "sha256" in u} == about["data"]


@pytest.mark.parametrize(
    ("commit", "dirty", "named"),
    [("c" * 40, False, True), ("c" * 40, True, False), (None, None, False)],
)
def test_an_action_names_a_commit_only_of_code_that_is_known(
    built, commit, dirty, named
):
    path = built.root / "data/results/r.json"
    about = json.loads(path.read_text()) | {"commit": commit, "dirty": dirty}
    path.write_text(json.dumps(about))
    graph = json.loads(export.export_files(built.root)[METADATA])["@graph"]
    (action,) = (e for e in graph if e["@type"] == "CreateAction")
    assert ("version" in action) == named


def test_the_crate_describes_every_file_and_no_other(files):
    entities = json.loads(files[METADATA])["@graph"]
    told = {e["@id"]: e for e in entities if e["@type"] == "File"}
    assert set(told) == set(files) - {METADATA}
    for name, entity in told.items():
        assert hashlib.sha256(files[name]).hexdigest() == entity["sha256"]
        assert int(entity["contentSize"]) == len(files[name])


def test_codecheck_lists_every_figure_of_the_book(files):
    text = files["codecheck.yml"].decode()
    assert text.startswith("---\n")
    told = yaml.safe_load(text)
    assert told["paper"]["title"] and all(a["name"] for a in told["paper"]["authors"])
    listed = {item["file"] for item in told["manifest"]}
    assert listed <= set(files)
    plotted = {
        str(path.with_name(f"{figure['name']}.csv").relative_to(ROOT))
        for path in (ROOT / "book").rglob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if (figure := output.get("data", {}).get(FIGURE))
    }
    names = ("findings.csv", "verdicts.csv")
    assert listed - plotted == {f"data/tables/{name}" for name in names}
    assert plotted <= listed


def table(files, name):
    """Lines of a table of the export, read without pandas."""
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def test_the_findings_are_those_of_the_ledger(files):
    rows = table(files, "data/tables/findings.csv")
    assert [(r["claim"], r["setting"], float(r["ours"])) for r in rows] == [
        (claim.id, finding.label, finding.value)
        for claim in read_claims(ROOT)
        for finding in claim.findings
    ]
    for row in rows:
        results = {f"data/results/{run}.json" for run in row["runs"].split()}
        assert results and results <= set(files)


def test_every_claim_has_a_verdict_and_a_rule_where_it_was_measured(files):
    rows = table(files, "data/tables/verdicts.csv")
    claims = read_claims(ROOT)
    assert [(r["claim"], r["verdict"], r["rule"]) for r in rows] == [
        (claim.id, claim.verdict, claim.rule) for claim in claims
    ]
    measured = {row["claim"] for row in table(files, "data/tables/findings.csv")}
    without = {c.id for c in claims if not c.findings}
    assert {row["claim"] for row in rows} - measured == without
    assert {row["claim"] for row in rows if not row["bound"]} == without
