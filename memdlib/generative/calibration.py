"""Calibration: how confident scores may be, learnt from held-out rows.

Scores s_jik of model j, row i and class k are log posteriors up to a constant per row,
or anything else that grows with them. Among all posteriors p whose mean scores equal
those of the true classes, the posteriors of maximum entropy are p_ik proportional to
exp(sum_j beta_j s_jik), with one Lagrange multiplier per score. With probability
epsilon = 1 / (2 (n + 1)) a row comes from elsewhere: that is the estimate for an event
that none of n rows has shown [1]_. The posteriors are therefore

    q_ik = (1 - epsilon) p_ik + epsilon / K,

both in the fit and in prediction, and the multipliers minimise

    F(beta) = - sum_i w_i log q_{i,y_i} + (log a)^2 / 2,

where a is the sum of the multipliers, each in units of the value that is expected
before any row has been seen.

Scores may also be evidence alone, without the class shares pi_k, which are then the
base measure: p_ik is proportional to pi_k exp(sum_j beta_j s_jik), so that a row whose
scores are zero gets the class shares, whatever the multipliers are.

.. [1] Krichevsky & Trofimov, The performance of universal encoding, IEEE Transactions
   on Information Theory 27 (1981).
"""

import warnings
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from memdlib._types import Array
from memdlib.validation import (
    POSITIVE,
    check_real,
    check_real_array,
    check_sample_weight,
)

# Derivatives of F by a log multiplier up to this size, in nats per row, count as zero.
_TOLERANCE = 1e-6

# Logarithms of the multipliers, in their units, at which the search may start.
_STARTS = (-4.0, -2.0, 0.0, 2.0, 4.0)

