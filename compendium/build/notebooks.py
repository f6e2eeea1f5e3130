"""Notebooks: MyST source in, executed and normalised notebook out.

``book/**/*.md`` is what we write; papermill executes it on a fresh kernel; what is
committed under ``book/notebooks`` is the result with everything removed that depends on
the time or the machine. The book renders these stored outputs, and nbval compares them
with a new execution (``make notebooks``), so what is read is what was compared.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
import papermill
from matplotlib import font_manager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError

from compendium.build.folds import label_fold
from compendium.build.readable import FIGURE, glued_values, readable
from compendium.project import root, write_whole

CELL_TIMEOUT = 7200
PARAMETERS, INJECTED = "parameters", "injected-parameters"  # tags of papermill
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
LANGUAGE = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
}
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_SINGLE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class NotebookError(RuntimeError):
    """A notebook did not run to its end; the message says where and why."""


def _own_fonts() -> font_manager.FontManager:
    """Fonts that matplotlib ships, without those of this machine."""
    with _environment({"MPL_IGNORE_SYSTEM_FONTS": "1"}):
        return font_manager.FontManager()


def kernel_environment(folder: Path) -> dict[str, str]:
    """Environment in which kernels give the same outputs everywhere.

    One BLAS thread (the last digits depend on it), this environment's kernel, no user
    profile and no fonts but matplotlib's own, whatever the machine has or remembers;
    ``folder`` keeps the empty profile and the list of fonts. Kernels of experiments
    run in scratch folders and find the checkout by ``MEMDLIB_PROJECT``.
    """
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    write_whole(profile / "ipython_kernel_config.py", "c.Application.log_level = 40\n")
    font_manager.json_dump(
        _own_fonts(), folder / f"fontlist-v{font_manager.FontManager.__version__}.json"
    )
    return {name: "1" for name in _SINGLE_THREAD} | {
        "IPYTHONDIR": str(folder),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": str(folder),
        "MEMDLIB_PROJECT": str(root()),
    }


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables, which a kernel inherits, and set them back."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def read_source(path: Path) -> nbformat.NotebookNode:
    """Read a MyST notebook."""
    return jupytext.read(path, fmt="md:myst")


def is_notebook(path: Path) -> bool:
    """Whether a MyST file asks for a kernel (the others are plain pages)."""
    return bool(re.match(r"---\n(?:.*\n)*?kernelspec:", path.read_text()))


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Cells of a notebook that hold code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def execute(
    notebook: nbformat.NotebookNode, label: str, cwd: Path, parameters: dict
) -> nbformat.NotebookNode:
    """Run a notebook on a fresh kernel with papermill.

    Parameters
    ----------
    notebook : NotebookNode
    label : str
        How messages name it.
    cwd : Path
        Working folder of the kernel.
    parameters : dict
        Values for the cell tagged ``parameters``.

    Returns
    -------
    NotebookNode
        Executed, not yet normalised.

    Raises
    ------
    NotebookError
        If a cell fails, writes to stderr or takes too long, if the kernel dies, or if
        a parameter is not in the notebook.
    """
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        before, after = Path(scratch, "source.ipynb"), Path(scratch, "executed.ipynb")
        nbformat.write(notebook, before)
        _check_parameters(before, label, parameters)
        try:
            with _environment(kernel_environment(Path(scratch, "ipython"))):
                papermill.execute_notebook(
                    before,
                    after,
                    parameters=parameters,
                    kernel_name=KERNEL["name"],
                    cwd=cwd,
                    progress_bar=False,
                    execution_timeout=CELL_TIMEOUT,
                    # a graceful one complains of interrupts
                    shutdown_kernel="immediate",
                )
        except PapermillExecutionError as error:
            trace = _ANSI.sub("", "\n".join(error.traceback)).splitlines()
            raise NotebookError(
                f"{label}: code cell {error.exec_count} failed with "
                f"{error.ename}: {error.evalue}\n  " + "\n  ".join(trace[-12:])
            ) from None
        except DeadKernelError:
            raise NotebookError(
                f"{label}: the kernel died (out of memory, or killed from outside); "
                "the last good notebook is untouched, run the command again"
            ) from None
        except CellTimeoutError as error:
            raise NotebookError(f"{label}: {str(error).splitlines()[0]}") from None
        executed = nbformat.read(after, as_version=4)
    _check_quiet(executed, label)
    return executed


def normalise(
    notebook: nbformat.NotebookNode, about: dict[str, str]
) -> nbformat.NotebookNode:
    """Remove what depends on time or machine; make text and figures readable.

    Captions are lifted into place, roles that stand for a number become the number, and
    labelled equations are written between dollars, which every viewer typesets.

    Parameters
    ----------
    notebook : NotebookNode
        As executed.
    about : dict
        Stored in the metadata under ``memdlib``: the source.

    Returns
    -------
    NotebookNode
        Cell ids by position, execution counts 1, 2, ..., no times.
    """
    result = nbformat.v4.new_notebook()
    result.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": LANGUAGE, "memdlib": about}
    )
    for number, cell in enumerate(notebook.cells):
        cell = nbformat.from_dict(cell)
        cell.id = f"cell-{number:03d}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if "outputs" in cell:
            cell.outputs = _joined(cell.outputs)
        for output in cell.get("outputs", []):
            _lift_figure(cell, output)
        label_fold(cell)
        result.cells.append(cell)
    values = glued_values(result)
    for cell in result.cells:
        if cell.cell_type == "markdown":
            cell.source = readable(cell.source, values)
    return result


def twin(
    stored: nbformat.NotebookNode, source: nbformat.NotebookNode
) -> nbformat.NotebookNode:
    """What a stored notebook has to be, if its outputs are those of its source.

    Parameters
    ----------
    stored : NotebookNode
        Executed and normalised.
    source : NotebookNode
        Its source.

    Returns
    -------
    NotebookNode
        Code and prose of the source; outputs and injected parameters of the stored one.
    """
    kept, cells = code_cells(stored), []
    for cell in source.cells:
        cell = nbformat.from_dict(cell)
        cell.metadata.setdefault("tags", [])  # as papermill leaves them
        if cell.cell_type == "code" and kept:
            before = kept.pop(0)
            cell.outputs = before.outputs
            cell.execution_count = before.execution_count
        cells.append(cell)
        if kept and INJECTED in _tags(kept[0]) and PARAMETERS in _tags(cell):
            cells.append(kept.pop(0))
    about = stored.metadata.get("memdlib", {})
    return normalise(nbformat.v4.new_notebook(cells=cells), about)


def _tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs with what was printed in a row in one piece, however it arrived."""
    found = []
    for output in outputs:
        before = found[-1] if found else {}
        if output.output_type == "stream" and output.name == before.get("name"):
            before["text"] += output.text
        else:
            found.append(output)
    return found


