"""The claims ledger: what the sources say, what we find, and the computed verdict.

``data/claims.toml`` holds, for each claim, where it is made, what it says, where the
published figure and our evidence are, and how near they must be and why. The verdict is
never written down: it follows from these.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from memdlib.compendium.project import root
from memdlib.compendium.published import printed_figures
from memdlib.compendium.results import read_result

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
        Our figure: a mean, or the largest error of an identity.
    spread : float or None
        Standard deviation of one run around that mean.
    run : str
        Experiment that it comes from.
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
    id, source, locator, statement : str
        ``source`` is a key of the bibliography, ``locator`` a place in it.
    published : float or None
        The printed figure; None for a statement.
    unit : str
    tolerance : str
        How near ours must be, in words, with the reason.
    findings : tuple of Finding
        The first decides the verdict, the others are shown beside it.
    verdict : {"reproduced", "differs", "beyond reach"}
    reason : str
        Why it differs, or why it is beyond reach.
    """

    id: str
    source: str
    locator: str
    statement: str
    published: float | None
    unit: str
    tolerance: str
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
    return [_claim(project, name, entry) for name, entry in entries.items()]


def counts(claims: list[Claim]) -> dict[str, int]:
    """Number of claims by verdict."""
    return {v: sum(c.verdict == v for c in claims) for v in VERDICTS}


_REQUIRED = {"source", "locator", "statement", "tolerance", "why"}
_OPTIONAL = {"published", "evidence", "unit", "reason", "beyond"}


def _claim(project: Path, name: str, entry: dict) -> Claim:
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
    published = None
    if "published" in entry:
        at = entry["published"]
        try:
            published = printed_figures(at["table"], at["row"], project)[at["column"]]
        except (KeyError, ValueError, FileNotFoundError) as error:
            raise LedgerError(
                f"claim {name!r}: the printed figure is missing: {error}"
            ) from None
    if set(entry["tolerance"]) != {"absolute" if published is None else "spreads"}:
        raise LedgerError(
            f"claim {name!r}: a printed figure needs a tolerance in 'spreads', "
            "an identity one in 'absolute'"
        )
    findings = tuple(
        _finding(project, name, item, published, entry["tolerance"])
        for item in entry.get("evidence", [])
    )
    verdict = "beyond reach"
    if findings:
        verdict = "reproduced" if findings[0].agrees else "differs"
    reason = beyond or entry.get("reason", "")
    if verdict == "differs" and not reason:
        raise LedgerError(
            f"claim {name!r} differs and gives no reason; write why, or 'unknown'"
        )
    return Claim(
        id=name,
        source=entry["source"],
        locator=entry["locator"],
        statement=entry["statement"],
        published=published,
        unit=entry.get("unit", ""),
        tolerance=_in_words(entry["tolerance"]) + ": " + entry["why"],
        findings=findings,
        verdict=verdict,
        reason=reason,
    )


def _finding(project, name, item, published, tolerance) -> Finding:
    try:
        value = read_result(item["run"], project)["values"]
        for key in item["key"].split("."):
            value = value[key]
        if published is None:
            value, spread = float(value), None
        else:
            value, spread = value["mean"], value["sd"]
    except (KeyError, TypeError, FileNotFoundError) as error:
        raise LedgerError(f"claim {name!r}: evidence is missing: {error}") from None
    if published is None:
        agrees = abs(value) <= tolerance["absolute"]
    else:
        agrees = abs(value - published) <= tolerance["spreads"] * spread
    return Finding(item.get("label", ""), value, spread, item["run"], agrees)


def _in_words(tolerance: dict) -> str:
    if "absolute" in tolerance:
        return f"at most {tolerance['absolute']:g}"
    return f"within {tolerance['spreads']:g} standard deviations of one run"
