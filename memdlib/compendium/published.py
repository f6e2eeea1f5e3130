"""Figures that the sources print, as they stand in ``data/published``."""

import csv
from pathlib import Path

from memdlib.compendium.project import root


def printed_figures(
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
        Column to number; empty cells are left out.

    Raises
    ------
    ValueError
        If the table has no such row; names those it has.
    """
    path = (project or root()) / "data" / "published" / f"{table}.csv"
    with path.open(newline="") as stream:
        records = list(csv.DictReader(stream))
    names = [next(iter(record.values())) for record in records]
    if row not in names:
        raise ValueError(f"{path.name} has no row {row!r}; it has {names}")
    cells = list(records[names.index(row)].items())[1:]
    return {column: float(text) for column, text in cells if text}
