"""Run many notebooks at once, one process each, with progress and a clean stop."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from tqdm import tqdm

from compendium.build.notebooks import NotebookError


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
    workers = min(jobs or os.cpu_count() or 1, len(names))
    with tqdm(total=len(names), desc=title, unit="notebook", disable=None) as bar:
        killed = _run(work, names, workers, done, failed, bar)
        # A killed process breaks its pool; whoever else was in it is not to blame.
        for name in killed:
            if _run(work, [name], 1, done, failed, bar):
                failed[name] = f"{name}: its process was killed; run it again"
    return done, failed


def _run(work, names, workers, done, failed, bar) -> list[str]:
    """Fill ``done`` and ``failed``; return the names that a broken pool left over."""
    left = []
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_worker)
    try:
        pending = {pool.submit(_call, work, name): name for name in names}
        for future in as_completed(pending):
            name = pending[future]
            try:
                done[name] = future.result()
            except NotebookError as error:
                failed[name] = str(error)
            except BrokenProcessPool:
                left.append(name)
                continue
            bar.set_postfix_str(name)
            bar.update()
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()
    return left


def end_quietly() -> None:
    """Leave Ctrl-C to whoever started this process; on TERM, stop without a word."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)


def _worker() -> None:
    """Leave Ctrl-C to the parent; on its TERM, or when it dies, stop."""
    end_quietly()
    threading.Thread(target=_follow_parent, daemon=True).start()


def _leave(*_) -> None:
    """Unwind, once and without a word: so the kernel and its scratch folder go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.exit(143)


def _follow_parent() -> None:
    multiprocessing.parent_process().join()
    os.kill(os.getpid(), signal.SIGTERM)


def _call(work: Callable[[str], object], name: str) -> object:
    try:
        return work(name)
    except SystemExit:
        os._exit(143)  # the pool would go on with the next name


def _stop(pool: ProcessPoolExecutor) -> None:
    workers = multiprocessing.active_children()
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(timeout=20)
        if worker.is_alive():
            worker.kill()
