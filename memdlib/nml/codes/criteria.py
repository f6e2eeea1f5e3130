"""Other prices of a model beside its exact NML complexity, for the same labels.

AIC and BIC price the number of moments; factorised and quotient NML know only the
saturated model, in which every level has its own label distribution. All are code
lengths in nats: AIC and BIC are half of what is usual.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.saturated import log_multinomial_sum
from memdlib.nml.codes.checks import check_counts, check_levels, check_moments
from memdlib.nml.codes.conditional import conditional_complexity, conditional_error
from memdlib.validation import check_real_array

Array = NDArray[np.float64]

CRITERIA = ("nml", "bic", "aic")


def criterion_codelengths(
    counts: ArrayLike,
    ones: ArrayLike,
    n_moments: Iterable[int] = range(1, 6),
    level_values: ArrayLike | None = None,
    intercept: bool = False,
) -> dict[str, Array]:
    """Code lengths of labels by several criteria, for several numbers of moments.

    Parameters
    ----------
    counts, ones : array_like of shape (d, L)
        Samples at each level of each feature and the labels 1 among them, from
        `count_levels`.
    n_moments : iterable of int, default=range(1, 6)
        Numbers of moments x, .., x^m, M of them.
    level_values : array_like of shape (L,), default=None
        Value of each level; None means 1..L.
    intercept : bool, default=False
        Whether the logit has a constant term as well.

    Returns
    -------
    dict of str to ndarray of shape (d, M)
        Nats. All contain the same error, minus the largest log-likelihood. "nml" adds
        the log complexity, "bic" (p / 2) log n and "aic" p, for p free parameters and n
        samples.

    Raises
    ------
    ValueError
        As for `conditional_complexity`, and if there is no number of moments.

    References
    ----------
    .. [1] G. Schwarz, Estimating the dimension of a model, Annals of Statistics 6,
       1978.
    .. [2] H. Akaike, A new look at the statistical model identification, IEEE
       Transactions on Automatic Control 19, 1974.

    Examples
    --------
    >>> found = criterion_codelengths([[8, 7, 8, 7, 8]], [[0, 0, 1, 3, 7]], (1, 2, 3))
    >>> for name, lengths in found.items():
    ...     print(name, lengths.round(2).tolist())
    nml [[28.35, 16.54, 16.94]]
    bic [[27.92, 16.0, 16.71]]
    aic [[27.11, 14.36, 14.25]]
    """
    moments = check_moments(n_moments)
    counts, values = check_levels(
        np.atleast_2d(check_real_array(counts, "counts")), level_values
    )
    ones = np.atleast_2d(check_real_array(ones, "ones"))
    found = {name: [] for name in CRITERIA}
    for m in moments:
        given = m, values, intercept
        error = conditional_error(counts, ones, *given)
        rows, which = np.unique(counts, axis=0, return_inverse=True)
        models = [level_model(row, values, m, intercept) for row in rows]
        p = np.array([model.dimension for model in models])[which]
        log_n = np.log(counts.sum(axis=1))
        price = {
            "nml": conditional_complexity(counts, *given),
            "bic": 0.5 * p * log_n,
            "aic": p.astype(np.float64),
        }
        for name in CRITERIA:
            found[name].append(error + price[name])
    return {name: np.array(parts).T for name, parts in found.items()}


def factorised_codelength(class_counts: ArrayLike) -> float:
    """Factorised NML code length of labels given levels, the one that SCCI takes.

    Parameters
    ----------
    class_counts : array_like of shape (L, K)
        Labels of each class at each level; a class that does not occur counts too.

    Returns
    -------
    float
        Nats: the code lengths n H(k / n) + log C(K, n) of the levels, added up.

    Raises
    ------
    ValueError
        If there is no table of nonnegative integers with two classes or more.

    Notes
    -----
    This is the conditional NML code length of a saturated model, the end of the scale
    of numbers of moments. The conditional stochastic complexity of SCCI is the same
    number, in bits.

    References
    ----------
    .. [1] T. Silander, T. Roos, P. Kontkanen and P. Myllymaki, Factorized normalized
       maximum likelihood criterion for learning Bayesian network structures, PGM 2008.
    .. [2] A. Marx and J. Vreeken, Testing conditional independence on discrete data
       using stochastic complexity, AISTATS 2019.

    Examples
    --------
    >>> round(factorised_codelength([[8, 0], [7, 0], [7, 1], [4, 3], [1, 7]]), 6)
    17.927555
    """
    table = _class_table(class_counts)
    n, k = map(int, table.sum(axis=1)), table.shape[1]
    return _error(table) + math.fsum(log_multinomial_sum(size, k) for size in n)


def quotient_codelength(class_counts: ArrayLike) -> float:
    """Quotient NML code length of labels given levels.

    Parameters
    ----------
    class_counts : array_like of shape (L, K)
        Labels of each class at each level; empty levels count.

    Returns
    -------
    float
        Nats: the NML code length of levels and labels together, less that of the
        levels, each under a multinomial: error + log C(K L, n) - log C(L, n).

    Raises
    ------
    ValueError
        If there is no table of nonnegative integers with two classes or more.

    References
    ----------
    .. [1] T. Silander, J. Leppa-aho, E. Jaasaari and T. Roos, Quotient normalized
       maximum likelihood criterion for learning Bayesian network structures, AISTATS
       2018.

    Examples
    --------
    >>> round(quotient_codelength([[8, 0], [7, 0], [7, 1], [4, 3], [1, 7]]), 6)
    16.329977
    """
    table = _class_table(class_counts)
    n, (n_levels, k) = int(table.sum()), table.shape
    joint = log_multinomial_sum(n, k * n_levels)
    return _error(table) + joint - log_multinomial_sum(n, n_levels)


def _class_table(class_counts: ArrayLike) -> Array:
    table = check_counts(class_counts, "class_counts", stack=True)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"class_counts has shape {table.shape}; give levels x classes, two classes "
            "or more"
        )
    return table


def _error(table: Array) -> float:
    totals = np.maximum(table.sum(axis=1, keepdims=True), 1.0)
    return abs(float(-xlogy(table, table / totals).sum()))
