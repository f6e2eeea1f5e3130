"""Gates: checks of sources, notebooks and pages that must all pass before a release.

Every gate returns a list of problems, each one line that names the place; an empty list
means that the gate is open. They are plain functions of texts and folders, so that a
test can plant a fault and see the gate close.
"""

import fnmatch
import re
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import yaml

from compendium.build.contents import listed, toc

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
_EXTERNAL = re.compile(
    r"!\[[^\]]*\]\(\s*https?:|\{(?:image|figure)\}\s*https?:"
    r"|<(?:img|script|iframe|link)\b|@import|url\(\s*['\"]?https?:"
    r"|read_csv\(\s*['\"]https?:"
)
_BARE_FIGURE = re.compile(r"plt\.show\(|\.savefig\(|%matplotlib")
_IMAGE = re.compile(
    r"!\[\s*\]\(|(```|:::)\{(?:image|figure)\}(?!(?:(?!\1)[\s\S])*:alt:[ \t]*\S)"
)
_EXTERNAL_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])(?:https?:)?//")
MIN_COMPARED = 3


def lint_source(name: str, text: str) -> list[str]:
    """Problems in one MyST source: alt text, randomness, assets, typed-in results."""
    problems = []
    for pattern, message in (
        (_UNSEEDED, "randomness without an explicit seed"),
        (_EXTERNAL, "an external asset; readers need no network"),
        (_BARE_FIGURE, "a figure that does not go through memdlib's show()"),
        (_IMAGE, "an image without alternative text"),
    ):
        problems += [
            f"{name}:{_line(text, m.start())}: {message}: {m.group()!r}"
            for m in pattern.finditer(text)
        ]
    prose = _NOT_PROSE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    problems += [
        f"{name}:{_line(text, m.start())}: the number {m.group()!r} is typed into the "
        "prose; compute it and glue it"
        for m in _RESULT_NUMBER.finditer(prose)
    ]
    return problems


def lint_notebook(name: str, notebook: nbformat.NotebookNode) -> list[str]:
    """Problems in a stored notebook: unstored, out of order, failed or empty runs."""
    problems, compared = [], 0
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, start=1):
        if cell.execution_count != number:
            problems.append(
                f"{name}: code cell {number} has execution count "
                f"{cell.execution_count}; run the notebook from a fresh kernel"
            )
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                problems.append(f"{name}: code cell {number} has an error or stderr")
            compared += 1
    if compared < MIN_COMPARED:
        problems.append(
            f"{name}: {compared} outputs to compare, at least {MIN_COMPARED} expected"
        )
    return problems


def lint_toc(project: Path, expected: set[str]) -> list[str]:
    """Pages that the table of contents lists not at all or twice, or that do not exist.

    A page may be listed by a pattern (``glob``); one without a page is no problem, as
    pages can be made anew with every book.
    """
    contents = toc(project)
    named = listed(contents)
    matched = [
        page
        for pattern in listed(contents, ("glob",))
        for page in fnmatch.filter(sorted(expected), pattern)
    ]
    times = Counter(named + matched)
    return (
        [f"_toc.yml does not list {name}" for name in sorted(expected - set(times))]
        + [f"_toc.yml lists {name} twice" for name in sorted(times) if times[name] > 1]
        + [
            f"_toc.yml lists {name}, which does not exist"
            for name in sorted(set(times) - expected)
        ]
    )


def lint_environment(project: Path) -> list[str]:
    """Disagreements between pyproject, the lock and environment.yml."""
    problems = []
    declared = tomllib.loads((project / "pyproject.toml").read_text())
    lock = (project / "requirements.lock").read_text()
    conda = yaml.safe_load((project / "environment.yml").read_text())
    problems += _unhashed(lock)
    if conda.get("channels") != ["conda-forge", "nodefaults"]:
        problems.append("environment.yml: channels must be conda-forge, nodefaults")
    python, *rest = conda.get("dependencies", [""])
    lines = re.findall(r"(?m)^[A-Za-z0-9]\S*==[^\\\n]*[^\\\s]", lock)
    if rest != ["pip", {"pip": ["-e .[notebooks]", *lines]}]:
        problems.append("environment.yml differs from requirements.lock: 'make lock'")
    if not _satisfies(python, declared["project"]["requires-python"]):
        problems.append(f"environment.yml: {python} is outside requires-python")
    return problems


def _unhashed(lock: str) -> list[str]:
    """Packages of a lock without a hash; and a URL in it."""
    entries = re.findall(r"(?m)^(\S+?)==(.*(?:\n[ \t].*)*)", lock)
    bare = [name for name, rest in entries if "--hash=" not in rest]
    url = ["the lock names a URL; make it with 'make lock'"] if "://" in lock else []
    return url + [f"the lock has {name} without a hash" for name in bare]


def lint_site(site: Path) -> list[str]:
    """Problems of built pages: outside assets, dead links, images without alt text."""
    site = site.resolve()
    found = sorted(site.rglob("*.html"))
    # the theme leaves templates of its own among its static files
    found = [p for p in found if "_static" not in p.relative_to(site).parts]
    pages = {path: _Page(path) for path in found}
    problems = []
    for path, page in pages.items():
        name = path.relative_to(site)
        problems += [f"{name}: {message}" for message in page.problems]
        problems += [f"{name}: external asset {url}" for url in page.external]
        for link in page.links:
            problem = _dead(site, pages, path, link)
            if problem:
                problems.append(f"{name}: {problem}")
    for path in sorted(site.rglob("*.css")):
        if _EXTERNAL_STYLE.search(path.read_text()):
            problems.append(f"{path.relative_to(site)}: external asset in a stylesheet")
    return problems


class _Page(HTMLParser):
    """Assets, links and anchors of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.external, self.links, self.problems = [], [], []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(given["id"])
        if tag == "img" and not (given.get("alt") or "").strip():
            self.problems.append(f"image without alternative text: {given.get('src')}")
        asset = given.get("src") or (given.get("href") if tag == "link" else None)
        if asset and given.get("rel") not in ("canonical", "next", "prev", "search"):
            if re.match(r"(https?:)?//", asset):
                self.external.append(asset)
            elif not asset.startswith("data:"):
                self.links.append(asset)
        elif tag == "a" and given.get("href"):
            self.links.append(given["href"])


def _dead(site: Path, pages: dict, page: Path, link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or link in ("#", ""):
        return None
    folder, path = page.parent, unquote(parts.path)
    if page.name == "404.html" and path.startswith("/"):
        folder, path = site, path.lstrip("/")  # it is served at any depth
    target = page if not parts.path else folder / path
    target = Path(target).resolve()
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file() or not target.is_relative_to(site):
        return f"dead link {link}"
    if parts.fragment and target in pages:
        if unquote(parts.fragment) not in pages[target].anchors:
            return f"dead anchor {link}"
    return None


def _pins(text: str) -> dict[str, str]:
    found = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text)
    return {name.lower(): pin for name, pin in found}


def _satisfies(python: str, wanted: str) -> bool:
    have = re.fullmatch(r"python=3\.(\d+)", str(python))
    least = re.fullmatch(r">=3\.(\d+)", wanted)
    return bool(have and least) and int(have.group(1)) >= int(least.group(1))


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
