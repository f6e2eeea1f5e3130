"""What a benchmark is: one piece of work, done by memdlib and by a named peer.

Both sides work on the same data in the same process, with one BLAS thread, in turn; the
least of several measurements is taken on each side, and only their ratio has a goal.
Absolute figures belong to the machine.
"""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Comparison:
    """One line of the table.

    Parameters
    ----------
    work, peer : str
        What is done, and by whom else.
    ours, theirs : float
        Figures of both sides.
    unit : str
        Unit of both figures.
    goal : float
        Ratio of ours to theirs that we aim for, at most.
    """

    work: str
    peer: str
    ours: float
    theirs: float
    unit: str
    goal: float

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs


def compare_times(
    work: str,
    peer: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: float,
    repeats: int = 7,
) -> Comparison:
    """Time both sides in turn; the least of several times counts.

    Parameters
    ----------
    work, peer : str
    ours, theirs : callable
        Do the work once.
    goal : float
    repeats : int, default=7

    Returns
    -------
    Comparison
        In milliseconds.
    """
    least = [float("inf")] * 2
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            for side, do in enumerate((ours, theirs)):
                start = time.perf_counter()
                do()
                least[side] = min(least[side], time.perf_counter() - start)
    return Comparison(work, peer, 1e3 * least[0], 1e3 * least[1], "ms", goal)


def peak_memory(do: Callable[[], object]) -> float:
    """Peak of the memory that a piece of work allocates beyond its input, in MiB."""
    do()
    tracemalloc.start()
    do()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20
