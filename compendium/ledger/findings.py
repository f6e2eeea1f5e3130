"""Measures over the rows of a table: what a sentence of a source comes to."""

import inspect
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import getitem

import numpy as np

from compendium.ledger import beyond, comparison, exact_js, hybrids
from compendium.ledger.exact_js import mean_of_independent
from compendium.ledger.rule import with_doubt
from compendium.ledger.tables import Evidence, at, keys_of, run_of
from compendium.study.protocols import corrected_interval


def wins(
    evidence: Evidence, table: str, one: str, others: Sequence[str]
) -> dict[str, int]:
    """Rows in which our number at one place exceeds those at all the others.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    one : str
        Place in the results; a row that lacks it does not count.
    others : sequence of str
        Other places; those that a row lacks are passed over, and so is a row that
        lacks them all.

    Returns
    -------
    dict
        :func:`compendium.ledger.rule.with_doubt` over the rows.
    """
    won = []
    p = []
    for values in evidence.values_of_rows(table):
        if at(values, one) is None:
            continue
        gaps = [_gap(values, one, other) for other in others if at(values, other)]
        if not gaps:
            continue
        lost = [gap["p"] for gap in gaps if gap["difference"] <= 0]
        won.append(not lost)
        # over all of several others, or below one of them
        both = [min(1.0, len(gaps) * min(lost))] if lost else [g["p"] for g in gaps]
        p.append(max(both))
    return with_doubt(np.array(won, bool), p)


def _gaps(evidence: Evidence, table: str, pairs) -> list[dict[str, float]]:
    """Differences in all rows that have both of a pair."""
    return [
        _gap(values, *pair)
        for values in evidence.values_of_rows(table)
        for pair in pairs
        if None not in [at(values, place) for place in pair]
    ]


def _gap(values: dict, one: str, other: str) -> dict[str, float]:
    """Difference of two methods over the same folds, with interval and p-value."""
    return corrected_interval(_counts(values, one), _counts(values, other))


def _counts(values: dict, place: str) -> dict[str, np.ndarray]:
    """Rows of every fold that a method classified rightly, and those tested.

    The rows tested stand once, in a folder that the method lies in.
    """
    keys = keys_of(values, place)
    if keys is None:
        raise KeyError(f"there is no {place}")
    folders = list(accumulate(keys[:-1], getitem, initial=values))
    tested = [folder["tested"] for folder in folders if "tested" in folder]
    if not tested:
        raise KeyError(f"the rows tested stand in no folder of {place}")
    correct = np.array(folders[-1][keys[-1]]["correct"])
    return {"correct": correct, "tested": np.array(tested[-1])}


def best_early(
    evidence: Evidence, table: str, early: Sequence[str], late: Sequence[str]
) -> dict[str, int]:
    """Rows in which the best of our numbers at some places is above all at others.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    early, late : sequence of str
        Places in the results, as many of the one as of the other: the best of more
        would be the better by chance.

    Returns
    -------
    dict
        :func:`compendium.ledger.rule.with_doubt` over the rows. The best is clear if it
        is above all of the other side, after Bonferroni's correction for having been
        picked from its own.
    """
    if len(early) != len(late):
        raise ValueError(f"{len(early)} early places, {len(late)} late ones")
    won = []
    p = []
    for values in evidence.values_of_rows(table):
        methods = [*late, *early]  # the late one is best if two are equal
        accuracy = {name: at(values, f"{name}.accuracy.mean") for name in methods}
        if None in accuracy.values():
            raise KeyError(f"a row of {table} lacks one of {methods}")
        best = max(methods, key=accuracy.get)
        others = late if best in early else early
        largest = max(_gap(values, best, other)["p"] for other in others)
        won.append(best in early)
        p.append(min(1.0, len(early) * largest))
    return with_doubt(np.array(won), p)


def mean_gap_over_runs(
    evidence: Evidence, runs: Sequence[str], one: str, other: str
) -> dict[str, float]:
    """Mean difference of two methods over the data sets of some runs, in points.

    Parameters
    ----------
    evidence : Evidence
    runs : sequence of str
        On data sets that share no row.
    one, other : str
        Places in the results of each.

    Returns
    -------
    dict
        :func:`compendium.ledger.exact_js.mean_of_independent` differences.
    """
    gaps = [_gap(evidence.values(run), one, other) for run in runs]
    return mean_of_independent(gaps)


