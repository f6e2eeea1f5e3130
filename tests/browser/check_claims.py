"""The page of claims in headless Chromium: filters, anchors, address, phone, no script.

Run it by ``make test-browser``, as :mod:`tests.browser.check_pages`.
"""

import re
from urllib.parse import urlencode

import pytest

from compendium.book.verdicts import PAGE, slug
from compendium.ledger.claims import AGREES, DISAGREES, read_claims
from compendium.project import root
from tests.browser.check_pages import CHOSEN, CONTRAST, DESKTOP, PHONE, WIDEST

CLAIMS = read_claims(root())
ONE = next(one for one in CLAIMS if one.method and one.verdict == DISAGREES)
STATUS = "#claim-filters [role=status]"
SHOWN = "li.claim:visible"


def fits(**wanted):
    """Identifiers of the claims that a filter lets through."""

    def facts(one):
        source, table = "" if one.ours else one.source, slug(one.group)
        return {"source": source, "table": table, "verdict": slug(one.verdict)}

    return sorted(one.id for one in CLAIMS if wanted.items() <= facts(one).items())


def shown(page):
    """Identifiers of the cards that can be seen; the page orders groups its own way."""
    ids = "all => all.map(card => card.querySelector('.inside').id)"
    return sorted(page.locator(SHOWN).evaluate_all(ids))


def status(page):
    return tuple(map(int, re.findall(r"\d+", page.inner_text(STATUS))))


def query(page):
    return dict(re.findall(r"[?&](\w+)=([^&#]*)", page.url))


@pytest.fixture
def page(visit):
    one = visit(DESKTOP)
    yield one.open(f"{PAGE}.html")
    assert one.problems == []


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"source": "pandey2013"},
        {"source": "dukkipati2013", "table": slug(ONE.group)}
        | {"verdict": slug(DISAGREES)},
    ],
    ids=lambda wanted: " ".join(wanted) or "none",
)
def test_filters_narrow_and_the_address_brings_them_back(page, visit, wanted):
    for name, value in wanted.items():
        page.select_option(f"#claim-filters [name={name}]", value)
    assert shown(page) == fits(**wanted) != []
    assert status(page) == (len(fits(**wanted)), len(CLAIMS))
    assert query(page) == wanted
    assert page.get_attribute(STATUS, "aria-live") == "polite"
    again = visit(DESKTOP).page
    again.goto(page.url)
    assert shown(again) == fits(**wanted)
    page.click("#claim-filters [type=reset]")
    page.wait_for_function("!location.search")
    assert shown(page) == fits()


def test_text_is_sought_in_all_of_a_card(page):
    page.fill("#claim-filters [name=text]", "SRBCT MeMd-J ")
    found = shown(page)
    assert "table2-memd-j-srbct" in found and 0 < len(found) < 20
    assert query(page)["text"] == "SRBCT+MeMd-J+"
    page.fill("#claim-filters [name=text]", "no such claim anywhere")
    assert shown(page) == [] and status(page) == (0, len(CLAIMS))


def test_an_anchor_opens_its_card_and_a_filter_gives_way(page):
    inside = page.locator(f"[id='{ONE.id}']")
    assert not inside.is_visible()
    page.goto(f"{page.url}?verdict={slug(AGREES)}#{ONE.id}")
    inside.wait_for(state="visible")
    assert page.locator("details[open] .inside").count() == 1
    assert shown(page) == fits() and query(page) == {}
    assert 0 < inside.bounding_box()["y"] < DESKTOP[1]


def test_a_count_leads_to_its_claims(page):
    wanted = {"table": slug(ONE.group), "verdict": slug(DISAGREES)}
    address = urlencode(wanted)
    link = page.locator(f".claim-counts a[href^='?{address}#']")
    number = int(link.inner_text())
    link.click()
    page.wait_for_url(f"**{address}**")
    assert len(shown(page)) == number and shown(page) == fits(**wanted)


def test_without_a_script_all_is_there(base, browser):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{base}/{PAGE}.html#{ONE.id}")
        assert page.locator(SHOWN).count() == len(CLAIMS)
        assert not page.locator("#claim-filters").is_visible()
        # the browser opens a card by its address
        assert page.locator(f"[id='{ONE.id}'] dl").is_visible()


@pytest.mark.parametrize("script", ["", CHOSEN], ids=["light", "dark"])
def test_words_and_marks_stand_out(visit, script):
    page = visit(PHONE, script).open(f"{PAGE}.html#{ONE.id}")
    assert page.evaluate(WIDEST) == ""
    for what in ("li.claim .says", "li.claim summary .verdict", "li.claim dd"):
        assert min(page.evaluate(CONTRAST, what)) > 4.5, what


def test_a_verdict_in_the_text_leads_to_its_card(visit):
    page = visit(DESKTOP).open("book/notebooks/beyond.html")
    link = page.locator("a:has(.verdict)").first
    name = link.get_attribute("href").split("#")[1]
    link.click()
    page.wait_for_url("**/claims.html#*")
    page.locator(f"[id='{name}']").wait_for(state="visible")
