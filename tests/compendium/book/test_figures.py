"""A picture and its caption become one figure of a page, its data a file beside it."""

import base64
import io
import json
import re
from types import SimpleNamespace

import nbformat
import pytest
from PIL import Image
from sphinx.application import Sphinx

from compendium.book.figures import finish, join_captions
from compendium.execution.notebooks import DARK, FIGURE

PAGE = "book/notebooks/c"


def display(data, **metadata):
    return nbformat.v4.new_output("display_data", data, metadata=metadata)


@pytest.fixture
def app(tmp_path):
    """Sphinx as far as it is asked, a notebook with a figure that moves and a table."""
    about = {"name": "f", "alt": "a line", "least": 450, "moves": {"x": "<"}}
    picture = display({"image/png": "cA==", "text/plain": "x\n1\n", FIGURE: about})
    caption = display({"text/markdown": "**Figure.** It rises."})
    table = display({"text/markdown": "Sizes.\n\n| a |\n"}, table="tab-sizes")
    cells = [nbformat.v4.new_code_cell(str(i), id=f"cell-{i}") for i in range(2)]
    stream = nbformat.v4.new_output("stream", text="1\n")
    cells[0].outputs, cells[1].outputs = [stream, picture, caption], [table]
    cells[1].metadata["tags"] = ["hide-output"]
    cells[1].source = "# Sizes of all sets\nsizes"
    (tmp_path / PAGE).parent.mkdir(parents=True)
    path = tmp_path / f"{PAGE}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    added = []
    return SimpleNamespace(
        added=added,
        outdir=tmp_path / "html",
        env=SimpleNamespace(doc2path=lambda page: str(tmp_path / f"{page}.ipynb")),
        add_css_file=added.append,
        add_js_file=lambda name, loading_method: added.append(name),
    )


def test_captions_and_tables_are_numbered(app):
    content = [(app.outdir.parent / f"{PAGE}.ipynb").read_text()]
    join_captions(app, PAGE, content)
    drawn, table = json.loads(content[0])["cells"]
    stream, picture = drawn["outputs"]
    assert stream["output_type"] == "stream"
    assert picture["metadata"] == {}  # no size but that of the page
    assert set(picture["data"]) == {"image/png", "text/plain"}
    given = drawn["metadata"]["mystnb"]
    assert given["figure"]["name"] == "f"
    assert given["figure"]["caption"].startswith(
        'It rises. <a class="download" href="f'
    )
    assert given["image"]["classes"].endswith(" least-450")
    assert (app.outdir / "book/notebooks/f.csv").read_text() == "x\n1\n"
    text = table["outputs"][0]["data"]["text/markdown"]
    assert text == "```{table} Sizes.\n:name: tab-sizes\n\n| a |\n```\n"
    assert table["metadata"]["mystnb"]["code_prompt_show"] == "Sizes of all sets"


def test_a_page_shows_the_dark_picture_if_there_is_one(app):
    made = io.BytesIO()
    Image.new("RGB", (8, 6)).save(made, "png")
    path = app.outdir.parent / f"{PAGE}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    data = notebook.cells[0].outputs[1].data
    data[DARK] = base64.b64encode(made.getvalue()).decode()
    nbformat.write(notebook, path)
    content = [path.read_text()]
    join_captions(app, PAGE, content)
    drawn = json.loads(content[0])["cells"][0]
    assert set(drawn["outputs"][1]["data"]) == {"image/png", "text/plain"}
    classes = drawn["metadata"]["mystnb"]["image"]["classes"]
    assert classes.split()[-1] == "only-light"
    dark = app.outdir / "book/notebooks/f-dark.png"
    assert dark.read_bytes() == made.getvalue()
    image = f'<img alt="a line" class="{classes}" src="a.png"/>'
    context = {"body": f'<figure id="f">\n{image}\n<figcaption>'}
    finish(app, PAGE, "page.html", context, object())
    light = '<img loading="lazy" width="8" height="6" ' + image.removeprefix("<img ")
    dark = light.replace("only-light", "only-dark").replace("a.png", "f-dark.png")
    assert f"{light}{dark}</span>" in context["body"]


def test_a_figure_may_scroll_and_has_its_script(app):
    image = '<img alt="a line" class="memdlib-figure least-450" src="a.png"/>'
    context = {"body": image}
    finish(app, PAGE, "page.html", context, object())
    boxed = f'<span class="scrolls" style="--least: 450px">{image}</span>'
    assert context["body"].startswith(boxed)
    assert context["body"].endswith('id="f-moves">{"x":"\\u003c"}</script>')
    assert app.added == ["explain.css", "explain.js", "explain/f.js"]


FIGURES = """# Page

:::{figure} a.png
:name: first-of-NAME

One.
:::

:::{figure} a.png
:name: second-of-NAME

Two, after {numref}`first-of-two` and {numref}`second-of-NAME`.
:::
"""


def build(folder):
    """Build a small book; the pages that were written."""
    config = {
        "extensions": ["myst_parser", "compendium.book.figures"],
        "myst_enable_extensions": ["colon_fence"],
        "numfig": True,
    }
    folders = [str(folder / name) for name in ("out", "doctrees")]
    app = Sphinx(str(folder), None, *folders, "html", config, status=None, warning=None)
    written = set()
    app.connect("doctree-resolved", lambda app, doctree, page: written.add(page))
    app.build()
    return written


def test_numbers_start_anew_on_pages_without_a_number(tmp_path):
    Image.new("RGB", (8, 6)).save(tmp_path / "a.png")
    for name in ("one", "two", "three"):
        text = FIGURES.replace("NAME", name)
        (tmp_path / f"{name}.md").write_text(text)
    trees = [["", "one\ntwo"], [":numbered:\n", "three"]]
    listed = [f"```{{toctree}}\n{option}\n{pages}\n```\n" for option, pages in trees]
    (tmp_path / "index.md").write_text("\n".join(["# Book", *listed]))
    assert build(tmp_path) == {"index", "one", "two", "three"}
    for name, numbers in (("one", "12"), ("two", "12"), ("three", ["1.1", "1.2"])):
        text = re.sub("<[^>]*>", "", (tmp_path / "out" / f"{name}.html").read_text())
        one, two = numbers
        assert f"Fig. {one} One." in text
        assert f"Fig. {two} Two, after Fig. 1 and Fig. {two}." in text
    (tmp_path / "one.md").write_text(FIGURES.replace("NAME", "one") + "More.\n")
    assert build(tmp_path) == {"index", "one"}  # the others are as they were
