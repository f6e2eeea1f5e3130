"""Folded cells: the line that stands for a cell until a reader opens it."""

import re

import nbformat

from compendium.build.readable import FIGURE

CODE = "Code of the figure"
NUMBERS = "The numbers, as a table"


def label_fold(cell: nbformat.NotebookNode) -> None:
    """Give a folded cell the line that its own output calls for.

    A check says what was checked, how, and with which error; a figure's code says that
    it is that, and a table gives the first words of its caption, if it has one. MyST-NB
    reads the line from the metadata of the cell only.

    Parameters
    ----------
    cell : NotebookNode
        Executed; changed in place.
    """
    tags = cell.metadata.get("tags", [])
    if "hide-output" in tags:
        _set_prompt(cell, NUMBERS)
    for output in cell.get("outputs", []):
        about = output.get("metadata", {})
        check = about.get("memdlib_check")
        if check is not None:
            _set_prompt(cell, check["line"])
        elif FIGURE in output.get("data", {}) and "hide-input" in tags:
            _set_prompt(cell, CODE)
        elif "memdlib_table" in about and "hide-output" in tags:
            _set_prompt(cell, _of_table(output["data"]["text/markdown"]))


def _of_table(text: str) -> str:
    """The caption of a table up to its first colon or point, without markup."""
    words = re.split(r"[:.](?:\s|$)", text.partition("\n")[0])[0]
    return f"As a table: {words.replace('*', '')}"


def _set_prompt(cell: nbformat.NotebookNode, line: str) -> None:
    known = cell.metadata.get("mystnb", {})
    cell.metadata["mystnb"] = nbformat.from_dict(
        known | {"code_prompt_show": line, "code_prompt_hide": line}
    )
