"""Dual of discriminative maximum entropy, that is of softmax regression; solvers.

With observed moments o_k = E phi(x) [c = k] and scores theta_k . phi(x), the dual is

    sum_i w_i log sum_k exp(theta_k . phi(x_i)) - sum_k theta_k . o_k + penalty,

whose gradient is what the moments lack. Minus theta is lambda of the book.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import logsumexp

from memdlib._types import Array, Indices, MatrixLike
from memdlib.conditional.iterative_scaling import (
    constant_step,
    feature_sums,
    varying_step,
)

# Where separable classes leave the certificate of an optimum, a log-odds moves by one.
_LARGEST_MOVE = 0.5


@dataclass(frozen=True)
class ConditionalDual:
    """Penalised negative log-likelihood of softmax regression, per unit of weight.

    Parameters
    ----------
    Z : ndarray or csr of shape (n, m)
        Features phi.
    share : ndarray of shape (n,)
        Instance weights, of sum one.
    observed : ndarray of shape (K, m)
        Observed moments E phi_j [c = k].
    penalty : ndarray of shape (m,)
        Coefficients of the squared parameters, times two.
    """

    Z: Array
    share: Array
    observed: Array
    penalty: Array

    @classmethod
    def of(
        cls,
        Z: MatrixLike,
        codes: Indices,
        n_classes: int,
        weight: Array,
        penalty: Array,
    ) -> "ConditionalDual":
        """Collect the observed moments of labelled data.

        Parameters
        ----------
        Z : ndarray or csr of shape (n, m)
        codes : ndarray of shape (n,)
            Class indices, of ``n_classes``.
        weight : ndarray of shape (n,)
        penalty : ndarray of shape (m,)
            That of the total log-likelihood.

        Returns
        -------
        ConditionalDual
        """
        share = weight / weight.sum()
        member = share[:, None] * np.eye(n_classes)[codes]
        return cls(Z, share, (Z.T @ member).T, penalty / weight.sum())

    def evaluate(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and class shares at scores Z theta^T.

        Parameters
        ----------
        theta : ndarray of shape (K, m)

        Returns
        -------
        value : float
            Nats, per unit of weight.
        gradient : ndarray of shape (K, m)
            Expected minus observed moments, plus the part of the penalty.
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
    """Where a solver stopped: theta (K, m), values on the way, largest gradient."""

    theta: Array
    history: Array
    residual: float


def solve(dual: ConditionalDual, solver: str, tol: float, max_iter: int) -> Optimum:
    """Minimise the dual from zero.

    Parameters
    ----------
    dual : ConditionalDual
        With nonnegative features for "gis" and "iis".
    solver : {"lbfgs", "gis", "iis"}
    tol : float
        Residual to stop at.
    max_iter : int

    Returns
    -------
    Optimum
    """
    theta = np.zeros_like(dual.observed)
    value, gradient, shares = dual.evaluate(theta)
    history = [value]
    if solver == "lbfgs":

        def function(flat):
            value, gradient, _ = dual.evaluate(flat.reshape(theta.shape))
            return value, gradient.ravel()

        def note(intermediate_result):
            history.append(intermediate_result.fun)

        options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0}
        how = {"jac": True, "method": "L-BFGS-B", "callback": note, "options": options}
        found = minimize(function, theta.ravel(), **how)
        theta, gradient = found.x.reshape(theta.shape), found.jac
    else:
        sizes = feature_sums(dual.Z)
        while np.abs(gradient).max() > tol and len(history) <= max_iter:
            expected = gradient + dual.observed - dual.penalty * theta
            equations = dual.observed, expected, theta, dual.penalty
            if solver == "gis":
                theta = theta + constant_step(sizes[0].max(), *equations)
            else:
                theta = theta + varying_step(dual.Z, sizes, shares, *equations)
            value, gradient, shares = dual.evaluate(theta)
            history.append(value)
    return Optimum(theta, np.array(history), float(np.abs(gradient).max()))


def has_optimum(dual: ConditionalDual, codes: Indices, found: Optimum) -> bool:
    """Certify that the unpenalised dual has a minimum: that classes are not separable.

    It has one if and only if some conditional distribution of positive probabilities
    has the observed moments exactly. One is looked for next to the one found: the
    probabilities q of the classes other than the own are multiplied by 1 - a . u, where
    a are the features of the own class less those of the other, and u is the weighted
    least-squares solution of a . u = 1, whose residuals meet the moments.
    """
    shares = dual.evaluate(found.theta)[2]
    rows = np.arange(len(codes))
    shares[rows, codes] = 0.0
    root = np.sqrt(shares)

    def margins(u):
        scores = dual.Z @ u.reshape(found.theta.shape).T
        return scores[rows, codes][:, None] - scores

    def moments(residual):
        excess = -root * residual.reshape(root.shape)
        excess[rows, codes] = -excess.sum(axis=1)
        return (dual.Z.T @ excess).T.ravel()

    def weighted(u):
        return (root * margins(u)).ravel()

    shape = root.size, found.theta.size
    operator = LinearOperator(shape, weighted, moments, dtype=np.float64)
    u, *_ = lsmr(operator, root.ravel(), atol=0, btol=0, conlim=0, maxiter=1000)
    move = margins(u)
    unmet = np.abs(moments(root * (1.0 - move))).max()
    return bool(unmet <= 1e-3 * found.residual + 1e-16 and move.max() <= _LARGEST_MOVE)
