"""The dual of maximum entropy, by Newton's method for a whole batch of moment vectors.

The natural parameters minimise the convex dual psi(lambda) + lambda . mu on fixed nodes
and weights, which all rows share or each row has for itself. The answer comes with its
certificate: moment residual and duality gap.
"""

from dataclasses import dataclass

import numpy as np

from memdlib._types import Array

# Newton steps, and halvings of one.
_MAX_ITERATIONS, _MAX_HALVINGS = 100, 30
# Residual at which Newton stops: rounding of a sum over the nodes.
_EXACT = 1e-14
_EPSILON = np.finfo(np.float64).eps


class InfeasibleMomentsError(ValueError):
    """No density on the support has these moments, or the entropy has no maximum."""


class RoundedMomentsError(ValueError):
    """Rounding, or the range of numbers, has cost moments what tells the density."""


class NotConvergedError(RuntimeError):
    """The moments were not matched to the tolerance asked for."""


# Whatever says that a density was not found.
NOT_FOUND = InfeasibleMomentsError, RoundedMomentsError, NotConvergedError


@dataclass(frozen=True)
class DualSolution:
    """Solution of the dual for a batch of B moment vectors.

    Parameters
    ----------
    natural : ndarray of shape (B, m)
        Natural parameters of the features given.
    log_normaliser : ndarray of shape (B,)
    residual : ndarray of shape (B,)
        Largest difference between the moments of the density and those asked for.
    gap : ndarray of shape (B,)
        Duality gap, the size of lambda . (mu - E phi), in nats.
    covariance : ndarray of shape (B, m, m)
        Hessian of the dual, the covariance of phi.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step, and at the end, in nats.
    """

    natural: Array
    log_normaliser: Array
    residual: Array
    gap: Array
    covariance: Array
    history: Array


@np.errstate(over="ignore", invalid="ignore")
def solve_dual(
    features: Array, log_weights: Array, mu: Array, start: Array | None = None
) -> DualSolution:
    """Minimise psi(lambda) + lambda . mu for every row of ``mu``.

    Parameters
    ----------
    features : ndarray of shape (N, m) or (B, N, m)
        phi at the nodes; well-conditioned columns, of order one.
    log_weights : ndarray of shape (N,) or (B, N)
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
    features = np.broadcast_to(features, (n_batch, *features.shape[-2:]))
    log_weights = np.broadcast_to(log_weights, features.shape[:2])
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    found, residual = mean.copy(), np.abs(mu - mean).max(axis=1)
    covariance, size = np.empty((n_batch, m, m)), np.abs(features).max(axis=-2)
    rows, history = np.arange(n_batch), [value.copy()]
    for _ in range(_MAX_ITERATIONS):
        phi = features.swapaxes(-1, -2)
        hessian = (p[:, None] * phi) @ features - mean[:, :, None] * mean[:, None]
        covariance[rows] = hessian
        going = residual[rows] > _EXACT
        if not going.any():
            break
        rows, mean, hessian = rows[going], mean[going], hessian[going]
        features, log_weights, size = features[going], log_weights[going], size[going]
        scale = np.sqrt(np.maximum(hessian.diagonal(0, 1, 2), 1e-300))
        scaled = hessian / (scale[:, :, None] * scale[:, None]) + 1e-14 * np.eye(m)
        # rounding may leave a matrix without an inverse: then along the gradient
        scaled[np.linalg.det(scaled) == 0] = np.eye(m)
        gradient = mu[rows] - mean
        step = -np.linalg.solve(scaled, (gradient / scale)[..., None])[..., 0] / scale
        step[~np.isfinite(step).all(axis=1)] = 0.0
        # at the optimum the decrease drowns in rounding of lambda . phi
        slack = (m + 3) * _EPSILON * (1.0 + (np.abs(lam[rows]) * size).sum(axis=1))
        slope = (gradient * step).sum(axis=1)
        length, before = np.ones(len(rows)), residual[rows]
        reached, mean, p = evaluate_dual(
            features, log_weights, mu[rows], lam[rows] + step
        )
        for trial in range(_MAX_HALVINGS + 1):
            high = ~(reached <= value[rows] + slack + 1e-4 * length * slope)
            if not high.any():
                break
            length[high] *= 0.5 if trial < _MAX_HALVINGS else 0.0
            tried = lam[rows[high]] + length[high, None] * step[high]
            reached[high], mean[high], p[high] = evaluate_dual(
                features[high], log_weights[high], mu[rows[high]], tried
            )
        after = np.abs(mu[rows] - mean).max(axis=1)
        lam[rows] += length[:, None] * step
        value[rows], residual[rows], found[rows] = reached, after, mean
        history.append(value.copy())
        # near the optimum rounding decides: stop where a step no longer helps
        alive = (length > 0) & ((after > 1e-8) | (after < 0.5 * before))
        rows, mean, p = rows[alive], mean[alive], p[alive]
        if not rows.size:
            break
        features, log_weights, size = features[alive], log_weights[alive], size[alive]
    return DualSolution(
        natural=lam,
        log_normaliser=value - (lam * mu).sum(axis=1),
        residual=residual,
        gap=np.abs((lam * (mu - found)).sum(axis=1)),
        covariance=covariance,
        history=np.array(history),
    )


def evaluate_dual(
    features: Array, log_weights: Array, mu: Array, lam: Array
) -> tuple[Array, Array, Array]:
    """Dual objective (B,), moments (B, m) and node probabilities (B, N) at lambda."""
    p = log_weights - (lam[:, None] @ features.swapaxes(-1, -2))[:, 0]
    top = p.max(axis=1, keepdims=True)
    np.exp(p - top, out=p)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    value = (top + np.log(total))[:, 0] + (lam * mu).sum(axis=1)
    return value, (p[:, None] @ features)[:, 0], p
