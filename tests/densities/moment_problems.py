"""Random moment problems on each support, and what MaxEntDensity makes of them.

A problem is the moments of a random law, or moments moved past the edge of what is
possible. Whether it has an answer is decided in exact rational arithmetic (signs of the
pivots of Hankel matrices; on levels a linear programme), and each density that comes
back is integrated by numpy's Gauss rule between places around the real parts of its
turns, many of them: neither shares code with the solver.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from memdlib import MaxEntDensity
from memdlib.densities import (
    InfeasibleMomentsError,
    NotConvergedError,
    Support,
    read_support,
)

SUPPORTS = {
    "[a, b]": read_support((-1.0, 2.0)),
    "[0, inf)": read_support((0.0, np.inf)),
    "(-inf, inf)": read_support((-np.inf, np.inf)),
    "levels": read_support(
        levels=[-1.0, -0.6, -0.5, -0.1, 0.0, 0.2, 0.3, 0.7, 1.0, 1.5, 1.8, 2.0]
    ),
}
OUTCOMES = (
    "matched",
    "no such moments",
    "no maximum",
    "out of reach",
    "refused wrongly",
    "not converged",
    "wrong",
)


@dataclass
class Problem:
    """Moments mu, the support, and a scale for each moment's error."""

    mu: np.ndarray
    support: Support
    possible: bool


def random_problem(rng, name: str) -> Problem:
    """Moments of a random law, one time in five moved past the edge.

    Parameters
    ----------
    rng : numpy.random.Generator
    name : str
        Key of ``SUPPORTS``.

    Returns
    -------
    Problem
    """
    support = SUPPORTS[name]
    if name == "levels":
        m, levels = int(rng.integers(1, 7)), np.array(support.levels)
        p = rng.dirichlet(np.full(len(levels), rng.choice([0.3, 1.0, 3.0])))
        mu = np.array([p @ levels**j for j in range(1, m + 1)])
        x = levels
    else:
        if name == "[a, b]":
            m = int(rng.integers(1, 11))
            x = -1.0 + 3.0 * rng.beta(*rng.uniform(0.4, 6.0, 2), size=(3, 4000))
        elif name == "[0, inf)":
            m = int(rng.integers(1, 9))
            x = rng.gamma(rng.uniform(0.6, 6.0), size=(3, 4000)) ** rng.uniform(0.3, 1)
        else:
            m = 2 * int(rng.integers(1, 5))
            x = rng.normal(size=(3, 4000)) + rng.normal(size=(3, 1)) * rng.uniform(0, 3)
        x = x[rng.choice(3, 4000, p=rng.dirichlet(np.ones(3))), np.arange(4000)]
        x = x[: int(rng.choice([20, 100, 4000]))]
        mu = np.array([np.mean(x**j) for j in range(1, m + 1)])
    if rng.random() < 0.2:
        j = int(rng.integers(m))
        mu[j] += rng.choice([-1.0, 1.0]) * rng.uniform(0, 2) * np.std(x) ** (j + 1)
    return Problem(mu, support, is_possible(mu, support))


