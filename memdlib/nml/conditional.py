"""NML code lengths of binary labels given the level of one feature.

Sender and receiver know the levels; the labels are coded by the conditional model
P(1 | x) = logistic(sum_k lambda_k x^k), k = 1..m. Error is the maximised code length,
complexity the logarithm of the sum of all maximised likelihoods; both are in nats.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib.nml.approximate import fisher_complexity, monte_carlo_complexity
from memdlib.nml.checks import (
    binary_labels,
    level_counts_and_values,
    positive_integer,
)
from memdlib.nml.complexities import exact_complexities
from memdlib.nml.errors import maximised_code_lengths
from memdlib.nml.exact import exact_complexity, saturated_complexity
from memdlib.nml.level_model import level_model

_METHODS = ("auto", "exact", "monte-carlo", "facets", "fisher")
# An exact sum that takes longer than about this is left to "exact".
_SECONDS = 10.0
_ROUNDING = 1e-12


class ComplexityEstimate(NamedTuple):
    """Complexity with its error and how it was found.

    Parameters
    ----------
    log_complexity : float
        Nats.
    error : float
        Nats: 1e-12 for an exact sum, the standard error for "monte-carlo", and inf for
        "facets" and "fisher", of which no bound is known.
    method : str
        "saturated", "table", "enumeration", "monte-carlo", "facets" or "fisher".
    """

    log_complexity: float
    error: float
    method: str


@dataclass(frozen=True)
class Codelength:
    """Code length of labels, in nats.

    Parameters
    ----------
    error : float
        Maximised code length of the labels, n H(C | X).
    complexity : float
        Log complexity of the model.
    """

    error: float
    complexity: float

    @property
    def total(self) -> float:
        """Error plus complexity."""
        return self.error + self.complexity


def conditional_complexity(
    level_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    method: str = "auto",
    n_classes: int = 2,
) -> float | NDArray[np.float64]:
    """Log complexity of the conditional model, from the level occupancies alone.

    Parameters
    ----------
    level_counts : array_like of shape (L,) or (G, L)
        Samples at each level, for one feature or for G of them. Equal rows are worked
        out once, and the results are kept for later calls.
    n_moments : int
        Number m of moments x, .., x^m, 1 or more.
    level_values : array_like of shape (L,), default=None
        Value x of each level; distinct. None means 1..L.
    intercept : bool, default=False
        Whether the logit has a constant term as well.
    method : str, default="auto"
        "auto": exact where that takes less than about ten seconds, else "monte-carlo";
        "exact": at any price; "monte-carlo", "facets" or "fisher": see
        `conditional_complexity_estimate`, which also tells the error.
    n_classes : int, default=2
        More than two classes are possible where the model is saturated.

    Returns
    -------
    float or ndarray of shape (G,)
        Nats.

    Raises
    ------
    ValueError
        If counts are not nonnegative integers or all zero, level values not finite and
        distinct, ``n_moments`` below 1 or ``method`` unknown, or if there are more than
        two classes and the model is not saturated.

    Notes
    -----
    Without intercept, a level of value 0 has P = 1/2 whatever the parameters: it leaves
    the complexity as it is, and adds log 2 for each sample to the error. Empty levels
    do not count. The model is saturated as soon as it has as many parameters as other
    levels are left; from there on, more moments change nothing.

    Examples
    --------
    >>> for m in (1, 2, 3, 4, 5, 6):
    ...     print(f"{conditional_complexity([8, 8, 8, 7, 7], m):.8f}")
    2.24017206
    4.18237495
    5.69340724
    6.67532731
    7.11887576
    7.11887576
    """
    counts, values = level_counts_and_values(level_counts, level_values, stack=True)
    m = positive_integer(n_moments, "n_moments")
    rows = np.atleast_2d(counts)
    if positive_integer(n_classes, "n_classes") != 2:
        found = [_of_several_classes(c, values, m, intercept, n_classes) for c in rows]
    elif _known(method) in ("auto", "exact"):
        limit = _SECONDS if method == "auto" else np.inf
        found = exact_complexities(rows, values, m, intercept, limit)
        for i in np.flatnonzero(np.isnan(found)):
            found[i] = monte_carlo_complexity(
                level_model(rows[i], values, m, intercept)
            )[0]
    else:
        found = [
            conditional_complexity_estimate(c, m, values, intercept, method)[0]
            for c in rows
        ]
    return np.array(found) if counts.ndim == 2 else float(found[0])


def conditional_complexity_estimate(
    level_counts: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
    method: str = "auto",
    n_draws: int = 2**18,
    seed: int = 0,
) -> ComplexityEstimate:
    """Log complexity of the conditional model, its error, and how it was found.

    Parameters
    ----------
    level_counts : array_like of shape (L,)
        Samples at each level.
    n_moments, level_values, intercept
        As for `conditional_complexity`.
    method : str, default="auto"
        "auto" or "exact" as there; "monte-carlo": unbiased, with a standard error;
        "facets" and "fisher": Rissanen's volume with and without the facets of the
        parameter space, within about 0.01 and 0.5 nats at some dozens of samples.
    n_draws : int, default=262144
        Draws of "monte-carlo".
    seed : int, default=0
        Seed of "monte-carlo".

    Returns
    -------
    ComplexityEstimate

    Raises
    ------
    ValueError
        As for `conditional_complexity`.

    Examples
    --------
    >>> found = conditional_complexity_estimate([200] * 5, 3)
    >>> found.method, found.error < 0.02, abs(found.log_complexity - 10.356) < 0.05
    ('monte-carlo', True, True)
    """
    counts, values = level_counts_and_values(level_counts, level_values, stack=False)
    m = positive_integer(n_moments, "n_moments")
    model = level_model(counts, values, m, intercept)
    if _known(method) in ("auto", "exact"):
        exact = exact_complexity(model, _SECONDS if method == "auto" else np.inf)
        if exact is not None:
            return ComplexityEstimate(exact[0], _ROUNDING, exact[1])
    if method in ("fisher", "facets"):
        value = fisher_complexity(model, facets=method == "facets")
        return ComplexityEstimate(value, np.inf, method)
    draws = positive_integer(n_draws, "n_draws")
    value, error = monte_carlo_complexity(model, draws, seed)
    return ComplexityEstimate(value, error, "monte-carlo")


def conditional_error(
    level_counts: ArrayLike,
    ones: ArrayLike,
    n_moments: int,
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> float:
    """Maximised code length of labels, minus the supremum of their log-likelihood.

    Parameters
    ----------
    level_counts : array_like of shape (L,)
        Samples at each level.
    ones : array_like of shape (L,)
        Labels 1 among them.
    n_moments, level_values, intercept
        As for `conditional_complexity`.

    Returns
    -------
    float
        Nats, never negative; 0.0 for labels that the levels separate.

    Raises
    ------
    ValueError
        As for `conditional_complexity`, and if ``ones`` is not between 0 and
        ``level_counts``.

    Examples
    --------
    >>> round(conditional_error([20, 10, 8], [1, 4, 8], 2), 6)
    10.704259
    >>> conditional_error([20, 10, 8], [0, 0, 8], 2)
    0.0
    """
    counts, values = level_counts_and_values(level_counts, level_values, stack=False)
    k = np.asarray(ones, dtype=np.float64)
    if k.shape != counts.shape:
        raise ValueError(
            f"ones has shape {k.shape}; give one number a level, shape {counts.shape}"
        )
    bad = k[~((k >= 0) & (k <= counts) & (k == np.rint(k)))]
    if bad.size:
        raise ValueError(
            f"ones holds {bad[0]}; give integers between 0 and level_counts"
        )
    m = positive_integer(n_moments, "n_moments")
    found = maximised_code_lengths(counts[:, None], k[:, None], values, m, intercept)
    return float(found[0])


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
    n_moments : int
        Number m of moments x, .., x^m.
    intercept : bool, default=False
        Whether the logit has a constant term as well.

    Returns
    -------
    Codelength
        With ``error``, ``complexity`` and ``total``, in nats.

    Raises
    ------
    ValueError
        If ``x`` is empty or not finite, ``labels`` of another length or not binary, or
        ``n_moments`` below 1.

    Examples
    --------
    >>> x = [1, 1, 1, 2, 2, 3, 3, 3]
    >>> found = conditional_codelength(x, [0, 0, 0, 0, 1, 1, 1, 1], n_moments=2)
    >>> round(found.error, 6), round(found.complexity, 6), round(found.total, 6)
    (1.386294, 2.571985, 3.958279)
    """
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 1 or not x.size:
        raise ValueError(f"x has shape {x.shape}; give one level value a sample")
    if not np.isfinite(x).all():
        raise ValueError(
            f"x holds {x[~np.isfinite(x)][0]}; leave out samples without a value"
        )
    y = binary_labels(labels, len(x))
    values, level = np.unique(x, return_inverse=True)
    counts = np.bincount(level)
    ones = np.bincount(level, weights=y)
    return Codelength(
        error=conditional_error(counts, ones, n_moments, values, intercept),
        complexity=conditional_complexity(counts, n_moments, values, intercept),
    )


def _of_several_classes(counts, values, m, intercept, n_classes) -> float:
    model = level_model(counts, values, m, intercept)
    if not model.saturated:
        raise ValueError(
            f"n_classes is {n_classes} and {model.dimension} parameters a class do not "
            f"saturate {len(model.counts)} levels; raise n_moments to the number of "
            "levels"
        )
    return saturated_complexity(model, n_classes)


def _known(method: str) -> str:
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}; choose from {list(_METHODS)}")
    return method
