"""Every gate is shown open on a clean example and closed on a planted fault."""

import pytest

from compendium.book.gates import (
    lint_cells,
    lint_headings,
    lint_lists,
    lint_site,
    lint_source,
)
from tests.compendium.conftest import cell

CLEAN = """---
title: version 1.25
---
# A chapter

Two classes and 10 folds, see eq. 4; Python `3.11`, $x = 0.5$, {glue:text}`a-1.5`.

$$
y = 2.5 \\, \\text{per cent}
$$

```{code-cell} ipython3
rng = np.random.default_rng([1, 2])
print(f"{0.25:.2f} per cent")
```

[a link 1](https://example.org/1.5%20x)
"""


@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        "Python 3.11.7 is no better than chance, different from random guessing.",
        "```{code-cell}\nrng = np.random.RandomState(3); SVC(random_state=0)\n```",
    ],
)
def test_clean_sources_pass(text):
    assert lint_source("x.md", text) == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("It reaches 97.3.", "x.md:19: '97.3' is a number typed into the prose"),
        ("It reaches 97 % of them.", "'7 %' is a number typed into the prose"),
        (cell("pd.read_csv('https://example.org/a')"), "data from the network"),
        (cell("rng = default_rng()"), "without an explicit seed"),
        (cell("import random"), "without an explicit seed"),
        (cell("np.random.normal(size=3)"), "without an explicit seed"),
        (cell("plt.show()"), "does not go through memdlib's show()"),
        (cell("fig.savefig('a.png')"), "does not go through memdlib's show()"),
    ],
)
def test_faulty_sources_are_caught(fault, message):
    (problem,) = lint_source("x.md", CLEAN + "\n" + fault + "\n")
    assert message in problem


def source_with_cell(tag, n_lines):
    lines = "\n".join(f"x = {n}" for n in range(n_lines))
    return CLEAN + "\n" + cell(lines, tag) + "\n"


@pytest.mark.parametrize(
    "tag", ["hide-input", "hide-cell", "remove-input", "remove-cell"]
)
def test_a_long_hidden_cell_is_caught(tag):
    assert lint_cells("x.md", source_with_cell(tag, 60)) == []
    (problem,) = lint_cells("x.md", source_with_cell(tag, 61))
    assert "x.md: code cell 2, which begins 'x = 0', is hidden and has 61" in problem


@pytest.mark.parametrize("tag", ["hide-output", "scroll-output"])
def test_a_long_cell_whose_code_is_seen_passes(tag):
    assert lint_cells("x.md", source_with_cell(tag, 99)) == []


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("A fourth moment above three (mean 0, variance\n1) has its end.", "x.md:20"),
        ("Of $x$\n+ one more.", "x.md:20"),
        (":::{prf:proof}\n:label: a\n\nMinus $x$\n- one more.\n:::", "x.md:23"),
    ],
)
def test_a_list_that_nobody_meant_is_caught(fault, line):
    assert lint_lists("x.md", CLEAN) == []
    (problem,) = lint_lists("x.md", f"{CLEAN}\n{fault}\n")
    assert problem.startswith(line) and "begins a list inside a paragraph" in problem


@pytest.mark.parametrize(
    "text",
    [
        "Two:\n\n- one\n- two\n  - three\n",
        "1. one\n   - nested\n2. two\n",
        "$$\na\n- b + c\n+ d\n$$\n",
        "variance\n2) does not begin a list\n",
    ],
)
def test_lists_that_are_meant_and_formulas_pass(text):
    assert lint_lists("x.md", text) == []


TABLE = "| a |\n|---|\n| 1 |\n"


@pytest.mark.parametrize(
    "shown", [TABLE, cell("x = 1"), f":::{{table}} A table\n\n{TABLE}:::\n"]
)
def test_a_heading_needs_a_sentence_before_a_cell_or_a_table(shown):
    hidden = cell("x = 1", "remove-cell") + "\n\n" + cell("import numpy")
    head = f"# Title\n\nIt is.\n\n## Part\n\n{hidden}\n\n"
    assert lint_headings("x.md", f"{head}See this.\n\n{shown}\n") == []
    (problem,) = lint_headings("x.md", f"{head}{shown}\n")
    assert problem == "x.md:5: '## Part' needs a sentence"


PAGE = "<html><body><h1 id='top'>T</h1>{}</body></html>"


@pytest.mark.parametrize(
    "body",
    [
        "<a href='#top'>t</a><a href='other.html#top'>o</a><a href='https://x.org'>x</a>",
        "<a href='mailto:a@e.org'>m</a><a href='#'>t</a><a href='folder/'>f</a>",
        "<img src='a.svg' alt='seen'><img src='data:image/png;base64,' alt='seen'>",
        "<link rel='canonical' href='https://e.org/'><script src='a.js'></script>",
    ],
)
def test_clean_pages_pass(tmp_path, body):
    site(tmp_path, body)
    assert lint_site(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<script src='https://cdn.example/x.js'></script>", "external asset"),
        ("<img src='https://example.org/a.png' alt='a'>", "external asset"),
        ("<a href='lost.html'>x</a>", "dead link lost.html"),
        ("<a href='../outside.html'>x</a>", "dead link ../outside.html"),
        ("<script src='lost.js'></script>", "dead link lost.js"),
        ("<a href='#lost'>x</a>", "dead anchor #lost"),
        ("<a href='other.html#lost'>x</a>", "dead anchor other.html#lost"),
        ("<img src='a.svg'>", "without alternative text"),
    ],
)
def test_faulty_pages_are_caught(tmp_path, body, message):
    pages = tmp_path / "pages"
    site(pages, body)
    (tmp_path / "outside.html").touch()
    (problem,) = lint_site(pages)
    assert message in problem


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("a { background: url(data:image/svg+xml,http://www.w3.org) }", 0),
        ("a { background: url('//x.org/a') }", 1),
        ("@import 'http://x.org/a.css';", 1),
    ],
)
def test_stylesheets_and_templates_of_the_theme(tmp_path, text, problems):
    site(tmp_path, "")
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "macros.html").write_text("<a href='{{ lost }}'>x</a>")
    (tmp_path / "_static" / "x.css").write_text(text)
    said = "_static/x.css: external asset in a stylesheet"
    assert lint_site(tmp_path) == [said] * problems


def test_of_what_runs_in_the_browser_only_links_to_it_are_checked(tmp_path):
    """Its pages are JupyterLite's, whose own check is part of making them."""
    site(tmp_path, "<a href='live/notebooks/index.html?path=chapters/a.ipynb'>x</a>")
    said = "index.html: dead link live/notebooks/index.html?path=chapters/a.ipynb"
    assert lint_site(tmp_path) == [said]
    (tmp_path / "live" / "notebooks").mkdir(parents=True)
    (tmp_path / "live" / "notebooks" / "index.html").write_text("<img src='//x.org/a'>")
    (tmp_path / "live" / "x.css").write_text("@import 'http://x.org/a.css';")
    assert lint_site(tmp_path) == []


def site(folder, body):
    (folder / "folder").mkdir(parents=True, exist_ok=True)
    (folder / "folder" / "index.html").write_text(PAGE.format(""))
    (folder / "index.html").write_text(PAGE.format(body))
    (folder / "other.html").write_text(PAGE.format(""))
    for name in ("a.svg", "a.js"):
        (folder / name).write_text("")
