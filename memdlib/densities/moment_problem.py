"""The dual of maximum entropy, by Newton's method for a batch of moment vectors.

The natural parameters minimise the convex dual psi(lambda) + lambda . mu on fixed nodes
and weights, either common to all rows or separate for each. The solution comes with its
certificates, the moment residual and the duality gap.
"""

from dataclasses import dataclass

import numpy as np

from memdlib._types import Array

# Largest number of Newton steps, and of halvings of one step.
_MAX_ITERATIONS = 100
_MAX_HALVINGS = 30
# Share of the decrease that the slope promises which a step must bring (Armijo).
_SUFFICIENT_DECREASE = 1e-4
# Residual at which Newton stops: rounding of a sum over the nodes.
_EXACT = 1e-14
_EPSILON = np.finfo(np.float64).eps


class InfeasibleMomentsError(ValueError):
    """No density on the support has these moments, or the entropy has no maximum."""

    row = None


class RoundedMomentsError(ValueError):
    """Rounding, or overflow, has left too few digits of the moments."""

    row = None


class NotConvergedError(RuntimeError):
    """The moments were not matched to the requested tolerance."""

    row = None


# All errors that say that a density was not found.
DENSITY_ERRORS = (InfeasibleMomentsError, RoundedMomentsError, NotConvergedError)


def density_error(kind, row, message):
    """An error of a kind whose attribute ``row`` is the density of the batch."""
    error = kind(f"density {row}: {message}")
    error.row = int(row)
    return error


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Solution of the dual for a batch of B moment vectors.

    Parameters
    ----------
    natural : ndarray of shape (B, m)
        Natural parameters lambda of the given features.
    log_normaliser : ndarray of shape (B,)
        psi(lambda), in nats.
    residual : ndarray of shape (B,)
        Largest difference between the moments of the density and the requested ones.
    gap : ndarray of shape (B,)
        Duality gap, the absolute value of lambda . (mu - E phi), in nats.
    covariance : ndarray of shape (B, m, m)
        Hessian of the dual, the covariance of phi.
    history : ndarray of shape (n_iterations + 1, B)
        Dual objective before each Newton step, and at the end, in nats.
    """

    natural: Array
    log_normaliser: Array
    residual: Array
    gap: Array
    covariance: Array
    history: Array


@np.errstate(over="ignore", invalid="ignore")
def solve_dual(features, log_weights, mu, *, start=None):
    """Minimise psi(lambda) + lambda . mu for each row of ``mu``.

    Newton's method with backtracking, for all rows at once; a row that has converged,
    or that a step no longer improves, is left as it is.

    Parameters
    ----------
    features : ndarray of shape (N, m) or (B, N, m)
        phi at the nodes; well-conditioned columns, of order one.
    log_weights : ndarray of shape (N,) or (B, N)
        Logarithms of the quadrature weights, or of the base measure of the levels.
    mu : ndarray of shape (B, m)
        Requested mean parameters.
    start : ndarray of shape (B, m), default=None
        Natural parameters to start from; None means zero.

    Returns
    -------
    DualSolution
        Rows that did not converge keep a large residual, which the caller checks.

    Examples
    --------
    A coin of mean 1/4 has natural parameter -logit(1/4) = log 3.

    >>> coin = solve_dual(np.array([[0.0], [1.0]]), np.zeros(2), np.array([[0.25]]))
    >>> bool(np.isclose(coin.natural[0, 0], np.log(3)))
    True
    """
    lam = np.zeros(mu.shape) if start is None else start.copy()
    features = np.broadcast_to(features, (len(mu), *features.shape[-2:]))
    log_weights = np.broadcast_to(log_weights, features.shape[:2])
    value, mean, p = evaluate_dual(features, log_weights, mu, lam)
    # Newton steps write into lam, value, mean and p
    state = _NewtonState(
        features=features,
        feature_size=np.abs(features).max(axis=1),
        log_weights=log_weights,
        mu=mu,
        lam=lam,
        value=value,
        mean=mean,
        p=p,
    )
    history = [value.copy()]
    active = np.flatnonzero(_residual(mu, mean) > _EXACT)
    while active.size and len(history) <= _MAX_ITERATIONS:
        active = _newton_step(state, active)
        history.append(value.copy())
    return DualSolution(
        natural=lam,
        log_normaliser=value - _dot(lam, mu),
        residual=_residual(mu, mean),
        gap=np.abs(_dot(lam, mu - mean)),
        covariance=_covariance(features, mean, p),
        history=np.array(history),
    )


@dataclass(eq=False)
class _NewtonState:
    """B problems, and the point that Newton's method has reached in each.

    A step overwrites ``lam`` and what follows from it: the dual ``value``, the moments
    ``mean`` and the node probabilities ``p``.
    """

    features: Array  # (B, N, m)
    feature_size: Array  # (B, m), largest absolute values at the nodes
    log_weights: Array  # (B, N)
    mu: Array  # (B, m)
    lam: Array  # (B, m)
    value: Array  # (B,)
    mean: Array  # (B, m)
    p: Array  # (B, N)


def _newton_step(state, active):
    """Move A rows by a damped Newton step; return the indices of those to go on with.

    ``active`` (A,) are the indices of the rows.
    """
    features = state.features[active]
    mu = state.mu[active]
    lam = state.lam[active]
    gradient = mu - state.mean[active]
    hessian = _covariance(features, state.mean[active], state.p[active])
    step = _newton_direction(hessian, gradient)
    rounding = _rounding_error(lam, state.feature_size[active])
    length, value, mean, p = _backtrack(
        features,
        state.log_weights[active],
        mu,
        lam,
        step,
        limit=state.value[active] + rounding,
        slope=_dot(gradient, step),
    )
    state.lam[active] += length[:, None] * step
    state.value[active] = value
    state.mean[active] = mean
    state.p[active] = p
    # near the optimum rounding decides: stop where a step no longer helps
    before = np.abs(gradient).max(axis=1)
    residual = _residual(mu, mean)
    improved = (residual > 1e-8) | (residual < 0.5 * before)
    return active[(residual > _EXACT) & improved & (length > 0)]


def _dot(a, b):
    """Inner products (B,) of the rows of two arrays (B, m)."""
    return (a * b).sum(axis=1)


def _residual(mu, mean):
    """Largest difference (B,) between the requested moments and those reached."""
    return np.abs(mu - mean).max(axis=1)


def _covariance(features, mean, p):
    """Covariance (B, m, m) of features (B, N, m) under p (B, N), the dual's Hessian."""
    weighted = p[:, None] * features.swapaxes(-1, -2)
    return weighted @ features - mean[:, :, None] * mean[:, None]


