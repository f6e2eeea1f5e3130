"""What a benchmark is: one piece of work, done by memdlib and by a named peer.

Both sides work on the same data in the same process, with one BLAS thread, in turn; the
least of several measurements is taken on each side, and only their ratio has a goal.
Absolute figures belong to the machine. In the same turns one pass is made over the
bytes of the data, which nothing that reads them can undercut: the floor.
"""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
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
    floor : float, default=nan
        One pass over the bytes of the data, in the same unit; nan where the figures are
        no times.
    """

    work: str
    peer: str
    ours: float
    theirs: float
    unit: str
    goal: float
    floor: float = float("nan")

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs

    @property
    def passes(self) -> float:
        """Ours over the floor: for how many passes over the bytes it would do."""
        return self.ours / self.floor


def compare_times(
    work: str,
    peer: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: float,
    data: tuple = (),
    repeats: int = 7,
) -> Comparison:
    """Time both sides in turn; the least of several times counts.

    Parameters
    ----------
    work, peer : str
    ours, theirs : callable
        Do the work once.
    goal : float
    data : tuple of {ndarray, sparse matrix}
        What ours has to read.
    repeats : int, default=7

    Returns
    -------
    Comparison
        In milliseconds.
    """
    least = [float("inf")] * 3
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            for side, do in enumerate((ours, theirs, lambda: read_bytes(*data))):
                start = time.perf_counter()
                do()
                least[side] = min(least[side], time.perf_counter() - start)
    ours, theirs, floor = (1e3 * seconds for seconds in least)
    return Comparison(work, peer, ours, theirs, "ms", goal, floor)


def read_bytes(*data) -> int:
    """Add up all bytes of some arrays, eight at a time: one pass over memory."""
    total = 0
    for values in data:
        thin = sparse.issparse(values)
        arrays = (values.data, values.indices, values.indptr) if thin else (values,)
        for array in arrays:
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            whole = flat[: flat.size // 8 * 8].view(np.uint64)
            total += int(np.add.reduce(whole)) + int(flat[whole.nbytes :].sum())
    return total


def peak_memory(do: Callable[[], object]) -> float:
    """Peak of the memory that a piece of work allocates beyond its input, in MiB."""
    do()
    tracemalloc.start()
    do()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20
