"""NML complexities of countable families, whose data must have an end.

The largest likelihoods of all sequences of numbers 0, 1, 2, .. have no finite sum.
"""

import math

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.validation import check_integer

# Terms of a sum held at a time, and the most that are added.
_TERMS, _MOST_TERMS = 2**20, 10**9


def geometric_complexity(n: int, *, largest_sum: int) -> float:
    """Complexity of geometric distributions on 0, 1, 2, ...

    Only data whose sum is at most S are counted. C is the sum over s = 0, .., S of
    binom(n + s - 1, s) (n / (n + s))^n (s / (n + s))^s.

    Parameters
    ----------
    n : int
    largest_sum : int
        S; the mean is at most S / n.

    Returns
    -------
    float
        log C in nats.

    Raises
    ------
    ValueError
        If ``largest_sum`` is missing or infinite: the terms fall like 1 / s only. If it
        is a billion or more, which takes minutes to add up.

    Examples
    --------
    >>> round(float(np.exp(geometric_complexity(2, largest_sum=8))), 6)
    2.029132
    """
    n = check_integer(n, "n")
    if largest_sum is None or largest_sum == math.inf:
        raise ValueError(
            f"largest_sum={largest_sum!r}: log C is infinite without a largest sum, as "
            "sums near s contribute like 1 / s, which has no finite total"
        )
    largest_sum = check_integer(largest_sum, "largest_sum", minimum=0)
    if largest_sum >= _MOST_TERMS:
        raise ValueError(
            f"largest_sum={largest_sum} is too large to add up its terms; give less "
            f"than {_MOST_TERMS}"
        )
    log_sums = []
    for first in range(0, largest_sum + 1, _TERMS):
        s = np.arange(first, min(first + _TERMS, largest_sum + 1), dtype=np.float64)
        log_number = gammaln(n + s) - gammaln(n) - gammaln(s + 1.0)
        log_terms = log_number - n * np.log1p(s / n) + xlogy(s, s / (n + s))
        log_sums.append(logsumexp(log_terms))
    return float(logsumexp(log_sums))
