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
from sphinx.util.nodes import make_refnode
from sphinx_proof.nodes import NODE_TYPES

from compendium.build.archive import write_archive
from compendium.build.bibliography import register
from compendium.build.pages import (
    citation,
    description,
    last_commit,
    links,
    meta_tags,
    neighbours,
    repository,
)
from compendium.build.proofs import axioms, checked_table, counted, read_checked
from compendium.build.runs import records_table
from compendium.build.statements import (
    PAGE,
    Statement,
    anchor,
    index_table,
    read_statements,
    statements_by_function,
)
from compendium.project import root

LEADS = "How the statement is checked, in the list of all"
_STATEMENTS = tuple(NODE_TYPES.values())
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


def offer_archive(app: Sphinx, error: Exception | None) -> None:
    """Put all notebooks, and the wheel that they need, beside the first page."""
    if error is None and app.builder.format == "html":
        write_archive(root(), Path(app.outdir))


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


def nested(directive: SphinxDirective, lines: list[str], holder: nodes.Element):
    """A node with what lines of MyST say."""
    text = StringList(lines, source=directive.name)
    directive.state.nested_parse(text, 0, holder)
    return holder


class StatementsDirective(SphinxDirective):
    """``{statements}``: the index of all statements, with links both ways."""

    def run(self) -> list[nodes.Node]:
        statements = read_statements(root())
        for path in {statement.source for statement in statements}:
            self.env.note_dependency(str(path))
        lines = index_table(statements, read_checked())
        return [nested(self, lines, nodes.container(classes=["statements"]))]


class ProofsDirective(SphinxDirective):
    """``{proofs} statements`` and ``{proofs} axioms``: what is checked, and by what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        checked, labels = read_checked(), {s.label for s in read_statements(root())}
        here = [one for label, one in checked.items() if label in labels]
        lines = axioms()
        if self.arguments[0] == "statements":
            lines = [counted(len(labels), here), "", *checked_table(checked.values())]
        return nested(self, lines, nodes.container()).children


class RecordsDirective(SphinxDirective):
    """``{records}``: the lab records that stand below the page."""

    def run(self) -> list[nodes.Node]:
        lines = records_table(root(), self.env.docname)
        return nested(self, lines, nodes.container()).children


def draw_marks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Say under each statement how it is checked; the mark leads to their list."""
    proofs = read_checked()
    labels = {s.label for s in _statements(root())}
    for statement in doctree.findall(lambda n: isinstance(n, _STATEMENTS)):
        label = statement["label"]
        if label in labels:
            said = "Two tests" + (f"; {proofs[label].mark}" if label in proofs else "")
            link = make_refnode(
                app.builder, page, PAGE, anchor(label), nodes.inline("", said), LEADS
            )
            statement += nodes.paragraph("", "", link, classes=["checks"])


@cache
def _statements(project: Path) -> list[Statement]:
    """All statements, read once for all pages of a rendering."""
    return read_statements(project)


def link_statements(app, what, name, obj, options, lines) -> None:
    """Say at the end of a docstring where the book proves what the function does."""
    labels = statements_by_function(_statements(root())).get(name, [])
    if labels:
        where = ", ".join(f":prf:ref:`{label}`" for label in labels)
        lines += ["", ".. rubric:: In the book", "", f"{where}.", ""]


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    register()
    app.add_directive("statements", StatementsDirective)
    app.add_directive("proofs", ProofsDirective)
    app.add_directive("records", RecordsDirective)
    app.connect("autodoc-process-docstring", link_statements, priority=900)
    app.connect("build-finished", copy_packaged)
    app.connect("build-finished", drop_unused)
    app.connect("build-finished", offer_archive)
    app.connect("doctree-resolved", draw_marks)
    app.connect("html-page-context", add_provenance)
    app.connect("html-page-context", add_links)
    app.connect("html-page-context", add_head)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
