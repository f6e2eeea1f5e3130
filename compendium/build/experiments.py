"""Experiments: parameterised notebooks, one run a data set and protocol.

``book/experiments/runs.toml`` lists the runs. Each leaves one result,
``data/results/<run>.json``, and one lab record, ``book/records/<run>.ipynb``. A run is
done again only if its code, parameters, data or numerical packages have changed.
"""

import json
import tempfile
import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from compendium.build.chapters import read_notebook
from compendium.build.notebooks import (
    NotebookError,
    code_of,
    execute,
    normalise,
    read_source,
    store,
)
from compendium.build.provenance import (
    NUMERICAL_PACKAGES,
    code_digest,
    digest,
    installed_versions,
    locked_versions,
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
    """Digest of all that a run is computed from."""
    source = read_source(project / "book/experiments" / run.notebook)
    text = "\n".join(cell.source for cell in source.cells)
    lock = (project / "requirements.lock").read_text()
    return digest(
        run.title,
        text,
        code_digest(project / "memdlib", code_of(source, run.name), PRESENTATION),
        canonical_json([hashes, run.parameters]),
        canonical_json(locked_versions(lock, NUMERICAL_PACKAGES)),
    )


def stored_digests(project: Path, run: Run) -> tuple[str | None, str | None]:
    """Digests kept in the result and in the lab record of a run."""
    path = result_path(project, run.name)
    stored = json.loads(path.read_text()) if path.is_file() else {}
    record = read_notebook(record_path(project, run.name))
    return (
        stored.get("provenance", {}).get("digest"),
        record.metadata.memdlib.digest if record else None,
    )


def compute(project: Path, run: Run) -> tuple[NotebookNode, dict]:
    """Execute the notebook of a run; return it and the values that it wrote."""
    notebook = read_source(project / "book/experiments" / run.notebook)
    notebook.cells[0].source = f"# {run.title}\n" + notebook.cells[0].source
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
    token = run_digest(project, run, hashes)
    executed, values = compute(project, run)
    provenance = {
        "run": name,
        "notebook": f"book/experiments/{run.notebook}",
        "parameters": run.arguments(),
        "data": hashes,
        "packages": installed_versions(),
        "command": f"make experiments RUNS={name}",
        "digest": token,
    }
    record = normalise(executed, {"source": provenance["notebook"], "digest": token})
    store(record, record_path(project, name))
    result = {"values": values, "provenance": provenance}
    write_whole(result_path(project, name), canonical_json(result))


def _make(project: Path, hashes: dict[str, dict[str, str]], name: str) -> None:
    make_run(project, name, hashes[name])


def main(names: list[str], *, jobs: int | None = None) -> int:
    """Make the stale runs among ``names`` (all, if empty); return an exit status."""
    project = root()
    listed = {run.name: run for run in runs(project)}
    unknown = sorted(set(names) - set(listed))
    if unknown:
        print(f"no run named {unknown[0]!r}; the runs are {', '.join(listed)}")
        return 2
    waiting, hashes, missing = [], {}, 0
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
    _, failed = run_all(
        partial(_make, project, hashes), waiting, title="experiments", jobs=jobs
    )
    print(
        f"{len(waiting) - len(failed)} runs made, {len(hashes) - len(waiting)} fresh."
    )
    for message in failed.values():
        print(f"\n{message}")
    return 1 if failed or missing else 0
