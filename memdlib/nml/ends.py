"""NML complexities of families on infinite domains, which must be given an end.

On an infinite domain the largest likelihoods of these families have no finite sum, so
every function here wants the range to which the model is confined, and refuses a range
without an end. Two conventions make the confinement exact:

- ``"data"``: only data whose estimate lies in the range are ever sent;
- ``"parameter"``: all data may be sent, and an estimate outside of the range is
  replaced by its nearest end.

The density of the estimate under the parameter that equals it, integrated over the
range, is the complexity of the first; the second adds, for the families below, the
probability 1 of falling beyond an end when the parameter is that end.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.families import TruncatedExponential
from memdlib.nml.checks import Range, check_range
from memdlib.validation import check_choice, check_integer, check_positive

Array = NDArray[np.float64]

CONVENTIONS = ("data", "parameter")
# Gauss-Legendre nodes on each panel, and its largest width on the logit scale.
_NODES, _PANEL = 24, 1.0
# The most terms of a sum.
_MOST_TERMS = 10**7
# Mean below which exp(-1 / mean) / mean^2 is below rounding.
_UNCUT = 1.0 / 45.0
_OF_MEANS = "every stretch of means of the same length adds as much"
_OF_RATIOS = "every doubling of the {} adds as much, or more"
_OF_UNIT_ENDS = (
    "means within a distance d of the end contribute like 1 / d, which has no finite "
    "integral, although the support [0, 1] is bounded"
)


def gaussian_mean_complexity(
    n: int, *, mean_range: Range, scale: float, counted: str = "data"
) -> float:
    """Complexity of normal densities with unknown mean and known scale.

    log C of "data" is the logarithm of (b - a) sqrt(n / (2 pi)) / scale [1]_.

    Parameters
    ----------
    n : int
        Number of observations.
    mean_range : tuple of float
        Ends a < b of the range of the mean, up to 1e100 in size; ValueError without.
    scale : float
        Known standard deviation.
    counted : {"data", "parameter"}, default="data"
        Which data are counted; see the head of the module.

    Returns
    -------
    float
        log C in nats; negative where the range is narrow and only its data count.

    References
    ----------
    .. [1] P. Gruenwald, The Minimum Description Length Principle, MIT Press, 2007,
       chapter 11.

    Examples
    --------
    >>> found = gaussian_mean_complexity(2, mean_range=(-1.5, 1.5), scale=1.0)
    >>> round(float(np.exp(found)), 6)
    1.692569
    """
    n, scale = check_integer(n, "n"), check_positive(scale, "scale")
    low, high = check_range(mean_range, "mean_range", _OF_MEANS)
    inside = math.log(high - low) - math.log(scale)
    return _count(inside + 0.5 * math.log(n / (2.0 * math.pi)), counted)


def gaussian_scale_complexity(
    n: int, *, scale_range: Range, counted: str = "data"
) -> float:
    """Complexity of normal densities with known mean and unknown scale.

    log C of "data" is the logarithm of 2 (n / (2 e))^(n/2) log(b / a) / Gamma(n / 2):
    n s^2 / sigma^2 of the estimate s has a chi-square law [1]_.

    Parameters
    ----------
    n, counted
        As for `gaussian_mean_complexity`.
    scale_range : tuple of float
        Ends 0 < a < b of the range of the standard deviation.

    Returns
    -------
    float
        log C in nats.

    References
    ----------
    .. [1] J. Rissanen, MDL denoising, IEEE Transactions on Information Theory 46(7),
       2000.

    Examples
    --------
    >>> round(float(np.exp(gaussian_scale_complexity(2, scale_range=(0.5, 2.0)))), 6)
    1.019978
    """
    n = check_integer(n, "n")
    low, high = check_range(scale_range, "scale_range", _OF_RATIOS.format("scale"), 0.0)
    inside = math.log(2.0 * _log_quotient(low, high)) + _log_gamma_peak(0.5 * n)
    return _count(inside, counted)


def gaussian_complexity(n: int, *, mean_range: Range, scale_range: Range) -> float:
    """Complexity of normal densities with unknown mean and unknown scale.

    Only data whose mean and standard deviation (dividing by n) lie in the ranges are
    counted. C = 2 (b - a) (1/s - 1/t) (n / (2 e))^(n/2) / (sqrt(pi) Gamma((n-1)/2))
    [1]_.

    Parameters
    ----------
    n : int
        2 or above: the likelihood of one observation has no bound.
    mean_range : tuple of float
        Ends a < b of the range of the mean.
    scale_range : tuple of float
        Ends 0 < s < t of the range of the standard deviation; t may be infinite.

    Returns
    -------
    float
        log C in nats.

    References
    ----------
    .. [1] S. Hirai and K. Yamanishi, Efficient computation of normalized maximum
       likelihood codes for Gaussian mixture models, IEEE Transactions on Information
       Theory 59(11), 2013.

    Examples
    --------
    >>> found = gaussian_complexity(2, mean_range=(-1, 1), scale_range=(0.5, 2))
    >>> round(float(np.exp(found)), 6)
    0.702598
    """
    n = check_integer(n, "n", minimum=2)
    left, right = check_range(mean_range, "mean_range", _OF_MEANS)
    low, high = check_range(
        scale_range, "scale_range", _OF_RATIOS.format("scale"), 0.0, None
    )
    scales = -math.expm1(-_log_quotient(low, high)) if high < math.inf else 1.0
    width = math.log(2.0) + math.log(right - left) + math.log(scales) - math.log(low)
    peak = 0.5 * n * math.log(n / (2.0 * math.e))
    return width + peak - 0.5 * math.log(math.pi) - math.lgamma(0.5 * (n - 1))


def exponential_complexity(
    n: int, *, mean_range: Range, counted: str = "data"
) -> float:
    """Complexity of exponential densities on [0, inf).

    log C of "data" is the logarithm of (n / e)^n log(b / a) / Gamma(n).

    Parameters
    ----------
    n, counted
        As for `gaussian_mean_complexity`.
    mean_range : tuple of float
        Ends 0 < a < b of the range of the mean.

    Returns
    -------
    float
        log C in nats.

    Examples
    --------
    >>> round(float(np.exp(exponential_complexity(1, mean_range=(0.5, 4.0)))), 6)
    0.764984
    """
    n = check_integer(n, "n")
    low, high = check_range(mean_range, "mean_range", _OF_RATIOS.format("mean"), 0.0)
    inside = math.log(_log_quotient(low, high)) + _log_gamma_peak(float(n))
    return _count(inside, counted)


def truncated_exponential_complexity(n: int, *, mean_range: Range) -> float:
    """Complexity of exponential densities cut to [0, 1].

    Only data whose mean lies in the range are counted. C is the integral of
    f(s) exp(-n h(s / n)), where f is the density of a sum of n uniform variables
    (Irwin and Hall) and h(mu) the entropy of the density with mean mu.

    Parameters
    ----------
    n : int
    mean_range : tuple of float
        Ends 0 < a < b < 1 of the range of the mean. The support is bounded and the
        complexity is infinite all the same if the range reaches 0 or 1.

    Returns
    -------
    float
        log C in nats, to about twelve digits.

    Examples
    --------
    >>> found = truncated_exponential_complexity(1, mean_range=(0.1, 0.9))
    >>> round(float(np.exp(found)), 6)
    1.25178
    """
    n = check_integer(n, "n")
    low, high = check_range(mean_range, "mean_range", _OF_UNIT_ENDS, 0.0, 1.0)
    # on the logit scale the integrand is level towards both ends
    knots = np.array([low, *np.arange(1, n) / n, high])
    logit = np.log(knots) - np.log1p(-knots)
    edges = np.unique(np.clip(logit, logit[0], logit[-1]))
    pieces = np.ceil(np.diff(edges) / _PANEL).astype(int)
    edges = np.concatenate(
        [
            np.linspace(a, b, k, endpoint=False)
            for a, b, k in zip(edges[:-1], edges[1:], pieces, strict=True)
        ]
        + [edges[-1:]]
    )
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    u = (edges[:-1, None] + half * (nodes + 1.0)).ravel()
    # f and h are symmetric about the middle; near 0 a mean keeps its digits, near 1 not
    log_mean = -np.logaddexp(0.0, np.abs(u))
    mean = np.exp(log_mean)
    slope = math.log(n) + log_mean + np.log1p(-mean)
    # close to an end the density is that of the half line, to rounding
    entropy = 1.0 + log_mean
    cut = mean > _UNCUT
    entropy[cut] = TruncatedExponential().entropy(mean[cut, None])
    log_terms = _log_irwin_hall(n * mean, n) - n * entropy + slope
    return float(logsumexp(log_terms + np.log(half * weights).ravel()))


def _log_irwin_hall(s: Array, n: int) -> Array:
    """Log density of the sum of n independent uniform variables on [0, 1]."""
    # by the recurrence of B-splines, whose terms are positive,
    # (n - 1) f_n(s) = s f_(n-1)(s) + (n - s) f_(n-1)(s - 1)
    shifted = s[..., None] - np.arange(n)
    with np.errstate(divide="ignore"):
        inside = (shifted >= 0.0) & (shifted < 1.0)
        log_f = np.log(inside.astype(np.float64))
        for order in range(2, n + 1):
            x = shifted[..., : n - order + 1]
            rise = np.log(np.clip(x, 0.0, order)) + log_f[..., :-1]
            fall = np.log(np.clip(order - x, 0.0, order)) + log_f[..., 1:]
            log_f = np.logaddexp(rise, fall) - math.log(order - 1.0)
    return log_f[..., 0]


def geometric_complexity(n: int, *, largest_sum: int) -> float:
    """Complexity of geometric distributions on 0, 1, 2, ...

    Only data whose sum is at most S are counted. C is the sum over s = 0, .., S of
    binom(n + s - 1, s) (n / (n + s))^n (s / (n + s))^s.

    Parameters
    ----------
    n : int
    largest_sum : int
        S, below ten million; the terms fall like 1 / s only. The mean is at most S / n.

    Returns
    -------
    float
        log C in nats.

    Examples
    --------
    >>> round(float(np.exp(geometric_complexity(2, largest_sum=8))), 6)
    2.029132
    """
    n = check_integer(n, "n")
    if largest_sum is None or not 0 <= largest_sum < _MOST_TERMS:
        raise ValueError(
            f"largest_sum={largest_sum!r} must be an integer, 0 or more and less than "
            f"{_MOST_TERMS}: sums near s contribute like 1 / s, which has no finite "
            "total, so that log C is infinite without a largest sum"
        )
    s = np.arange(check_integer(largest_sum, "largest_sum", minimum=0) + 1.0)
    log_number = gammaln(n + s) - gammaln(n) - gammaln(s + 1.0)
    log_terms = log_number - n * np.log1p(s / n) + xlogy(s, s / (n + s))
    return float(logsumexp(log_terms))


def _log_gamma_peak(k: float) -> float:
    """Peak of log(x f(x)) for f the gamma density of shape k: (k / e)^k / Gamma(k)."""
    return k * math.log(k) - k - math.lgamma(k)


def _log_quotient(low: float, high: float) -> float:
    """Log of high / low, close to each other or not."""
    return math.log1p((high - low) / low)


def _count(inside: float, counted: str) -> float:
    """Complexity of the data or, with the tails beyond both ends, of the parameter."""
    counted = check_choice(counted, "counted", CONVENTIONS)
    # the tails beyond the two ends, each under the end's parameter, add up to 1
    return inside if counted == "data" else float(np.logaddexp(inside, 0.0))
