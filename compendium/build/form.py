"""The form of a chapter: which cells a reader sees, and what these may hold.

Visible cells are ones that a reader would type. The first imports public packages;
every other ends in something to look at; checks and the code of figures are folded.
"""

import ast
from collections.abc import Iterator

from compendium.build.cells import Cell, cells_of

# Folders of the book whose chapters keep to it.
ROOMS = ("theory", "nml", "objects", "evidence")
MAX_COLUMNS = 76
_PACKAGES = {"memdlib", "numpy", "scipy", "pandas", "matplotlib", "sklearn"}
_STANDARD = {
    "collections",
    "fractions",
    "functools",
    "itertools",
    "math",
    "pathlib",
    "tempfile",
}
_CHECKED = {"hide-cell", "checked"}


def is_visible(cell: Cell) -> bool:
    """Whether a page shows the code of a cell, open."""
    return not any(tag.startswith(("remove-", "hide-")) for tag in cell.tags)


def visible_cells(text: str) -> list[Cell]:
    """Cells of a chapter that a reader sees and may type, in their order.

    Parameters
    ----------
    text : str
        MyST source.
    """
    return [cell for cell in cells_of(text) if is_visible(cell)]


def lint_form(name: str, text: str) -> list[str]:
    """Problems of a chapter's cells, one line each.

    Parameters
    ----------
    name : str
        How messages name the chapter.
    text : str
        MyST source.
    """
    cells = cells_of(text)
    visible = [cell for cell in cells if is_visible(cell)]
    problems = [] if not visible else _import_cell(cells[0])
    for cell in visible:
        problems += _visible(cell, first=cell is cells[0])
    for cell in cells:
        problems += _folded(cell)
        if "remove-cell" not in cell.tags and "remove-input" not in cell.tags:
            problems += _wide(cell)
    return [f"{name}:{line}: {message}" for line, message in sorted(problems)]


def _import_cell(cell: Cell) -> list[tuple[int, str]]:
    body = cell.tree().body
    only = body and all(isinstance(n, ast.Import | ast.ImportFrom) for n in body)
    if is_visible(cell) and only:
        return []
    return [(cell.line, "the first code cell is not the visible one with the imports")]


def _visible(cell: Cell, *, first: bool) -> Iterator[tuple[int, str]]:
    tree = cell.tree()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, "an assertion in a visible cell; a check is folded"
        for module in _imported(node):
            if not first:
                yield node.lineno, f"imports {module} outside the cell of imports"
            if module.split(".")[0] not in _PACKAGES | _STANDARD:
                yield node.lineno, f"a visible cell imports {module}"
    if not first and not _shows(tree, cell.code):
        yield cell.line, "a visible cell ends in nothing to look at"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def _shows(tree: ast.Module, code: str) -> bool:
    """Whether the last statement is an expression, or prints or displays."""
    if not tree.body or code.rstrip().endswith(";"):
        return False
    last = tree.body[-1]
    if isinstance(last, ast.FunctionDef | ast.ClassDef):
        return False
    shown = {"print", "display"}
    return isinstance(last, ast.Expr) or any(
        isinstance(n, ast.Call) and getattr(n.func, "id", "") in shown
        for n in ast.walk(last)
    )


def _folded(cell: Cell) -> Iterator[tuple[int, str]]:
    """Checks are folded whole and end in ``checked``; figures fold their code."""
    body = cell.tree().body
    called = _called(body[-1]) if body else ""
    for tag in cell.tags:
        if tag.startswith(("witness-", "second-")):
            if not _CHECKED <= set(cell.tags):
                yield cell.line, f"{tag} lacks the tags hide-cell and checked"
    if ("checked" in cell.tags) != (called == "checked"):
        yield cell.line, "the tag checked and a last line checked(...) go together"
    if any(_called(node) == "show" for node in body) and "hide-input" not in cell.tags:
        yield cell.line, "the code of a figure folds: its tag is hide-input"


def _called(node: ast.stmt) -> str:
    value = getattr(node, "value", None)
    return getattr(value.func, "id", "") if isinstance(value, ast.Call) else ""


def _wide(cell: Cell) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(cell.code.splitlines(), start=cell.line):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns of code; {MAX_COLUMNS} are seen at once"
