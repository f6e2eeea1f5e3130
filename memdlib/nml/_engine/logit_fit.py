"""Maximum likelihood of many label counts at a time, with a certificate.

A root on a segment, where the model has one parameter less than levels, or full Newton
steps settle nearly all interior label counts; the others are solved again with damped
steps. Where numba is installed, its kernel goes first. Label counts on the boundary
have no finite maximum and are not for this module.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine import compiled
from memdlib.nml._engine.compiled_maxima import maxima
from memdlib.nml._engine.level_model import LevelModel, null_basis, orthonormal_basis
from memdlib.nml._engine.newton import (
    CoefficientForm,
    damped_newton,
    empirical_logits,
    logistic,
    maximise,
    pairs,
    solve,
)
from memdlib.nml._engine.saturated import saturated_log_likelihood
from memdlib.nml._engine.segment import maximise_on_segment

Array = NDArray[np.float64]

# Share of a count that rounding may put an expected count beyond its range.
_ROUNDING = 1e-13


class LogitFit(NamedTuple):
    """Maximised log-likelihoods of a batch of B label counts.

    Parameters
    ----------
    log_likelihood : ndarray of shape (B,)
        Reached by ``logits``, in nats; the supremum is at most ``gap`` above.
    logits : ndarray of shape (L, B)
        Of the labels at each level.
    gap : ndarray of shape (B,)
        Upper bound from the dual less ``log_likelihood``, in nats: a certificate that
        needs no trust in the way the logits were found; inf where there is none.
    """

    log_likelihood: Array
    logits: Array
    gap: Array


@dataclass(frozen=True)
class LogitSolver:
    """Newton's method for the label counts of one model that is not saturated.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits, orthonormal under the counts.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.array([4, 4]), np.array([1.0, 2.0]), 1, intercept=False)
    >>> fit = LogitSolver.of(model).fit(np.array([[1.0], [2.0]]))
    >>> bool(np.allclose(fit.logits[1], 2 * fit.logits[0])), bool(fit.gap[0] < 1e-14)
    (True, True)
    """

    counts: Array
    basis: Array

    @classmethod
    def of(cls, model: LevelModel) -> "LogitSolver":
        """Solver of a model.

        Parameters
        ----------
        model : LevelModel

        Returns
        -------
        LogitSolver
        """
        return cls(model.counts, orthonormal_basis(model))

    def log_likelihood(self, ones: Array) -> Array:
        """Supremum of the log-likelihood of interior label counts.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        ndarray of shape (B,)
            Nats, to about 1e-13.
        """
        if not compiled.available():
            return self._by_arrays(ones)
        grid = np.minimum(np.arange(self.counts.max() + 1.0), self.counts[:, None])
        value = maxima(
            self.counts,
            np.ascontiguousarray(self.basis),
            pairs(self.basis),
            np.ascontiguousarray(ones),
            *empirical_logits(self.counts[:, None], grid),
        )
        rest = np.flatnonzero(np.isnan(value))
        if rest.size:
            value[rest] = self._damped(self.basis.T @ ones[:, rest])[0]
        return value

    def _by_arrays(self, ones: Array) -> Array:
        null = null_basis(self.basis)
        if null.shape[1] == 1:
            value, rest = maximise_on_segment(self.counts, null[:, 0], ones)
        else:
            value, rest = np.empty(ones.shape[1]), np.arange(ones.shape[1])
        if rest.size:
            late = ones[:, rest]
            form = CoefficientForm(self.counts, self.basis)
            value[rest], still = maximise(
                form, lambda at: form.begin(late[:, at]), rest.size
            )
            rest = rest[still]
        if rest.size:
            value[rest] = self._damped(self.basis.T @ ones[:, rest])[0]
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
        value, coefficients = self._damped(target)
        logits = self.basis @ coefficients
        n = self.counts[:, None]
        mean = n * logistic(logits)
        weight = mean * logistic(-logits)
        # where all weights underflow there is no step, and no bound
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = solve(pairs(self.basis) @ weight, target - self.basis.T @ mean)
            feasible = mean + weight * (self.basis @ step)
        slack = _ROUNDING * n
        inside = ((feasible >= -slack) & (feasible <= n + slack)).all(axis=0)
        feasible = np.where(inside, feasible, 0.0)
        bound = saturated_log_likelihood(n, np.clip(feasible, 0.0, n))
        return LogitFit(value, logits, np.where(inside, bound - value, np.inf))

    def _damped(self, target: Array) -> tuple[Array, Array]:
        return damped_newton(self.counts[:, None], self.basis, target)
