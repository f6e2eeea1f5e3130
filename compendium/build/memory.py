"""How much memory a computation takes, with all the processes that it starts."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

# Seconds between two looks: what is held for less may be missed.
_EVERY = 0.1


@contextmanager
def peak_memory() -> Iterator[Callable[[], int]]:
    """Watch the processes that this one starts while the block runs.

    Yields
    ------
    callable
        The most that they held together at any look so far, MiB of resident memory.
        What processes share counts for each of them; this process does not count.
    """
    most, done = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(_EVERY):
            most = max(most, _held(psutil.Process()))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: round(most / 2**20)
    finally:
        done.set()
        watcher.join()


def _held(process: psutil.Process) -> int:
    """Bytes of resident memory of all descendants."""
    total = 0
    for child in process.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.NoSuchProcess:  # it has ended since it was listed
            continue
    return total
