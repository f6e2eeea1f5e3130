"""Complexities by the definition alone, and two sums that bound them.

There is a maximum for every vector of label counts; the bounds are sums of integers, or
incomplete gamma functions.

Nothing here knows of boundaries, bounds, tables or bases of the package.
"""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from scipy.special import gammaincc


def design(values, m, intercept):
    """Orthonormal columns of the polynomials on the levels."""
    x = np.asarray(values, dtype=np.longdouble)
    first = np.ones_like(x) if intercept else x / np.abs(x).max()
    t = (x - x[0]) / np.abs(x - x[0]).max() if len(x) > 1 else np.zeros(1)
    columns = []
    for j in range(m + bool(intercept)):
        column = first * t**j
        for _ in range(3):
            for other in columns:
                column = column - other * (other @ column)
        size = np.sqrt(column @ column)
        if len(columns) < len(x):
            columns.append(column / size)
    return np.array(columns, dtype=float).T


def suprema(counts, ones, basis):
    """Suprema of log-likelihoods by Newton steps that at most double the logits.

    Where a supremum is not attained, each step brings it nearer by a factor e or more.
    """
    n = np.asarray(counts, dtype=float)
    k = np.asarray(ones, dtype=float)
    theta = np.zeros((len(k), basis.shape[1]))

    def value(theta):
        logits = theta @ basis.T
        # the part of either label, which is never positive
        return -(
            k * np.logaddexp(0.0, -logits) + (n - k) * np.logaddexp(0.0, logits)
        ).sum(axis=1)

    best = value(theta)
    for _ in range(150):
        logits = theta @ basis.T
        q = 0.5 * (1.0 + np.tanh(0.5 * logits))
        slope = (k - n * q) @ basis
        root = np.sqrt(n * q * (1.0 - q))
        information = np.einsum("bl,li,lj->bij", root**2, basis, basis)
        scale = np.trace(information, axis1=1, axis2=2)
        information += (1e-13 * scale + 1e-250)[:, None, None] * np.eye(basis.shape[1])
        step = np.linalg.solve(information, slope[:, :, None])[:, :, 0]
        longest = np.abs(step @ basis.T).max(axis=1)
        most = 3.0 + np.abs(logits).max(axis=1)
        step *= np.minimum(1.0, most / np.maximum(longest, 1e-300))[:, None]
        for _ in range(12):
            moved = value(theta + step)
            better = moved >= best
            theta = np.where(better[:, None], theta + step, theta)
            best = np.maximum(best, moved)
            step = np.where(better[:, None], 0.0, 0.5 * step)
            if better.all():
                break
    return best


def literal_complexity(counts, values, m, intercept):
    """Log of the sum over all label sequences; at most a few thousand vectors."""
    counts = np.asarray(counts)
    values = np.asarray(values, dtype=float)
    active = counts > 0
    if not intercept:
        active &= values != 0
    counts = counts[active]
    values = values[active]
    if not counts.size:
        return 0.0
    order = np.argsort(values)
    counts = counts[order]
    values = values[order]
    ones = np.array(list(product(*(range(n + 1) for n in counts.tolist()))))
    numbers = [math.prod(map(math.comb, counts.tolist(), k)) for k in ones.tolist()]
    found = suprema(counts, ones, design(values, m, intercept))
    return math.log(math.fsum(np.array(numbers) * np.exp(found)))


def two_outcomes(n):
    """Sum of n! / ((n - k)! n^k), k = 0, .., n: all sequences of n binary labels."""
    if n < 300:
        ways = (math.comb(n, k) * k**k * (n - k) ** (n - k) for k in range(n + 1))
        return float(Fraction(sum(ways), n**n))
    # e^n n^-n times the incomplete gamma function of n + 1 from n on
    stirling = 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    upper = float(gammaincc(n + 1.0, n))
    return math.sqrt(2 * math.pi * n) * math.exp(stirling) * upper


def proved_bounds(counts, m, values, intercept):
    """Logs of the boundary sum and of the truncated product of occupied levels."""
    cases = zip(counts, values, strict=True)
    two = [two_outcomes(n) for n, x in cases if n and (x or intercept)]
    p = min(m + intercept, len(two))
    if p == len(two):
        return (math.fsum(map(math.log, two)),) * 2

    def symmetric(terms):
        sums = [1.0] + [0.0] * p
        for term in terms:
            sums = [1.0] + [b + term * a for a, b in pairwise(sums)]
        return sums

    faces = symmetric([c - 2.0 for c in two])
    lower = math.fsum(
        faces[j] * 2 * sum(math.comb(len(two) - j - 1, i) for i in range(p - j))
        for j in range(p)
    )
    return math.log(lower), math.log(math.fsum(symmetric([c - 1.0 for c in two])))