def _rounding_error(lam, feature_size):
    """Error (B,) of evaluating the dual, in which decreases drown at the optimum."""
    n_terms = lam.shape[1] + 3
    return n_terms * _EPSILON * (1.0 + _dot(np.abs(lam), feature_size))


def _newton_direction(hessian, gradient):
    """Newton step (B, m) for Hessians (B, m, m) and gradients (B, m).

    Steps that are not finite become zero, which the line search takes as the end.
    """
    m = gradient.shape[1]
    # in units in which the diagonal is one, so that the ridge is relative to it
    scale = np.sqrt(np.maximum(hessian.diagonal(0, 1, 2), 1e-300))
    scaled = hessian / (scale[:, :, None] * scale[:, None]) + 1e-14 * np.eye(m)
    # rounding may leave a matrix without an inverse: then along the gradient
    scaled[np.linalg.det(scaled) == 0] = np.eye(m)
    step = -np.linalg.solve(scaled, (gradient / scale)[..., None])[..., 0] / scale
    step[~np.isfinite(step).all(axis=1)] = 0.0
    return step


def _backtrack(features, log_weights, mu, lam, step, *, limit, slope):
    """Halve each step (B, m) until the dual decreases enough (Armijo's rule).

    ``limit`` (B,) is the dual at ``lam``, rounding included, and ``slope`` (B,) its
    derivative along the step. Returns the length (B,) of the steps, zero where none
    decreases the dual enough, and what :func:`evaluate_dual` says of their ends.
    """
    length = np.ones(len(lam))
    value, mean, p = evaluate_dual(features, log_weights, mu, lam + step)
    for halvings in range(1, _MAX_HALVINGS + 2):
        # the negation counts a value that is not a number as too high
        too_high = ~(value <= limit + _SUFFICIENT_DECREASE * length * slope)
        if not too_high.any():
            break
        length[too_high] *= 0.5 if halvings <= _MAX_HALVINGS else 0.0
        trial = lam[too_high] + length[too_high, None] * step[too_high]
        value[too_high], mean[too_high], p[too_high] = evaluate_dual(
            features[too_high], log_weights[too_high], mu[too_high], trial
        )
    return length, value, mean, p


def evaluate_dual(features, log_weights, mu, lam):
    """Dual objective (B,), moments (B, m) and node probabilities (B, N) at lambda."""
    p = log_weights - (lam[:, None] @ features.swapaxes(-1, -2))[:, 0]
    top = p.max(axis=1, keepdims=True)
    np.exp(p - top, out=p)
    total = p.sum(axis=1, keepdims=True)
    p /= total
    value = (top + np.log(total))[:, 0] + _dot(lam, mu)
    return value, (p[:, None] @ features)[:, 0], p
