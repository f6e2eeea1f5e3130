"""Every number of the ledger is found again by a reader that shares no code with it."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest
import yaml

from compendium.artifact.facts import COMPUTED, as_csv, as_repro, read_facts
from compendium.book.verdicts import table_text
from compendium.ledger.claims import UNMEASURED, read_claims

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ledger():
    return read_facts(ROOT)


def read(text, key):
    """What a JSON pointer (RFC 6901) leads to."""
    value = json.loads(text)
    for part in key.split("/")[1:]:
        value = value[part.replace("~1", "/").replace("~0", "~")]
    return value


def test_every_fact_is_where_it_says(ledger):
    facts, _, computed = ledger
    assert facts
    for fact in facts:
        inside = computed.encode() if fact["file"] == COMPUTED else None
        text = inside or (ROOT / fact["file"]).read_bytes()
        assert hashlib.sha256(text).hexdigest() == fact["sha256"]
        assert read(text, fact["key"]) == json.loads(fact["value"])
        assert all((ROOT / name).is_file() for name in fact["results"].split())


def test_facts_are_the_findings_of_the_ledger(ledger):
    facts, judgements, _ = ledger
    claims = read_claims(ROOT)
    assert [(f["claim"], f["setting"], float(f["value"])) for f in facts] == [
        (claim.id, finding.label, finding.value)
        for claim in claims
        for finding in claim.findings
    ]
    assert [(j["claim"], j["table_says"], j["verdict"]) for j in judgements] == [
        (claim.id, table_text(claim), claim.verdict) for claim in claims
    ]
    unmeasured = {c.id for c in claims if c.verdict in UNMEASURED.values()}
    assert {j["claim"] for j in judgements if not j["rule"]} == unmeasured
    assert {j["claim"] for j in judgements} - {f["claim"] for f in facts} == unmeasured


def test_tables_and_manifest_hold_the_same(ledger):
    facts, judgements, _ = ledger
    rows = list(csv.DictReader(io.StringIO(as_csv(facts))))
    told = yaml.safe_load(as_repro(facts, judgements))
    keys = ("claim", "file", "key", "value")
    assert [
        (claim["id"], e["artifact"], e["pointer"], e["reported"])
        for claim in told["claims"]
        for e in claim["evidence"]
    ] == [tuple(row[key] for key in keys) for row in rows]
    pinned = {a["path"]: a["digest"]["value"] for a in told["artifacts"]}
    assert pinned == {r["file"]: r["sha256"] for r in rows}
