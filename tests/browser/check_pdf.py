"""The printed book; run it by ``make test-browser``."""

import re
from pathlib import Path

from compendium.build.pdf import dated, joined, parts, printed

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_printings_of_some_pages_agree_and_have_bookmarks():
    """In their pages: the browser rounds places on them as it happens to."""
    contents = parts(ROOT)
    some = [(caption, listed[:2]) for caption, listed in contents[:3]]
    html = joined(SITE, some)
    first, second = (dated(printed(SITE, html), 0) for _ in range(2))
    assert pages(first) == pages(second) > 10
    assert first.startswith(b"%PDF-")
    assert b"/Outlines" in first
    assert b"SourceSerif" in first  # the fonts of the pages are embedded
