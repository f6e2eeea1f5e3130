"""Numbers that the sources print, as they stand in ``data/published``."""

import csv
from contextlib import suppress
from functools import cache
from pathlib import Path

from compendium.project import root


def printed_rows(table: str, project: Path | None = None) -> list[dict[str, str]]:
    """Rows of a published table, as text.

    Parameters
    ----------
    table : str
        Name of the file in ``data/published``, without its ending.
    project : Path, default=None
        Checkout; None finds it.

    Returns
    -------
    list of dict
        Column to text.
    """
    return _rows((project or root()) / "data" / "published" / f"{table}.csv")


@cache
def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def printed_numbers(
    table: str, row: str, project: Path | None = None
) -> dict[str, float]:
    """Numbers in one row of a published table.

    Parameters
    ----------
    table : str
        Name of the file in ``data/published``, without its ending.
    row : str
        Value of the first column.
    project : Path, default=None
        Checkout; None finds it.

    Returns
    -------
    dict
        Column to number; cells without a number are left out.

    Raises
    ------
    ValueError
        If the table has no such row; names those it has.
    """
    records = by_first_column(table, project)
    if row not in records:
        raise ValueError(f"{table}.csv has no row {row!r}; it has {[*records]}")
    numbers = {}
    for column, text in list(records[row].items())[1:]:
        with suppress(ValueError):  # an empty cell, or words
            numbers[column] = float(text)
    return numbers


def by_first_column(
    table: str, project: Path | None = None
) -> dict[str, dict[str, str]]:
    """Rows of a published table by their names, which stand in its first column."""
    return {next(iter(row.values())): row for row in printed_rows(table, project)}
