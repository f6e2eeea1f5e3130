"""The bibliography's style: entries are named as the text names them."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pybtex.database import Entry, parse_file
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style


def label(entry: Entry) -> str:
    r"""Authors and year, as in the text.

    Examples
    --------
    >>> from pybtex.database import Person
    >>> who = [Person("Fuglede, Bent"), Person(r"Tops{\o}e, Flemming")]
    >>> label(Entry("book", fields={"year": "2004"}, persons={"author": who}))
    'Fuglede and Topsøe, 2004'
    """
    names = [
        " ".join(str(part.render_as("text")) for part in rich)
        for person in entry.persons["author"]
        for rich in [person.rich_prelast_names + person.rich_last_names]
    ]
    who = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    return f"{who}, {entry.fields['year']}"


class AsCited(Style):
    """Entries by author and year, labelled as they are cited."""

    default_sorting_style = "author_year_title"

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.format_labels = partial(map, label)


def register() -> None:
    """Make the style known under the name ``as_cited``."""
    register_plugin("pybtex.style.formatting", "as_cited", AsCited)


def cited(text: str) -> list[str]:
    """Keys that a MyST text cites, each once, in the order of the text.

    Examples
    --------
    >>> cited("{cite:t}`a2000` and {cite:p}`b2001,a2000`")
    ['a2000', 'b2001']
    """
    roles = re.findall(r"\{cite:[a-z]+\}`([^`]+)`", text)
    return list(dict.fromkeys(key.strip() for keys in roles for key in keys.split(",")))


def references(bibliography: Path, keys: Sequence[str]) -> list[str]:
    """Entries of a bibliography in full, as Markdown, by author and year."""
    entries = parse_file(str(bibliography)).entries
    style = AsCited()
    ordered = style.sort([entries[key] for key in keys])
    texts = (
        entry.text.render_as("markdown") for entry in style.format_entries(ordered)
    )
    return [" ".join(text.split()) for text in texts]
