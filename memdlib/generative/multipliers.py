"""Several scores of the same classes, each with the multiplier of its own constraint.

Let s_jik be score j of row i and class k. Of all posteriors p, those of maximum entropy
under which each score has the mean that it has for the true classes,

    sum_i w_i sum_k p_ik s_jik = sum_i w_i s_{j,i,y_i},    j = 1..m,

are p_ik proportional to exp(sum_j beta_j s_jik). For m = 1 the multiplier is an inverse
temperature (:mod:`memdlib.generative.tempered`). The dual is the log-loss of p, convex
in beta. A constraint is relaxed to "at least" where a negative multiplier would turn a
score around.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from memdlib.generative.tempered import checked_scores
from memdlib.validation import check_nonnegative

Array = NDArray[np.float64]

# Weight of |beta|^2 / 2, scores scaled to a widest row of one: equal scores share.
_RELAXATION = 1e-13
_GAP = 1e-10
_MOST_STEPS = 200
# Nats that a log-loss may be off by: near the least Newton steps are taken as they are.
_ROUNDING = 1e-13
# Of the widest row: scores as near as this leave posteriors within 1e-6 of uniform.
_LEAST = 1e-6


@dataclass(frozen=True)
class Multipliers:
    """Fitted multipliers, with what certifies them.

    Parameters
    ----------
    values : ndarray of shape (m,)
        beta, zero or above.
    log_loss : float
        Of the posteriors, in nats, with the row of unknown class.
    gap : float
        Bound on what other multipliers could still gain, nats: all that are no longer,
        as vectors, in units in which the widest row of each score is one. For those t
        times as long, 5e-14 t^2 times the square of that length is to be added.
    n_iter : int
    """

    values: Array
    log_loss: float
    gap: float
    n_iter: int


def fit_multipliers(
    scores: Sequence[ArrayLike], codes, sample_weight=None, *, smoothing: float = 1.0
) -> Multipliers:
    """Multipliers of least log-loss, by damped Newton steps.

    Parameters
    ----------
    scores : sequence of m array-like of shape (n, K)
        Finite, each up to a constant a row, of rows that they were not fitted to.
    codes : array-like of int, shape (n,)
        Class indices.
    sample_weight : array-like of shape (n,), default=None
    smoothing : float >= 0, default=1.0
        Weight, in instances, of a row of average scores whose class is unknown: each
        class counts 1/K.

    Returns
    -------
    Multipliers
        A score that is the same for all classes, or that together with the others
        would be turned around, gets zero. If that leaves none, the first score that
        differs gets 1e-6 over its widest row, which keeps its decisions, or the first
        of all gets one.

    Raises
    ------
    ValueError
        If shapes do not agree, a class index is none or a score is not finite.
    RuntimeError
        If the steps do not converge.

    Notes
    -----
    Scores are divided by their widest row, and 1e-13 times half the square of the
    length of beta is added to L, which relaxes the constraints by as little. The sum is
    strongly convex: the square of the length of its gradient over 2e-13, which is
    ``gap``, bounds how far it lies above its least value. What was added is no less for
    multipliers that are as long or longer, so that ``gap`` bounds L(beta) - L(beta')
    for every beta' that is no longer than beta. Longer ones matter where one row is a
    million times as wide as the others.

    Examples
    --------
    One score is a likelihood ratio, the other its square root: they agree on beta_1 +
    beta_2 / 2 only.

    >>> first = np.log([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2], [0.8, 0.2], [0.2, 0.8]])
    >>> found = fit_multipliers([first, first / 2], [0, 1, 0, 0, 0], smoothing=0.0)
    >>> print(f"{found.values[0] + found.values[1] / 2:.6f}")
    1.000000
    """
    parts = [checked_scores(part, codes, sample_weight) for part in scores]
    if not parts or len({part[0].shape for part in parts}) > 1:
        raise ValueError(
            f"scores of shapes {[part[0].shape for part in parts]}: give one or more, "
            "all of the shape (n, K)"
        )
    S, (_, codes, weight) = np.stack([part[0] for part in parts]), parts[0]
    if not np.isfinite(S).all():
        j, i, k = np.argwhere(~np.isfinite(S))[0]
        raise ValueError(f"scores[{j}][{i}, {k}] = {S[j, i, k]}: scores must be finite")
    n_classes = S.shape[-1]
    unknown = check_nonnegative(smoothing, "smoothing") / weight.sum()
    target = np.full(S.shape[1:], unknown / n_classes)
    target[np.arange(len(codes)), codes] += 1.0
    target /= 1.0 + unknown
    S -= S.max(axis=2, keepdims=True)
    widest = -S.min(axis=(1, 2))
    used = widest > 0
    S = S[used] / widest[used, None, None]
    share = weight / weight.sum()
    beta, loss, gap, steps = _constrained(S, target, share)
    if not beta.any():
        beta = _LEAST * (np.arange(len(beta)) == 0)
        more = _loss(_log_posterior(S, beta), target, share) - loss
        loss, gap = loss + more, gap + more
    values = np.zeros(len(widest))
    values[used] = beta / widest[used]
    if not used.any():
        values[0] = 1.0
    return Multipliers(values, float(loss), float(gap), steps)


def _constrained(S, target, share):
    """Multipliers not below zero, log-loss, gap and steps.

    If the least is reached with some below zero, one of these is zero where none may
    be: on the way to the least from a point where all of them are above zero the
    log-loss falls.
    """
    beta, *certificate = _newton(S, target, share)
    if (beta >= 0).all():
        return beta, *certificate
    best = None
    for j in np.flatnonzero(beta < 0):
        rest, *certificate = _constrained(np.delete(S, j, axis=0), target, share)
        if best is None or certificate[0] < best[1]:
            best = np.insert(rest, j, 0.0), *certificate
    return best


def _log_posterior(S, beta):
    return log_softmax(np.tensordot(beta, S, 1), axis=1)


def _loss(log_p, target, share):
    return -share @ (target * log_p).sum(axis=1)


def _newton(S, target, share):
    m, beta = len(S), np.zeros(len(S))
    observed = np.einsum("jik,ik,i->j", S, target, share)
    log_p = _log_posterior(S, beta)
    plain = now = _loss(log_p, target, share)
    for steps in range(_MOST_STEPS):
        p = np.exp(log_p)
        mean = np.einsum("jik,ik->ji", S, p)
        slope = mean @ share - observed + _RELAXATION * beta
        gap = slope @ slope / (2.0 * _RELAXATION)
        if gap <= _GAP:
            return beta, plain, gap, steps
        centred = S - mean[..., None]
        curvature = np.einsum("aik,bik,ik,i->ab", centred, centred, p, share)
        step = -np.linalg.solve(curvature + _RELAXATION * np.eye(m), slope)
        size = 1.0
        while True:
            trial = beta + size * step
            log_p = _log_posterior(S, trial)
            loss = _loss(log_p, target, share)
            new = loss + 0.5 * _RELAXATION * trial @ trial
            if new <= now + 1e-4 * size * (slope @ step) + _ROUNDING:
                break
            size /= 2.0
            if size < 1e-12:
                raise _not_found(steps)
        beta, plain, now = trial, loss, new
    raise _not_found(_MOST_STEPS)


def _not_found(steps):
    return RuntimeError(
        f"no multipliers found in {steps} steps; scores that are right on all rows "
        "need smoothing above zero"
    )
