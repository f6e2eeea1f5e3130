"""A gate against contradictions: prose and tables of one page print the same number.

Where a number of the prose nearly is one of a table, it is that number, with as many
digits or fewer, or else it must have the digits that tell the two apart.
"""

import re
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

from nbformat import NotebookNode

from compendium.build.readable import glued_values

_DECIMAL = re.compile(r"(?<![\w.])[−-]?\d+\.\d+(?![\w.]*\d)")


def lint_contradictions(name: str, notebook: NotebookNode) -> list[str]:
    """Numbers of the prose that are close to one of a table, but not its rounding.

    Parameters
    ----------
    name : str
        Of the page, for the message.
    notebook : NotebookNode
        Executed; its prose numbers are those that its cells make known.

    Returns
    -------
    list of str
        A problem for each decimal number that differs from every number of the page's
        tables, but from one with as many digits or more by less than a unit of its own
        last digit.
    """
    in_tables = {number for text in _tables(notebook) for number in _decimals(text)}
    problems = []
    for glued, text in glued_values(notebook).items():
        for said in _decimals(text):
            unit = Decimal(1).scaleb(said.as_tuple().exponent)
            near = [
                number
                for number in in_tables
                if number.as_tuple().exponent <= said.as_tuple().exponent
                and abs(number - said) < unit
            ]
            if near and not any(_rounds(number, said, unit) for number in near):
                found = ", ".join(map(str, sorted(near)))
                problems.append(
                    f"{name}: the prose says {said} ({glued!r}), a table of the page "
                    f"{found}; say that number, or more digits of another one"
                )
    return problems


def _tables(notebook: NotebookNode) -> list[str]:
    """Text of the tables that cells show."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "<table" in data.get("text/html", ""):
                texts.append(re.sub("<[^>]*>", " ", data["text/html"]))
            elif "|" in data.get("text/markdown", ""):
                texts.append(data["text/markdown"])
    return texts


def _decimals(text: str) -> list[Decimal]:
    return [Decimal(found.replace("−", "-")) for found in _DECIMAL.findall(text)]


def _rounds(number: Decimal, said: Decimal, unit: Decimal) -> bool:
    ways = (ROUND_HALF_UP, ROUND_HALF_DOWN)
    return any(number.quantize(unit, way) == said for way in ways)
