"""How much there is to read, and how dense it is: a report by folder.

A node is an expression or a statement of Python's syntax tree. Lines are those that
hold code: no comments, no docstrings, no blank lines. What counts is how many ideas a
reader has to hold at once, so that lines are free; density shows where text is
compressed.
"""

import ast
import io
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("memdlib", "compendium", "benchmarks", "tests")
# More than that is no small package.
MOST_NODES = 50_000
# Functions of so many lines are dense if they have so many nodes on each of them.
LONG, DENSE = 12, 8
LARGE = 150  # nodes of one function, of which the docstring has to say why

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Size:
    """Counts of some source text, which add up.

    Parameters
    ----------
    files, nodes, lines : int
    assignments, tuple_assignments : int
        All, and those of the form ``a, b = x, y``.
    long_functions, dense_functions : int
        Of 12 lines or more, and those of them with 8 nodes on each line or more.
    large_functions : list of str
        Those of more than 150 nodes.
    """

    files: int
    nodes: int
    lines: int
    assignments: int
    tuple_assignments: int
    long_functions: int
    dense_functions: int
    large_functions: list[str]

    def __add__(self, other: "Size") -> "Size":
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Size(*(mine + theirs for mine, theirs in pairs))


def count_nodes(tree: ast.AST) -> int:
    """Number of expressions and statements."""
    return sum(isinstance(node, ast.expr | ast.stmt) for node in ast.walk(tree))


def count_lines(text: str, tree: ast.Module) -> int:
    """Number of lines that hold code."""
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            docstrings.update(range(docstring.lineno, docstring.end_lineno + 1))
    code = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def measure(text: str) -> Size:
    """Counts of one file."""
    tree = ast.parse(text)
    size = Size(1, count_nodes(tree), count_lines(text, tree), 0, 0, 0, 0, [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            size.assignments += 1
            target, value = node.targets[0], node.value
            size.tuple_assignments += isinstance(target, ast.Tuple) and isinstance(
                value, ast.Tuple
            )
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _add_function(size, node)
    return size


def _add_function(size: Size, function: ast.FunctionDef) -> None:
    """Count a function without its docstring."""
    has_docstring = ast.get_docstring(function) is not None
    body = function.body[1:] if has_docstring else function.body
    if not body:
        return
    n_nodes = sum(map(count_nodes, body))
    n_lines = body[-1].end_lineno - body[0].lineno + 1
    if n_lines >= LONG:
        size.long_functions += 1
        size.dense_functions += n_nodes / n_lines >= DENSE
    if n_nodes > LARGE:
        size.large_functions.append(f"{function.name} {n_nodes}")


def of_folder(folder: Path) -> Size:
    """Counts of all files of a folder together."""
    total = Size(0, 0, 0, 0, 0, 0, 0, [])
    for path in sorted(folder.rglob("*.py")):
        total += measure(path.read_text())
    return total


def main() -> int:
    """Print the report; one where memdlib has become too large."""
    print("folder        files   nodes   lines  nodes/line  tuple %  dense %  large")
    for name in FOLDERS:
        size = of_folder(ROOT / name)
        tuples = 100 * size.tuple_assignments / max(size.assignments, 1)
        dense = 100 * size.dense_functions / max(size.long_functions, 1)
        print(
            f"{name:13s} {size.files:5d} {size.nodes:7d} {size.lines:7d} "
            f"{size.nodes / size.lines:11.2f} {tuples:8.1f} {dense:8.0f} "
            f"{len(size.large_functions):6d}"
        )
        if name == "memdlib":
            package = size
    print(
        f"functions of memdlib above {LARGE} nodes:",
        *package.large_functions,
        sep="\n  ",
    )
    if package.nodes > MOST_NODES:
        print(f"memdlib has {package.nodes} nodes, more than {MOST_NODES}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
