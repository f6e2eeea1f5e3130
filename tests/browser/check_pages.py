"""Every page of the built book in headless Chromium; run it by ``make test-browser``.

The pages are served on the loopback. Chromium is looked for at the path in the
environment variable ``CHROMIUM``, else where Debian puts it.
"""

import json
import re
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup, SoupStrainer

from tests.browser.conftest import DRAWN, SITE

PHONE, DESKTOP = (390, 844), (1280, 900)
THEOREM = "book/notebooks/margin-and-j.html"

FOUND = [path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
REDIRECTS = {p for p in FOUND if 'http-equiv="refresh"' in p.read_text().lower()}
# without a book there is still one test, and it says what to do
PAGES = [str(p.relative_to(SITE)) for p in FOUND if p not in REDIRECTS] or [THEOREM]
QUIZ = (
    [p for p in PAGES if 'id="quick-quiz"' in (SITE / p).read_text()] if FOUND else []
)
ENTRANCES = sorted(str(p.relative_to(SITE)) for p in REDIRECTS) or ["index.html"]
COMPUTED = [p for p in PAGES if p.startswith(("book/notebooks/", "book/records/"))]
OWN = [p for p in PAGES if p.startswith("book/notebooks/")]
# every third page that was computed from a chapter, every twentieth of all others
SAMPLE = OWN[::3] + [p for p in PAGES if p not in OWN][::20]
TALLEST = 18_000  # pixels that a chapter takes on a desktop

UNSET = """() => ({
    wrong: [...document.querySelectorAll("mjx-merror, [data-mjx-error]")].map(
        e => e.textContent),
    raw: [...document.querySelectorAll(".math")].filter(
        e => !e.querySelector("mjx-container")).map(e => e.textContent),
})"""
# What scrolls inside its own box, or is fixed, does not make the page wider.
WIDEST = """() => {
    const page = document.scrollingElement, found = [];
    if (page.scrollWidth <= innerWidth) return "";
    for (const e of document.body.querySelectorAll("*")) {
        let box = e.parentElement;
        while (box !== document.body && getComputedStyle(box).overflowX === "visible"
                && getComputedStyle(box).position !== "fixed")
            box = box.parentElement;
        if (box === document.body && getComputedStyle(e).position !== "fixed")
            found.push([e.getBoundingClientRect().right, e]);
    }
    const [right, e] = found.reduce((a, b) => (b[0] > a[0] ? b : a));
    const name = e.tagName.toLowerCase() + (e.id && "#" + e.id)
        + [...e.classList].map(c => "." + c).join("");
    return `${page.scrollWidth} wide in ${innerWidth}; ${name} reaches ${right}`;
}"""
# Text under 9 pixels, figures narrower than their lettering allows, formulas that reach
# beyond the page without a box that scrolls, and captions wider than their box.
ILLEGIBLE = """() => {
    const article = document.querySelector("article") ?? document.body, found = [];
    const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode.textContent.trim();
        const e = texts.currentNode.parentElement;
        const size = parseFloat(getComputedStyle(e).fontSize);
        if (text && size < 9 && e.checkVisibility() && !e.closest("mjx-container"))
            found.push(`${size} px: ${text}`);
    }
    for (const figure of article.querySelectorAll("img.memdlib-figure")) {
        if (!figure.checkVisibility()) continue;  // a reader can move it instead
        const box = figure.parentElement.style;
        const least = parseFloat(box.getPropertyValue("--least"));
        const width = figure.getBoundingClientRect().width;
        if (!(width >= least - 1)) found.push(`${width} of ${least} px: ${figure.alt}`);
    }
    for (const formula of article.querySelectorAll("mjx-container > svg")) {
        let box = formula;
        while (box !== article && !/auto|scroll/.test(getComputedStyle(box).overflowX))
            box = box.parentElement;
        const right = formula.getBoundingClientRect().right;
        if (box === article && right > innerWidth) found.push(`formula to ${right}`);
    }
    for (const caption of article.querySelectorAll("table > caption")) {
        if (!caption.checkVisibility()) continue;
        const box = caption.closest(".pst-scrollable-table-container, .cell_output");
        const beyond = caption.getBoundingClientRect().right
            - (box ?? article).getBoundingClientRect().right;
        if (beyond > 1) found.push(`caption cut by ${beyond}: ${caption.innerText}`);
    }
    return found;
}"""
CONTRAST = """(selector) => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const light = text => {
        const [r, g, b] = parse(text).slice(0, 3).map(v => {
            v /= 255;
            return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll(selector)].map(e => {
        const paint = element => getComputedStyle(element).backgroundColor;
        let ground = e;
        while (ground && parse(paint(ground))[3] === 0) ground = ground.parentElement;
        const back = light(ground ? paint(ground) : "rgb(255, 255, 255)");
        const front = light(getComputedStyle(e).color);
        return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    });
}"""


@pytest.mark.parametrize("name", SAMPLE)
def test_a_page_is_whole(visit, name):
    """Opened on a phone, then made as wide as a desktop."""
    one = visit(PHONE)
    page = one.open(name)
    assert "".join(page.locator("h1:visible").all_inner_texts()).strip()
    assert page.evaluate(UNSET) == {"wrong": [], "raw": []}
    for width, height in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        assert page.evaluate(WIDEST) == "", width
        assert page.evaluate(ILLEGIBLE) == [], width
    if name in QUIZ:  # and ends before a reader tires
        page.set_viewport_size({"width": 1360, "height": 900})
        page.evaluate(DRAWN)
        assert page.evaluate("document.scrollingElement.scrollHeight") <= TALLEST
    assert one.problems == []


@pytest.mark.parametrize("name", ENTRANCES)
def test_a_redirect_leads_into_the_book(visit, name):
    one = visit(DESKTOP)
    one.page.goto(f"{one.base}/{name}")
    one.page.wait_for_url(f"{one.base}/book/**")
    assert "".join(one.page.locator("h1:visible").all_inner_texts()).strip()


@pytest.mark.parametrize("name", COMPUTED)
def test_a_computed_page_offers_its_notebook(name):
    links = SoupStrainer("a", href=re.compile(r"\.ipynb$"))
    page = BeautifulSoup((SITE / name).read_text(), "html.parser", parse_only=links)
    link = page.a["href"]
    assert json.loads((SITE / urljoin(name, link)).read_text())["nbformat"] == 4


CHOSEN = "localStorage.mode = localStorage.theme = 'dark'"


@pytest.mark.parametrize(
    ("script", "scheme"), [(CHOSEN, "light"), ("", "dark")], ids=["chosen", "system"]
)
def test_in_the_dark_a_page_is_dark_and_can_be_read(visit, script, scheme):
    one = visit(DESKTOP, script, scheme)
    page = one.open(THEOREM)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, ground.removeprefix("rgb(").rstrip(")").split(","))) < 80
    for what in (
        "article p",
        "article h1",
        "article h2",
        "article mjx-container svg",
        "article p.checks a",
    ):
        ratios = page.evaluate(CONTRAST, what)
        assert ratios
        assert min(ratios) > 4.5, what
    assert one.problems == []


