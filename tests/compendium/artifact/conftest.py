"""A tiny project that is built and can be released."""

import json
from pathlib import Path

import nbformat
import pytest

from compendium.book.manifest import write_manifest
from compendium.execution.notebooks import FIGURE
from tests.compendium.conftest import HEADER, cell

ROOT = Path(__file__).parents[3]
RUN = '[r]\ntitle = "Lab record: R"\nnotebook = "e.md"\n'
CLAIMS = """
[seen]
group = "G"
source = "dukkipati2013"
locator = "p. 1"
statement = "It is large"
evidence = [{ run = "r", key = "a.b", label = "as it is" }]
tolerance = { at_least = 1 }
why = "large"

[unseen]
group = "G"
source = "dukkipati2013"
locator = "p. 2"
statement = "It is small"
beyond = "there is no small one"
why = "small"
"""
FOLDS = "method,repeat,right_0,of_0,right_1,of_1\nm,0,1,2,1,2\nm,1,2,2,1,2\n"
PROVENANCE = {
    "commit": "0" * 40,
    "dirty": False,
    "data": {"iris": "0" * 64},
    "parameters": {"size": 2},
    "packages": {"python": "3.11"},
    "machine": {"processor": "P", "cores": 2, "system": "S"},
    "seconds": 1,
    "mib": None,
}


TOP = (
    "README.md",
    "LICENSE",
    "LICENSES/CC-BY-4.0.txt",
    "CITATION.cff",
    "pyproject.toml",
    "book/references.bib",
)


@pytest.fixture
def built(project):
    """The tiny project with everything that a release packs, committed."""
    for name in TOP:
        project.write(name, (ROOT / name).read_text())
    project.write(".gitignore", "/_build/\n")
    project.write("data/claims.toml", CLAIMS)
    project.write("book/experiments/runs.toml", RUN)
    project.write("book/experiments/e.md", HEADER + cell("1"))
    values = {"a": {"b": 2.5}, "m": {"accuracy": {"mean": 62.5}, "correct": [2, 3]}}
    project.write("data/results/r.json", json.dumps({"values": values} | PROVENANCE))
    notebook = nbformat.v4.new_notebook(metadata={"memdlib": {"source": "s"}})
    project.write("book/notebooks/c.ipynb", nbformat.writes(notebook))
    figure = {"text/plain": FOLDS, FIGURE: {"name": "r-accuracy"}}
    shown = [
        nbformat.v4.new_output("display_data", figure),
        nbformat.v4.new_output("display_data", {"text/markdown": "**Figure.** C."}),
    ]
    notebook.cells = [nbformat.v4.new_code_cell("1", outputs=shown)]
    project.write("book/records/r.ipynb", nbformat.writes(notebook))
    project.commit()
    project.write("_build/html/index.html", "<p>Ä page</p>")
    write_manifest(project.root, project.root / "_build/html")
    return project
