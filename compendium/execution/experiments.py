"""Make runs of experiments, make a sample of them again, or list them.

Every run has a process of its own, and so has its kernel. It leaves its record, then
its result, each whole or not at all, so that whatever is killed can be called again.
"""

import datetime
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from nbformat import NotebookNode
from tqdm import tqdm

from compendium.data.fetch import locate
from compendium.data.registry import entries
from compendium.execution import notebooks
from compendium.execution.notebooks import NotebookError, read_source, with_parameters
from compendium.execution.runs import CODE, Run, moved, provenance, runs
from compendium.ledger.results import RESULT, result_path
from compendium.project import canonical_json, git, root, write_whole

CHILD = (sys.executable, "-Pm", "compendium", "experiments", "--child")
RECHECKS = Path("data", "rechecks.json")
_SHOWN = 20  # moved values that are printed of a run


def compute(project: Path, run: Run) -> tuple[NotebookNode, dict]:
    """Execute the notebook of a run; return it and the result.

    The files of its data are looked for first, so that a lack of them is told at once.
    Seconds are processor time and MiB those of the largest process, of all children
    that this process has had: a process that makes a run makes no other.
    """
    for name in run.sets():
        if name in entries():
            locate(entries()[name])
    about = provenance(project, run)
    notebook = read_source(project / run.source())
    notebook.cells[0].source = f"# {run.title}\n" + notebook.cells[0].source
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        notebook = with_parameters(notebook, run.name, run.arguments())
        executed = notebooks.execute(notebook, run.name, Path(scratch))
        written = Path(scratch, RESULT)
        if not written.is_file():
            raise NotebookError(f"{run.name}: the notebook never called write_result")
        about["values"] = json.loads(written.read_text())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    about["seconds"] = round(used.ru_utime + used.ru_stime)
    about["mib"] = round(used.ru_maxrss / 1024)
    return executed, about


def make_run(project: Path, run: Run, into: Path) -> None:
    """Make a run; leave its result in a folder, in the project its record too."""
    executed, result = compute(project, run)
    if into == project:
        record = notebooks.normalise(executed, run.source())
        notebooks.store(record, project / run.made()[1])
    write_whole(result_path(into, run.name), canonical_json(result))


def _child(name: str, into: Path) -> int:
    """Make a run in this process, which ends when the other end of its stdin does."""

    def follow() -> None:
        sys.stdin.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()
    try:
        make_run(root(), runs(root())[name], into)
    except NotebookError as error:
        print(error)
        return 1
    return 0


def _run_all(
    names: Sequence[str], into: Path, jobs: int | None
) -> Iterator[tuple[str, dict, str]]:
    """Make runs, the longest first; yield name, old result and error as each ends."""
    old = {name: _read(result_path(root(), name)) for name in names}
    order = sorted(names, key=lambda name: -old[name].get("seconds", 60))
    reading, writing = os.pipe()  # closed, or this process gone, all children end
    streams = {"stdin": reading, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}

    def made(name: str) -> tuple[str, dict, str]:
        call = [*CHILD, str(into), name]
        done = subprocess.run(call, text=True, start_new_session=True, **streams)
        said = done.stdout.strip() or "its process was killed"
        return name, old[name], said if done.returncode else ""

    pool = ThreadPoolExecutor(jobs or os.cpu_count())
    try:
        ended = as_completed([pool.submit(made, name) for name in order])
        for future in tqdm(ended, total=len(order), unit="run", disable=None):
            yield future.result()
    finally:
        os.close(writing)
        pool.shutdown(cancel_futures=True)
        os.close(reading)


def _read(path: Path):
    """JSON of a file; empty if there is none."""
    return json.loads(path.read_text()) if path.is_file() else {}


def _state(project: Path, names: Sequence[str]) -> str:
    """What an interrupted call has in common with the one that goes on."""
    places = (*CODE, "book/experiments")
    trees = git(project, "rev-parse", *(f"HEAD:{place}" for place in places))
    parts = [*names, trees or "", git(project, "diff", "HEAD", "--", *places) or ""]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _say_moved(found: Iterator[tuple]) -> int:
    """Print values that moved; return how many did."""
    lines = [f"  {at}: {str(a)[:50]} -> {str(b)[:50]}" for at, a, b in found]
    more = [f"  and {len(lines) - _SHOWN} more"] * (len(lines) > _SHOWN)
    for line in lines[:_SHOWN] + more:
        tqdm.write(line)
    return len(lines)


