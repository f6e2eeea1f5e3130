"""Open the files of registered data sets: one small function per kind of file.

A reader takes the path of a verified file and returns a `Table`. Its keyword-only
parameters, if any, are the options of `memdlib.datasets.load` for the sets it reads.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import rdata
import xarray as xr


class Table(NamedTuple):
    """What a file holds, before the classes are numbered.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The measurements.
    labels : sequence of str, length n
        The class of each sample, as it is written in the file.
    feature_names : sequence of str, length d, or None
        Names of the columns; None if the file has none.
    sample_names : sequence of str, length n, or None
        Names of the rows; None if the file has none.
    """

    X: np.ndarray
    labels: Sequence[str]
    feature_names: Sequence[str] | None = None
    sample_names: Sequence[str] | None = None


def r_list(path: Path) -> Table:
    """Read an R file that holds one list with a matrix ``x`` and a factor ``y``.

    The matrix may be plain, with dimnames, or a data frame; R's automatic row numbers
    do not count as names of samples.

    Parameters
    ----------
    path : Path
        An RData file.

    Returns
    -------
    Table
        The matrix and the labels.
    """
    # Files written before R 3.5 do not state their encoding.
    (content,) = rdata.read_rda(path, default_encoding="utf-8").values()
    x = content["x"]
    rows, columns = _dimnames(x)
    if rows == [str(i + 1) for i in range(len(x))]:
        rows = None
    return Table(np.asarray(x), [str(label) for label in content["y"]], columns, rows)


def _dimnames(x: Any) -> tuple[list[str] | None, list[str] | None]:
    """Names of the rows and columns of a matrix, in any of the forms rdata gives it."""
    if isinstance(x, pd.DataFrame):
        axes = [x.index, x.columns]
    elif isinstance(x, xr.DataArray):
        # Not `coords`, which numbers from 0 a dimension that has no names.
        axes = [x.indexes.get(dimension) for dimension in x.dims]
    else:
        axes = [None, None]
    rows, columns = (
        None if axis is None else [str(name) for name in axis.values] for axis in axes
    )
    return rows, columns


READERS: dict[str, Callable[..., Table]] = {"r_list": r_list}
