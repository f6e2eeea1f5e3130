"""The README's table of claims, generated from the ledger."""

from memdlib.compendium.claims import Claim, counts, read_claims
from memdlib.compendium.pages import number
from memdlib.compendium.project import root, write_whole

BEGIN, END = "<!-- claims: begin -->", "<!-- claims: end -->"


def claims_table(claims: list[Claim]) -> str:
    """The claims as a Markdown table with their verdicts and commands."""
    lines = [
        "| claim | published | ours | verdict | command |",
        "| :--- | ---: | ---: | :--- | :--- |",
    ]
    for claim in claims:
        published = ours = command = ""
        if claim.published is not None:
            published = number(claim.published, 2)
        if claim.findings:
            ours = finding_text(claim)
            command = f"`make experiments RUNS={claim.findings[0].run}`"
        lines.append(
            f"| {claim.statement} | {published} | {ours} | {claim.verdict} "
            f"| {command} |"
        )
    tally = ", ".join(f"{n} {verdict}" for verdict, n in counts(claims).items() if n)
    return "\n".join([*lines, "", f"{len(claims)} claims: {tally}."])


def finding_text(claim: Claim, index: int = 0) -> str:
    """Our figure for a claim: mean ± spread, or the largest error of an identity."""
    finding = claim.findings[index]
    if claim.published is None:
        return f"error ≤ {finding.value:.0e}"
    return f"{number(finding.value, 2)} ± {number(finding.spread, 2)}"


def with_table(text: str, table: str) -> str:
    """The README with the table between its two marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> int:
    """Write the table into the README."""
    path = root() / "README.md"
    write_whole(path, with_table(path.read_text(), claims_table(read_claims())))
    print("README.md: table of claims written")
    return 0
