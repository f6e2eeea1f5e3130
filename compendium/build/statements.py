"""Statements of the book: what is proved, where it is witnessed, and in which code.

Every theorem, proposition, lemma and corollary of a chapter is followed by its proof
and by a line ``*In code:* ...`` that names the functions which embody it; one cell of
the chapter with the tag ``witness-<label>`` tries it, and another, ``second-<label>``,
computes it in a way that shares no code with the first. The index, the links from the
reference page back to the statements, and a gate are all read from there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from compendium.build.cells import cells_of
from compendium.build.machine_checked import Checked, counted
from compendium.build.readable import markdown_table

KINDS = ("theorem", "proposition", "lemma", "corollary")
ROOMS = ("theory", "nml", "objects")  # folders of the book that state and prove
ALSO = ("evidence",)  # those of which some chapters do

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
    label, kind, title : str
    source : Path
        Chapter that makes it.
    proved : bool
        Whether its proof is the next directive.
    functions : tuple of str
        Full names of what embodies it.
    witness, second : int or None
        Which code cells of the chapter try it and compute it once more.
    """

    label: str
    kind: str
    title: str
    source: Path
    proved: bool
    functions: tuple[str, ...]
    witness: int | None
    second: int | None

    def problems(self) -> list[str]:
        """What is missing, one line each."""
        found = []
        if not self.proved:
            found.append("is not directly followed by its proof")
        if self.witness is None:
            found.append(f"has no cell with the tag witness-{self.label}")
        if self.second is None:
            found.append(f"has no cell with the tag second-{self.label}")
        elif self.second == self.witness:
            found.append("has its witness and its second computation in one cell")
        if not self.functions:
            found.append("has no line '*In code:*' that names functions")
        found += [
            f"names {name}, which cannot be imported"
            for name in self.functions
            if not _exists(name)
        ]
        return [f"{self.source.name}: {self.label} {text}" for text in found]


def chapters_with_statements(project: Path) -> list[Path]:
    """Sources of the chapters that state and prove, in the order of the book.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of Path
    """
    contents = (project / "_toc.yml").read_text()

    def place(path: Path) -> tuple[int, Path]:
        name = f"{path.parent.name}/{path.stem}\n"
        return contents.find(name) % (1 << 30), path

    def found(rooms: tuple[str, ...]) -> list[Path]:
        return [p for room in rooms for p in (project / "book" / room).glob("*.md")]

    paths = found(ROOMS) + [p for p in found(ALSO) if statements_of(p)]
    return sorted(paths, key=place)


def read_statements(project: Path) -> list[Statement]:
    """All statements of the book, in its order.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of Statement
    """
    chapters = chapters_with_statements(project)
    return [statement for path in chapters for statement in statements_of(path)]


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
    text, found = path.read_text(), []
    tags = [cell.tags for cell in cells_of(text)]
    directives = list(_DIRECTIVE.finditer(text))
    made = [d for d in directives if d["kind"] in KINDS]
    for directive in made:
        label = directive["label"]
        if not label:
            raise ValueError(f"{path.name}: a {directive['kind']} has no label")
        after = directives[directives.index(directive) + 1 :]
        later = [d.start() for d in made if d.start() > directive.start()]
        part = text[directive.end() : min(later, default=len(text))]
        code = _IN_CODE.search(part)
        found.append(
            Statement(
                label=label,
                kind=directive["kind"],
                title=directive["title"].strip(),
                source=path,
                proved=bool(after) and after[0]["kind"] == "proof",
                functions=tuple(_ROLE.findall(code["names"])) if code else (),
                witness=_cell(tags, f"witness-{label}"),
                second=_cell(tags, f"second-{label}"),
            )
        )
    return found


def lint_statements(project: Path) -> list[str]:
    """Problems of all statements: missing proof, witness, second computation, code.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
    """
    statements = read_statements(project)
    problems = [problem for s in statements for problem in s.problems()]
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
        rows.append([f"{{prf:ref}}`{s.label}`", s.title, machine, code])
    heads = ["statement", "says", "machine-checked", "in code"]
    table = markdown_table(heads, rows, "llll")
    return [counted(len(statements), here), "", *table.splitlines()]


def statements_by_function(statements: list[Statement]) -> dict[str, list[str]]:
    """Labels of the statements that each function embodies.

    Parameters
    ----------
    statements : list of Statement

    Returns
    -------
    dict of str to list of str
    """
    found: dict[str, list[str]] = {}
    for statement in statements:
        for name in statement.functions:
            found.setdefault(name, []).append(statement.label)
    return found


def _cell(tags: list[tuple[str, ...]], tag: str) -> int | None:
    return next((i for i, of_cell in enumerate(tags) if tag in of_cell), None)


def _exists(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[cut:]:
                thing = getattr(thing, part)
        except AttributeError:
            return False
        return True
    return False
