"""What students get has every exercise, no solution and no answer."""

import re
from zipfile import ZipFile

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from compendium import __main__ as command
from compendium.book import student
from compendium.book.archive import FOLDER, NAME
from compendium.execution.notebooks import code_cells
from compendium.project import root

QUIZ = """## Quick quiz

1. Which?

   - (a) this
   - (b) that

   :::{dropdown} Answer
   SECRET, for this reason:

   $$
   SECRET
   $$
   :::

2. Does it *hold*?

   :::{dropdown} Answer
   SECRET.
   :::

:::{dropdown} On your own file
A fold that is no answer.
:::

## Exercises

:::{exercise-start}
:label: ex-one
:::
**One** *(warm-up)*. Double $x$.
:::{exercise-end}
:::

:::{solution-start} ex-one
:class: dropdown
:::
SECRET words."""
BETWEEN = """SECRET words that end it.
:::{solution-end}
:::

:::{exercise-start}
:label: ex-two
:::
**Two** *(challenge)*. Why?
:::{exercise-end}
:::

:::{solution-start} ex-two
:class: dropdown
:::
SECRET, in words alone.
:::{solution-end}
:::

The next chapter."""
EXERCISE = re.compile(r"(?m)^:::\{exercise-start\}\n:label: ([\w-]+)$")
CHAPTERS = sorted((root() / "book" / "notebooks").glob("*.ipynb"))


def planted():
    """A chapter: one solution over several cells, one within a cell."""
    shown = new_output("stream", name="stdout", text="3\n")
    secret = new_output("stream", name="stdout", text="SECRET\n")
    return new_notebook(
        cells=[
            new_code_cell("x = 3\nprint(x)", outputs=[shown], execution_count=1),
            new_markdown_cell(QUIZ),
            new_code_cell("print(2 * x)  # SECRET", outputs=[secret]),
            new_markdown_cell("SECRET"),
            new_code_cell("assert 2 * x == 6  # SECRET"),
            new_markdown_cell(BETWEEN),
            new_code_cell("x + 1"),
        ]
    )


def test_a_student_sees_exercises_and_places_for_solutions():
    chapter = planted()
    handed_out = student.without_solutions(chapter)
    nbformat.validate(handed_out)
    assert "SECRET" not in nbformat.writes(handed_out)
    sources = [cell.source for cell in handed_out.cells]
    assert [sources[0], *sources[-2:]] == [
        "x = 3\nprint(x)",
        "The next chapter.",
        "x + 1",
    ]
    assert handed_out.cells[0] == chapter.cells[0]
    assert sources[2] == sources[4] == "# your solution"
    for kept in ("- (b) that", "2. Does it *hold*?", "no answer.", "Double $x$"):
        assert kept in sources[1]
    assert sources[1].endswith(":::{exercise-end}\n:::")
    assert sources[3].startswith(":::{exercise-start}\n:label: ex-two\n")
    assert "SECRET" in nbformat.writes(chapter), "the chapter stays as it is"


def test_what_students_get_runs():
    handed_out = student.without_solutions(planted())
    NotebookClient(handed_out, timeout=60).execute()
    assert code_cells(handed_out)[-1].outputs[0].data["text/plain"] == "4"


def text_of(notebook):
    return "\n".join(cell.source for cell in notebook.cells)


def code_after_solutions(chapter):
    """Cells of a chapter that run after its first solution, and might need it."""
    places = [
        number
        for number, cell in enumerate(chapter.cells)
        if cell.cell_type == "code" and cell.source == student.PLACE
    ]
    if not places:
        return []
    return [
        cell.source
        for cell in chapter.cells[places[0] :]
        if cell.cell_type == "code" and cell.source != student.PLACE
    ]


def test_code_after_a_solution_is_noticed():
    assert code_after_solutions(student.without_solutions(planted())) == ["x + 1"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_its_exercises_and_needs_no_solution(path):
    chapter = nbformat.read(path, as_version=4)
    handed_out = student.without_solutions(chapter)
    nbformat.validate(handed_out)
    before, after = text_of(chapter), text_of(handed_out)
    assert "{solution-" not in after and "{dropdown} Answer" not in after
    labels = EXERCISE.findall(before)
    assert EXERCISE.findall(after) == labels
    places = [cell.id for cell in handed_out.cells if cell.source == student.PLACE]
    assert places == labels
    assert code_after_solutions(handed_out) == []


@pytest.mark.usefixtures("signals")
def test_the_archive_for_students_has_all_else_that_notebooks_need(project, capsys):
    assert command.main(["student"]) == 1
    assert "call 'make html' first" in capsys.readouterr().out
    others = {
        f"{FOLDER}/helpers.py": b"one = 1\n",
        f"{FOLDER}/data/tables/runs.csv": b"run\n",
        f"{FOLDER}/memdlib-1-py3-none-any.whl": bytes(range(256)),
    }
    notebook = f"{FOLDER}/planted.ipynb"
    readme = f"{FOLDER}/README.md"
    work = project.root / "_build"
    (work / "html").mkdir(parents=True)
    with ZipFile(work / "html" / NAME, "w") as archive:
        archive.writestr(notebook, nbformat.writes(planted()))
        archive.writestr(readme, "# The notebooks\n")
        for name, content in others.items():
            archive.writestr(name, content)
    old = project.write("_build/student/old.ipynb", "of another rendering")
    assert command.main(["student"]) == 0
    assert not old.exists()
    with ZipFile(work / student.STUDENT_NAME) as written:
        contents = {name: written.read(name) for name in written.namelist()}
    folder = work / "student"
    assert {name: (folder / name).read_bytes() for name in contents} == contents
    assert contents.keys() == others.keys() | {notebook, readme}
    assert others.items() <= contents.items()
    assert contents[readme].startswith(b"# The notebooks\n")
    assert b"left out" in contents[readme]
    assert contents[notebook].count(student.PLACE.encode()) == 2
    assert b"SECRET" not in contents[notebook]
