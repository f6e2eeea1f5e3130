"""Gates: checks of sources, notebooks and pages that must all pass before a release.

Every gate returns a list of problems, each one line that names the place; an empty list
means that the gate is open. They are plain functions of texts and folders, so that a
test can plant a fault and see the gate close.
"""

import fnmatch
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jupytext
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from sphinx_external_toc.parsing import parse_toc_yaml

from compendium.execution.notebooks import code_cells

# What a reader would call a result: a decimal number or a percentage.
_RESULT_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?!\w|\.\d)|\d\s?%|\d\s?per\s?cent")
_NOT_PROSE = re.compile(
    r"(?s)^---\n.*?\n---\n|```.*?```|~~~.*?~~~|\$\$.*?\$\$|\{[\w:-]+\}`[^`]*`"
    r"|`[^`\n]*`|\$[^$\n]*\$|\]\([^)]*\)|<[^>\n]*>"
)
_UNSEEDED = re.compile(
    r"(?:default_rng|RandomState)\((?:None)?\)"
    r"|\b(?:np|numpy)\.random\.(?!default_rng|RandomState|Generator)"
    r"|random_state=None|import random\b|from random import"
)
_NETWORK = re.compile(r"read_csv\(\s*['\"]https?:")
_BARE_FIGURE = re.compile(r"plt\.show\(|\.savefig\(|%matplotlib")
_FAULTS = {
    _UNSEEDED: "is randomness without an explicit seed",
    _NETWORK: "is data from the network, which readers need not have",
    _BARE_FIGURE: "is a figure that does not go through memdlib's show()",
    _RESULT_NUMBER: "is a number typed into the prose; compute it and say it",
}
# Tags by which a page shows the code of a cell only when asked, or not at all.
_HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
_LISTS = ("bullet_list_open", "ordered_list_open")
# Cells that a page does not show, or that a reader looks past; what needs a sentence.
_UNSEEN = re.compile(r"\A:tags: \[.*remove-cell|\A(?:import|from) ")
_SHOWN = re.compile(r"\{(?:code-cell|table|list-table|figure)\}")
_PRINTED = 60  # lines of a page of print
_EXTERNAL_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])(?:https?:)?//")


def lint_source(name: str, text: str) -> list[str]:
    """Problems in one MyST source: randomness, network, typed-in results."""
    prose = _NOT_PROSE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return [
        f"{name}:{len(text[: match.start() + 1].splitlines())}: {match[0]!r} {message}"
        for pattern, message in _FAULTS.items()
        for match in pattern.finditer(prose if pattern is _RESULT_NUMBER else text)
    ]


def lint_cells(name: str, text: str) -> list[str]:
    """Code cells of one MyST source that a page hides, and that are longer than one."""
    problems = []
    for number, cell in enumerate(code_cells(jupytext.reads(text, fmt="md:myst")), 1):
        lines = cell.source.splitlines()
        if len(lines) > _PRINTED and _HIDDEN & set(cell.metadata.get("tags", [])):
            problems.append(
                f"{name}: code cell {number}, which begins {lines[0]!r}, is hidden and "
                f"has {len(lines)} lines, more than a page of print ({_PRINTED}): "
                "split it, or move what it computes to a tested module"
            )
    return problems


@cache
def blocks(text: str) -> list[Token]:
    """The blocks of one MyST source, as markdown-it names them."""
    extensions = {"amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"}
    settings = MdParserConfig(enable_extensions=extensions)
    return create_md_parser(settings, RendererHTML).parse(text)


