"""The built book in a browser that all checks of a module share."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from compendium.book.pdf import OPTIONS, program

SITE = Path(__file__).parents[2] / "_build" / "html"

# After two frames what a new width moves has moved, but for what moves slowly.
DRAWN = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(null)))
).then(() => Promise.allSettled(document.getAnimations()
    .filter(one => one instanceof CSSTransition).map(one => one.finished))
).then(() => null)"""


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder to a browser that asks for nothing twice."""

    protocol_version = "HTTP/1.1"  # a connection stays open

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *_):
        pass


class Visit:
    """One page in a window of its own, and everything that went wrong with it."""

    def __init__(self, context, base, size, scheme):
        self.base, self.problems = base, []
        self.page = page = context.new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("requestfailed", lambda r: self._note("request failed", r.url))
        page.on("pageerror", lambda error: self._note("page error", error))
        page.on("console", self._told)

    def _note(self, what, which):
        self.problems.append(f"{what}: {which}")

    def _told(self, message):
        if message.type == "error":
            self._note("console", message.text)

    def _asked(self, request):
        if not request.url.startswith((self.base, "data:", "blob:")):
            self._note("request to the outside", request.url)

    def _answered(self, response):
        if response.status >= 400:
            self._note(f"status {response.status}", response.url)

    def open(self, name):
        """Go to a page and wait until its formulas are set."""
        self.page.goto(f"{self.base}/{name}", wait_until="load")
        self.page.evaluate("() => window.MathJax?.startup?.promise.then(() => null)")
        self.page.evaluate(DRAWN)
        return self.page


@pytest.fixture(scope="module")
def base():
    """Address of the built book."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no book in {SITE}: run 'make book' first", pytrace=False)
    handler = partial(Handler, directory=SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program(),
            args=[*OPTIONS, "--disable-background-networking"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def contexts(browser):
    """One for each script that goes before those of a page.

    All pages of one share what is cached, and the choice of colours that they store.
    """
    made = {}

    def of(script):
        if script not in made:
            made[script] = browser.new_context()
            made[script].add_init_script(script)
        return made[script]

    return of


@pytest.fixture
def visit(base, contexts):
    """Make a visit with ``visit(size)``; all are closed in the end."""
    made = []

    def make(size, script="", scheme="light"):
        made.append(Visit(contexts(script), base, size, scheme))
        return made[-1]

    yield make
    for one in made:
        # else the next page of this context marks the words that one has searched for
        one.page.evaluate("() => localStorage.removeItem('sphinx_highlight_terms')")
        one.page.close()
