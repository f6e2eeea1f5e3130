"""The page of claims in headless Chromium: filters, anchors, address, phone, no script.

Run it by ``make test-browser``, as :mod:`tests.browser.check_pages`.
"""

import re

import pytest

from compendium.build.verdicts import PAGE, slug
from compendium.ledger.claims import DIFFERS, REPRODUCED, read_claims
from compendium.project import root
from tests.browser.check_pages import (
    CHOSEN,
    CONTRAST,
    DESKTOP,
    PHONE,
    WIDEST,
)

CLAIMS = read_claims(root())
ONE = next(one for one in CLAIMS if one.method and one.verdict == DIFFERS)
STATUS = "#claim-filters [role=status]"
SHOWN = "li.claim:visible"

SMALLEST = """() => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode, e = text.parentElement;
        if (!text.data.trim() || !e.checkVisibility({visibilityProperty: true}))
            continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        if (box.width < 1 || e.closest(".unseen")) continue;
        const svg = e.ownerSVGElement;
        const scale = !svg ? 1
            : svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const size = parseFloat(getComputedStyle(e).fontSize) * scale;
        if (size > 0) found.push([size, text.data.trim()]);
    }
    return found.reduce((a, b) => (b[0] < a[0] ? b : a));
}"""


def fits(**wanted):
    """Identifiers of the claims that a filter lets through."""
    facts = {
        one.id: {
            "source": "" if one.ours else one.source,
            "table": slug(one.group),
            "verdict": slug(one.verdict),
        }
        for one in CLAIMS
    }
    return sorted(
        name for name, fact in facts.items() if wanted.items() <= fact.items()
    )


def shown(page):
    """Identifiers of the cards that can be seen; the page orders groups its own way."""
    return sorted(
        page.locator(SHOWN).evaluate_all(
            "all => all.map(card => card.querySelector('.inside').id)"
        )
    )


def status(page):
    return tuple(map(int, re.findall(r"\d+", page.inner_text(STATUS))))


def query(page):
    return dict(re.findall(r"[?&](\w+)=([^&#]*)", page.url))


@pytest.fixture
def page(visit):
    one = visit(DESKTOP)
    yield one.open(f"{PAGE}.html")
    assert one.problems == []


def test_all_claims_are_shown_and_counted(page):
    assert shown(page) == fits()
    assert status(page) == (len(CLAIMS), len(CLAIMS))
    assert page.get_attribute(STATUS, "aria-live") == "polite"


@pytest.mark.parametrize(
    "wanted",
    [
        {"verdict": slug(DIFFERS)},
        {"table": slug(ONE.group)},
        {"source": "pandey2013"},
        {"source": "dukkipati2013", "table": slug(ONE.group), "verdict": slug(DIFFERS)},
    ],
    ids=lambda wanted: " ".join(wanted),
)
def test_filters_narrow_and_the_address_brings_them_back(page, visit, wanted):
    for name, value in wanted.items():
        page.select_option(f"#claim-filters [name={name}]", value)
    assert shown(page) == fits(**wanted) != []
    assert status(page) == (len(fits(**wanted)), len(CLAIMS))
    assert query(page) == wanted
    again = visit(DESKTOP).page
    again.goto(page.url)
    assert shown(again) == fits(**wanted)
    page.click("#claim-filters [type=reset]")
    page.wait_for_function("!location.search")
    assert shown(page) == fits()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_what_a_filter_lets_through_begins_on_the_same_screen(visit, size):
    page = visit(size).open(f"{PAGE}.html")
    page.select_option("#claim-filters [name=table]", slug(ONE.group))
    page.wait_for_function(
        """() => [...document.querySelectorAll("li.claim")].find(e => !e.hidden)
            .getBoundingClientRect().bottom <= innerHeight"""
    )
    top = page.locator("#claim-filters").evaluate("e => e.getBoundingClientRect().top")
    assert 0 <= top < size[1]


