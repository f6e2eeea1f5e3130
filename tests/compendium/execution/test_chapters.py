import os

import nbformat
import pytest

from compendium.execution import chapters
from compendium.execution.notebooks import code_cells
from compendium.project import root
from tests.compendium.conftest import cell

JUPYTEXT = (root() / "jupytext.toml").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def paired(project):
    """Chapters of the tiny project are pairs, as those of the book."""
    project.write("jupytext.toml", JUPYTEXT)


def stored(project, name):
    return project.root / "book" / "notebooks" / f"{name}.ipynb"


def read(project, name):
    return nbformat.read(stored(project, name), as_version=4)


def save(path, text, later=10):
    """Write a file as an editor does, seconds after all others."""
    path.write_text(text, encoding="utf-8")
    now = path.stat().st_mtime + later
    os.utime(path, (now, now))


def test_chapters_from_source_to_stored_notebook(project, capsys):
    project.chapter("good", cell("print('fine')"))
    project.chapter("bad", cell("1 / 0"))
    names = [path.name for path in chapters.sources(project.root)]
    assert names == ["bad.md", "good.md"]

    assert chapters.main([], jobs=1) == 1
    said = capsys.readouterr().out
    assert "1 chapters executed, 0 as they were, 1 changed:\ngood" in said
    assert "book/chapters/bad.md: code cell 1 failed with ZeroDivisionError" in said
    (problem,) = chapters.out_of_step(project.root)
    assert problem == (
        "book/chapters/bad.md: has cells that were not executed: make store CHAPTER=bad"
    )
    first = stored(project, "good").read_bytes()

    project.chapter("bad", cell("print('mended')"))
    assert chapters.main(["book/chapters/bad.md", "good"], jobs=1) == 0
    assert "2 chapters executed" in capsys.readouterr().out
    assert stored(project, "good").read_bytes() == first
    assert chapters.out_of_step(project.root) == []

    # a failure leaves the outputs of the cells that are as they were
    project.chapter("good", cell("import os; os._exit(1)"))
    assert chapters.main(["good"], jobs=1) == 1
    assert "Kernel died" in capsys.readouterr().out


def test_an_unknown_chapter_is_named(project, capsys):
    project.chapter("one", cell("1"))
    assert chapters.main(["two"]) == 2
    said = capsys.readouterr().out
    assert said == "no chapter 'two'; the chapters are one\n"


def test_a_sentence_reaches_the_notebook_and_its_outputs_stay(project):
    path = project.chapter("c", cell("print(1)", "remove-input"))
    chapters.execute(project.root, path)
    outputs = [c.outputs for c in code_cells(read(project, "c"))]
    save(path, path.read_text() + "One more sentence.\n")
    (problem,) = chapters.out_of_step(project.root)
    assert problem == "book/chapters/c.md: its notebook has other cells: make html"
    assert chapters.synchronise(project.root) == ["c"]
    after = read(project, "c")
    assert "One more sentence." in after.cells[-1].source
    assert [c.outputs for c in code_cells(after)] == outputs
    assert chapters.out_of_step(project.root) == []
    assert chapters.synchronise(project.root) == []


def test_an_edit_of_the_notebook_reaches_the_source_and_stays(project):
    path = project.chapter("c", cell("print(1)"))
    chapters.execute(project.root, path)
    notebook = read(project, "c")
    notebook.cells[0].source += "\n\nWritten in JupyterLab."
    notebook.cells[1].source = "print(2)"
    notebook.cells[1].metadata["execution"] = {"iopub.execute_input": "now"}
    save(stored(project, "c"), nbformat.writes(notebook))
    assert chapters.main([], jobs=1) == 0
    assert "Written in JupyterLab." in path.read_text()
    after = read(project, "c")
    assert "Written in JupyterLab." in after.cells[0].source
    assert after.cells[1].outputs[0].text == "2\n"
    assert "execution" not in after.cells[1].metadata


