"""The claims ledger: what the sources say, what we find, and the computed verdict.

``data/claims.toml`` holds, for each claim, where it is made, what it says, where the
published number and our evidence are, and how near they must be and why, in the form
that ``claims.schema.json`` states. The verdict is never written down: it follows from
these. An entry with ``rows`` stands for one claim in each row of a published table; one
with ``method`` is judged under every setting of that method
(:mod:`compendium.ledger.settings`) by the rule of :mod:`compendium.ledger.rule`.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pandas as pd
from jsonschema import Draft202012Validator

from compendium.ledger import tables
from compendium.ledger.findings import MEASURES
from compendium.ledger.names import NAMES
from compendium.ledger.rule import COVERAGE
from compendium.ledger.tables import Evidence, at, run_of
from compendium.project import root

AGREES = "agrees"
SOME_SETTINGS = "agrees only under some settings"
INCONCLUSIVE = "inconclusive"
DISAGREES = "disagrees"
NOT_RUN = "not checked yet"
BEYOND = "cannot be checked"

# Verdicts without a number of ours, by the field that gives the reason.
UNMEASURED = {"refuted": DISAGREES, "not_run": NOT_RUN, "beyond": BEYOND}

# What each verdict means, for the pages that use it.
MEANINGS = {
    AGREES: "our result agrees under every setting that we tried",
    SOME_SETTINGS: "it agrees under the setting that we chose, for a column of a table "
    "by its fit to that column, but not under every setting that we tried",
    INCONCLUSIVE: "our result has a range, part of which agrees",
    DISAGREES: "our result does not agree under the setting that we chose, or we prove "
    "that the claim is false",
    NOT_RUN: "it could be checked here, but we have not run what it takes",
    BEYOND: "it cannot be checked here, for a reason that is given",
}
VERDICTS = tuple(MEANINGS)


class LedgerError(ValueError):
    """A claim is incomplete, or its evidence is missing."""


@dataclass(frozen=True)
class Finding:
    """What we find for a claim under one setting.

    Parameters
    ----------
    label : str
        The setting, for example "log values".
    value : float
        Our number: a mean, a count, a median, or the largest error of an identity.
    records : tuple of str
        Experiments that it comes from: one at least.
    verdict : {"agrees", "inconclusive", "disagrees"}
        Of this setting alone.
    spread : float, default=None
        Standard deviation of one run around that mean.
    low, high : float, default=None
        Range of a number that varies; of a cell of a table, the interval of one more
        run.
    """

    label: str
    value: float
    records: tuple[str, ...]
    verdict: str
    spread: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of a source with its verdict.

    Parameters
    ----------
    id, group, source, locator, statement : str
        ``group`` is a heading of the claims page, ``source`` a key of the bibliography,
        ``locator`` a place in it.
    table, row, column, method : str
        Of the published table, if the claim is one of its cells; ``method`` only if it
        is judged under all settings of one.
    published : float or None
        The printed number; None for a statement.
    table_says : tuple of (str, int)
        What the printed table itself says of a statement: words, and in how many of its
        rows they hold. No finding of ours.
    unit : str
    rule : {"prediction", "absolute", "at_least", "at_most"}
        How ours is judged.
    bound : float
        By how much, or from where on.
    why : str
        The reason for that tolerance.
    findings : tuple of Finding
        The first is the setting chosen, the others are shown beside it.
    verdict : str
        One of :data:`VERDICTS`.
    reason : str
        Why it differs, or why there is no number of ours.
    ours : bool
        Whether the statement is our own, and no source's.
    kind : {"empirical", "proved", "arithmetic", "restored"}
        What decides it: runs; a proof; a count or a definition; or runs, where the
        statement had to be restored by us.
    statements : tuple of str
        Labels of the statements of the book that prove or refute it.
    """

    id: str
    group: str
    source: str
    locator: str
    statement: str
    table: str
    row: str
    column: str
    method: str
    published: float | None
    table_says: tuple[tuple[str, int], ...]
    unit: str
    rule: str
    bound: float
    why: str
    findings: tuple[Finding, ...]
    verdict: str
    reason: str
    ours: bool = False
    kind: str = "empirical"
    statements: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[str, ...]:
        """Runs that its findings come from, each once."""
        named = [run for finding in self.findings for run in finding.records]
        return tuple(dict.fromkeys(named))


