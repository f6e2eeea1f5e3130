"""Chromium without a screen, and a folder served to it on the loopback."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Where Debian and its kin put it; the environment variable CHROMIUM says otherwise.
# The first has no windows at all, and opens a page in two thirds of the time.
PROGRAMS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")

# Letters as wide as on a screen of today: the first would fit them to whole pixels.
OPTIONS = ("--no-sandbox", "--disable-gpu", "--font-render-hinting=none")
OPTIONS += ("--disable-background-networking",)


def program() -> str:
    """Path of the browser.

    Raises
    ------
    FileNotFoundError
        If there is none; says how to name one.
    """
    tried = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else PROGRAMS
    for path in tried:
        if Path(path).is_file():
            return path
    raise FileNotFoundError(
        f"there is no Chromium at {' or '.join(tried)}: install it, or set CHROMIUM to "
        "its path"
    )


class _Handler(SimpleHTTPRequestHandler):
    # a connection stays open, and what has come once is not asked for again
    protocol_version = "HTTP/1.1"

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder; the address, without a slash at its end."""
    handler = partial(_Handler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as it:
        thread = threading.Thread(target=it.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{it.server_port}"
        finally:
            it.shutdown()
            thread.join()
