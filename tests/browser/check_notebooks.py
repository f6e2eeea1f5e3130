"""Plain notebooks of the built book in a JupyterLab that trusts and knows nothing.

Run by ``make test-browser``. The server starts on the loopback with settings of its
own: no user's, no extension beyond JupyterLab's.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from compendium.build.verdicts import listed
from compendium.ledger.claims import read_claims
from compendium.project import root
from tests.browser.conftest import SITE

CHAPTERS = ("theory/from-js-to-gm", "theory/maximum-entropy", "nml/codes-and-regret")
RAW = re.compile(r"\{[a-z]+(:[a-z]+)?\}`|:::|\{prf:|\{glue|```\{")
PLAIN = sorted((SITE / "book").rglob("*.ipynb"))


def read(name):
    path = SITE / "book" / "notebooks" / f"{name}.ipynb"
    if not path.is_file():
        pytest.fail(f"there is no {path}: run 'make book' first", pytrace=False)
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a JupyterLab over three plain notebooks."""
    home = tmp_path_factory.mktemp("lab")
    for name in CHAPTERS:
        nbformat.write(read(name), home / f"{Path(name).name}.ipynb")
    disabled = {"disabledExtensions": {"jupyterlab-myst": True}}
    tracker = "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    for name, settings in (
        ("config/labconfig/page_config.json", disabled),
        (tracker, {"windowingMode": "none"}),  # else only what is in view is drawn
    ):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--notebook-dir={home}",
    ]
    command += ["--IdentityProvider.token=", "--LabApp.news_url=None"]
    base = f"http://127.0.0.1:{port}"
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{base}/api/status", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        else:
            pytest.fail((home / "log").read_text()[-2000:], pytrace=False)
        yield base
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.parametrize("path", PLAIN or [SITE], ids=lambda path: path.stem)
def test_a_plain_notebook_holds_no_role_and_no_directive(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"(?ms)^```.*?^```|data:image\S+", "", cell.source)
            assert RAW.findall(prose) == []
        else:
            assert "compendium" not in cell.source
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert not codes or "\ninstall_missing([" in codes[0]


def test_the_plain_page_of_claims_lists_them_all():
    text = "\n".join(cell.source for cell in read("claims").cells)
    for one in read_claims(root()):
        assert f"\n{listed([one])}\n" in f"{text}\n"


@pytest.mark.parametrize("name", CHAPTERS)
def test_an_untrusted_notebook_shows_pictures_and_plain_text(lab, browser, name):
    notebook = read(name)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    pictures += json.dumps(notebook.cells).count("data:image/png;base64")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{lab}/lab/tree/{Path(name).name}.ipynb?reset")
    page.wait_for_function(
        """n => {
            const found = [...document.querySelectorAll(".jp-Notebook img[src]")];
            const shown = found.filter(image => image.naturalWidth > 100);
            return shown.length === n && found.length === n;
        }""",
        arg=pictures,
        timeout=60_000,
    )
    page.wait_for_selector(
        ".jp-Notebook .jp-RenderedMarkdown mjx-container", timeout=60_000
    )
    assert pictures > 0
    text = page.evaluate(
        """() => [...document.querySelectorAll(".jp-Notebook .jp-RenderedMarkdown")]
            .map(e => e.innerText).join("\\n")"""
    )
    assert page.locator("mjx-merror").count() == 0
    context.close()
    assert RAW.findall(text) == []
    assert "\\begin{" not in text and "$$" not in text
    assert re.search(r"(Theorem|Proposition) \d+\.\d+ \(", text)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_plain_notebook_runs_without_the_book(tmp_path, name):
    """With memdlib and its extras: the book's own package cannot be imported."""
    notebook = read(name)
    hidden = "import sys\nsys.modules['compendium'] = None"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(hidden))
    NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
