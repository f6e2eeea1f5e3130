"""How claims are written: on the claims page, in margins and in the README alike."""

from collections.abc import Sequence

from IPython.display import Markdown, display

from compendium.build.display import number, scientific, verdict_badge
from compendium.ledger.claims import VERDICTS, Claim, counts


def bound_text(claim: Claim) -> str:
    """How our number for a claim is judged."""
    return {
        "spreads": "within {:g} standard deviations of one run, or one instance",
        "absolute": "at most {:g} away",
        "at_least": "at least {:g}",
        "at_most": "at most {:g}",
    }[claim.kind].format(claim.bound)


def tolerance_text(claim: Claim) -> str:
    """How our number for a claim is judged, and why so."""
    return f"{bound_text(claim)}: {claim.why}"


def published_text(claim: Claim) -> str:
    """The printed number; empty for a statement."""
    if claim.published is None:
        return ""
    whole = claim.kind == "absolute" and claim.published.is_integer()
    return number(claim.published, 0 if whole else 2)


def finding_text(claim: Claim, index: int = 0) -> str:
    """What we find: mean ± spread, a number, or the error of an identity.

    Parameters
    ----------
    claim : Claim
    index : int, default=0
        Which of its findings; the first decides the verdict.

    Returns
    -------
    str
        Empty for a claim beyond reach, which has none.
    """
    if not claim.findings:
        return ""
    finding = claim.findings[index]
    if finding.spread is not None:
        return f"{number(finding.value, 2)} ± {number(finding.spread, 2)}"
    if claim.published is not None:
        return number(finding.value, 1 if claim.published.is_integer() else 2)
    if claim.kind == "absolute":
        return f"error below {scientific(finding.value)}"
    digits = 0 if float(finding.value).is_integer() else 1
    return f"{number(finding.value, digits)} {claim.unit}".strip()


def margin_text(claim: Claim) -> str:
    """Verdict, statement and both numbers, as MyST; why, where we have none."""
    lines = [f"{verdict_badge(claim.verdict)} {claim.statement}"]
    if claim.published is not None:
        numbers = f"Published {published_text(claim)}"
        numbers += f", ours {finding_text(claim)}" if claim.findings else ""
        lines.append(f"{numbers} {claim.unit}".strip() + ".")
    if not claim.findings:
        lines.append(f"{claim.reason[:1].upper()}{claim.reason[1:]}.")
    return "\n\n".join(lines)


def show_verdict(claim: Claim) -> None:
    """Show the verdict on a claim, for a cell with the tag ``margin``."""
    display(Markdown(margin_text(claim)))


def tally(claims: Sequence[Claim]) -> list[list[str]]:
    """Number of claims by group, in all and by verdict, as rows of a table."""
    rows = []
    for group in dict.fromkeys(claim.group for claim in claims):
        part = [claim for claim in claims if claim.group == group]
        rows.append([group, str(len(part)), *map(str, counts(part).values())])
    return rows


def claims_table(claims: Sequence[Claim]) -> str:
    """Verdicts by group, and each claim that is no cell of a table, in Markdown."""
    lines = [f"| claims | all | {' | '.join(VERDICTS)} |", "| :--- |" + " ---: |" * 4]
    lines += [f"| {' | '.join(row)} |" for row in tally(claims)]
    lines += ["", "| statement | claimed | ours | verdict |", "|" + " :--- |" * 4]
    for claim in claims:
        if claim.published is None:
            cells = bound_text(claim), finding_text(claim), claim.verdict
            lines.append(f"| {' | '.join((claim.statement, *cells))} |")
    found = ", ".join(f"{n} {verdict}" for verdict, n in counts(claims).items() if n)
    return "\n".join([*lines, "", f"{len(claims)} claims: {found}."])
