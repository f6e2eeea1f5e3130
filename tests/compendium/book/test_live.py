import json
import zipfile

import nbformat
import pytest
from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from compendium.book import live
from compendium.book.archive import FOLDER as UNPACKED
from compendium.book.archive import NAME
from tests.wheel import build


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def html(tmp_path, wheel, monkeypatch):
    """The folder of the pages of a project, with an archive of one notebook."""
    monkeypatch.setattr(live, "root", lambda: tmp_path)
    folder = tmp_path / "_build" / "html"
    folder.mkdir(parents=True)
    cells = [new_markdown_cell("# A title"), new_code_cell("1 + 1")]
    with zipfile.ZipFile(folder / NAME, "w") as archive:
        archive.write(wheel, f"{UNPACKED}/{wheel.name}")
        archive.writestr(
            f"{UNPACKED}/memd.ipynb", nbformat.writes(new_notebook(cells=cells))
        )
        archive.writestr(f"{UNPACKED}/helpers.py", "x = 1\n")
        archive.writestr(f"{UNPACKED}/data/tables/a.csv", "x\n1\n")
        archive.writestr(f"{UNPACKED}/README.md", "pip install")
    return folder


def test_the_site_holds_the_archive_and_asks_pyodide_for_python(html, wheel, capsys):
    (html / live.FOLDER).mkdir()
    (html / live.FOLDER / "old.html").touch()
    assert live.main() == 0
    site = html / live.FOLDER
    assert f"{site}: " in capsys.readouterr().out
    assert live.is_built(html) and not (site / "old.html").exists()
    chapters = site / "files" / live.CHAPTERS
    assert (chapters / "helpers.py").read_text() == "x = 1\n"
    assert (chapters / "data" / "tables" / "a.csv").is_file()
    assert not (chapters / "README.md").exists()
    assert PYODIDE_CDN_URL in (site / "files" / "README.md").read_text()
    index = json.loads((site / "pypi" / "all.json").read_text())
    (release,) = index["memdlib"]["releases"].values()
    assert release[0]["filename"] == wheel.name
    title, added, first = nbformat.read(chapters / "memd.ipynb", as_version=4).cells
    assert title.source == "# A title" and first.source == "1 + 1"
    assert added.source == live.INSTALL
    settings = json.loads((site / "jupyter-lite.json").read_text())
    (kernel,) = settings["jupyter-config-data"]["litePluginSettings"].values()
    assert kernel["disablePyPIFallback"] and "pyodideUrl" not in kernel


def test_a_folder_of_pyodide_becomes_part_of_the_site(html, tmp_path):
    pyodide = tmp_path / "pyodide"
    pyodide.mkdir()
    for name in ("pyodide.mjs", "pyodide-lock.json", "numpy.whl"):
        (pyodide / name).touch()
    assert live.main(str(pyodide)) == 0
    site = html / live.FOLDER
    settings = json.loads((site / "jupyter-lite.json").read_text())
    (kernel,) = settings["jupyter-config-data"]["litePluginSettings"].values()
    assert kernel["pyodideUrl"] == "./static/pyodide/pyodide.mjs"
    assert {path.name for path in (site / "static" / "pyodide").iterdir()} == {
        path.name for path in pyodide.iterdir()
    }
    assert not (site / "static" / "pyodide").is_symlink()
    assert PYODIDE_CDN_URL not in (site / "files" / "README.md").read_text()


def test_what_is_lacking_is_said_and_nothing_is_lost(html, tmp_path, capsys):
    (html / live.FOLDER).mkdir()
    assert live.main(str(tmp_path)) == 1
    assert f"no pyodide.mjs in {tmp_path}; PYODIDE names" in capsys.readouterr().out
    (html / NAME).unlink()
    assert live.main() == 1
    assert "call 'make html' first" in capsys.readouterr().out
    assert (html / live.FOLDER).is_dir()


def test_a_build_that_fails_says_what_was_said(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)built no site:\n.*/files'"):
        live.run_jupyterlite(tmp_path, tmp_path / "site")
