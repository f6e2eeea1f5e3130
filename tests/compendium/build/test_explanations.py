import json
from types import SimpleNamespace

import pytest

from compendium.build.explanations import add_scripts, moving_figures, setup
from compendium.build.readable import FIGURE
from compendium.project import root


def notebook(**about):
    still = {
        "output_type": "display_data",
        "data": {FIGURE: {"name": "a"}},
    }
    moving = {"data": {FIGURE: {"name": "b", **about}}}
    return {"cells": [{}, {"outputs": [still, {"text": "x"}]}, {"outputs": [moving]}]}


class Page:
    """What Sphinx knows of a page, and what is added to it."""

    def __init__(self, path):
        self.added, self.context = [], {"body": "<p>Text</p>"}
        self.env = SimpleNamespace(doc2path=lambda name: path)

    def add_css_file(self, name):
        self.added.append(name)

    def add_js_file(self, name, loading_method):
        self.added.append(f"{name} {loading_method}")

    def made(self, doctree=()):
        add_scripts(self, "book/a", "page.html", self.context, doctree)
        return self.context["body"]


def test_moving_figures_are_found():
    assert moving_figures(notebook()) == {}
    assert moving_figures(notebook(moves={"m": 1})) == {"b": {"m": 1}}


def test_a_page_gets_scripts_and_the_state(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(moves={"m": 0.5, "says": "a < b"})))
    page = Page(path)
    body = page.made()
    assert page.added == ["explain.css", "explain.js defer", "explain/b.js defer"]
    tag, text = body.removeprefix("<p>Text</p>").split(">", 1)
    assert tag == '<script type="application/json" id="b-moves"'
    text = text.removesuffix("</script>")
    assert "<" not in text and json.loads(text) == {"m": 0.5, "says": "a < b"}


def test_other_pages_get_nothing(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook()))
    for page, doctree in (
        (Page(path), ()),
        (Page(path), None),
        (Page(tmp_path / "glossary.md"), ()),
    ):
        assert page.made(doctree) == "<p>Text</p>" and page.added == []


def test_the_extension_is_registered():
    events = []
    setup(SimpleNamespace(connect=lambda event, call: events.append(event)))
    assert events == ["html-page-context"]


@pytest.mark.parametrize(
    "path", sorted((root() / "book/_static/explain").glob("*.js")), ids=lambda p: p.stem
)
def test_every_script_belongs_to_a_figure_that_moves(path):
    chapters = [p.read_text() for p in sorted((root() / "book").rglob("*.md"))]
    (text,) = [text for text in chapters if f'"{path.stem}"' in text]
    assert "moves=" in text.split(f'"{path.stem}"')[1].split("```")[0]
