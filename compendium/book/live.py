"""The archive of notebooks as a site that runs them in the browser (JupyterLite).

The site is made of files alone: any web server can serve it. Python for the browser,
and with it NumPy, SciPy and scikit-learn, comes from the address of Pyodide, or from a
copy of Pyodide that is put into the site.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL, PYODIDE_MJS

from compendium.book.archive import FOLDER as UNPACKED
from compendium.book.archive import NAME
from compendium.project import root

FOLDER = "live"  # of the site, below the pages of the book
CHAPTERS = "chapters"  # the folder that a reader finds there
INSTALL = (
    "# Load Python's scientific packages into the browser, and memdlib with them.\n"
    "%pip install -q memdlib[plot]"
)
README = f"""# The chapters, to run in the browser

Open a notebook of the folder `{CHAPTERS}` and run its cells, the first one first: it
installs memdlib. Until you run a cell you see its output in the book, so that you can
compare. What you change is kept in your browser alone.

"""
FROM_OUTSIDE = f"""Python and packages such as NumPy come from one other address,
<{PYODIDE_CDN_URL}/>; all else is on this site.
"""
FROM_HERE = "All that it needs, Python included, is on this site.\n"
# Of JupyterLab's extensions: Python in the browser, and statements in the notebooks.
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "jupyterlab-myst")
SETTINGS = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "Maximum Entropy, Maximum Discrimination",
        "appUrl": "./tree",
        # what is installed comes from this site, or with Pyodide
        "litePluginSettings": {
            "@jupyterlite/pyodide-kernel-extension:kernel": {
                "disablePyPIFallback": True
            }
        },
    },
}


def address(name: str) -> str:
    """Where a notebook can be run, as seen from the folder of the pages.

    Examples
    --------
    >>> address("memd")
    'live/notebooks/index.html?path=chapters/memd.ipynb'
    """
    return f"{FOLDER}/notebooks/index.html?path={CHAPTERS}/{name}.ipynb"


def is_built(html: Path) -> bool:
    """Whether the site is there, below the folder of the pages."""
    return (html / FOLDER / "notebooks" / "index.html").is_file()


def with_installation(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook whose first code cell installs memdlib in the browser."""
    kinds = [cell.cell_type for cell in notebook.cells]
    cell = nbformat.v4.new_code_cell(INSTALL, id="install-memdlib")
    result = notebook.copy()
    result.cells = [*notebook.cells]
    result.cells.insert(kinds.index("code"), cell)
    return result


def write_contents(archive: Path, folder: Path, pyodide: Path | None) -> None:
    """Write what JupyterLite makes a site of: files, wheel and settings.

    Parameters
    ----------
    archive : Path
        As :func:`compendium.book.archive.write_archive` writes it.
    folder : Path
        An empty one.
    pyodide : Path or None
        A folder with a release of Pyodide, to be part of the site.
    """
    chapters = folder / "files" / CHAPTERS
    shutil.unpack_archive(archive, folder / "files")
    (folder / "files" / UNPACKED).rename(chapters)
    (folder / "pypi").mkdir()
    for wheel in chapters.glob("*.whl"):
        shutil.move(wheel, folder / "pypi")
    for path in chapters.glob("*.ipynb"):
        nbformat.write(with_installation(nbformat.read(path, as_version=4)), path)
    (chapters / "README.md").unlink()  # of the archive: how to install on a computer
    readme = README + (FROM_HERE if pyodide else FROM_OUTSIDE)
    (folder / "files" / "README.md").write_text(readme, encoding="utf-8")
    (folder / "jupyter-lite.json").write_text(json.dumps(SETTINGS))
    if pyodide:
        (folder / "static").mkdir()
        (folder / "static" / "pyodide").symlink_to(pyodide.resolve())


def run_jupyterlite(folder: Path, site: Path) -> None:
    """Make a site of a folder, without a network.

    Raises
    ------
    RuntimeError
        If JupyterLite fails; says what it said.
    """
    extensions = Path(sys.prefix, "share", "jupyter", "labextensions")
    build = {
        "apps": ["tree", "notebooks", "edit"],
        "contents": ["files"],
        "federated_extensions": [str(extensions / name) for name in EXTENSIONS],
        "ignore_sys_prefix": ["federated_extensions"],  # but for those
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(site),
    }
    settings = folder / "jupyter_lite_config.json"
    settings.write_text(json.dumps({"LiteBuildConfig": build}))
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"JupyterLite built no site:\n{done.stdout}{done.stderr}")


def main(pyodide: str | None = None) -> int:
    """Build the site below ``_build/html``; say how large it is and how long it took.

    Parameters
    ----------
    pyodide : str, optional
        A folder with a release of Pyodide. Without it readers' browsers ask for Pyodide
        at its own address.
    """
    html = root() / "_build" / "html"
    if not (html / NAME).is_file():
        print(f"error: there is no {html / NAME}; call 'make html' first")
        return 1
    if pyodide and not Path(pyodide, PYODIDE_MJS).is_file():
        print(
            f"error: there is no {PYODIDE_MJS} in {pyodide}; "
            "PYODIDE names the folder 'pyodide' of an unpacked release of Pyodide"
        )
        return 1
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        folder = Path(scratch, "contents")
        site = Path(scratch, "site")
        folder.mkdir()
        write_contents(html / NAME, folder, Path(pyodide) if pyodide else None)
        run_jupyterlite(folder, site)
        shutil.rmtree(html / FOLDER, ignore_errors=True)
        shutil.move(site, html / FOLDER)
    files = [path for path in (html / FOLDER).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    took = time.monotonic() - start
    print(f"{html / FOLDER}: {size / 1e6:.0f} MB in {len(files)} files, {took:.0f} s")
    print(f"Browsers load it from a server, such as python -m http.server -d {html}")
    return 0
