"""Calibration: how sure scores may be, learnt from rows held out.

Scores s_jik of model j, row i and class k are log posteriors up to a constant a row, or
anything else that grows with them. Of all posteriors p whose mean scores are those of
the true classes, the ones of maximum entropy are p_ik proportional to
exp(sum_j beta_j s_jik): one Lagrange multiplier a score. A row may come from elsewhere
with probability epsilon = 1 / (2 (n + 1)), which is what n rows say of something that
none of them showed [1]_, so the posteriors are

    q_ik = (1 - epsilon) p_ik + epsilon / K,

when they are fitted and when they are used, and the multipliers make least

    F(beta) = - sum_i w_i log q_{i,y_i} + (log a)^2 / 2,

a the sum of the multipliers in units of those that are expected before any row is seen.

.. [1] Krichevsky & Trofimov, The performance of universal encoding, IEEE Transactions
   on Information Theory 27 (1981).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from memdlib._types import Array, ArrayLike, Weights
from memdlib.validation import check_positive, check_real_array, check_sample_weight

# Largest derivative of F by a log multiplier, nats a row, that counts as none.
_TOLERANCE = 1e-6

# Stands for minus infinity.
_IMPOSSIBLE = -1e100


@dataclass(frozen=True)
class Calibration:
    """Fitted multipliers, and the share of rows that no score foresees.

    Parameters
    ----------
    multipliers : ndarray of shape (m,)
        beta, above zero; the inverse of a temperature where there is one score.
    uniform_share : float
        epsilon = 1 / (2 (n + 1)), n the weight of the rows.
    log_loss : float
        Of the rows, nats a row.
    """

    multipliers: Array
    uniform_share: float
    log_loss: float

    def log_posterior(self, scores: Sequence[ArrayLike]) -> Array:
        """Log posteriors, mixed with the uniform ones.

        Parameters
        ----------
        scores : sequence of m array-like of shape (n, K)

        Returns
        -------
        ndarray of shape (n, K)
        """
        S = np.asarray(scores, dtype=np.float64)
        log_p = log_softmax(np.tensordot(self.multipliers, S, 1), axis=1)
        return _mixed(log_p, self.uniform_share, S.shape[2])


def fit_calibration(
    scores: Sequence[ArrayLike],
    codes: ArrayLike,
    sample_weight: Weights = None,
    *,
    lead: float | None = 3.0,
) -> Calibration:
    """Multipliers of several scores of the same classes, from rows held out.

    Parameters
    ----------
    scores : sequence of m array-like of shape (n, K)
        Each in any unit, of rows that they were not fitted to; minus infinity for an
        impossible class.
    codes : array-like of int, shape (n,)
        Class indices.
    sample_weight : array-like of shape (n,), default=None
        Weight 2 means the row twice.
    lead : float > 0 or None, default=3.0
        Nats by which the first class of the median row leads the second, if the rows do
        not say otherwise. None: scores are log posteriors, multipliers of one.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If shapes do not agree, a class index is none or a score is not a number.

    Warns
    -----
    ConvergenceWarning
        If the derivatives of F are not zero at the end.

    Notes
    -----
    F is not convex, as no loss is that is bounded. L-BFGS in the logarithms of the
    multipliers starts at the best of five values of each.

    Examples
    --------
    One row in five is wrong: the odds become about four.

    >>> scores = np.array([[9.0, 0.0], [0.0, 9.0]] * 50)
    >>> codes = np.where(np.arange(100) % 5, [0, 1] * 50, [1, 0] * 50)
    >>> found = fit_calibration([scores], codes)
    >>> float(np.exp(9 * found.multipliers[0]).round(2))
    4.18
    """
    S, codes = _checked(scores, codes)
    weight = check_sample_weight(sample_weight, codes)
    m, n, K = S.shape
    share, size, own = 0.5 / (1.0 + weight.sum()), max(1.0, weight.sum()), np.arange(n)
    unit = np.ones(m)
    if lead is not None:
        lead = check_positive(lead, "lead")
        unit = np.array([lead / (_median_lead(part, weight) or lead) for part in S])
    S = np.maximum(S - S.max(axis=2, keepdims=True), _IMPOSSIBLE) * unit[:, None, None]

    def objective(v):
        """F and its gradient in the logarithms of the multipliers in their units."""
        T = np.exp(v)[:, None, None] * S
        log_p = log_softmax(T.sum(axis=0), axis=1)
        log_q = _mixed(log_p[own, codes], share, K)
        foreseen = weight * np.exp(np.log1p(-share) + log_p[own, codes] - log_q)
        change = T[:, own, codes] - np.einsum("jik,ik->ji", T, np.exp(log_p))
        log_a = np.logaddexp.reduce(v)
        slope = log_a * np.exp(v - log_a) - change @ foreseen
        return (0.5 * log_a**2 - weight @ log_q) / size, slope / size

    starts = map(np.array, product((-4.0, -2.0, 0.0, 2.0, 4.0), repeat=m))
    found = minimize(
        objective,
        min(starts, key=lambda v: objective(v)[0]),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-2 * _TOLERANCE, "ftol": 0.0, "maxls": 50},
    )
    gradient = np.abs(found.jac).max()
    if gradient > _TOLERANCE:
        warnings.warn(
            f"a derivative is {gradient:.1e} nats a row after {found.nit} steps: bring "
            "the scores to one scale",
            ConvergenceWarning,
            stacklevel=2,
        )
    log_loss = found.fun * size - 0.5 * np.logaddexp.reduce(found.x) ** 2
    multipliers = np.exp(found.x) * unit
    return Calibration(multipliers, float(share), float(log_loss / weight.sum()))


def _mixed(log_p: Array, share: float, n_classes: int) -> Array:
    """Logarithm of a mixture with a share of uniform posteriors."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log1p(-share) + log_p, np.log(share / n_classes))


def _median_lead(S: Array, weight: Array) -> float:
    """Weighted median of the lead of the first class over the second; else its mean."""
    second, first = np.partition(S, -2, axis=1)[:, -2:].T
    known = second > -np.inf
    if not known.any():
        return 0.0
    lead, weight = (first - second)[known], weight[known]
    order = np.argsort(lead)
    upto = np.cumsum(weight[order]) / weight.sum()
    # weights add up to one half within rounding: then the mean of both sides
    sides = np.searchsorted(upto, [0.5 - 1e-9, 0.5 + 1e-9])
    return float(lead[order][sides].mean() or np.average(lead, weights=weight))


def _checked(scores, codes):
    """Scores (m, n, K) and class indices as arrays."""
    parts = [check_real_array(part, f"scores[{j}]") for j, part in enumerate(scores)]
    codes, shapes = np.asarray(codes), [part.shape for part in parts]
    shape = shapes[0] if len(set(shapes)) == 1 else ()
    if len(shape) != 2 or shape[1] < 2 or codes.shape != shape[:1] or not codes.size:
        raise ValueError(
            f"scores of shapes {shapes} and codes of shape {codes.shape}: give one or "
            "more (n, K), all alike, and (n,), one row and two classes at least"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= shape[1]:
        raise ValueError(f"codes must be integers from 0 to {shape[1] - 1}")
    S = np.stack(parts)
    bad = np.isnan(S) | (S == np.inf) | (S.max(axis=2, keepdims=True) == -np.inf)
    if bad.any():
        j, i, k = np.argwhere(bad)[0]
        raise ValueError(f"scores[{j}][{i}, {k}] = {S[j, i, k]} is no score")
    return S, codes
