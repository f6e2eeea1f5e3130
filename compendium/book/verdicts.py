"""How claims are written: on the claims page, in margins and in the README alike."""

import re
from collections.abc import Sequence

import pandas as pd

from compendium.book.display import number, scientific
from compendium.ledger.claims import KINDS, Claim, Finding, counts, of_the_sources
from compendium.ledger.names import METHODS, NAMES
from compendium.ledger.rule import ASSUMED

# The page that has a card for each claim.
PAGE = "book/notebooks/claims"

_BOUNDS = {
    "prediction": "within the {} % prediction interval of one more run",
    "absolute": "at most {} away",
    "at_least": "at least {}",
    "at_most": "at most {}",
}


def bound(claim: Claim) -> str:
    """By how much our number may differ, or from where on it agrees."""
    if 0 < claim.bound < 1e-4:
        return power_of_ten(claim.bound).removeprefix("1 × ")
    return f"{claim.bound:g}"


def tolerance_text(claim: Claim) -> str:
    """How our number for a claim is judged, and why so."""
    judged = _BOUNDS[claim.rule].format(bound(claim)) if claim.rule else "not judged"
    return f"{judged}: {claim.why}"


def published_text(claim: Claim) -> str:
    """The printed number; empty for a statement."""
    if claim.published is None:
        return ""
    whole = claim.rule == "absolute" and claim.published.is_integer()
    return number(claim.published, 0 if whole else 2)


def finding_text(claim: Claim, index: int = 0) -> str:
    """What we find: mean ± spread, a number with its range, or an error.

    Parameters
    ----------
    claim : Claim
    index : int, default=0
        Which of its findings; the first is the setting chosen.

    Returns
    -------
    str
        Empty for a claim that has none.
    """
    if not claim.findings:
        return ""
    finding = claim.findings[index]
    if finding.spread is not None:
        return f"{number(finding.value, 2)} ± {number(finding.spread, 2)}"
    if claim.published is None and claim.rule == "absolute" and finding.low is None:
        return f"error below {power_of_ten(finding.value)}"
    exact = claim.published is not None and not claim.published.is_integer()
    text = _ranged(finding, 2 if exact else None)
    return text if claim.published is not None else f"{text} {claim.unit}".strip()


def table_text(claim: Claim) -> str:
    """What the printed table itself says of a statement; empty if it is not asked."""
    parts = [f"{label} on {rows}" for label, rows in claim.table_says]
    return f"{' and '.join(parts)} {claim.unit}" if parts else ""


def without_unit(text: str, claim: Claim) -> str:
    """A finding whose unit stands elsewhere."""
    return text.removesuffix(claim.unit).rstrip()


def sentence_text(claim: Claim) -> str:
    """Our result as a sentence has it: number, unit and then the range, if any."""
    text = finding_text(claim)
    if claim.findings[0].low is None:
        return text
    value, ends = without_unit(text, claim).split(" (")
    return f"{value} {claim.unit} (chance allows {ends.rstrip(')')})"


def power_of_ten(value: float) -> str:
    """A small number as :func:`scientific` rounds it, readable without MathJax.

    Examples
    --------
    >>> power_of_ten(3.2e-15), power_of_ten(0.0)
    ('4 × 10⁻¹⁵', '0')
    """
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return re.sub(
        r"\$(\d)\\times 10\^\{(\S+)\}\$",
        lambda match: f"{match[1]} × 10{match[2].translate(raised)}",
        scientific(value),
    )


def _ranged(finding: Finding, digits: int | None) -> str:
    """A number, and from where to where it goes."""
    parts = [x for x in (finding.value, finding.low, finding.high) if x is not None]
    if digits is None:
        whole = all(float(part).is_integer() for part in parts)
        small = 0 < abs(finding.value) < 0.05
        if whole:
            digits = 0
        elif small:
            digits = 3
        elif finding.low is None:
            digits = 1
        else:
            digits = 2
    value, *ends = (number(part, digits) for part in parts)
    return f"{value} ({' to '.join(ends)})" if ends else value


def slug(text: str) -> str:
    """A heading or a verdict as it stands in addresses and in names of styles.

    Examples
    --------
    >>> slug("Text of section VI")
    'text-of-section-vi'
    """
    return text.lower().replace(" ", "-")


def badge(verdict: str, address: str = "") -> str:
    """A verdict in its colours as HTML; with an address it is a link."""
    tag, link = ("a", f' href="{address}"') if address else ("span", "")
    return f'<{tag} class="verdict verdict-{slug(verdict)}"{link}>{verdict}</{tag}>'


def claim_badge(claim: Claim, page: str = "claims.html") -> str:
    """The verdict on a claim, which leads to its card, as HTML for Markdown cells.

    Parameters
    ----------
    claim : Claim
    page : str
        The page of claims, as seen from where the badge stands; in prose the role
        ``{claim}`` finds it.
    """
    return badge(claim.verdict, f"{page}#{claim.id}")


def tally(claims: Sequence[Claim], by: str = "group") -> list[list[str]]:
    """Number of claims by group or kind, in all and by verdict, as rows of a table."""
    rows = []
    for name in dict.fromkeys(getattr(claim, by) for claim in claims):
        part = [claim for claim in claims if getattr(claim, by) == name]
        rows.append([name, str(len(part)), *map(str, counts(part).values())])
    return rows


def tally_by_kind(claims: Sequence[Claim]) -> list[list[str]]:
    """Number of claims by kind, those that runs decide first, as rows of a table."""
    order = list(KINDS)
    return tally(sorted(claims, key=lambda claim: order.index(claim.kind)), "kind")


def counts_text(claims: Sequence[Claim]) -> str:
    """How many claims runs decide, and how many a proof or a count, with verdicts."""
    ways = {"are decided by runs": True, "by a proof or a count": False}
    parts = []
    for words, by_runs in ways.items():
        part = [one for one in claims if (one.kind == "empirical") == by_runs]
        if part:
            tallies = [f"{verdict} {n}" for verdict, n in counts(part).items() if n]
            parts.append(f"{len(part)} {words} ({', '.join(tallies)})")
    return " and ".join(parts)


def census(claims: Sequence[Claim]) -> str:
    """What the entries of the ledger are."""
    ours = sum(claim.ours for claim in claims)
    sources = len(of_the_sources(claims))
    return (
        f"{sources} claims of the sources, {len(claims) - sources - ours} statements "
        f"that we restored and {ours} findings of our own"
    )


COLUMN_HEADS = [
    "printed column, and our setting",
    "settings tried",
    "RMS, points",
    "agree",
    "placebos",
    "left out",
    "left out, of all",
    "if means of 5, 10 runs",
]


def column_name(line: pd.Series) -> str:
    """Table and method of a line, for headings and links."""
    return f"{NAMES[line['table']]}, {NAMES[line['method']]}"


def column_cells(line: pd.Series) -> list[str]:
    """One line of :func:`compendium.ledger.columns.summary`, as texts."""
    placebos = [
        f"{NAMES[method]} {line[f'by_{method}']}"
        for method in METHODS
        if method != line["method"] and isinstance(line.get(f"by_{method}"), str)
    ]
    return [
        f"{column_name(line)}: {line['setting']}",
        str(line["tried"]),
        number(line["rms"], 2),
        f"{line['agree']} of {line['figures']}",
        "; ".join(placebos),
        f"{line['left_out']} of {line['left_out_of']}",
        f"{line['left_out_all']} of {line['left_out_all_of']}",
        ", ".join(str(line[f"agree{runs}"]) for runs in ASSUMED),
    ]
