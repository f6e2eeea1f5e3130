"""Calibration: how sure scores may be, learnt from rows held out.

Scores s_jik of model j, row i and class k are log posteriors up to a constant a row, or
anything else that grows with them. Of all posteriors p whose mean scores are those of
the true classes, the ones of maximum entropy are p_ik proportional to
exp(sum_j beta_j s_jik): one Lagrange multiplier a score, and for one score an inverse
temperature. Rows that no density foresaw decide such a fit alone. So a row may come
from elsewhere with probability epsilon = 1 / (2 (n + 1)), which is what n rows say of
something that none of them showed [1]_, and the posteriors are

    q_ik = (1 - epsilon) p_ik + epsilon / K,

when they are fitted and when they are used. The multipliers make

    F(beta) = - sum_i w_i log q_{i,y_i} + (log a)^2 / 2

least, where a is the sum of the multipliers in units of those that are expected before
any row is seen: one for log posteriors, and for other scores that with which the median
row has a lead that is given of the first class over the second.

.. [1] Krichevsky & Trofimov, The performance of universal encoding, IEEE Transactions
   on Information Theory 27 (1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from memdlib.estimator import log_posterior
from memdlib.validation import check_positive, check_real_array, check_sample_weight

Array = NDArray[np.float64]

# Logarithms of a from which the steps may start, and the share that one score has then.
_STARTS, _MOST = (-4.0, -2.0, 0.0, 2.0, 4.0), 0.9

# Largest derivative, a row, with which the steps end: F is then within rounding of its
# value at the minimum nearby.
_TOLERANCE = 1e-7

# Share of a sum of weights that is none.
_ROUNDING = 1e-9

# Nearer classes are as good as equal: the inverse is no number.
_LEAST_LEAD = 1e-300

# In leads: what lies further below the first class has no probability left.
_FARTHEST = 1e100


@dataclass(frozen=True)
class Calibration:
    """Fitted multipliers, and the share of rows that no score foresees.

    Parameters
    ----------
    multipliers : ndarray of shape (m,)
        beta, above zero; 1 / temperature where there is one score.
    uniform_share : float
        epsilon = 1 / (2 (n + 1)), n the weight of the rows.
    log_loss : float
        Of the rows, nats a row.
    gradient : float
        Largest derivative of F by a log multiplier, nats a row, or in all where rows
        weigh less than one: zero at a minimum.
    n_iter : int
        Newton steps.
    """

    multipliers: Array
    uniform_share: float
    log_loss: float
    gradient: float
    n_iter: int

    def joint(self, scores: Sequence[ArrayLike]) -> Array:
        """Scores times their multipliers, added.

        Parameters
        ----------
        scores : sequence of m array-like of shape (n, K)

        Returns
        -------
        ndarray of shape (n, K)
        """
        parts = zip(self.multipliers, scores, strict=True)
        return sum(beta * np.asarray(part, dtype=np.float64) for beta, part in parts)

    def log_posterior(self, scores: Sequence[ArrayLike]) -> Array:
        """Log posteriors, mixed with the uniform ones.

        Parameters
        ----------
        scores : sequence of m array-like of shape (n, K)

        Returns
        -------
        ndarray of shape (n, K)
        """
        return log_posterior(self.joint(scores), self.uniform_share)


def fit_calibration(
    scores: Sequence[ArrayLike],
    codes: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    lead: float | None = 3.0,
) -> Calibration:
    """Multipliers of several scores of the same classes, from rows held out.

    Parameters
    ----------
    scores : sequence of m array-like of shape (n, K)
        Each up to a constant a row and in any unit, of rows that they were not fitted
        to; minus infinity for a class that is impossible.
    codes : array-like of int, shape (n,)
        Class indices.
    sample_weight : array-like of shape (n,), default=None
        Weight 2 means the row twice.
    lead : float > 0 or None, default=3.0
        Nats by which the first class of the median row leads the second, if the rows do
        not say otherwise. None: scores are log posteriors, and are taken as they are
        if the rows do not say otherwise.

    Returns
    -------
    Calibration
        A score that tells no classes apart has multiplier zero beside others that do;
        if none does, the first has one.

    Raises
    ------
    ValueError
        If shapes do not agree, a class index is none, a score is not a number or the
        true class of a row is impossible.
    RuntimeError
        If the steps do not converge.

    Notes
    -----
    No new row costs more than log(2 K (n + 1)) nats, and decisions are those of the
    scores. The rows given cost at most log(1 + 1 / (2 n + 1)) each more than without
    mixture, at the multipliers expected, and the logarithm of a is at most
    sqrt(2 n log(2 K (n + 1))), however far apart some scores lie.

    F is not convex, as no loss is that is bounded. Newton steps in the logarithms of
    the multipliers start where F is least among five values of a and m + 1 shares of
    the scores, and end at a minimum, which ``gradient`` certifies.

    Examples
    --------
    One row in five is wrong: the odds become about four.

    >>> scores = np.array([[9.0, 0.0], [0.0, 9.0]] * 50)
    >>> codes = np.where(np.arange(100) % 5, [0, 1] * 50, [1, 0] * 50)
    >>> found = fit_calibration([scores], codes)
    >>> float(np.exp(9 * found.multipliers[0]).round(2))
    4.18
    """
    S, codes, weight = _checked(scores, codes, sample_weight)
    leads = np.array([_median_lead(part, weight) for part in S])
    used = leads > _LEAST_LEAD
    multipliers = np.where(used, 0.0, 0.0 if len(S) > 1 else 1.0)
    share = 0.5 / (1.0 + weight.sum())
    if not used.any():
        joint = np.where(np.isfinite(S).all(axis=0), 0.0, -np.inf)
        own = log_posterior(joint, share)[np.arange(len(codes)), codes]
        multipliers[0] = 1.0
        return Calibration(
            multipliers, share, float(-weight @ own / weight.sum()), 0, 0
        )
    unit = np.ones(used.sum())
    if lead is not None:
        unit = check_positive(lead, "lead") / leads[used]
    objective = _Objective(S[used], unit, codes, weight, share)
    m = len(unit)
    shares = np.full((m + 1, m), (1.0 - _MOST) / max(m - 1, 1))
    shares[-1] = 1.0 / m
    np.fill_diagonal(shares, _MOST)
    starts = [start + np.log(part) for part in shares[m == 1 :] for start in _STARTS]
    found = minimize(
        objective,
        min(starts, key=lambda v: objective(v)[0]),
        jac=True,
        hess=objective.hessian,
        method="trust-exact",
        options={"gtol": _TOLERANCE * max(1.0, weight.sum())},
    )
    if not found.success:
        raise RuntimeError(
            f"no multipliers found in {found.nit} steps: {found.message}; the leads of "
            f"the scores are {leads[used].tolist()}: bring the scores to one scale"
        )
    multipliers[used] = np.exp(found.x) * unit
    return Calibration(
        multipliers,
        share,
        float(objective.loss(found.x) / weight.sum()),
        float(np.abs(found.jac).max() / max(1.0, weight.sum())),
        int(found.nit),
    )


class _Objective:
    """F and its derivatives in the logarithms of the multipliers, scores in leads."""

    def __init__(
        self, S: Array, unit: Array, codes, weight: Array, share: float
    ) -> None:
        possible = np.isfinite(S).all(axis=0)
        with np.errstate(over="ignore"):
            S = S - np.where(possible, S, -np.inf).max(axis=2, keepdims=True)
            S *= unit[:, None, None]
        self.S = np.where(possible, np.maximum(S, -_FARTHEST), 0.0)
        self.outside = np.where(possible, 0.0, -np.inf)
        self.own = np.arange(len(codes)), codes
        self.weight = weight
        with np.errstate(divide="ignore"):  # of rows that weigh next to nothing
            self.foreseen = np.log1p(-share)
        self.level = np.log(share / possible.sum(axis=1))

    def _log_posterior(self, v):
        return log_softmax(np.tensordot(np.exp(v), self.S, 1) + self.outside, axis=1)

    def _loss(self, log_p):
        own = self.foreseen + log_p[self.own]
        return -np.logaddexp(own, self.level)

    def loss(self, v) -> float:
        """Summed log-loss."""
        return float(self.weight @ self._loss(self._log_posterior(v)))

    def _parts(self, v):
        """Losses, shares of the scores in them, and derivatives of log p_own."""
        log_p = self._log_posterior(v)
        loss, p = self._loss(log_p), np.exp(log_p)
        told = np.exp(self.foreseen + log_p[self.own] + loss)
        T = np.exp(v)[:, None, None] * self.S
        mean = np.einsum("jik,ik->ji", T, p)
        return loss, told, T[:, *self.own] - mean, (T, p, mean)

    def __call__(self, v):
        """F and its gradient."""
        loss, told, change, _ = self._parts(v)
        log_a = np.logaddexp.reduce(v)
        slope = log_a * np.exp(v - log_a) - change @ (self.weight * told)
        return self.weight @ loss + 0.5 * log_a**2, slope

    def hessian(self, v):
        """Second derivatives of F."""
        _, told, change, (T, p, mean) = self._parts(v)
        log_a = np.logaddexp.reduce(v)
        part, weight = np.exp(v - log_a), self.weight * told
        centred = T - mean[..., None]
        found = np.einsum("aik,bik,ik,i->ab", centred, centred, p, weight)
        found -= np.einsum("ai,bi,i->ab", change, change, weight * (1.0 - told))
        found += (1.0 - log_a) * np.outer(part, part)
        return found + np.diag(log_a * part - change @ weight)


def _median_lead(S: Array, weight: Array) -> float:
    """Weighted median of the lead of the first class over the second; else its mean."""
    ordered = np.sort(S, axis=1)
    several = ordered[:, -2:-1] > -np.inf if S.shape[1] > 1 else np.zeros((0, 1), bool)
    rows = np.flatnonzero(several.ravel())
    if not rows.size:
        return 0.0
    with np.errstate(over="ignore"):
        lead = np.minimum(ordered[rows, -1] - ordered[rows, -2], np.finfo(float).max)
    order = np.argsort(lead, kind="stable")
    upto = np.cumsum(weight[rows][order])
    lead = lead[order]
    # weights add up to one half within rounding: then the mean of both sides
    halves = 0.5 * upto[-1] * np.array([1.0 - _ROUNDING, 1.0 + _ROUNDING])
    median = (0.5 * lead[np.searchsorted(upto, halves)]).sum()
    return float(median or np.average(lead, weights=weight[rows][order]))


def _checked(scores, codes, sample_weight):
    """Scores (m, n, K), class indices and weights as arrays."""
    parts = [check_real_array(part, f"scores[{j}]") for j, part in enumerate(scores)]
    codes = np.asarray(codes)
    shapes = {part.shape for part in parts}
    shape = next(iter(shapes), ())
    if (
        len(shapes) != 1
        or len(shape) != 2
        or codes.shape != shape[:1]
        or not codes.size
    ):
        raise ValueError(
            f"scores of shapes {[part.shape for part in parts]} and codes of shape "
            f"{codes.shape}: give one or more (n, K), all alike, and (n,), one row at "
            "least"
        )
    K = shape[1]
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= K:
        raise ValueError(
            f"codes must be integers from 0 to {K - 1}, one column of scores each"
        )
    S = np.stack(parts)
    bad = np.isnan(S) | (S == np.inf)
    own = np.arange(len(codes)), codes
    bad[:, *own] |= ~np.isfinite(S[:, *own])
    if bad.any():
        j, i, k = np.argwhere(bad)[0]
        raise ValueError(
            f"scores[{j}][{i}, {k}] = {S[j, i, k]}: scores must be numbers, and finite "
            "for the class that a row belongs to"
        )
    return S, codes, check_sample_weight(sample_weight, len(codes))
