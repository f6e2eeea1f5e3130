"""Tables that are numbered, and figures whose lettering can be read on a phone."""

import re
from collections.abc import Callable

_SMALLEST = 9.0  # pixels of the smallest lettering of a figure
_FIGURE = re.compile(
    r"<img (?=[^>]*memdlib-figure)(?:(?=[^>]*least-(?P<least>\d+)))?"
    r'(?P<rest>[^>]*src="(?P<src>[^"]*)"[^>]*)>'
)
_LETTERING = re.compile(
    r'<g [^>]*transform="translate\([^)]*\)(?: rotate\([^)]*\))?'
    r' scale\(([\d.]+) -[\d.]+\)"'
)


def number_tables(notebook: dict) -> bool:
    """Make directives of the captioned tables in a notebook; say whether there are any.

    Stored notebooks hold a plain caption over a plain table, which every viewer shows.

    Parameters
    ----------
    notebook : dict
        The parsed file; changed in place.
    """
    found = False
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("memdlib_table")
            if name:
                text = "".join(output["data"]["text/markdown"])
                caption, table = text.split("\n\n", 1)
                output["data"]["text/markdown"] = (
                    f"```{{table}} {caption}\n:name: {name}\n\n{table}```\n"
                )
                found = True
    return found


def least_width(picture: str) -> int:
    """Width in pixels at which the smallest lettering of a figure can still be read.

    Parameters
    ----------
    picture : str
        SVG as matplotlib writes it, letters as outlines scaled by size / 100. Exponents
        and subscripts are smaller, as they are everywhere.

    Examples
    --------
    >>> least_width('<svg viewBox="0 0 400 300"><g '
    ...             'transform="translate(1 2) scale(0.08 -0.08)"></g></svg>')
    450
    """
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', picture)[1])
    sizes = [100 * float(scale) for scale in _LETTERING.findall(picture)]
    return -int(-width * _SMALLEST // min(sizes)) if sizes else 0


def with_least_widths(body: str, read: Callable[[str], str]) -> str:
    """A page whose figures say how wide they must be, each in a box that can scroll.

    Parameters
    ----------
    body : str
        HTML.
    read : callable
        Gives the SVG at an address of the page; not asked for a figure that has its
        least width in a class.
    """

    def boxed(image: re.Match) -> str:
        least = image["least"] or least_width(read(image["src"]))
        style = f' style="--least: {least}px"'
        return f'<span class="scrolls"><img{style} {image["rest"]}></span>'

    return _FIGURE.sub(boxed, body)
