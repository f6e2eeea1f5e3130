"""Dual of discriminative maximum entropy, that is of softmax regression; solvers.

With observed moments o_k = E phi(x) [c = k] and scores theta_k . phi(x), the dual is

    sum_i w_i log sum_k exp(theta_k . phi(x_i)) - sum_k theta_k . o_k + penalty,

whose gradient is what the moments lack. Minus theta is lambda of the book.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, lsmr
from scipy.special import logsumexp

from memdlib._types import MatrixLike
from memdlib.conditional.iterative_scaling import Sizes, constant_step, varying_step

Array = NDArray[np.float64]

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
        codes: NDArray[np.intp],
        n_classes: int,
        weight: Array,
        penalty: Array,
    ) -> "ConditionalDual":
        """Collect the observed moments of labelled data.

        Parameters
        ----------
        Z : ndarray or csr of shape (n, m)
        codes : ndarray of shape (n,)
            Class indices.
        n_classes : int
        weight : ndarray of shape (n,)
        penalty : ndarray of shape (m,)

        Returns
        -------
        ConditionalDual
        """
        share = weight / weight.sum()
        member = np.zeros((len(codes), n_classes))
        member[np.arange(len(codes)), codes] = share
        return cls(Z, share, (Z.T @ member).T, penalty / weight.sum())

    @cached_property
    def sizes(self) -> Sizes:
        """Sums of the features of the instances."""
        return Sizes.of(self.Z)

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


@dataclass(frozen=True)
class Optimum:
    """Where a solver stopped.

    Parameters
    ----------
    theta : ndarray of shape (K, m)
    history : ndarray of shape (iterations + 1,)
        Value of the dual at the start and after each step, in nats per unit of weight.
    residual : float
        Largest entry of the gradient: how far the moments are from matching.
    """

    theta: Array
    history: Array
    residual: float


def solve(dual: ConditionalDual, solver: str, tol: float, max_iter: int) -> Optimum:
    """Minimise the dual from zero.

    Parameters
    ----------
    dual : ConditionalDual
        With nonnegative features for "gis" and "iis".
    solver : {"lbfgs", "gis", "iis", "gradient"}
    tol : float
        Residual to stop at.
    max_iter : int

    Returns
    -------
    Optimum
    """
    if solver == "lbfgs":
        return _quasi_newton(dual, tol, max_iter)
    theta = np.zeros_like(dual.observed)
    state, length = dual.evaluate(theta), 1.0
    history = [state[0]]
    for _ in range(max_iter):
        if np.abs(state[1]).max() <= tol or length == 0.0:
            break
        if solver == "gradient":
            theta, state, length = _descend(dual, theta, state, 2.0 * length)
        else:
            theta = theta + _scaling_step(dual, theta, state, solver)
            state = dual.evaluate(theta)
        history.append(state[0])
    return Optimum(theta, np.array(history), float(np.abs(state[1]).max()))


def _quasi_newton(dual: ConditionalDual, tol: float, max_iter: int) -> Optimum:
    shape, history = dual.observed.shape, []

    def function(flat):
        value, gradient, _ = dual.evaluate(flat.reshape(shape))
        return value, gradient.ravel()

    start = np.zeros(dual.observed.size)
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(intermediate_result.fun),
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0},
    )
    residual = float(np.abs(found.jac).max())
    first = function(start)[0]
    return Optimum(found.x.reshape(shape), np.array([first, *history]), residual)


def _descend(dual, theta, state, length):
    """Gradient step, halved until the dual falls by a tenth of the slope.

    By convexity it falls by at least the new slope times the length, which unlike the
    difference of two values does not drown in rounding.
    """
    gradient = state[1]
    square = (gradient**2).sum()
    for _ in range(60):
        trial = theta - length * gradient
        reached = dual.evaluate(trial)
        if (gradient * reached[1]).sum() >= 0.1 * square:
            return trial, reached, length
        length *= 0.5
    return theta, state, 0.0


def _scaling_step(dual, theta, state, solver):
    _, gradient, shares = state
    expected = gradient + dual.observed - dual.penalty * theta
    parameters = dual.observed, expected, theta, dual.penalty
    if solver == "iis":
        return varying_step(dual.Z, dual.sizes, shares, *parameters)
    return constant_step(dual.sizes.rows.max(), *parameters)


def has_optimum(dual: ConditionalDual, codes: NDArray[np.intp], found: Optimum) -> bool:
    """Certify that the unpenalised dual has a minimum.

    It has one if and only if some conditional distribution of positive probabilities
    has the observed moments exactly. One is looked for next to the one found: the
    probabilities q of the classes other than the own are multiplied by 1 - a . u, where
    a are the features of the own class less those of the other, and u is the weighted
    least-squares solution of a . u = 1, whose residuals meet the moments.

    Parameters
    ----------
    dual : ConditionalDual
        Without a penalty.
    codes : ndarray of shape (n,)
        Class indices.
    found : Optimum
        Where a solver stopped.

    Returns
    -------
    bool
        False if the classes, or some of them, are separable, or if the solver stopped
        too far from the optimum to tell.
    """
    _, _, shares = dual.evaluate(found.theta)
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

    operator = LinearOperator(
        (root.size, found.theta.size),
        matvec=lambda u: (root * margins(u)).ravel(),
        rmatvec=moments,
        dtype=np.float64,
    )
    u, *_ = lsmr(operator, root.ravel(), atol=0, btol=0, conlim=0, maxiter=1000)
    move = margins(u)
    unmet = np.abs(moments(root * (1.0 - move))).max()
    met = unmet <= 1e-3 * found.residual + 1e-16
    return bool(met and move.max() <= _LARGEST_MOVE)
