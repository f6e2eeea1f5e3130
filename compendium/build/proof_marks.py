"""Sphinx extension: marks under the statements that Coq has checked, and their list."""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx_proof.nodes import NODE_TYPES

from compendium.build.machine_checked import (
    Checked,
    axioms,
    checked_table,
    counted,
    read_checked,
)
from compendium.build.statements import read_statements
from compendium.project import root

SAYS = "The theorem in Coq, and what it leaves out"

_STATEMENTS = tuple(NODE_TYPES.values())


def mark(app: Sphinx, page: str, checked: Checked) -> nodes.paragraph:
    """The mark of a statement that stands on a page: a link to its theorems."""
    text = nodes.inline("", checked.mark)
    link = make_refnode(app.builder, page, checked.page, checked.anchor, text, SAYS)
    return nodes.paragraph("", "", link, classes=["machine-checked"])


def draw_marks(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the marks under the statements of a page."""
    checked = read_checked()
    for statement in doctree.findall(lambda n: isinstance(n, _STATEMENTS)):
        if statement["label"] in checked:
            statement += mark(app, page, checked[statement["label"]])


class ProofsDirective(SphinxDirective):
    """``{proofs} statements`` and ``{proofs} axioms``: what is checked, and by what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        checked, labels = read_checked(), {s.label for s in read_statements(root())}
        here = [one for label, one in checked.items() if label in labels]
        lists = {
            "statements": [
                counted(len(labels), here),
                "",
                *checked_table(checked.values(), labels),
            ],
            "axioms": axioms(),
        }
        holder = nodes.container()
        lines = StringList(lists[self.arguments[0]], source="proofs")
        self.state.nested_parse(lines, 0, holder)
        return holder.children


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.add_directive("proofs", ProofsDirective)
    app.connect("doctree-resolved", draw_marks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
