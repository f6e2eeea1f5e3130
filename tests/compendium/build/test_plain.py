import json

import nbformat
import pytest

from compendium.build import render
from compendium.build.notebooks import KERNEL
from compendium.build.readable import FIGURE

CONFIG = """title: Tiny
author: nobody
only_build_toc_files: true
exclude_patterns: [".*", "_build"]
execute: {execute_notebooks: "off"}
bibtex_bibfiles: [book/references.bib]
sphinx:
  extra_extensions:
    - sphinx_proof
    - sphinx_exercise
    - sphinx.ext.autodoc
    - compendium.build.sphinx_ext
    - compendium.build.plain
  config:
    nb_ipywidgets_js: {}
    suppress_warnings: [mystnb.unknown_mime_type]
    nb_render_markdown_format: myst
    bibtex_reference_style: author_year
    prf_realtyp_to_countertyp: {definition: theorem}
    myst_enable_extensions: [colon_fence, dollarmath]
"""
TOC = """format: jb-book
root: book/index
parts:
  - caption: One
    numbered: true
    chapters:
      - file: book/notebooks/c
"""
CITATION = """title: Tiny
version: 1.2.3
date-released: 2026-01-02
authors: [{name: Nobody}]
"""
PINS = "".join(
    f"{name}==1.0\n"
    for name in ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib", "mpmath")
)
TEXT = """(there)=
# There

Squares are positive {cite:p}`smith2000`, see {prf:ref}`thm-a`
and {eq}`eq-a`; a_b costs 5 \\$, 1 < 2.

:::{prf:theorem} Squares | bars
:label: thm-a
For all $x$

$$
x^2 &\\ge 0 \\\\
 &= |x|^2
$$ (eq-a)
:::

:::{prf:proof}
Obvious.
:::

:::{note}
Think.
:::

1. One.
2. Two, with `code`.

| a | b |
| :--- | ---: |
| $\\|x\\|$ | 1 |

1. Is it so?

   - (a) yes
   - (b) no

   :::{dropdown} Answer
   (b), since $x > 0$.
   :::

:::{exercise}
:label: ex-a
Why?
:::
"""
START = "# Start\n\nSee {ref}`there`.\n\n```{bibliography}\n```\n"
BIB = """@article{smith2000, author = {Smith, Ann}, title = {Squares}, year = {2000},
journal = {J}}
"""
ABOUT = {"name": "f", "caption": "Rises.", "alt": "A line"}
DOTS = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)


def code(source, *outputs, tags=(), **metadata):
    made = nbformat.v4.new_code_cell(source, outputs=list(outputs))
    made.metadata = nbformat.from_dict({"tags": list(tags), **metadata})
    return made


