import pytest

from compendium.book import binding
from compendium.book.binding import (
    contents,
    linked_anchors,
    main,
    prepared,
    with_edition,
)
from compendium.project import root

PAGE = """<html><head><title>2. A &amp; B &#8212; The book</title></head><body>
<div id="jb-print-docs-body" class="onlyprint">
    <h1>A &amp; B</h1>
</div>
<h1>A &amp; B</h1></body></html>"""


def test_the_book_has_the_pages_of_the_contents_and_no_lab_record():
    pages = contents(root())
    assert pages[0] == ("", "book/notebooks/index")
    assert pages[1] == ("Learn", "book/notebooks/maximum-entropy")
    assert pages[-1][1] == "book/bibliography"
    assert not [page for _, page in pages if "records/" in page or "api/" in page]
    assert len(set(pages)) == len(pages)


def test_anchors_are_those_to_which_pages_of_the_book_link(tmp_path):
    (tmp_path / "book/notebooks").mkdir(parents=True)
    first = (
        '<a href="../two.html#a">A</a> <a href="../two.html">B</a> <a href="#c">C</a>'
    )
    second = '<a href="notebooks/one.html#d">D</a> <a href="three.html#e">E</a>'
    (tmp_path / "book/notebooks/one.html").write_text(first)
    (tmp_path / "book/two.html").write_text(second)
    anchors = linked_anchors(tmp_path, ["book/notebooks/one", "book/two"])
    assert anchors == {"book/notebooks/one": {"d"}, "book/two": {"a"}}


def test_a_page_is_printed_with_the_number_of_its_chapter():
    text = prepared(PAGE, 41, {"thm-b", "thm-a"})
    assert text.count("<h1>2. A &amp; B</h1>") == 1
    assert "counter-reset: page 40 " in text
    assert '<a href="#thm-a"></a><a href="#thm-b"></a></div></body>' in text


def test_the_edition_stands_under_the_printed_title():
    text = with_edition(PAGE, "Edition 1 & 2")
    start = text.index("jb-print-docs-body")
    printed = text[start : text.index("</div>", start)]
    assert printed.endswith("<h1>A &amp; B</h1><p>Edition 1 &amp; 2</p>\n")
    assert text.count("Edition") == 1


@pytest.mark.parametrize("name", ["none", binding.BOOK])
def test_where_there_is_no_page_that_is_said(project, capsys, name):
    project.write("_toc.yml", "root: book/notebooks/index\nparts: []\n")
    project.write("CITATION.cff", "title: T\nauthors: []\nversion: 1.0\n")
    assert main([name]) == 1
    said = capsys.readouterr().out
    assert f"{name} was not printed: there is no " in said
    assert "call 'make book' first" in said
