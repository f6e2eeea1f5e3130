"""Sphinx extension: figures that a reader can move.

A figure that ``show(..., moves=...)`` made is drawn as every other. Its page also gets
the script ``explain/<name of the figure>.js`` and the state in which that opens.
"""

import json
from pathlib import Path

from sphinx.application import Sphinx

from compendium.build.readable import FIGURE


def moving_figures(notebook: dict) -> dict[str, dict]:
    """Figures of a stored notebook that can be moved: name to what their script reads.

    Parameters
    ----------
    notebook : dict
        The parsed file.
    """
    found = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            figure = output.get("data", {}).get(FIGURE, {})
            if "moves" in figure:
                found[figure["name"]] = figure["moves"]
    return found


def add_scripts(app, pagename, templatename, context, doctree) -> None:
    """Give a page the scripts of its figures, and the states in which they open."""
    path = Path(app.env.doc2path(pagename))
    if doctree is None or path.suffix != ".ipynb" or "body" not in context:
        return
    figures = moving_figures(json.loads(path.read_text()))
    if figures:
        app.add_css_file("explain.css")
        app.add_js_file("explain.js", loading_method="defer")
    for name, moves in figures.items():
        app.add_js_file(f"explain/{name}.js", loading_method="defer")
        text = json.dumps(moves, separators=(",", ":")).replace("<", "\\u003c")
        context["body"] += (
            f'<script type="application/json" id="{name}-moves">{text}</script>'
        )


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