def lint_lists(name: str, text: str, above: int = 0) -> list[str]:
    """Lists that begin inside a paragraph, where a line of it begins with ``1)``.

    Parameters
    ----------
    name, text : str
        A MyST source, or what a directive of it holds.
    above : int, optional
        Lines before the text.
    """
    problems = []
    end = None
    lines = text.splitlines()
    for block in blocks(text):
        if block.type == "colon_fence":
            inside = above + block.map[0] + 1
            problems += lint_lists(name, block.content, inside)
        elif block.level == 0 and block.type == "paragraph_open":
            end = block.map[1]
        elif block.level == 0 and block.type in _LISTS and block.map[0] == end:
            problems.append(
                f"{name}:{above + end + 1}: {lines[end].strip()[:30]!r} begins a list "
                "inside a paragraph: move its mark off the start of the line, or put "
                "an empty line before the list"
            )
    return problems


def lint_headings(name: str, text: str) -> list[str]:
    """Headings under which a table or a cell stands, without a sentence before it."""
    problems = []
    heading = None
    for block in blocks(text):
        if block.type == "heading_open":
            heading = block.map[0]
        elif heading is None or block.type in ("inline", "heading_close"):
            continue
        elif block.type == "fence" and _UNSEEN.search(block.content):
            continue
        else:
            if block.type in ("fence", "colon_fence"):
                is_shown = _SHOWN.match(block.info) is not None
            else:
                is_shown = block.type == "table_open"
            if is_shown:
                title = text.splitlines()[heading]
                problems.append(f"{name}:{heading + 1}: {title!r} needs a sentence")
            heading = None
    return problems


def lint_toc(project: Path, pages: set[str]) -> list[str]:
    """Pages that the table of contents does not list, by name or by pattern (``glob``).

    What it lists twice, or without a page, Sphinx refuses.
    """
    contents = parse_toc_yaml(project / "_toc.yml")
    patterns = [*contents, *contents.globs()]
    return [
        f"_toc.yml does not list {page}"
        for page in sorted(pages)
        if not any(fnmatch.fnmatch(page, pattern) for pattern in patterns)
    ]


def lint_site(site: Path) -> list[str]:
    """Problems of built pages: outside assets, dead links, images without alt text."""
    site = site.resolve()
    # templates that the theme leaves among its static files, and what JupyterLite makes
    others = {*site.glob("_static/**/*.html"), *site.glob("live/**/*")}
    paths = set(site.rglob("*.html")) - others
    pages = {path: _Page(path) for path in sorted(paths)}
    problems = [
        f"{path.relative_to(site)}: {problem}"
        for path, page in pages.items()
        for problem in [*page.problems, *_dead(site, pages, path)]
    ]
    for path in sorted(set(site.rglob("*.css")) - others):
        if _EXTERNAL_STYLE.search(path.read_text(encoding="utf-8")):
            problems.append(f"{path.relative_to(site)}: external asset in a stylesheet")
    return problems


class _Page(HTMLParser):
    """Problems, links and anchors of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.problems = []
        self.links = []
        self.anchors = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = {key: value or "" for key, value in attrs}
        self.anchors.add(given.get("id"))
        if tag == "img" and not given.get("alt", "").strip():
            self.problems.append(f"image without alternative text: {given.get('src')}")
        asset = given.get("src") or (given.get("href") if tag == "link" else None)
        if asset and given.get("rel") not in ("canonical", "next", "prev", "search"):
            if re.match(r"(https?:)?//", asset):
                self.problems.append(f"external asset {asset}")
            self.links.append(asset)
        elif tag == "a" and given.get("href"):
            self.links.append(given["href"])


def _dead(site: Path, pages: dict[Path, _Page], page: Path) -> Iterator[str]:
    """Links of a page that lead to nothing."""
    for link in pages[page].links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link == "#":
            continue
        path = unquote(parts.path)
        folder = page.parent
        if page.name == "404.html" and path.startswith("/"):
            path = path.lstrip("/")
            folder = site  # it is served at any depth
        target = (folder / path).resolve() if path else page
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(site):
            yield f"dead link {link}"
        elif parts.fragment and target in pages:
            if unquote(parts.fragment) not in pages[target].anchors:
                yield f"dead anchor {link}"
