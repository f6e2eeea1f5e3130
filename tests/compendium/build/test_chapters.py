import nbformat

from compendium.build import chapters

from ..conftest import cell


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


def test_what_makes_a_chapter_stale(project):
    project.write("memdlib/core.py", "VALUE = 1\n")
    path = project.chapter("c", cell("from memdlib.core import VALUE"))
    about = {"digest": chapters.chapter_digest(project.root, path)}
    notebook = nbformat.v4.new_notebook(metadata={"memdlib": about})
    project.write("book/notebooks/c.ipynb", nbformat.writes(notebook))

    def fresh():
        return chapters.stale(project.root) == []

    assert fresh()
    for name, text in [
        ("memdlib/core.py", "VALUE = 2\n"),
        ("requirements.lock", "numpy==9\n"),
        ("data/claims.toml", "[a]\n"),
        ("book/c.md", path.read_text() + "More.\n"),
    ]:
        file = project.root / name
        before = file.read_text() if file.exists() else None
        project.write(name, text)
        assert not fresh(), name
        if before is None:
            file.unlink()
        else:
            file.write_text(before)
        assert fresh(), name
