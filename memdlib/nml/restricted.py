"""NML complexities of families on infinite domains, restricted to a finite range.

On an infinite domain the maximised likelihoods of these families have no finite sum, so
every function here requires the range to which the model is restricted, and raises
ValueError if the range is unbounded. Two conventions make the restriction exact:

- ``"data"``: only data whose estimate lies in the range are ever sent;
- ``"parameter"``: all data may be sent, and an estimate outside the range is replaced
  by the nearest end of the range.

Under the first convention the complexity is the density of the estimate under the
parameter that equals it, integrated over the range; the second adds, for the families
below, the probability 1 of falling beyond an end when the parameter is that end.
"""

import math
from numbers import Integral

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from memdlib.densities.support import panel_nodes
from memdlib.families import TruncatedExponential
from memdlib.nml.checks import check_range
from memdlib.validation import (
    POSITIVE,
    Interval,
    check_choice,
    check_integer,
    check_real,
)

CONVENTIONS = ("data", "parameter")
# Gauss-Legendre nodes on each panel, and its largest width on the logit scale.
_NODES = 24
_PANEL_WIDTH = 1.0
# The most terms of a sum.
_MOST_TERMS = 10**7
# Mean below which exp(-1 / mean) / mean^2 is below rounding.
_LEAST_TRUNCATED_MEAN = 1.0 / 45.0
# Why the complexity is infinite without a range.
_OF_MEANS = "every stretch of means of the same length adds as much"
_OF_RATIOS = "every doubling of the {} adds as much, or more"
_OF_ENDS = "means within a distance d of the end contribute like 1 / d"


def gaussian_complexity(
    n,
    *,
    mean_range=None,
    scale_range=None,
    scale=None,
    restrict="data",
):
    """Complexity of normal densities whose mean, scale, or both are unknown.

    With M = log(b - a) + log(n / (2 pi)) / 2 and S(k) = (k / e)^k / Gamma(k), log C
    under the convention "data" is M - log(scale) for an unknown mean [1]_;
    log(2 S(n / 2) log(t / s)) for an unknown scale [2]_; and for both the logarithm of
    2 (b - a) (1/s - 1/t) (n / (2 e))^(n/2) / (sqrt(pi) Gamma((n - 1) / 2)) [3]_.

    Parameters
    ----------
    n : int
        Number of observations, 1 or more; 2 or more if mean and scale are both
        unknown, as the likelihood of one observation is unbounded.
    mean_range : tuple of float, default=None
        Ends a < b of the range of an unknown mean, up to 1e100 in absolute value.
    scale_range : tuple of float, default=None
        Ends 0 < s < t of the range of an unknown standard deviation (dividing by n);
        t may be infinite if the mean is unknown too.
    scale : float, default=None
        Standard deviation, if it is known.
    restrict : {"data", "parameter"}, default="data"
        What is held in the range, see the head of the module. Must be "data" if mean
        and scale are both unknown.

    Returns
    -------
    float
        log C in nats; negative where the range is narrow and ``restrict`` is "data".

    Raises
    ------
    ValueError
        If a range that makes the complexity finite is missing, or if an argument is
        out of range.

    References
    ----------
    .. [1] P. Gruenwald, The Minimum Description Length Principle, MIT Press, 2007,
       chapter 11.
    .. [2] J. Rissanen, MDL denoising, IEEE Transactions on Information Theory 46(7),
       2000.
    .. [3] S. Hirai and K. Yamanishi, Efficient computation of normalized maximum
       likelihood codes for Gaussian mixture models, IEEE Transactions on Information
       Theory 59(11), 2013.

    Examples
    --------
    >>> log_complexities = [
    ...     gaussian_complexity(2, mean_range=(-1.5, 1.5), scale=1.0),
    ...     gaussian_complexity(2, scale_range=(0.5, 2.0)),
    ...     gaussian_complexity(2, mean_range=(-1, 1), scale_range=(0.5, 2)),
    ... ]
    >>> np.exp(log_complexities).round(6).tolist()
    [1.692569, 1.019978, 0.702598]
    """
    if scale is not None:
        n = check_integer(n, "n")
        left, right = check_range(mean_range, "mean_range", _OF_MEANS)
        scale = check_real(scale, "scale", POSITIVE)
        log_range = math.log(right - left) - math.log(scale)
        return _count(log_range + 0.5 * math.log(n / (2.0 * math.pi)), restrict)
    why = _OF_RATIOS.format("scale")
    if mean_range is None:
        n = check_integer(n, "n")
        low, high = check_range(scale_range, "scale_range", why, lowest=0.0)
        log_range = math.log(2.0 * _log_quotient(low, high))
        return _count(log_range + _log_gamma_peak(0.5 * n), restrict)
    n = check_integer(n, "n", minimum=2)
    left, right = check_range(mean_range, "mean_range", _OF_MEANS)
    low, high = check_range(
        scale_range, "scale_range", why, lowest=0.0, highest=math.inf
    )
    check_choice(restrict, "restrict", CONVENTIONS[:1])
    return _log_complexity_of_both(n, right - left, low, high)


