"""Conditional models of labels on cells: any linear space of logits, any classes.

A cell is a combination of levels, or a level, that some samples share. Each has a row
of features in whole numbers; the logit of a class against the first is linear in them,
with parameters for every other class. One gene, several genes and several classes are
all of this form.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.elimination import Row, reduce_rows, whole_columns
from memdlib.nml._engine.saturated import log_multinomial_sum

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CellModel:
    """Occupied cells with different rows, none of them zero.

    Parameters
    ----------
    rows : tuple of N tuples of q int
        Features of each cell.
    counts : tuple of N int
        Samples in each cell, 1 or more.
    n_classes : int
    """

    rows: tuple[Row, ...]
    counts: tuple[int, ...]
    n_classes: int

    @property
    def saturated_complexity(self) -> float:
        """Log complexity with label distributions of their own for all cells."""
        each = (log_multinomial_sum(n, self.n_classes) for n in self.counts)
        return math.fsum(each)


def additive_design(
    values: Array, n_moments: int, intercept: bool
) -> list[list[Fraction]]:
    """Powers of the values of each feature, and 1 if there is a constant term.

    Parameters
    ----------
    values : ndarray of shape (N, d)
        Value of each feature in each cell, taken as exact.
    n_moments : int
        Highest power m.
    intercept : bool

    Returns
    -------
    list of N lists of d * m numbers, or d * m + 1

    Examples
    --------
    >>> design = additive_design(np.array([[1.0, 2.0], [3.0, 2.0]]), 2, True)
    >>> [[int(x) for x in row] for row in design]
    [[1, 1, 1, 2, 4], [1, 3, 9, 2, 4]]
    """
    return [
        [Fraction(1)] * intercept
        + [Fraction(x) ** j for x in row for j in range(1, n_moments + 1)]
        for row in values.tolist()
    ]


def cell_model(
    design: list[list[Fraction]], tables: NDArray[np.int64], n_classes: int
) -> tuple[CellModel, NDArray[np.int64], int]:
    """Keep the cells that matter, and join those with the same row.

    Parameters
    ----------
    design : list of N lists of q numbers
    tables : ndarray of shape (N, K)
        Labels of each class in each cell.
    n_classes : int
        K.

    Returns
    -------
    model : CellModel
    tables : ndarray of shape (N', K)
        Labels in its cells.
    n_fixed : int
        Samples in cells of a zero row, whose labels are uniform at any parameters.

    Notes
    -----
    Cells with one row have one label distribution. Their labels are those of a single
    cell, and neither likelihood nor complexity can tell.

    Examples
    --------
    >>> tables = np.array([[1, 0], [2, 1], [0, 3], [1, 1]])
    >>> model, joined, fixed = cell_model([[1], [2], [1], [0]], tables, 2)
    >>> model.rows, model.counts, joined.tolist(), fixed
    (((1,), (2,)), (4, 3), [[1, 3], [2, 1]], 2)
    """
    found: dict[Row, NDArray[np.int64]] = {}
    n_fixed = 0
    for row, table in zip(whole_columns(design), tables, strict=True):
        if not table.sum():
            continue
        if any(row):
            found[row] = found.get(row, 0) + table
        else:
            n_fixed += int(table.sum())
    joined = np.array(list(found.values()), dtype=np.int64).reshape(-1, n_classes)
    counts = tuple(joined.sum(axis=1).tolist())
    return CellModel(tuple(found), counts, n_classes), joined, n_fixed


def difference(row: Row, first: int, second: int, n_classes: int) -> Row:
    """Features of the logit of class ``first`` against class ``second`` in a cell.

    Parameters
    ----------
    row : tuple of q int
    first, second, n_classes : int

    Returns
    -------
    tuple of q (K - 1) int
        Class 0 has no parameters.

    Examples
    --------
    >>> difference((1, 2), 2, 1, 3), difference((1, 2), 0, 1, 2)
    ((-1, -2, 1, 2), (-1, -2))
    """
    return tuple(
        ((c == first) - (c == second)) * x for c in range(1, n_classes) for x in row
    )


@dataclass(frozen=True)
class FaceBasis:
    """The model on a face: in every cell only some of the classes.

    Parameters
    ----------
    cells, classes : ndarray of shape (R,)
        Cell and class of each free logit, ordered by cell; it is against the first
        class of its cell.
    basis : ndarray of shape (R, r)
        What the free logits can be.
    """

    cells: NDArray[np.intp]
    classes: NDArray[np.intp]
    basis: Array

    @property
    def saturated(self) -> bool:
        """Whether all free logits can be chosen at will."""
        return self.basis.shape[0] == self.basis.shape[1]


@lru_cache(maxsize=2**15)
def face_basis(rows: tuple[Row, ...], face: tuple[tuple[bool, ...], ...]) -> FaceBasis:
    """Free logits of a face, and a basis of what they can be.

    Parameters
    ----------
    rows : tuple of N tuples of int
    face : tuple of N tuples of K bool
        Which classes each cell has.

    Returns
    -------
    FaceBasis

    Examples
    --------
    >>> face_basis(((1,), (2,)), ((True, True), (True, True))).basis.tolist()
    [[0.5], [1.0]]
    """
    cells, classes, table = [], [], []
    for cell, (row, allowed) in enumerate(zip(rows, face, strict=True)):
        first, *others = np.flatnonzero(allowed).tolist()
        for c in others:
            cells.append(cell)
            classes.append(c)
            table.append(difference(row, c, first, len(allowed)))
    reduced = reduce_rows(zip(*table, strict=True))
    basis = [[x / reduced.scale for x in row] for row in reduced.rows]
    return FaceBasis(
        np.array(cells, dtype=np.intp),
        np.array(classes, dtype=np.intp),
        np.array(basis).reshape(len(basis), len(table)).T,
    )
