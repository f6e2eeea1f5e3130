"""Chapters: which there are, which are stale, and how to execute them."""

from pathlib import Path

import nbformat
from joblib import Parallel, delayed

from compendium.build.notebooks import (
    NotebookError,
    code_cells,
    differences,
    execute,
    is_notebook,
    normalise,
    read_source,
    reworded,
    store,
    to_text,
)
from compendium.project import root


def sources(project: Path) -> list[Path]:
    """MyST sources of all chapters that have code, in a fixed order."""
    book = project / "book"
    skipped = {book / "notebooks", book / "experiments", book / "records"}
    return sorted(
        path
        for path in book.rglob("*.md")
        if not skipped & set(path.parents) and is_notebook(path)
    )


def notebook_path(project: Path, source: Path) -> Path:
    """Where the executed notebook of a chapter is kept."""
    relative = source.relative_to(project / "book").with_suffix(".ipynb")
    return project / "book" / "notebooks" / relative


def read_notebook(path: Path) -> nbformat.NotebookNode | None:
    """The stored notebook, or None if there is none yet."""
    return nbformat.read(path, as_version=4) if path.is_file() else None


def stale(project: Path) -> list[Path]:
    """Chapters whose notebook is missing, or not of their text and what it needs."""
    return [source for source in sources(project) if not _fresh(project, source)]


def _fresh(project: Path, source: Path) -> bool:
    path = notebook_path(project, source)
    stored = read_notebook(path)
    now = read_source(source)
    if stored is None or len(code_cells(stored)) != len(code_cells(now)):
        return False
    return to_text(reworded(stored, now, stored.metadata.memdlib)) == path.read_text()


def execute_chapters(
    project: Path, chapters: list[Path], jobs: int | None = None, *, keep: bool = True
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Execute chapters afresh; store their notebooks if they are to be kept.

    Returns
    -------
    changes : dict
        Chapter to the cells that differ from the stored notebook (empty: none do).
    failed : dict
        Chapter to the message of its failure; its stored notebook is untouched.
    """
    names = [str(path.relative_to(project)) for path in chapters]

    def work(name: str) -> tuple[list[str] | None, str]:
        try:
            return execute_chapter(project, name, keep=keep), ""
        except NotebookError as error:
            return None, str(error)

    found = Parallel(n_jobs=jobs or -1)(delayed(work)(name) for name in names)
    ended = dict(zip(names, found, strict=True))
    changes = {name: cells for name, (cells, error) in ended.items() if not error}
    return changes, {name: error for name, (_, error) in ended.items() if error}


def execute_chapter(project: Path, name: str, *, keep: bool) -> list[str]:
    """Execute one chapter, keep it or not, and say which cells differ from before."""
    source = project / name
    path = notebook_path(project, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    executed = execute(read_source(source), name, path.parent, {})
    new, old = normalise(executed, {"source": name}), read_notebook(path)
    if keep:
        store(new, path)
    return differences(old, new)


def main(*, everything: bool, jobs: int | None = None) -> int:
    """Execute all chapters, or those that are stale; report; return an exit status."""
    project = root()
    chapters = sources(project) if everything else stale(project)
    changes, failed = execute_chapters(project, chapters, jobs)
    print(f"{len(changes)} of {len(sources(project))} chapters executed.")
    _report(changes, failed)
    if everything and changes and not any(changes.values()):
        print("Every output equals the stored one.")
    return 1 if failed else 0


def verify(jobs: int | None = None) -> int:
    """Compare all stored chapters with a new execution, which is not kept."""
    project = root()
    chapters = sources(project)
    changes, failed = execute_chapters(project, chapters, jobs, keep=False)
    equal = sum(not cells for cells in changes.values())
    print(f"{equal} of {len(chapters)} chapters equal what is stored.")
    _report(changes, failed)
    return 1 if equal < len(chapters) else 0


def _report(changes: dict[str, list[str]], failed: dict[str, str]) -> None:
    for name, cells in sorted(changes.items()):
        if cells:
            print(f"  {name}: differs from the stored notebook")
            for cell in cells:
                print(f"    {cell}")
    for message in failed.values():
        print(f"\n{message}")
