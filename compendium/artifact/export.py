"""The ledger for foreign tools: an RO-Crate, ``codecheck.yml`` and tables of numbers.

Everything is made from ``data``, the experiments and the lab records, and written as
one folder that stands by itself.
"""

import shutil
from pathlib import Path

import nbformat
import yaml

from compendium.artifact.crate import METADATA, crate_metadata
from compendium.book.pages import citation, full_name
from compendium.execution import notebooks
from compendium.execution.runs import runs
from compendium.project import root, write_whole

SPECIFICATION = "https://codecheck.org.uk/spec/config/2.0/"
CODECHECK = "codecheck.yml"
# Both come from all runs: ``make experiments tables`` makes them again.
TABLES = {
    "data/tables/findings.csv": "every number that we found, with its setting and runs",
    "data/tables/verdicts.csv": "every claim with its rule and its verdict",
}


def codecheck(project: Path) -> str:
    """``codecheck.yml``: the tables that a codechecker has to find again.

    Who checks, the certificate and its report are for the codechecker to add. ORCIDs
    and the reference stand in it once CITATION.cff has them.
    """
    about = citation(project)
    authors = [{"name": full_name(author)} for author in about["authors"]]
    for entry, author in zip(authors, about["authors"], strict=True):
        if "orcid" in author:
            entry["ORCID"] = author["orcid"][-19:]
    paper = {"title": about["title"], "authors": authors}
    if "doi" in about:
        paper["reference"] = f"https://doi.org/{about['doi']}"
    manifest = [{"file": name, "comment": comment} for name, comment in TABLES.items()]
    whole = {"version": SPECIFICATION, "paper": paper, "manifest": manifest}
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=88)
    return f"---\n{text}"


def figures(project: Path) -> dict[str, str]:
    """Plotted data of each figure of the book, by the file that they are written to."""
    plotted = {}
    for path in sorted((project / "book").rglob("*.ipynb")):
        for about, data, _ in notebooks.figures(nbformat.read(path, as_version=4)):
            file = path.with_name(f"{about['name']}.csv").relative_to(project)
            plotted[str(file)] = data["text/plain"]
    return plotted


def export_files(project: Path) -> dict[str, bytes]:
    """All files of the export, by name.

    Raises
    ------
    FileNotFoundError
        If evidence is missing: what did not run is not exported.
    """
    listed = runs(project).values()
    tables = [*project.glob("data/published/*.csv"), *project.glob("data/tables/*.csv")]
    copied = {
        "LICENSE",
        "LICENSES/CC-BY-4.0.txt",
        "data/claims.toml",
        *(str(path.relative_to(project)) for path in tables),
        *(path for run in listed for path in (*run.made(), run.source())),
    }
    files = {name: (project / name).read_bytes() for name in sorted(copied)}
    made = {CODECHECK: codecheck(project)} | figures(project)
    files |= {name: text.encode() for name, text in made.items()}
    files[METADATA] = crate_metadata(project, listed, files).encode()
    return files


def write_folder(files: dict[str, bytes], target: Path) -> None:
    """Write a folder anew."""
    shutil.rmtree(target, ignore_errors=True)
    for name, content in files.items():
        write_whole(target / name, content)


def main() -> int:
    """Write the export to ``_build/export``; return an exit status.

    ``codecheck.yml`` is written to the root of the checkout, too, where codecheckers
    look for it.
    """
    project = root()
    write_whole(project / CODECHECK, codecheck(project))
    files = export_files(project)
    target = project / "_build" / "export"
    write_folder(files, target)
    named = files[METADATA].count(b'"version": "urn:git:commit:')
    print(
        f"{len(files)} files in {target}; {named} of {len(runs(project))} runs name "
        "the commit that they were made with"
    )
    return 0
