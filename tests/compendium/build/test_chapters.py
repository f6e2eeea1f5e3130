from compendium.build import chapters
from tests.compendium.conftest import cell

# Kernels know the package itself, not that of the tiny project.
UNCALLED = "def f():\n    from memdlib.core import VALUE\n    return VALUE\n"


def stored(project, name):
    return project.root / "book" / "notebooks" / f"{name}.ipynb"


def test_chapters_from_source_to_stored_notebook(project, capsys, request):
    project.write("memdlib/core.py", "VALUE = 1\n")
    project.chapter("good", cell("print('fine')"))
    project.chapter("bad", cell("1 / 0"))
    project.write("book/plain.md", "# No code\n")
    assert [p.name for p in chapters.sources(project.root)] == ["bad.md", "good.md"]

    assert chapters.main(everything=False, jobs=2) == 1
    said = capsys.readouterr().out
    assert "1 of 2 chapters executed." in said
    assert "book/bad.md: code cell 1 failed with ZeroDivisionError" in said
    assert not stored(project, "bad").exists()
    first = stored(project, "good").read_bytes()
    assert chapters.stale(project.root) == [project.root / "book" / "bad.md"]

    request.getfixturevalue("in_process")
    project.chapter("bad", cell("print('mended')"))
    assert chapters.main(everything=True, jobs=2) == 0
    said = capsys.readouterr().out
    assert "book/bad.md: differs from the stored notebook" in said
    assert "book/good.md" not in said
    assert stored(project, "good").read_bytes() == first
    assert chapters.main(everything=True, jobs=2) == 0
    assert "Every output equals the stored one." in capsys.readouterr().out

    # a failure leaves the last good notebook as it was
    project.chapter("good", cell("import os; os._exit(1)"))
    assert chapters.main(everything=False) == 1
    assert "the kernel died" in capsys.readouterr().out
    assert stored(project, "good").read_bytes() == first


def test_a_chapter_that_is_not_python_does_not_stop_the_others(
    project, capsys, in_process
):
    project.chapter("magic", cell("%timeit 1"))
    project.chapter("plain", cell("print(1)"))
    assert chapters.main(everything=False) == 1
    said = capsys.readouterr().out
    assert "1 of 2 chapters executed." in said
    assert "book/magic.md: not Python" in said and "'%timeit 1'" in said
    assert chapters.stale(project.root) == [project.root / "book" / "magic.md"]


def test_what_makes_a_chapter_stale(project, in_process):
    project.write("memdlib/core.py", "VALUE = 1\nOTHER = 1\n")
    path = project.chapter("c", cell(UNCALLED, "remove-input"))
    assert chapters.main(everything=True) == 0

    def fresh():
        return chapters.stale(project.root) == []

    assert fresh()
    for name, text, expected in [
        ("memdlib/core.py", "VALUE = 2\nOTHER = 1\n", False),
        ("memdlib/core.py", "VALUE = 1\nOTHER = 2\n", True),
        ("requirements.lock", "numpy==9\n", False),
        ("data/claims.toml", "[a]\n", False),
        ("data/published/table.csv", "row,a,b\nx,99.40,\n", False),
        ("book/c.md", path.read_text() + "More.\n", False),
        ("book/c.md", path.read_text().replace("f():", "f():  # !"), False),
        ("book/c.md", path.read_text().replace("remove-input", "remove-cell"), False),
        ("book/c.md", path.read_text() + "\n" + cell("1"), False),
    ]:
        file = project.root / name
        before = file.read_text() if file.exists() else None
        project.write(name, text)
        assert fresh() is expected, name
        if before is None:
            file.unlink()
        else:
            file.write_text(before)
        assert fresh(), name


def test_a_chapter_whose_definitions_move_is_as_fresh_as_its_text(project, in_process):
    project.write("memdlib/core.py", "from memdlib.inner import VALUE\n")
    project.write("memdlib/inner.py", "VALUE = 1\n")
    project.chapter("c", cell(UNCALLED))
    assert chapters.main(everything=True) == 0
    before = stored(project, "c").read_bytes()
    (project.root / "memdlib/inner.py").rename(project.root / "memdlib/core.py")
    assert chapters.stale(project.root) == []
    project.write("memdlib/room.py", "VALUE = 1\n")
    project.chapter("c", cell(UNCALLED.replace("core", "room")))
    assert len(chapters.stale(project.root)) == 1
    assert chapters.main(everything=False) == 0
    assert stored(project, "c").read_bytes() == before.replace(b"core", b"room")


FIGURE = """import matplotlib.pyplot as plt
import pandas as pd
from compendium.build.display import show
figure, axis = plt.subplots()
axis.plot([0, 1], [0, {height}])
alt = "A straight line that rises from the lower left corner to the right."
show(figure, "line", caption="A line.", alt=alt, data=pd.DataFrame({{"x": {x}}}))
"""


def test_stored_outputs_are_verified_by_execution(project, in_process, capsys):
    for name in ("other", "same"):
        project.chapter(name, cell("print(6 * 7)"))
    assert chapters.main(everything=True) == 0
    assert chapters.verify(jobs=1) == 0
    path = stored(project, "other")
    changed = path.read_text().replace("42", "43")
    path.write_text(changed)
    capsys.readouterr()
    assert chapters.verify(jobs=1) == 1
    said = capsys.readouterr().out
    assert "1 of 2 chapters equal what is stored." in said
    assert "book/other.md: differs from the stored notebook" in said
    assert "book/same.md" not in said
    assert path.read_text() == changed


def test_a_figure_is_verified_by_its_data_whatever_the_processor_draws(
    project, in_process
):
    project.chapter("c", cell(FIGURE.format(height=1, x=[0.5])))
    assert chapters.main(everything=True) == 0
    path = stored(project, "c")
    text = path.read_text()
    drawn = text.replace("<path", "<path data-other='1'", 1)
    assert drawn != text
    path.write_text(drawn)
    assert chapters.verify(jobs=1) == 0
    path.write_text(text.replace("0.5", "0.25"))
    assert chapters.verify(jobs=1) == 1
