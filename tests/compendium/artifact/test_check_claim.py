"""One claim is checked: by new results, against planted faults, without a trace."""

import json

import pytest

from compendium.__main__ import main
from compendium.artifact import check_claim
from compendium.artifact.check_claim import cheapest, is_at_hand, proof_tests
from compendium.book.statements import read_statements
from compendium.ledger.claims import read_claims
from compendium.ledger.tables import Evidence
from compendium.project import root
from tests.compendium.conftest import HEADER, cell

RUNS = """
[large]
title = "A large number"
notebook = "e.md"

[small]
title = "A small number"
notebook = "e.md"
data = "colon"
"""
# the second run reads a data set and is never made
CLAIMS = """
[is-large]
group = "Identities"
source = "dukkipati2013"
kind = "proved"
locator = "p. 1"
statement = "It is large"
statements = ["thm-large"]
evidence = [{ run = "large", key = "size", label = "as it is" }]
tolerance = { at_least = 2 }
why = "large is two"

[is-small]
group = "Identities"
source = "pandey2013"
locator = "p. 2"
statement = "It is small"
evidence = [{ run = "small", key = "size", label = "as it is" }]
tolerance = { at_most = 2 }
why = "small is two"

[is-lost]
group = "Identities"
source = "pandey2013"
locator = "p. 3"
statement = "It is lost"
beyond = "nobody has it"
why = "nothing is measured"
"""
WRITE = """
import json
from pathlib import Path
Path("result.json").write_text(json.dumps({"size": 2.5, "other": [1.0, 2.0]}))
"""
CHAPTER = """
:::{prf:theorem} Large
:label: thm-large

It is.
:::

:::{prf:proof}
See.
:::
"""
TESTS = """
def test_thm_large_witness():
    assert SIZE > 2


def test_thm_large_second():
    assert not SIZE <= 2
"""


@pytest.fixture
def bench(project, signals, monkeypatch):
    monkeypatch.delenv("MEMDLIB_DATA", raising=False)
    monkeypatch.setenv("MEMDLIB_CACHE", str(project.root / "no-cache"))
    project.write("CITATION.cff", "version: 1.0\n")
    project.write("data/claims.toml", CLAIMS)
    project.write("book/experiments/runs.toml", RUNS)
    text = HEADER + "What it does.\n\n" + cell('run = ""', "parameters") + cell(WRITE)
    project.write("book/experiments/e.md", text)
    project.write("book/chapters/sizes.md", CHAPTER)
    project.write("tests/book/test_sizes.py", "SIZE = 2.5\n" + TESTS)
    store(project, "large", 2.5)
    store(project, "small", 1.5)
    return project


def store(bench, run, size, other=2.0):
    """Store a result as if its run had left it."""
    about = {"values": {"size": size, "other": [1.0, other]}, "seconds": 130}
    bench.write(f"data/results/{run}.json", json.dumps(about))


def checked(bench, capsys, *claim):
    """Exit status, what is printed, and the certificate of the first claim."""
    before = bench.files()
    status = main(["check-claim", *claim])
    after = bench.files()
    assert {name: after.get(name) for name in before} == before
    new = {name for name in set(after) - set(before) if "__pycache__" not in name}
    assert all(name.startswith("_build/certificates/") for name in new)
    written = after.get("_build/certificates/is-large.json", b"null")
    return status, capsys.readouterr().out, json.loads(written)


def test_a_claim_that_is_as_stored(bench, capsys):
    status, said, about = checked(bench, capsys, "is-large")
    assert status == 0 and said.endswith("0 of 1 claims are not as stored.\n")
    assert "run large: 2 min when it was stored" in said
    assert "in all 2 min of processor time" in said
    text = (bench.root / "_build/certificates/is-large.txt").read_text()
    assert text in said and "result    as stored" in text
    assert about["stored"] == about["new"] and about["as_stored"]
    (finding,) = about["new"]["findings"]
    assert (finding["value"], finding["verdict"]) == (2.5, "agrees")
    wanted = {"claim": "is-large", "statement": "It is large", "published": None}
    wanted |= {"source": "Dukkipati et al. (2013), p. 1", "commit": ""}
    assert {key: about[key] for key in wanted} == wanted
    assert {"python", "numpy", "memdlib"} <= set(about["packages"])
    assert about["runs"]["large"]["moved"] == []
    names = [
        f"tests/book/test_sizes.py::test_thm_large_{n}" for n in ("witness", "second")
    ]
    assert about["tests"] == {"names": names, "failure": ""}


