"""Notebooks: MyST source in, executed and normalised notebook out.

What is committed is an execution on a fresh kernel with everything removed that depends
on the time or the machine. The book renders these stored outputs, and nbval compares
them with a new execution, so that what is read is what was compared.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from compendium.execution.reads import recorded
from compendium.project import root, write_whole

CELL_TIMEOUT = 7200
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
LANGUAGE = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
READS = "reads"  # file in the folder of a kernel, with what it reads
# Without what a slow machine would be told while matplotlib looks at its fonts.
_SETTINGS = """c.Application.log_level = 40
c.InteractiveShellApp.exec_lines = [
    "__import__('logging').getLogger('matplotlib.font_manager').setLevel(40)",
    "from compendium.execution.reads import record",
    "record({log!r}, {project!r}); del record",
]
"""
_SINGLE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class NotebookError(RuntimeError):
    """A notebook did not run to its end; the message says where and why."""


def kernel_environment(folder: Path) -> dict[str, str]:
    """Environment in which kernels give the same outputs everywhere.

    One BLAS thread (the last digits depend on it), this environment's kernel, no user
    profile and no fonts but matplotlib's own, whatever the machine has or remembers;
    ``folder`` keeps the empty profile, the list of fonts and what kernels read. Kernels
    of experiments run in scratch folders and find the checkout by ``MEMDLIB_PROJECT``.
    """
    settings = folder / "profile_default" / "ipython_kernel_config.py"
    helpers = str(root() / "book" / "notebooks")
    inherited = os.environ.get("PYTHONPATH")
    path = [helpers, inherited] if inherited else [helpers]
    known = {"log": str(folder / READS), "project": str(root())}
    write_whole(settings, _SETTINGS.format_map(known))
    return dict.fromkeys(_SINGLE_THREAD, "1") | {
        "IPYTHONDIR": str(folder),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(path),
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(folder),
        "MPL_IGNORE_SYSTEM_FONTS": "1",
        "MEMDLIB_PROJECT": str(root()),
    }


def read_source(path: Path) -> NotebookNode:
    """Read a MyST notebook."""
    return jupytext.read(path, fmt="md:myst")


def is_notebook(path: Path) -> bool:
    """Whether a MyST file asks for a kernel (the others are plain pages)."""
    return bool(
        re.match(r"---\n(?:.*\n)*?kernelspec:", path.read_text(encoding="utf-8"))
    )


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Cells of a notebook that hold code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def execute(
    notebook: NotebookNode, label: str, cwd: Path
) -> tuple[NotebookNode, list[str]]:
    """Run a notebook on a fresh kernel.

    Parameters
    ----------
    notebook : NotebookNode
        Gets the outputs.
    label : str
        How messages name it.
    cwd : Path
        Working folder of the kernel.

    Returns
    -------
    notebook : NotebookNode
        The same, not yet normalised.
    read : list of str
        Files of the checkout that it has read.

    Raises
    ------
    NotebookError
        If a cell fails, writes to stderr or takes too long, or if the kernel dies.
    """
    client = NotebookClient(
        notebook,
        kernel_name=KERNEL["name"],
        record_timing=False,
        shutdown_kernel="immediate",  # a graceful one complains of interrupts
        timeout=CELL_TIMEOUT,
    )
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        environment = os.environ | kernel_environment(Path(scratch))
        try:
            with client.setup_kernel(cwd=str(cwd), env=environment):
                for index, cell in enumerate(notebook.cells):
                    client.execute_cell(cell, index)
        except CellExecutionError as error:
            trace = _ANSI.sub("", "\n".join(cell.outputs[-1].traceback)).splitlines()
            raise NotebookError(
                f"{label}: code cell {cell.execution_count} failed with "
                f"{error.ename}: {error.evalue}\n  " + "\n  ".join(trace[-12:])
            ) from None
        except (DeadKernelError, CellTimeoutError) as error:
            raise NotebookError(f"{label}: {str(error).splitlines()[0]}") from None
        read = recorded(Path(scratch, READS), root())
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.get("name") == "stderr":
                raise NotebookError(
                    f"{label}: code cell {cell.execution_count} wrote to stderr "
                    f"(warnings count as errors):\n  {output.text.strip()}"
                )
    return notebook, read


def normalise(notebook: NotebookNode, source: str) -> NotebookNode:
    """Remove what depends on time or machine.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.
    source : str
        Its path in the checkout, for the metadata.

    Returns
    -------
    NotebookNode
        Cell ids by position, no times, no metadata but tags. What a page hides or folds
        is folded in JupyterLab too.
    """
    about = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    about["memdlib"] = {"source": source}
    result = nbformat.v4.new_notebook(metadata=about)
    for number, cell in enumerate(notebook.cells):
        cell = nbformat.from_dict(cell)
        cell.id = f"cell-{number:03d}"
        tags = _tags(cell)
        metadata = {"tags": tags} if tags else {}
        if any(tag.startswith(("hide-", "remove-")) for tag in tags):
            metadata["jupyter"] = {"source_hidden": True}
        cell.metadata = nbformat.from_dict(metadata)
        if "outputs" in cell:
            cell.outputs = _joined(cell.outputs)
        result.cells.append(cell)
    return result


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Outputs with what was printed in a row in one piece, however it arrived."""
    joined = []
    for output in outputs:
        before = joined[-1] if joined else {}
        if output.output_type == "stream" and output.name == before.get("name"):
            before["text"] += output.text
        else:
            joined.append(output)
    return joined


# What is said of a picture (helpers.py, ``show``), which nbval compares.
FIGURE = "application/vnd.memdlib.figure+json"
# The same picture for dark pages, which nbval does not compare (book/conftest.py).
DARK = "application/vnd.memdlib.dark+png"


def figures(notebook: NotebookNode) -> Iterator[tuple[dict, dict, str]]:
    """Figures of a notebook: what is said of each, its data by kind, its caption."""
    for cell in notebook.cells:
        for picture, caption in pairwise(cell.get("outputs", [])):
            if about := picture.get("data", {}).get(FIGURE):
                text = caption.data["text/markdown"].removeprefix("**Figure.** ")
                yield about, picture.data, text


def store(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook, whole or not at all."""
    write_whole(path, nbformat.writes(notebook) + "\n")