def is_possible(mu, support) -> bool:
    """Whether a density, or positive probabilities, can have these power moments.

    Parameters
    ----------
    mu : ndarray of shape (m,)
    support : Support

    Returns
    -------
    bool
    """
    if support.levels is not None:
        levels = np.array(support.levels)
        basis = np.polynomial.chebyshev.chebvander(levels / 2.0, len(mu))
        moments = np.concatenate([[1.0], mu / 2.0 ** np.arange(1, len(mu) + 1)])
        wanted = [
            np.polynomial.chebyshev.cheb2poly(row) @ moments[: j + 1]
            for j, row in enumerate(
                [np.eye(len(mu) + 1)[k, : k + 1] for k in range(len(mu) + 1)]
            )
        ]
        # the largest probability that all levels can have
        least = np.column_stack([basis.T, basis.sum(axis=0)])
        found = linprog([*[0.0] * len(levels), -1.0], A_eq=least, b_eq=wanted)
        return found.status == 0 and found.fun < -1e-9
    s, m = [Fraction(1), *map(Fraction, mu.tolist())], len(mu)
    lower, upper = support.lower, support.upper
    products = [[Fraction(1)]]
    if np.isfinite(lower):
        products.append([-Fraction(lower), Fraction(1)])
    if np.isfinite(upper):
        products.append([Fraction(upper), -Fraction(1)])
    if np.isfinite(lower) and np.isfinite(upper):
        a, b = Fraction(lower), Fraction(upper)
        products.append([-a * b, a + b, -Fraction(1)])
    return all(
        _positive_definite(
            [
                [
                    sum(c * s[i + j + k] for k, c in enumerate(factor))
                    for j in range((m - len(factor) + 1) // 2 + 1)
                ]
                for i in range((m - len(factor) + 1) // 2 + 1)
            ]
        )
        for factor in products
        if m >= len(factor) - 1
    )


def _positive_definite(matrix) -> bool:
    """Gaussian elimination in rational numbers."""
    matrix = [row[:] for row in matrix]
    for i, row in enumerate(matrix):
        if row[i] <= 0:
            return False
        for below in matrix[i + 1 :]:
            share = below[i] / row[i]
            for k in range(i, len(row)):
                below[k] -= share * row[k]
    return True


def judge(problem: Problem) -> str:
    """Solve a problem, and judge the answer or the refusal.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    str
        One of ``OUTCOMES``.
    """
    m = len(problem.mu)
    try:
        density = MaxEntDensity(m, support=problem.support).from_moments(problem.mu)
    except NotConvergedError:
        return "not converged" if problem.possible else "no such moments"
    except InfeasibleMomentsError as error:
        if not problem.possible:
            return "no such moments"
        if "maximum" not in str(error):
            return "refused wrongly"
        return "no maximum" if is_unattained(problem) else "out of reach"
    return "matched" if problem.possible and is_matched(density, problem) else "wrong"


def is_unattained(problem: Problem) -> bool:
    """Whether fewer moments have a density whose highest moment is smaller.

    That is Junk's condition for an entropy without a maximum: with one moment less on a
    half-line and two on the line, the density of largest entropy has all moments but
    the highest.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    bool
    """
    step = 1 if np.isfinite(problem.support.lower) else 2
    fewer, m = problem.mu[:-step], len(problem.mu)
    try:
        plain = MaxEntDensity(len(fewer), support=problem.support).from_moments(fewer)
    except (InfeasibleMomentsError, NotConvergedError):
        return False
    moments = integrate(plain, m)[1:]
    size = plain.std() ** np.arange(1, m + 1)
    missing = (problem.mu - moments) / size
    return bool(missing[-1] > -1e-6 and np.abs(missing[:-1]).max() < 1e-5)


def integrate(density: MaxEntDensity, m: int) -> np.ndarray:
    """Moments 0..m about zero by sums between places around the turns of a density.

    Parameters
    ----------
    density : MaxEntDensity
    m : int

    Returns
    -------
    ndarray of shape (m + 1,)
    """
    slope = np.polynomial.Polynomial(
        density.natural_params_ * np.arange(1, len(density.natural_params_) + 1)
    )
    support = read_support(density.support)
    mean, sd = density.mean(), density.std()
    turns = [mean, *slope.roots().real]
    steps = sd * np.sinh(np.linspace(-9.0, 9.0, 91)) / 80.0
    cuts = np.unique(np.clip(np.add.outer(turns, steps), support.lower, support.upper))
    half = 0.5 * np.diff(cuts)[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x = (cuts[:-1, None] + half * (nodes + 1.0)).ravel()
    return (half * weights).ravel() * density.pdf(x) @ x[:, None] ** np.arange(m + 1)


def is_matched(density: MaxEntDensity, problem: Problem) -> bool:
    """Whether a density is proper and has the moments, by independent sums.

    Parameters
    ----------
    density : MaxEntDensity
    problem : Problem

    Returns
    -------
    bool
    """
    m = len(problem.mu)
    wanted = np.concatenate([[1.0], problem.mu])
    if problem.support.levels is not None:
        levels = np.array(problem.support.levels)
        found = density.pdf(levels) @ levels[:, None] ** np.arange(m + 1)
        return np.allclose(found, wanted, rtol=1e-8, atol=1e-8)
    lead = density.natural_params_[-1]
    if np.isinf(problem.support.upper) and not lead > 0:
        return False
    return np.allclose(integrate(density, m), wanted, rtol=1e-6, atol=1e-8)


def outcomes(name: str, n_problems: int, seed: int = 0) -> dict[str, int]:
    """Outcomes of random problems on a support.

    Parameters
    ----------
    name : str
        Key of ``SUPPORTS``.
    n_problems : int
    seed : int, default=0

    Returns
    -------
    dict of str to int
        Number of problems by outcome.
    """
    rng = np.random.default_rng([97, seed, list(SUPPORTS).index(name)])
    found = [judge(random_problem(rng, name)) for _ in range(n_problems)]
    return {outcome: found.count(outcome) for outcome in OUTCOMES}
