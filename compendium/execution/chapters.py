"""Chapters: two forms kept in step, executed where they are behind, and stored.

A chapter is a pair of files with the same cells: ``book/chapters/<name>.md``, text that
people write and compare, and ``book/notebooks/<name>.ipynb``, which holds the outputs,
and which JupyterLab opens and the book renders. jupytext keeps them in step both ways.
"""

import json
from hashlib import sha256
from pathlib import Path

import nbformat
from joblib import Parallel, delayed
from jupytext.cli import jupytext
from nbformat import NotebookNode
from tqdm import tqdm

from compendium.execution import notebooks
from compendium.execution.notebooks import NotebookError, code_cells, read_source
from compendium.execution.reads import digests
from compendium.project import canonical_json, git, root, write_whole

# What `make store` knows of the last execution of each chapter in this checkout.
RECORD = Path("_build", "chapters.json")
LOCK = "requirements.lock"
# What jupytext writes into both forms: of the metadata of cells, the tags are shared.
PAIRED = {"cell_metadata_filter": "tags,-all", "default_lexer": "ipython3"}


def sources(project: Path) -> list[Path]:
    """MyST sources of all chapters, in a fixed order."""
    return sorted((project / "book" / "chapters").glob("*.md"))


def notebook_path(project: Path, source: Path) -> Path:
    """Where the executed notebook of a chapter is kept."""
    return project / "book" / "notebooks" / f"{source.stem}.ipynb"


def read_stored(project: Path, source: Path) -> NotebookNode | None:
    """The stored notebook of a chapter; None if there is none."""
    path = notebook_path(project, source)
    return nbformat.read(path, as_version=4) if path.is_file() else None


def same_cells(one: NotebookNode, other: NotebookNode) -> bool:
    """Whether two notebooks have the same code, prose and tags."""
    contents = [
        [
            (cell.cell_type, cell.source, cell.metadata.get("tags", []))
            for cell in n.cells
        ]
        for n in (one, other)
    ]
    return contents[0] == contents[1]


def is_executed(notebook: NotebookNode) -> bool:
    """Whether the outputs are those of all cells, executed once in their order."""
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return counts == list(range(1, len(counts) + 1))


def synchronise(project: Path) -> list[str]:
    """Bring the two forms of each chapter in step.

    The form that somebody has edited since the last commit wins; if both were, the one
    that was saved last; if none was, as after a merge, the text. Outputs of cells whose
    code is the same stay. Returns the names of the chapters whose forms had been
    different.
    """
    changed = []
    for source in sources(project):
        stored = read_stored(project, source)
        if stored is None or not same_cells(read_source(source), stored):
            _touch_what_wins(project, source)
            jupytext(["--sync", "--quiet", str(source)])
            synchronised = read_stored(project, source)
            if stored is not None:
                _drop_foreign_outputs(synchronised, stored)
            stored = synchronised
            changed.append(source.stem)
        # without what JupyterLab notes of an execution
        store(project, source, stored)
    return changed


def _touch_what_wins(project: Path, source: Path) -> None:
    """Make the form newer that jupytext is to take, where git knows which."""
    path = notebook_path(project, source)
    text_edited = git(project, "status", "--porcelain", "--", str(source))
    notebook_edited = git(project, "status", "--porcelain", "--", str(path))
    if text_edited is None or notebook_edited is None or not path.is_file():
        return  # the times decide
    if not notebook_edited:
        source.touch()
    elif not text_edited:
        path.touch()


def _drop_foreign_outputs(notebook: NotebookNode, before: NotebookNode) -> None:
    """Leave outputs to those cells only that had them with the same code.

    jupytext gives those of a cell that is gone to the one that stands in its place.
    """
    executed = [(cell.source, cell.outputs) for cell in code_cells(before)]
    for cell in code_cells(notebook):
        if (cell.source, cell.outputs) not in executed:
            cell.outputs = []
            cell.execution_count = None


def store(project: Path, source: Path, notebook: NotebookNode) -> None:
    """Write the notebook of a chapter without what depends on time or machine."""
    name = str(source.relative_to(project))
    normal = notebooks.normalise(notebook, name)
    normal.metadata["jupytext"] = PAIRED
    notebooks.store(normal, notebook_path(project, source))


