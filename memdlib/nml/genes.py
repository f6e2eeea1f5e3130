"""NML code lengths of labels given each of many quantised features, such as genes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.nml.checks import (
    binary_labels,
    level_counts_and_values,
    positive_integer,
)
from memdlib.nml.conditional import conditional_complexity
from memdlib.nml.errors import maximised_code_lengths

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GeneCodelengths:
    """Code lengths of d features for several numbers of moments, in nats.

    Parameters
    ----------
    error, complexity : ndarray of shape (d, M)
    """

    error: Array
    complexity: Array

    @property
    def total(self) -> Array:
        """Error plus complexity, of shape (d, M)."""
        return self.error + self.complexity


def gene_codelengths(
    levels: ArrayLike,
    labels: ArrayLike,
    n_moments: Iterable[int] = range(1, 8),
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> GeneCodelengths:
    """NML code length of the labels given each feature, for several moments.

    Parameters
    ----------
    levels : array_like of shape (n, d)
        Index of the level of each sample in each feature, from 0 on.
    labels : array_like of shape (n,)
        0 and 1, or False and True.
    n_moments : iterable of int, default=range(1, 8)
        Numbers of moments x, .., x^m.
    level_values : array_like of shape (L,), default=None
        Value of each level; None means 1..L with L the largest index plus one.
    intercept : bool, default=False
        Whether the logit has a constant term as well.

    Returns
    -------
    GeneCodelengths
        A feature that is constant has one level, with a probability of its own (or
        P = 1/2 at level value 0 without intercept), for any number of moments.

    Raises
    ------
    ValueError
        If ``levels`` is no table of level indices, ``labels`` not binary, a number of
        moments below 1, or level values not finite and distinct.

    Examples
    --------
    The second feature is constant, the third decides the labels.

    >>> levels = [[0, 1, 0], [1, 1, 0], [2, 1, 2], [1, 1, 2]]
    >>> found = gene_codelengths(levels, [0, 0, 1, 1], n_moments=(1, 2))
    >>> found.error.round(3).tolist()
    [[2.66, 1.386], [2.773, 2.773], [2.347, 0.0]]
    >>> found.total.round(3).tolist()
    [[3.867, 3.411], [3.942, 3.942], [3.583, 1.833]]
    """
    table = np.asarray(levels)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"levels has shape {table.shape}; give samples x features")
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        wrong = "negative" if table.dtype.kind == "i" else str(table.dtype)
        raise ValueError(
            f"levels is {wrong}; give level indices 0, 1, .., and their values as "
            "level_values"
        )
    n_levels = int(table.max()) + 1
    if level_values is not None:
        given = np.size(level_values)
        if given < n_levels:
            raise ValueError(
                f"levels holds {n_levels - 1}, but there are {given} level_values; "
                "give one value for each level"
            )
        n_levels = given
    y = binary_labels(labels, len(table)).astype(bool)
    moments = [positive_integer(m, "n_moments") for m in n_moments]
    counts, ones = (
        np.array([(part == level).sum(axis=0) for level in range(n_levels)])
        for part in (table, table[y])
    )
    counts, values = level_counts_and_values(counts.T, level_values, stack=True)
    error = [
        maximised_code_lengths(counts.T, ones.astype(float), values, m, intercept)
        for m in moments
    ]
    complexity = [conditional_complexity(counts, m, values, intercept) for m in moments]
    return GeneCodelengths(np.array(error).T, np.array(complexity).T)
