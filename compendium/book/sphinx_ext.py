"""Sphinx extension of the book: local assets, heads of pages, marks, lists."""

import os
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import files as package_files
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.fileutil import copy_asset_file
from sphinx.util.nodes import make_refnode
from sphinx_external_toc.parsing import parse_toc_yaml
from sphinx_proof.nodes import NODE_TYPES

from compendium.book.accessible import mend
from compendium.book.bibliography import register
from compendium.book.display import markdown_table
from compendium.book.fonts import write_fonts
from compendium.book.pages import (
    citation,
    citation_fold,
    description,
    edition_line,
    last_change,
    meta_tags,
    neighbours,
    page_bibtex,
    source_identifier,
)
from compendium.book.proofs import (
    axioms,
    checked_table,
    counted,
    read_checked,
    write_proof_pages,
)
from compendium.book.statements import PAGE, anchor, index_table, read_statements
from compendium.book.typography import set_page
from compendium.execution.chapters import not_executed, synchronise
from compendium.execution.runs import runs
from compendium.ledger.results import read_result
from compendium.project import root

LOGGER = logging.getLogger(__name__)
_read = cache(read_statements)  # once for all pages of a rendering
LEADS = "How the statement is checked, in the list of all"
_STATEMENTS = tuple(NODE_TYPES.values())
_MATHJAX = "sphinx-mathjax-offline", "tex-svg.js"  # a package, and its file


def prepare(app: Sphinx, config) -> None:
    """Make what the pages are made of: notebooks in step, list of proofs.

    So a book that is built by ``jupyter-book build .`` is that of the sources, in a
    fresh clone as well.
    """
    project = Path(app.srcdir)
    os.environ.setdefault("MEMDLIB_PROJECT", str(project))
    # Pages are dated by the last commit: two builds of one state are equal.
    os.environ.setdefault("SOURCE_DATE_EPOCH", last_change(project))
    synchronise(project)
    for problem in not_executed(project):
        LOGGER.warning(problem)
    write_proof_pages(project)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Add files of packages; drop what no page asks for."""
    if error is not None or app.builder.format != "html":
        return
    copy_packaged(Path(app.outdir, "_static"))
    scripts = Path(app.outdir, "_static", "scripts")
    for path in {*scripts.glob("fontawesome*"), *scripts.glob("*.map")}:
        path.unlink()


def copy_packaged(static: Path) -> None:
    """Take MathJax and the fonts out of the locked packages."""
    package, script = _MATHJAX
    (static / "mathjax").mkdir(exist_ok=True)
    for path in package_files(package):
        if path.match(f"static/mathjax/{script}"):
            copy_asset_file(path.locate(), static / "mathjax")
    write_fonts(static / "fonts")


def add_head(app, pagename, templatename, context, doctree) -> None:
    """Describe a page to machines, and lead past the pages that are looked up."""
    if pagename == "search":
        app.add_js_file("search.js", loading_method="defer")
    relations = app.env.collect_relations()
    pair = neighbours(relations, pagename)
    for key, page in zip(("prev", "next"), pair, strict=True):
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


def add_citation(app, pagename, templatename, context, doctree) -> None:
    """End a page with how it is cited, and the first one with the edition."""
    if doctree is None:
        return
    about = citation(root())
    identifier = source_identifier(root())
    if pagename == app.config.root_doc:
        if identifier:
            context["body"] += edition_line(about, identifier)
        return
    title = app.env.titles[pagename]
    number = ".".join(map(str, title.get("secnumber", ())))
    entry = page_bibtex(about, pagename, title.astext(), number, identifier)
    context["body"] += citation_fold(entry, "chapter" if number else "page")


def drop_mathjax(app, pagename, templatename, context, doctree) -> None:
    """Load MathJax only on pages with formulas of their own.

    Sphinx loads it on a page as soon as one that is listed below it has formulas, and
    below the first page is the whole book.
    """
    if not app.env.domains["math"].data["has_equations"].get(pagename, False):
        context["script_files"] = [
            script
            for script in context["script_files"]
            if "mathjax" not in str(script.filename)
            and "window.MathJax" not in script.attributes.get("body", "")
        ]


class ListDirective(SphinxDirective):
    """What is made of the book and its results, as one of :data:`LISTS` has it."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # what it lists may change while its page does not
        lines = LISTS[" ".join([self.name, *self.arguments])](self.env.docname)
        text = StringList(lines, source=self.name)
        holder = nodes.container(classes=[self.name])
        self.state.nested_parse(text, 0, holder)
        return [holder]


def _checked_list(page: str) -> list[str]:
    checked = read_checked()
    labels = {s.label for s in _read(root())}
    here = [one for label, one in checked.items() if label in labels]
    return [counted(len(labels), here), "", *checked_table(checked.values())]


def records_table(project: Path, page: str) -> list[str]:
    """The lab records below a page as a table in MyST, each with its run and time.

    Parameters
    ----------
    project : Path
    page : str
        As ``_toc.yml`` names it.
    """
    below = parse_toc_yaml(project / "_toc.yml")[page]
    patterns = [*below.child_files(), *below.child_globs()]
    rows = []
    for run in runs(project).values():
        record = f"book/records/{run.name}"
        if any(fnmatch(record, pattern) for pattern in patterns):
            title = run.title.removeprefix("Lab record: ")
            took = duration(read_result(run.name, project)["seconds"])
            rows.append([f"{{doc}}`{title} </{record}>`", f"`{run.name}`", took])
    return markdown_table(["lab record", "run", "time"], rows, "llr").splitlines()


def duration(seconds: float) -> str:
    """A time in seconds, or in minutes from two on.

    Examples
    --------
    >>> duration(42), duration(754)
    ('42 s', '13 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


# Directives, each with its argument if it has one, and the lines of MyST of a page.
LISTS = {
    "statements": lambda page: index_table(_read(root()), read_checked()),
    "proofs statements": _checked_list,
    "proofs axioms": lambda page: axioms(),
    "records": lambda page: records_table(root(), page),
}


def draw_marks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Say under each statement how it is checked; the mark leads to their list."""
    proofs = read_checked()
    labels = {s.label for s in _read(root())}
    for statement in doctree.findall(lambda n: isinstance(n, _STATEMENTS)):
        label = statement["label"]
        if label in labels:
            said = "Two tests" + (f"; {proofs[label].mark}" if label in proofs else "")
            text = nodes.inline("", said)
            link = make_refnode(app.builder, page, PAGE, anchor(label), text, LEADS)
            statement += nodes.paragraph("", "", link, classes=["checks"])


def link_statements(app, what, name, obj, options, lines) -> None:
    """Say at the end of a docstring where the book proves what the function does."""
    labels = [s.label for s in _read(root()) if name in s.functions]
    if labels:
        where = ", ".join(f":prf:ref:`{label}`" for label in labels)
        lines += ["", ".. rubric:: In the book", "", f"{where}.", ""]


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    register()
    for name in ("statements", "proofs", "records"):
        app.add_directive(name, ListDirective)
    app.connect("config-inited", prepare, priority=100)
    app.connect("autodoc-process-docstring", link_statements, priority=900)
    app.connect("build-finished", finish)
    app.connect("doctree-resolved", draw_marks)
    app.connect("doctree-resolved", set_page)
    app.connect("html-page-context", add_head)
    app.connect("html-page-context", add_citation)
    app.connect("html-page-context", mend)
    app.connect("html-page-context", drop_mathjax, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
