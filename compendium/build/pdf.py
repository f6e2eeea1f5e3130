"""The whole book as one PDF, or its article, printed by the browser of the tests.

The rendered pages are joined into one, in the order of the table of contents: only then
do references lead to other chapters, and do bookmarks cover all of them. A formula or a
figure is what the reader of the pages sees.
"""

import os
import re
from collections import Counter
from pathlib import Path, PurePosixPath
from time import gmtime, strftime
from urllib.parse import unquote, urldefrag

import yaml
from bs4 import BeautifulSoup, Tag

from compendium.build import chromium
from compendium.build.pages import last_change
from compendium.project import root, write_whole

# What only a screen can use: searched, filtered, or one of some hundred records.
LEFT_OUT = ("book/lab-records", "book/notebooks/claims", "book/api")

# Printed by itself, in the form of a journal.
ARTICLE = "book/notebooks/article"

# Time for the formulas of the whole book, ms.
_PATIENCE = 600_000

_SET = """() => [...document.querySelectorAll(".math")].every(
    e => e.querySelector("mjx-container"))
    && [...document.images].every(e => e.complete && e.naturalWidth)
    && document.fonts.status === 'loaded' && document.readyState === 'complete'"""


class PrintError(RuntimeError):
    """The book could not be printed; says what is missing."""


def parts(project: Path) -> list[tuple[str, list[str]]]:
    """Captions and pages of the table of contents, in order.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of (str, list of str)
        Pages by their address without ending; the first part is the front page.
    """
    toc = yaml.safe_load((project / "_toc.yml").read_text())
    found = [("", [toc["root"]])]
    for part in toc["parts"]:
        pages = [entry["file"] for entry in part["chapters"] if "file" in entry]
        out = (*LEFT_OUT, ARTICLE)
        found.append((part["caption"], [page for page in pages if page not in out]))
    return [(caption, pages) for caption, pages in found if pages]


def joined(site: Path, contents: list[tuple[str, list[str]]]) -> str:
    """One page of many.

    Parameters
    ----------
    site : Path
        Rendered pages.
    contents : list of (str, list of str)
        As :func:`parts` gives them. A single page is set smaller, and without a list
        of contents.

    Returns
    -------
    str
        HTML to be served from ``site``. Identifiers carry the page they come from, so
        that no two are alike; links to pages that are not here are text.

    Raises
    ------
    PrintError
        If a page has not been rendered.
    """
    names = [page for _, pages in contents for page in pages]
    first = _read(site, names[0])
    alone = " memdlib-article" if len(names) == 1 else ""
    body = first.new_tag("main", attrs={"class": f"bd-main memdlib-print{alone}"})
    chapters = first.new_tag("div", attrs={"class": "bd-content"})
    listed = first.new_tag("nav", attrs={"class": "memdlib-contents"})
    for caption, pages in contents:
        heading, items = first.new_tag("h2"), first.new_tag("ul")
        heading.string = caption
        listed.extend([heading, items] if caption else [])
        for page in pages:
            article = _read(site, page).select_one("article.bd-article")
            _rewrite(article, page, set(names))
            article["id"] = _key(page)
            chapters.append(article)
            if caption:
                link = first.new_tag("a", href=f"#{_key(page)}")
                link.string = article.h1.get_text().removesuffix("#")
                items.append(first.new_tag("li"))
                items.contents[-1].append(link)
    if alone:
        _renumber(chapters)
    else:
        chapters.find("article").insert_after(listed)
    body.append(chapters)
    first.title.string = first.h1.get_text().removesuffix("#")
    first.body.clear()
    first.body.append(body)
    for script in first.head.find_all("script", src=True):
        if "mathjax" not in script["src"]:
            script.decompose()
    _rewrite(first.head, names[0], set())
    first.html["data-theme"] = first.html["data-mode"] = "light"
    return str(first)


def _read(site: Path, page: str) -> BeautifulSoup:
    path = site / f"{page}.html"
    if not path.is_file():
        raise PrintError(f"there is no {path}: run 'make book' first")
    return BeautifulSoup(path.read_text(), "html.parser")


def _key(page: str) -> str:
    return page.replace("/", "-")


