"""NML code lengths of binary labels, given the level of one feature or of each of many.

Sender and receiver know the levels; the labels are coded by the conditional model
P(1 | x) = logistic(sum_k lambda_k x^k), k = 1..m. The error is minus the maximised
log-likelihood, the complexity the logarithm of the sum of all maximised likelihoods;
both are in nats. Many quantised features, such as genes, are treated together.
"""

import math
import warnings

import numpy as np
from sklearn.utils import check_array

from memdlib.nml.boundary import on_boundary, saturated_log_likelihood
from memdlib.nml.checks import (
    check_binary_labels,
    check_finite,
    check_levels,
    check_ones,
)
from memdlib.nml.codelength import Codelength, ComplexityEstimate
from memdlib.nml.complexity import FEATURE_LIMITS, METHODS, N_DRAWS, complexities
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import level_model, orthonormal_basis
from memdlib.validation import check_choice, check_integer

# Uncertainty, in nats, that is worth a warning where only the complexity is returned.
_WARNED_UNCERTAINTY = 0.1


def conditional_complexity(
    level_counts,
    n_moments,
    *,
    level_values=None,
    intercept=False,
    method="auto",
):
    """Log complexity of the conditional model, from the level occupancies alone.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
        Number of samples at each level, for one feature or for G of them. Equal rows
        are computed once, and results are cached for later calls.
    n_moments : int
        Number m of moments x, .., x^m, 1 or more.
    level_values : array_like of shape (L,), default=None
        Value x of each level; distinct. None means 1..L.
    intercept : bool, default=False
        Whether the logit has a constant term as well.
    method : {"auto", "exact", "monte-carlo"}, default="auto"
        "auto": an exact sum of up to four million terms, random draws otherwise;
        "exact": an exact sum even if it takes hours; "monte-carlo": random draws. The
        error bar is also returned by `conditional_complexity_estimate`.

    Returns
    -------
    float or ndarray of shape (G,)
        In nats.

    Raises
    ------
    ValueError
        If an argument is out of range, if level values are equal or so uneven that a
        logit may be 10^12 times another, or if the method finds no number within the
        proved bounds.

    Warns
    -----
    UserWarning
        If "auto" only finds a number that may be off by more than 0.1 nats.

    Notes
    -----
    Without intercept, a level of value 0 has P = 1/2 whatever the parameters: it does
    not change the complexity, and adds log 2 per sample to the error. Empty levels are
    ignored. The model is saturated once it has as many parameters as there are levels
    left; from then on, further moments change nothing.

    Examples
    --------
    >>> [round(conditional_complexity([8, 8, 8, 7, 7], m), 6) for m in (1, 5, 6)]
    [2.240172, 7.118876, 7.118876]
    """
    estimate = conditional_complexity_estimate(
        level_counts,
        n_moments,
        level_values=level_values,
        intercept=intercept,
        method=method,
    )
    uncertainty = np.max(estimate.uncertainty)
    if method == "auto" and not uncertainty <= _WARNED_UNCERTAINTY:
        warnings.warn(
            f"a complexity may be off by {uncertainty:.2g} nats; "
            "conditional_complexity_estimate tells which and how it was found",
            stacklevel=2,
        )
    return estimate.complexity


def conditional_complexity_estimate(
    level_counts,
    n_moments,
    *,
    level_values=None,
    intercept=False,
    method="auto",
    n_draws=N_DRAWS,
    random_state=0,
):
    """Log complexity of the conditional model, its error bar, and how it was found.

    Parameters
    ----------
    level_counts, n_moments, level_values, intercept, method
        As for `conditional_complexity`.
    n_draws : int, default=65536
        Number of draws for each model that needs them.
    random_state : int, RandomState or None, default=0
        Seed of the draws.

    Returns
    -------
    ComplexityEstimate
        Two floats and a string for one feature, arrays of shape (G,) for G of them.
        Every complexity lies between two proved bounds.

    Raises
    ------
    ValueError
        As for `conditional_complexity`.

    Notes
    -----
    An exact sum is "saturated", in closed form; a "table" over the sufficient
    statistics; or an "enumeration" of all label counts. Where it has too many terms,
    "auto" draws at random, without bias and with a standard error; where too few draws
    determine the mean, it returns the midpoint of the bounds, with half their distance.

    Examples
    --------
    >>> estimate = conditional_complexity_estimate([100] * 4, 3)
    >>> estimate.method, abs(estimate.complexity - 8.69698) < 0.01
    ('monte-carlo', True)
    """
    counts, values = check_levels(level_counts, n_moments, level_values, intercept)
    rows, row_of_model = np.unique(np.atleast_2d(counts), axis=0, return_inverse=True)
    estimate = complexities(
        [level_model(row, values, n_moments, intercept) for row in rows],
        check_choice(method, "method", METHODS),
        check_integer(n_draws, "n_draws"),
        random_state,
    )
    if counts.ndim == 1:
        return ComplexityEstimate(*(field.item() for field in estimate))
    return ComplexityEstimate(*(field[row_of_model.ravel()] for field in estimate))


