"""The project stays small: lines of code by folder; files and docstrings of memdlib."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# They only go down.
CODE = {"memdlib": 7465, "compendium": 4495, "benchmarks": 1147, "tests": 15889}
FILES, DOCSTRINGS = 69, 0.6

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def lines(text):
    """Lines of code and of docstrings; comments and blank lines are neither."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            said = node.body[0]
            docstrings.update(range(said.lineno, said.end_lineno + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = [(t.start[0], t.end[0]) for t in tokens if t.type not in LAYOUT]
    code = {line for first, last in spans for line in range(first, last + 1)}
    return len(code - docstrings), len(docstrings)


def test_lines_are_counted_by_kind():
    text = '"""Doc\n\nstring."""\n\nx = [\n1,\n]  # comment\n# comment\ny = 2\n'
    assert lines(text) == (4, 3)


@pytest.mark.parametrize("folder", CODE)
def test_code_stays_below_its_ceiling(folder):
    paths = (ROOT / folder).rglob("*.py")
    assert sum(lines(path.read_text())[0] for path in paths) <= CODE[folder]


def test_files_and_docstrings_of_the_package_stay_below_theirs():
    paths = list((ROOT / "memdlib").rglob("*.py"))
    code, told = zip(*(lines(path.read_text()) for path in paths), strict=True)
    assert len(paths) <= FILES
    assert sum(told) <= DOCSTRINGS * sum(code)