PRINTED = """() => {
    const page = document.scrollingElement, shown = s => [
        ...document.querySelectorAll(s)].filter(e => e.checkVisibility());
    return {
        beside: shown(".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article,"
            + " .prev-next-area, .toggle-button, button.copybtn").length,
        verdicts: shown(".tag_margin .verdict").length,
        outside: shown("article p, article figure, .tag_margin").filter(e => {
            const box = e.getBoundingClientRect();
            return box.left < -1 || box.right > page.clientWidth + 1;
        }).map(e => e.textContent.slice(0, 40)),
        split: shown("article :is(figure, table, pre)").filter(
            e => getComputedStyle(e).breakInside !== "avoid").length,
    };
}"""


@pytest.mark.parametrize("name", ["beyond", "newsgroups"])
def test_in_print_the_text_stands_alone(visit, name):
    one = visit((794, 1123))  # A4
    page = one.open(f"book/notebooks/{name}.html")
    verdicts = page.locator(".tag_margin .verdict").count()
    page.emulate_media(media="print")
    expected = {"beside": 0, "verdicts": verdicts, "outside": [], "split": 0}
    assert page.evaluate(PRINTED) == expected
    if name == "beyond":
        assert verdicts > 0
    assert one.problems == []


def test_a_mark_leads_to_the_list_and_on_to_the_theorem_in_coq(visit):
    one = visit(PHONE)
    page = one.open(THEOREM)
    page.get_by_role("link", name="machine-checked for finite sample spaces").click()
    page.wait_for_url("**/book/statements.html#checks-of-thm-margin")
    row = page.locator("tr", has=page.locator("#checks-of-thm-margin"))
    assert "theory/test_margin_and_j.py" in row.inner_text()
    row.get_by_role("link", name="yes").click()
    page.wait_for_url("**/book/proofs/Margin.html#proof-thm-margin")
    assert "Theorem margins_add_up_to_J" in page.locator("pre").first.inner_text()
    assert one.problems == []