def to_text(notebook: nbformat.NotebookNode) -> str:
    """The notebook as the text that is committed."""
    return nbformat.writes(notebook) + "\n"


def figures(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """Outputs of a notebook that are figures."""
    for cell in notebook.cells:
        yield from (o for o in cell.get("outputs", []) if FIGURE in o.get("data", {}))


def figure_tables(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Plotted data of each figure in a notebook: {file name: CSV text}."""
    return {
        f"{output.data[FIGURE]['name']}.csv": output.data["text/plain"]
        for output in figures(notebook)
    }


def store(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook and, beside it, the data of its figures."""
    for name, table in figure_tables(notebook).items():
        write_whole(path.parent / name, table)
    write_whole(path, to_text(notebook))


def _lift_figure(cell, output) -> None:
    """Repeat caption, name and alt text of a figure's output in its cell.

    MyST-NB reads them from the cell only; here they come from code, so that the numbers
    in them can be computed.
    """
    figure = output.get("data", {}).get(FIGURE)
    if figure is None:
        return
    classes = "memdlib-figure dark-light"
    if "least" in figure:
        classes += f" least-{figure['least']}"
    download = f" {{download}}`data (CSV) <{figure['name']}.csv>`"
    cell.metadata["mystnb"] = nbformat.from_dict(
        {
            "figure": {
                "name": figure["name"],
                "caption": figure["caption"] + download,
            },
            "image": {"alt": figure["alt"], "classes": classes},
        }
    )


def _check_parameters(path, label, parameters) -> None:
    known = papermill.inspect_notebook(path) if parameters else {}
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise NotebookError(
            f"{label}: no parameter named {unknown[0]!r} in the cell tagged "
            f"'parameters'; it has {sorted(known)}"
        )


def _check_quiet(notebook, label) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise NotebookError(
                    f"{label}: code cell {cell.execution_count} wrote to stderr "
                    f"(warnings count as errors):\n  {output.text.strip()}"
                )
