"""Conditional models of labels on cells: any linear space of logits, any classes.

A cell is a combination of levels, or a level, that some samples share. Each has a row
of features in whole numbers; the logit of a class against the first is linear in them,
with parameters for every other class. One gene, several genes and several classes are
all of this form.

*Elimination.* Whether logits of different cells can be chosen freely is a matter of
exact zeros, which floats cannot tell. Every float is a rational, and so every design
can be made whole: ranks, bases and normals are found without rounding.

*Faces.* A direction of the logits improves a likelihood for ever if in every cell it
prefers the classes that occur there to the others. Its signs, one for each pair of
classes of a cell, are a covector of an oriented matroid; all covectors are composed of
few, the cocircuits, which are the normals of hyperplanes that rows span. Those that
agree with the labels tell together which classes are left in each cell.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.saturated import log_multinomial_sum

Row = tuple[int, ...]
Array = NDArray[np.float64]
Mask = NDArray[np.int64]

# Signs are kept as the bits of an integer.
_MOST_SIGNS = 62
# Sets of elements whose hyperplane is looked for.
_MOST_SETS = 30_000
# Covectors that are listed for a lower bound.
_MOST_COVECTORS = 40_000
# Signs of covectors composed at a time.
_BATCH = 2**21


class Reduced(NamedTuple):
    """Independent rows in reduced form, all times the same whole number.

    Parameters
    ----------
    pivots : tuple of int
        Column of the pivot of each row; all other rows are zero there.
    rows : tuple of tuple of int
    scale : int
        What every row has at its pivot.
    """

    pivots: tuple[int, ...] = ()
    rows: tuple[Row, ...] = ()
    scale: int = 1


def whole_columns(table: Sequence[Sequence[float | Fraction]]) -> tuple[Row, ...]:
    """Multiply each column by the least number that makes it whole and coprime.

    Parameters
    ----------
    table : sequence of N rows of q numbers
        Floats are taken at their exact value.

    Returns
    -------
    tuple of N tuples of q int

    Examples
    --------
    >>> whole_columns([[0.5, 2.0], [0.75, 4.0]])
    ((2, 1), (3, 2))
    """
    columns = []
    for column in zip(*table, strict=True):
        exact = [Fraction(value) for value in column]
        common = lcm(*(value.denominator for value in exact))
        whole = [int(value * common) for value in exact]
        columns.append([value // (gcd(*whole) or 1) for value in whole])
    return tuple(zip(*columns, strict=True))


def extend(reduced: Reduced, row: Row) -> Reduced | None:
    """Add a row to a reduced set; None if it depends on those that are in.

    Parameters
    ----------
    reduced : Reduced
    row : tuple of int

    Returns
    -------
    Reduced or None

    Notes
    -----
    Fraction-free: every number is a minor of the rows, so that the division is exact
    and no number is larger than it must be (Bareiss 1968).

    Examples
    --------
    >>> two = extend(extend(Reduced(), (2, 1, 0)), (0, 1, 1))
    >>> two.pivots, two.rows, two.scale
    ((0, 1), ((2, 0, -1), (0, 2, 2)), 2)
    >>> extend(two, (2, 2, 1)) is None
    True
    """
    pivots, rows, scale = reduced
    left = [scale * value for value in row]
    for pivot, known in zip(pivots, rows, strict=True):
        if factor := row[pivot]:
            left = [a - factor * b for a, b in zip(left, known, strict=True)]
    if not any(left):
        return None
    # the largest, so that rows over the scale are well-conditioned columns
    column = left.index(max(left, key=abs))
    head = left[column]
    others = tuple(
        tuple(
            (head * a - known[column] * b) // scale
            for a, b in zip(known, left, strict=True)
        )
        for known in rows
    )
    return Reduced((*pivots, column), (*others, tuple(left)), head)


def reduce_rows(rows: Iterable[Row]) -> Reduced:
    """Reduced form of the space that rows span.

    Parameters
    ----------
    rows : iterable of tuple of int

    Returns
    -------
    Reduced

    Examples
    --------
    >>> len(reduce_rows([(1, 2), (2, 4), (0, 1)]).pivots)
    2
    """
    reduced = Reduced()
    for row in rows:
        reduced = extend(reduced, row) or reduced
    return reduced


def normal(reduced: Reduced, size: int) -> Row:
    """The vector orthogonal to ``size - 1`` independent rows, up to a factor.

    Parameters
    ----------
    reduced : Reduced
    size : int
        Length of the rows.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> normal(reduce_rows([(2, 1, 0), (0, 1, 1)]), 3)
    (1, -2, 2)
    """
    (free,) = set(range(size)) - set(reduced.pivots)
    found = [0] * size
    found[free] = reduced.scale
    for pivot, row in zip(reduced.pivots, reduced.rows, strict=True):
        found[pivot] = -row[free]
    return tuple(found)


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


@dataclass(frozen=True)
class Arrangement:
    """Cocircuits of the pairs of classes in all cells.

    Parameters
    ----------
    rows : tuple of N tuples of int
    n_classes : int
    pairs : tuple of (cell, class, class)
        Elements of the matroid.
    dimension : int
        Its rank p, the number of free parameters.
    plus, minus : ndarray of shape (Q,)
        Bits of the elements where a cocircuit prefers the first or the second class.
    """

    rows: tuple[Row, ...]
    n_classes: int
    pairs: tuple[tuple[int, int, int], ...]
    dimension: int
    plus: Mask
    minus: Mask


@lru_cache(maxsize=1024)
def arrangement(rows: tuple[Row, ...], n_classes: int) -> Arrangement:
    """Find the cocircuits of a model.

    Parameters
    ----------
    rows : tuple of N tuples of int
        None zero, all different.
    n_classes : int

    Returns
    -------
    Arrangement

    Raises
    ------
    ValueError
        If there are too many signs or hyperplanes.

    Examples
    --------
    Three cells of two parameters span three hyperplanes, each with two normals.

    >>> len(arrangement(((1, 0), (0, 1), (1, 1)), 2).plus)
    6
    """
    choices = list(combinations(range(n_classes), 2))
    pairs = tuple((cell, *two) for cell in range(len(rows)) for two in choices)
    if max(len(pairs), len(rows) * n_classes) > _MOST_SIGNS:
        raise ValueError(
            f"{len(rows)} cells of {n_classes} classes have too many signs for this "
            "computation; join levels, or take fewer features"
        )
    elements = [difference(rows[cell], a, b, n_classes) for cell, a, b in pairs]
    columns = reduce_rows(elements).pivots
    elements = [tuple(e[j] for j in columns) for e in elements]
    p = len(columns)
    if p and math.comb(len(pairs), p - 1) > _MOST_SETS:
        raise ValueError(
            f"{len(rows)} cells with {p} parameters have "
            f"{math.comb(len(pairs), p - 1)} possible hyperplanes, and {_MOST_SETS} "
            "are feasible; join levels, or take fewer features or moments"
        )
    signs = _cocircuits(elements, p)
    return Arrangement(
        rows,
        n_classes,
        pairs,
        p,
        np.array([plus for plus, _ in signs], dtype=np.int64),
        np.array([minus for _, minus in signs], dtype=np.int64),
    )


def _cocircuits(elements: list[Row], p: int) -> list[tuple[int, int]]:
    """Bits of the signs of all normals, both directions of each."""
    found: dict[int, tuple[int, int]] = {}
    flats: list[int] = []

    def descend(reduced: Reduced, chosen: int, first: int) -> None:
        missing = p - 1 - len(reduced.pivots)
        if not missing:
            if any(chosen & ~flat == 0 for flat in flats):
                return
            direction = normal(reduced, p)
            plus = minus = 0
            for bit, row in enumerate(elements):
                value = sum(a * b for a, b in zip(direction, row, strict=True))
                plus |= (value > 0) << bit
                minus |= (value < 0) << bit
            flats.append(((1 << len(elements)) - 1) & ~(plus | minus))
            found[flats[-1]] = plus, minus
            return
        for bit in range(first, len(elements) - missing + 1):
            longer = extend(reduced, elements[bit])
            if longer is not None:
                descend(longer, chosen | 1 << bit, bit + 1)

    if p:
        descend(Reduced(), 0, 0)
    return [signs for two in found.values() for signs in (two, two[::-1])]


def allowed_classes(
    lines: Arrangement, support: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Classes that keep a probability above zero when the supremum is approached.

    Parameters
    ----------
    lines : Arrangement
    support : ndarray of shape (B, N, K)
        Which classes occur in each cell; at least one does.

    Returns
    -------
    ndarray of shape (B, N, K)
        At least those of ``support``; all of them in the interior.

    Examples
    --------
    Pure cells that one direction separates lose the class that does not occur.

    >>> lines = arrangement(((1, 0), (0, 1), (1, 1)), 2)
    >>> support = np.array([[[True, False], [False, True], [True, True]]])
    >>> allowed_classes(lines, support)[0].astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    not_plus = np.zeros(len(support), dtype=np.int64)
    not_minus = np.zeros_like(not_plus)
    for bit, (cell, a, b) in enumerate(lines.pairs):
        not_plus |= support[:, cell, b].astype(np.int64) << bit
        not_minus |= support[:, cell, a].astype(np.int64) << bit
    up, down = np.zeros_like(not_plus), np.zeros_like(not_plus)
    for plus, minus in zip(lines.plus, lines.minus, strict=True):
        agrees = (plus & not_plus | minus & not_minus) == 0
        up |= np.where(agrees, plus, 0)
        down |= np.where(agrees, minus, 0)
    allowed = np.ones_like(support)
    for bit, (cell, a, b) in enumerate(lines.pairs):
        allowed[:, cell, b] &= ~(support[:, cell, a] & (up >> bit & 1 > 0))
        allowed[:, cell, a] &= ~(support[:, cell, b] & (down >> bit & 1 > 0))
    return allowed


@lru_cache(maxsize=256)
def saturated_faces(rows: tuple[Row, ...], n_classes: int) -> NDArray[np.bool_] | None:
    """Faces on which every logit that is left is free.

    Parameters
    ----------
    rows : tuple of N tuples of int
    n_classes : int

    Returns
    -------
    ndarray of shape (F, N, K) or None
        Classes of each cell on each such face; None if there are too many covectors.

    Examples
    --------
    Two cells and one parameter: all labels 0, all labels 1.

    >>> saturated_faces(((1,), (2,)), 2).astype(int).tolist()
    [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]
    """
    lines = arrangement(rows, n_classes)
    covectors = _covectors(lines)
    if covectors is None:
        return None
    faces = np.ones((len(covectors), len(rows), n_classes), dtype=bool)
    for bit, (cell, a, b) in enumerate(lines.pairs):
        faces[:, cell, b] &= covectors[:, 0] >> bit & 1 == 0
        faces[:, cell, a] &= covectors[:, 1] >> bit & 1 == 0
    faces = np.unique(faces, axis=0)[::-1]
    kept = [
        face_basis(rows, tuple(map(tuple, face.tolist()))).saturated for face in faces
    ]
    return faces[np.array(kept, dtype=bool)]


def _covectors(lines: Arrangement) -> Mask | None:
    """All compositions of cocircuits, the zero covector included."""
    known = frontier = np.zeros((1, 2), dtype=np.int64)
    step = max(1, _BATCH // max(1, len(lines.plus)))
    while len(frontier):
        longer = []
        for at in range(0, len(frontier), step):
            plus, minus = (column[:, None] for column in frontier[at : at + step].T)
            free = ~(plus | minus)
            pair = plus | lines.plus & free, minus | lines.minus & free
            longer.append(np.unique(np.stack(pair, axis=-1).reshape(-1, 2), axis=0))
        merged = np.unique(np.concatenate([known, *longer]), axis=0)
        if len(merged) > _MOST_COVECTORS:
            return None
        fresh = np.concatenate([merged, known])
        frontier, times = np.unique(fresh, axis=0, return_counts=True)
        frontier, known = frontier[times == 1], merged
    return known


@lru_cache(maxsize=256)
def free_sets(rows: tuple[Row, ...]) -> NDArray[np.bool_]:
    """Sets of cells whose logits can be chosen freely, for two classes.

    Parameters
    ----------
    rows : tuple of N tuples of int

    Returns
    -------
    ndarray of shape (F, N)

    Examples
    --------
    >>> free_sets(((1,), (2,))).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1]]
    """
    found = [(Reduced(), 0, 0)]
    for reduced, chosen, first in found:
        for cell in range(first, len(rows)):
            longer = extend(reduced, rows[cell])
            if longer is not None:
                found.append((longer, chosen | 1 << cell, cell + 1))
    chosen = np.array([bits for _, bits, _ in found], dtype=np.int64)
    return chosen[:, None] >> np.arange(len(rows)) & 1 > 0
