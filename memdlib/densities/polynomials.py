"""Polynomials that are orthonormal under a density, and panels that follow it.

beta_(j+1) p_(j+1)(u) = (u - alpha_j) p_j(u) - beta_j p_(j-1)(u), with p_0 = 1, for a
batch of B densities at a time (Gautschi, Orthogonal Polynomials, 2004).
"""

from dataclasses import dataclass

import numpy as np

from memdlib._types import Array, Index
from memdlib.densities.support import panel_nodes

# Largest size of a log density, so that its products are numbers.
_MOST = 1e250


@dataclass
class LogPolynomials:
    """Densities exp(-sum theta_j p_j(u)) of B rows.

    Parameters
    ----------
    alpha, beta : ndarray of shape (B, m)
    theta : ndarray of shape (B, m + 1)
    """

    alpha: Array
    beta: Array
    theta: Array

    def __getitem__(self, rows: Index) -> "LogPolynomials":
        return LogPolynomials(self.alpha[rows], self.beta[rows], self.theta[rows])

    def __setitem__(self, rows: Index, new: "LogPolynomials") -> None:
        for name, values in vars(new).items():
            getattr(self, name)[rows] = values

    def __call__(self, u: Array) -> Array:
        """Minus the log density at u (B, N)."""
        before, value = np.zeros_like(u), np.ones_like(u)
        total = self.theta[:, :1] * value
        for j in range(self.alpha.shape[1]):
            before, value = value, self._next(j, u, value, before)
            total += self.theta[:, [j + 1]] * value
        return total

    @np.errstate(over="ignore", invalid="ignore")
    def bounded(self, u: Array) -> Array:
        """Minus the log density at u (B, N), within the range of numbers."""
        return np.clip(np.nan_to_num(self(u)), -_MOST, _MOST)

    def coefficients(self) -> Array:
        """Coefficients of 1, u, ..., u^m in p_0, ..., p_m, (B, m + 1, m + 1)."""
        n_batch, m = self.alpha.shape
        found = np.zeros((n_batch, m + 1, m + 1))
        found[:, 0, 0] = 1.0
        for j in range(m):
            found[:, j + 1, 1:] = found[:, j, :-1]
            found[:, j + 1] -= self.alpha[:, [j]] * found[:, j]
            if j:
                found[:, j + 1] -= self.beta[:, [j - 1]] * found[:, j - 1]
            found[:, j + 1] /= self.beta[:, [j]]
        return found

    def _next(self, j, u, value, before):
        following = (u - self.alpha[:, [j]]) * value
        if j:
            following -= self.beta[:, [j - 1]] * before
        return following / self.beta[:, [j]]


def orthonormal(
    u: Array, mass: Array, minus_log: Array, m: int
) -> tuple[LogPolynomials, Array]:
    """Log polynomials in the basis of a mass at nodes (B, N)."""
    values = np.ones((len(u), m + 1, u.shape[1]))
    found = LogPolynomials(*np.empty((2, len(u), m)), np.empty((len(u), m + 1)))
    for j in range(m):
        weighted = mass * values[:, j]
        found.alpha[:, j] = (weighted * values[:, j] * u).sum(axis=1)
        found.beta[:, j] = 1.0
        following = found._next(j, u, values[:, j], values[:, j - 1])
        size = np.sqrt((mass * following**2).sum(axis=1))
        found.beta[:, j] = np.maximum(size, 1e-100)
        values[:, j + 1] = following / found.beta[:, [j]]
    found.theta[:] = (values @ (mass * minus_log)[..., None])[..., 0]
    return found, values


def spread(densities, low, high, old, n_panels) -> Array:
    """Ends (B, P + 1) of panels in which the log densities change about equally."""
    low, high = low[:, None], high[:, None]
    x = [low + (high - low) * np.linspace(0.0, 1.0, 49)]
    x.append(np.clip(np.linspace(-9.0, 9.0, 55), low, high))
    if old is not None:
        x.append(np.clip(panel_nodes(old)[0], low, high))
    x = np.sort(np.concatenate(x, axis=1), axis=1)
    cost = np.diff(x, axis=1) / (high - low)
    for density in densities:
        q = density.bounded(x)
        change = np.abs(np.diff(q, axis=1))
        bend = np.sqrt(np.abs(np.diff(q, n=2, axis=1, prepend=q[:, :1])))
        top = np.minimum(q[:, 1:], q[:, :-1]) - q.min(axis=1, keepdims=True)
        follow = np.exp(-top / 8.0) * np.minimum(change + bend, 20.0)
        cost = cost + follow / (follow.sum(axis=1, keepdims=True) + 1.0)
    cost = np.concatenate([np.zeros((len(x), 1)), cost.cumsum(axis=1)], axis=1)
    goal = np.linspace(0.0, 1.0, n_panels + 1)
    return np.array(
        [np.interp(goal * c[-1], c, v) for c, v in zip(cost, x, strict=True)]
    )
