"""Complexities as sums over all label sequences, each with a general optimiser."""

import math
from collections import Counter
from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax


def supremum(features, labels, n_classes):
    """Supremum of a softmax likelihood; the solver follows it to infinity.

    ``features`` (n, q) and ``labels`` (n,) are those of single samples. Every class has
    parameters of its own, one of them too many.
    """
    if not np.any(features):
        return -len(labels) * math.log(n_classes)
    u, s, _ = np.linalg.svd(np.asarray(features, dtype=float), full_matrices=False)
    x = u[:, s > 1e-10 * s[0]] * math.sqrt(len(u))
    one_hot = np.eye(n_classes)[labels]
    size = x.shape[1] * n_classes

    def logits(b):
        return x @ b.reshape(x.shape[1], n_classes)

    def minus(b):
        eta = logits(b)
        return logsumexp(eta, axis=1).sum() - (one_hot * eta).sum()

    def slope(b):
        return (x.T @ (softmax(logits(b), axis=1) - one_hot)).ravel()

    def curvature(b):
        p = softmax(logits(b), axis=1)
        inner = p[:, :, None] * (np.eye(n_classes) - p[:, None, :])
        return np.einsum("na,nkl,nb->akbl", x, inner, x).reshape(size, size)

    options = {"gtol": 1e-9, "max_trust_radius": 1e3, "maxiter": 400}
    return -minimize(
        minus,
        np.zeros(size),
        jac=slope,
        hess=curvature,
        method="trust-exact",
        options=options,
    ).fun


def complexity(features, n_classes=2):
    """Log of the sum of the maximised likelihoods of all K^n label sequences.

    Sequences that put the same labels on equal rows, or are the same but for the names
    of the classes, share one optimisation.
    """
    features = np.asarray(features, dtype=float)
    _, cell = np.unique(features, axis=0, return_inverse=True)
    cell = cell.ravel()
    size = (cell.max() + 1, n_classes)
    seen = Counter()
    for labels in product(range(n_classes), repeat=len(cell)):
        table = np.zeros(size, dtype=int)
        np.add.at(table, (cell, labels), 1)
        seen[tuple(sorted(map(tuple, table.T.tolist())))] += 1
    rows = np.array([features[cell == c][0] for c in range(size[0])])
    total = 0.0
    for table, times in seen.items():
        counts = np.array(table).T
        where = np.repeat(np.arange(counts.size), counts.ravel())
        each = rows[where // n_classes], where % n_classes
        total += times * math.exp(supremum(*each, n_classes))
    return math.log(total)
