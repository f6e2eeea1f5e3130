"""Chapters: which there are, their storing, and whether they are of their sources."""

from pathlib import Path

import nbformat
from joblib import Parallel, delayed
from tqdm import tqdm

from compendium.execution import notebooks
from compendium.execution.notebooks import NotebookError, read_source
from compendium.project import root


def sources(project: Path) -> list[Path]:
    """MyST sources of all chapters, in a fixed order."""
    return sorted((project / "book" / "chapters").glob("*.md"))


def notebook_path(project: Path, source: Path) -> Path:
    """Where the executed notebook of a chapter is kept."""
    return project / "book" / "notebooks" / f"{source.stem}.ipynb"


def store_chapter(project: Path, source: Path) -> tuple[Path, bool | str]:
    """Execute a chapter and store it; whether it changed, or what went wrong."""
    name, path = str(source.relative_to(project)), notebook_path(project, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if path.is_file() else ""
    try:
        executed = notebooks.execute(read_source(source), name, path.parent)
    except NotebookError as error:
        return source, str(error)
    notebooks.store(notebooks.normalise(executed, name), path)
    return source, path.read_text() != before


def out_of_step(project: Path) -> list[str]:
    """Stored notebooks that have not the code and the prose of their sources."""
    known = {notebook_path(project, source): source for source in sources(project)}
    stored = set((project / "book" / "notebooks").glob("*.ipynb"))
    problems = [f"{p.relative_to(project)}: has no source" for p in stored - set(known)]
    for path, source in known.items():
        name = source.relative_to(project)
        if path not in stored:
            problems.append(f"{name}: is not stored")
            continue
        stored_one = nbformat.read(path, as_version=4)
        if not notebooks.is_of(stored_one, read_source(source)):
            problems.append(f"{name}: its notebook has other code or prose")
    return sorted(problems)


def main(chapters: list[str], jobs: int | None = None) -> int:
    """Execute and store chapters, all if none is named; return an exit status."""
    project = root()
    known = {path.stem: path for path in sources(project)}
    asked = [Path(name).stem for name in chapters]
    if unknown := sorted(set(asked) - set(known)):
        print(f"no chapter {unknown[0]!r}; the chapters are {', '.join(known)}")
        return 2
    work = [delayed(store_chapter)(project, known[name]) for name in asked or known]
    done = Parallel(n_jobs=jobs or -1, return_as="generator_unordered")(work)
    done = dict(tqdm(done, total=len(work), desc="chapters", disable=None))
    changed = sorted(path.stem for path, found in done.items() if found is True)
    failed = [found for found in done.values() if isinstance(found, str)]
    print(f"{len(done) - len(failed)} chapters stored, {len(changed)} changed:")
    print(*changed, sep="\n")
    print(*failed, sep="\n\n")
    return 1 if failed else 0
