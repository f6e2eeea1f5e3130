"""Pages of the rendered site, printed by Chromium to one PDF each."""

import asyncio

from playwright.async_api import Error, async_playwright

from compendium.book.chromium import OPTIONS, program, served
from compendium.book.manifest import write_print_manifest
from compendium.project import root, write_whole

PATIENCE = 60  # seconds for a page


async def printed(address: str) -> bytes:
    """The page at an address as PDF, once its formulas are set."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program(), args=OPTIONS
        )
        page = await browser.new_page()
        await page.goto(address)
        await page.evaluate("() => window.MathJax?.startup?.promise.then(() => null)")
        return await page.pdf(prefer_css_page_size=True, print_background=True)


def main(pages: list[str]) -> int:
    """Print notebooks of ``_build/html``, such as ``article``, to ``_build``."""
    work = root() / "_build"
    with served(work / "html") as base:
        for name in pages:
            address = f"{base}/book/notebooks/{name}.html"
            try:
                pdf = asyncio.run(asyncio.wait_for(printed(address), PATIENCE))
            except (Error, OSError, TimeoutError) as error:
                print(f"{name} was not printed within {PATIENCE} s: {error!r}")
                return 1
            target = work / f"{name}.pdf"
            write_whole(target, pdf)
            write_print_manifest(target, work / "html")
            print(f"Open {target}")
    return 0
