"""A page of the rendered site, printed by Chromium to a PDF."""

import os
import subprocess
import tempfile
from pathlib import Path
from shutil import which

# Letters as wide as on a screen of today: without the last, Chromium fits them to whole
# pixels.
OPTIONS = ("--no-sandbox", "--disable-gpu", "--font-render-hinting=none")

PATIENCE = 60  # seconds for a page


def program() -> str:
    """The Chromium of the environment variable ``CHROMIUM``, else an installed one."""
    # the first has no windows at all, and opens a page in two thirds of the time
    installed = which("chromium-headless-shell") or which("chromium")
    if path := os.environ.get("CHROMIUM", installed):
        return path
    raise FileNotFoundError("there is no Chromium: install it, or set CHROMIUM to one")


def rendered(page: Path) -> Path:
    """A page of the site, which is there.

    Raises
    ------
    FileNotFoundError
        If it is not: Chromium would print that it is missing.
    """
    if not page.is_file():
        raise FileNotFoundError(f"there is no {page}: call 'make book' first")
    return page


def printed(page: Path) -> bytes:
    """A page of the site as PDF, once its formulas are set."""
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        target = Path(scratch, "page.pdf")
        command = [program(), "--headless", *OPTIONS, "--no-pdf-header-footer"]
        # until so many milliseconds have passed for the page, nothing is left to do
        command += ["--virtual-time-budget=30000", f"--print-to-pdf={target}"]
        command += [rendered(page).resolve().as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
        return target.read_bytes()
