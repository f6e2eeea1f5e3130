"""Our numbers beside the printed ones, over whole tables and under several readings.

A *reading* settles what a source leaves open. It maps each printed column to the place
of our number in the result of a row, for example ``paper.full.js_bernoulli``.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from compendium.ledger.published import first_column, printed_numbers, printed_rows
from compendium.ledger.results import read_result
from compendium.project import root

# Rows whose data cannot be had as the paper had them: only filtered copies are at hand.
FILTERED = {"lung": "lung_1543", "gcm": "gcm_1363"}


class Cell(NamedTuple):
    """One printed number beside ours.

    Attributes
    ----------
    row, column : str
    printed, ours : float
        Per cent.
    spread : float
        Standard deviation of one run of ours, in points.
    one : float
        What one instance is worth, in points.
    """

    row: str
    column: str
    printed: float
    ours: float
    spread: float
    one: float

    @property
    def difference(self) -> float:
        """Ours minus printed, in points."""
        return self.ours - self.printed

    def agrees(self, spreads: float = 2.0) -> bool:
        """Whether the difference is within the spreads, or one instance."""
        return near(self.difference, spreads * self.spread, self.one)


def near(difference: float, spread: float, one: float) -> bool:
    """Whether a difference is within a spread, or within one instance."""
    return bool(abs(difference) <= max(spread, one) + 1e-9)


def run_of(table: str, row: str) -> str:
    """Name of the run that computes a row of a table."""
    name = FILTERED.get(row, row) if table == "table2" else row
    return f"{table}-{name.replace('_', '-')}"


def rows_of(table: str, records: list[dict[str, str]] | None = None) -> list[str]:
    """Rows of a published table whose data are as the paper had them."""
    names = first_column(printed_rows(table) if records is None else records)
    return [name for name in names if table != "table2" or name not in FILTERED]


def at(values: Mapping, place: str):
    """Value at a place like ``paper.full.svm``; None if there is nothing.

    A key may itself contain points, as in ``js_poisson_smooth_0.1``.
    """
    if not isinstance(values, Mapping):
        return None
    if place in values:
        return values[place]
    keys = place.split(".")
    for cut in range(1, len(keys)):
        head, tail = ".".join(keys[:cut]), ".".join(keys[cut:])
        if head in values:
            found = at(values[head], tail)
            if found is not None:
                return found
    return None


class Evidence:
    """What the claims of a checkout rest on; every file is read once, when needed.

    Parameters
    ----------
    project : Path, default=None
        Checkout; None finds it.
    """

    def __init__(self, project: Path | None = None):
        project = project or root()
        self._printed = cache(partial(printed_rows, project=project))
        self._result = cache(partial(read_result, project=project))

    def values(self, run: str) -> dict:
        """Values of the result of a run."""
        return self._result(run)["values"]

    def rows(self, table: str) -> list[str]:
        """The :func:`rows_of` a table."""
        return rows_of(table, self._printed(table))

    def values_of_rows(self, table: str) -> list[dict]:
        """Values of the run of each of these rows."""
        return [self.values(run_of(table, row)) for row in self.rows(table)]

    def printed(self, table: str, row: str) -> dict[str, float]:
        """Numbers in one row of a published table."""
        return printed_numbers(table, row, records=self._printed(table))


def cells(
    table: str,
    reading: Mapping[str, str],
    rows: Sequence[str] | None = None,
    project: Path | None = None,
) -> list[Cell]:
    """Printed numbers beside ours under a reading.

    Where the classes are two, MeMd-J and MeMd-JS are one algorithm, printed once: such
    a row has a cell for ``memd_js`` only.

    Parameters
    ----------
    table : {"table2", "table3"}
    reading : mapping of str to str
        Printed column to the place of ours.
    rows : sequence of str, default=None
        Rows of the table; None takes those of :func:`rows_of`.
    project : Path, default=None
        Checkout; None finds it.

    Returns
    -------
    list of Cell
        Row by row; a place that a row's result does not have is left out.
    """
    found, evidence = [], Evidence(project)
    for row in evidence.rows(table) if rows is None else rows:
        printed, values = (
            evidence.printed(table, row),
            evidence.values(run_of(table, row)),
        )
        for column, place in reading.items():
            if column == "memd_j" and printed["classes"] == 2:
                continue
            accuracy = at(values, f"{place}.accuracy")
            if accuracy is not None:
                ours = accuracy["mean"], accuracy["sd"], accuracy["row"]
                found.append(Cell(row, column, printed[column], *ours))
    return found


def deviation(found: Sequence[Cell]) -> float:
    """Root mean square of the differences, in points."""
    return float(np.sqrt(np.mean([cell.difference**2 for cell in found])))


def share_of_firsts(
    readings: Sequence[Sequence[Cell]], *, draws: int = 2000, seed: int = 0
) -> list[float]:
    """How often each reading comes nearest when the rows are drawn anew.

    Parameters
    ----------
    readings : sequence of sequences of Cell
        Cells of the same rows and columns under each reading.
    draws : int, default=2000
        Bootstrap samples of the rows.
    seed : int, default=0

    Returns
    -------
    list of float
        Shares of the draws, of sum one; a tie goes to the first.
    """
    rows = sorted({cell.row for cell in readings[0]})
    squares = np.array(
        [
            [sum(c.difference**2 for c in found if c.row == row) for row in rows]
            for found in readings
        ]
    )
    drawn = np.random.default_rng(seed).integers(len(rows), size=(draws, len(rows)))
    first = squares[:, drawn].sum(axis=2).argmin(axis=0)
    return (np.bincount(first, minlength=len(readings)) / draws).tolist()
