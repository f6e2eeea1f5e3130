import pytest

from compendium.book import check
from compendium.execution import chapters
from tests.compendium.conftest import HEADER, cell

TOC = """format: jb-book
root: book/index
chapters:
  - file: book/notebooks/c
  - file: book/api
"""
HIDDEN = cell("x = 1\n" * 61, "hide-input")
RUN = '[r]\ntitle = "R"\nnotebook = "e.md"\n'


@pytest.fixture
def repository(project):
    """A project on whose sources every gate is open."""
    book = project
    book.write("book/index.md", "# Start\n")
    book.write("book/api.md", "# Reference\n")
    book.write("_toc.yml", TOC + "  - glob: book/records/r*\n")
    book.write("book/experiments/runs.toml", RUN)
    book.write("book/experiments/e.md", HEADER + cell("print(1)"))
    chapters.execute(book.root, book.chapter("c", "A sentence.\n\n" + cell("print(1)")))
    book.write("book/records/r.ipynb", "")
    return book


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("book/experiments/e.md", HEADER + "It is 97.3.\n", "e.md:12: '97.3' is"),
        ("book/experiments/e.md", HEADER + HIDDEN, "code cell 1, which begins 'x = 1'"),
        ("book/api.md", "Mean 0, variance\n1) has.\n", "api.md:2: '1) has.' begins"),
        ("book/chapters/c.md", HEADER + "# C\n\n" + HIDDEN, "'# C' needs a sentence"),
        ("book/plain.md", "# Plain\n", "_toc.yml does not list book/plain"),
        ("book/records/other.ipynb", "", "_toc.yml does not list book/records/other"),
        ("book/experiments/runs.toml", RUN.replace("[r]", "[s]"), "no lab record boo"),
        (
            "book/chapters/c.md",
            HEADER + "Other.\n",
            "c.md: its notebook has other cells",
        ),
    ],
)
def test_every_gate_is_asked(repository, name, text, message):
    assert check.check_sources(repository.root) == []
    repository.write(name, text)
    assert any(message in p for p in check.check_sources(repository.root))


def test_pages_are_asked_for_and_read(repository, capsys):
    assert check.main() == 1
    said = capsys.readouterr().out
    assert said.startswith("1 problems")
    assert "there is no _build/html/index.html: make html" in said
    repository.write("_build/html/index.html", "<a href='lost.html'>there</a>")
    assert check.main() == 1
    assert "index.html: dead link lost.html" in capsys.readouterr().out
    repository.write("_build/html/lost.html", "<p>here</p>")
    assert check.main() == 0
