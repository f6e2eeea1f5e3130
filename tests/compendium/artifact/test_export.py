"""The export stands by itself, and is the same twice."""

import csv
import hashlib
import io
import json
import re
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


def test_the_export_has_the_data_of_every_figure(files):
    plotted = {
        str(path.with_name(f"{figure['name']}.csv").relative_to(ROOT))
        for path in (ROOT / "book").rglob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if (figure := output.get("data", {}).get(FIGURE))
    }
    assert plotted <= set(files)


# Rules of CODECHECK's specification 2.0 that a configuration can break without a
# certificate, in its own numbers (rules-2.0.yml of its register).
def broken_rules(text, folder):
    """Numbers of the rules that a ``codecheck.yml`` in a folder breaks."""
    told = yaml.safe_load(text)
    paper, manifest = told["paper"], told["manifest"]
    files = [item["file"] for item in manifest]
    orcids = [author.get("ORCID", "") for author in paper["authors"]]
    reference = paper.get("reference", "")
    kept = {
        "CFG-002": text.startswith("---\n"),
        "CFG-004": isinstance(manifest, list) and manifest,
        "CFG-006": not any(Path(file).is_absolute() for file in files),
        "CFG-007": all(item["comment"] for item in manifest),
        "CFG-015": told["version"] == "https://codecheck.org.uk/spec/config/2.0/",
        "CFG-017": paper["title"],
        "CFG-018": isinstance(paper["authors"], list) and paper["authors"],
        "CFG-019": all(author["name"] for author in paper["authors"]),
        "CFG-020": all(re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", one) for one in orcids),
        "CFG-021": reference,
        "CFG-023": not re.search("FIXME|TODO|XXXX", text),
        "CFG-027": not reference or reference.startswith("https://"),
        "BUN-001": all((folder / file).is_file() for file in files),
        "BUN-005": (folder / "LICENSE").is_file(),
    }
    # for whoever checks
    for number, key in {8: "codechecker", 11: "report", 24: "summary"}.items():
        kept[f"CFG-{number:03}"] = key in told
    kept["CFG-025"] = "certificate" in told
    return {number for number, holds in kept.items() if not holds}


OTHERS = {"CFG-008", "CFG-011", "CFG-024", "CFG-025"}


def test_codecheck_at_the_root_is_generated_and_lacks_what_a_person_adds(files):
    text = (ROOT / "codecheck.yml").read_text("utf-8")
    assert text == export.codecheck(ROOT) == files["codecheck.yml"].decode()
    assert broken_rules(text, ROOT) == {"CFG-020", "CFG-021"} | OTHERS
    listed = {item["file"] for item in yaml.safe_load(text)["manifest"]}
    assert listed <= set(files)


def test_codecheck_with_a_person_and_a_doi_is_complete(built):
    named = "authors:\n- name: A\n  orcid: https://orcid.org/0000-0002-1825-0097\n"
    about = f"title: T\ndoi: 10.5281/zenodo.1\n{named}"
    built.write("CITATION.cff", about)
    for name in export.TABLES:
        built.write(name, "")
    assert broken_rules(export.codecheck(built.root), built.root) == OTHERS


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
