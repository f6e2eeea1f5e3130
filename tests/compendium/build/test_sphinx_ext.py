from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from compendium.build import sphinx_ext
from compendium.build.sphinx_ext import (
    RecordsDirective,
    StatementsDirective,
    copy_packaged,
    link_statements,
    packaged_file,
)
from compendium.build.statements import Statement


def test_a_file_of_a_package_is_found_by_the_end_of_its_path():
    path = packaged_file("sphinx-mathjax-offline", "static/mathjax/tex-svg.js")
    assert path.name == "tex-svg.js" and path.is_file()
    with pytest.raises(FileNotFoundError, match="pytest brings no file lost.ttf"):
        packaged_file("pytest", "lost.ttf")


def app(folder, name="html"):
    return SimpleNamespace(outdir=folder, builder=SimpleNamespace(format=name))


def test_formulas_and_fonts_come_from_installed_packages(tmp_path):
    static = tmp_path / "_static"
    static.mkdir()
    copy_packaged(app(tmp_path), None)
    assert (static / "mathjax" / "tex-svg.js").stat().st_size > 100_000
    fonts = sorted(path.name for path in (static / "fonts").iterdir())
    faces = [name for name in fonts if name.endswith(".ttf")]
    assert len(faces) == 7 and set(fonts) - set(faces) == {
        "font-source-sans-pro-LICENSE.txt",
        "font-source-serif-pro-LICENSE.txt",
    }
    for licence in (static / "fonts").glob("*.txt"):
        assert "Open Font License" in licence.read_text(errors="replace")


@pytest.fixture
def statements(tmp_path, monkeypatch):
    made = [
        Statement(
            label=label,
            kind="theorem",
            title=f"Title of {label}",
            source=tmp_path / "one.md",
            proved=True,
            functions=("memdlib.divergences.kl",),
        )
        for label in ("thm-a", "thm-b")
    ]
    monkeypatch.setattr(sphinx_ext, "read_statements", lambda project: made)
    return made


@pytest.mark.usefixtures("statements")
def test_a_docstring_ends_with_the_statements_that_it_embodies():
    lines = ["Doc."]
    link_statements(None, "function", "memdlib.divergences.kl", None, None, lines)
    assert lines[0] == "Doc." and ".. rubric:: In the book" in lines
    assert ":prf:ref:`thm-a`, :prf:ref:`thm-b`." in lines
    untouched = ["Doc."]
    link_statements(None, "function", "memdlib.divergences.x", None, None, untouched)
    assert untouched == ["Doc."]


def run_directive(kind, page=""):
    """The lines that a directive parses, and the files that it follows."""
    followed, parsed = [], []

    def parse(lines, offset, holder):
        parsed.extend(lines)
        holder += nodes.paragraph("", "parsed")

    env = SimpleNamespace(note_dependency=followed.append, docname=page)
    document = new_document("x", get_default_settings())
    document.settings.env = env
    state = SimpleNamespace(nested_parse=parse, document=document)
    machine = SimpleNamespace(reporter=None)
    (shown,) = kind("name", [], {}, [], 1, 0, "", state, machine).run()
    assert shown.astext() == "parsed"
    return parsed, followed


def test_the_index_lists_every_statement_and_follows_its_sources(statements):
    parsed, followed = run_directive(StatementsDirective)
    assert followed == [str(statements[0].source)]
    assert parsed[0].startswith("0 of 2 statements are")
    assert sum("thm-" in line for line in parsed) == 2


def test_records_are_listed_from_their_results(project, monkeypatch):
    monkeypatch.setattr(sphinx_ext, "root", lambda: project.root)
    runs = '[r]\ntitle = "Lab record: a run"\nnotebook = "r.md"\n'
    project.write("book/experiments/runs.toml", runs)
    below = "sections: [{file: book/records/r}]"
    project.write("_toc.yml", f"sections: [{{file: book/kinds/k, {below}}}]")
    project.write("data/results/r.json", '{"seconds": 3}')
    parsed, _ = run_directive(RecordsDirective, "book/kinds/k")
    assert parsed[-1] == "| {doc}`a run </book/records/r>` | `r` | 3 s |"
