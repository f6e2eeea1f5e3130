import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from compendium.book.sphinx_ext import ListDirective, copy_packaged, link_statements

ROOT = Path(__file__).parents[3]


def files_in(folder):
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
    }


def test_every_font_and_script_that_a_page_asks_for_is_there(tmp_path):
    copy_packaged(tmp_path)
    copied, ours = files_in(tmp_path), ROOT / "book" / "_static"
    given = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]
    scripts = {name for name, _ in given["html_js_files"]} | {given["mathjax_path"]}
    fonts = set()
    for sheet in ours.glob("*.css"):
        fonts |= set(re.findall(r"url\(([^\"':)]+)\)", sheet.read_text()))
    assert fonts and scripts
    asked = fonts | scripts | set(given["html_css_files"])
    assert asked <= copied | files_in(ours)
    # nothing else is copied but the licences of the fonts
    for name in copied - asked:
        assert name.startswith("fonts/") and name.endswith("-LICENSE.txt")
        text = (tmp_path / name).read_text(errors="replace")
        assert "Open Font License" in text


STATEMENT = """
:::{{prf:theorem}} Title of {label}
:label: {label}

Says.
:::

:::{{prf:proof}}
Because.
:::

*In code:* {{py:func}}`memdlib.divergences.kl`.
"""


@pytest.fixture
def statements(project):
    """A book of two statements."""
    project.write("_toc.yml", "- file: book/notebooks/one\n")
    text = "".join(STATEMENT.format(label=label) for label in ("thm-a", "thm-b"))
    project.write("book/chapters/one.md", text)


@pytest.mark.usefixtures("statements")
def test_a_docstring_ends_with_the_statements_that_it_embodies():
    lines, untouched = ["Doc."], ["Doc."]
    link_statements(None, "function", "memdlib.divergences.kl", None, None, lines)
    assert lines[0] == "Doc." and ".. rubric:: In the book" in lines
    assert ":prf:ref:`thm-a`, :prf:ref:`thm-b`." in lines
    link_statements(None, "function", "memdlib.divergences.js", None, None, untouched)
    assert untouched == ["Doc."]


def listed(name, *arguments, page=""):
    """The lines that a directive parses."""
    parsed = []

    def parse(lines, offset, holder):
        parsed.extend(lines)
        holder += nodes.paragraph("", "parsed")

    document = new_document("x", get_default_settings())
    reread = []
    document.settings.env = SimpleNamespace(
        docname=page, note_reread=lambda: reread.append(page)
    )
    state = SimpleNamespace(nested_parse=parse, document=document)
    machine = SimpleNamespace(reporter=None)
    made = ListDirective(name, [*arguments], {}, [], 1, 0, "", state, machine)
    (shown,) = made.run()
    assert shown.astext() == "parsed" and shown["classes"] == [name]
    assert reread == [page]  # what it lists may change without its page
    return parsed


@pytest.mark.usefixtures("statements")
def test_the_lists_name_every_statement_and_what_is_checked():
    lines = listed("statements")
    assert lines[0].startswith("0 of 2 statements are")
    assert sum("thm-" in line for line in lines) == 2
    assert listed("proofs", "statements")[0] == lines[0]
    assert listed("proofs", "axioms")


def test_records_are_listed_from_their_results(project):
    runs = '[r]\ntitle = "Lab record: a run"\nnotebook = "r.md"\n'
    project.write("book/experiments/runs.toml", runs)
    below = "sections: [{file: book/records/r}]"
    chapters = f"chapters: [{{file: book/lab-records/k, {below}}}]"
    project.write("_toc.yml", f"format: jb-book\nroot: index\n{chapters}\n")
    project.write("data/results/r.json", '{"seconds": 3}')
    lines = listed("records", page="book/lab-records/k")
    assert lines[-1] == "| {doc}`a run </book/records/r>` | `r` | 3 s |"
