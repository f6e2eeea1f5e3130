"""Every page of the built book in headless Chromium; run it by ``make test-browser``.

The pages are served on the loopback. Chromium is that of the environment variable
``CHROMIUM``, else an installed one.
"""

import json
import re
from io import BytesIO
from urllib.parse import urljoin

import numpy as np
import pytest
from bs4 import BeautifulSoup, SoupStrainer
from PIL import Image

from tests.browser.conftest import DRAWN, SITE

PHONE, DESKTOP = (390, 844), (1280, 900)
THEOREM = "book/notebooks/margin-and-j.html"

# pages that are not the book's: templates of the theme, and JupyterLite
OTHERS = {*SITE.glob("_static/**/*"), *SITE.glob("live/**/*")}
FOUND = sorted({*SITE.rglob("*.html")} - OTHERS)
REDIRECTS = {p for p in FOUND if 'http-equiv="refresh"' in p.read_text().lower()}
# without a book there is still one test, and it says what to do
PAGES = [str(p.relative_to(SITE)) for p in FOUND if p not in REDIRECTS] or [THEOREM]
QUIZ = [p for p in PAGES if FOUND and 'id="quick-quiz"' in (SITE / p).read_text()]
COMPUTED = [p for p in PAGES if p.startswith(("book/notebooks/", "book/records/"))]
OWN = [p for p in PAGES if p.startswith("book/notebooks/")]
# every third page that was computed from a chapter, every twentieth of all others
SAMPLE = OWN[::3] + [p for p in PAGES if p not in OWN][::20]
# the first chapters, which are for an afternoon; chapters of evidence are longer
SHORT = [
    f"book/notebooks/{name}.html"
    for name in (
        "maximum-entropy",
        "divergences",
        "margin-and-j",
        "memd",
        "additivity",
        "from-js-to-gm",
        "classifiers",
        "chi-squared",
        "correlation",
    )
]
TALLEST = 18_500  # pixels that one of them takes on a desktop

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
# Formulas that a comma could leave, and pieces that should not be broken and are.
LOOSE = """() => [
    ...[...document.querySelectorAll("article span.math")].filter(
        e => /^[^\\s]/.test(e.nextSibling?.data ?? "") && !e.closest(".unbroken")),
    ...[...document.querySelectorAll("article .unbroken")].filter(
        e => e.checkVisibility() && e.style.whiteSpace !== "normal"
            && !e.querySelector(".wide") && e.getClientRects().length > 1),
].map(e => e.parentElement.textContent)"""
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
        assert page.evaluate(LOOSE) == [], width
    if name in SHORT:  # and ends before a reader tires
        page.set_viewport_size({"width": 1360, "height": 900})
        page.evaluate(DRAWN)
        assert page.evaluate("document.scrollingElement.scrollHeight") <= TALLEST
    assert one.problems == []


def test_the_first_address_leads_into_the_book(base, visit):
    page = visit(DESKTOP).page
    page.goto(f"{base}/index.html")
    page.wait_for_url("**/book/**")


@pytest.mark.parametrize("name", COMPUTED)
def test_a_computed_page_offers_its_notebook(name):
    # but for the button that opens it on the live site
    links = SoupStrainer("a", href=re.compile(r"^[^?]*\.ipynb$"))
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
    for what in ("p", "h1", "h2", "mjx-container svg", "p.checks a"):
        assert min(page.evaluate(CONTRAST, f"article {what}")) > 4.5, what
    assert one.problems == []


def test_in_print_the_text_stands_alone(visit):
    page = visit((794, 1123)).open("book/notebooks/beyond.html")  # A4
    page.emulate_media(media="print")
    for beside in (".bd-sidebar-primary", ".prev-next-area", "button.copybtn"):
        assert page.locator(f"{beside}:visible").count() == 0
    # what scrolls is cut, and is never broken between two pages
    boxes = page.locator("article :is(.cell_output, .text_html, pre, .scrolls)")
    styles = "all => all.map(e => getComputedStyle(e).overflowX)"
    assert set(boxes.evaluate_all(styles)) == {"visible"}
    verdicts = page.locator("p .verdict")
    assert verdicts.locator("visible=true").count() == verdicts.count() > 0
    assert page.evaluate(WIDEST) == ""
    figures = page.locator("img.memdlib-figure:visible")
    stretched = figures.evaluate_all("""all => all.map(e =>
        e.width / e.height / (e.naturalWidth / e.naturalHeight))""")
    assert stretched and all(abs(ratio - 1) < 0.02 for ratio in stretched)


PRINTED = """() => {
    const folds = "article :is(.proof-fold, .solution, .sd-dropdown)";
    const closed = () => [...document.querySelectorAll(folds)].filter(e => !e.open);
    const state = () => ({
        theme: document.documentElement.dataset.theme,
        scheme: getComputedStyle(document.documentElement).colorScheme,
        text: getComputedStyle(document.querySelector("article p")).color,
        formula: getComputedStyle(document.querySelector("mjx-container svg")).color,
        code: getComputedStyle(document.querySelector("article pre")).color,
        closed: closed().length,
    });
    window.before = state();
    addEventListener("beforeprint", () => window.printed = state());
}"""


