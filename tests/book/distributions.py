"""Distributions on a few cells, and optimisers that know no exponential form."""

import mpmath as mp
import numpy as np
from scipy import optimize, special

SLACK = 1e-12


def exact(*rows):
    """Rows in the working precision of mpmath, each with the sum one."""
    rows = [[mp.mpf(float(v)) for v in row] for row in rows]
    return [[v / mp.fsum(row) for v in row] for row in rows]


def entropy(p, axis=None):
    return special.entr(p).sum(axis=axis)


def flattest(conditions, given, base):
    """Probabilities with given means nearest to ``base``, by SLSQP."""
    return optimize.minimize(
        lambda p: np.sum(p * np.log(p / base)),
        np.full(len(base), 1 / len(base)),
        jac=lambda p: np.log(p / base) + 1,
        method="SLSQP",
        bounds=[(1e-10, 1)] * len(base),
        options={"ftol": 1e-15, "maxiter": 1000},
        constraints={
            "type": "eq",
            "fun": lambda p: conditions @ p - given,
            "jac": lambda p: conditions,
        },
    ).x


def dual(lam, features, means):
    """The dual on cells of mass one, and its slope."""
    score = -lam @ features
    slope = means - features @ special.softmax(score)
    return special.logsumexp(score) + lam @ means, slope


def logistic_loss(theta, rows, y):
    """Mean negative log-likelihood of softmax regression, and its gradient."""
    log_p = special.log_softmax(rows @ theta.reshape(-1, rows.shape[1]).T, axis=1)
    excess = np.exp(log_p) - np.eye(log_p.shape[1])[y]
    return -log_p[np.arange(len(y)), y].mean(), (excess.T @ rows / len(y)).ravel()


def cases(seed, count, spread=(-1.5, 1.0)):
    """Distributions of classes, from nearly disjoint to alike, and weights."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        K, cells = rng.integers(2, (7, 12))
        alpha = np.full(cells, 10.0 ** rng.uniform(*spread))
        yield rng.dirichlet(alpha, size=K), rng.dirichlet(np.full(K, 3.0))
