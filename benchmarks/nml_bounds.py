"""Random complexities against the two sums that bound them, by their formulas.

A call has random counts from single samples to 10^11 a level, random level values of
any scale, offset and spacing, and one of the ways to a number. The bounds are sums of
integers, or incomplete gamma functions, and share no code with the package.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from scipy.special import gammaincc

from memdlib.nml import complexity, conditional_complexity_estimate

# Calls with a seed of their own.
BLOCK = 50
# Of ten calls, how many leave the way to the package.
METHODS = ("auto",) * 9 + ("monte-carlo",)
# Terms that an exact sum may have, so that many calls are made, and draws, as many as
# are needed to trust most of them.
MOST_TERMS, N_DRAWS = 2**18, 2**11
# Nats by which a bound, a sum of a hundred logarithms or so, may be rounded.
SLACK = 1e-10


class Call(NamedTuple):
    """Arguments of `conditional_complexity_estimate`."""

    level_counts: list[int]
    n_moments: int
    level_values: list[float]
    intercept: bool
    method: str


def random_call(rng) -> Call:
    """Counts, values and a way.

    Parameters
    ----------
    rng : numpy.random.Generator

    Returns
    -------
    Call
    """
    n_levels = int(rng.integers(1, 11))
    largest = 10.0 ** rng.choice([rng.uniform(0.0, 1.3), rng.uniform(0.0, 11.0)])
    counts = rng.integers(0, max(2, int(largest)), n_levels, endpoint=True)
    counts[rng.integers(n_levels)] += 1
    if rng.random() < 0.2:
        # a few samples beside many
        few = rng.random(n_levels) < 0.5
        counts[few] = np.minimum(counts[few], rng.integers(1, 4, few.sum()))
    values = [
        np.arange(1.0, n_levels + 1),
        np.arange(n_levels) - rng.integers(n_levels) + 0.0,
        np.arange(1.0, n_levels + 1) ** 2,
        rng.permutation(rng.normal(size=n_levels)),
        rng.uniform(size=n_levels) * 10.0 ** rng.integers(-6, 7),
        1e3 + rng.uniform(size=n_levels),
    ][rng.integers(6)]
    method = METHODS[rng.integers(len(METHODS))]
    m, intercept = int(rng.integers(1, 8)), bool(rng.integers(2))
    return Call(counts.tolist(), m, values.tolist(), intercept, method)


@lru_cache(maxsize=4096)
def two_outcomes(n: int) -> float:
    """Sum of the maximised likelihoods of all sequences of n binary labels.

    Parameters
    ----------
    n : int

    Returns
    -------
    float

    Notes
    -----
    The sum of n! / ((n - k)! n^k), k = 0, .., n, is e^n n^-n times the incomplete gamma
    function of n + 1 from n on.

    Examples
    --------
    >>> two_outcomes(2), round(two_outcomes(300) - two_outcomes(299), 6)
    (2.5, 0.036201)
    """
    if n < 300:
        ways = (math.comb(n, k) * k**k * (n - k) ** (n - k) for k in range(n + 1))
        return float(Fraction(sum(ways), n**n))
    stirling = 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
    upper = float(gammaincc(n + 1.0, n))
    return math.sqrt(2 * math.pi * n) * math.exp(stirling) * upper


def proved_bounds(counts: list[int], dimension: int) -> tuple[float, float]:
    """Boundary sum and truncated product of occupied levels.

    Parameters
    ----------
    counts : list of int
        Positive.
    dimension : int
        Parameters of the model; the number of levels or more if it is saturated.

    Returns
    -------
    lower, upper : float
        Nats.

    Examples
    --------
    >>> lower, upper = proved_bounds([40] * 5, 1)
    >>> round(lower, 4), round(upper, 4)
    (0.6931, 3.6647)
    """
    two, p = [two_outcomes(n) for n in counts], dimension
    if p >= len(two):
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
    upper = math.fsum(symmetric([c - 1.0 for c in two]))
    return math.log(lower) if p else 0.0, math.log(upper)


def judge(call: Call) -> str:
    """The way that a number was found and on which side of its bounds it is.

    Parameters
    ----------
    call : Call

    Returns
    -------
    str
        A way alone if the number is inside; else with "below", "above" or "refused".
    """
    try:
        with mock.patch.object(complexity, "MOST_TERMS", MOST_TERMS):
            found = conditional_complexity_estimate(*call, n_draws=N_DRAWS)
    except ValueError:
        return f"{call.method} refused"
    cases = zip(call.level_counts, call.level_values, strict=True)
    counts = [n for n, x in cases if n and (x or call.intercept)]
    dimension = min(call.n_moments + call.intercept, len(counts))
    lower, upper = proved_bounds(counts, dimension) if counts else (0.0, 0.0)
    side = ""
    if not found.complexity >= lower - SLACK:
        side = " below"
    elif not found.complexity <= upper + SLACK:
        side = " above"
    if side or not 0.0 <= found.uncertainty < math.inf:
        side = side or " without an error"
        print(f"{call} is {found}, outside of {lower!r} to {upper!r}", flush=True)
    return found.method + side


def outcomes(block: int, n_calls: int = BLOCK) -> Counter[str]:
    """How many of the calls of one block had which outcome.

    Parameters
    ----------
    block : int
        Seed.
    n_calls : int, default=50

    Returns
    -------
    Counter
    """
    rng = np.random.default_rng([98, block])
    return Counter(judge(random_call(rng)) for _ in range(n_calls))


def main(n_calls: int = 1000, n_jobs: int = 1) -> None:
    """Print a table, way by way.

    Parameters
    ----------
    n_calls : int, default=1000
        Rounded up to whole blocks of fifty.
    n_jobs : int, default=1
        Processes.
    """
    blocks = range(-(-n_calls // BLOCK))
    tables = Parallel(n_jobs)(delayed(outcomes)(block) for block in blocks)
    found = sum(tables, Counter())
    sides = ("refused", "below", "above", "without an error")
    print(f"{'way':14}{'inside':>9}" + "".join(f"{side:>18}" for side in sides))
    ways = sorted({name.split()[0] for name in found})
    for way in ways:
        numbers = [found[f"{way} {side}"] for side in sides]
        print(f"{way:14}{found[way]:9}" + "".join(f"{n:18}" for n in numbers))
    total = [sum(found[way] for way in ways)]
    total += [sum(found[f"{way} {side}"] for way in ways) for side in sides]
    print(f"{'all':14}{total[0]:9}" + "".join(f"{n:18}" for n in total[1:]))
