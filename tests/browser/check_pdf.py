"""The printed article; run it by ``make test-browser``."""

import re

import pytest

from compendium.book.pdf import printed
from tests.browser.conftest import SITE

ARTICLE = SITE / "book/notebooks/article.html"


def test_the_article_has_three_or_four_pages():
    made = printed(ARTICLE)
    assert 3 <= len(re.findall(rb"/Type /Page\b", made)) <= 4
    assert b"CompendiumSerif" in made  # the fonts of the pages are embedded


def test_a_page_that_is_missing_is_not_printed():
    with pytest.raises(FileNotFoundError, match="none.html: call 'make book' first"):
        printed(ARTICLE.with_name("none.html"))
