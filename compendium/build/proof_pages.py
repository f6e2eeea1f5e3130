"""A page of the book for each file of proofs: theorems in words, and the whole source.

Definitions and theorems are in plain view; lemmas and proofs fold.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from compendium.build.machine_checked import PAGES, Checked, Formal, read_checked
from compendium.build.statements import read_statements
from compendium.project import write_whole
from proofs.check import sources

_HEAD = re.compile(r"\(\*\* (?P<title>.*?)[.:]\s+(?P<text>.*?)\s*\*\)\s*", re.DOTALL)
_CHAPTER = re.compile(r" \(book/[\w/-]+\.md\)")
_NAME = re.compile(r"^(?P<kind>Lemma|Theorem|End) (?P<name>\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Piece:
    """Some paragraphs of a source.

    Parameters
    ----------
    kind : {"Theorem", "Lemma", "End", ""}
        Empty for definitions, hypotheses and remarks; "End" closes sections.
    names : tuple of str
        Of the theorem, the lemmas or the section; empty for definitions.
    text : str
    """

    kind: str
    names: tuple[str, ...]
    text: str


def pieces(source: str) -> list[Piece]:
    r"""A source cut into theorems, rows of lemmas, and what stands between them.

    Parameters
    ----------
    source : str
        Text of a file; every lemma and every theorem is a paragraph with its proof.

    Returns
    -------
    list of Piece

    Examples
    --------
    >>> cut = pieces("Lemma a : 1 = 1. Proof. easy. Qed.\n\nLemma b : 2 = 2. ...")
    >>> [(piece.kind, piece.names) for piece in cut]
    [('Lemma', ('a', 'b'))]
    """
    named = [
        (match["kind"], match["name"], text) if match else ("", "", text)
        for text in source.strip().split("\n\n")
        for match in [_NAME.search(text)]
    ]
    found = []
    for (kind, *_), group in groupby(named, lambda p: p[: 1 + (p[0] == "Theorem")]):
        _, names, texts = zip(*group, strict=True)
        found.append(Piece(kind, tuple(filter(None, names)), "\n\n".join(texts)))
    return found


def page(source: str, checked: Iterable[Checked], titles: Mapping[str, str]) -> str:
    """The page of a source, as reStructuredText.

    Parameters
    ----------
    source : str
    checked : iterable of Checked
        Statements of its theorems, in their order.
    titles : mapping of str to str
        Titles of the book's statements by label.

    Returns
    -------
    str
    """
    head = _HEAD.match(source)
    title = _CHAPTER.sub("", " ".join(head["title"].split())) + " (Coq)"
    text = _CHAPTER.sub("", " ".join(head["text"].split()))
    lines = [title, "=" * len(title), "", _text(text), ""]
    rest = pieces(source[head.end() :])
    for statement in checked:
        formal = {one.theorem.name: one for one in statement.theorems}
        last = max(i for i, piece in enumerate(rest) if formal.keys() & {*piece.names})
        last += [piece.kind for piece in rest[last + 1 : last + 2]].count("End")
        own, rest = rest[: last + 1], rest[last + 1 :]
        lines += _section(statement, titles)
        for piece in own:
            lines += (
                _theorem(piece, formal) if piece.kind == "Theorem" else _code(piece)
            )
    return "\n".join(lines + [line for piece in rest for line in _code(piece)])


def write_proof_pages(project: Path) -> None:
    """Write the pages of all sources anew, and remove those of sources that went.

    Parameters
    ----------
    project : Path
    """
    titles = {s.label: s.title for s in read_statements(project)}
    checked = read_checked().values()
    wanted = {
        project / PAGES / f"{path.stem}.rst": page(
            path.read_text(),
            [c for c in checked if c.theorems[0].theorem.path == path],
            titles,
        )
        for path in sources()
    }
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


def _theorem(piece: Piece, formal: Mapping[str, Formal]) -> Iterator[str]:
    (name,) = piece.names
    told = formal[name]
    title = _sentence(told.words)
    yield from (f".. _proof-{name}:", "", title, "~" * len(title), "")
    differs = told.differs and f" Differs from the book: {told.differs}."
    yield from (_text(f"In one line: {told.formula}.{differs}"), "")
    statement, proof, rest = piece.text.partition("\nProof.")
    yield from _block(statement)
    yield from _folded(f"Proof of <code>{name}</code>", (proof + rest).strip("\n"))


def _code(piece: Piece) -> Iterator[str]:
    if piece.kind == "Lemma":
        names = ", ".join(f"<code>{name}</code>" for name in piece.names)
        many = "Lemmas" if len(piece.names) > 1 else "Lemma"
        yield from _folded(f"{many} {names}", piece.text)
    else:
        yield from _block(piece.text)


def _folded(summary: str, source: str) -> Iterator[str]:
    opening = f'<details class="folded"><summary>{summary}</summary>'
    yield from (".. raw:: html", "", f"   {opening}", "")
    yield from _block(source)
    yield from (".. raw:: html", "", "   </details>", "")


def _block(source: str) -> Iterator[str]:
    yield from (".. code-block:: coq", "")
    yield from (f"   {line}".rstrip() for line in source.splitlines())
    yield ""


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _text(words: str) -> str:
    """Words with nothing in them that reStructuredText would read; code in brackets."""
    plain = re.sub(r"([\\*`|])|_(?!\w)", lambda m: f"\\{m[0]}", words)
    return re.sub(r"\[(\w+)\]", r"``\1``", plain)
