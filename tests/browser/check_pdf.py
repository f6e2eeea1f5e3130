"""The printed article; run it by ``make test-browser``."""

import asyncio
import re

from compendium.book import pdf

ARTICLE = "book/notebooks/article.html"


def test_the_article_has_three_or_four_pages(base):
    made = asyncio.run(pdf.printed(f"{base}/{ARTICLE}"))
    assert 3 <= len(re.findall(rb"/Type /Page\b", made)) <= 4
    assert b"SourceSerif" in made  # the fonts of the pages are embedded
