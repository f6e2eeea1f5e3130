"""Every number of the ledger with the file and the key that it comes from.

Facts stand apart from verdicts: a fact is a number and where it was read, which anybody
can check with a JSON reader; a verdict follows from facts by a rule of ours.
"""

import csv
import hashlib
import io
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import yaml

from compendium.build.verdicts import table_text
from compendium.ledger.claims import Claim, Finding, read_claims
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import run_of
from compendium.project import canonical_json

COMPUTED = "computed.json"  # numbers that a measure makes of several results


@dataclass(frozen=True)
class Fact:
    """A number that is read from a file.

    Parameters
    ----------
    claim, setting : str
        What it is evidence for, and the label of the evidence.
    value : str
        The number, as JSON writes it.
    file : str
        Where it stands, relative to the export.
    key : str
        JSON pointer (RFC 6901) into that file.
    sha256 : str
        Of the file.
    results : str
        Results that it was computed from, by their files; the file itself if it was
        only read.
    """

    claim: str
    setting: str
    value: str
    file: str
    key: str
    sha256: str
    results: str


@dataclass(frozen=True)
class Judgement:
    """A verdict, and what it follows from besides the facts.

    Parameters
    ----------
    claim, statement, source, locator : str
    published : str
        The printed number; empty for a statement.
    table_says : str
        What the printed table itself says of a statement.
    unit : str
    kind : str
        Of :data:`compendium.ledger.claims.KINDS`: runs or a proof, for example.
    rule, bound : str
        How far our number may lie from there; empty where nothing was compared.
    verdict : str
        Of :data:`compendium.ledger.claims.VERDICTS`. A run without a result has no row:
        it stops the export.
    reason : str
    """

    claim: str
    statement: str
    source: str
    locator: str
    published: str
    table_says: str
    unit: str
    kind: str
    rule: str
    bound: str
    verdict: str
    reason: str


def keys_of(values, place: str) -> list[str] | None:
    """Keys that lead to a place like ``paper.full.svm``; None if nothing is there.

    A key may itself contain points.

    Examples
    --------
    >>> keys_of({"a": {"b.1": 2}}, "a.b.1")
    ['a', 'b.1']
    """
    if not isinstance(values, Mapping):
        return None
    if place in values:
        return [place]
    words = place.split(".")
    for cut in range(1, len(words)):
        head = ".".join(words[:cut])
        rest = keys_of(values.get(head), ".".join(words[cut:]))
        if rest is not None:
            return [head, *rest]
    return None


def pointer(keys: Iterable[str]) -> str:
    """The keys as a JSON pointer.

    Examples
    --------
    >>> pointer(["values", "a/b", "c.1"])
    '/values/a~1b/c.1'
    """
    return "".join(f"/{k.replace('~', '~0').replace('/', '~1')}" for k in keys)


def computed(claims: Iterable[Claim], entries: Mapping[str, dict]) -> str:
    """What measures make of results, as JSON: claim to setting to number."""
    found: dict[str, dict[str, float]] = {}
    for claim in claims:
        for item, finding in _evidence(claim, entries):
            if "measure" in item:
                found.setdefault(claim.id, {})[finding.label] = finding.value
    return canonical_json(found)


def read_facts(project: Path) -> tuple[list[Fact], list[Judgement], str]:
    """All facts and judgements of the ledger, and the text of :data:`COMPUTED`."""
    entries = tomllib.loads((project / "data" / "claims.toml").read_text())
    claims = read_claims(project)
    text = computed(claims, entries)
    facts = [
        _fact(project, claim, item, finding, text)
        for claim in claims
        for item, finding in _evidence(claim, entries)
    ]
    return facts, [_judgement(claim) for claim in claims], text


def _evidence(claim: Claim, entries: Mapping) -> list[tuple[dict, Finding]]:
    """Each finding of a claim with where the ledger says that it is."""
    if not claim.method:
        listed = entries.get(claim.id, {}).get("evidence", [])
        return list(zip(listed, claim.findings, strict=True))
    settings = {s.label: s for s in SETTINGS[claim.table][claim.method]}
    run = run_of(claim.table, claim.row)
    return [
        (
            {"run": run, "key": settings[f.label].places[claim.column], "mean": True},
            f,
        )
        for f in claim.findings
    ]


def _fact(project: Path, claim: Claim, item: dict, finding: Finding, text: str) -> Fact:
    if "measure" in item:
        file, content = COMPUTED, text.encode()
        keys, results = [claim.id, finding.label], map(_result, finding.records)
    else:
        file = _result(item["run"])
        content, results = (project / file).read_bytes(), [file]
        keys = ["values", *keys_of(json.loads(content)["values"], item["key"])]
        keys += ["accuracy", "mean"] if "mean" in item else []
    found = follow(json.loads(content), keys)
    if isinstance(found, Mapping):
        keys, found = [*keys, "median"], found["median"]
    return Fact(
        claim.id,
        finding.label,
        json.dumps(found),
        file,
        pointer(keys),
        hashlib.sha256(content).hexdigest(),
        " ".join(results),
    )


def follow(value, keys: Iterable[str]):
    """What the keys lead to."""
    for key in keys:
        value = value[key]
    return value


def _result(run: str) -> str:
    return f"data/results/{run}.json"


def _judgement(claim: Claim) -> Judgement:
    return Judgement(
        claim.id,
        claim.statement,
        claim.source,
        claim.locator,
        "" if claim.published is None else json.dumps(claim.published),
        table_text(claim),
        claim.unit,
        claim.kind,
        claim.rule,
        json.dumps(claim.bound) if claim.rule else "",
        claim.verdict,
        claim.reason,
    )


def as_csv(kind: type, rows: list) -> str:
    """Rows of a kind, facts or judgements, as a table headed by their fields."""
    stream = io.StringIO()
    names = [field.name for field in fields(kind)]
    table = csv.DictWriter(stream, names, lineterminator="\n")
    table.writeheader()
    table.writerows(map(asdict, rows))
    return stream.getvalue()


def as_repro(facts: list[Fact], judgements: list[Judgement]) -> str:
    """The facts as ``repro.yaml``, which ``claims verify`` of claims-cli reads.

    Claims without a number of ours have no facts, and are left out.
    """
    said = {judgement.claim: judgement.statement for judgement in judgements}
    files = {fact.file: fact.sha256 for fact in facts}
    claims: dict[str, list[dict]] = {}
    for fact in facts:
        claims.setdefault(fact.claim, []).append(
            {
                "kind": "metric",
                "artifact": fact.file,
                "name": fact.setting or fact.claim,
                "pointer": fact.key,
                "reported": fact.value,
            }
        )
    whole = {
        "artifacts": [
            {"id": f, "path": f, "digest": {"algorithm": "sha256", "value": sha}}
            for f, sha in files.items()
        ],
        "claims": [
            {"id": claim, "text": said[claim], "evidence": evidence}
            for claim, evidence in claims.items()
        ],
    }
    return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=88)
