"""The ledger for foreign tools: an RO-Crate, ``codecheck.yml`` and tables of numbers.

Everything is made from ``data/claims.toml``, ``data/results`` and the lab records, and
written as one folder that stands by itself.
"""

import shutil
from pathlib import Path

import nbformat
import pandas as pd
import yaml

from compendium.artifact.crate import METADATA, crate_metadata
from compendium.book.pages import citation, full_name
from compendium.book.verdicts import table_text
from compendium.execution import notebooks
from compendium.execution.runs import runs
from compendium.ledger.claims import Claim, read_claims
from compendium.project import root, write_whole

SPECIFICATION = "https://codecheck.org.uk/spec/config/2.0/"
TABLES = {
    "facts.csv": "every number that we found, with its setting and results",
    "verdicts.csv": "every claim with its rule and its verdict",
}


def codecheck(project: Path, captions: dict[str, str]) -> str:
    """``codecheck.yml``: the figures and tables that a codechecker has to find again.

    Who checks, the certificate and its report are for the codechecker to add; ORCIDs
    stand in it once CITATION.cff has them.
    """
    about = citation(project)
    authors = [{"name": full_name(author)} for author in about["authors"]]
    for told, author in zip(authors, about["authors"], strict=True):
        told |= {"ORCID": author["orcid"][-19:]} if "orcid" in author else {}
    paper = {"title": about["title"], "authors": authors}
    paper |= {"reference": about["doi"]} if "doi" in about else {}
    listed = (captions | TABLES).items()
    manifest = [{"file": name, "comment": comment} for name, comment in listed]
    whole = {"version": SPECIFICATION, "paper": paper, "manifest": manifest}
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=88)
    return f"---\n{text}"


def figures(project: Path) -> dict[str, tuple[str, str]]:
    """Caption and plotted data of each figure of the book, by the file of its data."""
    found = {}
    for path in sorted((project / "book").rglob("*.ipynb")):
        for about, data, text in notebooks.figures(nbformat.read(path, as_version=4)):
            file = path.with_name(f"{about['name']}.csv").relative_to(project)
            found[str(file)] = text, data["text/plain"]
    return found


def facts(claims: list[Claim]) -> pd.DataFrame:
    """A line for each number that we found, under every setting of every claim.

    Facts stand apart from verdicts: a fact is a number, and a verdict follows from it
    by a rule of ours, in whose place a reader may put another.
    """
    lines = [
        {
            "claim": claim.id,
            "setting": finding.label,
            "value": finding.value,
            "spread": finding.spread,
            "low": finding.low,
            "high": finding.high,
            "results": " ".join(f"data/results/{run}.json" for run in finding.records),
        }
        for claim in claims
        for finding in claim.findings
    ]
    return pd.DataFrame(lines)


def verdicts(claims: list[Claim]) -> pd.DataFrame:
    """A line for each claim; rule and bound are empty where nothing was compared."""
    lines = [
        {
            "claim": claim.id,
            "statement": claim.statement,
            "source": claim.source,
            "locator": claim.locator,
            "published": claim.published,
            "table_says": table_text(claim),
            "unit": claim.unit,
            "kind": claim.kind,
            "rule": claim.rule,
            "bound": claim.bound if claim.rule else None,
            "verdict": claim.verdict,
            "reason": claim.reason,
        }
        for claim in claims
    ]
    return pd.DataFrame(lines)


def export_files(project: Path) -> dict[str, bytes]:
    """All files of the export, by name.

    Raises
    ------
    LedgerError, FileNotFoundError
        If evidence is missing: what did not run is not exported.
    """
    listed, plotted = runs(project).values(), figures(project)
    captions = {name: caption for name, (caption, _) in plotted.items()}
    claims = read_claims(project)
    published = (project / "data" / "published").glob("*.csv")
    copied = {
        "LICENSE",
        "data/claims.toml",
        *(str(path.relative_to(project)) for path in published),
        *(path for run in listed for path in (*run.made(), run.source())),
    }
    found = {name: (project / name).read_bytes() for name in sorted(copied)}
    made = {
        "facts.csv": facts(claims).to_csv(index=False, lineterminator="\n"),
        "verdicts.csv": verdicts(claims).to_csv(index=False, lineterminator="\n"),
        "codecheck.yml": codecheck(project, captions),
    }
    made |= {name: data for name, (_, data) in plotted.items()}
    found |= {name: text.encode() for name, text in made.items()}
    found[METADATA] = crate_metadata(project, listed, found).encode()
    return found


def write_folder(files: dict[str, bytes], target: Path) -> None:
    """Write a folder anew."""
    shutil.rmtree(target, ignore_errors=True)
    for name, content in files.items():
        write_whole(target / name, content)


def main() -> int:
    """Write the export to ``_build/export``; return an exit status."""
    project = root()
    files, target = export_files(project), project / "_build" / "export"
    write_folder(files, target)
    named = files[METADATA].count(b'"version": "urn:git:commit:')
    print(
        f"{len(files)} files in {target}; {named} of {len(runs(project))} runs name "
        "the commit that they were made with"
    )
    return 0
