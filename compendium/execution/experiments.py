"""Make runs of experiments by papermill, make a sample of them again, or list them.

Every run has a process of its own. It leaves its record, then its result, each whole or
not at all; and a run is not made again whose result is of the present code, parameters,
data and packages. So a command that was stopped, in whatever way, goes on when it is
called again.
"""

import datetime
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path

import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.exceptions import PapermillException
from tqdm import tqdm

from compendium.data import DatasetError
from compendium.data.fetch import locate
from compendium.data.registry import entries
from compendium.execution.notebooks import (
    kernel_environment,
    normalise,
    read_source,
    store,
)
from compendium.execution.provenance import (
    CODE,
    RunError,
    is_current,
    moved,
    provenance,
)
from compendium.execution.runs import Run, runs
from compendium.ledger.results import RESULT, result_path
from compendium.project import canonical_json, git, root, write_whole

CELL_TIMEOUT = 7200
_SPAWN = multiprocessing.get_context("spawn")
_SHOWN = 20  # moved values that are printed of a run
_EXPECTED = (
    DatasetError,
    RunError,
    PapermillException,
    CellTimeoutError,
    DeadKernelError,
    OSError,
)


def execute(project: Path, run: Run) -> tuple[NotebookNode, dict]:
    """Execute the notebook of a run; return it, and the values that it wrote."""
    notebook = read_source(project / run.source())
    notebook.cells[0].source = f"# {run.title}\n" + notebook.cells[0].source
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        executed = papermill.execute_notebook(
            notebook,
            None,
            run.arguments(),
            cwd=scratch,
            progress_bar=False,
            execution_timeout=CELL_TIMEOUT,
            record_timing=False,
            shutdown_kernel="immediate",  # a graceful one complains of interrupts
        )
        written = Path(scratch, RESULT)
        values = json.loads(written.read_text("utf-8")) if written.is_file() else None
    for cell in executed.cells:
        del cell.metadata["papermill"]  # when it began and ended
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise RunError(
                    f"{run.name}: code cell {cell.execution_count} wrote to stderr "
                    f"(warnings count as errors):\n  {output.text.strip()}"
                )
    if values is None:
        raise RunError(f"{run.name}: the notebook never called write_result")
    return executed, values


def make_run(project: Path, run: Run, into: Path) -> str:
    """Make a run; leave its result in a folder, in the project its record too.

    Seconds are processor time and MiB those of the largest process, of all children
    that this process has had: a process that makes a run makes no other.

    Returns
    -------
    str
        What went wrong, if something did that may go wrong; else empty.
    """
    try:
        for name in run.sets():  # a lack of data is told before a kernel starts
            if name in entries():
                locate(entries()[name])
        result = provenance(project, run)
        with tempfile.TemporaryDirectory(prefix="memdlib-") as home:
            os.environ.update(kernel_environment(Path(home)))
            executed, result["values"] = execute(project, run)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        result["seconds"] = round(used.ru_utime + used.ru_stime)
        result["mib"] = round(used.ru_maxrss / 1024)
        if into == project:
            store(normalise(executed, run.source()), project / run.made()[1])
        write_whole(result_path(into, run.name), canonical_json(result))
    except _EXPECTED as error:
        return str(error)
    return ""


def _make_run_apart(project: Path, run: Run, into: Path, sender: Connection) -> None:
    """Make a run in this process, which ends with its parent, however that ends."""
    # Ctrl-C is for the parent; what it sends in its place, raised in the middle of a
    # run, takes the kernel and the scratch folders with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def follow_parent() -> None:
        multiprocessing.parent_process().join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow_parent, daemon=True).start()
    try:
        sender.send(make_run(project, run, into))
    except KeyboardInterrupt:
        sys.exit(1)


def make_runs(
    project: Path, chosen: Sequence[Run], into: Path, jobs: int | None
) -> Iterator[tuple[Run, str]]:
    """Make runs, the longest first; yield each as it ends, with what went wrong."""
    waiting = sorted(chosen, key=lambda run: _read(project, run).get("seconds", 60))
    running = {}
    progress = tqdm(total=len(waiting), unit="run", disable=None)
    try:
        while waiting or running:
            while waiting and len(running) < (jobs or os.cpu_count()):
                run = waiting.pop()
                receiver, sender = _SPAWN.Pipe(duplex=False)
                process = _SPAWN.Process(
                    target=_make_run_apart,
                    args=(project, run, into, sender),
                    daemon=True,
                )
                process.start()
                sender.close()  # so that only the process holds it, and its end is seen
                running[receiver] = run, process
            for receiver in wait(list(running)):
                run, process = running.pop(receiver)
                try:
                    error = receiver.recv()
                except EOFError:
                    error = f"{run.name}: its process was killed or broke (see above)"
                process.join()
                progress.update()
                yield run, error
    finally:
        progress.close()
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def _read(project: Path, run: Run) -> dict:
    """Result of a run; empty if there is none."""
    path = result_path(project, run.name)
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def _print_moved(differences: Iterable[tuple]) -> int:
    """Print values that moved; return how many did."""
    lines = [f"  {at}: {str(a)[:50]} -> {str(b)[:50]}" for at, a, b in differences]
    for line in lines[:_SHOWN]:
        tqdm.write(line)
    if len(lines) > _SHOWN:
        tqdm.write(f"  and {len(lines) - _SHOWN} more")
    return len(lines)


