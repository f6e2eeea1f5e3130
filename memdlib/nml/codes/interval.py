"""Densities on the unit interval, and the NML code lengths of samples under them.

All models here are of values in [0, 1] that are known to a precision, and code lengths
are those of densities with respect to the same Lebesgue measure, so that they compare.
None of the models resolves anything finer than the precision.

*Normal.* Mean in [0, 1], and the standard deviation s in an octave 2^-(j+1) <= s <=
2^-j of those above the precision, which is said first: the complexity of that range is
exact.

*Transformed normal.* The same of z = log(1 + t u) / log(1 + t), or of its mirror image,
with one of ten strengths t. As the map is fixed, the complexity is that of the normal
model of z, and the code length changes by the logarithms of its slopes.

*Moments.* Up to 64 cells of equal width, no narrower than the precision, on each of
which the density is even: maximum entropy with m moments of the cell, p = exp(-lambda_0
- lambda . phi), with polynomials phi that are orthonormal under the uniform law, and
|lambda| <= 16, the standard deviation of log p under that law. The complexity is the
leading term for many values,

    m / 2 log(n / 2 pi) + log of the integral of sqrt(det Cov phi) over the ball,

which is above the exact one, by less than half a nat from ten values on.

*Histogram.* :mod:`memdlib.nml.codes.histogram`, on the same cells.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, lgamma, log, log2, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from memdlib.densities.moment_problem import evaluate_dual, solve_dual
from memdlib.nml.codes.alphabet import is_boundary
from memdlib.nml.codes.families import gaussian_complexity
from memdlib.nml.codes.histogram import optimal_histograms
from memdlib.validation import check_integer

Array = NDArray[np.float64]

STRENGTHS = tuple(sign * 4.0**power for sign in (1, -1) for power in range(5))
MOST_MOMENTS = 4
NAMES = (
    "normal",
    *(f"transformed {t:+g}" for t in STRENGTHS),
    *(f"moments {m}" for m in range(1, MOST_MOMENTS + 1)),
    "histogram",
)

# Largest |lambda|, cells of a grid, bins of a histogram.
_RADIUS, _CELLS, _BINS = 16.0, 64, 16
# Draws of integrals over the ball.
_DRAWS = 2**12
# Largest moment residual of a density.
_RESIDUAL = 1e-9


def stretch(u: ArrayLike, strength: float) -> tuple[Array, Array]:
    """Map the unit interval onto itself by a logarithm.

    Parameters
    ----------
    u : array_like
        In [0, 1].
    strength : float
        t: above zero it spreads small values, log(1 + t u) / log(1 + t); below zero
        large ones, by the mirror image for -t; zero leaves u as it is.

    Returns
    -------
    z : ndarray
    log_slope : ndarray
        Log dz / du.

    Examples
    --------
    >>> z, log_slope = stretch([0.0, 0.2, 1.0], 15.0)
    >>> z.round(3).tolist(), float(np.exp(log_slope[0]).round(3))
    ([0.0, 0.5, 1.0], 5.41)
    """
    u = np.asarray(u, dtype=np.float64)
    if strength == 0:
        return u, np.zeros_like(u)
    if strength < 0:
        z, log_slope = stretch(1.0 - u, -strength)
        return 1.0 - z, log_slope
    reach = np.log1p(strength)
    part = np.log1p(strength * u)
    return part / reach, log(strength / reach) - part


@lru_cache(maxsize=256)
def cell_polynomials(cells: int, n_moments: int) -> Array:
    """Polynomials of the cell, orthonormal under the uniform law on all, without 1.

    Parameters
    ----------
    cells : int
        At least two more than ``n_moments``.
    n_moments : int

    Returns
    -------
    ndarray of shape (cells, n_moments)

    Examples
    --------
    >>> P = cell_polynomials(4, 2)
    >>> np.allclose(P.T @ P / 4, np.eye(2)), np.allclose(P.sum(axis=0), 0)
    (True, True)
    """
    middle = (np.arange(cells) + 0.5) / cells
    powers = np.polynomial.legendre.legvander(2.0 * middle - 1.0, n_moments)
    return np.linalg.qr(powers)[0][:, 1:] * np.sqrt(cells)


def moments_complexity(n: int, n_moments: int, cells: int = _CELLS) -> float:
    """Complexity of maximum entropy with m moments on cells of [0, 1], for n large.

    Parameters
    ----------
    n : int
        Number of values.
    n_moments : int
        m.
    cells : int, default=64
        At least m + 2.

    Returns
    -------
    float
        Nats: m / 2 log(n / 2 pi) and the log volume of the ball of natural parameters
        in units of the Fisher information, found to a few hundredths.

    Raises
    ------
    ValueError
        If an argument is not an integer, or too small.

    Notes
    -----
    For m = 1 :func:`memdlib.nml.truncated_exponential_complexity` is exact for cells of
    no width, and less by 0.013 at n = 10. For more moments the difference is the
    larger, the fewer the values; estimates by importance sampling are below by 0.1 (m =
    2), 0.2 (m = 3) and 0.5 (m = 4) at n = 10.

    References
    ----------
    .. [1] J. Rissanen, Fisher information and stochastic complexity, IEEE Transactions
       on Information Theory 42(1), 1996.

    Examples
    --------
    >>> round(moments_complexity(10, 1), 2)
    2.21
    """
    n, m = check_integer(n, "n"), check_integer(n_moments, "n_moments")
    cells = check_integer(cells, "cells", minimum=m + 2)
    return 0.5 * m * log(n / (2.0 * pi)) + _log_volume(cells, m)


@lru_cache(maxsize=256)
def _log_volume(cells: int, m: int) -> float:
    """Log integral of sqrt(det Cov phi) over the ball of natural parameters."""
    features = cell_polynomials(cells, m)
    draws = qmc.Sobol(m + 1, rng=0).random(_DRAWS)
    direction = ndtri(np.clip(draws[:, :m], 1e-12, 1.0 - 1e-12))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    # most of the volume lies where the radius is small
    reach = np.log1p(_RADIUS)
    radius = np.expm1(reach * draws[:, m])
    sphere = log(2.0) + 0.5 * m * log(pi) - lgamma(0.5 * m)
    lam = direction * radius[:, None]
    _, mean, p = evaluate_dual(features, np.zeros(cells), np.zeros_like(lam), lam)
    centred = features - mean[:, None]
    covariance = np.einsum("bn,bni,bnj->bij", p, centred, centred)
    terms = 0.5 * np.linalg.slogdet(covariance)[1] + (m - 1) * np.log(radius)
    terms += np.log(reach) + np.log1p(radius)
    return float(sphere + logsumexp(terms) - log(_DRAWS))


@dataclass(frozen=True)
class NormalColumns:
    """Normal densities of mapped values, a column each.

    Parameters
    ----------
    strength : float
        Of the map, zero for none.
    mean, deviation : ndarray of shape (d,)
    codelengths : ndarray of shape (d,)
        Nats; infinite where a column has no such code.
    """

    strength: float
    mean: Array
    deviation: Array
    codelengths: Array

    @classmethod
    def of(
        cls, u: Array, octaves: NDArray[np.intp], strength: float
    ) -> "NormalColumns":
        """Fit columns u (n, d), known to 2^-octaves of the interval, (d,)."""
        n, d = u.shape
        z, log_slope = stretch(u, strength)
        mean, deviation = z.mean(axis=0), z.std(axis=0)
        # the map spreads what the precision cannot tell apart
        steepest = stretch(0.0, abs(strength))[1] / log(2.0)
        octaves = octaves - ceil(steepest)
        with np.errstate(divide="ignore"):
            octave = np.floor(-np.log2(deviation))
        possible = (octave >= 1) & (octave <= octaves) & (n > 1)
        if not possible.any():
            return cls(strength, mean, np.ones(d), np.full(d, np.inf))
        deviation = np.where(possible, deviation, 1.0)
        complexity = gaussian_complexity(n, mean_range=(0, 1), scale_range=(0.5, 1))
        complexity += np.where(possible, octave, 0) * log(2.0)
        complexity += np.log(np.maximum(octaves, 1))
        error = n * (np.log(deviation) + 0.5 * log(2.0 * pi) + 0.5)
        found = error + complexity - log_slope.sum(axis=0)
        return cls(strength, mean, deviation, np.where(possible, found, np.inf))

    def log_density(self, u: Array, columns: NDArray[np.intp]) -> Array:
        """Log densities of values u (n, q) of some columns, (q,)."""
        z, log_slope = stretch(u, self.strength)
        scale = self.deviation[columns]
        z = (z - self.mean[columns]) / scale
        return log_slope - 0.5 * z * z - np.log(scale) - 0.5 * log(2.0 * pi)


@dataclass(frozen=True)
class CellColumns:
    """Densities that are even on cells of equal width, a column each.

    Parameters
    ----------
    log_heights : list of d ndarray of shape (G,)
        Log density on each of the cells of a column.
    codelengths : ndarray of shape (d,)
        Nats; infinite where a column has no such code.
    """

    log_heights: list[Array]
    codelengths: Array

    def log_density(self, u: Array, columns: NDArray[np.intp]) -> Array:
        """Log densities of values u (n, q) of some columns, (q,)."""
        found = np.empty_like(u)
        for out, v, j in zip(found.T, u.T, columns, strict=True):
            heights = self.log_heights[j]
            out[:] = heights[cell_of(v, len(heights))]
        return found


def cell_of(u: Array, cells: int | NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of so many cells of [0, 1] values lie in."""
    return np.minimum((u * cells).astype(np.intp), cells - 1)


