"""The README's tables, generated: claims, times, and what the estimators can do."""

import json
from pathlib import Path

from compendium.build.verdicts import claims_table
from compendium.ledger.abilities import abilities_table
from compendium.ledger.claims import read_claims
from compendium.ledger.columns import summary
from compendium.ledger.tables import Evidence
from compendium.project import root, write_whole


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
        "claims": claims_table(read_claims(project), summary(Evidence(project))),
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
