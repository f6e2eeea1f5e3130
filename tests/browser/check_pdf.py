"""The printed book; run it by ``make test-browser``."""

from pathlib import Path

from compendium.build.pdf import dated, joined, parts, printed

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"


def test_two_printings_of_some_pages_are_equal_and_have_bookmarks():
    contents = parts(ROOT)
    some = [(caption, pages[:2]) for caption, pages in contents[:3]]
    html = joined(SITE, some)
    first, second = (dated(printed(SITE, html), 0) for _ in range(2))
    assert first == second
    assert first.startswith(b"%PDF-")
    assert b"/Outlines" in first
    assert b"SourceSerif" in first  # the fonts of the pages are embedded