def test_a_planted_value_that_turns_the_verdict_is_found(bench, capsys):
    store(bench, "large", 1.5)
    status, said, about = checked(bench, capsys, "is-large")
    assert status == 1 and "1 of 1 claims are not as stored." in said
    assert "size: 1.5 -> 2.5" in said and "result    NOT AS STORED" in said
    assert about["stored"]["verdict"] == "disagrees"
    assert about["new"]["verdict"] == "agrees"
    moved = {"place": "size", "stored": 1.5, "new": 2.5}
    assert about["runs"]["large"]["moved"] == [moved]


def test_a_planted_value_beside_the_claim_is_found(bench, capsys):
    store(bench, "large", 2.5, other=2.00001)
    status, said, about = checked(bench, capsys, "is-large")
    assert status == 1 and "other.1: 2.00001 -> 2.0" in said
    assert about["stored"]["verdict"] == about["new"]["verdict"] == "agrees"
    assert not about["as_stored"]


def test_a_failing_test_of_the_proof_is_found(bench, capsys):
    bench.write("tests/book/test_sizes.py", "SIZE = 1.5\n" + TESTS)
    status, said, about = checked(bench, capsys, "is-large")
    assert status == 1 and "assert 1.5 > 2" in said
    assert "test_thm_large_witness" in about["tests"]["failure"]


def test_a_run_that_fails_is_no_confirmation(bench, capsys):
    broken = HEADER + cell('run = ""', "parameters") + cell("1 / 0")
    bench.write("book/experiments/e.md", broken)
    status, said, about = checked(bench, capsys, "is-large")
    assert status == 1 and "ZeroDivisionError" in said
    assert about["new"] is None and not about["as_stored"]


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("is-huge", "no claim 'is-huge'; each card of the page of claims names its"),
        ("is-lost", "is-lost: cannot be checked; nobody has it"),
    ],
)
def test_what_cannot_be_checked_is_said(bench, capsys, claim, line):
    status, said, about = checked(bench, capsys, claim)
    assert status == 2 and said.startswith(line) and about is None


def test_a_ledger_without_its_evidence_is_one_line(bench, capsys):
    (bench.root / "data/results/small.json").unlink()
    status, said, _ = checked(bench, capsys, "is-large")
    assert status == 1
    assert said.startswith("error: claim 'is-small': evidence is missing:")


def test_alone_it_takes_claims_whose_data_are_at_hand(bench, capsys):
    status, said, _ = checked(bench, capsys)
    assert status == 0 and "is-large: " in said and "is-small: " not in said
    folder = bench.root / "mirror"
    for file in check_claim.entries()["colon"].files:
        bench.write(f"mirror/{file.path}", "")
    with pytest.MonkeyPatch.context() as given:
        given.setenv("MEMDLIB_DATA", str(folder))
        chosen = cheapest(bench.root, read_claims(bench.root))
    assert [claim.id for claim in chosen] == ["is-large", "is-small"]
    assert is_at_hand("iris") and not is_at_hand("colon")


def test_without_data_one_claim_of_each_source_takes_less_than_five_minutes(
    monkeypatch, tmp_path
):
    monkeypatch.delenv("MEMDLIB_DATA", raising=False)
    monkeypatch.setenv("MEMDLIB_CACHE", str(tmp_path))
    claims = read_claims(root())
    chosen = cheapest(root(), claims)
    assert {claim.source for claim in chosen} == {claim.source for claim in claims}
    needed = {run for claim in chosen for run in claim.records}
    assert sum(map(Evidence().seconds, needed)) < 300


def test_every_proved_claim_names_statements_with_tests():
    labels = {statement.label for statement in read_statements(root())}
    for claim in read_claims(root()):
        assert set(claim.statements) <= labels
        assert len(proof_tests(root(), claim)) == 2 * len(claim.statements)
        # the measures outside the range are examples in the text, and a run
        proved = claim.kind == "proved" and claim.id != "kernels-outside"
        assert bool(claim.statements) == proved
