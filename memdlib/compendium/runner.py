"""Run many notebooks at once, one process each, with progress and a clean stop."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from tqdm import tqdm

from memdlib.compendium.notebooks import NotebookError


def run_all(
    work: Callable[[str], object],
    names: Sequence[str],
    *,
    title: str,
    jobs: int | None = None,
) -> tuple[dict[str, object], dict[str, str]]:
    """Call ``work(name)`` for every name, several at a time.

    Parameters
    ----------
    work : callable
        Picklable; leaves its own result where it belongs, whole or not at all.
    names : sequence of str
    title : str
        Shown in front of the progress bar.
    jobs : int, default=None
        Processes; None means one for each core.

    Returns
    -------
    done : dict
        Name to what ``work`` returned.
    failed : dict
        Name to the message of its :class:`NotebookError`. One failure does not stop
        the others.

    Raises
    ------
    KeyboardInterrupt
        After the kernels have been told to stop; what was finished stays.
    """
    done, failed = {}, {}
    if not names:
        return done, failed
    context = multiprocessing.get_context("spawn")
    workers = min(jobs or os.cpu_count() or 1, len(names))
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_worker)
    try:
        pending = {pool.submit(work, name): name for name in names}
        with tqdm(total=len(pending), desc=title, unit="notebook", disable=None) as bar:
            for future in as_completed(pending):
                name = pending[future]
                try:
                    done[name] = future.result()
                except NotebookError as error:
                    failed[name] = str(error)
                except BrokenProcessPool:
                    failed[name] = f"{name}: its process was killed; run it again"
                bar.set_postfix_str(name)
                bar.update()
    except KeyboardInterrupt:
        _stop(pool)
        raise
    pool.shutdown()
    return done, failed


def _worker() -> None:
    """Leave Ctrl-C to the parent; on its TERM, unwind and so shut the kernel down."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def _stop(pool: ProcessPoolExecutor) -> None:
    workers = multiprocessing.active_children()
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(timeout=20)
        if worker.is_alive():
            worker.kill()
