"""Exact complexities of conditional models against a general solver, and times.

The peer maximises the likelihood of one vector of label counts at a time by BFGS. It
does a sample of the vectors, and its time is scaled to all of them. The larger pieces
of work have no peer but the time that they may take.
"""

import math
import time
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from benchmarks.comparison import Comparison, compare_times
from memdlib.nml import (
    conditional_complexity,
    count_levels,
    feature_codelengths,
    multinomial_complexity,
)
from memdlib.nml.complexity import solve

OCCUPANCY = (8, 8, 8, 7, 7)
N_SAMPLED = 50
N_GENES, N_SAMPLES, N_ONES = 200, 38, 11


def bfgs(counts, ones, m):
    """Log-likelihood of one vector of label counts."""
    x = np.linspace(1 / len(counts), 1, len(counts))
    basis, n = np.linalg.qr(x[:, None] ** np.arange(1, m + 1))[0], np.array(counts)

    def minus(b):
        eta = basis @ b
        value = n @ np.logaddexp(0, eta) - ones @ eta
        return value, basis.T @ (n / (1 + np.exp(-eta)) - ones)

    return minimize(minus, np.zeros(m), jac=True, method="BFGS").fun


def quantised_genes():
    """Levels of equal width of skewed expression values, and labels."""
    rng = np.random.default_rng([71, 2])
    size = (N_SAMPLES, N_GENES)
    skew = rng.choice([0, 1, 2], size=N_GENES)
    x = rng.normal(size=size) + skew * rng.exponential(0.7, size=size)
    share = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    levels = np.minimum((5 * share).astype(int), 4)
    return levels, np.arange(N_SAMPLES) >= N_SAMPLES - N_ONES


def afresh(counts, m):
    """Log complexity, whether it has been found before or not."""
    solve.cache_clear()
    return conditional_complexity(counts, m)


def enumeration(m) -> Comparison:
    """All vectors of label counts of one occupancy."""
    rng = np.random.default_rng([71, 1])
    sample = rng.integers(0, np.array(OCCUPANCY) + 1, size=(N_SAMPLED, len(OCCUPANCY)))
    found = compare_times(
        f"log C of {OCCUPANCY}, {m} moments",
        "scipy minimize, BFGS, scaled",
        lambda: afresh(OCCUPANCY, m),
        lambda: [bfgs(OCCUPANCY, ones, m) for ones in sample],
        goal=0.001,
        data=(np.array(OCCUPANCY),),
        repeats=3,
    )
    scale = math.prod(n + 1 for n in OCCUPANCY) / N_SAMPLED
    return replace(found, theirs=found.theirs * scale)


def against_goal(work, seconds, do) -> Comparison:
    """One run against the time that it may take."""
    start = time.perf_counter()
    do()
    ours = time.perf_counter() - start
    return Comparison(work, "time it may take", 1e3 * ours, 1e3 * seconds, "ms", 1.0)


def comparisons() -> list[Comparison]:
    """Measure one occupancy, larger samples, and all genes, one after the other."""
    counts = count_levels(*quantised_genes())
    solve.cache_clear()
    return [
        against_goal(
            f"{N_GENES} simulated genes, m = 1..7",
            10.0,
            lambda: feature_codelengths(*counts),
        ),
        *(enumeration(m) for m in (1, 2, 3, 4)),
        against_goal(
            "log C of (40, 40, 40, 40, 40), 2 moments",
            0.1,
            lambda: afresh([40] * 5, 2),
        ),
        against_goal(
            "log C(100000, 1000000)",
            0.1,
            lambda: multinomial_complexity(10**6, 10**5),
        ),
    ]
