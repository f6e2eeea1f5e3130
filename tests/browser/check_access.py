"""Pages as they are for a screen reader and a keyboard: what axe-core finds.

Run it by ``make test-browser``, as :mod:`tests.browser.check_pages`.
"""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.check_pages import CHOSEN, DESKTOP, PHONE, SAMPLE, THEOREM

GRAVE = {"serious", "critical"}
# A rule that is not asked by default: what is announced contains what is seen.
OPTIONS = {
    "resultTypes": ["violations"],
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}


def grave_faults(page):
    """What axe-core finds, by the name of its rule."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return {
        one["id"]: [node["target"] for node in one["nodes"]]
        for one in found
        if one["impact"] in GRAVE
    }


# one template makes all pages, and one style sheet sets their colours
@pytest.mark.parametrize("name", SAMPLE[::2])
def test_a_page_has_no_grave_fault_on_a_phone(visit, name):
    assert grave_faults(visit(PHONE).open(name)) == {}


@pytest.mark.parametrize("name", SAMPLE[1::4])
def test_a_page_has_no_grave_fault_in_the_dark(visit, name):
    assert grave_faults(visit(DESKTOP, CHOSEN).open(name)) == {}


def test_what_scrolls_on_a_phone_can_be_reached_and_has_a_name(visit):
    page = visit(PHONE).open(THEOREM)
    boxes = page.get_by_role("group", name="which scrolls sideways")
    assert boxes.count() > 0
    box = boxes.first
    box.focus()
    page.keyboard.press("ArrowRight")
    moved = "e => new Promise(done => e.addEventListener('scroll', () => done(true)))"
    assert box.evaluate("e => e.scrollLeft > 0") or box.evaluate(moved)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("!document.querySelector('mjx-container[tabindex]')")


def test_folds_are_named_by_what_is_seen(visit):
    page = visit(DESKTOP).open(THEOREM)
    folds = page.locator("article summary")
    assert folds.count() > 5
    for fold in folds.all():
        assert fold.get_attribute("aria-label") is None and fold.inner_text().strip()
