"""NML of maximum-entropy models on a finite set of levels, exactly.

The model has the moments x, .., x^m on L levels. Whatever sequence of length n is
sent, its largest likelihood depends on its type alone, the counts of the levels; so the
complexity is a sum over types. Types whose moments lie on the boundary of what is
possible have no parameter that attains the supremum: there the counts are the only
distribution with these moments, and the supremum is their own likelihood.
"""

from math import log

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from memdlib._types import Array, ArrayLike, Bools
from memdlib.densities.moment_problem import (
    NotConvergedError,
    evaluate_dual,
    solve_dual,
)
from memdlib.nml.checks import check_counts, check_finite, check_shape
from memdlib.nml.codelength import Codelength
from memdlib.nml.level_model import LevelModel, integer_ratios, orthonormal_basis
from memdlib.validation import check_integer

# Types held at a time, and moment vectors given to the dual in one batch.
_MAX_TYPES, _BATCH = 2**24, 2**14
# Roundings in units of n log 4n: of an entropy, a log number of types, and their sum.
_ROUNDINGS = 16
# Largest doubt about n H, in nats, that a fit may leave.
_TOLERANCE = 1e-9
# Integers up to here are exact in double precision.
_EXACT = 2.0**53


def alphabet_complexity(n: int, levels: ArrayLike, n_moments: int) -> float:
    """Complexity log C of the model with moments x, .., x^m on a set of levels.

    Parameters
    ----------
    n : int
        Length of the sequences.
    levels : array_like of shape (L,)
        Distinct values, in any order; only their order and relative distances matter.
    n_moments : int
        m; from L - 1 on the model holds all distributions on the levels.

    Returns
    -------
    float
        Nats, exact to rounding: a sum over types [1]_, of which those with equal
        moments are merged where the levels are multiples of one unit.

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
    >>> round(alphabet_complexity(4, [0, 1, 2], 1), 6)
    1.370147
    """
    levels, n_moments = _check_model(levels, n_moments)
    types, log_number = _types(check_integer(n, "n"), np.sort(levels), n_moments)
    return float(logsumexp(log_number - _error(types, np.sort(levels), n_moments)))


def alphabet_codelength(
    counts: ArrayLike, levels: ArrayLike, n_moments: int
) -> Codelength:
    """NML code length of a sequence on a finite set of levels.

    Parameters
    ----------
    counts : array_like of int, shape (L,)
        How often each level occurs in the sequence.
    levels : array_like of shape (L,)
        Distinct values, each with its count.
    n_moments : int
        Moments x, .., x^m are the constraints.

    Returns
    -------
    Codelength
        ``uncertainty`` is what rounding may do to n H and its sum, plus 1e-9 where
        models have to be fitted, the doubt about n H that a fit may leave; ``method``
        is "types".

    Examples
    --------
    With moments up to L - 1 the model is free, and n H is that of the frequencies.

    >>> code = alphabet_codelength([2, 1, 1], [0, 1, 2], 2)
    >>> bool(np.isclose(code.error, 6 * np.log(2)))
    True
    """
    levels, n_moments = _check_model(levels, n_moments)
    counts = check_counts(counts, "counts")
    check_shape(counts, "counts", levels.shape)
    order = np.argsort(levels)
    n = check_integer(int(counts.sum()), "n")
    return Codelength(
        error=float(_error(counts[order][None], levels[order], n_moments)[0]),
        complexity=alphabet_complexity(n, levels, n_moments),
        uncertainty=np.finfo(np.float64).eps * _ROUNDINGS * n * log(4.0 * n)
        + (_TOLERANCE if n_moments < len(levels) - 1 else 0.0),
        method="types",
    )


