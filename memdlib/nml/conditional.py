"""NML code lengths of binary labels given the level of a feature, or of each of many.

Sender and receiver know the levels; the labels are coded by the conditional model
P(1 | x) = logistic(sum_k lambda_k x^k), k = 1..m. Error is the maximised code length,
complexity the logarithm of the sum of all maximised likelihoods; both are in nats. Of
many quantised features, such as genes, both are found together.
"""

import math
import warnings
from collections.abc import Iterable

import numpy as np
from sklearn.utils import check_array

from memdlib._types import Array, ArrayLike, NDArray
from memdlib.nml.boundary import on_boundary, saturated_log_likelihood
from memdlib.nml.checks import (
    check_binary_labels,
    check_finite,
    check_levels,
    check_ones,
)
from memdlib.nml.codelength import Codelength, ComplexityEstimate
from memdlib.nml.complexity import METHODS, N_DRAWS, OF_MANY, complexities
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import level_model, orthonormal_basis
from memdlib.validation import check_choice, check_integer

# Uncertainty, in nats, that is worth a warning where only the number is returned.
_DOUBTFUL = 0.1


def conditional_complexity(
    level_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    method: str = "auto",
) -> float | Array:
    """Log complexity of the conditional model, from the level occupancies alone.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
        Samples at each level, for one feature or for G of them. Equal rows are worked
        out once, and results are kept for later calls.
    n_moments : int
        Number m of moments x, .., x^m, 1 or more.
    level_values : array_like of shape (L,), default=None
        Value x of each level; distinct. None means 1..L.
    intercept : bool, default=False
        Whether the logit has a constant term as well.
    method : {"auto", "exact", "monte-carlo"}, default="auto"
        "auto": an exact sum of up to four million terms, else random draws; "exact": a
        sum at the price of hours; "monte-carlo": draws. The error bar is what
        `conditional_complexity_estimate` also returns.

    Returns
    -------
    float or ndarray of shape (G,)
        Nats.

    Raises
    ------
    ValueError
        If an argument is out of range, level values are equal or so uneven that a logit
        may be 10^12 times another, or the method finds no number in proved bounds.

    Warns
    -----
    UserWarning
        If "auto" only finds a number that may be off by more than 0.1 nats.

    Notes
    -----
    Without intercept, a level of value 0 has P = 1/2 whatever the parameters: it leaves
    the complexity as it is, and adds log 2 for each sample to the error. Empty levels
    do not count. The model is saturated as soon as it has as many parameters as other
    levels are left; from there on, more moments change nothing.

    Examples
    --------
    >>> [round(conditional_complexity([8, 8, 8, 7, 7], m), 6) for m in (1, 5, 6)]
    [2.240172, 7.118876, 7.118876]
    """
    found = conditional_complexity_estimate(
        level_counts, n_moments, level_values, intercept, method
    )
    doubt = np.max(found.uncertainty)
    if method == "auto" and doubt > _DOUBTFUL:
        warnings.warn(
            f"a complexity may be off by {doubt:.2g} nats; "
            "conditional_complexity_estimate tells which and how it was found",
            stacklevel=2,
        )
    return found.complexity


