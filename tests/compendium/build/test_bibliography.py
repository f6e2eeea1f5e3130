import pytest
from pybtex.database import parse_string
from pybtex.plugin import find_plugin

from compendium.build.bibliography import AsCited, label, register

ENTRIES = r"""
@misc{b, author = {Zed, A. and de la Cruz, B. and C, D.}, title = {T}, year = {2001}}
@misc{a, author = {Tops{\o}e, F.}, title = {S}, year = {1999}}
"""


def test_entries_are_sorted_and_labelled_as_they_are_cited():
    register()
    style = find_plugin("pybtex.style.formatting", "as_cited")
    assert style is AsCited
    data = parse_string(ENTRIES, "bibtex")
    found = list(style().format_bibliography(data))
    assert [(entry.key, entry.label) for entry in found] == [
        ("a", "Topsøe, 1999"),
        ("b", "Zed et al., 2001"),
    ]


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        ("Jaynes, Edwin T.", "Jaynes, 1957"),
        ("Della Pietra, S. and de la Cruz, B.", "Della Pietra and de la Cruz, 1957"),
    ],
)
def test_names_with_particles(authors, expected):
    text = f"@misc{{k, author = {{{authors}}}, title = {{T}}, year = {{1957}}}}"
    assert label(parse_string(text, "bibtex").entries["k"]) == expected
