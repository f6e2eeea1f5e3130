"""NML of maximum-entropy models on a finite set of levels, exactly.

The model has the moments x, .., x^m on L levels. The largest likelihood of a sequence
of length n depends only on its type, the counts of the levels; so the complexity is a
sum over types. Types whose moments lie on the boundary of what is possible have no
parameter that attains the supremum: there the relative frequencies are the only
distribution with these moments, and the supremum is the likelihood that they give.
"""

from math import log

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.densities.moment_problem import (
    NotConvergedError,
    evaluate_dual,
    solve_dual,
)
from memdlib.nml.checks import check_counts, check_finite, check_shape
from memdlib.nml.codelength import Codelength
from memdlib.nml.level_model import LevelModel, integer_ratios, orthonormal_basis
from memdlib.validation import check_integer

# Types held at a time.
_MAX_TYPES = 2**24
# Types fitted at a time.
_BATCH = 2**14
# Roundings in units of n log 4n: of an entropy, a log number of types, and their sum.
_ROUNDINGS = 16
# Largest error of n H, in nats, that a fit may leave.
_TOLERANCE = 1e-9
# Integers up to here are exact in double precision.
_EXACT = 2.0**53


def discrete_complexity(n, levels, n_moments):
    """Complexity log C of the model with moments x, .., x^m on a set of levels.

    Parameters
    ----------
    n : int
        Length of the sequences, 1 or more.
    levels : array_like of shape (L,)
        Distinct values, in any order; a shift and a change of unit do not matter.
    n_moments : int
        Number m of moments, 1 or more; from L - 1 on the model contains all
        distributions on the levels.

    Returns
    -------
    float
        In nats, exact to rounding: a sum over types [1]_, where types with equal
        moments are merged if the levels are multiples of one unit.

    Raises
    ------
    ValueError
        If an argument is out of range, or if there are too many types to sum over.
    NotConvergedError
        If the levels are so uneven that rounding hides the moments of some type.

    References
    ----------
    .. [1] G. Pandey and A. Dukkipati, Minimum description length principle for maximum
       entropy model selection, ISIT 2013.

    Examples
    --------
    >>> round(discrete_complexity(4, [0, 1, 2], 1), 6)
    1.370147
    """
    levels, n_moments = _check_model(levels, n_moments)
    levels = np.sort(levels)
    types, log_number = _types(check_integer(n, "n"), levels, n_moments)
    return float(logsumexp(log_number - _errors(types, levels, n_moments)))


def discrete_codelength(counts, levels, n_moments):
    """NML code length of a sequence on a finite set of levels.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        How often each level occurs in the sequence.
    levels : array_like of shape (L,)
        Distinct values, each with its count.
    n_moments : int
        Number m of moments x, .., x^m, 1 or more.

    Returns
    -------
    Codelength
        In nats. ``uncertainty`` is the rounding of n H and of the sum, plus 1e-9 where
        models have to be fitted, the error of n H that a fit may leave; ``method`` is
        "types".

    Raises
    ------
    ValueError, NotConvergedError
        As for `discrete_complexity`.

    Examples
    --------
    With moments up to L - 1 the model is free, and n H is that of the frequencies.

    >>> code = discrete_codelength([2, 1, 1], [0, 1, 2], 2)
    >>> bool(np.isclose(code.error, 6 * np.log(2)))
    True
    """
    levels, n_moments = _check_model(levels, n_moments)
    counts = check_counts(counts, "counts")
    check_shape(counts, "counts", levels.shape)
    n = check_integer(int(counts.sum()), "n")
    order = np.argsort(levels)
    errors = _errors(counts[None, order], levels[order], n_moments)
    uncertainty = np.finfo(np.float64).eps * _ROUNDINGS * n * log(4.0 * n)
    if n_moments < len(levels) - 1:
        uncertainty += _TOLERANCE
    return Codelength(
        error=float(errors[0]),
        complexity=discrete_complexity(n, levels, n_moments),
        uncertainty=uncertainty,
        method="types",
    )


def is_boundary(counts, n_moments):
    """Whether the moments of a type lie on the boundary of what is possible.

    Parameters
    ----------
    counts : array_like of shape (..., L)
        Counts of the levels, in increasing order of the levels.
    n_moments : int
        Number m of moments x, .., x^m.

    Returns
    -------
    ndarray of bool, shape (...)
        True where no model of the family attains the largest likelihood, or where
        the family is free (m >= L - 1) and no such question arises.

    Notes
    -----
    The moments lie on the boundary if some polynomial of degree m or less is
    nonnegative on the levels, zero on the occupied ones, and not zero on all. A run of
    occupied levels at either end needs as many roots as it has levels, a run between
    others an even number (Gale's evenness condition [1]_).

    References
    ----------
    .. [1] G. Ziegler, Lectures on Polytopes, Springer, 1995, theorem 0.7.

    Examples
    --------
    >>> is_boundary([[3, 1, 0, 0], [0, 4, 0, 0], [1, 0, 0, 3]], 1).tolist()
    [False, False, False]
    >>> is_boundary([[3, 1, 0, 0], [0, 4, 0, 0], [1, 0, 0, 3]], 2).tolist()
    [True, True, True]
    """
    occupied = np.asarray(counts) > 0
    n_levels = occupied.shape[-1]
    if n_moments >= n_levels - 1:
        return np.ones(occupied.shape[:-1], dtype=bool)
    roots = np.zeros(occupied.shape[:-1], dtype=np.intp)
    run_length = np.zeros_like(roots)
    starts_at_left = np.ones(occupied.shape[:-1], dtype=bool)
    for level in range(n_levels):
        is_occupied = occupied[..., level]
        # a run that ended before this level has an even number of roots, unless it
        # starts at the left end; one that reaches the right end is never completed
        roots += np.where(is_occupied | starts_at_left, 0, run_length % 2)
        roots += is_occupied
        run_length = np.where(is_occupied, run_length + 1, 0)
        starts_at_left &= is_occupied
    return roots <= n_moments


