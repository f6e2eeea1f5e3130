"""The table of contents: which pages it lists, and the numbered chapters among them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import yaml

_LABEL = re.compile(r"(?m)^\(([\w-]+)\)=\n# (.+)$")


@dataclass(frozen=True)
class Chapter:
    """A numbered chapter.

    Parameters
    ----------
    part : str
        Caption of its part.
    number : int
        As printed: chapters are counted through all parts.
    page : str
        Address in the built book, without ending.
    source : Path
        MyST source.
    """

    part: str
    number: int
    page: str
    source: Path

    @cached_property
    def text(self) -> str:
        """The MyST source, empty if there is none."""
        return self.source.read_text() if self.source.is_file() else ""

    @property
    def label(self) -> str:
        """Label in front of the title, empty if there is none."""
        found = _LABEL.search(self.text)
        return found[1] if found else ""

    @property
    def title(self) -> str:
        """Title of the page, without its number."""
        found = _LABEL.search(self.text)
        return found[2].strip() if found else self.source.stem


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


def source_of(project: Path, page: str) -> Path:
    """The MyST source of a page: a notebook is made from one of the same name."""
    return project / f"{page.replace('book/notebooks/', 'book/', 1)}.md"


def chapters(project: Path) -> list[Chapter]:
    """All numbered chapters, in their order.

    Parameters
    ----------
    project : Path
    """
    return list(_numbered(project))


def _numbered(project: Path) -> Iterator[Chapter]:
    number = 0
    for part in toc(project).get("parts", []):
        if not part.get("numbered"):
            continue
        for page in listed(part):
            number += 1
            yield Chapter(
                part.get("caption", ""), number, page, source_of(project, page)
            )
