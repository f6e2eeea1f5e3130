"""Code cells of a chapter with their tags and the line of the source they begin on."""

import ast
import re
from dataclasses import dataclass

_CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?P<options>(?::[^\n]*\n)*)(?P<code>.*?)^```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_TAGS = re.compile(r"^:tags:[ \t]*\[(?P<tags>[^\]]*)\]", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One code cell.

    Parameters
    ----------
    line : int
        Line of the source on which its code begins.
    tags : tuple of str
    code : str
    """

    line: int
    tags: tuple[str, ...]
    code: str

    def tree(self) -> ast.Module:
        """Its syntax, with lines of the source; empty if it is not Python.

        That a cell is not Python is what another gate says.
        """
        try:
            return ast.increment_lineno(ast.parse(self.code), self.line - 1)
        except SyntaxError:
            return ast.Module([], [])


def cells_of(text: str) -> list[Cell]:
    r"""Code cells of a MyST notebook, in their order.

    Examples
    --------
    >>> cells_of("A\n```{code-cell} ipython3\n:tags: [a, b]\nx = 1\n```\n")
    [Cell(line=4, tags=('a', 'b'), code='x = 1\n')]
    """
    found = []
    for match in _CELL.finditer(text):
        tags = _TAGS.search(match["options"])
        names = re.split(r"[\s,]+", tags["tags"].strip()) if tags else []
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(Cell(line, tuple(filter(None, names)), match["code"]))
    return found


def is_visible(cell: Cell) -> bool:
    """Whether a page shows the code of a cell, open."""
    return not any(tag.startswith(("remove-", "hide-")) for tag in cell.tags)


def visible_cells(text: str) -> list[Cell]:
    """Cells of a MyST chapter that a reader sees and may type, in their order."""
    return [cell for cell in cells_of(text) if is_visible(cell)]