def conditional_complexity_estimate(
    level_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    method: str = "auto",
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> ComplexityEstimate:
    """Log complexity of the conditional model, its error bar, and how it was found.

    Parameters
    ----------
    level_counts, n_moments, level_values, intercept, method
        As for `conditional_complexity`.
    n_draws : int, default=65536
        Draws for each model that needs some.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    ComplexityEstimate
        Of floats and a string, or of arrays (G,). Every complexity lies between two
        proved bounds.

    Notes
    -----
    An exact sum is "saturated", in closed form; a "table" over the sufficient
    statistics; or an "enumeration" of all label counts. Where it has too many terms,
    "auto" draws, without bias and with a standard error; and where too few draws carry
    the mean, it returns the middle between the bounds, with half their distance.

    Examples
    --------
    >>> found = conditional_complexity_estimate([100] * 4, 3)
    >>> found.method, abs(found.complexity - 8.69698) < 0.01
    ('monte-carlo', True)
    """
    counts, values = check_levels(level_counts, n_moments, level_values, intercept)
    rows, which = np.unique(np.atleast_2d(counts), axis=0, return_inverse=True)
    found = complexities(
        [level_model(row, values, n_moments, intercept) for row in rows],
        check_choice(method, "method", METHODS),
        check_integer(n_draws, "n_draws"),
        seed,
    )
    found = (part[which.ravel()] for part in found)
    if counts.ndim == 1:
        found = (part.item() for part in found)
    return ComplexityEstimate(*found)


def conditional_error(
    level_counts: ArrayLike,
    ones: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> float | Array:
    """Maximised code length of labels, minus the supremum of their log-likelihood.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
        Samples at each level, for one feature or for G of them.
    ones : array_like of the shape of ``level_counts``
        Labels 1 among them.
    n_moments, level_values, intercept
        As for `conditional_complexity`.

    Returns
    -------
    float or ndarray of shape (G,)
        Nats; 0.0 for labels that the levels separate. Each maximum is certified, or
        ValueError raised.

    Examples
    --------
    >>> round(conditional_error([20, 10, 8], [1, 4, 8], 2), 6)
    10.704259
    >>> conditional_error([20, 10, 8], [0, 0, 8], 2)
    0.0
    """
    given, values = check_levels(level_counts, n_moments, level_values, intercept)
    all_ones, counts = np.atleast_2d(check_ones(ones, given)).T, np.atleast_2d(given).T
    found = np.zeros(counts.shape[1])
    # features with the same occupied levels share a basis, and are solved together
    occupied, which = np.unique(counts > 0, axis=1, return_inverse=True)
    for pattern, column in enumerate(occupied.T):
        here = np.flatnonzero(which == pattern)
        model = level_model(column.astype(np.int64), values, n_moments, intercept)
        n = counts[np.ix_(model.order, here)].astype(np.float64)
        k = all_ones[np.ix_(model.order, here)]
        fixed = counts[:, here].sum(axis=0) - n.sum(axis=0)
        reached = saturated_log_likelihood(n, k)
        inside = np.flatnonzero(~on_boundary(model, k, n))
        if inside.size:
            n, k = n[:, inside], k[:, inside]
            reached[inside] = max_log_likelihoods(
                model, orthonormal_basis(model), n, k
            )[0]
        found[here] = fixed * math.log(2.0) - reached
    # neither below zero by rounding, nor -0.0
    found = np.maximum(found, 0.0) + 0.0
    return found if given.ndim == 2 else float(found[0])


def conditional_codelength(
    x: ArrayLike, labels: ArrayLike, n_moments: int, intercept: bool = False
) -> Codelength:
    """NML code length of labels, given the level value of each sample.

    Parameters
    ----------
    x : array_like of shape (n,)
        Level value of each sample; the distinct values are the levels.
    labels : array_like of shape (n,)
        0 and 1, or False and True.
    n_moments, intercept
        As for `conditional_complexity`.

    Returns
    -------
    Codelength

    Examples
    --------
    >>> x = [1, 1, 1, 2, 2, 3, 3, 3]
    >>> found = conditional_codelength(x, [0, 0, 0, 0, 1, 1, 1, 1], n_moments=2)
    >>> round(found.error, 6), round(found.complexity, 6), round(found.total, 6)
    (1.386294, 2.571985, 3.958279)
    """
    x = check_finite(x, "x")
    y = check_binary_labels(labels, len(x))
    values, level = np.unique(x, return_inverse=True)
    counts, ones = np.bincount(level), np.bincount(level, weights=y)
    return Codelength(
        conditional_error(counts, ones, n_moments, values, intercept),
        *conditional_complexity_estimate(counts, n_moments, values, intercept),
    )


def count_levels(
    levels: ArrayLike, labels: ArrayLike, n_levels: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    counts, ones : ndarray of shape (d, L)
        The second are those with label 1.

    Examples
    --------
    >>> counts, ones = count_levels([[0, 1], [1, 1], [2, 1]], [0, 0, 1])
    >>> counts.tolist(), ones.tolist()
    ([[1, 1, 1], [0, 3, 0]], [[0, 0, 1], [0, 1, 0]])
    """
    table = check_array(levels, dtype=None, input_name="levels")
    if not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        raise ValueError(f"levels is of {table.dtype}; give level indices 0, 1, ..")
    largest = int(table.max())
    n_levels = largest + 1 if n_levels is None else check_integer(n_levels, "n_levels")
    if largest >= n_levels:
        raise ValueError(
            f"levels holds {largest}, but n_levels is {n_levels}; indices start at 0"
        )
    y = check_binary_labels(labels, len(table)).astype(bool)
    counts, ones = (
        np.array([(part == level).sum(axis=0) for level in range(n_levels)]).T
        for part in (table, table[y])
    )
    return counts, ones


def feature_codelengths(
    counts: ArrayLike,
    ones: ArrayLike,
    n_moments: Iterable[int] = range(1, 8),
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> Codelength:
    """NML code length of the labels given each feature, for several moments.

    Parameters
    ----------
    counts, ones : array_like of shape (d, L)
        Samples at each level of each feature and the labels 1 among them, from
        `count_levels`.
    n_moments : iterable of int, default=range(1, 8)
        Numbers of moments x, .., x^m, M of them.
    level_values, intercept
        As for `conditional_complexity`.

    Returns
    -------
    Codelength
        Its parts are arrays of shape (d, M). A feature that is constant has one level,
        with a probability of its own (or P = 1/2 at level value 0 without intercept),
        for any number of moments.

    Notes
    -----
    Exact sums have up to half a million terms here; a model that needs more takes 8,192
    draws, with a standard error of some thousandths of a nat;
    `conditional_complexity_estimate` spends more on those that matter.

    Examples
    --------
    The second feature is constant, the third decides the labels.

    >>> levels = [[0, 1, 0], [1, 1, 0], [2, 1, 2], [1, 1, 2]]
    >>> found = feature_codelengths(*count_levels(levels, [0, 0, 1, 1]), (1, 2))
    >>> found.total.round(3).tolist()
    [[3.867, 3.411], [3.942, 3.942], [3.583, 1.833]]
    """
    moments, counts, ones = list(n_moments), np.atleast_2d(counts), np.atleast_2d(ones)
    if not moments:
        raise ValueError("n_moments is empty; give at least one number of moments")
    given = level_values, intercept
    errors = [conditional_error(counts, ones, m, *given) for m in moments]
    counts, values = check_levels(counts, moments[0], *given)
    rows, which = np.unique(counts, axis=0, return_inverse=True)
    models = [level_model(row, values, m, intercept) for m in moments for row in rows]
    found = complexities(models, **OF_MANY)
    parts = [part.reshape(len(moments), len(rows)).T[which.ravel()] for part in found]
    return Codelength(np.array(errors).T, *parts)
