from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from compendium.book import sphinx_ext
from compendium.book.sphinx_ext import ListDirective, copy_packaged, link_statements
from compendium.book.statements import Statement


def test_formulas_and_fonts_come_from_installed_packages(tmp_path):
    copy_packaged(tmp_path)
    assert (tmp_path / "mathjax" / "tex-svg.js").stat().st_size > 100_000
    faces = list((tmp_path / "fonts").glob("*.ttf"))
    licences = list((tmp_path / "fonts").glob("*-LICENSE.txt"))
    assert (len(faces), len(licences)) == (7, 2)
    for licence in licences:
        assert "Open Font License" in licence.read_text(errors="replace")


@pytest.fixture
def statements(tmp_path, monkeypatch):
    made = [
        Statement(label, f"Title of {label}", tmp_path / "one.md", True, ("m.kl",))
        for label in ("thm-a", "thm-b")
    ]
    monkeypatch.setattr(sphinx_ext, "_read", lambda project: made)
    return made


@pytest.mark.usefixtures("statements")
def test_a_docstring_ends_with_the_statements_that_it_embodies():
    lines, untouched = ["Doc."], ["Doc."]
    link_statements(None, "function", "m.kl", None, None, lines)
    assert lines[0] == "Doc." and ".. rubric:: In the book" in lines
    assert ":prf:ref:`thm-a`, :prf:ref:`thm-b`." in lines
    link_statements(None, "function", "m.x", None, None, untouched)
    assert untouched == ["Doc."]


def listed(name, *arguments, page=""):
    """The lines that a directive parses."""
    parsed = []

    def parse(lines, offset, holder):
        parsed.extend(lines)
        holder += nodes.paragraph("", "parsed")

    document = new_document("x", get_default_settings())
    document.settings.env = SimpleNamespace(docname=page)
    state = SimpleNamespace(nested_parse=parse, document=document)
    machine = SimpleNamespace(reporter=None)
    made = ListDirective(name, [*arguments], {}, [], 1, 0, "", state, machine)
    (shown,) = made.run()
    assert shown.astext() == "parsed" and shown["classes"] == [name]
    return parsed


@pytest.mark.usefixtures("statements")
def test_the_lists_name_every_statement_and_what_is_checked():
    lines = listed("statements")
    assert lines[0].startswith("0 of 2 statements are")
    assert sum("thm-" in line for line in lines) == 2
    assert listed("proofs", "statements")[0] == lines[0]
    assert listed("proofs", "axioms")


def test_records_are_listed_from_their_results(project, monkeypatch):
    monkeypatch.setattr(sphinx_ext, "root", lambda: project.root)
    runs = '[r]\ntitle = "Lab record: a run"\nnotebook = "r.md"\n'
    project.write("book/experiments/runs.toml", runs)
    below = "sections: [{file: book/records/r}]"
    chapters = f"chapters: [{{file: book/lab-records/k, {below}}}]"
    project.write("_toc.yml", f"format: jb-book\nroot: index\n{chapters}\n")
    project.write("data/results/r.json", '{"seconds": 3}')
    lines = listed("records", page="book/lab-records/k")
    assert lines[-1] == "| {doc}`a run </book/records/r>` | `r` | 3 s |"