# Stands for minus infinity, whose product with a derivative of zero is NaN.
_IMPOSSIBLE = -1e100


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fitted multipliers, and the weight of the uniform posteriors.

    Parameters
    ----------
    multipliers : ndarray of shape (m,)
        beta, above zero; with a single score, the inverse of a temperature.
    uniform_share : float
        epsilon = 1 / (2 (n + 1)), where n is the total weight of the rows.
    log_loss : float
        Mean of - log q on the rows of the fit, in nats per row.
    log_prior : ndarray of shape (K,) or float, default=0.0
        Logarithms of the class shares, if the scores are evidence alone.
    """

    multipliers: Array
    uniform_share: float
    log_loss: float
    log_prior: Array | float = 0.0

    def log_posterior(self, scores):
        """Calibrated log posteriors, mixed with the uniform posteriors.

        Parameters
        ----------
        scores : sequence of m array-like of shape (n, K)
            In the order and the units of the fit.

        Returns
        -------
        ndarray of shape (n, K)
        """
        S = np.asarray(scores, dtype=np.float64)
        log_odds = np.tensordot(self.multipliers, S, 1) + self.log_prior
        log_p = log_softmax(log_odds, axis=1)
        return _mix_with_uniform(log_p, self.uniform_share, S.shape[2])


def fit_calibration(
    scores,
    codes,
    sample_weight=None,
    *,
    expected_log_odds=3.0,
    log_prior=0.0,
):
    """Fit the multipliers of several scores of the same classes to held-out rows.

    Parameters
    ----------
    scores : sequence of m array-like of shape (n, K)
        Each in any unit, of rows that its model was not fitted to; minus infinity for
        an impossible class.
    codes : array-like of int, shape (n,)
        Class indices.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; weight 2 means that the row occurs twice.
    expected_log_odds : float > 0 or None, default=3.0
        Expected log odds of the first class against the second in the median row, in
        nats, unless the rows say otherwise. None: scores are log posteriors, whose
        expected multipliers are one.
    log_prior : array-like of shape (K,) or float, default=0.0
        Logarithms of the class shares, if the scores are evidence alone, as those of a
        discriminant without an intercept are. The default is for scores that include
        the class shares.

    Returns
    -------
    Calibration

    Raises
    ------
    ValueError
        If shapes do not agree, a class index is out of range or a score is invalid.

    Warns
    -----
    ConvergenceWarning
        If the derivatives of F are not zero at the end.

    Notes
    -----
    F is not convex, as no bounded loss is. L-BFGS in the logarithms of the multipliers
    starts at the best point of a grid with five values of each.

    Examples
    --------
    One row in five is wrong, so that the odds become about four.

    >>> scores = np.array([[9.0, 0.0], [0.0, 9.0]] * 50)
    >>> codes = np.where(np.arange(100) % 5, [0, 1] * 50, [1, 0] * 50)
    >>> calibration = fit_calibration([scores], codes)
    >>> float(np.exp(9 * calibration.multipliers[0]).round(2))
    4.18
    """
    if not np.iterable(scores):
        raise ValueError(f"scores={scores!r} must be a list of arrays of shape (n, K)")
    S, codes = _check_scores(scores, codes)
    weight = check_sample_weight(sample_weight, codes)
    log_prior = check_real_array(log_prior, "log_prior")
    if expected_log_odds is not None:
        expected_log_odds = check_real(expected_log_odds, "expected_log_odds", POSITIVE)
    expected = np.array(
        [_expected_multiplier(score, weight, expected_log_odds) for score in S]
    )
    S = np.maximum(S - S.max(axis=2, keepdims=True), _IMPOSSIBLE)
    S *= expected[:, None, None]
    uniform_share = float(0.5 / (1.0 + weight.sum()))
    log_a = _minimise_objective(S, log_prior, codes, weight, uniform_share)
    loss, _ = _loss(log_a, S, log_prior, codes, weight, uniform_share)
    return Calibration(
        multipliers=np.exp(log_a) * expected,
        uniform_share=uniform_share,
        log_loss=float(loss / weight.sum()),
        log_prior=log_prior,
    )


def _minimise_objective(S, log_prior, codes, weight, uniform_share):
    """Logarithms (m,) of the multipliers at a minimum of F; see :func:`_objective`.

    F may have several minima, so the search begins at the best point of a grid.
    """
    args = (S, log_prior, codes, weight, uniform_share)
    starts = [np.array(log_a) for log_a in product(_STARTS, repeat=len(S))]
    optimum = minimize(
        _objective,
        min(starts, key=lambda log_a: _objective(log_a, *args)[0]),
        args=args,
        jac=True,
        method="L-BFGS-B",
        options={"gtol": 1e-2 * _TOLERANCE, "ftol": 0.0, "maxls": 50},
    )
    gradient = np.abs(optimum.jac).max()
    if not gradient <= _TOLERANCE:
        warnings.warn(
            f"a derivative is {gradient:.1e} nats per row after {optimum.nit} steps: "
            "bring the scores to the same scale",
            ConvergenceWarning,
            stacklevel=3,  # the line that calls fit_calibration
        )
    return optimum.x


def _objective(log_a, S, log_prior, codes, weight, uniform_share):
    """F and its gradient (m,) in the logarithms of the multipliers, per row.

    ``log_a`` (m,) and ``S`` (m, n, K) are in units of the expected multipliers;
    ``codes`` and ``weight`` are of shape (n,).
    """
    loss, gradient = _loss(log_a, S, log_prior, codes, weight, uniform_share)
    log_sum = np.logaddexp.reduce(log_a)
    penalty_gradient = log_sum * np.exp(log_a - log_sum)
    n_rows = max(1.0, weight.sum())
    value = (0.5 * log_sum**2 + loss) / n_rows
    return value, (penalty_gradient + gradient) / n_rows


def _loss(log_a, S, log_prior, codes, weight, uniform_share):
    """First term of F, - sum_i w_i log q_{i,y_i}, and its gradient (m,)."""
    rows = np.arange(len(codes))
    scaled = np.exp(log_a)[:, None, None] * S
    log_p = log_softmax(scaled.sum(axis=0) + log_prior, axis=1)
    log_p_true = log_p[rows, codes]
    log_q_true = _mix_with_uniform(log_p_true, uniform_share, S.shape[2])
    # d log q / d log p: the posterior probability that the row is not from elsewhere
    from_model = np.exp(np.log1p(-uniform_share) + log_p_true - log_q_true)
    mean_score = np.einsum("jik,ik->ji", scaled, np.exp(log_p))
    slopes = scaled[:, rows, codes] - mean_score  # d log p / d log_a
    return -(weight @ log_q_true), -(slopes @ (weight * from_model))


def _mix_with_uniform(log_p, uniform_share, n_classes):
    """Logarithm of a mixture of posteriors (any shape) with uniform ones."""
    with np.errstate(divide="ignore"):  # a share of zero, of calibrations not fitted
        log_uniform = np.log(uniform_share / n_classes)
    return np.logaddexp(np.log1p(-uniform_share) + log_p, log_uniform)


def _expected_multiplier(score, weight, expected_log_odds):
    """Multiplier that brings the log odds of the median row to ``expected_log_odds``.

    The log odds of a row of the score (n, K) are those of its first class against its
    second. Rows with a single possible class do not count. If the weighted median is
    zero, the mean takes its place. The multiplier is one if that is zero too, or if
    ``expected_log_odds`` is None.
    """
    second, first = np.partition(score, -2, axis=1)[:, -2:].T
    known = (second > -np.inf) & (weight > 0)
    if expected_log_odds is None or not known.any():
        return 1.0
    log_odds = first[known] - second[known]
    weight = weight[known]
    # where the weights add up to one half within rounding, the mean of both neighbours
    middle = np.quantile(
        log_odds, [0.5 - 1e-9, 0.5 + 1e-9], weights=weight, method="inverted_cdf"
    )
    typical = middle.mean() or np.average(log_odds, weights=weight)
    return expected_log_odds / typical if typical > 0 else 1.0


def _check_scores(scores, codes):
    """Scores as an array (m, n, K), and class indices (n,); ValueError if not valid."""
    arrays = [check_real_array(score, f"scores[{j}]") for j, score in enumerate(scores)]
    codes = np.asarray(codes)
    shapes = [array.shape for array in arrays]
    n_classes = max((shape[-1] for shape in shapes if shape), default=0)
    agree = codes.ndim == 1 and set(shapes) == {(codes.size, n_classes)}
    if not agree or codes.size == 0 or n_classes < 2:
        raise ValueError(
            f"scores of shapes {shapes} and codes of shape {codes.shape}: give one or "
            "more scores (n, K), all alike, and codes (n,), with at least one row and "
            "two classes"
        )
    if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes:
        raise ValueError(f"codes must be integers from 0 to {n_classes - 1}")
    S = np.stack(arrays)
    _check_values(S)
    return S, codes


def _check_values(S):
    """Raise ValueError if a score (m, n, K) is invalid or rules out all classes."""
    no_class = S.max(axis=2, keepdims=True) == -np.inf
    invalid = np.isnan(S) | (S == np.inf) | no_class
    if invalid.any():
        j, i, k = np.argwhere(invalid)[0]
        raise ValueError(
            f"scores[{j}][{i}, {k}] = {S[j, i, k]}: give finite numbers, or -inf for "
            "impossible classes, but not for all classes of a row"
        )
