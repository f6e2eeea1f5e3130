"""NML code lengths of labels given each of many quantised features, such as genes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.nml._engine.complexity import TOGETHER, complexities
from memdlib.nml._engine.level_model import level_model
from memdlib.nml.codes.checks import (
    check_binary_labels,
    check_boolean,
    check_level_indices,
    check_levels,
    check_moments,
)
from memdlib.nml.codes.codelength import Codelength
from memdlib.nml.codes.conditional import conditional_error
from memdlib.validation import check_integer, check_real_array


class LevelCounts(NamedTuple):
    """How many samples are at each level of each feature.

    Parameters
    ----------
    counts : ndarray of shape (d, L)
    ones : ndarray of shape (d, L)
        Those with label 1.
    """

    counts: NDArray[np.int64]
    ones: NDArray[np.int64]


def count_levels(
    levels: ArrayLike, labels: ArrayLike, n_levels: int | None = None
) -> LevelCounts:
    """Count samples and labels 1 at each level of each feature.

    Parameters
    ----------
    levels : array_like of shape (n, d)
        Index of the level of each sample in each feature, from 0 on.
    labels : array_like of shape (n,)
        0 and 1, or False and True.
    n_levels : int, default=None
        Number L of levels; None means the largest index plus one.

    Returns
    -------
    LevelCounts

    Raises
    ------
    ValueError
        If ``levels`` is no table of level indices below ``n_levels``, or ``labels`` not
        binary.

    Examples
    --------
    >>> counts, ones = count_levels([[0, 1], [1, 1], [2, 1]], [0, 0, 1])
    >>> counts.tolist(), ones.tolist()
    ([[1, 1, 1], [0, 3, 0]], [[0, 0, 1], [0, 1, 0]])
    """
    table = check_level_indices(levels)
    largest = int(table.max())
    n_levels = largest + 1 if n_levels is None else check_integer(n_levels, "n_levels")
    if largest >= n_levels:
        raise ValueError(
            f"levels holds {largest}, but n_levels is {n_levels}; indices start at 0"
        )
    y = check_binary_labels(labels, len(table)).astype(bool)
    return LevelCounts(
        *(
            np.array([(part == level).sum(axis=0) for level in range(n_levels)]).T
            for part in (table, table[y])
        )
    )


def feature_codelengths(
    counts: ArrayLike,
    ones: ArrayLike,
    n_moments: Iterable[int] = range(1, 8),
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Codelength:
    """NML code length of the labels given each feature, for several moments.

    Parameters
    ----------
    counts, ones : array_like of shape (d, L)
        Samples at each level of each feature and the labels 1 among them, from
        `count_levels`.
    n_moments : iterable of int, default=range(1, 8)
        Numbers of moments x, .., x^m, M of them.
    level_values : array_like of shape (L,), default=None
        Value of each level; None means 1..L.
    intercept : bool, default=False
        Whether the logit has a constant term as well.
    n_jobs : int, default=None
        Workers for the complexities, in the meaning of joblib: None means 1 unless in
        a `joblib.parallel_config` context, -1 all cores. They are processes, which
        take seconds to start.
    verbose : int, default=0
        From 1 on a line is printed for each number of moments and for the complexities;
        above 1 joblib reports as well.

    Returns
    -------
    Codelength
        Its parts are arrays of shape (d, M). A feature that is constant has one level,
        with a probability of its own (or P = 1/2 at level value 0 without intercept),
        for any number of moments.

    Raises
    ------
    ValueError
        If counts, ones or level values are out of range, if a number of moments is
        below 1, or if there is none.

    Notes
    -----
    Complexities whose exact sum takes less than about a tenth of a second are exact.
    The others share a budget that keeps a call to some seconds: about one for exact
    sums, the cheapest first, about three for Gauss rules in equal parts, then half a
    million draws, 8,192 to 65,536 for each, with standard errors of some thousandths of
    a nat. ``uncertainty`` and ``method`` tell which is which, and
    `conditional_complexity_estimate` spends more on those that matter.

    Examples
    --------
    The second feature is constant, the third decides the labels.

    >>> levels = [[0, 1, 0], [1, 1, 0], [2, 1, 2], [1, 1, 2]]
    >>> found = feature_codelengths(*count_levels(levels, [0, 0, 1, 1]), (1, 2))
    >>> found.error.round(3).tolist()
    [[2.66, 1.386], [2.773, 2.773], [2.347, 0.0]]
    >>> found.total.round(3).tolist()
    [[3.867, 3.411], [3.942, 3.942], [3.583, 1.833]]
    """
    counts = np.atleast_2d(check_real_array(counts, "counts"))
    ones = np.atleast_2d(check_real_array(ones, "ones"))
    moments = check_moments(n_moments)
    check_boolean(intercept, "intercept")
    checked, values = check_levels(counts, level_values)
    errors = []
    for m in moments:
        if verbose:
            print(f"[NML] errors for n_moments={m}: {len(counts)} features")
        errors.append(conditional_error(counts, ones, m, level_values, intercept))
    rows, which = np.unique(checked, axis=0, return_inverse=True)
    first = [level_model(row, values, 1, intercept) for row in rows]
    models = [model.of_degree(m) for m in moments for model in first]
    if verbose:
        print(f"[NML] complexities of {len(models)} models")
    found = complexities(
        models, n_jobs=n_jobs, verbose=max(verbose - 1, 0), budget=TOGETHER
    )
    parts = [part.reshape(len(moments), len(rows)).T[which.ravel()] for part in found]
    return Codelength(np.array(errors).T, *parts)
