"""Run many notebooks on the workers of a cluster, with progress and a clean stop.

A worker starts one process for each notebook, so that environments and kernels do not
meet, and stops it when nobody waits for its result any more. Results are written where
they belong by whoever makes them: client and workers must see the same checkout under
the same path (a shared file system), each with an environment that has the package.
"""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from distributed import Client, KilledWorker, as_completed, get_worker
from tqdm import tqdm

from compendium.build.notebooks import NotebookError
from compendium.build.runner import end_quietly
from compendium.project import write_whole

# Seconds between two looks of a worker at its process.
_PAUSE = 0.2


def run_on_cluster(
    work: Callable[[str], object],
    names: Sequence[str],
    *,
    title: str,
    scheduler: str,
    project: Path,
) -> tuple[dict[str, object], dict[str, str]]:
    """Call ``work(name)`` for every name, one at a time on each thread of a worker.

    Parameters
    ----------
    work : callable
        Picklable; leaves its own result where it belongs, whole or not at all.
    names : sequence of str
    title : str
        Shown in front of the progress bar.
    scheduler : str
        Address of a dask.distributed scheduler, such as tcp://host:8786.
    project : Path
        The checkout, of client and workers.

    Returns
    -------
    done : dict
        Name to what ``work`` returned.
    failed : dict
        Name to the message of its :class:`NotebookError`. One failure does not stop
        the others.

    Raises
    ------
    ConnectionError
        If no scheduler answers.
    KeyboardInterrupt
        After the workers have been told to stop; what was finished stays.
    """
    done, failed = {}, {}
    if not names:
        return done, failed
    try:
        client = Client(scheduler)
    except OSError as error:
        raise ConnectionError(
            f"no scheduler answers at {scheduler} ({error}); start one with 'dask "
            "scheduler' and workers with 'dask worker ADDRESS --nthreads 1'"
        ) from error
    given = {name: os.environ[name] for name in ("MEMDLIB_DATA",) if name in os.environ}
    given["MEMDLIB_PROJECT"] = str(project)
    with (
        client,
        tqdm(total=len(names), desc=title, unit="notebook", disable=None) as bar,
    ):
        pending = {
            client.submit(
                _on_worker, pickle.dumps((work, name)), given, pure=False
            ): name
            for name in names
        }
        try:
            for future in as_completed(pending):
                name = pending[future]
                try:
                    outcome = future.result()
                except KilledWorker:
                    outcome = None
                if outcome is None:
                    failed[name] = f"{name}: its process was killed; run it again"
                elif isinstance(outcome[0], NotebookError):
                    failed[name] = str(outcome[0])
                elif outcome[0] is not None:
                    raise outcome[0]
                else:
                    done[name] = outcome[1]
                bar.set_postfix_str(name)
                bar.update()
        except BaseException:
            client.cancel(list(pending))
            raise
    return done, failed


def _on_worker(work: bytes, environment: dict[str, str]):
    """Error and result of a process; None if it was killed."""
    worker = get_worker()
    key, project = worker.get_current_task(), environment["MEMDLIB_PROJECT"]
    if not Path(project).is_dir():
        message = (
            f"the worker at {worker.address} has no folder {project}; workers must see "
            "the checkout under the path that it has here"
        )
        return FileNotFoundError(message), None
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        given, outcome = Path(scratch, "work"), Path(scratch, "outcome")
        given.write_bytes(work)
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, given, outcome],
            stdin=subprocess.PIPE,
            cwd=scratch,
            env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            while process.poll() is None and _is_wanted(worker, key):
                try:
                    process.wait(_PAUSE)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            _end(process)
        return pickle.loads(outcome.read_bytes()) if outcome.is_file() else None


def _is_wanted(worker, key: str) -> bool:
    task = worker.state.tasks.get(key)
    return task is not None and task.state == "executing"


def _end(process) -> None:
    process.stdin.close()
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(given: Path, outcome: Path) -> None:
    """Do the work in a file and write its error and result to another."""
    end_quietly()
    threading.Thread(target=_follow_worker, daemon=True).start()
    try:
        work, name = pickle.loads(given.read_bytes())
        found = None, work(name)
    except Exception as error:
        found = error, None
    write_whole(outcome, pickle.dumps(found))


def _follow_worker() -> None:
    """Stop when the worker that holds the other end goes."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
