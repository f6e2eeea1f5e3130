"""Render the book from the stored notebooks; a failed build leaves the last one."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import nbformat

from compendium.build.chapters import out_of_step
from compendium.build.gates import (
    compare_folders,
    lint_environment,
    lint_notebook,
    lint_site,
    lint_source,
    lint_toc,
)
from compendium.build.notebooks import is_notebook
from compendium.build.pages import last_change
from compendium.build.proofs import write_proof_pages
from compendium.build.reference import write_pages
from compendium.build.runs import runs
from compendium.build.statements import lint_statements
from compendium.project import root


class RenderError(RuntimeError):
    """The book could not be rendered without warnings."""


def render(project: Path, target: Path) -> None:
    """Render the book into ``target``, which is replaced only if all went well.

    Raises
    ------
    RenderError
        With what Sphinx complained of; warnings count.
    """
    prepare(project)
    build(project, target)


def prepare(project: Path) -> None:
    """Write the pages that are made from code; a stored cell that failed raises."""
    failed = [
        f"{path.relative_to(project)}: a stored cell failed with {output.ename}"
        for path in sorted((project / "book").rglob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]
    if failed:
        raise RenderError("\n".join(failed))
    write_pages(project)
    write_proof_pages(project)


def build(project: Path, target: Path) -> None:
    """Call Sphinx on what is prepared; may be called for two targets at a time."""
    work = project / "_build"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="render-") as scratch:
        program = Path(sys.executable).with_name("jupyter-book")
        command = [str(program), "build", str(project)]
        command += ["-W", "-n", "--keep-going", "-q", "--path-output", scratch]
        environment = os.environ | {
            "SOURCE_DATE_EPOCH": last_change(project),
            "TZ": "UTC",
        }
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        built = Path(scratch, "_build", "html")
        if done.returncode or (built / "reports").exists():
            raise RenderError(_complaints(done.stdout + done.stderr))
        (built / ".buildinfo").unlink(missing_ok=True)
        if target.exists():
            target.replace(Path(scratch, "last"))
        built.replace(target)


def check_sources(project: Path) -> list[str]:
    """Problems in sources, stored notebooks, table of contents and environment."""
    book = project / "book"
    problems = lint_environment(project) + lint_statements(project)
    for path in sorted(book.rglob("*.md")):
        problems += lint_source(str(path.relative_to(project)), path.read_text())
    stored = sorted((book / "notebooks").rglob("*.ipynb"))
    records = sorted((book / "records").glob("*.ipynb"))
    for path in stored + records:
        notebook = nbformat.read(path, as_version=4)
        problems += lint_notebook(str(path.relative_to(project)), notebook)
    pages = {
        str(path.with_suffix("").relative_to(project))
        for path in [
            *(p for p in book.rglob("*.md") if not is_notebook(p)),
            *stored,
            *records,
        ]
    }
    expected = {f"book/records/{name}" for name in runs(project)}
    problems += [f"no lab record {name}" for name in sorted(expected - pages)]
    return problems + lint_toc(project, pages)


def main() -> int:
    """Render the book to ``_build/html``; say which page to open."""
    project = root()
    target = project / "_build" / "html"
    for problem in out_of_step(project):
        print(f"{problem}: make store")
    print("Rendering the book ...", flush=True)
    try:
        render(project, target)
    except RenderError as error:
        print(f"The book was not rendered; the last one is kept.\n{error}")
        return 1
    print(f"Open {target / 'index.html'}")
    return 0


def check() -> int:
    """Run every gate: sources, two renderings, pages; return an exit status.

    The two are made at the same time. The first stays in ``_build/html``.
    """
    project = root()
    problems = check_sources(project)
    print(f"sources and notebooks: {len(problems)} problems", flush=True)
    work = project / "_build"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="check-") as scratch:
        first, second = work / "html", Path(scratch, "second")
        try:
            prepare(project)
            with ThreadPoolExecutor() as pool:
                list(pool.map(partial(build, project), (first, second)))
        except RenderError as error:
            problems.append(str(error))
        else:
            problems += compare_folders(first, second) + lint_site(first)
            pages = len(list(first.rglob("*.html")))
            print(f"rendered twice: {pages} pages, {len(problems)} problems in all")
    for problem in problems:
        print(f"  {problem}")
    return 1 if problems else 0


def _complaints(log: str) -> str:
    log = re.sub(r"\x1b\[[0-9;]*m", "", log)
    marked = [
        line
        for line in log.splitlines()
        if "WARNING" in line or "ERROR" in line or "Exception" in line
    ]
    return "\n".join(marked) or log[-4000:]
