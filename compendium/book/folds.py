"""Sphinx extension: what folds to one line, a proof of the class ``long``, a solution.

A fold is a plain ``details`` element: it is announced by its name, and opens without
scripts, in print, and when a link leads to an equation inside.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node
from sphinx_proof.nodes import proof_node

LONG = "long"
SUMMARY = "The proof, in full"


def begin_proof(self: HTML5Translator, node: nodes.Element) -> None:
    """Open the fold of a long proof."""
    if LONG in node[0]["classes"]:
        summary = f"<summary>{SUMMARY}</summary>"
        self.body.append(f'<details class="folded proof-fold">{summary}\n')


def end_proof(self: HTML5Translator, node: nodes.Element) -> None:
    """Close it."""
    if LONG in node[0]["classes"]:
        self.body.append("</details>\n")


def write_solution(self: HTML5Translator, node: solution_node) -> None:
    """Write a solution under its title, which names the exercise."""
    title, *content = node
    fold = self.starttag(node, "details", CLASS="folded")
    self.body.append(f"{fold}<summary>{self.encode(title.astext())}</summary>\n")
    for part in content:
        part.walkabout(self)
    self.body.append("</details>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Register the extension; it comes after those that make proofs and solutions."""
    app.add_node(proof_node, override=True, html=(begin_proof, end_proof))
    app.add_node(solution_node, override=True, html=(write_solution, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
