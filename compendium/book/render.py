"""Render the book from the stored notebooks; a failed build leaves the last one."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from compendium.book import gates
from compendium.book.pages import last_change
from compendium.book.proofs import write_proof_pages
from compendium.book.reference import write_pages
from compendium.book.statements import lint_statements
from compendium.execution.chapters import out_of_step
from compendium.execution.notebooks import is_notebook
from compendium.execution.runs import runs
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
    write_pages(project)
    write_proof_pages(project)
    work = project / "_build"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="render-") as scratch:
        program = str(Path(sys.executable).with_name("jupyter-book"))
        command = [program, "build", str(project), "--path-output", scratch]
        command += ["-W", "-n", "--keep-going", "-q"]
        dates = {"SOURCE_DATE_EPOCH": last_change(project), "TZ": "UTC"}
        options = {"capture_output": True, "text": True, "env": os.environ | dates}
        done = subprocess.run(command, **options)
        built = Path(scratch, "_build", "html")
        if done.returncode or (built / "reports").exists():
            raise RenderError(_complaints(done.stdout + done.stderr))
        if target.exists():
            target.replace(Path(scratch, "last"))
        built.replace(target)


def check_sources(project: Path) -> list[str]:
    """Problems in sources, table of contents and environment."""
    book = project / "book"
    problems = gates.lint_environment(project) + lint_statements(project)
    for path in sorted(book.rglob("*.md")):
        problems += gates.lint_source(str(path.relative_to(project)), path.read_text())
    found = [path for path in book.rglob("*.md") if not is_notebook(path)]
    found += [*book.glob("notebooks/*.ipynb"), *book.glob("records/*.ipynb")]
    pages = {str(path.with_suffix("").relative_to(project)) for path in found}
    expected = {f"book/records/{name}" for name in runs(project)}
    problems += [f"no lab record {name}" for name in sorted(expected - pages)]
    return problems + gates.lint_toc(project, pages)


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
    """Run every gate on sources, notebooks and rendered pages; an exit status."""
    project = root()
    problems, target = check_sources(project), project / "_build" / "html"
    try:
        render(project, target)
        problems += gates.lint_site(target)
    except RenderError as error:
        problems.append(str(error))
    print(f"{len(problems)} problems in sources, notebooks and pages")
    print(*(f"  {problem}" for problem in problems), sep="\n")
    return 1 if problems else 0


def _complaints(log: str) -> str:
    log = re.sub(r"\x1b\[[0-9;]*m", "", log)
    marked = re.findall(r"(?m)^.*(?:WARNING|ERROR|Exception).*$", log)
    return "\n".join(marked) or log[-4000:]
