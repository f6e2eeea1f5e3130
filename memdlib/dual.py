"""The dual of maximum entropy, solved for many moment vectors at a time.

The natural parameters minimise the convex dual psi(lambda) + lambda . mu. A damped
Newton method solves it on fixed nodes and weights for a whole batch of moment vectors:
every step is a few matrix products over all of them. The answer comes with its
certificate: moment residual, duality gap, and condition number of the Hessian.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_ITERATIONS = 200
# Residual at which Newton stops: rounding of a sum over the nodes.
_EXACT = 1e-14
# Condition number of the Hessian beyond which a step means nothing.
_SINGULAR = 1e15


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
        Duality gap |lambda . (mu - E phi)|, in nats.
    condition : ndarray of shape (B,)
        Condition number of the Hessian, the covariance of phi; at most 1e15.
    curvature : ndarray of shape (B,)
        Smallest eigenvalue of the Hessian; next to zero where the moments lie at the
        boundary of what is possible.
    history : ndarray of shape (iterations, B)
        Dual objective before each Newton step, in nats.
    """

    natural: Array
    log_normaliser: Array
    residual: Array
    gap: Array
    condition: Array
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
    upper = np.triu_indices(m)
    products = features[:, upper[0]] * features[:, upper[1]]
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    residual = np.abs(mu - mean).max(axis=1)
    condition, curvature = np.ones((2, n_batch))
    active, history = np.arange(n_batch), [value.copy()]
    for _ in range(MAX_ITERATIONS):
        hessian = np.empty((len(active), m, m))
        hessian[:, upper[0], upper[1]] = p @ products
        hessian[:, upper[1], upper[0]] = hessian[:, upper[0], upper[1]]
        hessian -= mean[:, :, None] * mean[:, None, :]
        spread = np.linalg.eigvalsh(hessian)
        condition[active], curvature[active] = _SINGULAR, spread[:, 0]
        sound = spread[:, 0] * _SINGULAR > spread[:, -1]
        condition[active[sound]] = spread[sound, -1] / spread[sound, 0]
        going = (residual[active] > _EXACT) & sound
        if not going.any():
            break
        active, hessian, mean = active[going], hessian[going], mean[going]
        gradient = mu[active] - mean
        step = np.linalg.solve(hessian, -gradient[..., None])[..., 0]
        slope = (gradient * step).sum(axis=1)
        state = _line_search(
            features, log_weights, mu[active], lam[active], step, slope, value[active]
        )
        length, reached, mean, p = state
        before = residual[active]
        after = np.abs(mu[active] - mean).max(axis=1)
        lam[active] += length[:, None] * step
        value[active], residual[active] = reached, after
        history.append(value.copy())
        # near the optimum rounding decides: stop where a step no longer helps
        alive = (length > 0) & ((after > 1e-8) | (after < 0.5 * before))
        active, mean, p = active[alive], mean[alive], p[alive]
        if not active.size:
            break
    value, mean, _ = evaluate_dual(features, log_weights, mu, lam)
    gap = (lam * (mu - mean)).sum(axis=1)
    return DualSolution(
        natural=lam,
        log_normaliser=value - (lam * mu).sum(axis=1),
        residual=np.abs(mu - mean).max(axis=1),
        gap=np.abs(gap),
        condition=condition,
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


def _line_search(features, log_weights, mu, lam, step, slope, value):
    """Longest of 1, 1/2, 1/4, ... that lowers the dual enough (Armijo)."""
    length = np.ones(len(lam))
    reached, mean, p = evaluate_dual(features, log_weights, mu, lam + step)
    # at the optimum the decrease drowns in rounding
    slack = 4.0 * np.finfo(np.float64).eps * (1.0 + np.abs(value))
    for _ in range(50):
        high = np.flatnonzero(~(reached <= value + 1e-4 * length * slope + slack))
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
