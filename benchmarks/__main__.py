"""Run benchmarks and print their table: ``python -m benchmarks [name ...]``.

The floor is one pass over the bytes of the data, in the unit of the row (nan where the
row is no time), and the column after it says how many floors ours takes.
"""

import argparse

from benchmarks import (
    dense_fit_and_rank,
    densities,
    kernels,
    memory,
    nml,
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


def main(names: list[str]) -> None:
    """Print work, figures of both sides, their ratio and its goal.

    Parameters
    ----------
    names : list of str
        Which benchmarks to run; all if empty.
    """
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]!r}; choose from {[*BENCHMARKS]}")
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
    main(parser.parse_args().names)
