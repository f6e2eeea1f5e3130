"""Lab records by kind: which records stand below a page, and the table that lists them.

``_toc.yml`` says by a pattern which records belong to a page of ``book/kinds``; the
directive ``{records}`` of that page lists them.
"""

import fnmatch
from pathlib import Path

from compendium.build.contents import below, toc
from compendium.build.readable import markdown_table
from compendium.build.runs import Run, record_path, runs
from compendium.ledger.results import read_result


def runs_below(project: Path, page: str) -> list[Run]:
    """Runs whose lab records the table of contents has below a page.

    Parameters
    ----------
    project : Path
        Checkout.
    page : str
        As ``_toc.yml`` names it.

    Returns
    -------
    list of Run
        In the order of ``runs.toml``.

    Raises
    ------
    ValueError
        If there are none.
    """
    patterns = below(toc(project), page)
    found = [
        run
        for run in runs(project).values()
        if any(fnmatch.fnmatch(_page(project, run), pattern) for pattern in patterns)
    ]
    if not found:
        raise ValueError(f"_toc.yml lists no lab record below {page}")
    return found


def records_table(project: Path, page: str) -> list[str]:
    """The lab records below a page as a table in MyST, each with its run and time."""
    rows = []
    for run in runs_below(project, page):
        took = read_result(run.name, project)["seconds"]
        title = run.title.removeprefix("Lab record: ")
        link = f"{{doc}}`{title} </{_page(project, run)}>`"
        rows.append([link, f"`{run.name}`", duration(took)])
    return markdown_table(["lab record", "run", "time"], rows, "llr").splitlines()


def duration(seconds: float) -> str:
    """A time in seconds, or in minutes from two on.

    Examples
    --------
    >>> duration(42), duration(754)
    ('42 s', '13 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _page(project: Path, run: Run) -> str:
    path = record_path(project, run.name).relative_to(project)
    return str(path.with_suffix(""))
