"""Every gate is shown open on a clean example and closed on a planted fault."""

import nbformat
import pytest

from compendium.build.gates import (
    lint_environment,
    lint_notebook,
    lint_site,
    lint_source,
    lint_toc,
)

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
        "![what is seen](picture.svg)",
        "See section 3 and the year 1999.",
        "Python 3.11.7 is no better than chance, different from random guessing.",
        "```{figure} a.png\n:alt: what is seen\n\nA caption.\n```",
        ":::{image} a.png\n:width: 3\n:alt: what is seen\n:::",
        "```{code-cell}\nrng = np.random.RandomState(3); SVC(random_state=0)\n```",
    ],
)
def test_clean_sources_pass(text):
    assert lint_source("x.md", text) == []


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("It reaches 97.3.", "x.md:19: the number '97.3' is typed into the prose"),
        ("It reaches 97 % of them.", "'7 %' is typed into the prose"),
        ("It reaches 9 per cent.", "'9 per cent' is typed"),
        ("![](picture.svg)", "without alternative text"),
        ("```{image} a.png\n:width: 3\n```", "without alternative text"),
        ("```{figure} a.png\n:alt:\n\nA caption.\n```", "without alternative text"),
        (":::{figure} a.png\nA caption.\n:::", "without alternative text"),
        (
            ":::{image} a.png\n:::\n\n:::{image} b.png\n:alt: seen\n:::",
            "x.md:19: an image without alternative text",
        ),
        ("```{image} https://example.org/a.png\n:alt: a\n```", "external asset"),
        ("<iframe src='https://example.org'></iframe>", "external asset"),
        ("<img src='https://example.org/a.png' alt='a'>", "external asset"),
        ("```{raw} html\n@import 'https://example.org/a.css'\n```", "external asset"),
        ("```{raw} html\na { background: url(https://e.org) }\n```", "external asset"),
        ("![seen](https://example.org/a.png)", "external asset"),
        ("<script src='x.js'></script>", "external asset"),
        ("```{code-cell}\npd.read_csv('https://example.org/a')\n```", "external asset"),
        ("```{code-cell}\nrng = default_rng()\n```", "without an explicit seed"),
        ("```{code-cell}\nSVC(random_state=None)\n```", "without an explicit seed"),
        ("```{code-cell}\nimport random\n```", "without an explicit seed"),
        ("```{code-cell}\nnp.random.seed(3)\n```", "without an explicit seed"),
        ("```{code-cell}\nnp.random.normal(size=3)\n```", "without an explicit seed"),
        ("```{code-cell}\nplt.show()\n```", "does not go through memdlib's show()"),
        ("```{code-cell}\nfig.savefig('a.png')\n```", "does not go through memdlib"),
        ("```{code-cell}\n%matplotlib inline\n```", "does not go through memdlib"),
    ],
)
def test_faulty_sources_are_caught(fault, message):
    (problem,) = lint_source("x.md", CLEAN + "\n" + fault + "\n")
    assert message in problem


def notebook(*outputs_of_cells, counts=None):
    made = nbformat.v4.new_notebook()
    for number, outputs in enumerate(outputs_of_cells, start=1):
        cell = nbformat.v4.new_code_cell("x", outputs=list(outputs))
        cell.execution_count = counts[number - 1] if counts else number
        made.cells.append(cell)
    return made


def text(name="stdout"):
    return nbformat.v4.new_output("stream", name=name, text="1\n")


def error():
    return nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[])


def figure(*kinds):
    data = {f"image/{kind}": "x" for kind in kinds} | {"text/plain": "figure"}
    return nbformat.v4.new_output("display_data", data)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (notebook([text()], [text()], [text()], counts=[1, 3, 4]), "execution count 3"),
        (notebook([text()], [text()], [text()], counts=[None] * 3), "count None"),
        (notebook([text()], [text(), text()], [error()]), "cell 3 has an error or std"),
        (
            notebook([text("stderr")], [text()], [text()]),
            "cell 1 has an error or stderr",
        ),
        (notebook([text()], [text()], []), "2 outputs to compare, at least 3"),
        (notebook(), "0 outputs to compare"),
    ],
)
def test_faulty_notebooks_are_caught(made, message):
    assert any(message in problem for problem in lint_notebook("n", made))


def test_a_clean_notebook_passes():
    outputs = [text(), figure("png")]
    assert lint_notebook("n", notebook([text()], [], outputs)) == []


def test_pages_and_contents_agree(project):
    assert lint_toc(project.root, {"book/notebooks/index"}) == []
    problems = lint_toc(project.root, {"book/notebooks/index", "book/new"})
    assert problems == ["_toc.yml does not list book/new"]
    assert "does not exist" in lint_toc(project.root, set())[0]