def _log_complexity_of_both(n, width, low, high):
    """Log C of an unknown mean in a range of that width and scale from low to high."""
    # 1/s - 1/t = (1 - s/t) / s
    log_inverse_scales = -math.log(low)
    if high < math.inf:
        log_inverse_scales += math.log(-math.expm1(-_log_quotient(low, high)))
    log_range = math.log(2.0) + math.log(width) + log_inverse_scales
    log_peak = 0.5 * n * math.log(n / (2.0 * math.e)) - math.lgamma(0.5 * (n - 1))
    return log_range + log_peak - 0.5 * math.log(math.pi)


def exponential_complexity(n, *, mean_range, upper=math.inf, restrict="data"):
    """Complexity of exponential densities on [0, inf), or cut to [0, upper].

    Under the convention "data", log C is the logarithm of
    (n / e)^n log(b / a) / Gamma(n). On [0, 1], C is the integral of
    f(s) exp(-n h(s / n)), where f is the density of a sum of n uniform variables (Irwin
    and Hall) and h(mu) the entropy of the density with mean mu.

    Parameters
    ----------
    n : int
        Number of observations, 1 or more.
    mean_range : tuple of float
        Ends 0 < a < b of the range of the mean. On a bounded support b < upper: the
        complexity is infinite there too if the range reaches an end of the support.
    upper : float, default=inf
        Upper end of the support.
    restrict : {"data", "parameter"}, default="data"
        As for `gaussian_complexity`. Must be "data" on a bounded support.

    Returns
    -------
    float
        log C in nats, on a bounded support to about twelve digits.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> log_complexities = [
    ...     exponential_complexity(1, mean_range=(0.5, 4.0)),
    ...     exponential_complexity(1, mean_range=(0.1, 0.9), upper=1.0),
    ... ]
    >>> np.exp(log_complexities).round(6).tolist()
    [0.764984, 1.25178]
    """
    n = check_integer(n, "n")
    if upper == math.inf:
        why = _OF_RATIOS.format("mean")
        low, high = check_range(mean_range, "mean_range", why, lowest=0.0)
        inside = math.log(_log_quotient(low, high)) + _log_gamma_peak(float(n))
        return _count(inside, restrict)
    check_choice(restrict, "restrict", CONVENTIONS[:1])
    upper = check_real(upper, "upper", POSITIVE)
    low, high = check_range(
        mean_range, "mean_range", _OF_ENDS, lowest=0.0, highest=upper
    )
    return _truncated_exponential_complexity(n, low / upper, high / upper)


