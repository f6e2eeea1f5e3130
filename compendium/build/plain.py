"""Plain notebooks: what a page's download button gives.

They hold the page as ordinary Markdown and those of its cells that run with public
packages only, so that any viewer shows them and any kernel with memdlib runs them. An
extension of Sphinx, since only Sphinx knows the printed numbers.
"""

import ast
import inspect
import json
import re
import sys
import tomllib
from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.application import Sphinx

from compendium.build.display import number
from compendium.build.markdown import CodeBlock, Page, Shown, fenced
from compendium.build.notebooks import INJECTED, KERNEL, LANGUAGE, to_text
from compendium.build.pages import citation, repository
from compendium.build.portable import imported, needed_cells, portable_code
from compendium.build.readable import FIGURE, RECORD
from compendium.build.wheel import install_missing, wheel_name
from compendium.project import root, write_whole

GIVEN = {"number": number}  # small enough to stand in a notebook that uses them
_SHOWN = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def plain_notebook(
    project: Path, stored: nbformat.NotebookNode, doctree: nodes.document, page: Page
) -> nbformat.NotebookNode:
    """A stored notebook without roles, directives and private code.

    Parameters
    ----------
    project : Path
    stored : NotebookNode
        The page's notebook.
    doctree : document
        The same, resolved by Sphinx.
    page : Page
        Numbers that the page prints.

    Returns
    -------
    NotebookNode
        Its first cell says what it needs. Code that needs the book's own programs is
        text; its outputs are there.
    """
    blocks = page.blocks(doctree)
    cells = [i for i, cell in enumerate(stored.cells) if cell.cell_type == "code"]
    places = {block.index: block for block in blocks if isinstance(block, CodeBlock)}
    codes = portable_code([stored.cells[i].source for i in cells], set(GIVEN))
    shown = [
        i in places
        and places[i].open
        and INJECTED not in stored.cells[i].metadata.get("tags", [])
        for i in cells
    ]
    kept = needed_cells(codes, shown)
    runs = {i: code for i, code, keep in zip(cells, codes, kept, strict=True) if keep}
    made: list[nbformat.NotebookNode] = []
    waiting = dict(runs)
    for block in blocks:
        if isinstance(block, str):
            made.append(nbformat.v4.new_markdown_cell(block))
            continue
        for index in [i for i in waiting if i < block.index]:
            made.append(nbformat.v4.new_code_cell(waiting.pop(index)))
        cell = stored.cells[block.index]
        if block.index in waiting:
            outputs = [o for o in map(_bare, cell.outputs) if o is not None]
            code = nbformat.v4.new_code_cell(waiting.pop(block.index), outputs=outputs)
            made.append(code)
            written = ("figure", "markdown")
            texts = [item.text for item in block.shown if item.kind in written]
        else:
            texts = [fenced(cell.source, "python")] if block.open else []
            texts += _as_text(block.shown, cell)
        made += [nbformat.v4.new_markdown_cell(text) for text in texts]
    if page.cited:
        works = "\n".join(f"- {work}" for work in sorted(page.cited))
        made.append(nbformat.v4.new_markdown_cell(f"## Cited works\n\n{works}"))
    made[:0] = _preamble(project, list(runs.values()), len(runs) < len(cells))
    return _numbered(_merged(made))