def not_executed(project: Path) -> list[str]:
    """Chapters with cells that have not the outputs of their code."""
    problems = []
    for source in sources(project):
        stored = read_stored(project, source)
        if stored and not is_executed(stored):
            problems.append(
                f"{source.relative_to(project)}: has cells that were not executed: "
                f"make store CHAPTER={source.stem}"
            )
    return problems


def out_of_step(project: Path) -> list[str]:
    """Chapters whose two forms differ, or whose outputs are not those of their code."""
    problems = not_executed(project)
    for source in sources(project):
        name = source.relative_to(project)
        stored = read_stored(project, source)
        if stored is None:
            problems.append(f"{name}: is not stored: make store CHAPTER={source.stem}")
        elif not same_cells(read_source(source), stored):
            problems.append(f"{name}: its notebook has other cells: make html")
    known = {notebook_path(project, source) for source in sources(project)}
    for path in sorted((project / "book" / "notebooks").glob("*.ipynb")):
        if path not in known:
            name = path.relative_to(project)
            problems.append(f"{name}: has no text: jupytext --sync {name}")
    return problems


def execute(project: Path, source: Path) -> tuple[Path, bool, dict | str]:
    """Execute a chapter and store it.

    Returns
    -------
    source : Path
    changed : bool
        Whether the stored notebook changed.
    outcome : dict or str
        What is to be known of the execution, or what went wrong.
    """
    name = str(source.relative_to(project))
    path = notebook_path(project, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes() if path.is_file() else b""
    try:
        executed, read = notebooks.execute(read_source(source), name, path.parent)
    except NotebookError as error:
        return source, False, str(error)
    store(project, source, executed)
    stored = read_stored(project, source)
    outcome = {"cells": _digest(stored), "files": digests(project, [*read, LOCK])}
    return source, path.read_bytes() != before, outcome


def behind(project: Path) -> list[Path]:
    """Chapters that might come out otherwise now than they are stored.

    Those with cells that were not executed, and those of which it is not known what
    they read, or that read a file which has changed since.
    """
    known = _read_record(project)
    chapters = []
    for source in sources(project):
        stored = read_stored(project, source)
        last = known.get(source.stem)
        is_current = (
            stored is not None
            and is_executed(stored)
            and last is not None
            and last["cells"] == _digest(stored)
            and last["files"] == digests(project, last["files"])
        )
        if not is_current:
            chapters.append(source)
    return chapters


def main(chapters: list[str], jobs: int | None = None) -> int:
    """Execute and store chapters, those behind if none is named; an exit status."""
    project = root()
    known = {path.stem: path for path in sources(project)}
    asked = [Path(name).stem for name in chapters]
    unknown = sorted(set(asked) - set(known))
    if unknown:
        print(f"no chapter {unknown[0]!r}; the chapters are {', '.join(known)}")
        return 2
    synchronise(project)
    wanted = [known[name] for name in asked] or behind(project)
    record = _read_record(project)
    changed = []
    errors = []
    work = [delayed(execute)(project, source) for source in wanted]
    ended = Parallel(n_jobs=jobs or -1, return_as="generator_unordered")(work)
    for source, is_changed, outcome in tqdm(ended, total=len(work), disable=None):
        if isinstance(outcome, str):
            errors.append(outcome)
            continue
        record[source.stem] = outcome
        write_whole(project / RECORD, canonical_json(record))
        if is_changed:
            changed.append(source.stem)
    print(
        f"{len(wanted) - len(errors)} chapters executed, {len(known) - len(wanted)} "
        f"as they were, {len(changed)} changed:"
    )
    print(*sorted(changed), sep="\n")
    print(*errors, sep="\n\n")
    return 1 if errors else 0


def _read_record(project: Path) -> dict[str, dict]:
    path = project / RECORD
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _digest(notebook: NotebookNode) -> str:
    """Hash of the code of a notebook with its outputs."""
    contents = [(cell.source, cell.outputs) for cell in code_cells(notebook)]
    return sha256(json.dumps(contents).encode()).hexdigest()
