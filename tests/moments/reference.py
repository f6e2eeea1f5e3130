"""Samples, and moments of them that share no code with the package."""

from fractions import Fraction

import numpy as np

from memdlib.moments.sums import ClassMoments, translate


def sample(n=200, d=7, n_classes=3, seed=0):
    rng = np.random.default_rng([4, seed])
    return rng.normal(3, 2, size=(n, d)), rng.integers(n_classes, size=n)


def direct(X, y, weight, n_classes, order):
    """Raw power means, class by class."""
    return np.array(
        [
            np.stack(
                [
                    np.average(X[y == k] ** j, axis=0, weights=weight[y == k])
                    for j in range(1, order + 1)
                ],
                axis=-1,
            )
            for k in range(n_classes)
        ]
    )


def raw(m: ClassMoments):
    return translate(m.mean, np.ones(1), m.location)


def exact_variance(x, weight=None):
    """Weighted mean and variance, in fractions."""
    x = [Fraction(float(v)) for v in x]
    w = (
        [Fraction(1)] * len(x)
        if weight is None
        else [Fraction(float(v)) for v in weight]
    )
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
    square = sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True)) / sum(w)
    return mean, square


def variance(m: ClassMoments):
    return m.mean[..., 1] - m.mean[..., 0] ** 2
