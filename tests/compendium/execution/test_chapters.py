from compendium.execution import chapters
from tests.compendium.conftest import cell


def stored(project, name):
    return project.root / "book" / "notebooks" / f"{name}.ipynb"


def test_chapters_from_source_to_stored_notebook(project, capsys):
    project.chapter("good", cell("print('fine')"))
    project.chapter("bad", cell("1 / 0"))
    project.write("book/plain.md", "# No code\n")
    names = [str(p.relative_to(project.root)) for p in chapters.sources(project.root)]
    assert names == ["book/chapters/bad.md", "book/chapters/good.md"]

    assert chapters.main([], jobs=1) == 1
    said = capsys.readouterr().out
    assert "1 chapters stored, 1 changed:\ngood" in said
    assert "book/chapters/bad.md: code cell 1 failed with ZeroDivisionError" in said
    assert not stored(project, "bad").exists()
    assert chapters.out_of_step(project.root) == ["book/chapters/bad.md: is not stored"]
    first = stored(project, "good").read_bytes()

    project.chapter("bad", cell("print('mended')"))
    assert chapters.main(["book/chapters/bad.md", "good"], jobs=1) == 0
    assert "2 chapters stored, 1 changed:\nbad" in capsys.readouterr().out
    assert stored(project, "good").read_bytes() == first
    assert chapters.out_of_step(project.root) == []

    # a failure leaves the last good notebook as it was
    project.chapter("good", cell("import os; os._exit(1)"))
    assert chapters.main(["good"], jobs=1) == 1
    assert "Kernel died" in capsys.readouterr().out
    assert stored(project, "good").read_bytes() == first


def test_an_unknown_chapter_is_named(project, capsys):
    project.chapter("one", cell("1"))
    assert chapters.main(["two"]) == 2
    said = capsys.readouterr().out
    assert said == "no chapter 'two'; the chapters are one\n"


def test_what_is_out_of_step(project):
    path = project.chapter("c", cell("print(1)", "remove-input"))
    chapters.store_chapter(project.root, path)
    sound = path.read_text()
    for text in (
        sound + "More.\n",
        sound.replace("print(1)", "print(1)  # !"),
        sound.replace("remove-input", "remove-cell"),
        sound + "\n" + cell("1"),
        sound.replace(cell("print(1)", "remove-input"), ""),
    ):
        path.write_text(text)
        (problem,) = chapters.out_of_step(project.root)
        assert problem == "book/chapters/c.md: its notebook has other code or prose"
    path.write_text(sound)
    assert chapters.out_of_step(project.root) == []
    path.unlink()
    assert chapters.out_of_step(project.root) == [
        "book/notebooks/c.ipynb: has no source"
    ]
