"""Complexities of hostile models against mpmath, and the errors that are claimed.

Level values lie over some decades, some of them nearly equal, with one parameter to one
less than there are levels, and with few samples or many at a level. What is found is
compared with sums in sixty digits, which share with the package only where each maximum
starts.
"""

import math
from collections import Counter
from itertools import combinations, product
from typing import NamedTuple

import mpmath
import numpy as np

from memdlib.nml import conditional_complexity_estimate
from memdlib.nml.complexity import solve
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import level_model, orthonormal_basis

# Models with a seed of their own.
BLOCK = 25
# Most vectors of label counts of a model, half a second of mpmath or so.
MOST_VECTORS = 250
DIGITS = 60
# Gain of a step, in nats, that is nothing, and the most steps.
GAIN, STEPS = mpmath.mpf(10) ** -25, 200


class Hostile(NamedTuple):
    """Arguments of `conditional_complexity_estimate`."""

    level_counts: list[int]
    n_moments: int
    level_values: list[float]
    intercept: bool


def random_model(rng) -> Hostile:
    """Levels of a model that is not saturated.

    Parameters
    ----------
    rng : numpy.random.Generator

    Returns
    -------
    Hostile
    """
    while True:
        intercept = bool(rng.integers(2))
        n_levels = int(rng.integers(2 + intercept, 7))
        most = n_levels - 1 - intercept
        m = int(rng.choice([rng.integers(1, most + 1), most]))
        size = 10.0 ** rng.uniform(0, rng.uniform(0, 7), n_levels)
        values = size * rng.choice([1.0, rng.choice([-1.0, 1.0])], n_levels)
        if rng.random() < 0.2:
            values = np.round(values)
        if rng.random() < 0.3:
            values[1] = values[0] * (1.0 + 10.0 ** -rng.uniform(1, 6))
        counts = rng.integers(1, 9, n_levels)
        if rng.random() < 0.3:
            counts[rng.integers(n_levels)] = 10 ** rng.uniform(1, 2.5)
        while np.prod(counts + 1.0) > MOST_VECTORS and counts.max() > 1:
            largest = counts.argmax() if rng.random() < 0.3 else counts.argsort()[-2]
            counts[largest] = max(1, counts[largest] // 2)
        if len(set(values.tolist())) < n_levels:
            continue
        try:
            level_model(counts, values, min(m, 5), intercept)
        except ValueError:
            # levels that are too uneven are refused
            continue
        return Hostile(counts.tolist(), min(m, 5), values.tolist(), intercept)


def is_interior(pattern, signs, dimension: int) -> bool:
    """Whether no polynomial of the model has the sign of every pure level, or is zero.

    Parameters
    ----------
    pattern : sequence of int
        -1, 0 (mixed) or 1 for each level, in increasing order of their values.
    signs : sequence of int
        Of the factor that all polynomials share, 1 or x, at each level.
    dimension : int

    Returns
    -------
    bool

    Notes
    -----
    Such a polynomial changes sign at fewer than ``dimension`` places, and is zero at
    every mixed level: all choices of its zeros, at levels or between them, are tried.
    """
    n_levels = len(pattern)
    # a zero at level i is at 2 i, one between i and i + 1 at 2 i + 1
    for n_zeros in range(dimension):
        for zeros in combinations(range(2 * n_levels - 1), n_zeros):
            first = [
                sign
                * (-1) ** sum(zero < 2 * i for zero in zeros)
                * (2 * i not in zeros)
                for i, sign in enumerate(signs)
            ]
            for way in (1, -1):
                pairs = zip(first, pattern, strict=True)
                if any(first) and all(
                    side == 0 or way * side == kind for side, kind in pairs
                ):
                    return False
    return True


def supremum(x, factor, dimension: int, counts, ones, logits):
    """Log-likelihood where no further step of Newton's gains 1e-25.

    Parameters
    ----------
    x : list of mpf
        Level values.
    factor : list of mpf
        What all polynomials share at each level, 1 or x.
    dimension : int
    counts, ones : sequence of int
    logits : list of float
        Where to start.

    Returns
    -------
    mpf

    Notes
    -----
    Weights of exp(-10000) beside others leave no digit in powers of x. So the unknowns
    of each step are the logits at levels of large weights, far from each other.
    """
    levels = range(len(x))

    def value(eta):
        return -mpmath.fsum(
            k * mpmath.log1p(mpmath.exp(-e)) + (n - k) * mpmath.log1p(mpmath.exp(e))
            for n, k, e in zip(counts, ones, eta, strict=True)
        )

    eta = [mpmath.mpf(float(e)) for e in logits]
    for _ in range(STEPS):
        share = [1 / (1 + mpmath.exp(-e)) for e in eta]
        other = [1 / (1 + mpmath.exp(e)) for e in eta]
        weight = [n * p * q for n, p, q in zip(counts, share, other, strict=True)]
        score, pivots = [w * f * f for w, f in zip(weight, factor, strict=True)], []
        for _ in range(dimension):
            pivots.append(max(levels, key=score.__getitem__))
            score = [
                s * (v - x[pivots[-1]]) ** 2 for s, v in zip(score, x, strict=True)
            ]
        basis = [
            [
                factor[i]
                / factor[s]
                * mpmath.fprod((x[i] - x[t]) / (x[s] - x[t]) for t in pivots if t != s)
                for s in pivots
            ]
            for i in levels
        ]
        # rounding of the start, or of a step, leaves the model
        eta = [mpmath.fdot(row, (eta[s] for s in pivots)) for row in basis]
        reached = value(eta)
        residual = [
            k / (1 + mpmath.exp(e)) - (n - k) / (1 + mpmath.exp(-e))
            for n, k, e in zip(counts, ones, eta, strict=True)
        ]
        root = [mpmath.sqrt(weight[s]) for s in pivots]
        scaled = [[c / r for c, r in zip(row, root, strict=True)] for row in basis]
        columns = list(zip(*scaled, strict=True))
        gram = mpmath.matrix(
            [
                [
                    mpmath.fsum(
                        w * a * b for w, a, b in zip(weight, one, two, strict=True)
                    )
                    for two in columns
                ]
                for one in columns
            ]
        )
        slope = mpmath.matrix([mpmath.fdot(column, residual) for column in columns])
        change = list(mpmath.lu_solve(gram, slope))
        if mpmath.fdot(change, slope) < GAIN:
            return reached
        move = [mpmath.fdot(row, change) for row in scaled]
        length = mpmath.mpf(1)
        while value([e + length * d for e, d in zip(eta, move, strict=True)]) < reached:
            length /= 4
        eta = [e + length * d for e, d in zip(eta, move, strict=True)]
    raise ArithmeticError(f"no maximum of {ones} among {counts} in {STEPS} steps")


def reference(call: Hostile) -> float:
    """Log complexity as a sum over all label counts, in sixty digits.

    Parameters
    ----------
    call : Hostile

    Returns
    -------
    float
    """
    counts, m, values, intercept = call
    order = [i for i in np.argsort(values).tolist() if intercept or values[i]]
    n, x = [counts[i] for i in order], [values[i] for i in order]
    signs = [1 if intercept or v > 0 else -1 for v in x]
    dimension = min(m + intercept, len(x))
    inside = {
        pattern: dimension < len(x) and is_interior(pattern, signs, dimension)
        for pattern in product((-1, 0, 1), repeat=len(x))
    }
    ones, interior = list(product(*(range(c + 1) for c in n))), []
    for k in ones:
        pattern = tuple((a == c) - (a == 0) for a, c in zip(k, n, strict=True))
        if inside[pattern]:
            interior.append(k)
    half = [k for k in interior if k <= tuple(c - a for a, c in zip(k, n, strict=True))]
    starts = {}
    if half:
        model = level_model(np.array(counts), np.array(values), m, intercept)
        basis, first = orthonormal_basis(model), np.array(half, float).T
        logits = (
            basis @ max_log_likelihoods(model, basis, model.counts[:, None], first)[1]
        )
        starts = dict(zip(half, logits.T, strict=True))
    with mpmath.workdps(DIGITS):
        scale = max(map(abs, x), default=1.0)
        exact = [mpmath.mpf(v) / scale for v in x]
        factor = [mpmath.mpf(1)] * len(x) if intercept else exact
        found = {k: supremum(exact, factor, dimension, n, k, starts[k]) for k in half}
        total = mpmath.mpf(0)
        for k in ones:
            mirror = tuple(c - a for a, c in zip(k, n, strict=True))
            value = found.get(min(k, mirror))
            if value is None:
                value = mpmath.fsum(
                    a * mpmath.log(mpmath.mpf(a) / c)
                    for pair, c in zip(zip(k, mirror, strict=True), n, strict=True)
                    for a in pair
                    if a
                )
            ways = math.prod(map(math.comb, n, k))
            total += ways * mpmath.exp(value)
        return float(mpmath.log(total))


def outcomes(block: int, n_models: int = BLOCK) -> Counter[str]:
    """How many claims of one block keep their word, by the way to them.

    Parameters
    ----------
    block : int
        Seed.
    n_models : int, default=25

    Returns
    -------
    Counter
        "enumeration", say, or "enumeration beyond".
    """
    rng, found = np.random.default_rng([30, block]), Counter()
    for _ in range(n_models):
        call = random_model(rng)
        truth = reference(call)
        solve.cache_clear()
        counts, m, values, intercept = call
        claim = conditional_complexity_estimate(
            counts, m, level_values=values, intercept=intercept
        )
        found[judged(claim, truth, call)] += 1
    return found


def judged(claim: NamedTuple, truth: float, call: tuple) -> str:
    """The way to a claim, and "beyond" if the truth is further away than it says.

    Parameters
    ----------
    claim : NamedTuple
        With ``complexity``, ``uncertainty`` and ``method``.
    truth : float
    call : tuple
        Printed with a claim that does not keep its word.

    Returns
    -------
    str
    """
    # a double next to the truth may be half a unit of its last place away
    slack = 2.0**-52 * max(1.0, truth)
    if abs(claim.complexity - truth) <= claim.uncertainty + slack:
        return claim.method
    print(f"{call}: {claim}, truth {truth!r}", flush=True)
    return f"{claim.method} beyond"
