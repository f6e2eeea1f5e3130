"""Notebooks for students: the archive of the book without solutions and answers.

The archive that every rendering of the book makes holds each exercise with its solution
and each quiz with its answers. The copy made here leaves them out, and is for a class.
"""

import io
import re
import shutil
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from compendium.book.archive import FOLDER, NAME
from compendium.project import root, write_whole

STUDENT_NAME = "memdlib-student.zip"
PLACE = "# your solution"
ABOUT = """
Solutions and answers are left out: an empty cell below each exercise is for yours.
"""
# The fence of an answer is closed by the next one with its indent.
_ANSWER = re.compile(
    r"(?ms)^(?P<indent> *):::\{dropdown\} Answer\n.*?^(?P=indent)::: *(?:\n|\Z)"
)
# A mark may have options, each on a line, before its fence is closed.
_MARK = re.compile(r"(?m)^(:::\{solution-(?:start\} [\w-]+|end\})\n(?::\w.*\n)*:::)$")
_START = re.compile(r":::\{solution-start\} (?P<label>[\w-]+)")
_END = ":::{solution-end}"


def without_answers(text: str) -> str:
    r"""Markdown without the folded answers of its questions.

    Examples
    --------
    >>> without_answers("1. Why?\n   :::{dropdown} Answer\n   So.\n   :::\n")
    '1. Why?\n'
    """
    return _ANSWER.sub("", text)


def split_at_marks(cell: NotebookNode) -> list[NotebookNode]:
    """A Markdown cell without answers, each mark of a solution as a cell by itself."""
    parts = [part.strip() for part in _MARK.split(without_answers(cell.source))]
    return [
        new_markdown_cell(
            part,
            id=f"{cell.id}-{number}" if number else cell.id,
            metadata=cell.metadata,
        )
        for number, part in enumerate(parts)
        if part
    ]


def without_solutions(notebook: NotebookNode) -> NotebookNode:
    """A copy of a notebook without answers, and with empty cells in place of solutions.

    Parameters
    ----------
    notebook : NotebookNode
        A chapter. Its solutions may extend over many cells, and begin and end within
        one.

    Returns
    -------
    NotebookNode
        All other cells are as they were, with their outputs.
    """
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts += split_at_marks(cell)
        else:
            parts.append(cell)
    cells = []
    in_solution = False
    for cell in parts:
        start = _START.match(cell.source)
        if start:
            in_solution = True
            cells.append(new_code_cell(PLACE, id=start["label"]))
        elif cell.source.startswith(_END):
            in_solution = False
        elif not in_solution:
            cells.append(cell)
    copy = notebook.copy()
    copy.cells = cells
    return copy


def student_archive(archive: Path) -> bytes:
    """Contents of a copy of the archive of notebooks, without solutions and answers.

    Parameters
    ----------
    archive : Path
        As :func:`compendium.book.archive.write_archive` makes it.
    """
    written = io.BytesIO()
    with ZipFile(archive) as source, ZipFile(written, "w") as copy:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith(".ipynb"):
                notebook = nbformat.reads(content.decode(), as_version=4)
                text = nbformat.writes(without_solutions(notebook)) + "\n"
                content = text.encode()
            elif entry.filename == f"{FOLDER}/README.md":
                content += ABOUT.encode()
            copy.writestr(entry, content, ZIP_DEFLATED)
    return written.getvalue()


def main() -> int:
    """Write the archive for students to ``_build``, and unpack it to ``student``."""
    work = root() / "_build"
    archive = work / "html" / NAME
    if not archive.is_file():
        print(f"there is no {archive}: call 'make html' first")
        return 1
    target = work / STUDENT_NAME
    folder = work / "student"
    write_whole(target, student_archive(archive))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.unpack_archive(target, folder)
    print(f"Hand out {target}, or the folder {folder}, which holds the same files")
    return 0