def test_the_citation_can_be_copied(visit):
    page = visit(DESKTOP).open("book/notebooks/index.html")
    entry = page.locator(".highlight-bibtex")
    assert entry.inner_text().startswith("@software{memdlib,")
    assert entry.locator("button.copybtn").count() == 1


def test_entries_of_the_bibliography_are_named_as_the_text_names_them(visit):
    page = visit(DESKTOP).open("book/bibliography.html")
    assert "Dukkipati et al., 2013" in page.locator("article").inner_text()
    links = page.locator('article a[href^="https://doi.org/"]')
    assert links.count() > 0


def test_the_search_finds_the_theorem(visit):
    one = visit(DESKTOP)
    page = one.open("search.html?q=Margins+add+up+to+J")
    page.wait_for_selector("#search-results li a")
    hits = page.locator("#search-results li a").evaluate_all(
        "all => all.map(a => a.href)"
    )
    assert any(THEOREM in hit for hit in hits)
    excerpts = page.locator("#search-results p.context").all_inner_texts()
    assert excerpts
    for excerpt in excerpts:
        assert not re.search("ipynb|Show code|Hide code|Print to PDF", excerpt)
    assert one.problems == []


def test_a_page_describes_itself(visit):
    page = visit(DESKTOP).open(THEOREM)
    told = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("meta[content]")].map(
            e => [e.name || e.getAttribute("property"), e.content]))"""
    )
    for key in ("description", "og:title", "citation_title", "citation_author"):
        assert told[key].strip(), key
    assert told["og:description"] == told["description"]
    assert not told["description"].startswith("Needs:")


def test_a_missing_page_leads_home(visit):
    one = visit(PHONE)
    page = one.open("404.html")
    assert page.locator("a").first.get_attribute("href") == "/"
    assert page.evaluate(WIDEST) == ""
    assert one.problems == []


def test_lab_records_and_reference_stand_outside_the_chain(visit):
    page = visit(DESKTOP).open("book/lab-records.html")
    following = page.locator(".prev-next-area .right-next").get_attribute("href")
    assert "records/" not in following
    records = [name for name in COMPUTED if name.startswith("book/records/")]
    page = visit(DESKTOP).open(records[0])
    assert page.locator(".prev-next-area a").count() == 0


def test_icons_need_no_font(visit):
    page = visit(DESKTOP).open(THEOREM)
    sizes = page.locator(".fa-solid:visible").evaluate_all(
        "all => all.map(e => [e.getBoundingClientRect().width,"
        " getComputedStyle(e).maskImage])"
    )
    assert sizes
    assert all(width > 5 and image.startswith("url") for width, image in sizes)


FRONT = "book/notebooks/index.html"


def test_the_front_page_says_on_two_screens_what_there_is(visit):
    page = visit((1360, 900)).open(FRONT)
    picture = "#front-newsgroups img"
    for what in (".lead", ".doors .sd-card", "article li .verdict", picture):
        assert page.locator(what).count()
        low = page.locator(what).last.evaluate("e => e.getBoundingClientRect().bottom")
        assert low < 2 * 900, what


@pytest.mark.parametrize("name", QUIZ)
def test_the_answers_of_a_quiz_are_folded(name):
    page = BeautifulSoup((SITE / name).read_text(), "html.parser")
    answers = page.select("#quick-quiz details")
    assert len(answers) == 3
    for answer in answers:
        assert answer.summary and answer.p and not answer.has_attr("open")


def test_a_quiz_is_read_without_a_script(base, browser):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{base}/{THEOREM}")
        for answer in page.locator("#quick-quiz details").all():
            assert not answer.locator("p").first.is_visible()
            answer.locator("summary").click()
            assert answer.locator("p").first.is_visible()


def test_on_a_phone_statements_keep_their_names_whole(visit):
    page = visit(PHONE).open("book/statements.html")
    page.evaluate(DRAWN)
    for name in page.locator(".statements td code").all()[:60]:
        lines = name.evaluate("e => e.getClientRects().length")
        assert lines == 1, name.inner_text()
    assert page.evaluate(WIDEST) == ""
