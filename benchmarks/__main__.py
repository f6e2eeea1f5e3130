"""Run benchmarks and print their table: ``python -m benchmarks [name ...]``.

The floor is one pass over the bytes of the data, in the unit of the row (nan where the
row is no time), and the column after it says how many floors ours takes.

``moment_problems`` and ``nml_claims`` print tables of their own, of ``--cases`` random
cases, and only when they are named. ``calibration`` is run by itself: ``python -m
benchmarks.calibration``.
"""

import argparse
from functools import partial

from benchmarks import (
    dense_fit_and_rank,
    densities,
    kernels,
    memory,
    moment_problems,
    nml,
    nml_claims,
    recommended,
    sparse_choose_size,
    sparse_fit_and_rank,
    topics,
)

BENCHMARKS = {
    "dense_fit_and_rank": dense_fit_and_rank,
    "sparse_fit_and_rank": sparse_fit_and_rank,
    "sparse_choose_size": sparse_choose_size,
    "densities": densities,
    "kernels": kernels,
    "memory": memory,
    "nml": nml,
    "recommended": recommended,
    "topics": topics,
}


def main(names: list[str], n_cases: int = 1000, n_jobs: int = 1) -> None:
    """Print work, figures of both sides, their ratio and its goal.

    Parameters
    ----------
    names : list of str
        Which benchmarks to run; all if empty.
    n_cases : int, default=1000
        Of tables of random cases.
    n_jobs : int, default=1
        Processes that make them, where they can be shared out.
    """
    tables = {
        "moment_problems": partial(moment_problems.main, n_cases),
        "nml_claims": partial(nml_claims.main, n_cases, n_jobs),
    }
    unknown = sorted(set(names) - set(BENCHMARKS) - set(tables))
    if unknown:
        known = [*BENCHMARKS, *tables]
        raise SystemExit(f"no benchmark {unknown[0]!r}; choose from {known}")
    asked = [name for name in tables if name in names]
    for name in asked:
        tables[name]()
    names = [name for name in names if name not in tables]
    if asked and not names:
        return
    print(
        f"{'work':66} {'ours':>12} {'peer':>12} {'ratio':>7} {'goal':>5} "
        f"{'floor':>10} {'x floor':>8}  peer"
    )
    for name in names or BENCHMARKS:
        for item in BENCHMARKS[name].comparisons():
            ours, theirs = (
                f"{item.ours:.1f} {item.unit}",
                f"{item.theirs:.1f} {item.unit}",
            )
            print(
                f"{item.work:66} {ours:>12} {theirs:>12} {item.ratio:7.3f} "
                f"{item.goal:5.2f} {item.floor:10.3g} {item.passes:8.3g}  {item.peer}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    main(asked.names, asked.cases, asked.jobs)
