"""Maximum likelihood of many label counts at a time, with a certificate.

Newton's method on the logits of the levels, for a batch of label counts. A step solves
a system of min(p, L - p) equations: in the p coefficients of the model, or in the L - p
multipliers of the linear relations that its logits obey. The start is one weighted
least-squares fit of the empirical logits. Cases that full steps do not settle are
solved again with damped steps. Only interior label counts have a finite maximum.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.separation import saturated_log_likelihood

Array = NDArray[np.float64]

# Sum of w step^4 at which the expansion that ends Newton is exact to 2e-14.
_SETTLED = 1e-13
_FULL_STEPS, _DAMPED_STEPS = 9, 200


class LogitFit(NamedTuple):
    """Maximised log-likelihoods of a batch of B label counts.

    Parameters
    ----------
    log_likelihood : ndarray of shape (B,)
        Supremum over the model, in nats.
    logits : ndarray of shape (L, B)
        Of the labels at each level.
    gap : ndarray of shape (B,)
        Upper bound from the dual less the log-likelihood at ``logits``, in nats; the
        supremum lies between the two, whatever the way the logits were found.
    """

    log_likelihood: Array
    logits: Array
    gap: Array


@dataclass(frozen=True)
class LogitSolver:
    """Newton's method for one set of levels.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits, orthonormal under the counts.
    null : ndarray of shape (L, L - p)
        Orthonormal basis of the relations that the logits obey.
    """

    counts: Array
    basis: Array
    null: Array

    def log_likelihood(self, ones: Array) -> Array:
        """Supremum of the log-likelihood of interior label counts.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        ndarray of shape (B,)
            Nats.
        """
        if self.null.shape[1] <= self.basis.shape[1]:
            value, rest = self._by_relations(ones)
            if rest.size:
                start = np.zeros((self.basis.shape[1], rest.size))
                value[rest] = self._damped(self.basis.T @ ones[:, rest], start)[0]
            return value
        pseudo, weight = _empirical_logits(self.counts[:, None], ones)
        start = _solve(
            _pairs(self.basis) @ weight, self.basis.T @ (weight * pseudo)
        )
        return self.log_likelihood_of_statistics(self.basis.T @ ones, start)

    def log_likelihood_of_statistics(self, target: Array, start: Array) -> Array:
        """Supremum of the log-likelihood of interior sufficient statistics.

        Parameters
        ----------
        target : ndarray of shape (p, B)
            Sums of the basis over the labels 1.
        start : ndarray of shape (p, B)
            Coefficients to start from.

        Returns
        -------
        ndarray of shape (B,)
            Nats.
        """
        value, rest = self._by_coefficients(target, start)
        if rest.size:
            value[rest] = self._damped(target[:, rest], np.zeros_like(start[:, rest]))[0]
        return value

    def fit(self, ones: Array) -> LogitFit:
        """Logits of interior label counts, each with its duality gap.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        LogitFit

        Notes
        -----
        The Newton step d at logits eta turns the expected counts mu into mu + W d,
        which satisfy the moment constraints. Where they lie between 0 and the counts,
        their saturated log-likelihood bounds the supremum from above.
        """
        target = self.basis.T @ ones
        value, coefficients = self._damped(target, np.zeros_like(target))
        logits = self.basis @ coefficients
        n = self.counts[:, None]
        mean = n * _logistic(logits)
        weight = mean * _logistic(-logits)
        step = _solve(_pairs(self.basis) @ weight, target - self.basis.T @ mean)
        feasible = mean + weight * (self.basis @ step)
        inside = ((feasible >= 0) & (feasible <= n)).all(axis=0)
        bound = saturated_log_likelihood(self.counts, np.clip(feasible, 0.0, n))
        return LogitFit(value, logits, np.where(inside, bound - value, np.inf))

    def _by_relations(self, ones: Array) -> tuple[Array, NDArray[np.intp]]:
        """Newton with the multipliers of the relations as unknowns."""
        n = self.counts[:, None]
        relations, pairs = self.null, _pairs(self.null)

        def step(logits, ones, share):
            e = np.exp(logits)
            r = 1.0 / e
            e += 1.0
            r += 1.0
            # (k - mu) / w and 1 / w without subtracting nearly equal numbers
            move = share * r
            move -= (1.0 - share) * e
            r *= e
            r /= n
            multipliers = _solve(pairs @ r, relations.T @ (logits + move))
            move -= r * (relations @ multipliers)
            value = (ones * logits).sum(axis=0) - self.counts @ np.log(e)
            return move, 1.0 / r, 2.0 / e - 1.0, value, move

        pseudo, weight = _empirical_logits(n, ones)
        inverse = 1.0 / weight
        multipliers = _solve(pairs @ inverse, relations.T @ pseudo)
        start = pseudo - inverse * (relations @ multipliers)
        return _full_newton(step, start, ones, ones / n)

    def _by_coefficients(
        self, target: Array, start: Array
    ) -> tuple[Array, NDArray[np.intp]]:
        """Newton with the coefficients of the model as unknowns."""
        n, basis = self.counts[:, None], self.basis
        pairs = _pairs(basis)

        def step(coefficients, target):
            logits = basis @ coefficients
            e = np.exp(logits)
            e += 1.0
            q = 1.0 / e
            weight = n * q
            mean = n - weight
            weight *= 1.0 - q
            gradient = target - basis.T @ mean
            change = _solve(pairs @ weight, gradient)
            value = (target * coefficients).sum(axis=0) - self.counts @ np.log(e)
            return basis @ change, weight, 2.0 * q - 1.0, value, change

        return _full_newton(step, start, target)

    def _damped(self, target: Array, coefficients: Array) -> tuple[Array, Array]:
        """Newton with steps halved until the log-likelihood grows enough."""
        n, basis, pairs = self.counts[:, None], self.basis, _pairs(self.basis)

        def value_at(coefficients):
            logits = basis @ coefficients
            gain = (target * coefficients).sum(axis=0)
            return gain - self.counts @ np.logaddexp(0.0, logits), logits

        value, logits = value_at(coefficients)
        for _ in range(_DAMPED_STEPS):
            mean = n * _logistic(logits)
            weight = mean * _logistic(-logits)
            gradient = target - basis.T @ mean
            change = _solve(pairs @ weight, gradient)
            slope = (gradient * change).sum(axis=0)
            length = np.where(slope > 1e-22, 1.0, 0.0)
            if not length.any():
                break
            while True:
                reached, logits = value_at(coefficients + length * change)
                short = reached < value + 0.1 * length * slope - 1e-14 * np.abs(value)
                if not short.any():
                    break
                length[short] *= 0.5
                length[length < 1e-12] = 0.0
            coefficients = coefficients + length * change
            value = reached
        return value, coefficients


def _full_newton(
    step: Callable[..., tuple[Array, ...]], state: Array, *data: Array
) -> tuple[Array, NDArray[np.intp]]:
    """Take full Newton steps until each case is settled or all steps are used.

    ``step(state, *data)`` returns the change d of the logits, their weights w,
    1 - 2 mu / n, the log-likelihood before the step and the change of the state. The
    supremum is expanded to third order along d; the fourth order, w d^4, bounds what is
    left, and so tells when to stop. Returns the values and the cases not settled.
    """
    value = np.full(state.shape[1], np.nan)
    active = np.arange(state.shape[1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for _ in range(_FULL_STEPS):
            move, weight, skewness, before, change = step(state, *data)
            square = move * move
            weight *= square
            settled = (weight * square).sum(axis=0) < _SETTLED
            before += 0.5 * weight.sum(axis=0)
            weight *= move
            before -= (weight * skewness).sum(axis=0) / 6.0
            value[active[settled]] = before[settled]
            left = ~settled
            active = active[left]
            if not active.size:
                break
            state = (state + change)[:, left]
            data = tuple(each[:, left] for each in data)
    return value, active


def _empirical_logits(n: Array, ones: Array) -> tuple[Array, Array]:
    """Logits of slightly smoothed label shares, and their inverse variances."""
    first, second = ones + 0.4, n - ones + 0.4
    return np.log(first / second), first * second / (n + 0.8)


def _logistic(logits: Array) -> Array:
    return np.exp(-np.logaddexp(0.0, -logits))


def _pairs(columns: Array) -> Array:
    """Products of columns i >= j, one row each: weighted sums become one matrix product."""
    rows, others = np.tril_indices(columns.shape[1])
    return np.ascontiguousarray((columns[:, rows] * columns[:, others]).T)


def _solve(packed: Array, right: Array) -> Array:
    """Solve positive definite systems, a batch along the last axis, by L D L^T.

    ``packed`` holds the rows of the lower triangles one after the other.
    """
    size = len(right)
    if size == 1:
        return right / packed
    rows, columns = np.tril_indices(size)
    lower = {
        (i, j): packed[at]
        for at, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))
    }
    solution = list(right)
    for j in range(size):
        for i in range(j + 1, size):
            ratio = lower[i, j] / lower[j, j]
            for k in range(j + 1, i + 1):
                lower[i, k] = lower[i, k] - ratio * lower[k, j]
            solution[i] = solution[i] - ratio * solution[j]
    for j in reversed(range(size)):
        for k in range(j + 1, size):
            solution[j] = solution[j] - lower[k, j] * solution[k]
        solution[j] = solution[j] / lower[j, j]
    return np.stack(solution)
