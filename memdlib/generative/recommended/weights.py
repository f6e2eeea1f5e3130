"""Weights of a mixture of models: a latent class of models, one more likelihood.

Model j gives the label of row i the probability q_ij. If each row first draws a model,
j with probability w_j, its label has the probability p_i = sum_j w_j q_ij. One row more
counts an equal share for each of the J models, as if that model alone foresaw it: with
few rows it keeps weights from zero. Then

    F(w) = (sum_i c_i log p_i + sum_j log(w_j) / J) / N,    N = 1 + sum_i c_i,

is concave on the simplex. With its slopes

    g_j = (sum_i c_i q_ij / p_i + 1 / (J w_j)) / N

no weights v have a larger F than w by more than log max_j g_j: Jensen's inequality
bounds F(v) - F(w) by the logarithm of sum_j v_j g_j. At the maximum all slopes are one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from memdlib.validation import check_positive, check_real_array, check_sample_weight

Array = NDArray[np.float64]

# Share of the gain that its slope promises with which a step is long enough.
_ARMIJO = 0.3

# What rounding may take from F.
_ROUNDING = 1e-14

_MAX_ITER = 200


@dataclass(frozen=True)
class MixtureWeights:
    """Weights of models, and how far they may be from the best ones.

    Parameters
    ----------
    weights : ndarray of shape (J,)
        w, of sum one and above zero.
    log_loss : float
        Of the rows given, nats a row.
    gap : float
        No weights have an F that is more by more than this, nats a row.
    n_iter : int
        Steps.
    """

    weights: Array
    log_loss: float
    gap: float
    n_iter: int


def fit_mixture_weights(
    log_likelihoods: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    tol: float = 1e-8,
) -> MixtureWeights:
    """Weights that make labels of rows held out most probable.

    Parameters
    ----------
    log_likelihoods : array-like of shape (n, J)
        log q_ij, of rows that the models were not fitted to.
    sample_weight : array-like of shape (n,), default=None
        Weight 2 means the row twice.
    tol : float > 0, default=1e-8
        Largest gap to stop at, nats a row.

    Returns
    -------
    MixtureWeights

    Raises
    ------
    ValueError
        If a value is not finite.
    RuntimeError
        If the gap stays above ``tol``.

    Notes
    -----
    Each step goes towards the weights that are best in a quadratic approximation of F,
    by nonnegative least squares [1]_. The bound on the gap is that of [2]_.

    References
    ----------
    .. [1] Wang, On fast computation of the non-parametric maximum likelihood estimate
       of a mixing distribution, Journal of the Royal Statistical Society B 69 (2007).
    .. [2] Lindsay, The geometry of mixture likelihoods: a general theory, Annals of
       Statistics 11 (1983).

    Examples
    --------
    Of fifty rows the first model foresees all but ten.

    >>> q = np.array([[0.9, 0.1]] * 40 + [[0.1, 0.9]] * 10)
    >>> found = fit_mixture_weights(np.log(q))
    >>> found.weights.round(3).tolist(), found.gap <= 1e-8
    ([0.859, 0.141], True)
    """
    log_q = check_real_array(log_likelihoods, "log_likelihoods")
    if log_q.ndim != 2 or not log_q.size or not np.isfinite(log_q).all():
        raise ValueError(
            f"log_likelihoods of shape {log_q.shape}: give (n, J), one row and one "
            "model at least, all finite"
        )
    check_positive(tol, "tol")
    weight = check_sample_weight(sample_weight, len(log_q))
    J = log_q.shape[1]
    highest = log_q.max(axis=1, keepdims=True)
    q = np.vstack([np.exp(log_q - highest), np.eye(J)])
    share = np.append(weight, np.full(J, 1.0 / J)) / (1.0 + weight.sum())
    weights = np.full(J, 1.0 / J)
    for n_iter in range(_MAX_ITER):
        p = q @ weights
        gap = float(np.log((share @ (q / p[:, None])).max()))
        if gap <= tol:
            loss = -np.average(np.log(p[:-J]) + highest[:, 0], weights=weight)
            return MixtureWeights(weights, float(loss), max(gap, 0.0), n_iter)
        weights = _step(q / p[:, None], share, weights)
    raise RuntimeError(
        f"the weights of {J} models are within {gap:.3g} nats a row of the best ones "
        f"after {_MAX_ITER} steps, not within tol={tol:g}"
    )


def _step(q: Array, share: Array, weights: Array) -> Array:
    """Weights of larger F, from probabilities as shares of those of the mixture."""
    # least squares on the simplex by those on the orthant (Dax 1990): the row of ones
    # fixes the scale, which is then divided out
    triangle = np.linalg.qr(np.sqrt(share)[:, None] * (q - 2.0), mode="r")
    above = np.eye(len(triangle) + 1)[-1]
    target, _ = nnls(np.vstack([triangle, np.ones(len(weights))]), above)
    change = target / target.sum() - weights
    along, length = q @ change, 1.0
    promised = share @ along
    while True:
        with np.errstate(divide="ignore"):
            gain = share @ np.log1p(np.maximum(length * along, -1.0))
        if gain >= _ARMIJO * length * promised - _ROUNDING:
            return weights + length * change
        length *= 0.5