def _truncated_exponential_complexity(n, low, high):
    """Log C in nats on [0, 1], for means from low to high.

    The integral over the mean is taken on the logit scale, where the integrand is level
    towards both ends.
    """
    logit, weights = _logit_nodes(n, low, high)
    # density and entropy are symmetric about the middle: a mean near 0 keeps its digits
    log_mean = -np.logaddexp(0.0, np.abs(logit))
    mean = np.exp(log_mean)
    # near an end the density is that of the half line, to rounding
    entropy = 1.0 + log_mean
    truncated = mean > _LEAST_TRUNCATED_MEAN
    entropy[truncated] = TruncatedExponential().entropy(mean[truncated, None])
    # of the sum by the logit of the mean
    log_derivative = math.log(n) + log_mean + np.log1p(-mean)
    log_terms = _log_irwin_hall(n * mean, n) - n * entropy + log_derivative
    return float(logsumexp(log_terms + np.log(weights)))


def _logit_nodes(n, low, high):
    """Gauss-Legendre nodes on the logit scale from low to high, and their weights.

    The density of a sum of n uniform variables is a polynomial between neighbouring
    integers, so that panels end there.
    """
    knots = np.array([low, *np.arange(1, n) / n, high])
    edges = np.log(knots) - np.log1p(-knots)
    first = edges[0]
    last = edges[-1]
    edges = np.concatenate([edges, np.arange(first, last, _PANEL_WIDTH)])
    edges = np.unique(np.clip(edges, first, last))
    nodes, weights = panel_nodes(edges[None], _NODES)
    return nodes[0], weights[0]


def _log_irwin_hall(s, n):
    """Log density of the sum of n independent uniform variables on [0, 1]."""
    # by the recurrence of B-splines, whose terms are positive,
    # (n - 1) f_n(s) = s f_(n-1)(s) + (n - s) f_(n-1)(s - 1)
    shifted = s[..., None] - np.arange(n)
    is_inside = (shifted >= 0.0) & (shifted < 1.0)
    with np.errstate(divide="ignore"):
        log_f = np.log(is_inside.astype(np.float64))
        for order in range(2, n + 1):
            x = np.clip(shifted[..., : n - order + 1], 0.0, order)
            rise = np.log(x) + log_f[..., :-1]
            fall = np.log(order - x) + log_f[..., 1:]
            log_f = np.logaddexp(rise, fall) - math.log(order - 1.0)
    return log_f[..., 0]


def geometric_complexity(n, *, largest_sum):
    """Complexity of geometric distributions on 0, 1, 2, ...

    Only data whose sum is at most S are counted. C is the sum over s = 0, .., S of
    binom(n + s - 1, s) (n / (n + s))^n (s / (n + s))^s.

    Parameters
    ----------
    n : int
        Number of observations, 1 or more.
    largest_sum : int
        S, below ten million: the terms fall off only like 1 / s. The mean is at most
        S / n.

    Returns
    -------
    float
        log C in nats.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> round(float(np.exp(geometric_complexity(2, largest_sum=8))), 6)
    2.029132
    """
    n = check_integer(n, "n")
    if not Interval(Integral, 0, _MOST_TERMS, closed="left").is_satisfied_by(
        largest_sum
    ):
        raise ValueError(
            f"largest_sum={largest_sum!r} must be an integer, 0 or more and less than "
            f"{_MOST_TERMS}: sums near s contribute like 1 / s, which has no finite "
            "total, so that log C is infinite without a largest sum"
        )
    s = np.arange(largest_sum + 1.0)
    log_number = gammaln(n + s) - gammaln(n) - gammaln(s + 1.0)
    log_terms = log_number - n * np.log1p(s / n) + xlogy(s, s / (n + s))
    return float(logsumexp(log_terms))


def _log_gamma_peak(k):
    """Peak of log(x f(x)) for f the gamma density of shape k: (k / e)^k / Gamma(k)."""
    return k * math.log(k) - k - math.lgamma(k)


def _log_quotient(low, high):
    """Log of high / low, which keeps its digits if they are close to each other."""
    return math.log1p((high - low) / low)


def _count(inside, restrict):
    """Log complexity under one of the conventions, from that of the data inside."""
    if check_choice(restrict, "restrict", CONVENTIONS) == "data":
        return inside
    # the tails beyond the two ends, each under the end's parameter, add up to 1
    return float(np.logaddexp(inside, 0.0))
