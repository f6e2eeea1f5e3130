"""How long a chapter takes to read, measured on its source.

A page says its time in minutes; a test compares it with this measure. The speeds are
those of a textbook that is read once with attention: 150 words a minute, two seconds a
number, half a minute for each displayed formula, figure or visible cell. What a page
folds (long proofs, answers, solutions) is not counted.
"""

import re

from nbformat import NotebookNode

WORDS_A_MINUTE = 150
SECONDS_A_NUMBER = 2
SECONDS_A_STOP = 30  # a displayed formula, a figure or a visible cell
_FOLDED = re.compile(
    r"(?s):::\{dropdown\}.*?\n\s*:::"
    r"|:::\{prf:proof\}\n:class: long\n.*?\n:::"
)
_SOLUTION = re.compile(r"(?s):::\{solution-start\}.*?:::\{solution-end\}")
_DISPLAYED = re.compile(r"(?s)\$\$.*?\$\$")
_INLINE = re.compile(r"\$[^$\n]+\$")
_ROLE = re.compile(r"\{[\w:-]+\}`([^`]*)`")
_NUMBER = re.compile(r"\d[\d,.]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_UNSEEN = {"remove-cell"}
_MARK = ":::{cell}"


def reading_minutes(notebook: NotebookNode) -> float:
    """Minutes that a chapter takes.

    Parameters
    ----------
    notebook : NotebookNode
        The chapter, with or without outputs.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
    >>> cells = [new_markdown_cell(300 * "word "), new_code_cell("f()")]
    >>> reading_minutes(new_notebook(cells=cells))
    2.5
    """
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif not _UNSEEN & set(cell.metadata.get("tags", [])):
            parts.append(_MARK)
    # cells of a solution stand between its marks
    text = _SOLUTION.sub("", "\n".join(parts))
    text = _FOLDED.sub("", text)
    stops = text.count(_MARK) + len(_DISPLAYED.findall(text))
    text = _DISPLAYED.sub("", text.replace(_MARK, ""))
    text = _INLINE.sub(" formula ", text)
    text = _ROLE.sub(r"\1", text)
    seconds = SECONDS_A_STOP * stops + SECONDS_A_NUMBER * len(_NUMBER.findall(text))
    return len(_WORD.findall(text)) / WORDS_A_MINUTE + seconds / 60