def read_claims(
    project: Path | None = None, *, may_lack_reasons: bool = False
) -> list[Claim]:
    """All claims of the ledger with their computed verdicts.

    Parameters
    ----------
    project : Path, default=None
        Checkout; None finds it.
    may_lack_reasons : bool, default=False
        Whether a claim may disagree without a reason. Results that were just made
        again can turn a verdict, and nobody has written why.

    Raises
    ------
    LedgerError
        If an entry is not as the schema has it, or its evidence is not there.
    """
    project = project or root()
    entries = tomllib.loads(
        (project / "data" / "claims.toml").read_text(encoding="utf-8")
    )
    _check_form(entries)
    evidence = Evidence(project)
    columns = cache(partial(_column, evidence))
    claims = [
        _claim(evidence, columns, *single)
        for name, entry in entries.items()
        for single in _singles(name, entry)
    ]
    if not may_lack_reasons:
        _require_reasons(claims)
    return claims


def _require_reasons(claims: list[Claim]) -> None:
    """Refuse a claim that disagrees if nothing says why."""
    for claim in claims:
        if claim.verdict == DISAGREES and not claim.reason:
            raise LedgerError(
                f"claim {claim.id!r} disagrees and gives no reason; write why, or "
                "'unknown'"
            )


def of_the_sources(claims: list[Claim]) -> list[Claim]:
    """Claims that a source makes: not our own, nor those that we had to restore."""
    return [one for one in claims if not one.ours and one.kind != "restored"]


def counts(claims: list[Claim]) -> dict[str, int]:
    """Number of claims by verdict."""
    return {v: sum(c.verdict == v for c in claims) for v in VERDICTS}


# What decides a claim, with the kinds that runs decide first.
KINDS = {
    "empirical": "our runs decide",
    "proved": "a proof decides; random cases test it",
    "arithmetic": "a count, a definition or a constant",
    "restored": "the printed formula is lost; we restored the statement, so that it "
    "counts as no claim of the source",
}


def _check_form(entries: dict) -> None:
    """Refuse entries that are not as the schema has them; name every place."""
    schema = json.loads(
        Path(__file__).with_name("claims.schema.json").read_text(encoding="utf-8")
    )
    problems = []
    errors = Draft202012Validator(schema).iter_errors(entries)
    for error in sorted(errors, key=lambda error: [*map(str, error.absolute_path)]):
        path = ".".join(map(str, error.absolute_path)) or "a name"
        wanted = error.schema.get("description")
        problems.append(f"{path}: {f'needs {wanted}' if wanted else error.message}")
    if problems:
        raise LedgerError("data/claims.toml\n" + "\n".join(problems))


def _singles(name: str, entry: dict) -> list[tuple[str, dict]]:
    """One entry for each row of the table, with its name for {row} filled in."""
    rows = entry.pop("rows", None)
    if not rows:
        return [(name, entry)]
    singles = []
    for row in rows:
        texts = {key: text for key, text in entry.items() if isinstance(text, str)}
        name_of = NAMES.get(row, row)
        said = {key: text.replace("{row}", name_of) for key, text in texts.items()}
        single = entry | said | {"published": entry["published"] | {"row": row}}
        singles.append((f"{name}-{row.replace('_', '-')}", single))
    return singles


def _claim(evidence: Evidence, columns: Callable, name: str, entry: dict) -> Claim:
    method = entry.get("method", "")
    where = entry.get("published", {})
    without = next((key for key in UNMEASURED if key in entry), "")
    published = None
    table_says = []
    try:
        if where:
            published = evidence.printed(where["table"], where["row"])[where["column"]]
        for part in entry.get("table_says", ()):
            asked = {key: part[key] for key in ("table", "one", "others")}
            table_says.append((part["label"], tables.printed_wins(evidence, **asked)))
    except (KeyError, ValueError, FileNotFoundError) as error:
        raise LedgerError(
            f"claim {name!r}: the printed number is missing: {error}"
        ) from None
    rule = ""
    bound = 0.0
    findings = ()
    if method:
        rule = "prediction"
        bound = 100.0 * COVERAGE
        findings = _under_all(*columns(where["table"], method), name, where)
    elif not without:
        ((rule, bound),) = entry["tolerance"].items()
        findings = tuple(
            _finding(evidence, name, item, published, rule, bound)
            for item in entry["evidence"]
        )
    verdict = UNMEASURED.get(without) or overall([f.verdict for f in findings])
    reason = entry.get(without or "reason", "")
    if verdict == DISAGREES and not reason:
        reason = _tried(findings)
    copied = ("group", "source", "locator", "statement", "unit", "why", "ours", "kind")
    described = {"unit": ""} | {key: entry[key] for key in copied if key in entry}
    cell = {key: where.get(key, "") for key in ("table", "row", "column")}
    ours = {"findings": findings, "verdict": verdict, "reason": reason}
    ours["statements"] = tuple(entry.get("statements", ()))
    judged = {"rule": rule, "bound": float(bound), "table_says": tuple(table_says)}
    printed = {"method": method, "published": published}
    return Claim(name, **described, **cell, **printed, **judged, **ours)


