"""The bibliography's style: entries are named as the text names them."""

from functools import partial

from pybtex.backends.plaintext import Backend
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style

_PLAIN = Backend()


def label(entry: Entry) -> str:
    r"""Authors and year, as in the text.

    Examples
    --------
    >>> from pybtex.database import Person
    >>> who = [Person("Fuglede, Bent"), Person(r"Tops{\o}e, Flemming")]
    >>> label(Entry("book", fields={"year": "2004"}, persons={"author": who}))
    'Fuglede and Topsøe, 2004'
    """
    names = []
    for person in entry.persons["author"]:
        parts = person.rich_prelast_names + person.rich_last_names
        names.append(" ".join(part.render(_PLAIN) for part in parts))
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