@pytest.mark.parametrize("edited", ["neither", "text", "notebook"])
def test_the_form_that_was_edited_since_the_commit_wins(project, edited):
    """Whatever the times of the files are, which a merge or a checkout sets."""
    path = project.chapter("c", cell("print(1)"))
    chapters.execute(project.root, path)
    old = path.read_text()
    if edited == "neither":
        path.write_text(old + "Of the text.\n")
    project.commit()
    if edited == "text":
        path.write_text(old + "Of the text.\n")
    notebook = read(project, "c")
    if edited == "notebook":
        notebook.cells[0].source += "\n\nOf the notebook."
        stored(project, "c").write_text(nbformat.writes(notebook) + "\n")
    loser = path if edited == "notebook" else stored(project, "c")
    save(path, path.read_text(), later=-100)
    save(stored(project, "c"), stored(project, "c").read_text(), later=-100)
    save(loser, loser.read_text(), later=-50)
    assert chapters.synchronise(project.root) == ["c"]
    kept = "Of the notebook." if edited == "notebook" else "Of the text."
    assert kept in path.read_text()
    assert any(kept in c.source for c in read(project, "c").cells)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(1)", "print(1)  # !"),
        ("remove-input", "remove-cell"),
        ("# c", "# d"),
        (cell("print(1)", "remove-input"), ""),
        (cell("print(1)", "remove-input"), 2 * cell("print(1)", "remove-input")),
    ],
)
def test_what_is_out_of_step(project, old, new):
    path = project.chapter("c", cell("print(1)", "remove-input"))
    chapters.execute(project.root, path)
    assert chapters.out_of_step(project.root) == []
    path.write_text(path.read_text().replace(old, new))
    (problem,) = chapters.out_of_step(project.root)
    assert problem.startswith("book/chapters/c.md: its notebook has other cells")


def test_a_notebook_without_text_is_named(project):
    path = project.chapter("c", cell("print(1)"))
    chapters.execute(project.root, path)
    path.unlink()
    name = "book/notebooks/c.ipynb"
    problem = f"{name}: has no text: jupytext --sync {name}"
    assert chapters.out_of_step(project.root) == [problem]


def test_cells_that_changed_are_executed(project):
    path = project.chapter("c", cell("print(1)"), cell("print(2)"))
    chapters.execute(project.root, path)
    save(path, path.read_text().replace("print(1)", "print(7)"))
    chapters.synchronise(project.root)
    (problem,) = chapters.out_of_step(project.root)
    assert problem.endswith("not executed: make store CHAPTER=c")
    assert chapters.main([], jobs=1) == 0
    assert chapters.out_of_step(project.root) == []


def test_only_chapters_whose_sources_changed_are_executed(project, capsys):
    project.write("data/a.txt", "a")
    project.write("module_of_a.py", "value = 1\n")
    opened = "import sys; sys.path.insert(0, '../..'); import module_of_a\n"
    project.chapter("one", cell(opened + "print(open('../../data/a.txt').read())"))
    project.chapter("two", cell("print(2)"))
    assert chapters.main([], jobs=1) == 0

    def executed():
        capsys.readouterr()
        assert chapters.main([], jobs=1) == 0
        return capsys.readouterr().out.split(",")[0]

    assert executed() == "0 chapters executed"
    project.write("data/a.txt", "b")
    assert executed() == "1 chapters executed"
    assert read(project, "one").cells[1].outputs[0].text == "b\n"
    assert executed() == "0 chapters executed"
    project.write("module_of_a.py", "value = 22\n")
    assert executed() == "1 chapters executed"
    project.write("requirements.lock", "other\n")
    assert executed() == "2 chapters executed"
    # outputs that somebody has edited
    path = stored(project, "two")
    path.write_text(path.read_text().replace("2\\n", "3\\n"))
    assert executed() == "1 chapters executed"
    assert read(project, "two").cells[1].outputs[0].text == "2\n"
