"""Our numbers beside the printed ones, over whole tables and under every setting.

What a source leaves open is settled by a *setting*
(:mod:`compendium.ledger.settings`); by which rule a figure agrees is said in
:mod:`compendium.ledger.rule`.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cache, partial, reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pandas as pd

from compendium.ledger.frozen import Frozen, read_frozen
from compendium.ledger.published import by_first_column, printed_numbers
from compendium.ledger.results import read_result
from compendium.ledger.rule import ASSUMED, prediction_limits
from compendium.ledger.settings import SETTINGS
from compendium.project import root

# Rows whose data cannot be had as the paper had them: only filtered copies are at hand.
FILTERED = {"lung": "lung_1543", "gcm": "gcm_1363"}


def run_of(table: str, row: str) -> str:
    """Name of the run that computes a row of a table."""
    name = FILTERED.get(row, row) if table == "table2" else row
    return f"{table}-{name.replace('_', '-')}"


def rows_of(table: str, project: Path | None = None) -> list[str]:
    """Rows of a published table whose data are as the paper had them."""
    left_out = FILTERED if table == "table2" else ()
    return [name for name in by_first_column(table, project) if name not in left_out]


def keys_of(values, place: str) -> list[str] | None:
    """Keys that lead to a place like ``paper.full.svm``; None if nothing is there.

    A key may itself contain points, as in ``js_poisson_smooth_0.1``.

    Examples
    --------
    >>> keys_of({"a": {"b.1": 2}}, "a.b.1")
    ['a', 'b.1']
    """
    if not isinstance(values, Mapping):
        return None
    if place in values:
        return [place]
    for dot in re.finditer(r"\.", place):
        head = place[: dot.start()]
        tail = keys_of(values.get(head), place[dot.end() :])
        if tail is not None:
            return [head, *tail]
    return None


def at(values: Mapping, place: str):
    """Value at a place like ``paper.full.svm``; None if there is nothing."""
    keys = keys_of(values, place)
    return None if keys is None else reduce(getitem, keys, values)


class Evidence:
    """What the claims of a checkout rest on; every file is read once, when needed.

    Parameters
    ----------
    project : Path, default=None
        Checkout; None finds it.

    Attributes
    ----------
    asked : list of str
        Runs whose values were asked for, each once, in the order of the first time.
    """

    def __init__(self, project: Path | None = None):
        self._project = project or root()
        self._result = cache(partial(read_result, project=self._project))
        self.asked: list[str] = []

    def anew(self) -> "Evidence":
        """The same evidence, of which nothing has been asked."""
        other = copy(self)
        other.asked = []
        return other

    def values(self, run: str) -> dict:
        """Values of the result of a run."""
        if run not in self.asked:
            self.asked.append(run)
        return self._result(run)["values"]

    def seconds(self, run: str) -> int:
        """Processor time of a run when its stored result was made."""
        return self._result(run)["seconds"]

    def frozen(self) -> Frozen:
        """The data sets that no default has seen."""
        return read_frozen(self._project)

    def rows(self, table: str) -> list[str]:
        """The :func:`rows_of` a table."""
        return rows_of(table, self._project)

    def values_of_rows(self, table: str) -> list[dict]:
        """Values of the run of each of these rows."""
        return [self.values(run_of(table, row)) for row in self.rows(table)]

    def records(self, table: str) -> dict[str, dict[str, str]]:
        """All rows of a published table, as text."""
        return by_first_column(table, self._project)

    def printed(self, table: str, row: str) -> dict[str, float]:
        """Numbers in one row of a published table."""
        return printed_numbers(table, row, self._project)


def accuracies(evidence: Evidence, table: str, place: str) -> pd.Series:
    """Mean accuracies of a method in all rows of a table, in per cent.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    place : str
        Of the method in the results, like ``paper.full.svm``.

    Returns
    -------
    Series
        Row to accuracy; a row without such a method has NaN.
    """
    place = f"{place}.accuracy.mean"
    rows = evidence.rows(table)
    values = [at(evidence.values(run_of(table, row)), place) for row in rows]
    return pd.Series(values, index=rows, dtype=float)


def printed_wins(
    evidence: Evidence, table: str, one: str, others: Sequence[str]
) -> int:
    """Rows in which the printed figure of one column exceeds those of the others.

    It is nothing that we find, and so no measure of a claim.
    """
    printed = [evidence.printed(table, row) for row in evidence.rows(table)]
    return sum(all(row[one] > row[other] for other in others) for row in printed)


def agreement(evidence: Evidence, table: str, method: str) -> pd.DataFrame:
    """Every printed figure of a method beside ours, under every setting.

    Where the classes are two, MeMd-J and MeMd-JS are one algorithm, printed once: such
    a row of the table has a figure in the column ``memd_js`` only.

    Parameters
    ----------
    evidence : Evidence
    table : {"table2", "table3"}
    method : {"memd", "svm", "dme"}
        Of :data:`compendium.ledger.settings.SETTINGS`.

    Returns
    -------
    DataFrame
        ``setting``, ``plain``, ``place``, ``row``, ``column``, ``printed``, ``ours`` (a
        mean), ``sd`` (of one run), ``repeats``, ``n`` (rows); ``low`` and ``high``, the
        interval of one more run; ``agrees``, whether the printed figure lies in it, and
        ``agrees5``, ``agrees10``, whether it would as a mean over so many runs.
    """
    cells = [
        cell(evidence, table, row, column, place)
        | {"setting": setting.label, "plain": setting.plain}
        for setting in SETTINGS[table][method]
        for row in evidence.rows(table)
        for column, place in setting.places.items()
        if column != "memd_j" or evidence.printed(table, row)["classes"] > 2
    ]
    return judged(pd.DataFrame(cells).dropna(subset=["ours"]))


def cell(evidence: Evidence, table: str, row: str, column: str, place: str) -> dict:
    """One printed figure and our result at a place."""
    printed = evidence.printed(table, row)
    part = at(evidence.values(run_of(table, row)), place) or {}
    accuracy = part.get("accuracy", {})
    return {
        "row": row,
        "column": column,
        "place": place,
        "printed": printed[column],
        "ours": accuracy.get("mean"),
        "sd": accuracy.get("sd"),
        "repeats": len(part.get("correct", ())),
        "n": int(printed["samples"]),
    }


def judged(frame: pd.DataFrame) -> pd.DataFrame:
    """The figures with the intervals of one more run, and whether they agree."""
    ours = [frame[name] for name in ("ours", "sd", "repeats", "n")]
    low, high = prediction_limits(*ours)
    result = frame.assign(low=low, high=high, agrees=_inside(frame, low, high))
    for runs in ASSUMED:
        limits = prediction_limits(*ours, runs)
        result[f"agrees{runs}"] = _inside(frame, *limits)
    return result


def _inside(frame: pd.DataFrame, low, high) -> pd.Series:
    return (low <= frame["printed"]) & (frame["printed"] <= high)


def by_setting(frame: pd.DataFrame) -> pd.DataFrame:
    """How near each setting comes to the printed figures, the nearest first.

    Returns
    -------
    DataFrame
        Indexed by setting: ``plain``; ``row``, number of data sets; ``rms`` and
        ``mean`` of ours minus printed, in points; ``agree`` of ``figures``, and
        ``agree5``, ``agree10`` if they were means over so many runs.
    """
    gap = frame["ours"] - frame["printed"]
    near = {f"agree{runs}": frame[f"agrees{runs}"] for runs in ASSUMED}
    table = frame.assign(mean=gap, rms=gap**2, agree=frame["agrees"], figures=1, **near)
    sums = ["agree", *near, "figures"]
    ways = {"plain": "first", "row": "nunique", "rms": "mean", "mean": "mean"}
    ways |= dict.fromkeys(sums, "sum")
    fits = table.groupby("setting", sort=False).agg(ways)
    return fits.assign(rms=np.sqrt(fits["rms"])).sort_values("rms", kind="stable")


def chosen(frame: pd.DataFrame, *, plain: bool = True) -> str:
    """The setting of least root mean square, among the plain ones or among all.

    Only settings with a figure for every data set are in the choice.
    """
    order = by_setting(frame)
    whole = order["row"] == frame["row"].nunique()
    return order.index[whole & (order["plain"] | (not plain))][0]
