"""Run benchmarks and print their table: ``python -m benchmarks [name ...]``.

``moment_problems`` prints a table of its own, and only when it is named.
"""

import sys

from benchmarks import (
    dense_fit_and_rank,
    densities,
    kernels,
    memory,
    moment_problems,
    nml,
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
    "topics": topics,
}


def main(names: list[str]) -> None:
    """Print work, figures of both sides, their ratio and its goal.

    Parameters
    ----------
    names : list of str
        Which benchmarks to run; all if empty.
    """
    unknown = sorted(set(names) - set(BENCHMARKS) - {"moment_problems"})
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]!r}; choose from {list(BENCHMARKS)}")
    if "moment_problems" in names:
        moment_problems.main()
        names = [name for name in names if name != "moment_problems"]
        if not names:
            return
    print(f"{'work':66} {'ours':>12} {'peer':>12} {'ratio':>7} {'goal':>5}  peer")
    for name in names or BENCHMARKS:
        for item in BENCHMARKS[name].comparisons():
            ours, theirs = (
                f"{item.ours:.1f} {item.unit}",
                f"{item.theirs:.1f} {item.unit}",
            )
            print(
                f"{item.work:66} {ours:>12} {theirs:>12} {item.ratio:7.3f} "
                f"{item.goal:5.2f}  {item.peer}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
