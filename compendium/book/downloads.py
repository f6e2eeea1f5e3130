"""Sphinx extension: notebooks as readers take them away, with resolved prose.

In a checkout the prose of a notebook names its numbers, citations and references, such
as ``{glue:text}`n``` or ``{prf:ref}`thm-a```; only the book knows what they stand for.
What a page offers, and what the archive holds, says it in words, for any viewer.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import sphinx_domains

from compendium.book.archive import LEFT_OUT, write_archive
from compendium.book.live import address, is_built
from compendium.execution.notebooks import DARK, code_cells
from compendium.project import root

CHAPTERS = "book/notebooks/"
CHECKOUT_NEEDED = (
    "*This notebook is about the project itself: it runs in a checkout, in the folder* "
    "`book/notebooks`."
)
TABLES_NEEDED = (
    "*This notebook reads tables of results: put {}, which its page offers, beside it, "
    "or unpack `memdlib-notebooks.zip` and open it there.*"
)
_ROLE = re.compile(r"\{[a-z]+(?::[a-z]+)?\}`[^`]+`")
_GLUE = re.compile(r"\{glue:(?P<kind>text|md)\}`(?P<name>[^`]+)`")
# Characters that would be markup in a value that is plain text.
_MARKUP = re.compile(r"[\\`*$<\[\]]|(?<!\w)_|_(?!\w)")


def glued_values(notebook: NotebookNode) -> dict[tuple[str, str], str]:
    """Values that the prose of a notebook names, as Markdown, by kind and name."""
    values = {}
    for cell in code_cells(notebook):
        for output in cell.outputs:
            about = output.get("metadata", {}).get("scrapbook")
            if about:
                value = output.data[f"{about['mime_prefix']}text/markdown"]
                values["md", about["name"]] = value
                values["text", about["name"]] = _MARKUP.sub(r"\\\g<0>", value)
    return values


def as_markdown(node: nodes.Node) -> str:
    """What a resolved role says, as Markdown without links.

    Examples
    --------
    >>> as_markdown(nodes.inline("", "", nodes.Text("of "), nodes.math("", "J")))
    'of $J$'
    """
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, nodes.literal):
        return f"`{node.astext()}`"
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(as_markdown(child) for child in node.children)


def resolve_roles(app: Sphinx, page: str, roles: Iterable[str]) -> dict[str, str]:
    """What roles say on a page, each as Markdown.

    Parameters
    ----------
    app : Sphinx
        After it has read all pages.
    page : str
    roles : iterable of str
        Such as ``{ref}`memd```.
    """
    roles = list(roles)
    env = app.env
    env.prepare_settings(page)
    settings = app.registry.get_publisher(app, "myst-nb").settings
    document = new_document(page, settings)
    with sphinx_domains(env):
        parser = MystParser()
        parser.set_application(app)
        parser.parse("\n\n".join(roles), document)
    env.apply_post_transforms(document, page)
    paragraphs = list(document.findall(nodes.paragraph))
    return {
        role: as_markdown(paragraph)
        for role, paragraph in zip(roles, paragraphs, strict=True)
    }


def resolved(app: Sphinx, page: str, notebook: NotebookNode) -> NotebookNode:
    """A stored notebook with words for roles, without the pictures for dark pages."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            output.get("data", {}).pop(DARK, None)
    values = glued_values(notebook)
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in prose:
        cell.source = _GLUE.sub(
            lambda role: values[role["kind"], role["name"]], cell.source
        )
    roles = sorted({role for cell in prose for role in _ROLE.findall(cell.source)})
    words = resolve_roles(app, page, roles)
    for cell in prose:
        cell.source = _ROLE.sub(lambda role: words[role[0]], cell.source)
    return notebook


def complete(notebook: NotebookNode, modules: Mapping[str, str]) -> NotebookNode:
    """A notebook that is taken away alone, with what its cells import from beside it.

    Parameters
    ----------
    notebook : NotebookNode
    modules : mapping of str to str
        Texts of the modules that stand beside the notebooks, by name; first cells write
        those that the notebook imports. Tables that it reads are named.
    """
    code = "\n".join(cell.source for cell in code_cells(notebook))
    tables = sorted(set(re.findall(r'find_table\("([^"]+)"\)', code)))
    first = []
    if re.search(r"(?m)^(?:from|import) compendium\b", code):
        first.append(
            nbformat.v4.new_markdown_cell(CHECKOUT_NEEDED, id="needs-checkout")
        )
        modules = {}
    elif tables:
        text = TABLES_NEEDED.format(", ".join(f"`{name}`" for name in tables))
        first.append(nbformat.v4.new_markdown_cell(text, id="needs-tables"))
    for name, text in modules.items():
        if re.search(rf"(?m)^(?:from|import) {name}\b", code):
            cell = nbformat.v4.new_code_cell(
                f"%%writefile {name}.py\n{text}",
                id=name,
                metadata={"jupyter": {"source_hidden": True}},
            )
            first.append(cell)
    result = notebook.copy()
    result.cells = [*first, *notebook.cells]
    return result


def find_live(app: Sphinx, config: Config) -> None:
    """Note whether there is a site that runs the notebooks, or will be.

    ``make live`` sets the variable MEMDLIB_LIVE, since it makes that site of what these
    pages offer. All pages are written anew once this is another than it was.
    """
    config.live = "MEMDLIB_LIVE" in os.environ or is_built(Path(app.outdir))


def offer_live(app, pagename, templatename, context, doctree) -> None:
    """Add a button that opens the notebook of a page where it runs, if there is one."""
    name = pagename.removeprefix(CHAPTERS)
    if app.config.live and name != pagename and name not in LEFT_OUT:
        button = {
            "type": "link",
            "url": context["pathto"](address(name), 1),
            "text": "Run in the browser",
            "tooltip": "Open this chapter as a notebook that Pyodide runs",
            "label": "run-in-the-browser",
        }
        context["header_buttons"].insert(0, button)


def write_downloads(app: Sphinx, error: Exception | None) -> None:
    """Put resolved notebooks where the pages offer them, and into the archive."""
    if error is not None or app.builder.format != "html":
        return
    project = root()
    modules = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((project / CHAPTERS).glob("*.py"))
    }
    texts = {}
    for page in sorted(app.env.all_docs):
        path = Path(app.env.doc2path(page))
        if page.startswith(CHAPTERS) and path.suffix == ".ipynb":
            notebook = resolved(app, page, nbformat.read(path, as_version=4))
            texts[path.name] = nbformat.writes(notebook) + "\n"
            offered = Path(app.outdir, "_sources", f"{page}.ipynb")
            offered.parent.mkdir(parents=True, exist_ok=True)
            text = nbformat.writes(complete(notebook, modules)) + "\n"
            offered.write_text(text, encoding="utf-8")
    write_archive(project, Path(app.outdir), texts)


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.add_config_value("live", False, "html")
    app.connect("config-inited", find_live)
    # after the buttons of the theme, of priority 501
    app.connect("html-page-context", offer_live, priority=502)
    app.connect("build-finished", write_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
