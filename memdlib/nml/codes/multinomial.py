"""Normalised maximum likelihood of the multinomial model, in nats.

The code length of n labels with counts k_1..k_K is their maximised code length
n H(k / n) plus the logarithm of the normaliser C(K, n), the sum of the maximised
likelihoods of all K^n label sequences. The normaliser is exact here for any n and K.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from memdlib.nml._engine.saturated import log_multinomial_sum
from memdlib.nml.codes.checks import check_counts
from memdlib.validation import check_integer


def multinomial_complexity(n: int, n_levels: int) -> float:
    """Parametric complexity log C(K, n) of K outcomes and n observations, exactly.

    Parameters
    ----------
    n : int
        Number of observations, 0 or more.
    n_levels : int
        Number of outcomes K, 1 or more.

    Returns
    -------
    float
        Nats; 0.0 if ``n`` is 0 or ``n_levels`` is 1.

    Raises
    ------
    ValueError
        If an argument is not an integer in its range.

    Notes
    -----
    Two outcomes: C(2, n) = sum_k n! / ((n - k)! n^k), whose terms fall like
    exp(-k^2 / 2n), so O(sqrt(n)) of them carry the sum to double precision. More
    outcomes: the ratio r_K = C(K + 1, n) / C(K, n) follows r_(K+1) = 1 + n / (K r_K),
    which is the recurrence of Kontkanen and Myllymaki divided by C(K + 1, n). It never
    overflows, and it damps the relative error of each step.

    References
    ----------
    .. [1] P. Kontkanen and P. Myllymaki, A linear-time algorithm for computing the
       multinomial stochastic complexity, Information Processing Letters 103, 2007.
    .. [2] T. Mononen and P. Myllymaki, Computing the multinomial stochastic complexity
       in sub-linear time, PGM 2008.

    Examples
    --------
    >>> print(f"{multinomial_complexity(38, 2):.10f}")
    2.1292784450
    >>> round(multinomial_complexity(10**6, 10**5), 4)
    175642.4544
    """
    return log_multinomial_sum(
        check_integer(n, "n", minimum=0), check_integer(n_levels, "n_levels")
    )


def multinomial_codelength(counts: ArrayLike) -> float:
    """NML code length of labels with the given counts, n H(counts / n) + log C.

    Parameters
    ----------
    counts : array_like of shape (K,)
        How often each of the K outcomes occurs; K counts zeros too.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If ``counts`` is empty or holds anything but nonnegative integers.

    Examples
    --------
    The labels of 27 and 11 patients, without any gene.

    >>> print(f"{multinomial_codelength([27, 11]):.10f}")
    24.9931091317
    """
    counts = check_counts(counts, "counts")
    return _error(counts) + multinomial_complexity(int(counts.sum()), len(counts))


def szpankowski_complexity(n: int, n_levels: int) -> float:
    """Approximation of log C(K, n) for n much larger than K, in nats.

    Parameters
    ----------
    n : int
        Number of observations, 1 or more.
    n_levels : int
        Number of outcomes K, 1 or more.

    Returns
    -------
    float
        Nats; the error is of order n^(-3/2) for fixed K, and large where K nears n.

    Raises
    ------
    ValueError
        If an argument is not an integer in its range.

    References
    ----------
    .. [1] W. Szpankowski, Average Case Analysis of Algorithms on Sequences, Wiley 2001.

    Examples
    --------
    >>> error = szpankowski_complexity(200, 2) - multinomial_complexity(200, 2)
    >>> f"{error:.1e}"
    '5.9e-06'
    """
    n, k = check_integer(n, "n"), check_integer(n_levels, "n_levels")
    ratio = math.exp(gammaln(k / 2) - gammaln((k - 1) / 2)) if k > 1 else 0.0
    return float(
        (k - 1) / 2 * math.log(n / 2)
        + math.log(math.pi) / 2
        - gammaln(k / 2)
        + math.sqrt(2) * k * ratio / (3 * math.sqrt(n))
        + ((3 + k * (k - 2) * (2 * k + 1)) / 36 - (k * ratio) ** 2 / 9) / n
    )


def two_part_codelength(counts: ArrayLike) -> float:
    """Two-part code length n H(counts / n) + (K - 1) / 2 log n, in nats.

    The convention: each of the K - 1 free probabilities is sent to the precision
    1 / sqrt(n), which costs log sqrt(n), and the loss by rounding it is left out.

    Parameters
    ----------
    counts : array_like of shape (K,)
        How often each of the K outcomes occurs.

    Returns
    -------
    float
        Nats; 0.0 for no observation.

    Raises
    ------
    ValueError
        If ``counts`` is empty or holds anything but nonnegative integers.

    Examples
    --------
    >>> round(two_part_codelength([27, 11]), 4)
    24.6826
    """
    counts = check_counts(counts, "counts")
    n = counts.sum()
    return _error(counts) + (len(counts) - 1) / 2 * math.log(max(n, 1))


def _error(counts: np.ndarray) -> float:
    """Maximised code length n H(counts / n), never -0.0."""
    return abs(float(-xlogy(counts, counts / max(counts.sum(), 1)).sum()))
