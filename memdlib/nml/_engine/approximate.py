"""Approximate complexity of the conditional model, where exact sums are out of reach.

Rissanen's volume under the Jeffreys prior, the same with the share of the facets of the
parameter space, and an unbiased estimate by quasi-random draws with a standard error.
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy
from scipy.stats import qmc

from memdlib.nml._engine.level_model import LevelModel, orthonormal_basis
from memdlib.nml._engine.logit_fit import LogitSolver
from memdlib.nml._engine.saturated import (
    log_multinomial_sum,
    saturated_complexity,
    saturated_log_likelihood,
)
from memdlib.nml._engine.separation import elementary_symmetric, on_boundary

Array = NDArray[np.float64]

_REPLICATES = 16
_MOST_SUBSETS = 5000


def fisher_complexity(
    model: LevelModel, facets: bool = True, n_points: int = 2**13
) -> float:
    """Log of Rissanen's volume, the integral of the root of the Fisher information.

    Parameters
    ----------
    model : LevelModel
    facets : bool, default=True
        Add two thirds of the saturated volumes of dimension p - 1. This is derived by
        analogy with one level, and found right to about 0.01 nats where p is at most
        3 and levels hold several samples; it is no bound. Without it the volume is 0.1
        to 0.8 nats too small at 38 samples.
    n_points : int, default=8192
        Points of the quadrature, a power of two.

    Returns
    -------
    float
        Nats.

    Raises
    ------
    ValueError
        If there are too many subsets of p levels.

    Notes
    -----
    By Cauchy and Binet the determinant of the information is a sum of squares a_S^2
    over the sets S of p levels, and the integral of a_S alone is the product over S of
    pi sqrt(n_l). So the volume is e_p(sqrt(pi n_l / 2)), an elementary symmetric
    polynomial, times the mean of sqrt(sum a_S^2) / sum a_S, which lies between
    binom(L, p)^(-1/2) and 1 and is integrated with Sobol points.

    References
    ----------
    .. [1] J. Rissanen, Fisher information and stochastic complexity, IEEE Transactions
       on Information Theory 42, 1996.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 2, intercept=False)
    >>> round(fisher_complexity(model), 2), round(fisher_complexity(model, False), 2)
    (5.74, 5.65)
    """
    n_levels, p = len(model.counts), model.dimension
    if p == 0:
        return 0.0
    if math.comb(n_levels, p) > _MOST_SUBSETS:
        raise ValueError(
            f"{math.comb(n_levels, p)} sets of {p} of {n_levels} levels are too many; "
            'use method="monte-carlo"'
        )
    volumes = elementary_symmetric(np.sqrt(math.pi * model.counts / 2), p)
    volume = volumes[p] * _share_of_volume(model, n_points)
    return math.log(volume + (2.0 / 3.0 * volumes[p - 1] if facets else 0.0))


def _share_of_volume(model: LevelModel, n_points: int) -> float:
    """Mean of sqrt(sum a_S^2) / sum a_S."""
    p = model.dimension
    subsets = np.array(list(combinations(range(len(model.counts)), p)))
    basis = orthonormal_basis(model)
    inverses = np.linalg.inv(basis[subsets])
    points = qmc.Sobol(p + 1, scramble=True, rng=0).random(n_points)
    weight = np.sqrt(model.counts)[subsets].prod(axis=1)
    chosen = np.searchsorted(np.cumsum(weight)[:-1] / weight.sum(), points[:, 0])
    # the logit of a Beta(1/2, 1/2) variable, sin^2 of a uniform angle
    angle = math.pi / 2 * np.clip(points[:, 1:], 1e-12, 1 - 1e-12)
    drawn = 2.0 * np.log(np.tan(angle))
    logits = np.einsum("lj,njk,nk->nl", basis, inverses[chosen], drawn)
    half_log_weight = 0.5 * np.log(model.counts) - np.logaddexp(
        0.5 * logits, -0.5 * logits
    )
    size = np.log(np.abs(np.linalg.det(basis[subsets])))
    parts = size + half_log_weight[:, subsets].sum(axis=2)
    parts = np.exp(parts - parts.max(axis=1, keepdims=True))
    return float((np.sqrt((parts**2).sum(axis=1)) / parts.sum(axis=1)).mean())


def monte_carlo_complexity(
    model: LevelModel, n_draws: int = 2**18, seed: int = 0
) -> tuple[float, float]:
    """Log of an unbiased estimate of the complexity, with its standard error.

    Parameters
    ----------
    model : LevelModel
    n_draws : int, default=262144
        Draws in all, rounded up to 16 times a power of two.
    seed : int, default=0

    Returns
    -------
    log_complexity, standard_error : float
        Nats.

    Notes
    -----
    The labels of each level are drawn from the NML distribution of the saturated model;
    the mean of exp(supremum - saturated supremum), which is 1 on the boundary and less
    inside, is the ratio of both complexities. The draws are 16 independently scrambled
    Sobol sequences, whose scatter gives the standard error.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(1.0, 6.0), 4, intercept=False)
    >>> value, error = monte_carlo_complexity(model, 2**14)
    >>> abs(value - 6.6753273094) < 5 * error, error < 0.01
    (True, True)
    """
    saturated = saturated_complexity(model)
    if model.saturated:
        return saturated, 0.0
    log_each = max(0, math.ceil(math.log2(n_draws / _REPLICATES)))
    cumulated = [_level_law(int(n)) for n in model.counts]
    solver = LogitSolver.of(model)
    means = []
    for rng in np.random.default_rng(seed).spawn(_REPLICATES):
        sobol = qmc.Sobol(len(model.counts), scramble=True, rng=rng)
        points = sobol.random_base2(log_each).T
        ones = np.array(
            [np.searchsorted(c, u) for c, u in zip(cumulated, points, strict=True)],
            dtype=np.float64,
        )
        inside = ones[:, ~on_boundary(model, ones)]
        reference = saturated_log_likelihood(model.counts[:, None], inside)
        ratios = np.exp(solver.log_likelihood(inside) - reference)
        means.append((ratios.sum() + ones.shape[1] - ratios.size) / ones.shape[1])
    mean = float(np.mean(means))
    error = float(np.std(means, ddof=1)) / math.sqrt(_REPLICATES)
    return saturated + math.log(mean), error / mean


def _level_law(n: int) -> Array:
    """Distribution function of the labels 1 of n under the NML distribution."""
    k = np.arange(n)
    log_law = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_law += xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    return np.cumsum(np.exp(log_law - log_multinomial_sum(n, 2)))
