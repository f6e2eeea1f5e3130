"""Sphinx extension: a proof of the class ``long`` folds to one line, under its sketch.

The fold is a plain ``details`` element: it opens without scripts, in print, and when a
link leads to an equation inside.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

LONG = "long"
SUMMARY = "The proof, in full"


def begin(self: HTML5Translator, node: nodes.Element) -> None:
    """Open the fold of a long proof."""
    if LONG in node[0]["classes"]:
        summary = f"<summary>{SUMMARY}</summary>"
        self.body.append(f'<details class="folded proof-fold">{summary}\n')


def end(self: HTML5Translator, node: nodes.Element) -> None:
    """Close it."""
    if LONG in node[0]["classes"]:
        self.body.append("</details>\n")


def setup(app: Sphinx) -> dict:
    """Register the extension; it comes after ``sphinx_proof``."""
    app.add_node(proof_node, override=True, html=(begin, end))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
