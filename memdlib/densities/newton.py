"""The dual of maximum entropy, solved for many moment vectors at a time.

The natural parameters minimise the convex dual psi(lambda) + lambda . mu. A damped
Newton method solves it on fixed nodes and weights for a whole batch of moment vectors:
every step is a few matrix products over all of them. The answer comes with its
certificate: moment residual, duality gap, and the covariance matrix of phi, whose
condition number tells how far the solution can be trusted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_ITERATIONS = 200
# Residual at which Newton stops: rounding of a sum over the nodes.
_EXACT = 1e-14
# Share of a variance that rounding leaves in doubt.
_ROUNDING = 1e-15
_EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class DualSolution:
    """Solution of the dual for a batch of B moment vectors.

    Parameters
    ----------
    natural : ndarray of shape (B, m)
        Natural parameters in the basis that was solved in.
    log_normaliser : ndarray of shape (B,)
    residual : ndarray of shape (B,)
        Largest difference between the moments of the density and those asked for.
    gap : ndarray of shape (B,)
        Duality gap, the size of lambda . (mu - E phi), in nats.
    covariance : ndarray of shape (B, m, m)
        Hessian of the dual, the covariance of phi.
    curvature : ndarray of shape (B,)
        Smallest variance of a phi_j given phi_1..phi_(j-1), as its share of the
        largest; next to zero where the moments lie on the boundary of what is possible,
        and zero where rounding hides it.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step, in nats.
    """

    natural: Array
    log_normaliser: Array
    residual: Array
    gap: Array
    covariance: Array
    curvature: Array
    history: Array


def solve_dual(
    features: Array, log_weights: Array, mu: Array, start: Array | None = None
) -> DualSolution:
    """Minimise psi(lambda) + lambda . mu for every row of ``mu``.

    Parameters
    ----------
    features : ndarray of shape (N, m)
        phi at the nodes; well-conditioned columns, of order one.
    log_weights : ndarray of shape (N,)
        Logarithms of the quadrature weights, or of the base measure of the levels.
    mu : ndarray of shape (B, m)
        Mean parameters asked for.
    start : ndarray of shape (B, m), default=None
        Natural parameters to start from; None means zero.

    Returns
    -------
    DualSolution
        Rows that did not converge keep a large residual; the caller judges.

    Examples
    --------
    A coin of mean 1/4 has natural parameter -logit(1/4) = log 3.

    >>> coin = solve_dual(np.array([[0.0], [1.0]]), np.zeros(2), np.array([[0.25]]))
    >>> bool(np.isclose(coin.natural[0, 0], np.log(3)))
    True
    """
    n_batch, m = mu.shape
    lam = np.zeros((n_batch, m)) if start is None else start.copy()
    rows, columns = np.tril_indices(m)
    products = features[:, rows] * features[:, columns]
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    found, residual = mean.copy(), np.abs(mu - mean).max(axis=1)
    covariance, curvature = np.empty((n_batch, m, m)), np.ones(n_batch)
    size = np.abs(features).max(axis=0)
    active, history = np.arange(n_batch), [value.copy()]
    for _ in range(MAX_ITERATIONS):
        hessian = np.empty((m, m, len(active)))
        hessian[rows, columns] = (p @ products).T - mean.T[rows] * mean.T[columns]
        hessian[columns, rows] = hessian[rows, columns]
        covariance[active] = hessian.transpose(2, 0, 1)
        factor, curvature[active] = _cholesky(hessian)
        going = (residual[active] > _EXACT) & (curvature[active] > 0)
        if not going.any():
            break
        active, mean, factor = active[going], mean[going], factor[..., going]
        gradient = mu[active] - mean
        step = _solve(factor, -gradient.T).T
        slope = (gradient * step).sum(axis=1)
        # at the optimum the decrease drowns in rounding of lambda . phi
        slack = (m + 3) * _EPSILON * (1.0 + np.abs(lam[active]) @ size)
        enough = value[active] + slack
        length, reached, mean, p = _line_search(
            features, log_weights, mu[active], lam[active], step, slope, enough
        )
        before = residual[active]
        after = np.abs(mu[active] - mean).max(axis=1)
        lam[active] += length[:, None] * step
        value[active], residual[active], found[active] = reached, after, mean
        history.append(value.copy())
        # near the optimum rounding decides: stop where a step no longer helps
        alive = (length > 0) & ((after > 1e-8) | (after < 0.5 * before))
        active, mean, p = active[alive], mean[alive], p[alive]
        if not active.size:
            break
    gap = (lam * (mu - found)).sum(axis=1)
    return DualSolution(
        natural=lam,
        log_normaliser=value - (lam * mu).sum(axis=1),
        residual=residual,
        gap=np.abs(gap),
        covariance=covariance,
        curvature=curvature,
        history=np.array(history),
    )


def evaluate_dual(
    features: Array, log_weights: Array, mu: Array, lam: Array
) -> tuple[Array, Array, Array]:
    """Dual objective, moments and node probabilities at given natural parameters.

    Parameters
    ----------
    features : ndarray of shape (N, m)
    log_weights : ndarray of shape (N,)
    mu, lam : ndarray of shape (B, m)

    Returns
    -------
    value : ndarray of shape (B,)
        psi(lambda) + lambda . mu, in nats.
    mean : ndarray of shape (B, m)
        E phi.
    p : ndarray of shape (B, N)
        Probabilities of the nodes.
    """
    p = lam @ features.T
    np.subtract(log_weights, p, out=p)
    top = p.max(axis=1, keepdims=True)
    p -= top
    np.exp(p, out=p)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    value = (top + np.log(total))[:, 0] + (lam * mu).sum(axis=1)
    return value, p @ features, p


def _line_search(features, log_weights, mu, lam, step, slope, enough):
    """Longest of 1, 1/2, 1/4, ... that lowers the dual enough (Armijo)."""
    length = np.ones(len(lam))
    reached, mean, p = evaluate_dual(features, log_weights, mu, lam + step)
    for _ in range(50):
        high = np.flatnonzero(~(reached <= enough + 1e-4 * length * slope))
        if not high.size:
            return length, reached, mean, p
        length[high] *= 0.5
        trial = lam[high] + length[high, None] * step[high]
        reached[high], mean[high], p[high] = evaluate_dual(
            features, log_weights, mu[high], trial
        )
    length[high] = 0.0
    reached[high], mean[high], p[high] = evaluate_dual(
        features, log_weights, mu[high], lam[high]
    )
    return length, reached, mean, p


def _cholesky(hessian):
    """Factors (m, m, B) of a batch of covariance matrices, and their curvatures.

    Vectorised over the batch, where LAPACK would be called once for each small matrix.
    """
    m = len(hessian)
    factor = np.zeros_like(hessian)
    variance = hessian[np.arange(m), np.arange(m)]
    largest = np.maximum(variance.max(axis=0), np.finfo(np.float64).tiny)
    curvature = np.full(largest.shape, np.inf)
    for j in range(m):
        left = factor[j, :j]
        pivot = variance[j] - np.einsum("kb,kb->b", left, left)
        curvature = np.minimum(curvature, pivot)
        root = np.sqrt(np.maximum(pivot, _ROUNDING * largest))
        factor[j, j] = root
        below = np.einsum("ikb,kb->ib", factor[j + 1 :, :j], left)
        factor[j + 1 :, j] = (hessian[j + 1 :, j] - below) / root
    sound = curvature > _ROUNDING * largest
    return factor, np.where(sound, curvature / largest, 0.0)


def _solve(factor, right):
    """Solve L L' x = right for a batch; right and x are of shape (m, B)."""
    m = len(factor)
    x = right.copy()
    for j in range(m):
        x[j] -= np.einsum("kb,kb->b", factor[j, :j], x[:j])
        x[j] /= factor[j, j]
    for j in reversed(range(m)):
        x[j] -= np.einsum("kb,kb->b", factor[j + 1 :, j], x[j + 1 :])
        x[j] /= factor[j, j]
    return x
