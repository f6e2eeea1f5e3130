"""Label counts written out, with free logits in fractions."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np


def counts_below(n):
    """All label counts, and the number of label sequences of each."""
    n = [int(v) for v in n]
    k = np.array(list(product(*(range(v + 1) for v in n))))
    return k, np.array([prod(map(comb, n, c)) for c in k.tolist()])


def likelihood(n, k):
    """Largest likelihood of the counts with free logits, all sequences together."""
    return prod(
        comb(a, b) * Fraction(b, a) ** b * Fraction(a - b, a) ** (a - b)
        for a, b in zip(n, k, strict=True)
    )


def coin(n):
    """C(2, n)."""
    return sum(likelihood([n], [k]) for k in range(n + 1))


def powers(x, m, constant=False):
    """Columns x, .., x^m of scaled levels, after 1 if there is a constant."""
    x = np.asarray(x, dtype=float) / np.abs(x).max()
    return np.vander(x, m + 1, increasing=True)[:, 0 if constant else 1 :]