def _errors(types, levels, n_moments):
    """Minus the largest log-likelihood of each type (T, L), n H of the fitted model."""
    frequencies = types / types.sum(axis=1, keepdims=True)
    errors = -xlogy(types, frequencies).sum(axis=1)
    interior = np.flatnonzero(~is_boundary(types, n_moments))
    features = _orthonormal_features(levels, n_moments)
    for start in range(0, len(interior), _BATCH):
        batch = interior[start : start + _BATCH]
        errors[batch] = _interior_errors(types[batch], features)
    return np.maximum(errors, 0.0)


def _orthonormal_features(levels, n_moments):
    """Polynomials (L, m) of degree 1 to m, orthonormal under equal weights."""
    n_levels = len(levels)
    model = LevelModel(
        counts=np.full(n_levels, 1.0 / n_levels),
        values=levels,
        dimension=n_moments + 1,
        intercept=True,
        order=np.arange(n_levels),
    )
    return orthonormal_basis(model)[:, 1:]


def _interior_errors(types, features):
    """Minus the log-likelihoods (T,) of interior types (T, L), n H of the models."""
    n = types.sum(axis=1)
    entropy, uncertainty = _largest_entropy(features, types @ features / n[:, None])
    if not (n * uncertainty <= _TOLERANCE).all():
        worst = uncertainty.argmax()
        raise NotConvergedError(
            f"the fit of the type {types[worst].tolist()} leaves "
            f"{uncertainty[worst]:.1e} nats in doubt; the levels are too uneven for "
            f"{features.shape[1]} moments"
        )
    return n * entropy


def _largest_entropy(features, mu):
    """Largest entropy (T,) under each row of moments (T, m), and a bound of its error.

    The dual's value is an upper bound. One more Newton step in the probabilities,
    p (1 + t) with t linear in phi, meets the moments exactly; its entropy is a lower
    bound, and KL(p (1 + t) || p) <= E t^2 is the distance between the two.
    """
    log_weights = np.zeros(len(features))
    dual = solve_dual(features, log_weights, mu)
    upper, mean, _ = evaluate_dual(features, log_weights, mu, dual.natural)
    residual = mu - mean
    step = np.linalg.solve(dual.covariance, residual[..., None])[..., 0]
    t = step @ features.T - (step * mean).sum(axis=1, keepdims=True)
    is_distribution = t.min(axis=1) >= -1.0
    gap = (step * residual).sum(axis=1)
    return upper, np.where(is_distribution, gap, np.inf)


def _types(n, levels, n_moments):
    """One type for each moment vector (T, L), and log numbers of sequences (T,).

    Built up level by level; partial types with equal moments are merged, where the
    moments are exact integers.
    """
    n_levels = len(levels)
    powers = _integer_powers(n, levels, n_moments)
    types = np.zeros((1, 0))
    log_number = np.zeros(1)
    for level in range(n_levels):
        remaining = n - types.sum(axis=1).astype(np.intp)
        if level < n_levels - 1:
            size = int((remaining + 1).sum())
            if size > _MAX_TYPES:
                raise ValueError(
                    f"n={n} on {n_levels} levels has {size} partial types after "
                    f"level {level + 1}, too many to sum over exactly"
                )
            parent, count = _extensions(remaining)
            types = types[parent]
            log_number = log_number[parent]
        else:
            count = remaining
        types = np.column_stack([types, count])
        log_number = log_number - gammaln(count + 1.0)
        if powers is not None and level > n_moments:
            types, log_number = _merge(types, powers[: level + 1], log_number)
    return types, log_number + gammaln(n + 1.0)


def _extensions(remaining):
    """Extend each partial type by 0, 1, .., up to all remaining samples at a level.

    Returns the index of the partial type, and the samples, for each of its extensions.
    """
    n_extensions = remaining + 1
    parent = np.repeat(np.arange(len(remaining)), n_extensions)
    first_extension = np.cumsum(n_extensions) - n_extensions
    count = np.arange(len(parent)) - first_extension[parent]
    return parent, count


def _integer_powers(n, levels, n_moments):
    """Powers 0 to m of integers in the ratios of the levels (L, m + 1), as floats.

    None if there are no such integers, or if the sum of n powers is not exact.
    """
    integers = integer_ratios(tuple((levels - levels[0]).tolist()))
    if integers is None or n * float(integers[-1]) ** n_moments >= _EXACT:
        return None
    return integers[:, None] ** np.arange(n_moments + 1.0)


def _merge(types, powers, log_number):
    """One type for each distinct row of moments, with its number of sequences."""
    moments = types @ powers
    order = np.lexsort(moments.T)
    moments = moments[order]
    is_new = np.concatenate([[True], (moments[1:] != moments[:-1]).any(axis=1)])
    starts = np.flatnonzero(is_new)
    return types[order][starts], np.logaddexp.reduceat(log_number[order], starts)


def _check_model(levels, n_moments):
    """Check levels and number of moments; more than L - 1 moments are L - 1."""
    levels = check_finite(levels, "levels")
    if len(levels) < 2 or len(np.unique(levels)) < len(levels):
        raise ValueError(
            f"levels={levels.tolist()} must be two or more distinct numbers"
        )
    return levels, min(check_integer(n_moments, "n_moments"), len(levels) - 1)