def _rewrite(element: Tag, page: str, here: set[str]) -> None:
    """Addresses from the root of the site; identifiers and links with their page."""
    for tag in element.select("[id]"):
        tag["id"] = f"{_key(page)}--{tag['id']}"
    for tag in element.select("[src], link[href]"):
        name = "src" if tag.has_attr("src") else "href"
        if "://" not in tag[name] and not tag[name].startswith("data:"):
            tag[name] = _resolved(page, tag[name])
    for tag in element.select("a[href]"):
        address, fragment = urldefrag(tag["href"])
        if "://" in address or address.startswith("mailto:"):
            continue
        target = _resolved(page, address).removesuffix(".html") if address else page
        if target in here:
            tag["href"] = f"#{_key(target)}" + (f"--{fragment}" if fragment else "")
        else:
            del tag["href"]
    # code stands in the notebooks; a solution or a proof is text
    for tag in element.select("div.tag_hide-input > details, details.above-input"):
        tag.decompose()
    for tag in element.select("details"):
        tag["open"] = ""


def _renumber(chapters: Tag) -> None:
    """Count figures and tables from one, where they stand and where they are named."""
    counted: Counter[str] = Counter()
    names = {}
    for tag in chapters.select(".caption-number"):
        kind, _ = tag.string.split()
        counted[kind] += 1
        names[tag.string.strip()] = tag.string = f"{kind} {counted[kind]} "
    for tag in chapters.select("a .std-numref"):
        tag.string = names.get(tag.get_text().strip(), tag.get_text()).strip()


def _resolved(page: str, address: str) -> str:
    path = PurePosixPath(page).parent / unquote(address.partition("?")[0])
    return os.path.normpath(path)


def timeless(pdf: bytes, seconds: int) -> bytes:
    """Take out of a PDF what tells one printing from another.

    The browser writes the time, and names the parts of the text by the numbers that its
    nodes happen to have, which differ by a few from one start to the next.

    Parameters
    ----------
    pdf : bytes
    seconds : int
        Since 1970: the date of the last change, in place of that of printing.

    Returns
    -------
    bytes
        Of the same length, so that its table of offsets stays right. Nodes are counted
        from zero in the same order, since names of parts are looked up by halving.
    """
    stamp = strftime("D:%Y%m%d%H%M%S+00'00'", gmtime(seconds)).encode()
    date = rb"(/(?:CreationDate|ModDate) \()D:\d{14}\+00'00'"
    node = rb"\(node(\d{8})\)"
    order = {number: i for i, number in enumerate(sorted(set(re.findall(node, pdf))))}
    pdf = re.sub(date, lambda found: found[1] + stamp, pdf)
    return re.sub(node, lambda found: b"(node%08d)" % order[found[1]], pdf)


def main(*, article: bool) -> int:
    """Print ``_build/html`` to ``_build``; a PDF is replaced at the end.

    Parameters
    ----------
    article : bool
        Whether to print only the article, to ``article.pdf``; else ``memdlib.pdf``.
    """
    project = root()
    site = project / "_build" / "html"
    target = project / "_build" / ("article.pdf" if article else "memdlib.pdf")
    what = "article" if article else "book"
    print(f"Printing the {what} ...", flush=True)
    contents = [("", [ARTICLE])] if article else parts(project)
    try:
        pdf = printed(site, joined(site, contents))
    except (PrintError, FileNotFoundError) as error:
        print(f"The {what} was not printed.\n{error}")
        return 1
    write_whole(target, timeless(pdf, int(last_change(project))))
    print(f"Open {target}")
    return 0


def printed(site: Path, html: str) -> bytes:
    """Print one page with what it needs from a site.

    Parameters
    ----------
    site : Path
    html : str

    Returns
    -------
    bytes
        PDF with bookmarks.

    Raises
    ------
    FileNotFoundError
        If there is no browser.
    """
    with chromium.launched() as browser, chromium.served(site) as base:
        page = browser.new_page()
        page.set_default_timeout(_PATIENCE)
        page.emulate_media(media="print", color_scheme="light")
        page.route("**/print.html", lambda route: route.fulfill(
            body=html, content_type="text/html; charset=utf-8"))  # fmt: skip
        page.goto(f"{base}/print.html")
        page.wait_for_function(_SET)
        pdf = page.pdf(
            prefer_css_page_size=True, print_background=True, outline=True, tagged=True
        )
    return pdf
