"""The printed article and pages bound to a book; run it by ``make test-browser``."""

import re
from io import BytesIO

import pytest
from pypdf import PdfReader

from compendium.book.binding import bound
from compendium.book.pdf import printed
from tests.browser.conftest import SITE

ARTICLE = SITE / "book/notebooks/article.html"
# Three of the parts are enough: every page of the book is printed in the same way.
PAGES = [
    ("", "book/notebooks/index"),
    ("Learn", "book/notebooks/divergences"),
    ("Learn", "book/notebooks/margin-and-j"),
    ("Reproduce", "book/notebooks/article"),
]


def test_the_article_has_three_or_four_pages():
    made = printed(ARTICLE)
    assert 3 <= len(re.findall(rb"/Type /Page\b", made)) <= 4
    assert b"CompendiumSerif" in made  # the fonts of the pages are embedded


def test_a_page_that_is_missing_is_not_printed():
    with pytest.raises(FileNotFoundError, match="none.html: call 'make book' first"):
        printed(ARTICLE.with_name("none.html"))


@pytest.fixture(scope="module")
def book():
    """Four pages of the site as one document."""
    stream = BytesIO()
    bound(SITE, PAGES, "Edition 0, by us").write(stream)
    return PdfReader(stream)


def begins(book, item):
    return book.get_destination_page_number(item)


@pytest.fixture(scope="module")
def texts(book):
    return [page.extract_text() for page in book.pages]


def test_every_page_has_its_number(book, texts):
    shown = [re.split(r"\s", text, maxsplit=1)[0] for text in texts]
    assert shown == [str(number + 1) for number in range(len(book.pages))]


def test_the_first_page_alone_names_the_edition(texts):
    first, *others = ["Edition 0, by us" in text for text in texts]
    assert first and not any(others)


def test_the_outline_has_the_parts_and_their_pages(book):
    front, learn, chapters, reproduce, (article,) = book.outline
    assert [learn.title, reproduce.title] == ["Learn", "Reproduce"]
    assert [item.title[:3] for item in chapters] == ["2. ", "3. "]
    assert begins(book, front) == 0
    assert begins(book, learn) == begins(book, chapters[0])
    assert begins(book, reproduce) == begins(book, article)
    for item in (*chapters, article):
        text = book.pages[begins(book, item)].extract_text()
        # lines are broken after hyphens, too
        assert item.title.replace(" ", "") in "".join(text.split())


def test_the_pages_are_those_that_are_printed_one_by_one(book):
    *_, (article,) = book.outline
    alone = len(PdfReader(BytesIO(printed(ARTICLE))).pages)
    assert len(book.pages) == begins(book, article) + alone


def test_links_lead_from_chapter_to_chapter_inside_of_the_book(book):
    _, _, (divergences, margin), *_ = book.outline
    number = {page.indirect_reference: i for i, page in enumerate(book.pages)}
    ways = []
    for start, page in enumerate(book.pages):
        for link in page.get("/Annots", ()):
            about = link.get_object()
            if "/Dest" in about:
                end, kind, *place = about["/Dest"]
                ways.append((start, number[end]))
                assert kind == "/XYZ" and len(place) == 3
            else:
                assert not about["/A"]["/URI"].startswith("file:")
    second, third = begins(book, divergences), begins(book, margin)
    back = {end for start, end in ways if start >= third and second <= end < third}
    # to the chapter, and to what stands inside of it
    assert second in back and max(back) > second
