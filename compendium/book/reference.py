"""Pages of reference, which autosummary makes for the tables of ``book/api.md``.

A page describes one object: its docstring, and the members that this project wrote.
"""

import inspect
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.ext.autosummary import autosummary_toc
from sphinx.ext.autosummary.generate import find_autosummary_in_files
from sphinx.transforms import SphinxTransform


def remove_stale_pages(app: Sphinx) -> None:
    """Remove pages of the last build whose objects the tables do not name any more."""
    book = Path(app.srcdir, "book")
    entries = find_autosummary_in_files([str(book / "api.md")])
    names = {entry.name for entry in entries}
    for page in (book / "api").glob("*.rst"):
        if page.stem not in names:
            page.unlink()


class RemoveContents(SphinxTransform):
    """Removes the contents that autosummary adds to a page: ``_toc.yml`` lists them."""

    default_priority = 50  # before sphinx-external-toc inserts its own, at 100

    def apply(self) -> None:
        for contents in list(self.document.findall(autosummary_toc)):
            contents.parent.remove(contents)


def leave_out_inherited(app, what, name, member, skip, options) -> bool | None:
    """Leave out what a class has from scikit-learn or Python; None lets autodoc choose.

    The arguments are those of Sphinx's event ``autodoc-skip-member``.
    """
    function = member.fget if isinstance(member, property) else member
    module = getattr(inspect.unwrap(function), "__module__", None) or ""
    return None if module.startswith("memdlib") else True


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    # autosummary writes its pages at this event, with the priority 500
    app.connect("builder-inited", remove_stale_pages, priority=400)
    app.add_transform(RemoveContents)
    app.connect("autodoc-skip-member", leave_out_inherited)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
