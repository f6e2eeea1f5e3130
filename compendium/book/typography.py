"""What a typesetter does to a page: no line begins with a comma or with a unit.

Browsers break lines before and after a formula, also where no space is, and at every
space. All is done when a page is written, so that sources stay plain.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

UNBROKEN = "unbroken"  # class of what stays on one line
IN_CODE = "In code:"
_UNIT = re.compile(r"(?<=\d)[ \n](?=%|(?:nats?|bits?|ns|ms|s|min|h|[kMG]i?B)\b)")
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def hold_formulas(doctree: nodes.Node) -> None:
    """Keep formulas in the text together with what touches them, such as a comma."""
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        at = parent.index(formula)
        before = parent[at - 1] if at > 0 else None
        after = parent[at + 1] if at + 1 < len(parent) else None
        head = re.search(r"\S*$", before)[0] if isinstance(before, nodes.Text) else ""
        tail = re.match(r"\S*", after)[0] if isinstance(after, nodes.Text) else ""
        chained = isinstance(before, nodes.inline) and UNBROKEN in before["classes"]
        if not (head or tail or chained):
            continue
        held = nodes.inline("", "", nodes.Text(head), formula, nodes.Text(tail))
        if tail:
            parent[at + 1 : at + 2] = _texts(after[len(tail) :])
        if chained:
            del parent[at]
            before += held.children
        else:
            held["classes"].append(UNBROKEN)
            parent[at] = held
        if head:
            parent[at - 1 : at] = _texts(before[: -len(head)])


def _texts(text: str) -> list[nodes.Text]:
    """A text as a list of nodes, which is empty if it is."""
    return [nodes.Text(text)] if text else []


def hold_units(doctree: nodes.Node) -> None:
    """Put a space that does not break between a number and its unit."""
    before = ""
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, nodes.math | nodes.math_block):
            before = "0"  # a formula before a unit is a number
            continue
        if isinstance(text.parent, nodes.literal | nodes.FixedTextElement):
            before = ""
            continue
        held = _UNIT.sub(_NO_BREAK_SPACE, before + text)[len(before) :]
        if held != text:
            text.parent.replace(text, nodes.Text(held))
        before = text[-1:]


def shorten_code(doctree: nodes.Node) -> None:
    """Name functions without their modules in the line that says where they are."""
    for line in doctree.findall(nodes.paragraph):
        if not line.children or line[0].astext() != IN_CODE:
            continue
        line["classes"].append("in-code")
        names = list(line.findall(nodes.literal))
        short = [short_name(name.astext()) for name in names]
        for name, text in zip(names, short, strict=True):
            if short.count(text) == 1:
                name[:] = [nodes.Text(text)]


def short_name(name: str) -> str:
    """A function without its module, a method with its class.

    Examples
    --------
    >>> short_name("memdlib.divergences.kl()"), short_name("memdlib.nml.Code.length()")
    ('kl()', 'Code.length()')
    """
    *modules, last = name.split(".")
    owner = modules[-1] if modules else ""
    return f"{owner}.{last}" if owner[:1].isupper() else last


def set_page(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Do all of it, at Sphinx's event ``doctree-resolved``."""
    hold_units(doctree)
    hold_formulas(doctree)
    shorten_code(doctree)