def match_cells(counts: NDArray[np.int64], n_moments: int) -> tuple[Array, Array]:
    """Maximum entropy with some moments of the cell, for columns with as many values.

    Parameters
    ----------
    counts : ndarray of int, shape (d, G)
        Values in each cell.
    n_moments : int

    Returns
    -------
    log_heights : ndarray of shape (d, G)
    codelengths : ndarray of shape (d,)
        Infinite where no density in the ball has the moments, or where m + 2 cells are
        too many.

    Examples
    --------
    >>> heights, lengths = match_cells(np.array([[5, 4, 2, 1]]), 1)
    >>> np.exp(heights).round(2).tolist()
    [[1.82, 1.1, 0.67, 0.41]]
    """
    (d, cells), n = counts.shape, int(counts[0].sum())
    log_heights, lengths = np.zeros((d, cells)), np.full(d, np.inf)
    (possible,) = np.nonzero(~is_boundary(counts, n_moments))
    if not possible.size:
        return log_heights, lengths
    features, even = cell_polynomials(cells, n_moments), np.full(cells, -log(cells))
    with np.errstate(over="ignore"):  # moments next to the boundary
        found = solve_dual(features, even, counts[possible] @ features / n)
    inside = np.linalg.norm(found.natural, axis=1) <= _RADIUS
    inside &= found.residual <= _RESIDUAL
    log_heights[possible] = -found.natural @ features.T
    log_heights[possible] -= found.log_normaliser[:, None]
    error = -(counts[possible] * log_heights[possible]).sum(axis=1)
    total = error + moments_complexity(n, n_moments, cells)
    lengths[possible] = np.where(inside, total, np.inf)
    return log_heights, lengths


