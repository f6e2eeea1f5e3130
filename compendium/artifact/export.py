"""The ledger for foreign tools: an RO-Crate, ``codecheck.yml`` and tables of numbers.

Everything is made from ``data/claims.toml``, ``data/results`` and the lab records, and
written as one folder that stands by itself.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import nbformat
import yaml

from compendium.artifact.crate import METADATA, crate_metadata
from compendium.artifact.facts import (
    COMPUTED,
    Fact,
    Judgement,
    as_csv,
    as_repro,
    read_facts,
)
from compendium.build import notebooks
from compendium.build.pages import citation, full_name
from compendium.build.runs import runs
from compendium.project import root, write_whole

TABLES = {
    "facts.csv": "every number of the ledger, with file, hash and key",
    "verdicts.csv": "every claim with its rule and its verdict",
    COMPUTED: "numbers that are computed from several results",
    "repro.yaml": "the facts, for claims-cli",
}


def codecheck(project: Path) -> str:
    """``codecheck.yml``: the figures and tables that a codechecker has to find again.

    Who checks, the certificate and its report are for the codechecker to add; ORCIDs
    stand in it once CITATION.cff has them.
    """
    about = citation(project)
    whole = {
        "version": "https://codecheck.org.uk/spec/config/2.0/",
        "paper": {
            "title": about["title"],
            "authors": [
                {"name": full_name(author)}
                | ({"ORCID": author["orcid"][-19:]} if "orcid" in author else {})
                for author in about["authors"]
            ],
        }
        | ({"reference": about["doi"]} if "doi" in about else {}),
        "manifest": [
            {"file": name, "comment": comment}
            for name, comment in [
                *((name, caption) for name, (caption, _) in figures(project).items()),
                *list(TABLES.items())[:3],
            ]
        ],
    }
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


def export_files(project: Path) -> dict[str, bytes]:
    """All files of the export, by name.

    Raises
    ------
    LedgerError, FileNotFoundError
        If evidence is missing: what did not run is not exported.
    """
    listed = runs(project).values()
    facts, judgements, text = read_facts(project)
    copied = {
        "LICENSE",
        "data/claims.toml",
        *_names(project, (project / "data" / "published").glob("*.csv")),
        *(f"data/results/{run.name}.json" for run in listed),
        *(f"book/records/{run.name}.ipynb" for run in listed),
        *(f"book/experiments/{run.notebook}" for run in listed),
    }
    found = {name: (project / name).read_bytes() for name in sorted(copied)}
    made = {
        "facts.csv": as_csv(Fact, facts),
        "verdicts.csv": as_csv(Judgement, judgements),
        COMPUTED: text,
        "repro.yaml": as_repro(facts, judgements),
        "codecheck.yml": codecheck(project),
    }
    made |= {name: data for name, (_, data) in figures(project).items()}
    found |= {name: text.encode() for name, text in made.items()}
    found[METADATA] = crate_metadata(project, listed, found).encode()
    return found


def _names(project: Path, paths: Iterable[Path]) -> list[str]:
    return [str(path.relative_to(project)) for path in paths]


def write_folder(files: dict[str, bytes], target: Path) -> None:
    """Write a folder that is replaced only if all of it could be written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        made = Path(scratch, "made")
        for name, content in files.items():
            write_whole(made / name, content)
        if target.exists():
            target.replace(Path(scratch, "last"))
        made.replace(target)


def main() -> int:
    """Write the export to ``_build/export``; return an exit status."""
    project = root()
    files = export_files(project)
    write_folder(files, project / "_build" / "export")
    named = files[METADATA].count(b'"version": "urn:git:commit:')
    print(
        f"{len(files)} files in {project / '_build' / 'export'}; {named} of "
        f"{len(runs(project))} runs name the commit that they were made with"
    )
    return 0
