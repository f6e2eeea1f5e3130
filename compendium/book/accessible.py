"""What stands between a page and a screen reader in the HTML that packages write."""

# What a package writes, and what is written instead.
MENDED = {
    # MyST-NB gives every fold this name, in place of the one that is seen
    ' aria-label="Toggle hidden content"': "",
    # docutils makes a list whose children are no items, with a role that is deprecated
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    ' role="doc-biblioentry"': "",
    # pandas heads the column of row names with nothing
    "<th></th>": "<td></td>",
}


def mend(app, pagename, templatename, context, doctree) -> None:
    """Mend the body of a page, at Sphinx's event ``html-page-context``."""
    for written, instead in MENDED.items():
        if "body" in context:
            context["body"] = context["body"].replace(written, instead)
