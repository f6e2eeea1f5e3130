"""Polynomials that are orthonormal under a density, and panels that follow it.

The recurrence beta_(j+1) p_(j+1)(u) = (u - alpha_j) p_j(u) - beta_j p_(j-1)(u), with
p_0 = 1, is kept for a batch of B densities at a time (Gautschi, Orthogonal Polynomials,
2004). Column j of ``beta`` holds beta_(j+1).
"""

from dataclasses import dataclass

import numpy as np

from memdlib._types import Array
from memdlib.densities.support import panel_nodes

# Largest size of a log density, so that its products stay in the range of numbers.
_MOST = 1e250
# Least norm of a polynomial, which may vanish at all nodes that carry mass.
_LEAST = 1e-100


@dataclass(eq=False)
class LogPolynomials:
    """Densities exp(-sum_j theta_j p_j(u)) of B rows.

    Parameters
    ----------
    alpha, beta : ndarray of shape (B, m)
        Coefficients of the recurrence.
    theta : ndarray of shape (B, m + 1)
        Coefficients of minus the log density in p_0, ..., p_m.
    """

    alpha: Array
    beta: Array
    theta: Array

    def __getitem__(self, rows):
        return LogPolynomials(
            alpha=self.alpha[rows], beta=self.beta[rows], theta=self.theta[rows]
        )

    def __setitem__(self, rows, new):
        self.alpha[rows] = new.alpha
        self.beta[rows] = new.beta
        self.theta[rows] = new.theta

    def __call__(self, u):
        """Minus the log density at u (B, N)."""
        previous = 0.0
        current = np.ones_like(u)
        beta_before = 0.0
        total = self.theta[:, :1] * current
        for j in range(self.alpha.shape[1]):
            alpha = self.alpha[:, [j]]
            beta = self.beta[:, [j]]
            following = (u - alpha) * current - beta_before * previous
            previous = current
            current = following / beta
            beta_before = beta
            total += self.theta[:, [j + 1]] * current
        return total

    @np.errstate(over="ignore", invalid="ignore")
    def bounded(self, u):
        """Minus the log density at u (B, N), clipped to the range of numbers."""
        return np.clip(np.nan_to_num(self(u)), -_MOST, _MOST)

    def means(self, moments):
        """Means of p_0, ..., p_m for moments E u^0, ..., E u^m, both (B, m + 1)."""
        return (self.coefficients() @ moments[..., None])[..., 0]

    def natural_params(self):
        """Coefficients (B, m + 1) of 1, u, ..., u^m in minus the log density."""
        return (self.theta[:, None] @ self.coefficients())[:, 0]

    def coefficients(self):
        """Coefficients (B, m + 1, m + 1) of 1, u, ..., u^m (last) in p_0, ..., p_m."""
        n_batch, m = self.alpha.shape
        previous = np.zeros((n_batch, m + 1))
        current = np.tile(np.eye(1, m + 1), (n_batch, 1))
        beta_before = 0.0
        rows = [current]
        for j in range(m):
            alpha = self.alpha[:, [j]]
            beta = self.beta[:, [j]]
            # a polynomial times u; its last coefficient is still zero
            times_u = np.roll(current, 1, axis=1)
            following = times_u - alpha * current - beta_before * previous
            previous = current
            current = following / beta
            beta_before = beta
            rows.append(current)
        return np.stack(rows, axis=1)


def project_log_density(u, mass, minus_log, m):
    """Log polynomials of degree m that are orthonormal under masses at nodes (B, N).

    The basis comes from Stieltjes's procedure, theta from projecting minus the log
    density (B, N) on it. Also returns the values (B, m + 1, N) of the basis.
    """
    previous = 0.0
    current = np.ones_like(u)
    beta_before = 0.0
    alphas = []
    betas = []
    values = [current]
    for _ in range(m):
        alpha = (mass * current * current * u).sum(axis=1, keepdims=True)
        following = (u - alpha) * current - beta_before * previous
        norm = np.sqrt((mass * following**2).sum(axis=1, keepdims=True))
        beta = np.maximum(norm, _LEAST)
        previous = current
        current = following / beta
        beta_before = beta
        alphas.append(alpha)
        betas.append(beta)
        values.append(current)
    basis = np.stack(values, axis=1)
    density = LogPolynomials(
        alpha=np.hstack(alphas),
        beta=np.hstack(betas),
        theta=(basis @ (mass * minus_log)[..., None])[..., 0],
    )
    return density, basis


def adaptive_panels(
    densities,
    low,
    high,
    old,
    n_panels,
):
    """Ends (B, P + 1) of panels from low to high (B,) that follow several densities.

    The densities change about equally on each panel. ``old`` are the ends of earlier
    panels, whose nodes show what those have resolved.
    """
    low = low[:, None]
    high = high[:, None]
    u = _trial_points(low, high, old)
    cost = np.diff(u, axis=1) / (high - low)
    for density in densities:
        change = _change_of_density(density.bounded(u))
        cost = cost + change / (change.sum(axis=1, keepdims=True) + 1.0)
    cumulative = np.pad(cost.cumsum(axis=1), ((0, 0), (1, 0)))
    steps = np.linspace(0.0, 1.0, n_panels + 1)
    ends = [
        np.interp(steps * costs[-1], costs, points)
        for costs, points in zip(cumulative, u, strict=True)
    ]
    return np.array(ends)


def _trial_points(low, high, old):
    """Ascending points (B, T) from low to high (B, 1), denser around zero."""
    points = [
        low + (high - low) * np.linspace(0.0, 1.0, 49),
        np.clip(np.linspace(-9.0, 9.0, 55), low, high),
    ]
    if old is not None:
        points.append(np.clip(panel_nodes(old)[0], low, high))
    return np.sort(np.concatenate(points, axis=1), axis=1)


def _change_of_density(minus_log):
    """How much a log density changes and bends between points (B, T), (B, T - 1).

    Changes count less where the density is small, and 20 at most.
    """
    change = np.abs(np.diff(minus_log, axis=1))
    second = np.diff(minus_log, n=2, axis=1, prepend=minus_log[:, :1])
    larger = np.minimum(minus_log[:, 1:], minus_log[:, :-1])
    depth = larger - minus_log.min(axis=1, keepdims=True)
    return np.exp(-depth / 8.0) * np.minimum(change + np.sqrt(np.abs(second)), 20.0)