def test_text_is_sought_in_all_of_a_card(page):
    page.fill("#claim-filters [name=text]", "SRBCT MeMd-J ")
    found = shown(page)
    assert "table2-memd-j-srbct" in found and 0 < len(found) < 20
    assert query(page)["text"] == "SRBCT+MeMd-J+"
    page.fill("#claim-filters [name=text]", "no such claim anywhere")
    assert shown(page) == [] and status(page) == (0, len(CLAIMS))


def test_the_keyboard_is_enough(page):
    page.focus("#claim-filters [name=verdict]")
    page.keyboard.type(REPRODUCED[:3])
    page.keyboard.press("Tab")
    assert shown(page) == fits(verdict=slug(REPRODUCED))
    page.keyboard.type("identit")  # the field of text is the next one
    found = shown(page)
    assert 0 < len(found) < len(fits(verdict=slug(REPRODUCED)))
    page.keyboard.press("Enter")
    assert query(page) == {"verdict": slug(REPRODUCED), "text": "identit"}
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the button that shows all
    page.wait_for_function("!location.search")
    assert shown(page) == fits()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator(f"[id='{CLAIMS[0].id}']").is_visible()


def test_an_anchor_opens_its_card_and_a_filter_gives_way(page):
    inside = page.locator(f"[id='{ONE.id}']")
    assert not inside.is_visible()
    page.goto(f"{page.url}#{ONE.id}")
    inside.wait_for(state="visible")
    assert inside.locator("dl").is_visible()
    assert page.locator("details[open] .inside").count() == 1
    page.goto(page.url.split("#")[0] + "?verdict=reproduced#" + ONE.id)
    page.locator(f"[id='{ONE.id}']").wait_for(state="visible")
    assert shown(page) == fits() and query(page) == {}
    box = page.locator(f"[id='{ONE.id}']").bounding_box()
    assert 0 < box["y"] < DESKTOP[1]


def test_a_count_leads_to_its_claims(page):
    wanted = {"table": slug(ONE.group), "verdict": slug(DIFFERS)}
    address = "&".join(f"{key}={value}" for key, value in wanted.items())
    link = page.locator(f".claim-counts a[href^='?{address}#']")
    number = int(link.inner_text())
    link.click()
    page.wait_for_url(f"**{address}**")
    assert len(shown(page)) == number and shown(page) == fits(**wanted)


def test_without_a_script_all_is_there(base, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}/{PAGE}.html#{ONE.id}")
    assert page.locator(SHOWN).count() == len(CLAIMS)
    assert not page.locator("#claim-filters").is_visible()
    # the browser opens a card by its address
    assert page.locator(f"[id='{ONE.id}'] dl").is_visible()
    page.locator("li.claim summary").first.click()
    assert page.locator("li.claim .inside").first.is_visible()
    context.close()


@pytest.mark.parametrize("name", [f"{PAGE}.html", f"{PAGE}.html#{ONE.id}"])
def test_on_a_phone_nothing_is_cut_or_tiny(visit, name):
    page = visit(PHONE).open(name)
    assert page.evaluate(WIDEST) == ""
    size, text = page.evaluate(SMALLEST)
    assert size >= 9, text
    for card in page.locator("li.claim").all()[:5]:
        for part in (".says", ".numbers", ".verdict"):
            box = card.locator(part).first.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0]


@pytest.mark.parametrize("script", ["", CHOSEN], ids=["light", "dark"])
def test_words_and_marks_stand_out(visit, script):
    page = visit(DESKTOP, script).open(f"{PAGE}.html#{ONE.id}")
    for what in ("li.claim .says", "li.claim summary .verdict", "li.claim dd"):
        assert min(page.evaluate(CONTRAST, what)) > 4.5, what
    ground = page.locator(f"[id='{ONE.id}']").evaluate(
        "e => { while (getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)')"
        " e = e.parentElement; return e.tagName }"
    )
    assert ground not in ("DIV", "LI")


def test_a_verdict_in_a_margin_leads_to_its_card(visit):
    page = visit(DESKTOP).open("book/notebooks/beyond.html")
    link = page.locator("a.verdict").first
    name = link.get_attribute("href").split("#")[1]
    link.click()
    page.wait_for_url("**/claims.html#*")
    page.locator(f"[id='{name}']").wait_for(state="visible")