def test_a_pattern_of_the_table_of_contents_stands_for_its_pages(project):
    toc = "root: book/index\nsections: [{glob: book/r/a-*}, {glob: book/made/*}"
    pages = {"book/index", "book/r/a-1", "book/r/a-2"}
    project.write("_toc.yml", toc + "]")
    assert lint_toc(project.root, pages) == []
    problems = lint_toc(project.root, pages | {"book/r/b"})
    assert problems == ["_toc.yml does not list book/r/b"]
    project.write("_toc.yml", toc + ", {file: book/r/a-2}]")
    assert lint_toc(project.root, pages) == ["_toc.yml lists book/r/a-2 twice"]


PYPROJECT = """
[project]
name = "memdlib"
requires-python = ">=3.11"
dependencies = ["numpy>=1", "scipy<3"]
[project.optional-dependencies]
plot = ["matplotlib<2"]
notebooks = ["memdlib[plot]", "pandas>=1", "tqdm"]
arrow = ["pyarrow"]
[dependency-groups]
book = ["tqdm"]
foreign = ["claims"]
all = [{ include-group = "book" }]
"""
LOCK = "".join(
    f"{name}==1.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
    for name in ("matplotlib", "numpy", "pandas", "scipy", "tqdm")
)
CONDA = """channels: [conda-forge, nodefaults]
dependencies: [python=3.11, pip, {pip: ["-e .[notebooks]", matplotlib==1.0,
  numpy==1.0, pandas==1.0, scipy==1.0, tqdm==1.0]}]
"""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("environment.yml", CONDA.replace("scipy==1.0", "scipy==1.1"), "differs from"),
        ("requirements.lock", LOCK + "# https://example.org\n", "names a URL"),
        ("requirements.lock", LOCK.replace("tqdm", "wheel"), "differs from"),
        (
            "requirements.lock",
            LOCK.replace(" \\\n    --hash=sha256:00 \\\n    --hash=sha256:11", "", 1),
            "the lock has matplotlib without a hash",
        ),
        ("environment.yml", CONDA.replace("[notebooks]", ""), "differs from"),
        ("environment.yml", CONDA.replace("nodefaults", "defaults"), "channels must"),
        ("environment.yml", CONDA.replace("pip, {", "numpy=2, {"), "differs from"),
        ("environment.yml", CONDA.replace("3.11", "3.10"), "outside requires-python"),
    ],
)
def test_environments_must_agree(project, name, text, message):
    project.write("pyproject.toml", PYPROJECT)
    project.write("requirements.lock", LOCK)
    project.write("environment.yml", CONDA)
    assert lint_environment(project.root) == []
    project.write(name, text)
    assert any(message in problem for problem in lint_environment(project.root))


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
        ("<script src='//cdn.example/x.js'></script>", "external asset"),
        ("<link rel='stylesheet' href='https://cdn.example/x.css'>", "external asset"),
        ("<img src='https://example.org/a.png' alt='a'>", "external asset"),
        ("<a href='lost.html'>x</a>", "dead link lost.html"),
        ("<a href='folder/lost/'>x</a>", "dead link folder/lost/"),
        ("<a href='../outside.html'>x</a>", "dead link ../outside.html"),
        ("<a href='/index.html'>x</a>", "dead link /index.html"),
        ("<script src='lost.js'></script>", "dead link lost.js"),
        ("<a href='#lost'>x</a>", "dead anchor #lost"),
        ("<a href='other.html#lost'>x</a>", "dead anchor other.html#lost"),
        ("<img src='a.svg'>", "without alternative text"),
        ("<img src='a.svg' alt=' '>", "without alternative text"),
    ],
)
def test_faulty_pages_are_caught(tmp_path, body, message):
    pages = tmp_path / "pages"
    site(pages, body)
    (tmp_path / "outside.html").touch()
    (problem,) = lint_site(pages)
    assert message in problem


def test_stylesheets_and_templates_of_the_theme(tmp_path):
    site(tmp_path, "")
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "macros.html").write_text("<a href='{{ lost }}'>x</a>")
    assert lint_site(tmp_path) == []
    sheet = tmp_path / "_static" / "x.css"
    sheet.write_text("a { background: url(data:image/svg+xml,http://www.w3.org) }")
    assert lint_site(tmp_path) == []
    for text in (
        "a { background: url(https://x.org/a) }",
        "a { background: url('//x.org/a') }",
        "@import 'http://x.org/a.css';",
    ):
        sheet.write_text(text)
        assert lint_site(tmp_path) == ["_static/x.css: external asset in a stylesheet"]


def site(folder, body):
    (folder / "folder").mkdir(parents=True, exist_ok=True)
    (folder / "folder" / "index.html").write_text(PAGE.format(""))
    (folder / "index.html").write_text(PAGE.format(body))
    (folder / "other.html").write_text(PAGE.format(""))
    for name in ("a.svg", "a.js"):
        (folder / name).write_text("")
