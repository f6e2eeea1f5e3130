"""The package stays small: its lines of code, its docstrings and its files."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import memdlib

ROOT = Path(memdlib.__file__).parent
CEILINGS = {
    "(top)": 994,
    "conditional": 387,
    "datasets": 157,
    "densities": 1073,
    "families": 1087,
    "generative": 3178,
    "moments": 267,
    "nml": 2003,
    "topics": 697,
}
FILES, DOCSTRINGS = 90, 0.88

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


def test_code_files_and_docstrings_stay_below_their_ceilings():
    code, told, files = Counter(), 0, sorted(ROOT.rglob("*.py"))
    for path in files:
        own, documented = lines(path.read_text())
        folder, *inside = path.relative_to(ROOT).parts
        code[folder if inside else "(top)"] += own
        told += documented
    assert code == {name: min(code[name], most) for name, most in CEILINGS.items()}
    assert len(files) <= FILES
    assert told <= DOCSTRINGS * code.total()
