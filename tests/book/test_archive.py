"""Notebooks of the archive run in an empty folder with the wheel that lies there."""

import json
import shutil
import zipfile
from contextlib import contextmanager

import nbformat
import pytest
from nbclient import NotebookClient

from compendium.book.archive import FOLDER, write_archive
from tests.wheel import PROJECT, environment


def unpack(made, folder):
    """The archive, unpacked; the one folder that it holds."""
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in (PROJECT / "book" / "notebooks").glob("*.ipynb")
    }
    archive = write_archive(PROJECT, made, texts)
    with zipfile.ZipFile(archive) as packed:
        modes = {entry.external_attr >> 16 for entry in packed.infolist()}
    assert modes == {0o644}  # others can read what one of them unpacks
    shutil.unpack_archive(archive, folder)
    (folder,) = folder.iterdir()  # one folder, and nothing beside it
    assert folder.name == FOLDER
    return folder


@contextmanager
def kernel_of(made, python):
    """While it lasts, the kernel "reader" is that of another Python."""
    spec = made / "kernels" / "reader" / "kernel.json"
    spec.parent.mkdir(parents=True)
    command = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": command, "display_name": "reader", "language": "python"}
    spec.write_text(json.dumps(about))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(made))
        patch.delenv("PYTHONPATH", raising=False)
        patch.delenv("MEMDLIB_PROJECT", raising=False)
        yield


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The archive, unpacked, and beside it an environment with its wheel."""
    made = tmp_path_factory.mktemp("made")
    folder = unpack(made, tmp_path_factory.mktemp("unpacked"))
    (wheel,) = folder.glob("*.whl")
    python = environment(made, wheel, ("notebooks",), also=("ipykernel",))
    with kernel_of(made, python):
        yield folder


def shown(notebook):
    """What its figures plot, and its tables and captions, in their order."""
    return [
        output.data.get("text/markdown", output.data.get("text/plain"))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if {"text/markdown", "image/png", "text/html"} & {*output.get("data", ())}
    ]


def check_notebook(folder, name):
    """Executed there, a notebook shows what it is stored with; this."""
    stored = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    executed = nbformat.from_dict(stored)
    client = NotebookClient(executed, kernel_name="reader", timeout=600)
    client.execute(cwd=str(folder))
    assert shown(executed) == shown(stored)
    return shown(stored)


def test_the_archive_has_nothing_of_the_compendium(unpacked):
    folders = {path.name for path in unpacked.iterdir() if path.is_dir()}
    assert folders == {"data", "LICENSES"}
    assert (unpacked / "data" / "tables" / "runs.csv").is_file()


@pytest.mark.parametrize("name", ["what-failed", "found-in-the-data", "rankings"])
def test_a_notebook_draws_its_own_figures_and_tables(unpacked, name):
    assert check_notebook(unpacked, name)
