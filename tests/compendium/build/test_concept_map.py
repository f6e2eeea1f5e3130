"""The map of the book: what links chapters, what is drawn, where a chapter stands."""

import re
from xml.etree import ElementTree

import pytest

from compendium.build.concept_map import around, drawn, links, place
from compendium.build.contents import chapters
from compendium.project import root

TOC = """format: jb-book
root: book/index
parts:
  - caption: First
    numbered: true
    chapters:
      - file: book/one
      - file: book/notebooks/two
  - caption: Last
    numbered: true
    chapters:
      - file: book/three
  - caption: Lists
    chapters:
      - file: book/list
"""
ONE = "(one)=\n# One & all\n\n:::{prf:theorem} T\n:label: thm-one\n:::\n"
TWO = "(two)=\n# Two\n\n*Needs: {ref}`one`,\nand more.*\n\nBy {prf:ref}`thm-one`.\n"
THREE = (
    "(three)=\n# Three\n\nSee {prf:ref}`this <thm-one>`, {ref}`two`, {prf:ref}`no`.\n"
)


@pytest.fixture
def book(project):
    project.write("_toc.yml", TOC)
    project.write("book/index.md", "# Front\n")
    for name, text in (("one", ONE), ("two", TWO), ("three", THREE)):
        project.write(f"book/{name}.md", text)
    project.write("book/list.md", "# List\n\n{prf:ref}`thm-one`\n")
    return project.root


def address(page):
    return f"../{page}.html"


def test_statements_and_needs_link_chapters_but_pointers_do_not(book):
    found = chapters(book)
    assert [(c.number, c.part, c.label) for c in found] == [
        (1, "First", "one"),
        (2, "First", "two"),
        (3, "Last", "three"),
    ]
    assert links(found) == {(1, 2): 2, (1, 3): 1}
    assert around(1, links(found)) == ([], [2, 3])
    assert around(3, links(found)) == ([1], [])


def test_every_chapter_is_a_row_that_leads_to_it(book):
    svg = ElementTree.fromstring(drawn(book, address))
    assert svg.get("aria-labelledby") == "map-title map-about"
    rows = svg.findall("a")
    assert [row.get("href") for row in rows] == [
        "../book/one.html",
        "../book/notebooks/two.html",
        "../book/three.html",
    ]
    assert rows[0].get("aria-label") == "1. One & all: used in 2 and 3"
    assert rows[1].get("aria-label") == "2. Two: builds on 1"
    arcs = svg.findall("g")[1].findall("path")
    assert [arc.get("class") for arc in arcs] == ["of1 of2", "of1 of3"]
    assert float(arcs[0].get("stroke-width")) > float(arcs[1].get("stroke-width"))
    ends = [int(float(text.get("y"))) for text in svg.iter("text")]
    assert max(ends) < int(svg.get("height"))


def test_a_chapter_says_where_it_stands(book):
    said = place(book, "book/notebooks/two", address, "book/index")
    assert re.findall(r'class="(here|before|after)" cx="(\d+)"', said) == [
        ("before", "9"),
        ("here", "18"),
    ]
    assert 'builds on <a href="../book/one.html" title="One &amp; all">1</a>' in said
    assert "used in" not in said and 'href="../book/index.html#map"' in said
    assert place(book, "book/list", address, "book/index") == ""
    assert place(book, "book/index", address, "book/index") == ""


def test_the_book_is_drawn_alike_twice_and_each_chapter_is_linked():
    assert drawn(root(), address) == drawn(root(), address)
    found = chapters(root())
    linked = {number for pair in links(found) for number in pair}
    assert linked == {chapter.number for chapter in found}
