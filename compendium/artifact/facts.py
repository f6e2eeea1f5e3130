"""Every number of the ledger with the file and the key that it comes from.

Facts stand apart from verdicts: a fact is a number and where it was read, which anybody
can check with a JSON reader; a verdict follows from facts by a rule of ours.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import reduce
from hashlib import sha256
from operator import getitem
from pathlib import Path

import pandas as pd
import yaml

from compendium.book.verdicts import table_text
from compendium.ledger.claims import Claim, Finding, read_claims
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import keys_of, run_of
from compendium.project import canonical_json

# What a verdict is told with.
_SAID = (
    *("statement", "source", "locator", "published", "table_says", "unit"),
    *("kind", "rule", "bound", "verdict", "reason"),
)
COMPUTED = "computed.json"  # numbers that a measure makes of several results


def read_facts(project: Path) -> tuple[list[dict], list[dict], str]:
    """All numbers and all verdicts of the ledger, and the text of :data:`COMPUTED`.

    Returns
    -------
    facts : list of dict
        ``claim``, ``setting`` (label of the evidence), ``value`` (as JSON writes it),
        ``file`` (relative to the export), ``key`` (JSON pointer of RFC 6901 into it),
        its ``sha256``, and ``results`` from which the number was computed or read.
    judgements : list of dict
        Fields of :class:`compendium.ledger.claims.Claim`; ``rule`` and ``bound`` are
        empty where nothing was compared.
    computed : str
    """
    entries = tomllib.loads((project / "data" / "claims.toml").read_text())
    claims = read_claims(project)
    found = [(claim, *part) for claim in claims for part in _evidence(claim, entries)]
    computed: dict[str, dict[str, float]] = {}
    for claim, item, finding in found:
        if "measure" in item:
            computed.setdefault(claim.id, {})[finding.label] = finding.value
    text = canonical_json(computed)
    facts = [_fact(project, *part, text) for part in found]
    return facts, [_judgement(claim) for claim in claims], text


def _evidence(claim: Claim, entries: Mapping) -> list[tuple[dict, Finding]]:
    """Each finding of a claim with where the ledger says that it is."""
    if not claim.method:
        listed = entries.get(claim.id, {}).get("evidence", [])
        return list(zip(listed, claim.findings, strict=True))
    places = {s.label: s.places for s in SETTINGS[claim.table][claim.method]}
    run = run_of(claim.table, claim.row)
    return [
        ({"run": run, "key": f"{places[f.label][claim.column]}.accuracy.mean"}, f)
        for f in claim.findings
    ]


def _fact(project: Path, claim: Claim, item: dict, finding: Finding, text: str) -> dict:
    results = [f"data/results/{run}.json" for run in finding.records]
    if "measure" in item:
        file, content, keys = COMPUTED, text.encode(), [claim.id, finding.label]
    else:
        (file,) = results
        content = (project / file).read_bytes()
        keys = ["values", *keys_of(json.loads(content)["values"], item["key"])]
    found = reduce(getitem, keys, json.loads(content))
    if isinstance(found, Mapping):
        keys, found = [*keys, "median"], found["median"]
    fact = {"claim": claim.id, "setting": finding.label, "value": json.dumps(found)}
    place = {"file": file, "key": pointer(keys), "sha256": sha256(content).hexdigest()}
    return fact | place | {"results": " ".join(results)}


def pointer(keys: Iterable[str]) -> str:
    """The keys as a JSON pointer.

    Examples
    --------
    >>> pointer(["values", "a/b", "c.1"])
    '/values/a~1b/c.1'
    """
    return "".join(f"/{k.replace('~', '~0').replace('/', '~1')}" for k in keys)


def _judgement(claim: Claim) -> dict:
    printed = "" if claim.published is None else json.dumps(claim.published)
    bound = json.dumps(claim.bound) if claim.rule else ""
    said = {name: getattr(claim, name) for name in _SAID}
    computed = {"published": printed, "table_says": table_text(claim), "bound": bound}
    return {"claim": claim.id} | said | computed


def as_csv(rows: list[dict]) -> str:
    """Facts or judgements as a table."""
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def as_repro(facts: list[dict], judgements: list[dict]) -> str:
    """The facts as ``repro.yaml``, which ``claims verify`` of claims-cli reads.

    Claims without a number of ours have no facts, and are left out.
    """
    said = {judgement["claim"]: judgement["statement"] for judgement in judgements}
    claims: dict[str, list[dict]] = {}
    for fact in facts:
        name = fact["setting"] or fact["claim"]
        one = {"kind": "metric", "artifact": fact["file"], "name": name}
        one |= {"pointer": fact["key"], "reported": fact["value"]}
        claims.setdefault(fact["claim"], []).append(one)
    files = {fact["file"]: fact["sha256"] for fact in facts}
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
