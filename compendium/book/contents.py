"""The table of contents: which pages it lists, and which stand below a page."""

from functools import cache
from pathlib import Path

import yaml


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
