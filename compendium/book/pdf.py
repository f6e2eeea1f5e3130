"""Pages of the rendered site, printed by Chromium to one PDF each."""

import os
import subprocess
import tempfile
from pathlib import Path
from shutil import which

from compendium.book.manifest import write_print_manifest
from compendium.project import root, write_whole

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


def printed(page: Path) -> bytes:
    """A page of the site as PDF, once its formulas are set.

    Raises
    ------
    FileNotFoundError
        If there is no such page, of which Chromium would print that it is missing.
    """
    if not page.is_file():
        raise FileNotFoundError(f"there is no {page}: call 'make book' first")
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        target = Path(scratch, "page.pdf")
        command = [program(), "--headless", *OPTIONS, "--no-pdf-header-footer"]
        # until so many milliseconds have passed for the page, nothing is left to do
        command += ["--virtual-time-budget=30000", f"--print-to-pdf={target}"]
        command += [page.resolve().as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
        return target.read_bytes()


def main(pages: list[str]) -> int:
    """Print notebooks of ``_build/html``, such as ``article``, to ``_build``."""
    work = root() / "_build"
    for name in pages:
        try:
            pdf = printed(work / "html" / "book" / "notebooks" / f"{name}.html")
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name} was not printed: {error}")
            return 1
        target = work / f"{name}.pdf"
        write_whole(target, pdf)
        write_print_manifest(target, work / "html")
        print(f"Open {target}")
    return 0