def conditional_error(
    level_counts,
    ones,
    n_moments,
    *,
    level_values=None,
    intercept=False,
):
    """Code length of labels at the maximum: minus the supremum of their log-likelihood.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
        Number of samples at each level, for one feature or for G of them.
    ones : array_like of the shape of ``level_counts``
        Number of labels 1 among them.
    n_moments, level_values, intercept
        As for `conditional_complexity`.

    Returns
    -------
    float or ndarray of shape (G,)
        In nats; 0.0 for labels that the levels separate.

    Raises
    ------
    ValueError
        If an argument is out of range, or if a maximum cannot be certified.

    Examples
    --------
    >>> round(conditional_error([20, 10, 8], [1, 4, 8], 2), 6)
    10.704259
    >>> conditional_error([20, 10, 8], [0, 0, 8], 2)
    0.0
    """
    counts, values = check_levels(level_counts, n_moments, level_values, intercept)
    ones = np.atleast_2d(check_ones(ones, counts))
    n_dims = counts.ndim
    counts = np.atleast_2d(counts)
    errors = np.empty(len(counts))
    # features with the same occupied levels share a basis, and are solved together
    patterns, pattern_of_feature = np.unique(counts > 0, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        features = np.flatnonzero(pattern_of_feature == i)
        model = level_model(pattern.astype(np.int64), values, n_moments, intercept)
        cells = np.ix_(features, model.order)
        active_counts = counts[cells].T.astype(np.float64)
        n_fixed = counts[features].sum(axis=1) - active_counts.sum(axis=0)
        value = _max_log_likelihoods(model, active_counts, ones[cells].T)
        # samples at value 0 have P = 1/2 without an intercept
        errors[features] = n_fixed * math.log(2.0) - value
    # neither below zero by rounding, nor -0.0
    errors = np.maximum(errors, 0.0) + 0.0
    return errors if n_dims == 2 else float(errors[0])


def _max_log_likelihoods(model, counts, ones):
    """Suprema (B,) for label counts (L, B), on the boundary or not."""
    value = saturated_log_likelihood(counts, ones)
    interior = np.flatnonzero(~on_boundary(model, ones, counts))
    if interior.size:
        basis = orthonormal_basis(model)
        value[interior], _, _ = max_log_likelihoods(
            model, basis, counts[:, interior], ones[:, interior]
        )
    return value


def conditional_codelength(x, labels, n_moments, *, intercept=False):
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
        In nats.

    Raises
    ------
    ValueError
        As for `conditional_complexity`.

    Examples
    --------
    >>> x = [1, 1, 1, 2, 2, 3, 3, 3]
    >>> code = conditional_codelength(x, [0, 0, 0, 0, 1, 1, 1, 1], n_moments=2)
    >>> round(code.error, 6), round(code.complexity, 6), round(code.total, 6)
    (1.386294, 2.571985, 3.958279)
    """
    x = check_finite(x, "x")
    y = check_binary_labels(labels, len(x))
    values, level = np.unique(x, return_inverse=True)
    counts = np.bincount(level)
    ones = np.bincount(level, weights=y)
    estimate = conditional_complexity_estimate(
        counts, n_moments, level_values=values, intercept=intercept
    )
    return Codelength(
        error=conditional_error(
            counts, ones, n_moments, level_values=values, intercept=intercept
        ),
        complexity=estimate.complexity,
        uncertainty=estimate.uncertainty,
        method=estimate.method,
    )


def count_levels(levels, labels, *, n_levels=None):
    """Count the samples and the labels 1 at each level of each feature.

    Parameters
    ----------
    levels : array_like of shape (n, d)
        Index of the level of each sample in each feature, starting at 0.
    labels : array_like of shape (n,)
        0 and 1, or False and True.
    n_levels : int, default=None
        Number L of levels; None means the largest index plus one.

    Returns
    -------
    counts : ndarray of shape (d, L)
        Number of samples.
    ones : ndarray of shape (d, L)
        Number of samples with label 1.

    Raises
    ------
    ValueError
        If levels are not integers from 0 to L - 1, or labels not 0 and 1.

    Examples
    --------
    >>> counts, ones = count_levels([[0, 1], [1, 1], [2, 1]], [0, 0, 1])
    >>> counts.tolist(), ones.tolist()
    ([[1, 1, 1], [0, 3, 0]], [[0, 0, 1], [0, 1, 0]])
    """
    table = check_array(levels, dtype=None, input_name="levels")
    is_integer = np.issubdtype(table.dtype, np.integer)
    if not is_integer or table.min() < 0:
        raise ValueError(f"levels is of {table.dtype}; give level indices 0, 1, ..")
    largest = int(table.max())
    if n_levels is None:
        n_levels = largest + 1
    n_levels = check_integer(n_levels, "n_levels")
    if largest >= n_levels:
        raise ValueError(
            f"levels holds {largest}, but n_levels is {n_levels}; indices start at 0"
        )
    y = check_binary_labels(labels, len(table)).astype(bool)
    n_features = table.shape[1]
    # one number for each level of each feature
    cells = n_levels * np.arange(n_features) + table
    size = n_features * n_levels
    counts = np.bincount(cells.ravel(), minlength=size)
    ones = np.bincount(cells[y].ravel(), minlength=size)
    return counts.reshape(-1, n_levels), ones.reshape(-1, n_levels)


def feature_codelengths(
    counts,
    ones,
    *,
    n_moments=range(1, 8),
    level_values=None,
    intercept=False,
    verbose=0,
):
    """NML code length of the labels given each feature, for several numbers of moments.

    Parameters
    ----------
    counts, ones : array_like of shape (d, L)
        Number of samples at each level of each feature and of the labels 1 among them,
        from `count_levels`.
    n_moments : iterable of int, default=range(1, 8)
        M numbers m of moments x, .., x^m.
    level_values, intercept
        As for `conditional_complexity`.
    verbose : int, default=0
        Above zero, print how many complexities are left, at every tenth of them.

    Returns
    -------
    Codelength
        Its fields are arrays of shape (d, M). A constant feature has one level, with a
        probability of its own (or P = 1/2 at level value 0 without intercept), for any
        number of moments.

    Raises
    ------
    ValueError
        As for `conditional_complexity`, or if ``n_moments`` is empty.

    Notes
    -----
    Exact sums have up to half a million terms here; a model that needs more takes 8,192
    draws, with a standard error of some thousandths of a nat. Where that matters,
    `conditional_complexity_estimate` takes more draws.

    Examples
    --------
    The second feature is constant, the third decides the labels.

    >>> levels = [[0, 1, 0], [1, 1, 0], [2, 1, 2], [1, 1, 2]]
    >>> counts, ones = count_levels(levels, [0, 0, 1, 1])
    >>> feature_codelengths(counts, ones, n_moments=(1, 2)).total.round(3).tolist()
    [[3.867, 3.411], [3.942, 3.942], [3.583, 1.833]]
    """
    if isinstance(n_moments, str) or not np.iterable(n_moments):
        raise ValueError(
            f"n_moments={n_moments!r} must be an iterable of integers, like [1, 2]"
        )
    moments = list(n_moments)
    if not moments:
        raise ValueError("n_moments is empty; give at least one number of moments")
    counts = np.atleast_2d(counts)
    ones = np.atleast_2d(ones)
    errors = [
        conditional_error(
            counts, ones, m, level_values=level_values, intercept=intercept
        )
        for m in moments
    ]
    counts, values = check_levels(counts, moments[0], level_values, intercept)
    rows, row_of_feature = np.unique(counts, axis=0, return_inverse=True)
    models = [level_model(row, values, m, intercept) for row in rows for m in moments]
    estimate = complexities(models, **FEATURE_LIMITS, verbose=verbose)
    complexity, uncertainty, method = (
        field.reshape(len(rows), len(moments))[row_of_feature.ravel()]
        for field in estimate
    )
    return Codelength(
        error=np.array(errors).T,
        complexity=complexity,
        uncertainty=uncertainty,
        method=method,
    )
