"""Text of stored notebooks for viewers that know no roles and no directives.

The source keeps both, as Sphinx needs them for the page; of those that stand for a
value or a formula the stored notebook holds the value and the formula.
"""

import re
from ast import literal_eval
from collections.abc import Iterable

from nbformat import NotebookNode

RECORD = "application/papermill.record/"  # prefix of what a cell glues
FIGURE = "application/vnd.memdlib.figure+json"  # name, caption and alt text of a figure
_GLUED = re.compile(
    r"(?m)(?P<start>^[ ]*)?\{glue:(?P<kind>text|md)\}`(?P<name>[^`]+)`"
    r"(?P<mark>[.)](?=\s|$))?"
)
_SPECIAL = re.compile(r"[\\`*$<\[\]]|(?<!\w)_|_(?!\w)")
_EQUATION = re.compile(
    r"(?ms)^(?P<indent>[ ]*)```\{math\}[ ]*\n(?:[ ]*:label: (?P<label>\S+)\n)?"
    r"(?P<text>.*?)^[ ]*```[ ]*$"
)


def glued_values(notebook: NotebookNode) -> dict[str, str]:
    """Texts that the cells of an executed notebook make known to the prose."""
    values = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            plain = data.get(f"{RECORD}text/plain")
            if plain is not None:
                name = output.metadata["scrapbook"]["name"]
                marked = data.get(f"{RECORD}text/markdown")
                values[name] = literal_eval(plain) if marked is None else marked
    return values


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Examples
    --------
    >>> print(escaped("a_b < 5 $, by the rows of a_*"))
    a_b \< 5 \$, by the rows of a\_\*
    """
    return _SPECIAL.sub(r"\\\g<0>", text)


def readable(text: str, values: dict[str, str]) -> str:
    r"""MyST with values in place of their roles, and with equations between dollars.

    Parameters
    ----------
    text : str
        A cell of Markdown.
    values : dict of str to str
        As :func:`glued_values` gives; the role of a name that is not there stays, and
        Sphinx will complain of it.

    Examples
    --------
    >>> readable("All {glue:text}`n` agree.", {"n": "35"})
    'All 35 agree.'
    >>> print(readable("```{math}\n:label: eq-a\na = b\n```", {}))
    $$
    a = b
    $$ (eq-a)
    """

    def value(match: re.Match) -> str:
        if match["name"] not in values:
            return match[0]
        plain = values[match["name"]]
        if match["kind"] == "text":
            plain = escaped(plain)
        start, mark = match["start"], match["mark"] or ""
        # "35." at the beginning of a line would begin a list
        guard = "\\" if start is not None and mark and plain.isdigit() else ""
        return f"{start or ''}{plain}{guard}{mark}"

    def equation(match: re.Match) -> str:
        formula = match["text"].strip()
        if re.search(r"\\\\|(?<!\\)&", formula) and not formula.startswith("\\begin{"):
            formula = f"\\begin{{aligned}}\n{formula}\n\\end{{aligned}}"
        block = f"$$\n{formula}\n$$" + (
            f" ({match['label']})" if match["label"] else ""
        )
        return "\n".join(match["indent"] + line.strip() for line in block.split("\n"))

    return _EQUATION.sub(equation, _GLUED.sub(value, text))


def markdown_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]], alignment: str
) -> str:
    """A table in Markdown; one letter a column, "l" or "r", says how it is aligned.

    Examples
    --------
    >>> print(markdown_table(["run", "time"], [["digits", "42 s"]], "lr"))
    | run | time |
    | :--- | ---: |
    | digits | 42 s |
    """
    marks = {"l": ":---", "r": "---:"}
    lines = [headings, [marks[letter] for letter in alignment], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
