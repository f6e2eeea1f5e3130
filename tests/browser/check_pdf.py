"""The printed book; run it by ``make test-browser``."""

import re
from pathlib import Path

from compendium.build.pdf import ARTICLE, joined, parts, printed, timeless

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_two_printings_have_equal_bytes_and_bookmarks():
    contents = parts(ROOT)
    some = [(caption, listed[:2]) for caption, listed in contents[:3]]
    html = joined(SITE, some)
    first, second = (timeless(printed(SITE, html), 0) for _ in range(2))
    assert first == second
    assert pages(first) > 10
    assert first.startswith(b"%PDF-")
    assert b"/Outlines" in first
    assert b"SourceSerif" in first  # the fonts of the pages are embedded


def test_the_article_has_at_most_four_pages():
    assert 3 <= pages(printed(SITE, joined(SITE, [("", [ARTICLE])]))) <= 4
