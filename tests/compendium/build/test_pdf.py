import re

import pytest
from bs4 import BeautifulSoup

from compendium.build.pdf import PrintError, joined, parts, timeless

HEAD = (
    '<html><head><title>T</title><link rel="stylesheet" href="{up}_static/a.css?v=1">'
    '<script src="{up}_static/mathjax/tex-svg.js"></script>'
    '<script src="{up}_static/search.js"></script></head><body><nav>menu</nav>'
)
FRONT = HEAD.format(up="../") + (
    '<article class="bd-article"><h1 id="x">Book<a href="#x">#</a></h1>'
    '<a href="theory/one.html#thm">theorem</a><a href="records/r.html">record</a>'
    '<a href="https://example.org/">far</a></article></body></html>'
)
ONE = HEAD.format(up="../../") + (
    '<article class="bd-article"><section id="thm"><h1>1. One</h1>'
    '<img src="../../_images/f.svg"><a href="#thm">here</a>'
    '<details class="admonition hide above-input"><pre>code</pre></details>'
    '<details class="solution">answer</details></section></article></body></html>'
)
CONTENTS = [("", ["book/index"]), ("Theory", ["book/theory/one"])]


@pytest.fixture
def site(tmp_path):
    for name, text in {"book/index": FRONT, "book/theory/one": ONE}.items():
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_pages_become_one_whose_links_stay_inside(site):
    page = BeautifulSoup(joined(site, CONTENTS), "html.parser")
    assert page.title.string == "Book"
    links = {a.get_text(): a.get("href") for a in page.select("article a, nav a")}
    assert links["theorem"] == links["here"] == "#book-theory-one--thm"
    assert links["record"] is None
    assert links["far"] == "https://example.org/"
    assert links["1. One"] == "#book-theory-one"
    known = {tag["id"] for tag in page.select("[id]")}
    assert {h[1:] for h in links.values() if h and h.startswith("#b")} <= known
    assert page.img["src"] == "_images/f.svg"
    assert page.link["href"] == "_static/a.css"
    assert [s["src"] for s in page.select("script")] == ["_static/mathjax/tex-svg.js"]
    assert "menu" not in page.get_text()


def test_solutions_are_open_and_folded_code_is_left_out(site):
    page = BeautifulSoup(joined(site, CONTENTS), "html.parser")
    assert page.details.has_attr("open")
    assert "answer" in page.get_text()
    assert "code" not in page.get_text()


def test_a_page_that_is_missing_is_named(site):
    with pytest.raises(PrintError, match=r"other.html: run 'make book' first"):
        joined(site, [("", ["book/other"])])


def test_the_table_of_contents_gives_the_order(tmp_path):
    (tmp_path / "_toc.yml").write_text(
        "root: a\nparts:\n- caption: P\n  chapters:\n  - file: b\n  - glob: c/*\n"
        "- caption: Q\n  chapters:\n  - file: book/api\n"
    )
    assert parts(tmp_path) == [("", ["a"]), ("P", ["b"])]


def test_the_date_is_that_of_the_last_change():
    pdf = b"1 0 obj <</CreationDate (D:20300102030405+00'00') /Title (D:2030)>>"
    found = timeless(pdf, 0)
    assert len(found) == len(pdf)
    assert re.search(
        rb"CreationDate \(D:19700101000000\+00'00'\) /Title \(D:2030", found
    )


def test_nodes_are_counted_in_their_order():
    one = b"/Names [(node00000363) 1 0 R (node00000374) 2 0 R] /ID (node00000374)"
    other = one.replace(b"363", b"366").replace(b"374", b"381")
    assert timeless(one, 0) == timeless(other, 0)
    assert timeless(one, 0) == (
        b"/Names [(node00000000) 1 0 R (node00000001) 2 0 R] /ID (node00000001)"
    )


NUMBERED = (
    '<figure><span class="caption-number">Fig. 102 </span></figure>'
    '<table><caption><span class="caption-number">Table 24 </span></caption></table>'
    '<p>See <a href="#f"><span class="std std-numref">Fig. 103</span></a>.</p>'
    '<figure><span class="caption-number">Fig. 103 </span></figure>'
)


def test_a_page_by_itself_counts_its_own_figures(site):
    path = site / "book" / "theory" / "one.html"
    path.write_text(path.read_text().replace("</section>", NUMBERED + "</section>"))
    page = BeautifulSoup(joined(site, [("", ["book/theory/one"])]), "html.parser")
    numbers = [tag.get_text().strip() for tag in page.select(".caption-number")]
    assert numbers == ["Fig. 1", "Table 1", "Fig. 2"]
    assert page.select_one(".std-numref").get_text() == "Fig. 2"
    assert page.select_one("main.memdlib-article") and not page.select("nav")
    page = BeautifulSoup(joined(site, CONTENTS), "html.parser")
    assert "Fig. 102" in page.get_text()
    assert not page.select("main.memdlib-article")
