"""Sphinx extension of the book: local assets, heads of pages, provenance under them."""

import json
from functools import cache
from html import escape
from importlib.metadata import files as package_files
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.fileutil import copy_asset_file

from compendium.build.bibliography import register
from compendium.build.kinds import records_table, runs_below
from compendium.build.legible import number_tables, with_least_widths
from compendium.build.machine_checked import read_checked
from compendium.build.pages import (
    citation,
    description,
    last_commit,
    links,
    meta_tags,
    neighbours,
    repository,
)
from compendium.build.statements import (
    index_table,
    read_statements,
    statements_by_function,
)
from compendium.build.symbols import by_chapter
from compendium.ledger.results import result_path
from compendium.project import root

_FACES = {
    "font-source-serif-pro": (
        "SourceSerifPro-Regular.ttf",
        "SourceSerifPro-It.ttf",
        "SourceSerifPro-Semibold.ttf",
        "SourceSerifPro-SemiboldIt.ttf",
    ),
    "font-source-sans-pro": (
        "SourceSansPro-Regular.ttf",
        "SourceSansPro-It.ttf",
        "SourceSansPro-Semibold.ttf",
    ),
}


def packaged_file(package: str, name: str) -> Path:
    """A file that an installed package brings along, by the end of its path.

    Raises
    ------
    FileNotFoundError
        If the package does not hold it.
    """
    for path in package_files(package) or []:
        if str(path).endswith(name):
            return Path(path.locate())
    raise FileNotFoundError(f"the package {package} brings no file {name}")


def copy_packaged(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax and the fonts out of the locked packages, with their licences."""
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    wanted = [("sphinx-mathjax-offline", "static/mathjax/tex-svg.js", "mathjax")]
    for package, faces in _FACES.items():
        wanted += [(package, face, "fonts") for face in faces]
    for package, name, folder in wanted:
        (static / folder).mkdir(exist_ok=True)
        copy_asset_file(packaged_file(package, name), static / folder)
    for package in _FACES:
        licence = packaged_file(package, "LICENSE.txt").read_bytes()
        (static / "fonts" / f"{package}-LICENSE.txt").write_bytes(licence)


def caption_tables(app, docname, content) -> None:
    """Number the captioned tables of a notebook."""
    if app.env.doc2path(docname).endswith(".ipynb"):
        notebook = json.loads(content[0])
        if number_tables(notebook):
            content[0] = json.dumps(notebook)


def keep_figures_legible(app, pagename, templatename, context, doctree) -> None:
    """Say of each figure how narrow it may become."""
    if doctree is not None and "body" in context:
        images = {Path(name).name: path for path, (_, name) in app.env.images.items()}

        def read(address: str) -> str:
            return Path(app.srcdir, images[Path(address).name]).read_text()

        context["body"] = with_least_widths(context["body"], read)


def add_provenance(app, pagename, templatename, context, doctree) -> None:
    """Say under a computed page what it was computed from."""
    if doctree is None or "body" not in context:
        return
    path = Path(app.env.doc2path(pagename))
    if path.suffix != ".ipynb":
        return
    about = json.loads(path.read_text())["metadata"].get("memdlib")
    if about:
        context["body"] += (
            f'<p class="provenance">Computed from <code>{about["source"]}</code>.</p>'
        )


def add_links(app, pagename, templatename, context, doctree) -> None:
    """Lead from a page to the public repository, if it has an address."""
    address = repository(root())
    if doctree is None or "body" not in context or not address:
        return
    path = Path(app.env.doc2path(pagename))
    source = str(path.relative_to(app.srcdir))
    if path.suffix == ".ipynb":
        metadata = json.loads(path.read_text())["metadata"]
        source = metadata.get("memdlib", {}).get("source", source)
    elif pagename.startswith("book/api/"):
        source = ""  # made anew with every book
    given = links(address, last_commit(root()), pagename, source)
    anchors = " · ".join(
        f'<a href="{escape(to, quote=True)}">{escape(what)}</a>'
        for what, to in given.items()
    )
    context["body"] += f'<p class="provenance elsewhere">{anchors}</p>'


def drop_unused(app: Sphinx, error: Exception | None) -> None:
    """Remove scripts of the theme that no page asks for."""
    if error is None and app.builder.format == "html":
        scripts = Path(app.outdir, "_static", "scripts")
        for path in {*scripts.glob("fontawesome*"), *scripts.glob("*.map")}:
            path.unlink()


def add_head(app, pagename, templatename, context, doctree) -> None:
    """Describe a page to machines, and lead past the pages that are looked up."""
    relations = app.env.collect_relations()
    for key, page in zip(
        ("prev", "next"), neighbours(relations, pagename), strict=True
    ):
        context[key] = page and {
            "link": app.builder.get_relative_uri(pagename, page),
            "title": app.builder.render_partial(app.env.titles[page])["title"],
        }
    if doctree is not None:
        title = app.env.titles[pagename].astext()
        address = context.get("pageurl")
        context["metatags"] = context.get("metatags", "") + meta_tags(
            citation(root()), title, description(doctree), address
        )


class StatementsDirective(SphinxDirective):
    """``{statements}``: the index of all statements, with links both ways."""

    def run(self) -> list[nodes.Node]:
        statements = read_statements(root())
        for path in {statement.source for statement in statements}:
            self.env.note_dependency(str(path))
        holder = nodes.container(classes=["statements"])
        lines = StringList(index_table(statements, read_checked()), source="statements")
        self.state.nested_parse(lines, 0, holder)
        return [holder]


class SymbolsDirective(SphinxDirective):
    """``{symbols}``: the symbols of each chapter, folded."""

    def run(self) -> list[nodes.Node]:
        holder = nodes.container()
        lines = StringList(by_chapter(root()), source="symbols")
        self.state.nested_parse(lines, 0, holder)
        return holder.children


class RecordsDirective(SphinxDirective):
    """``{records}``: the lab records that stand below the page."""

    def run(self) -> list[nodes.Node]:
        project = root()
        for run in runs_below(project, self.env.docname):
            self.env.note_dependency(str(result_path(project, run.name)))
        holder = nodes.container()
        lines = StringList(records_table(project, self.env.docname), source="records")
        self.state.nested_parse(lines, 0, holder)
        return holder.children


@cache
def _proved(project: Path) -> dict[str, list[str]]:
    """Labels by function, read once for all pages of a rendering."""
    return statements_by_function(read_statements(project))


def link_statements(app, what, name, obj, options, lines) -> None:
    """Say at the end of a docstring where the book proves what the function does."""
    labels = _proved(root()).get(name, [])
    if labels:
        where = ", ".join(f":prf:ref:`{label}`" for label in labels)
        lines += ["", ".. rubric:: In the book", "", f"{where}.", ""]


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    register()
    app.add_directive("statements", StatementsDirective)
    app.add_directive("symbols", SymbolsDirective)
    app.add_directive("records", RecordsDirective)
    app.connect("autodoc-process-docstring", link_statements, priority=900)
    app.connect("source-read", caption_tables)
    app.connect("build-finished", copy_packaged)
    app.connect("build-finished", drop_unused)
    app.connect("html-page-context", keep_figures_legible)
    app.connect("html-page-context", add_provenance)
    app.connect("html-page-context", add_links)
    app.connect("html-page-context", add_head)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
