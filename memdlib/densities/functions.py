"""Densities with given means of feature functions of one's own.

One grid for all of a batch: panels that halve towards finite ends, or grow by two from
an end, or from zero, to beyond all scales. What is found on them is checked on panels
of half the width, until the two agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memdlib._types import Index
from memdlib.densities.moment_problem import (
    InfeasibleMomentsError,
    Matched,
    NotConvergedError,
    evaluate_dual,
    solve_dual,
)
from memdlib.densities.support import NODES, Support, panel_nodes

Array = NDArray[np.float64]
Functions = Sequence[Callable[..., Any]]

# How far panels reach, and the ratio of that to their smallest distance of an end.
_WIDEST, _OCTAVES = 2.0**40, 440
# Halvings of the panels; residual that is good enough.
_HALVINGS, _GOOD = 4, 1e-11
# Probability in an outermost panel above which a density does not end there.
_TAIL = 1e-9
# Share of the largest variance of features below which their means lie on the boundary.
_FLAT = 1e-12


@dataclass(frozen=True)
class LogFunctions:
    """Densities exp(-theta . (1, phi(x))) of B rows.

    Parameters
    ----------
    functions : sequence of callables
        phi, each vectorised over x.
    support : Support
    theta : ndarray of shape (B, m + 1)
    """

    functions: Functions
    support: Support
    theta: Array

    def __getitem__(self, rows: Index) -> "LogFunctions":
        return LogFunctions(self.functions, self.support, self.theta[rows])

    def __call__(self, x: Array) -> Array:
        """Minus the log density at x (B, N)."""
        phi = function_values(self.functions, x, self.support)
        return self.theta[:, :1] + (phi * self.theta[:, None, 1:]).sum(axis=-1)


def function_values(functions: Functions, x: Array, support: Support) -> Array:
    """Values (..., m) of feature functions at x (...), all of them finite."""
    values = np.stack([np.asarray(f(x), np.float64) for f in functions], axis=-1)
    finite = np.isfinite(values).all(axis=-1)
    if not finite.all():
        raise ValueError(
            f"a feature function is not finite at x = {x[~finite].flat[0]:g}, which "
            f"lies on the support {support}"
        )
    return values


def match_functions(
    mu: Array, functions: Functions, support: Support, tol: float
) -> Matched:
    """Find the densities of largest entropy with given means of functions.

    Parameters
    ----------
    mu : ndarray of shape (B, m)
    functions : sequence of m callables
    support : Support
    tol : float
        Largest residual to accept.

    Returns
    -------
    Matched
        With panels of all densities, (P + 1,).

    Raises
    ------
    InfeasibleMomentsError, NotConvergedError
    """
    ends = _panels(support)
    x, phi, log_weights = _grid(functions, support, ends)
    change, lam = _orthonormal(x, phi, log_weights, support)
    target = mu @ change[1:, 1:] + change[0, 1:]
    lam = np.tile(lam, (len(mu), 1))
    for _ in range(_HALVINGS):
        basis = phi @ change[1:, 1:] + change[0, 1:]
        solution = solve_dual(basis, log_weights, target, lam)
        lam = solution.natural
        if support.levels is None:
            ends = np.sort(np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1])]))
            x, phi, log_weights = _grid(functions, support, ends)
            basis = phi @ change[1:, 1:] + change[0, 1:]
        value, mean, p = evaluate_dual(basis, log_weights, target, lam)
        residual = np.abs(target - mean).max(axis=1)
        if support.levels is not None or (residual <= _GOOD).all():
            break
    spread = np.linalg.eigvalsh(solution.covariance)
    edge = spread[:, 0] < _FLAT * np.maximum(spread[:, -1], 1e-3)
    _check(edge | (solution.residual > tol), residual, p, support, tol)
    psi = value - (lam * target).sum(axis=1)
    theta = np.column_stack([psi + lam @ change[0, 1:], lam @ change[1:, 1:].T])
    density = LogFunctions(functions, support, theta)
    return Matched(density, ends, residual, solution.gap)


def _panels(support):
    """Ends of the coarsest panels; the levels themselves where there are any."""
    if support.levels is not None:
        return np.array(support.levels)
    lower, upper = support.lower, support.upper
    widest = 0.5 * (upper - lower) if support.bounded else _WIDEST
    distance = np.append(widest * 2.0 ** -np.arange(_OCTAVES), 0.0)
    ends = np.zeros(2) if np.isinf([lower, upper]).all() else np.array([lower, upper])
    sides = [
        end + sign * distance[(distance == 0) | (distance > abs(end) / _WIDEST)]
        for end, sign in zip(ends, (1.0, -1.0), strict=True)
        if np.isfinite(end)
    ]
    return np.unique(np.concatenate(sides))


def _grid(functions, support, ends):
    """Nodes, values of the functions there, and log weights."""
    if support.levels is not None:
        x, log_weights = ends, np.zeros(len(ends))
    else:
        nodes, weights = panel_nodes(ends[None])
        x, log_weights = nodes[0], np.log(weights[0])
    return x, function_values(functions, x, support), log_weights


def _orthonormal(x, phi, log_weights, support):
    """Coefficients that make (1, phi) orthonormal under a reference density.

    It is normal, exponential or uniform; its own log density is where to start.
    """
    log_reference = np.zeros_like(x)
    if not support.bounded:
        end = np.clip(0.0, support.lower, support.upper)
        half = np.isfinite([support.lower, support.upper]).any()
        log_reference = -np.abs(x - end) if half else -0.5 * x**2
    mass = np.exp(log_weights + log_reference)
    mass /= mass.sum()
    extended = np.column_stack([np.ones(len(x)), phi])
    scale = np.sqrt(mass @ extended**2)
    r = np.linalg.qr(np.sqrt(mass)[:, None] * (extended / scale))[1]
    m = phi.shape[1]
    if len(x) <= m or np.abs(np.diag(r)).min() <= 1e-12:
        raise ValueError(
            f"{m} moments and the constant are not linearly independent on {len(x)} "
            "points of the support; use fewer moments"
        )
    change = np.linalg.solve(r, np.eye(m + 1)) / scale[:, None]
    # the constant stays one
    change *= np.sign(change[0, 0])
    return change, -(mass * log_reference) @ (phi @ change[1:, 1:] + change[0, 1:])


def _check(edge, residual, p, support, tol) -> None:
    """Raise where a density was not found, or does not end where its panels do."""
    outer = np.stack([p[:, :NODES].sum(axis=1), p[:, -NODES:].sum(axis=1)])
    outer = outer * (support.levels is None)
    infinite = np.isinf([support.lower, support.upper])
    edge |= (outer[infinite] > _TAIL).any(axis=0)
    failed = edge | ~(residual <= tol) | (outer > _TAIL).any(axis=0)
    if failed.any():
        row = int(np.argmax(failed))
        asked = f"density {row}: the means of the functions on {support}"
        if edge[row]:
            raise InfeasibleMomentsError(
                f"{asked} must lie inside of what is possible there: these lie on its "
                "boundary, to rounding, or beyond, or the entropy has no maximum"
            )
        raise NotConvergedError(
            f"{asked} were matched to {residual[row]:.1e} only, with a probability of "
            f"{outer[:, row].max():.1e} closer to an end than numbers can tell; use "
            "functions that are smooth there, or raise tol"
        )