def overall(verdicts: list[str]) -> str:
    """The verdict on a claim from those of its settings, the chosen one first.

    Examples
    --------
    >>> overall(["agrees", "disagrees"])
    'agrees only under some settings'
    """
    first, *others = verdicts
    if first == AGREES and any(other != AGREES for other in others):
        return SOME_SETTINGS
    return first


def _column(evidence: Evidence, table: str, method: str):
    """Figures under all settings, and these: the chosen one, and then by their fit."""
    frame = tables.agreement(evidence, table, method)
    first = tables.chosen(frame)
    return frame, [first, *tables.by_setting(frame).index.drop(first)]


def _under_all(
    frame: pd.DataFrame, order: list[str], name: str, where: dict
) -> tuple[Finding, ...]:
    """A cell under every setting."""
    mine = (frame["row"] == where["row"]) & (frame["column"] == where["column"])
    part = frame[mine].set_index("setting")
    if order[0] not in part.index:
        raise LedgerError(f"claim {name!r}: evidence is missing under {order[0]!r}")
    run = run_of(where["table"], where["row"])
    return tuple(
        Finding(
            setting,
            float(cell.ours),
            (run,),
            AGREES if cell.agrees else DISAGREES,
            spread=float(cell.sd),
            low=float(cell.low),
            high=float(cell.high),
        )
        for setting, cell in part.reindex(order).dropna(subset=["ours"]).iterrows()
    )


def _finding(evidence, name, item, published, rule, bound) -> Finding:
    label = item.get("label", "")
    evidence = evidence.anew()
    try:
        if "measure" in item:
            arguments = {k: v for k, v in item.items() if k not in ("measure", "label")}
            value = MEASURES[item["measure"]](evidence, **arguments)
        else:
            value = at(evidence.values(item["run"]), item["key"])
            if value is None:
                raise KeyError(f"{item['run']} has no {item['key']}")
        ends = {}
        if isinstance(value, Mapping):
            ends = {"low": value["low"], "high": value["high"]}
            value = value["median"]
        low, high = (float(end) for end in ends.values() or (value, value))
        verdict = judge(rule, bound, low, high, published or 0.0)
        if not evidence.asked:
            raise KeyError("no run is read; what a printed table says is table_says")
    except (KeyError, TypeError, FileNotFoundError) as error:
        raise LedgerError(f"claim {name!r}: evidence is missing: {error}") from None
    return Finding(label, float(value), tuple(evidence.asked), verdict, **ends)


def judge(rule: str, bound: float, low: float, high: float, printed: float) -> str:
    """The verdict on a number that lies between two others.

    Parameters
    ----------
    rule : {"absolute", "at_least", "at_most"}
    bound : float
    low, high : float
        The same for a number that does not vary.
    printed : float
        What "absolute" is measured from.

    Returns
    -------
    str
        "agrees" if all of the range does, "disagrees" if nothing of it does, and
        "inconclusive" if part of it does.

    Examples
    --------
    >>> judge("absolute", 0.4, 0.7, 1.3, 1.0), judge("at_least", 10, 2, 10, 0)
    ('agrees', 'inconclusive')
    """
    start, end = {
        "absolute": (printed - bound, printed + bound),
        "at_least": (bound, float("inf")),
        "at_most": (-float("inf"), bound),
    }[rule]
    if start <= low and high <= end:
        return AGREES
    return INCONCLUSIVE if low <= end and high >= start else DISAGREES


def _tried(findings: tuple[Finding, ...]) -> str:
    """The reason that the other settings give; empty without other settings."""
    others = [part.label for part in findings[1:] if part.verdict == AGREES]
    if others:
        more = f" and {len(others) - 2} others" if len(others) > 3 else ""
        named = " / ".join(others[: 2 if more else 3])
        return f"it depends on the setting; it agrees with {named}{more}"
    if len(findings) > 1:
        return f"unknown; none of the {len(findings)} settings tried agrees"
    return ""
