"""Statements of the book that Coq has checked: which, and how far.

Both stand in the tables of ``proofs/README.md`` and nowhere else: marks under
statements, counts and pages are made from there.
"""

import re
from collections.abc import Collection, Container
from dataclasses import dataclass
from pathlib import Path

from compendium.build.readable import markdown_table
from proofs.check import ALLOWED, HERE, Theorem, theorems

PAGES = "book/proofs"  # folder of the pages that show the sources

_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Formal:
    """One theorem in Coq.

    Parameters
    ----------
    theorem : proofs.check.Theorem
    words : str
        What it proves, in the book's words.
    formula : str
        Its statement in one line.
    differs : str
        Where it differs from the book's words; may be empty.
    """

    theorem: Theorem
    words: str
    formula: str
    differs: str


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
    theorems : tuple of Formal
    """

    label: str
    only_for: str
    not_checked: str
    theorems: tuple[Formal, ...]

    @property
    def mark(self) -> str:
        """What the book says under the statement."""
        part = " in part," if self.not_checked else ""
        also = f" and {self.only_for}" if self.only_for else ""
        return f"Machine-checked{part} for finite sample spaces{also}"

    @property
    def extent(self) -> str:
        """The same for a table that is headed machine-checked."""
        if self.not_checked:
            return "in part"
        return f"for {self.only_for}" if self.only_for else "yes"

    @property
    def page(self) -> str:
        """Page that shows the theorems."""
        return f"{PAGES}/{self.theorems[0].theorem.path.stem}"

    @property
    def anchor(self) -> str:
        """Place on this page, and its label for references."""
        return f"proof-{self.label}"


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
    scopes, rows = map(_cells, _TABLE.findall(readme.read_text()))
    proved = {theorem.name: theorem for theorem in theorems()}
    if [row[:2] for row in rows] != [[t.label, t.name] for t in proved.values()]:
        raise ValueError(
            f"{readme}: the last table has to list the theorems of the sources with "
            "their labels, in their order"
        )
    found: dict[str, list[Formal]] = {}
    for label, name, *row in rows:
        found.setdefault(label, []).append(Formal(proved[name], *row))
    if [label for label, *_ in scopes] != list(found):
        raise ValueError(
            f"{readme}: the first table has to list the statements of the last one, "
            "in their order"
        )
    return {
        label: Checked(label, only_for, not_checked, tuple(found[label]))
        for label, only_for, not_checked in scopes
    }


def counted(statements: int, checked: Collection[Checked]) -> str:
    """How many statements are checked, and how far, as a sentence.

    Parameters
    ----------
    statements : int
        How many the book has.
    checked : collection of Checked
        Those of them that are checked.

    Returns
    -------
    str

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


def checked_table(
    checked: Collection[Checked], statements: Container[str]
) -> list[str]:
    """What is checked and what is not, as lines of MyST.

    Parameters
    ----------
    checked : collection of Checked
    statements : container of str
        Labels of the book's statements; others are labels of exercises.

    Returns
    -------
    list of str
    """
    rows = []
    for one in checked:
        role = "prf:ref" if one.label in statements else "ref"
        names = (formal.theorem.name for formal in one.theorems)
        links = ", ".join(f"{{ref}}`{name} <proof-{name}>`" for name in names)
        place = f"{{{role}}}`{one.label}`"
        rows.append([place, one.only_for, one.not_checked, links])
    heads = ["in the book", "only for", "not checked", "theorems in Coq"]
    return markdown_table(heads, rows, "llll").splitlines()


def axioms() -> list[str]:
    """What a theorem may rest on, as a list in MyST."""
    return [f"- `{name}`: {meaning}" for name, meaning in ALLOWED.items()]


def _cells(table: str) -> list[list[str]]:
    """Cells of the rows of a table, its head aside."""
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [[cell.strip(" `") for cell in row] for row in rows]
