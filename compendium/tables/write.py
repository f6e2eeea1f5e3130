"""Write the tidy tables of all families, of the runs, and of the verdicts."""

import json
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pandas as pd

from compendium.ledger.claims import Claim, read_claims
from compendium.ledger.names import COLUMNS, METHODS, NAMES
from compendium.project import root, write_whole

FOLDER = "data/tables"


def families() -> dict[str, ModuleType]:
    """Modules of the families, by their names."""
    names = [module.name for module in iter_modules([str(Path(__file__).parent)])]
    names.remove("write")
    return {name: import_module(f"compendium.tables.{name}") for name in names}


def read_results(project: Path) -> dict[str, dict]:
    """All stored results, by the names of their runs."""
    paths = sorted((project / "data" / "results").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def runs_table(results: dict[str, dict]) -> pd.DataFrame:
    """A line for each run: what made it, of what, where, and at what cost."""
    lines = []
    for run, result in results.items():
        line = {"run": run, "data": " ".join(result["data"])}
        line |= {key: result[key] for key in ("commit", "seconds", "mib")}
        line |= {"processor": result["machine"]["processor"]}
        line |= result["packages"]
        line["parameters"] = json.dumps(result["parameters"], sort_keys=True)
        lines.append(line)
    return pd.DataFrame(lines)


def verdicts_table(claims: list[Claim]) -> pd.DataFrame:
    """A line for each claim: what is printed, what we find, and the verdict.

    ``ours`` is our number under the setting that stands for the claim, with the range
    ``low`` to ``high`` if it has one; a claim that is decided without one has no rule.
    """
    lines = []
    for claim in claims:
        first = claim.findings[0] if claim.findings else None
        line = {
            "claim": claim.id,
            "source": NAMES[claim.source],
            "locator": claim.locator,
            "by_us": claim.ours,
            "kind": claim.kind,
            "statement": claim.statement,
            "table": NAMES.get(claim.table, claim.table),
            "row": NAMES.get(claim.row, claim.row),
            "column": COLUMNS.get(claim.column, claim.column),
            "method": METHODS.get(claim.method, claim.method),
            "published": claim.published,
            "ours": first.value if first else None,
            "low": first.low if first else None,
            "high": first.high if first else None,
            "unit": claim.unit,
            "rule": claim.rule,
            "bound": claim.bound if claim.rule else None,
            "verdict": claim.verdict,
            "reason": claim.reason,
        }
        lines.append(line)
    return pd.DataFrame(lines)


def findings_table(claims: list[Claim]) -> pd.DataFrame:
    """A line for each setting of each claim: our number, and the verdict on it alone.

    The first setting of a claim is the one that stands for it. The verdicts follow from
    these numbers by rules of ours, in whose place a reader may put another.
    """
    lines = [
        {
            "claim": claim.id,
            "setting": finding.label,
            "ours": finding.value,
            "sd": finding.spread,
            "low": finding.low,
            "high": finding.high,
            "verdict": finding.verdict,
            "runs": " ".join(finding.records),
        }
        for claim in claims
        for finding in claim.findings
    ]
    return pd.DataFrame(lines)


def derive(project: Path) -> dict[str, str]:
    """The text of every table, by the name of its file.

    Raises
    ------
    ValueError
        If two families make a table of one name, or one has no lines.
    """
    results = read_results(project)
    claims = read_claims(project)
    tables = {
        "runs": runs_table(results),
        "verdicts": verdicts_table(claims),
        "findings": findings_table(claims),
    }
    for family, module in families().items():
        chosen = {
            run: result["values"]
            for run, result in results.items()
            if any(fnmatch(run, pattern) for pattern in module.RUNS)
        }
        for name, table in module.tables(chosen).items():
            if name in tables or table.empty:
                problem = "made twice" if name in tables else "empty"
                raise ValueError(f"compendium/tables/{family}.py: {name} is {problem}")
            tables[name] = table
    # line ends are the same on every system, so that a table is one text
    return {
        f"{name}.csv": table.to_csv(index=False, lineterminator="\n")
        for name, table in tables.items()
    }


def outdated(project: Path) -> list[str]:
    """Tables that are not those of the stored results, each with its remedy."""
    folder = project / FOLDER
    texts = derive(project)
    stored = {path.name: path for path in folder.glob("*.csv")}
    problems = []
    for name in sorted({*texts, *stored}):
        if name not in texts:
            problems.append(f"{FOLDER}/{name}: no family makes it; remove it")
        elif (
            name not in stored
            or stored[name].read_bytes().decode("utf-8") != texts[name]
        ):
            problems.append(f"{FOLDER}/{name}: is not of the results: make tables")
    return problems


def main() -> int:
    """Write the tables that have changed, and say which; an exit status."""
    project = root()
    folder = project / FOLDER
    texts = derive(project)
    folder.mkdir(parents=True, exist_ok=True)
    stored = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    for name in sorted({*stored} - {*texts}):
        (folder / name).unlink()
        print(f"{FOLDER}/{name}: removed, as no family makes it")
    changed = [name for name in texts if stored.get(name) != texts[name].encode()]
    for name in changed:
        write_whole(folder / name, texts[name])
        print(f"{FOLDER}/{name}: {texts[name].count(chr(10)) - 1} lines")
    print(f"{len(texts)} tables, {len(changed)} changed")
    return 0