def make(project: Path, chosen: Sequence[Run], jobs: int | None) -> int:
    """Make runs; say what moved and what they took."""
    due = [run for run in chosen if not is_current(project, run)]
    if len(due) < len(chosen):
        print(
            f"{len(chosen) - len(due)} of {len(chosen)} runs have results of this "
            "code, data and packages; remove a result to have it made again"
        )
    old = {run.name: _read(project, run) for run in due}
    costs = []
    errors = {}
    for run, error in make_runs(project, due, project, jobs):
        if error:
            errors[run.name] = error
            continue
        tqdm.write(run.name)
        new = _read(project, run)
        costs.append((new["seconds"], new["mib"], run.name))
        if before := old[run.name]:
            pair = before["values"], new["values"]
            _print_moved(moved(*pair, rel=1e-9, times=run.times))
    for seconds, mib, name in sorted(costs, reverse=True):
        print(f"{seconds:6d} s {mib:6d} MiB  {name}")
    print(f"{sum(cost[0] for cost in costs):6d} s for {len(costs)} runs")
    for name, error in errors.items():
        print(f"\n== {name}\n{error}")
    return 1 if errors else 0


def of_the_day(project: Path, day: datetime.date) -> list[Run]:
    """Every seventh run in the order of their times: a week sees all of them."""
    listed = runs(project).values()
    order = sorted(listed, key=lambda run: _read(project, run).get("seconds", 0))
    return order[day.toordinal() % 7 :: 7]


def make_again(
    project: Path, chosen: Sequence[Run], into: Path, jobs: int | None
) -> Iterator[tuple[Run, str, list[tuple]]]:
    """Make runs again into another folder; yield each as it ends.

    Yields
    ------
    run : Run
    error : str
        What went wrong; empty if nothing did.
    differences : list of tuple
        Places at which the new values differ from the stored ones by more than
        processors do, with what stands there in both.
    """
    for run, error in make_runs(project, chosen, into, jobs):
        pair = [_read(folder, run).get("values") for folder in (project, into)]
        differences = list(moved(*pair, rel=1e-6, counts=1, times=run.times))
        yield run, error, differences


def recheck(project: Path, chosen: Sequence[Run], jobs: int | None) -> int:
    """Make runs again and compare them with what is stored; keep nothing."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        for run, error, differences in make_again(project, chosen, Path(folder), jobs):
            tqdm.write(f"{run.name} {error}".strip())
            if error or _print_moved(differences):
                wrong += 1
    print(f"{wrong} of {len(chosen)} runs are not as stored.")
    return 1 if wrong else 0


def status(project: Path, chosen: Sequence[Run]) -> int:
    """List where each result is from, and how far what made it has changed since."""
    print(f"{'run':34}{'commit':11}commits since")
    for run in chosen:
        made = _read(project, run)
        commit = made.get("commit") or ""
        mark = "+" if made.get("dirty") else ""
        span = (f"{commit}..HEAD", "--", *CODE, run.source())
        since = git(project, "rev-list", "--count", *span) if commit else ""
        print(f"{run.name:34}{commit[:9] + mark or '?':11}{since or '?'}")
    return 0


def main(names: Sequence[str], jobs: int | None, what: str | None) -> int:
    """Do what a command line asks for; return an exit status."""
    project = root()
    listed = runs(project)
    unknown = sorted(set(names) - set(listed))
    if unknown:
        print(f"no run named {unknown[0]!r}; they are in book/experiments/runs.toml")
        return 2
    chosen = [listed[name] for name in names or listed]
    if what == "status":
        return status(project, chosen)
    if what == "recheck":
        if not names:
            chosen = of_the_day(project, datetime.date.today())
        return recheck(project, chosen, jobs)
    return make(project, chosen, jobs)
