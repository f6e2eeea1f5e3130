"""The gates, on all sources, notebooks and rendered pages of a checkout."""

from pathlib import Path

from compendium.book import gates
from compendium.book.statements import lint_statements
from compendium.execution.chapters import out_of_step
from compendium.execution.notebooks import is_notebook
from compendium.execution.runs import runs
from compendium.project import root


def check_sources(project: Path) -> list[str]:
    """Problems in sources, notebooks and the table of contents."""
    book = project / "book"
    problems = lint_statements(project) + out_of_step(project)
    for path in sorted(book.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(project))
        problems += gates.lint_source(name, text) + gates.lint_cells(name, text)
        problems += gates.lint_lists(name, text)
        if path.parent.name == "chapters":
            problems += gates.lint_headings(name, text)
    listed = [path for path in book.rglob("*.md") if not is_notebook(path)]
    listed += [*book.glob("notebooks/*.ipynb"), *book.glob("records/*.ipynb")]
    pages = {str(path.with_suffix("").relative_to(project)) for path in listed}
    expected = {f"book/records/{name}" for name in runs(project)}
    problems += [f"no lab record {name}" for name in sorted(expected - pages)]
    return problems + gates.lint_toc(project, pages)


def main() -> int:
    """Say what is wrong in sources and in the pages of ``_build/html``; a status."""
    project = root()
    site = project / "_build" / "html"
    problems = check_sources(project)
    if (site / "index.html").is_file():
        problems += gates.lint_site(site)
    else:
        problems.append("there is no _build/html/index.html: make html")
    print(f"{len(problems)} problems in sources, notebooks and pages")
    print(*(f"  {problem}" for problem in problems), sep="\n")
    return 1 if problems else 0
