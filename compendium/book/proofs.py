"""Statements of the book that Coq has checked: which, how far, and pages on them.

All of it stands in the tables of ``proofs/README.md`` and in the sources.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from compendium.book.display import markdown_table
from compendium.project import write_whole
from proofs.check import ALLOWED, HERE, Theorem, sources, theorems

PAGES = "book/proofs"  # folder of the pages that show the sources

_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_HEAD = re.compile(r"\(\*\* (?P<title>.*?)[.:]\s+(?P<text>.*?)\s*\*\)\s*", re.DOTALL)
_CHAPTER = re.compile(r" \(book/[\w/-]+\.md\)")


@dataclass(frozen=True)
class Checked:
    """One statement of the book, and the theorems that prove it.

    Parameters
    ----------
    label : str
    only_for : str
        A condition that the book's statement does without; may be empty.
    not_checked : str
        What the statement says beyond the theorems; may be empty.
    theorems : tuple of (Theorem, str, str, str)
        Each with what it proves in the book's words, its statement in one line, and
        where it differs from the book's words.
    """

    label: str
    only_for: str
    not_checked: str
    theorems: tuple[tuple[Theorem, str, str, str], ...]

    @property
    def mark(self) -> str:
        """What the book says under the statement."""
        part = " in part," if self.not_checked else ""
        also = f" and {self.only_for}" if self.only_for else ""
        return f"machine-checked{part} for finite sample spaces{also}"

    @property
    def extent(self) -> str:
        """The same for a table that is headed machine-checked."""
        if self.not_checked:
            return "in part"
        return f"for {self.only_for}" if self.only_for else "yes"

    @property
    def anchor(self) -> str:
        """Label of the part of a page that is on the statement."""
        return f"proof-{self.label}"

    @property
    def role(self) -> str:
        """Role that refers to the statement, which may be an exercise."""
        return "ref" if self.label.startswith("ex-") else "prf:ref"


def read_checked(readme: Path = HERE / "README.md") -> dict[str, Checked]:
    """All statements that are checked, by label, in the order of the table.

    Parameters
    ----------
    readme : Path, optional
        File that holds the two tables; by default that of the proofs.

    Returns
    -------
    dict of str to Checked

    Raises
    ------
    ValueError
        If the tables and the theorems are not of the same statements.
    """
    scopes, rows = map(_cells, _TABLE.findall(readme.read_text(encoding="utf-8")))
    proved = {theorem.name: theorem for theorem in theorems()}
    theorems_by_label: dict[str, list] = {label: [] for label, *_ in scopes}
    listed = [row[:2] for row in rows] == [[t.label, t.name] for t in proved.values()]
    labels = list(dict.fromkeys(row[0] for row in rows))
    if not listed or list(theorems_by_label) != labels:
        raise ValueError(
            f"{readme}: the last table has to list the theorems of the sources with "
            "their labels, in their order, and the first one their statements"
        )
    for label, name, *row in rows:
        theorems_by_label[label].append((proved[name], *row))
    return {row[0]: Checked(*row, tuple(theorems_by_label[row[0]])) for row in scopes}


def _cells(table: str) -> list[list[str]]:
    """Cells of the rows of a table, its head aside."""
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [[cell.strip(" `") for cell in row] for row in rows]


def counted(statements: int, checked: Collection[Checked]) -> str:
    """How many statements are checked, and how far, as a sentence.

    Examples
    --------
    >>> counted(3, [Checked("thm-a", "", "part 2", ())])  # doctest: +ELLIPSIS
    '1 of 3 statements are machine-checked for finite ..., 1 of them in part and 0 ...'
    """
    parts = sum(bool(one.not_checked) for one in checked)
    more = sum(bool(one.only_for and not one.not_checked) for one in checked)
    return (
        f"{len(checked)} of {statements} statements are machine-checked for finite "
        f"sample spaces, {parts} of them in part and {more} more on a condition."
    )


def checked_table(checked: Collection[Checked]) -> list[str]:
    """What is checked and what is not, as lines of MyST."""
    rows = []
    for one in checked:
        names = ", ".join(f"`{theorem.name}`" for theorem, *_ in one.theorems)
        link = f"{{ref}}`in Coq <{one.anchor}>`: {names}"
        book = f"{{{one.role}}}`{one.label}`"
        rows.append([book, one.only_for, one.not_checked, link])
    heads = ["in the book", "only for", "not checked", "theorems"]
    return markdown_table(heads, rows, "llll").splitlines()


def axioms() -> list[str]:
    """What a theorem may rest on, as a list in MyST."""
    return [f"- `{name}`: {meaning}" for name, meaning in ALLOWED.items()]


def page(path: Path, checked: Collection[Checked]) -> str:
    """The page of a source, as reStructuredText: its theorems in words, and itself."""
    head = _HEAD.match(path.read_text(encoding="utf-8"))
    title, text = (_CHAPTER.sub("", " ".join(head[part].split())) for part in (1, 2))
    lines = [f"{title} (Coq)", "=" * (len(title) + 6), "", _text(text), ""]
    for statement in checked:
        lines += _section(statement)
    lines += ["The whole source", "-" * 16, ""]
    lines += [f".. literalinclude:: ../../proofs/{path.name}", "   :language: coq", ""]
    return "\n".join(lines)


def write_proof_pages(project: Path) -> None:
    """Write the pages of all sources anew."""
    checked = read_checked().values()
    for path in sources():
        statements = [c for c in checked if c.theorems[0][0].path == path]
        write_whole(project / PAGES / f"{path.stem}.rst", page(path, statements))


def _section(statement: Checked) -> Iterator[str]:
    """The part on one statement: how far it is checked, and each theorem in a line."""
    title = _capital(statement.theorems[0][1])
    yield from (f".. _{statement.anchor}:", "", title, "-" * len(title), "")
    left = statement.not_checked and f" Not checked: {statement.not_checked}."
    yield f":{statement.role}:`{statement.label}`: {statement.mark}.{_text(left)}"
    for theorem, words, formula, differs in statement.theorems:
        more = differs and f" Differs from the book: {differs}."
        said = _text(f"{_capital(words)}. In one line: {formula}.{more}")
        yield from ("", f"``{theorem.name}``", f"   {said}")
    yield ""


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _text(words: str) -> str:
    """Words with nothing in them that reStructuredText would read; code in brackets."""
    plain = re.sub(r"([\\*`|])|_(?!\w)", lambda m: f"\\{m[0]}", words)
    return re.sub(r"\[(\w+)\]", r"``\1``", plain)
