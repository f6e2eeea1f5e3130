"""Symbols of each chapter, from the tables of the page of symbols."""

import re
from pathlib import Path

from compendium.build.contents import chapters

EVERYWHERE, FREE = "## In all chapters", "## Free letters"  # headings of the page
_ROW = re.compile(r"(?m)^## .*$|^(\| \$.*?\$ \| .* \|) (.*) \|$")
_REF = re.compile(r"\{ref\}`([\w-]+)`")


def by_chapter(project: Path) -> list[str]:
    """Lines of MyST: for each chapter its own symbols, as a folded table."""
    part, rows = "", []
    for match in _ROW.finditer((project / "book" / "symbols.md").read_text()):
        if match[1] is None:
            part = match[0]
        elif part not in (EVERYWHERE, FREE):
            rows.append((match[1], _REF.findall(match[2])))
    lines = []
    for chapter in chapters(project):
        own = [row for row, labels in rows if chapter.label in labels]
        if own:
            lines += [f":::{{dropdown}} {chapter.number}. {chapter.title}"]
            lines += ["| symbol | meaning |", "| :--- | :--- |", *own, ":::", ""]
    return lines
