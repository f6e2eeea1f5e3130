"""What the README computes: results, claims, times, what the estimators can do."""

import json
from collections.abc import Sequence
from pathlib import Path

from compendium.build.verdicts import claims_table, finding_text, published_text
from compendium.ledger.abilities import abilities_table
from compendium.ledger.beyond import duels, mean_difference
from compendium.ledger.claims import Claim, read_claims
from compendium.ledger.columns import summary
from compendium.ledger.tables import Evidence
from compendium.project import root, write_whole

# Claims that say most about the sources, one of each kind.
HEADLINES = (
    "margin-equals-j",
    "theorem-1",
    "text-memd-beats-svm",
    "text-few-genes",
    "text-few-words",
    "nml-best-gene",
    "nml-trend-genes",
)
# Runs that compare the recommended classifier with its peers, by kind of data.
DUELS = {
    "gene expression": tuple(
        f"beyond-{name}"
        for name in (
            "colon",
            "leukemia-5147",
            "cns",
            "dlbcl",
            "prostate",
            "srbct",
            "gcm-1363",
        )
    ),
    "texts, Table III": ("beyond-text",),
    "texts, official halves": ("beyond-text-official",),
    "tables": ("beyond-tables",),
}
# Where 'make book' puts the page of claims; each has its own anchor there.
CLAIMS_PAGE = "_build/html/book/notebooks/claims.html"


def headlines(claims: Sequence[Claim]) -> str:
    """Some claims with their verdicts, each a link to its place in the book.

    Parameters
    ----------
    claims : sequence of Claim

    Returns
    -------
    str
        A list in Markdown; claims that the ledger lacks are left out.
    """
    by_id = {claim.id: claim for claim in claims}
    lines = []
    for claim in (by_id[name] for name in HEADLINES if name in by_id):
        link = f"[{claim.statement}]({CLAIMS_PAGE}#{claim.id})"
        parts = [f"*{claim.verdict}*"]
        if claim.published is not None:
            parts.append(f"published {published_text(claim)}")
        if claim.findings:
            parts.append(f"we find {finding_text(claim)}")
        lines.append(f"- {link}: {', '.join(parts)}")
    return "\n".join(lines)


def duels_table(evidence: Evidence) -> str:
    """The recommended classifier against a tuned linear SVM, by kind of data."""
    lines = [
        "| data | sets | accuracy | least | log-loss lower on | time to fit |",
        "| :--- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kind, runs in DUELS.items():
        found = list(duels(evidence, runs))
        mean = mean_difference(evidence, runs)
        points = f"{mean['median']:+.1f}"
        if mean["low"] < mean["high"]:
            points += f" ({mean['low']:.1f} to {mean['high']:.1f})"
        cells = (
            kind,
            len(found),
            points,
            f"{min(d.difference for d in found):+.1f}",
            sum(d.loss < 0 for d in found),
            f"{min(d.cost for d in found):.2f} to {max(d.cost for d in found):.2f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def times_table(report: dict) -> str:
    """Times of the README's commands in a fresh clone."""
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
        [
            *lines,
            "",
            f"One run of each, on {where}; `python -m benchmarks.fresh_clone` measures "
            "them anew.",
        ]
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
    claims = read_claims(project)
    tables = {
        "headlines": headlines(claims),
        "duels": duels_table(Evidence(project)),
        "claims": claims_table(claims, summary(Evidence(project))),
        "times": times_table(times),
        "abilities": abilities_table(),
    }
    return with_tables((project / "README.md").read_text(), tables)


def main() -> int:
    """Write the tables into the README."""
    project = root()
    write_whole(project / "README.md", generated(project))
    print("README.md: tables written")
    return 0
