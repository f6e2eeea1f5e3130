"""Pages of the rendered site as PDF: one each, or all of them bound to one book.

Chromium prints page after page. In the book each begins with the number that follows
the last one of the page before, and links between pages lead inside of the book.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from html import escape, unescape
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import yaml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, Destination, Fit, NameObject

from compendium.book.manifest import write_print_manifest
from compendium.book.pages import citation, full_name
from compendium.book.pdf import printed, rendered
from compendium.project import root, write_whole

BOOK = "book"  # in place of the name of a page
_LINK = re.compile(r'href="([^":#]+)\.html#([^"]+)"')
_TITLE = re.compile(r"<title>(.*?) (?:&#8212;|—) ", re.DOTALL)
_PRINTED_TITLE = re.compile(r'(id="jb-print-docs-body".*?<h1>).*?(</h1>)', re.DOTALL)


def contents(project: Path) -> list[tuple[str, str]]:
    """Caption of the part and name of each page, in the order of ``_toc.yml``.

    What stands below a page (functions, formal proofs, lab records) is looked up on a
    screen, and left out. The first page is in no part.
    """
    listed = yaml.safe_load((project / "_toc.yml").read_text("utf-8"))
    pages = [("", listed["root"])]
    for part in listed["parts"]:
        pages += [(part["caption"], chapter["file"]) for chapter in part["chapters"]]
    return pages


def linked_anchors(html: Path, pages: Sequence[str]) -> dict[str, set[str]]:
    """Anchors of each page to which pages of the book link."""
    anchors = {page: set() for page in pages}
    for page in pages:
        folder = PurePosixPath(page).parent
        text = rendered(html / f"{page}.html").read_text("utf-8")
        for address, anchor in _LINK.findall(text):
            target = os.path.normpath(folder / address)
            if target in anchors:
                anchors[target].add(anchor)
    return anchors


def title_of(text: str) -> str:
    """Title of a page with its number, as HTML: its window has it before the book's."""
    return _TITLE.search(text)[1]


def prepared(text: str, number: int, anchors: set[str]) -> str:
    """A page that is printed from a page number on, under its title with its number.

    Chromium notes the places of those anchors alone to which the same page links, so
    that it gets a link to each, which is not seen.
    """
    title = title_of(text)
    style = f"<style>html {{ counter-reset: page {number - 1} }}</style>"
    links = "".join(f'<a href="#{anchor}"></a>' for anchor in sorted(anchors))
    text = _PRINTED_TITLE.sub(lambda match: match[1] + title + match[2], text, count=1)
    text = text.replace("</head>", f"{style}</head>", 1)
    return text.replace("</body>", f"<div hidden>{links}</div></body>", 1)


def with_edition(text: str, edition: str) -> str:
    """A page that is printed with a line on the edition under its title."""
    line = f"<p>{escape(edition)}</p>"
    return _PRINTED_TITLE.sub(lambda match: match[0] + line, text, count=1)


def bound(html: Path, pages: Sequence[tuple[str, str]], edition: str) -> PdfWriter:
    """Pages of the site as one document, with an outline of parts and pages.

    Parameters
    ----------
    html : Path
        Folder of the site.
    pages : sequence of tuples
        As :func:`contents` gives.
    edition : str
        Stands under the title of the first page.
    """
    anchors = linked_anchors(html, [page for _, page in pages])
    writer = PdfWriter()
    parts = {"": None}  # caption to its item in the outline
    destinations = {}  # page and anchor to a place of the document
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        site = Path(scratch, "html")
        shutil.copytree(html, site)
        for part, page in pages:
            first = len(writer.pages)
            path = site / f"{page}.html"
            text = path.read_text("utf-8")
            print_text = prepared(text, first + 1, anchors[page])
            if first == 0:
                print_text = with_edition(print_text, edition)
            path.write_text(print_text, "utf-8")
            reader = PdfReader(BytesIO(printed(path)))
            named = reader.named_destinations
            resolve_names(reader, named)
            writer.append(reader, import_outline=False)
            destinations[page, ""] = destination(writer, first, Fit.xyz())
            for name, anchor in named.items():
                number = first + reader.get_destination_page_number(anchor)
                fit = Fit.xyz(anchor.left, anchor.top)
                key = (page, name.removeprefix("/"))
                destinations[key] = destination(writer, number, fit)
            if part not in parts:
                parts[part] = writer.add_outline_item(title=part, page_number=first)
            writer.add_outline_item(
                title=unescape(title_of(text)), page_number=first, parent=parts[part]
            )
        link_pages(writer, site, destinations)
    return writer


def destination(writer: PdfWriter, number: int, fit: Fit) -> ArrayObject:
    """A place of a document, as its links name it."""
    return Destination("", writer.pages[number].indirect_reference, fit).dest_array


def resolve_names(reader: PdfReader, named: Mapping[str, Destination]) -> None:
    """Have links inside of a page name no anchors: other pages have the same ones."""
    for sheet in reader.pages:
        for link in sheet.get("/Annots", ()):
            link = link.get_object()
            name = link.get("/Dest")
            if isinstance(name, str):
                link[NameObject("/Dest")] = named[name].dest_array
    reader.root_object.pop("/Dests", None)


def link_pages(
    writer: PdfWriter, site: Path, destinations: Mapping[tuple[str, str], ArrayObject]
) -> None:
    """Lead links between pages inside of the book; drop those to other files."""
    folder = f"{site.as_uri()}/"
    for sheet in writer.pages:
        kept = ArrayObject()
        for link in sheet.get("/Annots", ()):
            action = link.get_object().get("/A", {})
            address = action.get("/URI", "")
            if address.startswith(folder):
                name, _, anchor = unquote(address.removeprefix(folder)).partition("#")
                page = name.removesuffix(".html")
                if (page, "") not in destinations:
                    continue
                start = destinations[page, ""]
                goal = destinations.get((page, anchor), start)
                link.get_object()[NameObject("/Dest")] = goal
                del link.get_object()["/A"]
            kept.append(link)
        sheet[NameObject("/Annots")] = kept


def book(project: Path) -> tuple[bytes, int]:
    """The whole book, and how many pages it has."""
    about = citation(project)
    authors = ", ".join(map(full_name, about["authors"]))
    edition = f"edition {about['version']}"
    released = about.get("date-released", "unreleased")
    line = f"{edition.capitalize()} ({released}), by {authors}"
    writer = bound(project / "_build" / "html", contents(project), line)
    title = f"{about['title']}, {edition}"
    writer.add_metadata({"/Title": title, "/Author": authors})
    writer.page_mode = "/UseOutlines"
    writer.compress_identical_objects()
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue(), len(writer.pages)


def main(pages: list[str]) -> int:
    """Print pages of ``_build/html/book/notebooks``, or ``book``, to ``_build``."""
    project = root()
    work = project / "_build"
    for name in pages:
        start = time.monotonic()
        length = ""
        try:
            if name == BOOK:
                pdf, number = book(project)
                length = f": {number} pages in {time.monotonic() - start:.0f} s"
            else:
                page = work / "html" / "book" / "notebooks" / f"{name}.html"
                pdf = printed(page)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name} was not printed: {error}")
            return 1
        path = work / f"{name}.pdf"
        write_whole(path, pdf)
        write_print_manifest(path, work / "html")
        print(f"Open {path}{length}")
    return 0