def is_boundary(counts: ArrayLike, n_moments: int) -> Bools:
    """Whether the moments of a type lie on the boundary of what is possible.

    Parameters
    ----------
    counts : array_like of shape (..., L)
        Counts of the levels, levels ascending.
    n_moments : int

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
    run, from_left = roots.copy(), np.ones(occupied.shape[:-1], dtype=bool)
    for level in range(n_levels):
        inside = occupied[..., level]
        # a run that ends here is even already, made even, or leans on the left end
        roots += np.where(inside | from_left, 0, run % 2)
        roots += inside
        run = np.where(inside, run + 1, 0)
        from_left &= inside
    return roots <= n_moments


def _error(types: Array, levels: Array, n_moments: int) -> Array:
    """Minus the largest log-likelihood of each type, n H of the fitted model."""
    n, k = types.sum(axis=1), len(levels)
    error = -xlogy(types, types / n[:, None]).sum(axis=1)
    inner = np.flatnonzero(~is_boundary(types, n_moments))
    model = LevelModel(np.full(k, 1.0 / k), levels, n_moments + 1, True, np.arange(k))
    features = orthonormal_basis(model)[:, 1:]
    for start in range(0, len(inner), _BATCH):
        rows = inner[start : start + _BATCH]
        entropy, doubt = _largest_entropy(
            features, types[rows] @ features / n[rows, None]
        )
        if not (n[rows] * doubt <= _TOLERANCE).all():
            raise NotConvergedError(
                f"the fit of the type {types[rows][doubt.argmax()].tolist()} leaves "
                f"{doubt.max():.1e} nats in doubt; the levels are too uneven for "
                f"{n_moments} moments"
            )
        error[rows] = n[rows] * entropy
    return np.maximum(error, 0.0)


def _largest_entropy(features: Array, mu: Array) -> tuple[Array, Array]:
    """Largest entropy under each row of moments, and a bound of its error."""
    # The dual's value is an upper bound. One more Newton step in the probabilities,
    # p (1 + t) with t linear in phi, meets the moments exactly; its entropy is a lower
    # bound, and KL(p (1 + t) || p) <= E t^2 is the distance of the two.
    log_weights = np.zeros(len(features))
    found = solve_dual(features, log_weights, mu)
    upper, mean, _ = evaluate_dual(features, log_weights, mu, found.natural)
    missing = mu - mean
    step = np.linalg.solve(found.covariance, missing[..., None])[..., 0]
    t = step @ features.T - (step * mean).sum(axis=1, keepdims=True)
    doubt = np.where(t.min(axis=1) >= -1.0, (step * missing).sum(axis=1), np.inf)
    return upper, doubt


def _types(n: int, levels: Array, n_moments: int) -> tuple[Array, Array]:
    """Types, one for each moment vector, and log numbers of sequences that have it."""
    units = integer_ratios(tuple((levels - levels[0]).tolist()))
    if units is None or n * float(units[-1]) ** n_moments >= _EXACT:
        units = None
    types, log_number = np.zeros((1, 0)), np.zeros(1)
    for level in range(len(levels)):
        left = n - types.sum(axis=1).astype(np.intp)
        last = level == len(levels) - 1
        copies = np.ones_like(left) if last else left + 1
        size = int(copies.sum())
        if size > _MAX_TYPES:
            raise ValueError(
                f"n={n} on {len(levels)} levels has {size} partial types after level "
                f"{level + 1}, too many to sum over exactly"
            )
        rows = np.repeat(np.arange(len(left)), copies)
        first = np.cumsum(copies) - copies
        new = left if last else np.arange(size) - first[rows]
        types = np.column_stack([types[rows], new])
        log_number = log_number[rows] - gammaln(new + 1.0)
        if units is not None and level > n_moments:
            powers = units[: level + 1, None] ** np.arange(n_moments + 1.0)
            types, log_number = _merge(types, types @ powers, log_number)
    return types, log_number + gammaln(n + 1.0)


def _merge(types: Array, keys: Array, log_number: Array) -> tuple[Array, Array]:
    """One type for each distinct key, with the numbers of sequences added up."""
    order = np.lexsort(keys.T)
    keys = keys[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    starts = np.flatnonzero(new)
    return types[order][starts], np.logaddexp.reduceat(log_number[order], starts)


def _check_model(levels: ArrayLike, n_moments: int) -> tuple[Array, int]:
    """Levels, and no more moments than make a difference."""
    levels = check_finite(levels, "levels")
    if len(levels) < 2 or len(np.unique(levels)) < len(levels):
        raise ValueError(
            f"levels={levels.tolist()} must be two or more distinct numbers"
        )
    return levels, min(check_integer(n_moments, "n_moments"), len(levels) - 1)
