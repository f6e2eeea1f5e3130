"""The README's tables, generated: claims from the ledger, times from a measurement."""

import json
from pathlib import Path

from compendium.build.display import number, scientific
from compendium.ledger.claims import VERDICTS, Claim, counts, in_words, read_claims
from compendium.project import root, write_whole


def claims_table(claims: list[Claim]) -> str:
    """Verdicts by group, and each claim that is no cell of a table."""
    groups = list(dict.fromkeys(claim.group for claim in claims))
    lines = [f"| claims | all | {' | '.join(VERDICTS)} |", "| :--- |" + " ---: |" * 4]
    for group in groups:
        part = [claim for claim in claims if claim.group == group]
        cells = [str(n) for n in counts(part).values()]
        lines.append(f"| {group} | {len(part)} | {' | '.join(cells)} |")
    lines += [
        "",
        "| statement | claimed | ours | verdict |",
        "| :--- | :--- | :--- | :--- |",
    ]
    for claim in claims:
        if claim.published is None:
            ours = finding_text(claim) if claim.findings else ""
            claimed = in_words(claim.kind, claim.bound)
            lines.append(
                f"| {claim.statement} | {claimed} | {ours} | {claim.verdict} |"
            )
    tally = ", ".join(f"{n} {verdict}" for verdict, n in counts(claims).items() if n)
    return "\n".join([*lines, "", f"{len(claims)} claims: {tally}."])


def finding_text(claim: Claim, index: int = 0) -> str:
    """Our figure for a claim: mean ± spread, a number, or the error of an identity."""
    finding = claim.findings[index]
    if finding.spread is not None:
        return f"{number(finding.value, 2)} ± {number(finding.spread, 2)}"
    if claim.published is not None:
        return number(finding.value, 1 if claim.published.is_integer() else 2)
    if claim.kind == "absolute":
        return f"error below {scientific(finding.value)}"
    digits = 0 if float(finding.value).is_integer() else 1
    return f"{number(finding.value, digits)} {claim.unit}".strip()


def times_table(report: dict) -> str:
    """Times of the README's commands as measured by ``benchmarks.fresh_clone``."""
    machine = report["machine"]
    steps = (
        ("setup", "set-up, once"),
        ("book", "`make book`, after set-up"),
        ("test", "`make test`, after set-up"),
    )
    kinds = [kind for kind in ("with data", "without data") if kind in report]
    lines = [f"| step | {' | '.join(kinds)} |", "| :--- |" + " ---: |" * len(kinds)]
    for step, label in steps:
        cells = [f"{report[kind][step]} s" for kind in kinds]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    where = f"{machine['cores']} cores, Python {machine['python']}, {machine['system']}"
    return "\n".join(
        [*lines, "", f"Measured by `python -m benchmarks.fresh_clone` on {where}."]
    )


def with_tables(text: str, tables: dict[str, str]) -> str:
    """The README with each table between its two marks."""
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"README.md needs the marks {begin} and {end}, once each")
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def generated(project: Path) -> str:
    """The README as it should be."""
    times = json.loads((project / "benchmarks" / "fresh_clone.json").read_text())
    tables = {
        "claims": claims_table(read_claims(project)),
        "times": times_table(times),
    }
    return with_tables((project / "README.md").read_text(), tables)


def main() -> int:
    """Write the tables into the README."""
    project = root()
    write_whole(project / "README.md", generated(project))
    print("README.md: tables of claims and times written")
    return 0