Columns = NormalColumns | CellColumns


def fit_columns(u: Array, precision: Array) -> list[Columns]:
    """Fit all models to every column.

    Parameters
    ----------
    u : ndarray of shape (n, d)
        In [0, 1].
    precision : ndarray of shape (d,)
        Distance of values that are told apart, at most 1.

    Returns
    -------
    list
        In the order of ``NAMES``.
    """
    octaves = np.array([ceil(-log2(p)) for p in precision])
    normal = [NormalColumns.of(u, octaves, t) for t in (0.0, *STRENGTHS)]
    cells = np.minimum(np.rint(1.0 / precision), _CELLS).astype(np.intp)
    on_cells: list[CellColumns] = [
        CellColumns([np.zeros(1)] * len(cells), np.full(len(cells), np.inf))
        for _ in range(MOST_MOMENTS + 1)
    ]
    for G in np.unique(cells):
        (columns,) = np.nonzero(cells == G)
        place = cell_of(u[:, columns], G)
        counts = np.array([np.bincount(column, minlength=G) for column in place.T])
        histograms = optimal_histograms(counts, _BINS)
        middle = (np.arange(G) + 0.5) / G
        found = [match_cells(counts, m) for m in range(1, MOST_MOMENTS + 1)]
        found.append(
            (
                np.array([one.log_density(middle) for one in histograms]),
                np.array([one.codelength for one in histograms]),
            )
        )
        for model, (log_heights, lengths) in zip(on_cells, found, strict=True):
            model.codelengths[columns] = lengths
            for j, heights in zip(columns, log_heights, strict=True):
                model.log_heights[j] = heights
    return [*normal, *on_cells]
