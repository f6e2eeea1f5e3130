"""Processor time of ``import memdlib`` against that of importing a peer."""

import resource
import subprocess
import sys

from benchmarks.comparison import Comparison

PEER = "sklearn.naive_bayes"


def import_seconds(module: str) -> float:
    """User and system time of a fresh interpreter that imports one module."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(
        getattr(after, name) - getattr(before, name)
        for name in ("ru_utime", "ru_stime")
    )


def comparisons(repeats: int = 5) -> list[Comparison]:
    """Measure both in turn; the least of several times counts."""
    least = dict.fromkeys(("memdlib", PEER), float("inf"))
    for _ in range(repeats):
        for module in least:
            least[module] = min(least[module], import_seconds(module))
    ours, theirs = (1e3 * seconds for seconds in least.values())
    return [Comparison("import memdlib", f"import {PEER}", ours, theirs, "ms", 1.2)]
