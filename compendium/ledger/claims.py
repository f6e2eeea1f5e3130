"""The claims ledger: what the sources say, what we find, and the computed verdict.

``data/claims.toml`` holds, for each claim, where it is made, what it says, where the
published number and our evidence are, and how near they must be and why. The verdict is
never written down: it follows from these. An entry with ``rows`` stands for one claim
in each row of a published table.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from compendium.ledger.findings import MEASURES
from compendium.ledger.tables import Evidence, at, near, run_of
from compendium.project import root

VERDICTS = ("reproduced", "differs", "beyond reach")


class LedgerError(ValueError):
    """A claim is incomplete, or its evidence is missing."""


@dataclass(frozen=True)
class Finding:
    """What we find for a claim under one reading of it.

    Parameters
    ----------
    label : str
        The reading, for example "log intensities".
    value : float
        Our number: a mean, a count, or the largest error of an identity.
    spread : float or None
        Standard deviation of one run around that mean.
    run : str
        Experiment that it comes from; empty for a measure over several of them.
    agrees : bool
    """

    label: str
    value: float
    spread: float | None
    run: str
    agrees: bool


@dataclass(frozen=True)
class Claim:
    """A claim of a source with its verdict.

    Parameters
    ----------
    id, group, source, locator, statement : str
        ``group`` is a heading of the claims page, ``source`` a key of the bibliography,
        ``locator`` a place in it.
    row, column : str
        Of the published table, if the claim is one of its cells.
    published : float or None
        The printed number; None for a statement.
    unit : str
    kind : {"spreads", "absolute", "at_least", "at_most"}
        How ours is judged.
    bound : float
        By how much, or from where on.
    why : str
        The reason for that tolerance.
    findings : tuple of Finding
        The first decides the verdict, the others are shown beside it.
    verdict : {"reproduced", "differs", "beyond reach"}
    reason : str
        Why it differs, or why it is beyond reach.
    """

    id: str
    group: str
    source: str
    locator: str
    statement: str
    row: str
    column: str
    published: float | None
    unit: str
    kind: str
    bound: float
    why: str
    findings: tuple[Finding, ...]
    verdict: str
    reason: str


def read_claims(project: Path | None = None) -> list[Claim]:
    """All claims of the ledger with their computed verdicts.

    Raises
    ------
    LedgerError
        If an entry lacks a field, names an unknown one, or its evidence is not there.
    """
    project = project or root()
    entries = tomllib.loads((project / "data" / "claims.toml").read_text())
    evidence = Evidence(project)
    return [
        _claim(evidence, *single)
        for name, entry in entries.items()
        for single in _singles(name, entry)
    ]


def counts(claims: list[Claim]) -> dict[str, int]:
    """Number of claims by verdict."""
    return {v: sum(c.verdict == v for c in claims) for v in VERDICTS}


_REQUIRED = {"group", "source", "locator", "statement", "tolerance", "why"}
_OPTIONAL = {"published", "evidence", "unit", "reason", "beyond", "rows"}
_KINDS = ("spreads", "absolute", "at_least", "at_most")


def _singles(name: str, entry: dict) -> list[tuple[str, dict]]:
    """One entry for each row of the table, with {row} and {run} filled in."""
    if "rows" not in entry:
        return [(name, entry)]
    table = entry.get("published", {}).get("table")
    if table is None:
        raise LedgerError(f"claim {name!r} has rows but no published table")
    singles = []
    for row in entry["rows"]:
        words = {"{row}": row, "{run}": run_of(table, row)}
        single = _filled({k: v for k, v in entry.items() if k != "rows"}, words)
        single["published"] = entry["published"] | {"row": row}
        singles.append((f"{name}-{row.replace('_', '-')}", single))
    return singles


def _filled(item, words: dict[str, str]):
    if isinstance(item, str):
        for mark, word in words.items():
            item = item.replace(mark, word)
        return item
    if isinstance(item, dict):
        return {key: _filled(value, words) for key, value in item.items()}
    return [_filled(value, words) for value in item] if isinstance(item, list) else item


def _claim(evidence: Evidence, name: str, entry: dict) -> Claim:
    missing, unknown = _REQUIRED - set(entry), set(entry) - _REQUIRED - _OPTIONAL
    if missing or unknown:
        raise LedgerError(
            f"claim {name!r}: "
            + ("lacks " if missing else "does not know ")
            + ", ".join(sorted(missing or unknown))
        )
    beyond = entry.get("beyond", "")
    if bool(beyond) == bool(entry.get("evidence")):
        raise LedgerError(f"claim {name!r} needs either evidence or 'beyond', not both")
    published, where = None, entry.get("published", {})
    if where:
        try:
            printed = evidence.printed(where["table"], where["row"])
            published = printed[where["column"]]
        except (KeyError, ValueError, FileNotFoundError) as error:
            raise LedgerError(
                f"claim {name!r}: the printed number is missing: {error}"
            ) from None
    kind, bound = _tolerance(name, entry["tolerance"], published)
    findings = tuple(
        _finding(evidence, name, item, published, kind, bound)
        for item in entry.get("evidence", [])
    )
    verdict = "beyond reach"
    if findings:
        verdict = "reproduced" if findings[0].agrees else "differs"
    reason = beyond or entry.get("reason", "")
    if verdict == "differs" and not reason:
        reason = _tried(name, findings)
    return Claim(
        id=name,
        group=entry["group"],
        source=entry["source"],
        locator=entry["locator"],
        statement=entry["statement"],
        row=where.get("row", ""),
        column=where.get("column", ""),
        published=published,
        unit=entry.get("unit", ""),
        kind=kind,
        bound=bound,
        why=entry["why"],
        findings=findings,
        verdict=verdict,
        reason=reason,
    )


def _tolerance(name: str, tolerance: dict, published: float | None):
    ((kind, bound),) = tolerance.items() if len(tolerance) == 1 else [("", 0)]
    wanted = _KINDS[:2] if published is not None else _KINDS[1:]
    if kind not in wanted:
        raise LedgerError(
            f"claim {name!r}: its tolerance must be one of {', '.join(wanted)}, "
            f"got {', '.join(tolerance)}"
        )
    return kind, float(bound)


def _finding(evidence, name, item, published, kind, bound) -> Finding:
    label = item.get("label", "")
    try:
        if "measure" in item:
            arguments = {k: v for k, v in item.items() if k not in ("measure", "label")}
            value = MEASURES[item["measure"]](evidence, **arguments)
        else:
            value = at(evidence.values(item["run"]), item["key"])
            if value is None:
                raise KeyError(f"{item['run']} has no {item['key']}")
        spread = one = 0.0
        if kind == "spreads":
            value, spread, one = value["mean"], value["sd"], value.get("row", 0.0)
        value = float(value)
    except (KeyError, TypeError, FileNotFoundError) as error:
        raise LedgerError(f"claim {name!r}: evidence is missing: {error}") from None
    difference = value - (published or 0.0)
    agrees = {
        "spreads": lambda: near(difference, bound * spread, one),
        "absolute": lambda: abs(difference) <= bound,
        "at_least": lambda: value >= bound,
        "at_most": lambda: value <= bound,
    }[kind]()
    run = item.get("run", "")
    return Finding(label, value, spread if kind == "spreads" else None, run, agrees)


def _tried(name: str, findings: tuple[Finding, ...]) -> str:
    """The reason that the other readings give, or that it is unknown."""
    others = [finding.label for finding in findings[1:] if finding.agrees]
    if others:
        more = f" and {len(others) - 2} others" if len(others) > 3 else ""
        named = " / ".join(others[: 2 if more else 3])
        return f"it depends on the reading; it is reproduced with {named}{more}"
    if len(findings) > 1:
        return f"unknown; none of the {len(findings)} readings tried agrees"
    raise LedgerError(
        f"claim {name!r} differs and gives no reason; write why, or 'unknown'"
    )
