"""Report the amount of code in each folder, and its density.

A node is an expression or statement of Python's syntax tree. Lines are lines of code,
without comments, docstrings and blank lines. The measure of interest is the number of
ideas that a reader has to hold at once, so lines are free; density shows where code is
compressed.
"""

import ast
import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("memdlib", "compendium", "benchmarks", "tests")
# Functions of at least LONG lines are dense if they have DENSE nodes per line or more.
LONG, DENSE = 12, 8
LARGE = 150  # nodes; the docstring of a larger function has to give the reason

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
    """Additive counts of source code.

    Parameters
    ----------
    files, nodes, lines : int
        Numbers of files, nodes and lines.
    assignments, tuple_assignments : int
        Numbers of all assignments, and of those of the form ``a, b = x, y``.
    long_functions, dense_functions : int
        Numbers of functions with 12 lines or more, and of those among them with 8 nodes
        per line or more.
    large_functions : list of str
        Functions of more than 150 nodes, with their number of nodes.
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
    """Count expressions and statements."""
    return sum(isinstance(node, ast.expr | ast.stmt) for node in ast.walk(tree))


def count_lines(text: str, tree: ast.Module) -> int:
    """Count the lines that hold code."""
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
    """Measure the source code of one file."""
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
    """Add a function, without its docstring, to the counts."""
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
    """Measure all files of a folder together."""
    total = Size(0, 0, 0, 0, 0, 0, 0, [])
    for path in sorted(folder.rglob("*.py")):
        total += measure(path.read_text(encoding="utf-8"))
    return total


def main() -> None:
    """Print the report."""
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
        f"functions of memdlib with more than {LARGE} nodes:",
        *package.large_functions,
        sep="\n  ",
    )


if __name__ == "__main__":
    main()
