"""Normalised maximum likelihood of the multinomial model, exactly, in nats."""

import math
from functools import lru_cache

import numpy as np
from scipy.special import xlogy

from memdlib.nml.checks import check_counts
from memdlib.validation import check_integer

# exp(-k^2 / 2n) is below the rounding of the sum beyond this many square roots of n.
TAIL = 9.0
# From here on the expansion of the sum is exact to rounding.
MANY = 10**5


@lru_cache(maxsize=4096)
def two_outcome_sum(n):
    """C(2, n) itself, 1 + Q(n) with the function Q of Ramanujan."""
    if n > MANY:
        half = math.sqrt(math.pi / (2.0 * n))
        even = 2.0 / 3.0 - 4.0 / (135.0 * n)
        return half * (n + 1.0 / 12.0 + 1.0 / (288.0 * n)) + even
    steps = np.arange(min(n, int(TAIL * math.sqrt(n)) + 1))
    return 1.0 + float(np.cumprod(1.0 - steps / n)[::-1].sum())


def multinomial_complexity(n, n_levels):
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
        In nats; 0.0 if ``n`` is 0 or ``n_levels`` is 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The terms of C(2, n) = sum_k n! / ((n - k)! n^k) fall like exp(-k^2 / 2n), so
    O(sqrt(n)) of them are enough [2]_; from 10^5 on Ramanujan's expansion is used. The
    ratio r_K = C(K + 1, n) / C(K, n) follows r_(K+1) = 1 + n / (K r_K), the recurrence
    of [1]_ divided by C(K + 1, n), which neither overflows nor accumulates errors.

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
    """
    n = check_integer(n, "n", minimum=0)
    n_levels = check_integer(n_levels, "n_levels")
    if n == 0:
        return 0.0
    ratio = two_outcome_sum(n)
    logs = []
    for k in range(1, n_levels):
        logs.append(math.log(ratio))
        ratio = 1.0 + n / (k * ratio)
    return math.fsum(logs)


def multinomial_codelength(counts):
    """NML code length n H(counts / n) + log C of labels with the given counts.

    Parameters
    ----------
    counts : array_like of shape (K,)
        How often each of the K outcomes occurs, zeros included.

    Returns
    -------
    float
        In nats.

    Raises
    ------
    ValueError
        If counts are not nonnegative integers.

    Examples
    --------
    The labels of 27 and 11 patients, without any gene.

    >>> print(f"{multinomial_codelength([27, 11]):.10f}")
    24.9931091317
    """
    counts = check_counts(counts, "counts")
    n = int(counts.sum())
    error = abs(float(xlogy(counts, counts / max(n, 1)).sum()))
    return error + multinomial_complexity(n, len(counts))
