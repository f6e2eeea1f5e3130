"""On which face of the polytope of statistics label counts lie, without rounding.

A direction of the logits improves a likelihood for ever if in every cell it prefers
the classes that occur there to the others. Its signs, one for each pair of classes of
a cell, are a covector of an oriented matroid; all covectors are composed of few, the
cocircuits, which are the normals of hyperplanes that rows span. Those that agree with
the labels tell together which classes are left in each cell.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.cell_model import difference, face_basis
from memdlib.nml._engine.elimination import (
    Reduced,
    Row,
    extend,
    normal,
    reduce_rows,
)

Mask = NDArray[np.int64]

# Signs are kept as the bits of an integer.
_MOST_SIGNS = 62
# Sets of elements whose hyperplane is looked for.
_MOST_SETS = 30_000
# Covectors that are listed for a lower bound.
_MOST_COVECTORS = 40_000
# Signs of covectors composed at a time.
_BATCH = 2**21


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
