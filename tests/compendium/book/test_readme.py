import base64

import nbformat
import pytest

from compendium.book import readme
from compendium.execution.notebooks import FIGURE

LEDGER = """
[i]
group = "Identities"
source = "someone2013"
locator = "eq. 1"
statement = "left is right"
evidence = [{ run = "run", key = "error" }]
tolerance = { absolute = 1e-9 }
why = "exact"
"""
MARKS = f"{readme.BEGIN}\n{readme.END}\n"
PICTURE = b"a picture"


def first_page():
    """A stored notebook that shows a figure."""
    data = {
        "image/png": base64.b64encode(PICTURE).decode(),
        FIGURE: {"name": readme.PICTURE},
    }
    picture = nbformat.v4.new_output("display_data", data)
    caption = nbformat.v4.new_output("display_data", {"text/markdown": "C."})
    cell = nbformat.v4.new_code_cell("f()", outputs=[picture, caption])
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))


def test_the_readme_is_generated_and_stays_as_it_is(project, monkeypatch):
    monkeypatch.setattr(readme, "HEADLINES", {"i": "we find an {ours}"})
    project.write("data/claims.toml", LEDGER)
    project.write("book/notebooks/index.ipynb", first_page())
    project.result("run", {"error": 1e-12})
    path = project.write("README.md", f"# Title\n\n{MARKS}End.\n")
    assert readme.main() == 0
    first = path.read_text()
    assert "- *left is right*: **agrees**; we find an error below" in first
    assert first.startswith("# Title\n") and first.endswith("\nEnd.\n")
    assert readme.generated(project.root) == first
    picture = project.root / "book" / f"{readme.PICTURE}.png"
    assert picture.read_bytes() == PICTURE == readme.figure(project.root)
    project.result("run", {"error": 2e-12})
    assert readme.generated(project.root) != first


@pytest.mark.parametrize("text", ["", MARKS * 2, readme.BEGIN])
def test_marks_that_are_not_there_once_are_named(project, text):
    project.write("README.md", text)
    with pytest.raises(ValueError, match="README.md needs the marks <!-- headlines"):
        readme.generated(project.root)
