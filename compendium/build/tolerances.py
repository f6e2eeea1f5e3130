"""Tolerances that say all they allow.

``np.isclose(a, b, atol=1e-12)`` also allows a relative difference of 1e-5, its default:
an absolute tolerance alone says less than the test lets through.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from compendium.build.cells import cells_of

# name to the number of positional arguments before rtol
_COMPARE = {"isclose": 2, "allclose": 2, "assert_allclose": 2}


def hidden_tolerances(tree: ast.AST) -> list[int]:
    r"""Lines of comparisons that give ``atol`` and keep the default of ``rtol``.

    Examples
    --------
    >>> code = "np.isclose(a, b, atol=1)\nnp.isclose(a, b, rtol=0, atol=1)"
    >>> hidden_tolerances(ast.parse(code))
    [1]
    """
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = {keyword.arg for keyword in node.keywords}
        if name in _COMPARE and len(node.args) <= _COMPARE[name]:
            if "atol" in given and not given & {"rtol", None}:
                found.append(node.lineno)
    return sorted(found)


def lint_tolerances(project: Path) -> list[str]:
    """Comparisons in cells and tests that hide a tolerance.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
    """
    return [
        f"{path.relative_to(project)}:{line}: atol without rtol allows a relative "
        "difference too; give rtol as well (0 for none)"
        for path, tree in _syntax(project)
        for line in hidden_tolerances(tree)
    ]


def _syntax(project: Path) -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted((project / "book").rglob("*.md")):
        for cell in cells_of(path.read_text()):
            yield path, cell.tree()
    for path in sorted((project / "tests").rglob("*.py")):
        yield path, ast.parse(path.read_text())
