"""Maximum likelihood of many label counts at a time, with a certificate.

A root on a segment, where the model has one parameter less than levels, or full Newton
steps settle nearly all interior label counts of a model whose levels are fairly even;
the others are solved again, each with its duality gap, and so are all of a model with
other levels. Where numba is installed, its kernel goes first. Label counts on the
boundary have no finite maximum and are not for this module.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine import compiled
from memdlib.nml._engine.compiled_maxima import longest_run, maxima
from memdlib.nml._engine.level_fit import fit_levels
from memdlib.nml._engine.level_model import (
    LevelModel,
    NoMaximumError,
    null_basis,
    orthonormal_basis,
)
from memdlib.nml._engine.newton import (
    SETTLED,
    CoefficientForm,
    damped_newton,
    logistic,
    maximise,
    pairs,
    solve,
    tabulated_logits,
)
from memdlib.nml._engine.saturated import EPSILON, saturated_log_likelihood
from memdlib.nml._engine.segment import maximise_on_segment

Array = NDArray[np.float64]

# Share of a count that rounding may put an expected count beyond its range.
_ROUNDING = 1e-13
# Largest gap of a fit that counts, in nats, and what rounding adds to it for a sample.
_LARGEST_GAP, _GAP_A_SAMPLE = 1e-9, 64 * EPSILON
# Steps to the parameters of a maximum, and the gain that makes one the last.
_STEPS, _NO_GAIN = 20, 1e-10
# Largest change of a logit in one of them, beyond doubling the largest one.
_LONGEST = 3.0
# Change of all logits below which a full step is safe.
_CLOSE = 0.1


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
    """Maxima for the label counts of one model that is not saturated.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits, orthonormal under the counts.
    model : LevelModel, default=None
        Of the levels, if the logits are polynomials.

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
    model: LevelModel | None = None

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
        return cls(model.counts, orthonormal_basis(model), model)

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

        Raises
        ------
        ValueError
            If a maximum cannot be found and certified.
        """
        return self.suprema(ones)[0]

    def suprema(self, ones: Array) -> tuple[Array, float]:
        """Suprema as in `log_likelihood`, and how far off they may be but for rounding.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        value : ndarray of shape (B,)
            Nats.
        doubt : float
            Nats: the remainder below which each expansion ended, or the largest gap of
            a certified fit.
        """
        if self.model is not None and not self.model.moderate:
            fit = self._certified(ones)
            return fit.log_likelihood, float(fit.gap.max(initial=0.0))
        value, rest = self._by_full_steps(ones)
        if not rest.size:
            return value, SETTLED
        fit = self._certified(ones[:, rest])
        value[rest] = fit.log_likelihood
        return value, max(SETTLED, float(fit.gap.max()))

    def coefficients(self, ones: Array) -> Array:
        """Coefficients in the basis at the maxima of interior label counts.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        ndarray of shape (p, B)

        Raises
        ------
        ValueError
            As for `log_likelihood`.
        """
        form = CoefficientForm(self.counts, self.basis)
        with np.errstate(all="ignore"):
            state, target = form.begin(ones), self.basis.T @ ones
            for _ in range(_STEPS):
                change, _, _, weight = form.step(state, target)
                move = self.basis @ change
                longest = np.abs(move).max(axis=0)
                # a step far beyond the logits so far would end where no weight is left
                most = _LONGEST + np.abs(self.basis @ state).max(axis=0)
                state = state + change / np.maximum(longest / most, 1.0)
                gain = (weight * move**2).sum(axis=0)
                # a weight that vanishes hides how far the step went
                far = longest > 1.0
                left = ~(gain < _NO_GAIN) | far | ~np.isfinite(state).all(axis=0)
                if not left.any():
                    return state
        rest = np.flatnonzero(left)
        logits = self._certified(ones[:, rest]).logits
        state[:, rest] = self.basis.T @ (self.counts[:, None] * logits)
        return state

    def _by_full_steps(self, ones: Array) -> tuple[Array, NDArray[np.intp]]:
        """Suprema, and the cases whose values mean nothing yet."""
        if len(self.basis) - self.basis.shape[1] != 1:
            return self._by_newton(ones)
        relation = null_basis(self.basis)[:, 0]
        value, rest = maximise_on_segment(self.counts, relation, ones)
        if rest.size:
            value[rest], still = self._by_newton(ones[:, rest])
            rest = rest[still]
        return value, rest

    def _by_newton(self, ones: Array) -> tuple[Array, NDArray[np.intp]]:
        if not compiled.available():
            form = CoefficientForm(self.counts, self.basis)
            return maximise(
                form,
                self.basis.T @ ones,
                lambda rough, at: rough.begin(ones[:, at].astype(np.float32)),
            )
        value = maxima(
            self.counts,
            np.ascontiguousarray(self.basis),
            pairs(self.basis),
            np.ascontiguousarray(ones),
            *tabulated_logits(self.counts),
            longest_run(ones.shape[1]),
        )
        return value, np.flatnonzero(np.isnan(value))

    def fit(self, ones: Array) -> LogitFit:
        """Logits of interior label counts, each with its duality gap.

        Parameters
        ----------
        ones : ndarray of shape (L, B)
            Labels 1 at each level.

        Returns
        -------
        LogitFit
        """
        n = self.counts[:, None]
        if self.model is None:
            return damped_fit(n, self.basis, ones)
        return LogitFit(*fit_levels(self.model, n, ones))

    def _certified(self, ones: Array) -> LogitFit:
        return require_gap(self.fit(ones), self.counts[:, None], ones)


def require_gap(fit: LogitFit, counts: Array, ones: Array) -> LogitFit:
    """Return fits whose gaps are narrow; one whose gap is too wide is refused.

    Parameters
    ----------
    fit : LogitFit
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level.
    ones : ndarray of shape (L, B)
        Labels 1 at each level.

    Returns
    -------
    LogitFit

    Raises
    ------
    NoMaximumError
        If a gap is larger than 1e-9 nats and rounding.

    Examples
    --------
    >>> n, ones = np.c_[[3.0]], np.array([[1.0, 2.0]])
    >>> fit = require_gap(damped_fit(n, np.c_[[1.0]], ones), n, ones)
    >>> bool(fit.gap.max() < 1e-12)
    True
    """
    n = np.broadcast_to(counts, ones.shape)
    wrong = np.flatnonzero(~(fit.gap <= _LARGEST_GAP + _GAP_A_SAMPLE * n.sum(axis=0)))
    if wrong.size:
        first = [part[:, wrong[0]].astype(np.int64).tolist() for part in (ones, n)]
        raise NoMaximumError(
            f"the labels {first[0]} of levels with {first[1]} samples need logits that "
            "cannot be computed to the end; join levels whose values are close, or use "
            "evenly spaced values or fewer moments"
        )
    return fit


def damped_fit(n: Array, basis: Array, ones: Array) -> LogitFit:
    """Damped fits with their gaps, in any basis of the logits.

    Parameters
    ----------
    n : ndarray of shape (L, 1) or (L, B)
        Samples at each level.
    basis : ndarray of shape (L, p)
    ones : ndarray of shape (L, B)
        Labels 1 at each level.

    Returns
    -------
    LogitFit

    Notes
    -----
    The Newton step d at logits eta turns the expected counts mu into mu + W d, which
    satisfy the moment constraints. Where they lie between 0 and the counts, their
    saturated log-likelihood bounds the supremum from above.

    Examples
    --------
    >>> fit = damped_fit(np.c_[[3.0]], np.c_[[1.0]], np.array([[1.0, 2.0]]))
    >>> (np.exp(fit.log_likelihood) * 27 / 4).round(12).tolist()
    [1.0, 1.0]
    """
    target = basis.T @ ones
    coefficients = damped_newton(n, basis, target)[1]
    for last in (False, False, True):
        logits = basis @ coefficients
        mean = n * logistic(logits)
        weight = mean * logistic(-logits)
        # where all weights underflow there is no step, and no bound
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = solve(pairs(basis) @ weight, target - basis.T @ mean)
            change = basis @ step
            feasible = mean + weight * change
        if not last:
            # what rounding of the log-likelihood hides from damped steps
            near = (np.abs(change) < _CLOSE).all(axis=0)
            coefficients = np.where(near, coefficients + step, coefficients)
    value = (target * coefficients).sum(axis=0) - (n * np.logaddexp(0.0, logits)).sum(
        axis=0
    )
    return LogitFit(value, logits, dual_bound(n, feasible) - value)


def dual_bound(counts: Array, means: Array) -> Array:
    """Upper bounds of suprema, from expected label counts with the same statistics.

    Parameters
    ----------
    counts : ndarray of shape (L, 1) or (L, B)
        Samples at each level.
    means : ndarray of shape (L, B)
        Label counts of the same sums over the basis as those observed.

    Returns
    -------
    ndarray of shape (B,)
        Their saturated log-likelihoods in nats; inf where a mean is out of its range.

    Examples
    --------
    >>> dual_bound(np.c_[[3.0]], np.array([[1.0, 4.0]])).round(6).tolist()
    [-1.909543, inf]
    """
    slack = _ROUNDING * counts
    inside = ((means >= -slack) & (means <= counts + slack)).all(axis=0)
    means = np.clip(np.where(inside, means, 0.0), 0.0, counts)
    return np.where(inside, saturated_log_likelihood(counts, means), np.inf)
