"""Experiments: parameterised notebooks, one run a data set and protocol.

``book/experiments/runs.toml`` lists the runs. Each leaves one result,
``data/results/<run>.json``, and one lab record, ``book/records/<run>.ipynb``. A run is
done again only if its code, parameters, data or numerical packages have changed; if
only its words have, its record is reworded in place.
"""

import json
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from compendium.build.chapters import read_notebook
from compendium.build.memory import peak_memory
from compendium.build.notebooks import (
    NotebookError,
    execute,
    normalise,
    notebook_digest,
    read_source,
    reworded,
    store,
    to_text,
)
from compendium.build.provenance.digests import (
    NUMERICAL_PACKAGES,
    digest,
    installed_versions,
    locked_versions,
    machine,
)
from compendium.build.runner import run_all
from compendium.ledger.results import RESULT, result_path
from compendium.project import canonical_json, root, write_whole
from memdlib.datasets import MissingDataError, fingerprint

# How a record looks is no reason to compute its numbers again.
PRESENTATION = ("compendium.build.display",)


@dataclass(frozen=True)
class Run:
    """One run of an experiment.

    Parameters
    ----------
    name : str
        Name of its result and of its lab record.
    title : str
        Heading of the lab record.
    notebook : str
        MyST notebook in ``book/experiments``.
    data : str or list of str
        Data sets that it needs; none for simulated cases.
    parameters : dict
    again : bool, default=False
        Whether it is so cheap that the tests compute it again.
    """

    name: str
    title: str
    notebook: str
    data: str | list[str] = ()
    parameters: dict = field(default_factory=dict)
    again: bool = False

    def sets(self) -> list[str]:
        """Names of the data sets."""
        return [self.data] if isinstance(self.data, str) else list(self.data)

    def arguments(self) -> dict:
        """Parameters handed to the notebook."""
        given = self.parameters | {"run": self.name}
        return given | ({"dataset": self.data} if isinstance(self.data, str) else {})


def runs(project: Path) -> list[Run]:
    """All runs listed in ``runs.toml``."""
    listed = tomllib.loads((project / "book/experiments/runs.toml").read_text())
    return [Run(name=name, **entry) for name, entry in listed.items()]


def record_path(project: Path, name: str) -> Path:
    """File of a run's lab record."""
    return project / "book" / "records" / f"{name}.ipynb"


def run_digest(project: Path, run: Run, hashes: dict[str, str]) -> str:
    """Digest of all that a run is computed from; its prose and its title do not count.

    Published tables count if a parameter or the code names them.
    """
    source = read_source(project / "book/experiments" / run.notebook)
    words = _words(run.arguments())
    lock = (project / "requirements.lock").read_text()
    return digest(
        notebook_digest(project, source, run.name, PRESENTATION, words),
        canonical_json([hashes, run.parameters]),
        canonical_json(locked_versions(lock, NUMERICAL_PACKAGES)),
    )