def make(names: Sequence[str] = (), jobs: int | None = None) -> int:
    """Make runs, all if none is named; say what moved and what they took.

    A call like one that was interrupted makes what that one has not.
    """
    project, listed, errors = root(), runs(root()), {}
    asked = list(names or listed)
    journal = project / "_build" / f"experiments-{_state(project, asked)}.json"
    left = _read(journal) or list(asked)
    if len(left) < len(asked):
        print(f"Going on: {len(asked) - len(left)} of {len(asked)} are made.")
    for name, old, error in _run_all(list(left), project, jobs):
        if error:
            errors[name] = error
            continue
        left.remove(name)
        write_whole(journal, canonical_json(left))
        tqdm.write(name)
        values = _read(result_path(project, name))["values"]
        before = old.get("values", values)
        _say_moved(moved(before, values, rel=1e-9, times=listed[name].times))
    if not left:
        journal.unlink(missing_ok=True)
    made = {n: _read(result_path(project, n)) for n in asked if n not in left}
    for name, new in sorted(made.items(), key=lambda item: -item[1]["seconds"]):
        print(f"{new['seconds']:6d} s {new['mib']:6d} MiB  {name}")
    print(f"{sum(new['seconds'] for new in made.values()):6d} s for {len(made)} runs")
    for name, error in errors.items():
        print(f"\n== {name}\n{error}")
    return 1 if errors else 0


def of_the_day(project: Path, day: datetime.date) -> list[str]:
    """Every seventh run in the order of their times: a week sees all of them."""
    results = {name: _read(result_path(project, name)) for name in runs(project)}
    order = sorted(results, key=lambda name: results[name].get("seconds", 0))
    return order[day.toordinal() % 7 :: 7]


def recheck(names: Sequence[str], jobs: int | None) -> int:
    """Make runs, or those of the day, again and compare; keep nothing but the date."""
    project, listed = root(), runs(root())
    today, log, wrong = datetime.date.today(), project / RECHECKS, 0
    sample = names or of_the_day(project, today)
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        for name, old, error in _run_all(sample, Path(folder), jobs):
            tqdm.write(f"{name} {error}".strip())
            new = _read(result_path(Path(folder), name))
            pair, times = (old.get("values"), new.get("values")), listed[name].times
            found = moved(*pair, rel=1e-6, counts=1, times=times)
            entry = {"day": str(today), "equal": not (error or _say_moved(found))}
            write_whole(log, canonical_json(_read(log) | {name: entry}))
            wrong += not entry["equal"]
    print(f"{wrong} of {len(sample)} runs are not as stored.")
    return 1 if wrong else 0


def status() -> int:
    """List where each result is from, and how far what made it has changed since."""
    project, checks = root(), _read(root() / RECHECKS)
    print(f"{'run':34}{'commit':11}{'since':>6}  made again")
    for name, run in runs(project).items():
        made = _read(result_path(project, name))
        commit = made.get("commit") or ""
        span = f"{commit}..HEAD", "--", *CODE, run.source()
        since = commit and git(project, "rev-list", "--count", *span)
        check, mark = checks.get(name), "+" if made.get("dirty") else ""
        word = f"{check['day']}, equal: {check['equal']}" if check else "never"
        print(f"{name:34}{commit[:9] + mark or '?':11}{since or '?':>6}  {word}")
    return 0


def main(
    names: Sequence[str], jobs: int | None, what: str | None, child: Path | None
) -> int:
    """Do what a command line asks for; return an exit status."""
    if unknown := sorted(set(names) - set(runs(root()))):
        print(f"no run named {unknown[0]!r}; they are in book/experiments/runs.toml")
        return 2
    if child:
        return _child(*names, child)
    if what == "status":
        return status()
    return (recheck if what == "recheck" else make)(names, jobs)
