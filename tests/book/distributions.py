"""Distributions on a few cells, at random and in many digits, with their entropy."""

import mpmath as mp
import numpy as np
from scipy import special

SLACK = 1e-12


def exact(*rows):
    """Rows in the working precision of mpmath, each with the sum one."""
    rows = [[mp.mpf(float(v)) for v in row] for row in rows]
    return [[v / mp.fsum(row) for v in row] for row in rows]


def entropy(p, axis=None):
    return special.entr(p).sum(axis=axis)


def cases(seed, count, spread=(-1.5, 1.0)):
    """Distributions of classes, from nearly disjoint to alike, and weights."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        K, cells = rng.integers(2, (7, 12))
        alpha = np.full(cells, 10.0 ** rng.uniform(*spread))
        yield rng.dirichlet(alpha, size=K), rng.dirichlet(np.full(K, 3.0))
