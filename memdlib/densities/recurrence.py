"""Polynomials that are orthonormal under a measure, by their three-term recurrence.

beta_(j+1) p_(j+1)(u) = (u - alpha_j) p_j(u) - beta_j p_(j-1)(u), with p_0 = 1, for a
batch of B measures at a time. Expansions in these polynomials keep the digits that
power sums lose (Gautschi, Orthogonal Polynomials, 2004).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib._types import Index

Array = NDArray[np.float64]

_TINY = np.finfo(np.float64).tiny
# Share of the largest coefficient below which the highest ones do not move roots.
_NEGLIGIBLE = 1e-11


@dataclass(frozen=True)
class Recurrence:
    """Recurrence coefficients of p_0, ..., p_m for a batch of measures.

    Parameters
    ----------
    alpha, beta : ndarray of shape (B, m)
        alpha_0, ..., alpha_(m-1) and beta_1, ..., beta_m.
    """

    alpha: Array
    beta: Array

    def __getitem__(self, rows: Index) -> "Recurrence":
        return Recurrence(self.alpha[rows], self.beta[rows])

    def move(self, origin: Array, unit: Array) -> "Recurrence":
        """Polynomials of (u - origin) / unit, as polynomials of u."""
        origin, unit = np.asarray(origin)[..., None], np.asarray(unit)[..., None]
        return Recurrence(origin + unit * self.alpha, unit * self.beta)

    @property
    def degree(self) -> int:
        """Number m of the highest polynomial."""
        return self.alpha.shape[1]

    def evaluate(self, u: Array) -> Array:
        """Values of p_0, ..., p_m at u (B, N), shape (m + 1, B, N)."""
        found = np.ones((self.degree + 1, *u.shape))
        for j in range(self.degree):
            found[j + 1] = (u - self.alpha[:, [j]]) * found[j]
            if j:
                found[j + 1] -= self.beta[:, [j - 1]] * found[j - 1]
            found[j + 1] /= self.beta[:, [j]]
        return found

    def expand(self, theta: Array, u: Array) -> Array:
        """Sum of theta_j p_j(u) for theta (B, m + 1) and u (B, N), shape (B, N)."""
        before, value = np.ones_like(u), np.ones_like(u)
        total = theta[:, [0]] * value
        for j in range(self.degree):
            following = (u - self.alpha[:, [j]]) * value
            if j:
                following -= self.beta[:, [j - 1]] * before
            before, value = value, following / self.beta[:, [j]]
            total += theta[:, [j + 1]] * value
        return total

    def jacobi(self) -> Array:
        """Matrices (B, m, m) of the multiplication by u."""
        n_batch, m = self.alpha.shape
        found, j = np.zeros((n_batch, m, m)), np.arange(m)
        found[:, j, j] = self.alpha
        found[:, j[:-1], j[1:]] = found[:, j[1:], j[:-1]] = self.beta[:, :-1]
        return found

    def gauss(self) -> tuple[Array, Array]:
        """Nodes and weights (B, m) of the Gauss rule (Golub and Welsch, 1969)."""
        nodes, vectors = np.linalg.eigh(self.jacobi())
        return nodes, vectors[:, 0] ** 2

    def times_u(self, theta: Array) -> Array:
        """Coefficients (B, m + 1) of u sum theta_j p_j, a polynomial of degree m."""
        found, m = np.zeros_like(theta), self.degree
        found[:, :m] += self.alpha * theta[:, :m]
        found[:, 1:] += self.beta * theta[:, :m]
        found[:, :m] += self.beta * theta[:, 1:]
        return found

    def coefficients(self, other: "Recurrence") -> Array:
        """Coefficients (B, m + 1, m + 1) of the polynomials of another recurrence."""
        found = np.zeros((self.degree + 1, len(self.alpha), self.degree + 1))
        found[0, :, 0] = 1.0
        for j in range(self.degree):
            following = self.times_u(found[j]) - other.alpha[:, [j]] * found[j]
            if j:
                following -= other.beta[:, [j - 1]] * found[j - 1]
            found[j + 1] = following / other.beta[:, [j]]
        return found.swapaxes(0, 1)

    def differentiate(self, theta: Array) -> Array:
        """Coefficients (B, m + 1) of the derivative of sum theta_j p_j."""
        n_batch, m = self.alpha.shape
        slopes = np.zeros((m + 1, n_batch, m + 1))
        for j in range(m):
            following = self.times_u(slopes[j]) - self.alpha[:, [j]] * slopes[j]
            if j:
                following -= self.beta[:, [j - 1]] * slopes[j - 1]
            following[:, j] += 1.0
            slopes[j + 1] = following / self.beta[:, [j]]
        return np.einsum("bj,jbi->bi", theta, slopes)

    def roots(self, theta: Array, step: int = 0) -> Array:
        """Real parts of the roots of sum theta_j p_j, eigenvalues of comrade matrices.

        Parameters
        ----------
        theta : ndarray of shape (B, K, m + 1)
            K expansions for each measure, that differ in theta_0 only.
        step : {0, 1, 2}, default=0
            Leading coefficients next to zero are dropped, with 1 or 2 only down to a
            positive one, with 2 of an even power.

        Returns
        -------
        ndarray of shape (B, K, m)
            ``nan`` in place of roots that were dropped.
        """
        m, rows = self.degree, np.arange(len(theta))
        lead = theta[:, 0]
        size = np.abs(lead[:, 1:])
        kept = size > _NEGLIGIBLE * np.maximum(size.max(axis=1, keepdims=True), _TINY)
        degree = np.where(kept.any(axis=1), m - kept[:, ::-1].argmax(axis=1), 0)
        for _ in range(m if step else 0):
            falls = (lead[rows, degree] <= 0) | (degree % step == 1)
            degree += falls & (degree > 0) & (degree < m)
        found = np.full(theta[..., 1:].shape, np.nan)
        for n in np.unique(degree[degree > 0]):
            rows = np.flatnonzero(degree == n)
            matrix = self[rows].jacobi()[:, None, :n, :n].repeat(theta.shape[1], axis=1)
            share = self.beta[rows, n - 1] / lead[rows, n]
            matrix[:, :, -1] -= theta[rows, :, :n] * share[:, None, None]
            found[rows, :, :n] = np.linalg.eigvals(np.nan_to_num(matrix)).real
        return found

    def powers(self, theta: Array) -> Array:
        """Coefficients (B, m + 1) of 1, u, ..., u^m in sum theta_j p_j."""
        n_batch, m = self.alpha.shape
        each = np.zeros((m + 1, n_batch, m + 1))
        each[0, :, 0] = 1.0
        for j in range(m):
            each[j + 1, :, 1:] = each[j, :, :-1]
            each[j + 1] -= self.alpha[:, [j]] * each[j]
            if j:
                each[j + 1] -= self.beta[:, [j - 1]] * each[j - 1]
            each[j + 1] /= self.beta[:, [j]]
        return np.einsum("bj,jbi->bi", theta, each)


def stieltjes(u: Array, mass: Array, degree: int) -> tuple[Recurrence, Array]:
    """Orthonormal polynomials of discrete measures (Stieltjes's procedure).

    Parameters
    ----------
    u, mass : ndarray of shape (B, N)
        Points, and their probabilities.
    degree : int
        Highest polynomial m. Beyond the number of points beta is zero to rounding.

    Returns
    -------
    recurrence : Recurrence
    values : ndarray of shape (m + 1, B, N)
        p_j at the points.

    Examples
    --------
    >>> u = np.array([[-1.0, 0.0, 1.0]])
    >>> found, _ = stieltjes(u, np.full((1, 3), 1 / 3), 2)
    >>> (found.beta**2).round(12).tolist()
    [[0.666666666667, 0.333333333333]]
    """
    values = np.ones((degree + 1, *u.shape))
    alpha, beta = np.empty((2, len(u), degree))
    for j in range(degree):
        weighted = mass * values[j]
        alpha[:, j] = (weighted * values[j] * u).sum(axis=1)
        following = (u - alpha[:, [j]]) * values[j]
        if j:
            following -= beta[:, [j - 1]] * values[j - 1]
        beta[:, j] = np.sqrt((mass * following**2).sum(axis=1))
        values[j + 1] = following / np.maximum(beta[:, [j]], _TINY)
    return Recurrence(alpha, beta), values
