"""Sphinx extension: figures and tables of notebooks, numbered, with data to download.

A stored notebook shows a picture and, under it, its caption as Markdown. On a page they
are one numbered figure with an alternative text; the plotted values, its plain text,
become a CSV file beside the page. A figure with ``moves`` gets the state in which it
opens and the script ``explain/<name of the figure>.js``.
"""

import io
import json
import re
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import nbformat
from PIL import Image
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from compendium.execution.notebooks import DARK, FIGURE, figures

NUMBERS = "The numbers, as a table"  # opens a folded table that has no name yet
_LEAST = re.compile(r"<img (?=[^>]*least-(\d+))[^>]*>")


def join_captions(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give pictures their captions and data, and tables their numbers."""
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = json.loads(content[0])
    for cell in notebook["cells"]:
        if "hide-output" in cell["metadata"].get("tags", ()):
            label = fold_label(cell["source"]) or NUMBERS
            fold = dict.fromkeys(("code_prompt_show", "code_prompt_hide"), label)
            cell["metadata"].setdefault("mystnb", {}).update(fold)
        outputs = cell.get("outputs", [])
        for picture, caption in list(pairwise(outputs)):
            # what is said of a picture is no picture of its own
            if about := picture.get("data", {}).pop(FIGURE, None):
                file = Path(app.outdir, docname).with_name(f"{about['name']}.csv")
                file.parent.mkdir(parents=True, exist_ok=True)
                text = "".join(picture["data"]["text/plain"])
                file.write_text(text, encoding="utf-8")
                said = numbered(about, "".join(caption["data"]["text/markdown"]))
                if dark := picture["data"].pop(DARK, None):
                    file.with_name(f"{about['name']}-dark.png").write_bytes(
                        b64decode(dark)
                    )
                    said["image"]["classes"] += " only-light"
                cell["metadata"].setdefault("mystnb", {}).update(said)
                outputs.remove(caption)
                picture["metadata"] = {}  # its width is that of the page
        for table in outputs:
            if name := table.get("metadata", {}).get("table"):
                text = "".join(table["data"]["text/markdown"])
                caption, rows = text.split("\n\n", 1)
                directive = f"```{{table}} {caption}\n:name: {name}\n\n{rows}```\n"
                table["data"]["text/markdown"] = directive
    content[0] = json.dumps(notebook)


def fold_label(source: str | list[str]) -> str | None:
    r"""What the line that opens a folded table says: the comment its cell begins with.

    Examples
    --------
    >>> fold_label("# Accuracy of each setting\ntable")
    'Accuracy of each setting'
    """
    comment = re.match(r"# *(.+)", "".join(source))
    return comment and comment[1].strip()


def numbered(about: dict, caption: str) -> dict:
    """What MyST-NB reads of a cell: name, caption and alternative text of a figure."""
    link = f'<a class="download" href="{about["name"]}.csv" download>data (CSV)</a>'
    said = f"{caption.removeprefix('**Figure.** ')} {link}"
    classes = f"memdlib-figure dark-light least-{about['least']}"
    image = {"alt": about["alt"], "classes": classes}
    return {"figure": {"name": about["name"], "caption": said}, "image": image}


def finish(app, pagename, templatename, context, doctree) -> None:
    """Let narrow windows scroll figures, and give those that move their scripts."""
    path = Path(app.env.doc2path(pagename))
    if doctree is None or path.suffix != ".ipynb" or "body" not in context:
        return
    boxed = r'<span class="scrolls" style="--least: \1px">\g<0></span>'
    context["body"] = _LEAST.sub(boxed, context["body"])
    for about, data, _ in figures(nbformat.read(path, as_version=4)):
        if DARK in data:
            size = Image.open(io.BytesIO(b64decode(data[DARK]))).size
            context["body"] = with_dark(context["body"], about["name"], size)
        if "moves" in about:
            app.add_css_file("explain.css")
            app.add_js_file("explain.js", loading_method="defer")
            app.add_js_file(f"explain/{about['name']}.js", loading_method="defer")
            text = json.dumps(about["moves"], separators=(",", ":"))
            kind = f'type="application/json" id="{about["name"]}-moves"'
            text = text.replace("<", "\\u003c")
            context["body"] += f"<script {kind}>{text}</script>"


def with_dark(body: str, name: str, size: tuple[int, int]) -> str:
    """A page with the dark picture of a figure after the light one.

    The theme displays one of them, and only that one is loaded, as the other never
    comes into view. Their size keeps the page in place until then.
    """
    figure = re.search(rf'id="{re.escape(name)}">\s*<span[^>]*>(<img [^>]*>)', body)
    width, height = size
    sized = f'<img loading="lazy" width="{width}" height="{height}" '
    light = figure[1].replace("<img ", sized)
    dark = light.replace("only-light", "only-dark")
    dark = re.sub(r'src="[^"]*"', f'src="{name}-dark.png"', dark)
    return body[: figure.start(1)] + light + dark + body[figure.end(1) :]


def restart_numbers(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number figures and tables from 1 on every page that has no number itself.

    Sphinx counts them through all such pages: the first of the article was Fig. 95.
    """
    env.running_numbers = env.toc_fignumbers
    env.toc_fignumbers = {
        page: {
            kind: {
                name: number if len(number) > 1 else (position,)
                for position, (name, number) in enumerate(numbers.items(), 1)
            }
            for kind, numbers in kinds.items()
        }
        for page, kinds in env.running_numbers.items()
    }
    return []


def give_numbers_back(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Let Sphinx compare its own numbers, by which it tells what to write again."""
    env.toc_fignumbers = getattr(env, "running_numbers", env.toc_fignumbers)


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.connect("env-before-read-docs", give_numbers_back)
    app.connect("env-get-updated", restart_numbers, priority=900)  # after Sphinx
    app.connect("source-read", join_captions)
    app.connect("html-page-context", finish)
    safe = {"parallel_read_safe": True, "parallel_write_safe": True}
    return {"version": "1", "env_version": 1, **safe}  # numbers are kept with pages
