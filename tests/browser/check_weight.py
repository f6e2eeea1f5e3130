"""What a first visit to a page loads, and whether its text stays where it is.

Run it by ``make test-browser``, as :mod:`tests.browser.check_pages`.
"""

import pytest

from tests.browser.check_pages import DESKTOP, SAMPLE, THEOREM
from tests.browser.conftest import DRAWN, SITE, Visit

FRONT = "book/notebooks/index.html"
HEAVIEST = 1_500_000  # bytes of a page and all that it loads, as they are on the disk
SCRIPT = "/mathjax/"  # what sets the formulas; it has two megabytes of its own
INDEX = "searchindex.js"
JUMPS = """
    window.jumps = 0;
    new PerformanceObserver(list => {
        for (const shift of list.getEntries())
            if (!shift.hadRecentInput) window.jumps += shift.value;
    }).observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture
def first(base, browser):
    """A page that is opened by a browser which has nothing of the book."""
    with browser.new_context() as context:
        context.add_init_script(JUMPS)
        one = Visit(context, base, DESKTOP, "light")
        one.sizes = {}
        one.page.on("response", lambda r: one.sizes.update({r.url: len(r.body())}))
        yield one


@pytest.mark.parametrize("name", list(dict.fromkeys([FRONT, THEOREM, *SAMPLE])))
def test_a_first_visit_is_light_and_its_text_does_not_jump(first, name):
    page = first.open(name)
    page.evaluate("() => document.fonts.ready.then(() => null)")
    page.evaluate(DRAWN)
    formulas = [url for url in first.sizes if SCRIPT in url]
    light = [size for url, size in first.sizes.items() if url not in formulas]
    assert 0 < sum(light) <= HEAVIEST
    has_formulas = 'class="math ' in (SITE / name).read_text()
    assert len(formulas) <= has_formulas
    assert any(INDEX in url for url in first.sizes) == (name == "search.html")
    assert page.evaluate("jumps") < 0.1
    assert first.problems == []


def test_the_front_page_needs_no_script_for_formulas(first):
    first.open(FRONT)
    assert not any(SCRIPT in url for url in first.sizes)


def test_the_page_of_search_loads_the_index(first):
    first.open("search.html")
    assert any(INDEX in url for url in first.sizes)
