"""Where the result of a run comes from, and what can be wrong with it.

A result is ``{values, commit, dirty, code, parameters, data, packages, machine,
seconds, mib}``; seeds are parameters. Code that changes does not make it wrong:
:func:`problems` do, and how far the code has gone since is a report (``make experiments
STATUS=1``).
"""

import hashlib
import math
import os
import platform
import re
from ast import literal_eval
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from threadpoolctl import threadpool_info

from compendium.data import fingerprint
from compendium.execution.notebooks import code_cells, read_source
from compendium.execution.runs import Run
from compendium.ledger.results import read_result, wrong_means
from compendium.project import git

# Numbers come from these and from the notebook.
FOLDERS = ("memdlib", "compendium/data", "compendium/study")
RULES = "book/notebooks/rules.py"
CODE = (*FOLDERS, RULES)
PACKAGES = ("memdlib", "numpy", "scipy", "scikit-learn", "pandas")
BLAS = "{internal_api} {version}, {architecture}"
TIMES = ("seconds", "fit", "predict")  # keys of values that are times


class RunError(ValueError):
    """A run cannot be made, or has not made what it should; the message says why."""


def parameters_of(run: Run, notebook: NotebookNode) -> dict:
    """All parameters of a run, seeds too: those handed over, and other defaults.

    Raises
    ------
    RunError
        If one is handed over that the notebook has not, or a default is no literal.
    """
    defaults = {}
    for name, inferred in papermill.inspect_notebook(notebook).items():
        try:
            defaults[name] = literal_eval(inferred["default"])
        except (ValueError, SyntaxError):
            raise RunError(
                f"{run.source()}: the default of the parameter {name!r} is "
                f"{inferred['default']!r}; write a literal on one line"
            ) from None
    unknown = sorted(set(run.arguments()) - set(defaults))
    if unknown:
        raise RunError(
            f"{run.name}: no parameter named {unknown[0]!r} in the cell tagged "
            f"'parameters' of {run.source()}; it has {sorted(defaults)}"
        )
    return defaults | run.arguments()


def code_hash(project: Path, run: Run) -> str:
    """SHA-256 of all code that the numbers of a run come from."""
    files = [project / run.source(), *project.glob(RULES)]
    for folder in FOLDERS:
        files += sorted((project / folder).rglob("*.py"))
        files += sorted((project / folder).rglob("*.toml"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(project)}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def provenance(project: Path, run: Run) -> dict:
    """What the result of a run says of itself, besides values, time and memory.

    Commit and whether there were changes beside it are None where git does not say.
    """
    commit = git(project, "rev-parse", "HEAD") or None
    changes = git(project, "status", "--short", "--", *CODE, run.source())
    unknown = commit is None or changes is None
    return {
        "commit": commit,
        "dirty": None if unknown else bool(changes),
        "code": code_hash(project, run),
        "parameters": parameters_of(run, read_source(project / run.source())),
        "data": {name: fingerprint(name) for name in run.sets()},
        "packages": packages(),
        "machine": machine(),
    }


def is_current(project: Path, run: Run) -> bool:
    """Whether a run has a record, and a result of what it would be made of now."""
    if not all((project / path).is_file() for path in run.made()):
        return False
    stored = read_result(run.name, project)
    now = provenance(project, run)
    keys = ("code", "parameters", "data", "packages")
    return all(stored.get(key) == now[key] for key in keys)


def packages() -> dict[str, str]:
    """Versions of Python and of the packages that numbers come from."""
    return {"python": platform.python_version()} | {
        name: version(name) for name in PACKAGES
    }


def machine() -> dict[str, str | int | list[str]]:
    """Processor, its cores, system, and the libraries of linear algebra in use now."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"model name\s*: (.*)", text)
    blas = [part for part in threadpool_info() if part["user_api"] == "blas"]
    return {
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": sorted(map(BLAS.format_map, blas)),
    }


def moved(
    old, new, *, rel: float = 0.0, counts: int = 0, times=(), at: str = ""
) -> Iterator[tuple[str, object, object]]:
    """Places at which two values of results differ, with what stands there in both.

    Parameters
    ----------
    old, new : dict, list, str, int, float, bool or None
    rel : float, default=0
        Floats this near are equal, and so are all nearer than a thousandth of it.
    counts : int, default=0
        Integers this near are equal. If not 0, accuracies that stand beside their
        counts, and differences, which both follow from them, are left out.
    times : sequence of str
        Patterns of keys that are left out, besides :data:`TIMES`.
    at : str
        Place of the two.

    Examples
    --------
    >>> list(moved({"a": [1, 2.0], "fit": 0.1}, {"a": [1, 2.5], "fit": 0.2}))
    [('a.1', 2.0, 2.5)]
    """
    skipped = (*TIMES, *times)
    if isinstance(old, dict) and isinstance(new, dict):
        if counts:
            skipped += ("*_minus_*",)
            if "correct" in old:
                skipped += ("accuracy",)
        pairs = [(key, old.get(key), new.get(key)) for key in sorted({*old, *new})]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(old, new, strict=True))]
    else:
        kinds = {type(old), type(new)}
        near = kinds == {int} and abs(old - new) <= counts
        if float in kinds <= {int, float}:
            near = math.isclose(old, new, rel_tol=rel, abs_tol=rel / 1000)
        if not near and old != new:
            yield at, old, new
        return
    for key, one, other in pairs:
        if not any(fnmatch(key, pattern) for pattern in skipped):
            place = f"{at}.{key}".lstrip(".")
            yield from moved(one, other, rel=rel, counts=counts, times=times, at=place)


def problems(project: Path, run: Run) -> list[str]:
    """What is wrong with the stored result and lab record of a run.

    Both must be there; the parameters must be those of ``runs.toml`` and of the
    notebook, the data those of the registry, the means those of their folds, and the
    code of the record that of the notebook.
    """
    lost = [path for path in run.made() if not (project / path).is_file()]
    if lost:
        return [f"{run.name}: no {path}" for path in lost]
    notebook = read_source(project / run.source())
    try:
        parameters = parameters_of(run, notebook)
    except RunError as error:
        return [str(error)]
    stored = read_result(run.name, project)
    data = {name: fingerprint(name) for name in run.sets()}
    differences = [*moved(stored["parameters"], parameters, at="parameters")]
    differences += moved(stored["data"], data, at="data")
    faults = [f"{at} was {old!r}, is {new!r}" for at, old, new in differences]
    faults += wrong_means(stored["values"])
    wanted = papermill.execute_notebook(
        notebook, None, run.arguments(), prepare_only=True
    )
    record = nbformat.read(project / run.made()[1], as_version=4)
    wanted_code = [cell.source for cell in code_cells(wanted)]
    if wanted_code != [cell.source for cell in code_cells(record)]:
        faults.append(f"its record has other code than {run.source()}")
    return [f"{run.name}: {fault}" for fault in faults]
