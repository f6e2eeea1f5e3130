"""Dual of discriminative maximum entropy, that is of softmax regression; solvers.

With observed moments o_k = E phi(x) [c = k] and scores theta_k . phi(x), the dual is

    sum_i w_i log sum_k exp(theta_k . phi(x_i)) - sum_k theta_k . o_k + penalty,

whose gradient is the difference between expected and observed moments. Minus theta is
lambda of the book.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import logsumexp

from memdlib._types import Array
from memdlib.conditional.iterative_scaling import (
    constant_step,
    feature_sums,
    varying_step,
)

# Largest change of a log-odds for which an optimum is certified: for separable classes
# some log-odds would have to change by one.
_LARGEST_MOVE = 0.5
# Steps of iterative scaling after which to look whether the classes are separable.
_STEPS_BETWEEN_CHECKS = 100


@dataclass(frozen=True, eq=False)
class ConditionalDual:
    """Penalised negative log-likelihood of softmax regression, per unit of weight.

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Features phi.
    share : ndarray of shape (n,)
        Instance weights, which sum to one.
    observed : ndarray of shape (K, m)
        Observed moments E phi_j [c = k].
    penalty : ndarray of shape (m,)
        Twice the coefficients of the squared parameters.
    """

    Z: Array
    share: Array
    observed: Array
    penalty: Array

    @classmethod
    def of(
        cls,
        Z,
        codes,
        n_classes,
        weight,
        penalty,
    ):
        """Compute the observed moments of labelled data.

        Parameters
        ----------
        Z : ndarray or csr of shape (n, m)
        codes : ndarray of shape (n,)
            Class indices, below ``n_classes``.
        n_classes : int
        weight : ndarray of shape (n,)
            Instance weights.
        penalty : ndarray of shape (m,)
            Twice the coefficients of the squared parameters in the penalty on the
            total log-likelihood.

        Returns
        -------
        ConditionalDual
        """
        share = weight / weight.sum()
        rows = np.arange(len(codes))
        membership = sparse.csr_array((share, (codes, rows)), (n_classes, len(codes)))
        observed = membership @ Z
        if sparse.issparse(observed):
            observed = observed.toarray()
        return cls(Z=Z, share=share, observed=observed, penalty=penalty / weight.sum())

    def evaluate(self, theta):
        """Value, gradient and weighted class probabilities at scores Z theta^T.

        Parameters
        ----------
        theta : ndarray of shape (K, m)

        Returns
        -------
        value : float
            In nats per unit of weight.
        gradient : ndarray of shape (K, m)
            Expected minus observed moments, plus the derivative of the penalty.
        shares : ndarray of shape (n, K)
            Weight of each instance times its class probabilities.
        """
        scores = self.Z @ theta.T
        log_total = logsumexp(scores, axis=1)
        shares = self.share[:, None] * np.exp(scores - log_total[:, None])
        value = self.share @ log_total - (self.observed * theta).sum()
        value += 0.5 * (self.penalty * theta**2).sum()
        gradient = (self.Z.T @ shares).T - self.observed + self.penalty * theta
        return float(value), gradient, shares


class Optimum(NamedTuple):
    """Where a solver stopped."""

    theta: Array  # (K, m)
    history: Array  # value at the start and after each step, in nats
    residual: float  # largest absolute entry of the gradient


def solve(dual, codes, solver, tol, max_iter):
    """Minimise the dual, starting from zero.

    Parameters
    ----------
    dual : ConditionalDual
        With nonnegative features for "gis" and "iis".
    codes : ndarray of shape (n,)
        Class indices.
    solver : {"lbfgs", "gis", "iis"}
    tol : float
        Stop at a residual of at most this.
    max_iter : int

    Returns
    -------
    Optimum
    """
    if solver == "lbfgs":
        return _quasi_newton(dual, tol, max_iter)
    return _iterative_scaling(dual, codes, solver, tol, max_iter)


def _quasi_newton(dual, tol, max_iter):
    """Minimise the dual by L-BFGS."""
    shape = dual.observed.shape

    def value_and_gradient(flat):
        value, gradient, _ = dual.evaluate(flat.reshape(shape))
        return value, gradient.ravel()

    start = np.zeros(dual.observed.size)
    history = [value_and_gradient(start)[0]]
    result = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(intermediate_result.fun),
        # Stop at the residual, not where a step gains little.
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0},
    )
    residual = float(np.abs(result.jac).max())
    return Optimum(result.x.reshape(shape), np.array(history), residual)


def _iterative_scaling(dual, codes, solver, tol, max_iter):
    """Minimise the dual by generalised ("gis") or improved ("iis") scaling.

    Without a penalty, it also stops at parameters that separate the classes: they prove
    that there is no minimum, towards which it would go on in ever smaller steps.
    """
    is_penalised = dual.penalty.any()
    sizes = feature_sums(dual.Z)
    theta = np.zeros_like(dual.observed)
    history = []
    while True:
        value, gradient, probabilities = dual.evaluate(theta)
        history.append(value)
        residual = float(np.abs(gradient).max())
        if residual <= tol or len(history) > max_iter:
            break
        is_checked = not is_penalised and len(history) % _STEPS_BETWEEN_CHECKS == 0
        if is_checked and separates(dual.Z, codes, theta):
            break
        expected = gradient + dual.observed - dual.penalty * theta
        equations = (dual.observed, expected, theta, dual.penalty)
        if solver == "gis":
            step = constant_step(sizes[0].max(), *equations)
        else:
            step = varying_step(dual.Z, sizes, probabilities, *equations)
        theta = theta + step
    return Optimum(theta, np.array(history), residual)


def separates(Z, codes, theta):
    """Whether the true class of each instance alone has the largest score.

    Then there is no minimum without a penalty: multiples of theta approach the infimum.
    """
    margins = _margins(Z, codes, theta)
    # that to the true class itself is zero
    return np.count_nonzero(margins > 0) == margins.size - len(margins)


def has_optimum(dual, codes, optimum):
    """Certify that the unpenalised dual has a minimum: that classes are not separable.

    It has one if and only if some conditional distribution with positive probabilities
    has exactly the observed moments. Such a distribution is sought next to the fitted
    one: the probabilities q of the classes other than the true one are multiplied by
    1 - a . u, where a are the features of the true class minus those of the other, and
    u is the weighted least-squares solution of a . u = 1, whose residuals meet the
    moments.

    Parameters
    ----------
    dual : ConditionalDual
    codes : ndarray of shape (n,)
        Class indices.
    optimum : Optimum

    Returns
    -------
    bool
    """
    _, _, probabilities = dual.evaluate(optimum.theta)
    probabilities[np.arange(len(codes)), codes] = 0.0
    root = np.sqrt(probabilities)

    def weighted_margins(theta):
        return (root * _margins(dual.Z, codes, theta)).ravel()

    def weighted_moments(residual):
        return _moments_of_margins(dual.Z, codes, root * residual.reshape(root.shape))

    operator = LinearOperator(
        (root.size, dual.observed.size),
        weighted_margins,
        weighted_moments,
        dtype=np.float64,
    )
    u, *_ = lsmr(operator, root.ravel(), atol=0, btol=0, conlim=0, maxiter=1000)
    move = _margins(dual.Z, codes, u)
    unmet = np.abs(weighted_moments(root * (1.0 - move))).max()
    meets_moments = unmet <= 1e-3 * optimum.residual + 1e-16
    return bool(meets_moments and move.max() <= _LARGEST_MOVE)


def _margins(Z, codes, theta):
    """Score of the true class minus that of each class, (n, K), for flat theta."""
    scores = Z @ theta.reshape(-1, Z.shape[1]).T
    return scores[np.arange(len(codes)), codes][:, None] - scores


def _moments_of_margins(Z, codes, weight):
    """Moments (K m,) of margins with weights (n, K): the adjoint of ``_margins``."""
    excess = -weight
    excess[np.arange(len(codes)), codes] = -excess.sum(axis=1)
    return (Z.T @ excess).T.ravel()
