"""The table of contents: which pages it lists, and the lab records below a page."""

import fnmatch
from functools import cache
from pathlib import Path

import yaml

from compendium.build.display import markdown_table
from compendium.build.runs import runs
from compendium.ledger.results import read_result


def toc(project: Path) -> dict:
    """What ``_toc.yml`` says."""
    return parsed((project / "_toc.yml").read_text())


@cache
def parsed(text: str) -> dict:
    """What a text in YAML says; parsed once, and not to be changed."""
    return yaml.safe_load(text)


def listed(
    node: dict | list | str, keys: tuple[str, ...] = ("file", "root")
) -> list[str]:
    """What a table of contents, or a part of it, lists under some keys, in order.

    Pages, if no keys are given; ``glob`` has patterns of pages.
    """
    if isinstance(node, dict):
        own = [node[key] for key in keys if key in node]
        return own + [page for value in node.values() for page in listed(value, keys)]
    if isinstance(node, list):
        return [page for item in node for page in listed(item, keys)]
    return []


def below(node: dict | list | str, page: str) -> list[str]:
    """Pages and patterns of pages that stand right below a page.

    Parameters
    ----------
    node : dict or list or str
        A table of contents, or a part of it.
    page : str
        As the table of contents names it.

    Examples
    --------
    >>> below([{"file": "a", "sections": [{"glob": "b-*"}, {"file": "c"}]}], "a")
    ['b-*', 'c']
    """
    if isinstance(node, dict):
        if node.get("file") == page:
            return [s.get("glob") or s["file"] for s in node.get("sections", [])]
        return below(list(node.values()), page)
    if isinstance(node, list):
        return [found for item in node for found in below(item, page)]
    return []


def records_table(project: Path, page: str) -> list[str]:
    """The lab records below a page as a table in MyST, each with its run and time.

    Parameters
    ----------
    project : Path
    page : str
        As ``_toc.yml`` names it.

    Raises
    ------
    ValueError
        If there are none.
    """
    patterns, rows = below(toc(project), page), []
    for run in runs(project).values():
        record = f"book/records/{run.name}"
        if any(fnmatch.fnmatch(record, pattern) for pattern in patterns):
            title = run.title.removeprefix("Lab record: ")
            took = duration(read_result(run.name, project)["seconds"])
            rows.append([f"{{doc}}`{title} </{record}>`", f"`{run.name}`", took])
    if not rows:
        raise ValueError(f"_toc.yml lists no lab record below {page}")
    return markdown_table(["lab record", "run", "time"], rows, "llr").splitlines()


def duration(seconds: float) -> str:
    """A time in seconds, or in minutes from two on.

    Examples
    --------
    >>> duration(42), duration(754)
    ('42 s', '13 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
