"""Statements of the book: what is proved, which tests try it, and in which code it is.

Every theorem, proposition, lemma and corollary of a chapter is followed by its proof
and by a line ``*In code:* ...`` that names the functions which embody it. The tests of
a chapter stand in ``tests/book/<part>/test_<chapter>.py``, with ``_`` for ``-``:
``test_<label>_witness`` tries a statement, ``test_<label>_second`` computes it in a way
that shares no code with the first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pydoc import locate

from compendium.book.display import markdown_table
from compendium.book.proofs import Checked, counted

KINDS = ("theorem", "proposition", "lemma", "corollary")
PAGE = "book/statements"

_DIRECTIVE = re.compile(
    r"^(?::{3,}|`{3,})\{prf:(?P<kind>\w+)\}[ \t]*(?P<title>[^\n]*)\n"
    r"(?::label:[ \t]*(?P<label>\S+))?",
    re.MULTILINE,
)
_IN_CODE = re.compile(r"^\*In code:\*(?P<names>.*(?:\n(?!\n).*)*)", re.MULTILINE)
_ROLE = re.compile(r"\{py:(?:func|meth|class)\}`~?(?P<name>[\w.]+)`")


@dataclass(frozen=True)
class Statement:
    """One numbered statement.

    Parameters
    ----------
    label, title : str
    source : Path
        Chapter that makes it.
    proved : bool
        Whether its proof is the next directive.
    functions : tuple of str
        Full names of what embodies it.
    """

    label: str
    title: str
    source: Path
    proved: bool
    functions: tuple[str, ...]

    def test_file(self) -> str:
        """File of its tests, below ``tests/book``; its name alone if there is none."""
        name = f"test_{self.source.stem.replace('-', '_')}.py"
        tests = self.source.parents[2] / "tests" / "book"
        written = sorted(tests.rglob(name))
        return str(written[0].relative_to(tests)) if written else name

    def tests(self) -> tuple[str, str]:
        """Names of its two tests."""
        name = f"test_{self.label.replace('-', '_')}"
        return f"{name}_witness", f"{name}_second"

    def problems(self, project: Path) -> list[str]:
        """What is missing, one line each."""
        path = project / "tests" / "book" / self.test_file()
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lost = [test for test in self.tests() if f"\ndef {test}(" not in f"\n{text}"]
        faults = [f"has no test {test} in {path.name}" for test in lost]
        if not self.proved:
            faults.append("is not directly followed by its proof")
        if not self.functions:
            faults.append("has no line '*In code:*' that names functions")
        missing = [name for name in self.functions if locate(name) is None]
        faults += [f"names {name}, which cannot be imported" for name in missing]
        return [f"{self.source.name}: {self.label} {fault}" for fault in faults]


def read_statements(project: Path) -> list[Statement]:
    """All statements of the book, in its order.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of Statement
    """
    contents = (project / "_toc.yml").read_text(encoding="utf-8")
    paths = list((project / "book" / "chapters").glob("*.md"))
    paths.sort(key=lambda p: (contents.find(f"/{p.stem}\n") % (1 << 30), p))
    return [statement for path in paths for statement in statements_of(path)]


def statements_of(path: Path) -> list[Statement]:
    """Statements of one chapter, in the order of the text.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of Statement

    Raises
    ------
    ValueError
        If a statement has no label.
    """
    text = path.read_text(encoding="utf-8")
    directives = list(_DIRECTIVE.finditer(text))
    made = [i for i, d in enumerate(directives) if d["kind"] in KINDS]
    ends = [directives[i].start() for i in made[1:]] + [len(text)]
    statements = []
    for i, end in zip(made, ends, strict=False):
        kind, title, label = directives[i].group("kind", "title", "label")
        if not label:
            raise ValueError(f"{path.name}: a {kind} has no label")
        proved = any(d["kind"] == "proof" for d in directives[i + 1 : i + 2])
        code = _IN_CODE.search(text, directives[i].end(), end)
        functions = tuple(_ROLE.findall(code["names"])) if code else ()
        statements.append(Statement(label, title.strip(), path, proved, functions))
    return statements


def lint_statements(project: Path) -> list[str]:
    """Problems of all statements: missing proof, tests or code, labels given twice.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
    """
    statements = read_statements(project)
    problems = [problem for s in statements for problem in s.problems(project)]
    labels = [s.label for s in statements]
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    return problems + [f"the label {label} is given twice" for label in repeated]


def index_table(
    statements: list[Statement], checked: Mapping[str, Checked]
) -> list[str]:
    """The index of statements as lines of MyST.

    Parameters
    ----------
    statements : list of Statement
    checked : mapping of str to Checked
        What Coq has checked, by label.

    Returns
    -------
    list of str
    """
    here = [checked[s.label] for s in statements if s.label in checked]
    rows = []
    for s in statements:
        formal = checked.get(s.label)
        machine = f"{{ref}}`{formal.extent} <{formal.anchor}>`" if formal else ""
        code = ", ".join(f"{{py:obj}}`~{name}`" for name in s.functions)
        mark = f'<span id="{anchor(s.label)}"></span>{{prf:ref}}`{s.label}`'
        rows.append([mark, s.title, f"`{s.test_file()}`", machine, code])
    heads = ["statement", "says", "tests", "machine-checked", "in code"]
    table = markdown_table(heads, rows, "lllll")
    return [counted(len(statements), here), "", *table.splitlines()]


def anchor(label: str) -> str:
    """Where the index has a statement."""
    return f"checks-of-{label}"