def _words(value) -> Iterator[str]:
    """Every string in a parameter, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _words(item)


def stored_digests(project: Path, run: Run) -> tuple[str | None, str | None]:
    """Digests kept in the result and in the lab record of a run."""
    path = result_path(project, run.name)
    stored = json.loads(path.read_text()) if path.is_file() else {}
    record = read_notebook(record_path(project, run.name))
    return (
        stored.get("provenance", {}).get("digest"),
        record.metadata.memdlib.digest if record else None,
    )


def titled_source(project: Path, run: Run) -> NotebookNode:
    """Notebook of a run, under the title of the run."""
    notebook = read_source(project / "book/experiments" / run.notebook)
    notebook.cells[0].source = f"# {run.title}\n" + notebook.cells[0].source
    return notebook


def reworded_files(project: Path, run: Run) -> dict[Path, str]:
    """Result and lab record of a fresh run, if they are not in its present words.

    Parameters
    ----------
    project : Path
        Checkout.
    run : Run
        Its result and its record must be there and have its digest, which says that
        their values and outputs stay true.

    Returns
    -------
    dict
        File to the text that it should have; empty if nothing has been reworded.
    """
    path, place = record_path(project, run.name), result_path(project, run.name)
    record, result = read_notebook(path), json.loads(place.read_text())
    about = {**record.metadata.memdlib, "source": _notebook_name(run)}
    result["provenance"]["notebook"] = _notebook_name(run)
    texts = {
        path: to_text(reworded(record, titled_source(project, run), about)),
        place: canonical_json(result),
    }
    return {file: text for file, text in texts.items() if file.read_text() != text}


def _notebook_name(run: Run) -> str:
    return f"book/experiments/{run.notebook}"


def compute(project: Path, run: Run) -> tuple[NotebookNode, dict]:
    """Execute the notebook of a run; return it and the values that it wrote."""
    notebook = titled_source(project, run)
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        executed = execute(notebook, run.name, Path(scratch), run.arguments())
        written = Path(scratch, RESULT)
        if not written.is_file():
            raise NotebookError(f"{run.name}: the notebook never called write_result")
        return executed, json.loads(written.read_text())


def make_run(project: Path, name: str, hashes: dict[str, str]) -> None:
    """Execute one run and store its result and its lab record, both whole."""
    run = next(run for run in runs(project) if run.name == name)
    # before it runs: who edits meanwhile makes the result stale
    token, start = run_digest(project, run, hashes), time.monotonic()
    with peak_memory() as peak:
        executed, values = compute(project, run)
    took = {"seconds": round(time.monotonic() - start), "mib": peak()}
    provenance = {
        "run": name,
        "notebook": _notebook_name(run),
        "parameters": run.arguments(),
        "data": hashes,
        "packages": installed_versions(),
        # left out where results are compared
        "machine": machine() | took,
        "command": f"make experiments RUNS={name}",
        "digest": token,
    }
    record = normalise(executed, {"source": provenance["notebook"], "digest": token})
    store(record, record_path(project, name))
    result = {"values": values, "provenance": provenance}
    write_whole(result_path(project, name), canonical_json(result))


def _make(project: Path, hashes: dict[str, dict[str, str]], name: str) -> None:
    make_run(project, name, hashes[name])


def main(
    names: list[str], *, jobs: int | None = None, scheduler: str | None = None
) -> int:
    """Make stale runs, here or on a cluster; return an exit status.

    Parameters
    ----------
    names : list of str
        Which runs; all, if empty.
    jobs : int, default=None
        Processes here; None means one for each core.
    scheduler : str, default=None
        Address of a dask.distributed scheduler, whose workers make them instead.

    Returns
    -------
    int
    """
    project = root()
    listed = {run.name: run for run in runs(project)}
    unknown = sorted(set(names) - set(listed))
    if unknown:
        print(f"no run named {unknown[0]!r}; the runs are {', '.join(listed)}")
        return 2
    waiting, hashes, missing, renewed = [], {}, 0, 0
    for name in names or listed:
        run = listed[name]
        try:
            hashes[name] = {data: fingerprint(data) for data in run.sets()}
        except MissingDataError as error:
            kept = all(stored_digests(project, run))
            fate = "its committed result is kept" if kept else "it has no result yet"
            print(f"{name}: its data are not here, {fate}.\n  {error}")
            missing += not kept
            continue
        try:
            token = run_digest(project, run, hashes[name])
        except NotebookError:
            token = None  # its execution will say why
        if token is None or stored_digests(project, run) != (token, token):
            waiting.append(name)
            continue
        files = reworded_files(project, run)
        for path, text in files.items():
            write_whole(path, text)
        renewed += bool(files)
    if scheduler is None:
        run = partial(run_all, jobs=jobs)
    else:
        from compendium.build.cluster import run_on_cluster

        run = partial(run_on_cluster, scheduler=scheduler, project=project)
    _, failed = run(partial(_make, project, hashes), waiting, title="experiments")
    made, fresh = len(waiting) - len(failed), len(hashes) - len(waiting)
    words = f", {renewed} reworded without a new run" if renewed else ""
    print(f"{made} runs made, {fresh} fresh{words}.")
    for message in failed.values():
        print(f"\n{message}")
    return 1 if failed or missing else 0
