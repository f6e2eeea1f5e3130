"""Sphinx extension: links to single claims, and what the claims page alone needs.

The role ``{claim}`` leads to the card of a claim. Bare, as in
``{claim}`table2-memd-colon```, it shows the computed verdict; with a text of its own,
as in ``{claim}`the best gene <nml-best-gene>```, that text.
"""

from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole

from compendium.book.verdicts import PAGE, slug
from compendium.ledger.claims import Claim, read_claims


@cache
def _by_id() -> dict[str, Claim]:
    return {claim.id: claim for claim in read_claims()}


class ClaimRole(ReferenceRole):
    """``{claim}``: a link to the card of a claim."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        claim = _by_id().get(self.target)
        if claim is None:
            message = f"the ledger has no claim {self.target!r}"
            error = self.inliner.reporter.error(message, line=self.lineno)
            shown = self.inliner.problematic(self.rawtext, self.rawtext, error)
            return [shown], [error]
        if self.has_explicit_title:
            text = self.title
            styles = []
        else:
            text = claim.verdict
            styles = ["verdict", f"verdict-{slug(claim.verdict)}"]
        page = self.env.app.builder.get_relative_uri(self.env.docname, PAGE)
        address = {"refuri": f"{page}#{claim.id}", "reftitle": claim.statement}
        said = nodes.inline(self.rawtext, text, classes=styles)
        return [nodes.reference("", "", said, internal=True, **address)], []


def add_assets(app, pagename, templatename, context, doctree) -> None:
    """Style and script of the claims page, on this page only."""
    if pagename == PAGE:
        app.add_css_file("claims.css")
        app.add_js_file("claims.js", loading_method="defer")


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.add_role("claim", ClaimRole())
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