def median_over_rows(
    evidence: Evidence, table: str, place: str, factor: float = 1.0
) -> float:
    """Median over the rows of the number at a place, times a factor."""
    numbers = [at(values, place) for values in evidence.values_of_rows(table)]
    if None in numbers:
        raise KeyError(f"a row of {table} has no {place}")
    return factor * float(np.median(numbers))


def sizes_met(evidence: Evidence, table: str, column: str, place: str) -> int:
    """Rows of a published table whose printed size is that of the data we ran."""
    return sum(
        float(record[column]) == at(evidence.values(run_of(table, row)), place)
        for row, record in evidence.records(table).items()
    )


def numbers_met(
    evidence: Evidence, table: str, column: str, cells: Sequence[Sequence[str]]
) -> int:
    """How many printed numbers of a column are ours.

    Parameters
    ----------
    evidence : Evidence
    table, column : str
        Of a published table.
    cells : sequence of (row, run, key)
        Row of the table, and where our number is.
    """
    return sum(
        evidence.printed(table, row)[column] == at(evidence.values(run), key)
        for row, run, key in cells
    )


def difference_of_slopes(
    evidence: Evidence, run: str, one: str, other: str
) -> dict[str, float]:
    """Difference of two slopes that have a range."""
    values = evidence.values(run)
    a = at(values, one)
    b = at(values, other)
    ends = {"low": a["low"] - b["high"], "high": a["high"] - b["low"]}
    return {"median": a["median"] - b["median"]} | ends


def difference_at(evidence: Evidence, run: str, one: str, other: str) -> float:
    """Difference of two numbers of a run."""
    values = evidence.values(run)
    return at(values, one) - at(values, other)


def item_of(evidence: Evidence, run: str, key: str, place: int) -> float:
    """One number of a list that a run has."""
    return at(evidence.values(run), key)[place]


def difference_of_runs(evidence: Evidence, run: str, other: str, key: str) -> float:
    """Difference of a number of one run and the same of another."""
    return at(evidence.values(run), key) - at(evidence.values(other), key)


def at_the_shortest(evidence: Evidence, run: str, place: str) -> int:
    """Whether the levels of least mean code length are among those of most right."""
    best = at(evidence.values(run), place)
    return int(best["codelength"] in best["accuracy"])


def largest_gap(
    evidence: Evidence, table: str, one: str, other: str
) -> dict[str, float]:
    """Largest difference between two of our numbers over the rows, in points.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    one, other : str
        Places in the results; rows that lack one of them are passed over.

    Returns
    -------
    dict
        ``median``, its size; ``low`` and ``high``, the largest of the least and of the
        greatest sizes within the intervals of the rows.
    """
    sizes = [_sizes(gap) for gap in _gaps(evidence, table, [(one, other)])]
    return {key: max(size[key] for size in sizes) for key in ("median", "low", "high")}


def _sizes(gap: dict[str, float]) -> dict[str, float]:
    """Size of a difference, and the least and the greatest within its interval."""
    ends = sorted([abs(gap["low"]), abs(gap["high"])])
    around_zero = gap["low"] < 0.0 < gap["high"]
    low = 0.0 if around_zero else ends[0]
    return {"median": abs(gap["difference"]), "low": low, "high": ends[1]}


def median_share_kept(evidence: Evidence, table: str, place: str, of: str) -> float:
    """Median over the rows of the share of features that are kept, in per cent.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    place : str
        Place of the method in the results.
    of : str
        Place of the number of all features.

    Returns
    -------
    float
    """
    kept = f"{place}.n_features.median"
    rows = evidence.values_of_rows(table)
    return float(np.median([100.0 * at(v, kept) / at(v, of) for v in rows]))


# Functions of evidence, by the name that a claim gives.
MEASURES: dict[str, Callable] = {
    name: measure
    for module in (beyond, comparison, exact_js, hybrids, sys.modules[__name__])
    for name, measure in inspect.getmembers(module, inspect.isfunction)
    if measure.__module__ == module.__name__
    and [*inspect.signature(measure).parameters][:1] == ["evidence"]
}
