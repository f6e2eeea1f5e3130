"""A page of the book for each file of proofs: theorems in words, and the source."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from compendium.build.machine_checked import PAGES, Checked, Formal, read_checked
from compendium.build.statements import read_statements
from compendium.project import write_whole
from proofs.check import sources

_HEAD = re.compile(r"\(\*\* (?P<title>.*?)[.:]\s+(?P<text>.*?)\s*\*\)\s*", re.DOTALL)
_CHAPTER = re.compile(r" \(book/[\w/-]+\.md\)")


def page(path: Path, checked: Iterable[Checked], titles: Mapping[str, str]) -> str:
    """The page of a source, as reStructuredText.

    Parameters
    ----------
    path : Path
        A file of proofs.
    checked : iterable of Checked
        Statements of its theorems, in their order.
    titles : mapping of str to str
        Titles of the book's statements by label.
    """
    head = _HEAD.match(path.read_text())
    title, text = (_CHAPTER.sub("", " ".join(head[part].split())) for part in (1, 2))
    lines = [f"{title} (Coq)", "=" * (len(title) + 6), "", _text(text), ""]
    for statement in checked:
        lines += _section(statement, titles)
        for formal in statement.theorems:
            lines += _theorem(formal)
    lines += ["The whole source", "-" * 16, ""]
    lines += [f".. literalinclude:: ../../proofs/{path.name}", "   :language: coq", ""]
    return "\n".join(lines)


def write_proof_pages(project: Path) -> None:
    """Write the pages of all sources anew, and remove those of sources that went."""
    titles = {s.label: s.title for s in read_statements(project)}
    checked = read_checked().values()
    wanted = {}
    for path in sources():
        own = [c for c in checked if c.theorems[0].theorem.path == path]
        wanted[project / PAGES / f"{path.stem}.rst"] = page(path, own, titles)
    for path in set((project / PAGES).glob("*.rst")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        write_whole(path, text)


def _section(statement: Checked, titles: Mapping[str, str]) -> Iterator[str]:
    """Head of the part on one statement: its title, and how far it is checked."""
    label = statement.label
    title = titles.get(label) or _sentence(statement.theorems[0].words)
    role = "prf:ref" if label in titles else "ref"
    yield from (f".. _{statement.anchor}:", "", title, "-" * len(title), "")
    scope = f":{role}:`{label}`: {statement.mark[0].lower()}{statement.mark[1:]}."
    left = statement.not_checked and f" Not checked: {statement.not_checked}."
    yield from (scope + _text(left), "")


def _theorem(formal: Formal) -> Iterator[str]:
    """A theorem: its title, its statement in one line and in Coq."""
    name, title = formal.theorem.name, _sentence(formal.words)
    yield from (f".. _proof-{name}:", "", title, "~" * len(title), "")
    differs = formal.differs and f" Differs from the book: {formal.differs}."
    yield from (_text(f"In one line: {formal.formula}.{differs}"), "")
    source = f"Theorem {name}{formal.theorem.statement}".rstrip()
    yield from (".. code-block:: coq", "")
    yield from (f"   {line}".rstrip() for line in source.splitlines())
    yield ""


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _text(words: str) -> str:
    """Words with nothing in them that reStructuredText would read; code in brackets."""
    plain = re.sub(r"([\\*`|])|_(?!\w)", lambda m: f"\\{m[0]}", words)
    return re.sub(r"\[(\w+)\]", r"``\1``", plain)