def test_in_print_a_dark_page_is_light_and_its_folds_are_open(visit):
    light = visit(DESKTOP).open(THEOREM)
    light.evaluate(PRINTED)
    page = visit(DESKTOP, CHOSEN).open(THEOREM)
    page.evaluate(PRINTED)
    page.pdf()
    before, printed = page.evaluate("before"), page.evaluate("printed")
    assert printed == light.evaluate("before") | {"closed": 0}
    assert before["closed"] > 5 and before["text"] != printed["text"]
    # and is dark again, with its folds, once it is printed
    page.evaluate(PRINTED)
    assert page.evaluate("before") == before


def test_the_ring_of_the_search_has_the_colour_of_links(visit):
    page = visit(DESKTOP).open(THEOREM)
    page.locator(".search-button-field").first.click()
    field = page.locator("#pst-search-dialog form")
    ring = field.evaluate("e => getComputedStyle(e).boxShadow")
    link = page.locator("article p a").first.evaluate("e => getComputedStyle(e).color")
    assert ring.startswith(link)


def test_what_does_not_scroll_shows_no_shadow_at_its_edges(base, browser):
    """On a screen on whose pixels the edges of boxes do not fall."""
    view = {"viewport": {"width": PHONE[0], "height": 3000}, "device_scale_factor": 1.5}
    with browser.new_context(**view) as context:
        page = context.new_page()
        page.goto(f"{base}/book/notebooks/newsgroups.html")
        page.evaluate("() => document.fonts.ready.then(() => null)")
        boxes = page.locator("article :is(.scrolls, table.table):visible").all()
        fits = "e => e.scrollWidth <= e.clientWidth"
        boxes = [box for box in boxes if box.evaluate(fits)]

        def edges():
            """Each box, with a little of what is around it."""
            for box in boxes:
                box.scroll_into_view_if_needed()
                clip = box.bounding_box()
                clip = {side: clip[side] - 2 for side in "xy"} | {
                    side: clip[side] + 4 for side in ("width", "height")
                }
                picture = Image.open(BytesIO(page.screenshot(clip=clip)))
                yield np.asarray(picture.convert("L"), dtype=int)

        list(edges())  # all pictures and fonts are there
        with_shadows = list(edges())
        page.add_style_tag(content=":root { --memd-edges: none !important; }")
        assert with_shadows
        for seen, plain in zip(with_shadows, edges(), strict=True):
            assert np.abs(seen - plain).max() <= 2  # of 255


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


def test_the_search_finds_the_theorem(visit):
    one = visit(DESKTOP)
    page = one.open("search.html?q=Margins+add+up+to+J")
    page.wait_for_selector("#search-results li a")
    assert page.locator(f"#search-results li a[href*='{THEOREM}']").count()
    excerpts = page.locator("#search-results p.context").all_inner_texts()
    words = "ipynb|Show code|Hide code|Print to PDF"
    assert excerpts and not re.search(words, " ".join(excerpts))
    assert one.problems == []


def test_a_missing_page_leads_home(visit):
    one = visit(PHONE)
    page = one.open("404.html")
    assert page.locator("a").first.get_attribute("href") == "/"
    assert page.evaluate(WIDEST) == ""
    assert one.problems == []


def test_the_front_page_begins_with_its_reader(visit):
    """The promise, where to start and the movable chain; then the path, then doors."""
    page = visit((1360, 900)).open("book/notebooks/index.html")
    ends = "e => e.getBoundingClientRect().bottom"
    assert page.locator(".lead").evaluate(ends) < 500
    start = page.locator("article a.start")
    assert start.evaluate(ends) < 600
    assert "7 chapters" in start.inner_text()
    chain = page.locator("#front-chain .explain svg").bounding_box()
    assert chain["y"] + 240 < 900  # moments and densities are seen at once
    assert page.locator("#the-path ol").evaluate(ends) < 2 * 900
    assert page.locator(".doors").evaluate(ends) < 2.5 * 900
    start.click()
    page.wait_for_url("**/maximum-entropy.html")


@pytest.mark.parametrize("name", QUIZ)
def test_the_answers_of_a_quiz_are_folded(name):
    page = BeautifulSoup((SITE / name).read_text(), "html.parser")
    answers = page.select("#quick-quiz details")
    assert len(answers) == 3
    for answer in answers:
        assert answer.summary and answer.p and not answer.has_attr("open")


def test_on_a_phone_statements_keep_their_names_whole(visit):
    page = visit(PHONE).open("book/statements.html")
    page.evaluate(DRAWN)
    names = page.locator(".statements td code")
    lines = names.evaluate_all("all => all.map(e => e.getClientRects().length)")
    assert set(lines) == {1}
    assert page.evaluate(WIDEST) == ""
