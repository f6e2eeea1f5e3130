"""Every chapter opened and run in JupyterLab, without a screen, from a fresh clone."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import nbformat
from playwright.sync_api import Page

from compendium.build import chromium
from compendium.build.chapters import notebook_path, sources
from compendium.build.notebooks import (
    code_cells,
    differences,
    kernel_environment,
    normalise,
)

PATIENCE = 300_000  # for a page to open, ms


@contextmanager
def lab(clone: Path, scratch: Path) -> Iterator[str]:
    """A JupyterLab over a clone, on the loopback, with settings of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | kernel_environment(scratch / "ipython")
    environment |= {"MEMDLIB_PROJECT": str(clone), "PYTHONPATH": str(clone)}
    for name in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{name}_DIR"] = str(scratch / name.lower())
    for name in ("SETTINGS", "WORKSPACES"):
        environment[f"JUPYTERLAB_{name}_DIR"] = str(scratch / name.lower())
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", f"--notebook-dir={clone}", "--LabApp.news_url=None"]
    command += ["--expose-app-in-browser"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
    base, log = f"http://127.0.0.1:{port}", scratch / "log"
    with log.open("w") as stream:
        server = subprocess.Popen(
            command, env=environment, stdout=stream, stderr=stream
        )
        try:
            _wait(base, server, log)
            yield base
        finally:
            server.terminate()
            server.wait(60)


def _wait(base: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(f"{base}/api/status", timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


# Runs all cells of the open notebook, saves it and ends its kernel; what JupyterLab's
# own menus do.
_RUN = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await app.commands.execute("notebook:run-all-cells");
  await app.commands.execute("docmanager:save");
  await panel.sessionContext.shutdown();
}"""
_OPENED = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady"


def run(page: Page, base: str, clone: Path, path: Path) -> list[str]:
    """Open a notebook, run all its cells, save it; say what differs from before.

    Parameters
    ----------
    page : Page
        Of the browser.
    base : str
        Address of JupyterLab.
    clone, path : Path
        The checkout that it shows, and a stored notebook in it.

    Returns
    -------
    list of str
        Cells that did not run, failed or came out differently.
    """
    before = nbformat.read(path, as_version=4)
    page.goto(f"{base}/lab/tree/{path.relative_to(clone)}?reset")
    page.wait_for_function(_OPENED, timeout=PATIENCE)
    page.evaluate(_RUN)
    after = nbformat.read(path, as_version=4)
    cells = [cell for cell in code_cells(after) if cell.source.strip()]
    found = [
        f"code cell {place}: {output.ename}"
        for place, cell in enumerate(cells)
        for output in cell.outputs
        if output.output_type == "error"
    ]
    found += ["cells did not run"] * any(not cell.execution_count for cell in cells)
    return found + differences(before, normalise(after, before.metadata.memdlib))


def measure(project: Path, names: Sequence[str] = ()) -> dict:
    """Run chapters, all by default, in a JupyterLab over a fresh clone.

    Parameters
    ----------
    project : Path
    names : sequence of str
        Notebooks below ``book/notebooks``; all chapters if there are none.
    """
    found = {}
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        scratch = Path(folder)
        clone = scratch / "clone"
        command = ["git", "clone", "-q", str(project), str(clone)]
        subprocess.run(command, check=True)
        paths = [notebook_path(clone, source) for source in sources(clone)]
        with lab(clone, scratch) as base, chromium.launched() as browser:
            for path in paths:
                name = str(path.relative_to(clone / "book" / "notebooks"))
                if not names or name in names:
                    page = browser.new_page()
                    found[name] = run(page, base, clone, path)
                    print(f"{name}: {found[name] or 'equal'}", flush=True)
                    page.close()
    return {
        "notebooks": len(found),
        "differing": {name: lines for name, lines in found.items() if lines},
        "jupyterlab": version("jupyterlab"),
    }
