"""Approximate complexity of the conditional model, where exact sums are out of reach.

Rissanen's volume under the Jeffreys prior, and the same with the share of the facets of
the parameter space.
"""

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from memdlib.nml._engine.boundary import elementary_symmetric
from memdlib.nml._engine.level_model import LevelModel, orthonormal_basis

Array = NDArray[np.float64]

MOST_SUBSETS = 5000
# Entries of a table of points and sets of levels that is held at a time.
_ENTRIES = 2**21


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
    if math.comb(n_levels, p) > MOST_SUBSETS:
        raise ValueError(
            f"{math.comb(n_levels, p)} sets of {p} of {n_levels} levels are too many; "
            'use method="auto"'
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
    size = np.linalg.slogdet(basis[subsets])[1]
    total = 0.0
    step = max(1, _ENTRIES // subsets.size)
    for at in range(0, n_points, step):
        parts = size + half_log_weight[at : at + step][:, subsets].sum(axis=2)
        parts = np.exp(parts - parts.max(axis=1, keepdims=True))
        total += float((np.sqrt((parts**2).sum(axis=1)) / parts.sum(axis=1)).sum())
    return total / n_points
