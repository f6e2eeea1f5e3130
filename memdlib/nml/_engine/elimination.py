"""Elimination in whole numbers: ranks, bases and normals without rounding.

Whether logits of different cells can be chosen freely is a matter of exact zeros, which
floats cannot tell. Every float is a rational, and so every design can be made whole.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

Row = tuple[int, ...]


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
