from pybtex.database import parse_string
from pybtex.plugin import find_plugin

from compendium.book.bibliography import register

ENTRIES = r"""
@misc{b, author = {Zed, A. and de la Cruz, B. and C, D.}, title = {T}, year = {2001}}
@misc{a, author = {Tops{\o}e, F.}, title = {S}, year = {1999}}
@misc{c, author = {Della Pietra, S. and de la Cruz, B.}, title = {D}, year = {1957}}
"""


def test_entries_are_sorted_and_labelled_as_they_are_cited():
    register()
    style = find_plugin("pybtex.style.formatting", "as_cited")
    found = list(style().format_bibliography(parse_string(ENTRIES, "bibtex")))
    assert [(entry.key, entry.label) for entry in found] == [
        ("c", "Della Pietra and de la Cruz, 1957"),
        ("a", "Topsøe, 1999"),
        ("b", "Zed et al., 2001"),
    ]