def figure(name="f"):
    data = {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'/>"}
    data |= {"image/png": DOTS, "text/plain": "x\n1\n", FIGURE: ABOUT | {"name": name}}
    size = {"image/png": {"width": 5, "height": 4}}
    return nbformat.v4.new_output("display_data", data=data, metadata=size)


def page(text, **others):
    data = {"text/html": text} | others
    return nbformat.v4.new_output("display_data", data=data)


def shown(name):
    return {"figure": {"name": name, "caption": "Rises."}, "image": {"alt": "A line"}}


CELLS = [
    nbformat.v4.new_markdown_cell(TEXT),
    code("import math\nfrom compendium.build.display import number, show"),
    code("used = math.pi", tags=["remove-cell"]),
    code("unused = 1", tags=["remove-cell"]),
    code(
        "print(number(used, 2))",
        nbformat.v4.new_output("stream", name="stdout", text="3.14\n"),
    ),
    code(
        "import mpmath\nshow(used, 'f')",
        figure(),
        tags=["hide-input"],
        mystnb=shown("f"),
    ),
    code(
        "from compendium import secret\nsecret.tell()",
        figure("g"),
        tags=["remove-input"],
        mystnb=shown("g"),
    ),
    code(
        "table = secret.table()",
        nbformat.v4.new_output("display_data", data={"text/markdown": "| p |\n|---|"}),
        nbformat.v4.new_output("stream", name="stdout", text="told\n"),
    ),
    code(
        "secret.cards()",
        page("<p>Card</p>", **{"text/markdown": "- **In a list**"}),
        page("<p>Filter</p>", **{"text/markdown": ""}),
        page("<table></table>", **{"text/plain": "   a\n0  7"}),
        tags=["remove-input"],
    ),
]
for place, one in enumerate(CELLS):
    one.id = f"cell-{place}"


@pytest.fixture
def book(project):
    project.write("_config.yml", CONFIG)
    project.write("_toc.yml", TOC)
    project.write("book/index.md", START)
    project.write("book/references.bib", BIB)
    project.write("book/api.md", "# Reference\n")
    project.write("CITATION.cff", CITATION)
    project.write("requirements.lock", PINS)
    project.write("pyproject.toml", '[project]\nrequires-python = ">=3.11"\n')
    about = {"source": "book/c.md", "digest": "0"}
    metadata = {"kernelspec": KERNEL, "memdlib": about}
    notebook = nbformat.v4.new_notebook(cells=CELLS, metadata=metadata)
    project.write("book/notebooks/c.ipynb", nbformat.writes(notebook))
    return project


def rendered(book):
    target = book.root / "_build" / "html"
    render.render(book.root, target)
    return target


def test_a_page_gives_a_plain_notebook(book):
    target = rendered(book)
    page = (target / "book/notebooks/c.html").read_text()
    assert 'href="c.ipynb"' in page and "mybinder" not in page
    assert "github.com" not in page.split("<article", 1)[1]
    notebook = nbformat.read(target / "book/notebooks/c.ipynb", as_version=4)
    nbformat.validate(notebook)
    text = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert notebook.cells[0].source.startswith("*From the book* **Tiny**.")
    assert (
        "the file `memdlib-1.2.3-py3-none-any.whl`, which" in notebook.cells[0].source
    )
    assert "Python 3.11 or later" in text and "numpy 1.0" in text
    assert "# 1. There" in text
    assert "[Smith, 2000], see Theorem 1.1 and (1.1); a_b costs 5 \\$, 1 \\< 2." in text
    assert "> **Theorem 1.1** (Squares | bars).\n>\n> For all $x$" in text
    assert (
        "> $$ \\begin{aligned} x^2 &\\ge 0 \\\\  &= |x|^2 \\end{aligned} \\tag{1.1} $$"
        in text
    )
    assert "*Proof.* Obvious.\n\n∎" in text
    assert "> **Note.**\n>\n> Think." in text
    assert "1. One.\n2. Two, with `code`." in text
    assert "- (b) no\n\n   <details><summary>Answer</summary>\n\n   (b), since" in text
    assert "| a | b |\n| :--- | ---: |\n| $\\vert x\\vert $ | 1 |" in text
    assert "**Exercise 1.1**.\n\nWhy?" in text
    assert "**Fig. 1.1.** Rises." in text
    assert "## Cited works\n\n- Ann Smith. Squares." in text
    assert "{" not in text.replace("\\begin{aligned}", "").replace(
        "\\end{aligned}", ""
    ).replace("\\tag{1.1}", "")
    check_code(notebook, text)


def check_code(notebook, text):
    """Code stays that runs without the book."""
    first, given, *cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert first.source.endswith(
        '\ninstall_missing(["memdlib", "mpmath"], "memdlib-1.2.3-py3-none-any.whl")'
    )
    exec(compile(first.source, "cell", "exec"), {})  # all is here: it does nothing
    assert given.source.startswith("def number(")
    assert [c.source for c in cells] == [
        "import math",
        "used = math.pi",
        "print(number(used, 2))",
        "import mpmath",
    ]
    assert cells[2].outputs[0].text == "3.14\n"
    (drawn,) = cells[3].outputs
    assert sorted(drawn.data) == ["image/png", "text/plain"]
    assert drawn.metadata == {"image/png": {"width": 5, "height": 4}}
    assert f"data:image/png;base64,{DOTS}" in text and "![A line][g]" in text
    assert "```python\ntable = secret.table()\n```" in text
    assert "secret.tell" not in text and "```\ntold\n```" in text
    assert "| p |\n| :--- |" in text
    assert "- **In a list**\n\n```\n   a\n0  7\n```" in text
    assert "<p>" not in text and "<table>" not in text


def test_with_an_address_pages_lead_to_the_repository(book):
    book.write("CITATION.cff", CITATION + "repository-code: https://github.com/a/b\n")
    target = rendered(book)
    page = (target / "book/notebooks/c.html").read_text()
    for link in (
        "https://mybinder.org/v2/gh/a/b/HEAD?urlpath=lab/tree/book/notebooks/c.ipynb",
        "https://colab.research.google.com/github/a/b/blob/gh-pages/book/notebooks/c.ipynb",
        "https://github.com/a/b/blob/HEAD/book/c.md",
        "https://github.com/a/b/issues/new?title=Page%20book%2Fnotebooks%2Fc",
    ):
        assert f'href="{link}"' in page
    start = (target / "book/index.html").read_text()
    assert "mybinder" not in start and "/blob/HEAD/book/index.md" in start
    notebook = json.loads((target / "book/notebooks/c.ipynb").read_text())
    about, first = ("".join(cell["source"]) for cell in notebook["cells"][:2])
    assert "from its repository." in about
    assert '"memdlib[notebooks] @ git+https://github.com/a/b")' in first


def test_what_has_no_plain_form_stops_the_build(book):
    path = book.root / "book/notebooks/c.ipynb"
    path.write_text(
        path.read_text().replace("There\\n", "There\\n\\nTerm\\n: What\\n", 1)
    )
    book.write("_config.yml", CONFIG.replace("[colon_fence", "[deflist, colon_fence"))
    with pytest.raises(render.RenderError, match="cannot show <definition_list>"):
        rendered(book)
