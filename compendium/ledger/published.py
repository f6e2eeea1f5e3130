"""Numbers that the sources print, as they stand in ``data/published``."""

import csv
from contextlib import suppress
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
    path = (project or root()) / "data" / "published" / f"{table}.csv"
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def printed_numbers(
    table: str,
    row: str,
    project: Path | None = None,
    *,
    records: list[dict[str, str]] | None = None,
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
    records : list of dict, default=None
        Rows of the table, if they have been read already.

    Returns
    -------
    dict
        Column to number; cells without a number are left out.

    Raises
    ------
    ValueError
        If the table has no such row; names those it has.
    """
    if records is None:
        records = printed_rows(table, project)
    names = first_column(records)
    if row not in names:
        raise ValueError(f"{table}.csv has no row {row!r}; it has {names}")
    found = {}
    for column, text in list(records[names.index(row)].items())[1:]:
        with suppress(ValueError):  # an empty cell, or words
            found[column] = float(text)
    return found


def first_column(records: list[dict[str, str]]) -> list[str]:
    """Names of the rows of a published table."""
    return [next(iter(record.values())) for record in records]
