"""One temperature that calibrates posteriors, fitted on rows held out.

Scores s_ik of row i and class k are log posteriors up to a constant a row. Dividing
them by a temperature T leaves every decision as it is and changes how sure it is:
products over features that are not independent are too sure, and T > 1 puts that right.

The inverse beta = 1/T is the Lagrange multiplier of one more moment constraint. Of all
posteriors p, those of maximum entropy for which the mean score agrees with that of the
true classes, sum_i w_i sum_k p_ik s_ik = sum_i w_i s_{i,y_i}, are p_ik proportional to
exp(beta s_ik), and the dual is the log-loss

    L(beta) = sum_i w_i (log sum_k exp(beta s_ik) - beta s_{i,y_i}) / sum_i w_i.

It is convex: a log-sum-exp of linear functions less a linear one. Its derivative is the
difference of the two sides above, its second derivative the mean variance of the score
under p_i.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from memdlib.validation import check_nonnegative, check_sample_weight

Array = NDArray[np.float64]

# Of the widest row: scores as near as this leave posteriors within 1e-6 of uniform.
_LEAST = 1e-6
_MOST_STEPS = 200
_GAP = 1e-12


@dataclass(frozen=True)
class Temperature:
    """A fitted temperature, with what certifies it.

    Parameters
    ----------
    temperature : float
        T = 1 / beta.
    log_loss : float
        L(beta) in nats, with the row of unknown class.
    gap : float
        Bound on what any other temperature allowed could still gain, nats.
    n_iter : int
    """

    temperature: float
    log_loss: float
    gap: float
    n_iter: int


def fit_temperature(
    scores, codes, sample_weight=None, *, smoothing: float = 1.0
) -> Temperature:
    """Temperature of least log-loss, by safeguarded Newton steps.

    Parameters
    ----------
    scores : array-like of shape (n, K)
        Log posteriors up to a constant a row, of rows that they were not fitted to;
        minus infinity for a class that is impossible.
    codes : array-like of int, shape (n,)
        Class indices.
    sample_weight : array-like of shape (n,), default=None
    smoothing : float >= 0, default=1.0
        Weight, in instances, of a row of average scores whose class is unknown: each
        class counts 1/K. Without it, scores that are right on all rows ask for T near
        zero, which is to be sure of everything.

    Returns
    -------
    Temperature
        T lies above zero and is at most 1e6 times the widest range of a row's scores,
        where all classes are as good as equal: T is there if scores and classes do not
        agree at all.

    Raises
    ------
    ValueError
        If shapes do not agree, a class index is none, a score is not a number or the
        true class of a row is impossible.
    RuntimeError
        If the steps do not converge.

    Notes
    -----
    L is convex, so that L(beta) - min L <= abs L'(beta) r, where r is the length of the
    bracket that holds the minimum: ``gap``.

    Examples
    --------
    >>> scores = np.array([[4.0, 0.0], [0.0, 4.0], [4.0, 0.0], [0.0, 4.0]])
    >>> found = fit_temperature(scores, [0, 1, 0, 0], smoothing=0.0)
    >>> round(found.temperature, 6)  # right three times in four: odds 3, not exp(4)
    3.640957
    """
    scores, codes, weight = checked_scores(scores, codes, sample_weight)
    n_classes = scores.shape[1]
    target = np.zeros_like(scores)
    target[np.arange(len(codes)), codes] = 1.0
    unknown = check_nonnegative(smoothing, "smoothing") / weight.sum()
    possible = np.isfinite(scores)
    count = possible.sum(axis=1, keepdims=True)
    target = (target + unknown * possible / count) / (1.0 + unknown)
    scores = scores - scores.max(axis=1, keepdims=True)
    widest = -np.where(possible, scores, 0.0).min()
    if n_classes == 1 or widest == 0:
        uniform = float(np.average(np.log(count[:, 0]), weights=weight))
        return Temperature(1.0, uniform, 0.0, 0)
    scores, share = scores / widest, weight / weight.sum()
    finite = np.where(possible, scores, 0.0)

    def loss(beta):
        """Log-loss and two derivatives."""
        log_p = log_softmax(beta * finite + np.where(possible, 0.0, -np.inf), axis=1)
        p = np.exp(log_p)
        mean = (p * finite).sum(axis=1)
        value = -share @ (target * np.where(possible, log_p, 0.0)).sum(axis=1)
        slope = share @ (mean - (target * finite).sum(axis=1))
        return value, slope, share @ (p * (finite - mean[:, None]) ** 2).sum(axis=1)

    low, high = _LEAST, 1.0
    value, slope, _ = loss(low)
    if slope >= 0:
        return Temperature(float(widest / low), float(value), 0.0, 0)
    steps = 0
    while loss(high)[1] < 0:
        low, high, steps = high, 2.0 * high, steps + 1
        if steps > _MOST_STEPS or not np.isfinite(high):
            raise _not_found(steps)
    beta = np.sqrt(low * high)
    while steps < _MOST_STEPS:
        steps += 1
        value, slope, curvature = loss(beta)
        low, high = (beta, high) if slope < 0 else (low, beta)
        gap = abs(slope) * (high - low)
        if gap <= _GAP * max(1.0, value):
            return Temperature(float(widest / beta), float(value), float(gap), steps)
        newton = beta - slope / curvature if curvature > 0 else 0.0
        beta = newton if low < newton < high else np.sqrt(low * high)
    raise _not_found(steps)


def _not_found(steps):
    return RuntimeError(
        f"no temperature found in {steps} steps; scores of very different ranges need "
        "smoothing above zero, or features of one scale"
    )


def checked_scores(scores, codes, sample_weight):
    """Scores, class indices and weights as arrays.

    Parameters
    ----------
    scores, codes, sample_weight
        As in :func:`fit_temperature`.

    Returns
    -------
    scores : ndarray of shape (n, K)
    codes : ndarray of int, shape (n,)
    sample_weight : ndarray of shape (n,)

    Raises
    ------
    ValueError
        As there.
    """
    scores = np.asarray(scores, dtype=np.float64)
    codes = np.asarray(codes)
    if scores.ndim != 2 or codes.shape != scores.shape[:1] or not codes.size:
        raise ValueError(
            f"scores of shape {scores.shape} and codes of shape {codes.shape}: give "
            "(n, K) and (n,), one row at least"
        )
    K = scores.shape[1]
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= K:
        raise ValueError(
            f"codes must be integers from 0 to {K - 1}, one column of scores each"
        )
    bad = np.isnan(scores) | (scores == np.inf)
    own = np.arange(len(codes)), codes
    bad[own] |= ~np.isfinite(scores[own])
    if bad.any():
        i, k = np.argwhere(bad)[0]
        raise ValueError(
            f"scores[{i}, {k}] = {scores[i, k]}: scores must be numbers, and finite "
            "for the class that a row belongs to"
        )
    return scores, codes, check_sample_weight(sample_weight, len(codes))