def write_plain(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Write the plain notebook beside a computed page; the button leads to it."""
    path = Path(app.env.doc2path(pagename))
    if doctree is None or path.suffix != ".ipynb" or app.builder.name != "html":
        return
    page = Page(
        app.env.toc_fignumbers.get(pagename, {}),
        app.env.toc_secnumbers.get(pagename, {}),
        app.config.numfig_format,
        context.get("pageurl") or "",
    )
    stored = nbformat.read(path, as_version=4)
    made = plain_notebook(root(), stored, doctree, page)
    write_whole(Path(app.outdir, f"{pagename}.ipynb"), to_text(made))
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("label") == "download-source-button":
                button["url"] = f"{path.stem}.ipynb"
                button["tooltip"] = "Download as a plain notebook"


def _preamble(project: Path, codes: list[str], partly: bool) -> list:
    """What the notebook is and needs, and the small functions that it is given."""
    about = citation(project)
    lines = [f"*From the book* **{about['title']}**."]
    if codes:
        package = tomllib.loads((project / "pyproject.toml").read_text())["project"]
        oldest = package["requires-python"].removeprefix(">=")
        lock = (project / "requirements.lock").read_text()
        pins = dict(re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", lock))
        lines += [
            f"It needs Python {oldest} or later. Its first cell installs what is "
            f"missing of memdlib and what its notebooks import, {_origin(project)}.",
            "The outputs below were computed with "
            + ", ".join(f"{name} {pins[name]}" for name in _SHOWN)
            + ".",
        ]
    if partly:
        lines.append(
            "Outputs that need the book's own programs (its figures, tables and "
            "results) stand here as text and pictures; the code for them is in the "
            "repository of the book."
        )
    cells = [nbformat.v4.new_markdown_cell("\n\n".join(lines))]
    if codes:
        cells.append(nbformat.v4.new_code_cell(_installation(project, codes)))
    read = "\n".join(codes)
    sources = [inspect.getsource(f) for name, f in GIVEN.items() if name in read]
    if sources:
        cells.append(nbformat.v4.new_code_cell("\n\n".join(sources).strip()))
    return cells


def _origin(project: Path) -> str:
    """Where the first cell gets memdlib from, in words."""
    if repository(project):
        return "from its repository"
    return (
        f"from the file `{wheel_name(citation(project)['version'])}`, which the page "
        "*Install and first steps* of the book offers: put it beside this notebook"
    )


def _installation(project: Path, codes: list[str]) -> str:
    """The first cell: what installs the modules that are missing, and its call."""
    source = wheel_name(citation(project)["version"])
    if repository(project):
        source = f"memdlib[notebooks] @ git+{repository(project)}"
    tops = {name.split(".")[0] for code in codes for name in imported(ast.parse(code))}
    modules = sorted({"memdlib", *tops} - {"IPython", *sys.stdlib_module_names})
    return "\n".join(
        [
            "import subprocess",
            "import sys",
            "from importlib.util import find_spec",
            "from pathlib import Path",
            "\n",
            inspect.getsource(install_missing),
            "",
            f"install_missing({json.dumps(modules)}, {json.dumps(source)})",
        ]
    )


def _bare(output: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    """An output as every viewer shows it; None if it is only for the book."""
    data = output.get("data", {})
    if "text/markdown" in data or any(kind.startswith(RECORD) for kind in data):
        return None
    output = nbformat.from_dict(output)
    if data:
        size = output.metadata.get("image/png")
        output.metadata = nbformat.from_dict({"image/png": size} if size else {})
        output.data.pop(FIGURE, None)
        if "image/png" in data:
            output.data.pop("image/svg+xml", None)
    return output


def _as_text(shown: tuple[Shown, ...], cell: nbformat.NotebookNode) -> list[str]:
    """Outputs of code that is not there, as Markdown."""
    figures = [o for o in cell.outputs if FIGURE in o.get("data", {})]
    pages = [o for o in cell.outputs if "text/html" in o.get("data", {})]
    texts = []
    for item in shown:
        if item.kind == "text":
            texts.append(fenced(item.text))
            continue
        if item.kind == "html":
            texts += _without_html(pages.pop(0))
            continue
        if item.kind == "figure":
            texts.append(_picture(figures.pop(0)))
        texts.append(item.text)
    return texts


def _without_html(output: nbformat.NotebookNode) -> list[str]:
    """What stands for HTML: its Markdown, which may be empty, or else its text."""
    if "text/markdown" in output.data:
        return [output.data["text/markdown"]] if output.data["text/markdown"] else []
    return [fenced(output.data["text/plain"])]


def _picture(output: nbformat.NotebookNode) -> str:
    """A figure inside Markdown: kept in the text, as attachments are not everywhere."""
    about = output.data[FIGURE]
    name, alt = about["name"], about["alt"].replace("[", "(").replace("]", ")")
    data = "".join(output.data["image/png"].split())
    return f"![{alt}][{name}]\n\n[{name}]: data:image/png;base64,{data}"


def _merged(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Cells with neighbouring Markdown in one; a heading begins a new one."""
    found: list[nbformat.NotebookNode] = []
    for cell in cells:
        before = found[-1] if found else None
        joins = before and before.cell_type == cell.cell_type == "markdown"
        if joins and not cell.source.startswith("#") and len(found) > 1:
            before.source += f"\n\n{cell.source}"
        else:
            found.append(cell)
    return found


def _numbered(cells: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    count = 0
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place:03d}"
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": LANGUAGE}
    )
    nbformat.validate(notebook)
    return notebook


def setup(app: Sphinx) -> dict:
    """Register the extension; it runs after the theme has made its buttons."""
    app.connect("html-page-context", write_plain, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
