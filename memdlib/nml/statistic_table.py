"""Exact complexity by a table over the sufficient statistics, for one or two of them.

Where the level values are integers, up to a common scale, many label sequences share
their sufficient statistics. The table of their numbers is a convolution, level by
level, and one fit for each interior statistic remains.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memdlib.nml.level_model import LevelModel
from memdlib.nml.logit_fit import LogitSolver
from memdlib.nml.separation import boundary_sum

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# The table counts up to 2^n sequences, from 2^(-n / 2) on, in double precision.
_MOST_SAMPLES = 2000
_LARGEST_INTEGER = 10**4
_SAME = 1e-13


@dataclass(frozen=True)
class StatisticLattice:
    """Sufficient statistics as integers: one generator a level, one key a statistic.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    generators : ndarray of shape (L, p)
        What one label 1 at each level adds to the statistics.
    stride : int
        The key of statistics (u, v) is u * stride + v.
    """

    counts: Integers
    generators: Integers
    stride: int

    @property
    def shifts(self) -> Integers:
        """Keys of the generators."""
        if self.generators.shape[1] == 1:
            return self.generators[:, 0]
        return self.generators @ np.array([self.stride, 1])

    @property
    def last_key(self) -> int:
        """Key of the statistics of labels that are all 1."""
        return int(self.counts @ self.shifts)

    def statistics(self, keys: Integers) -> Integers:
        """Statistics of shape (p, B) of the given keys."""
        if self.generators.shape[1] == 1:
            return keys[None, :]
        least = int(self.counts @ np.minimum(self.generators[:, 1], 0))
        second = (keys - least) % self.stride + least
        return np.stack([(keys - second) // self.stride, second])

    def boundary_keys(self) -> Integers:
        """Keys of all statistics on the boundary.

        The boundary is the polygon that the generators build in the order of their
        slopes, and its mirror image.
        """
        if self.generators.shape[1] == 1:
            return np.array([0, self.last_key])
        order = np.argsort(np.arctan2(self.generators[:, 1], self.generators[:, 0]))
        steps = np.repeat(self.shifts[order], self.counts[order])
        return np.concatenate([[0], np.cumsum(steps), np.cumsum(steps[::-1])])


def statistic_lattice(model: LevelModel) -> StatisticLattice | None:
    """Lattice of the sufficient statistics of a model, if a table can hold it.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    StatisticLattice or None
        None for more than two statistics, a saturated model, more than 2000 samples, or
        level values that no scale makes small integers.

    Notes
    -----
    The second statistic is x (x - x_1), divided by what all its values have in common,
    instead of x^2, which keeps the table small. A level whose generator is negative
    has its two labels exchanged, which changes no likelihood.

    Examples
    --------
    >>> from memdlib.nml.level_model import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(0.5, 3.0, 0.5), 2, intercept=False)
    >>> statistic_lattice(model).generators.T.tolist()
    [[1, 2, 3, 4, 5], [0, 1, 3, 6, 10]]
    """
    n = int(model.counts.sum())
    if model.saturated or model.dimension > 2 or n > _MOST_SAMPLES:
        return None
    x = _integers(model.values - (model.values[0] if model.intercept else 0.0))
    if x is None:
        return None
    first = np.ones_like(x) if model.intercept else x
    columns = [first, first * (x - x[0])][: model.dimension]
    generators = np.stack([c // np.gcd.reduce(c) for c in columns], axis=1)
    negative = (generators[:, 0] < 0) | ((generators[:, 0] == 0) & (x < 0))
    generators[negative] *= -1
    counts = model.counts.astype(np.int64)
    stride = int(counts @ np.abs(generators[:, -1])) + 1
    return StatisticLattice(counts, generators, stride)


def table_work(lattice: StatisticLattice) -> float:
    """Additions that the table takes, to compare it with other ways.

    Parameters
    ----------
    lattice : StatisticLattice

    Returns
    -------
    float

    Examples
    --------
    >>> table_work(StatisticLattice(np.array([2, 2]), np.array([[1], [2]]), 1))
    30.0
    """
    order = np.argsort(lattice.shifts)
    sizes = 1 + np.cumsum((lattice.counts * lattice.shifts)[order].astype(np.float64))
    return float(sizes @ (lattice.counts[order] + 1))


def tabulated_complexity(model: LevelModel, lattice: StatisticLattice) -> float:
    """Log complexity by a fit for every interior value of the sufficient statistics.

    Parameters
    ----------
    model : LevelModel
    lattice : StatisticLattice
        Of this model.

    Returns
    -------
    float
        Nats.

    Examples
    --------
    >>> from memdlib.nml.level_model import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 1, intercept=False)
    >>> print(f"{tabulated_complexity(model, statistic_lattice(model)):.10f}")
    3.0330967090
    """
    last = lattice.last_key
    middle = last // 2
    table = _number_of_sequences(lattice, middle + lattice.stride + 1)
    boundary = lattice.boundary_keys()
    table[boundary[boundary < table.size]] = 0.0
    keys = np.flatnonzero(table[: middle + 1])
    number = np.log(table[keys])
    q, r = np.linalg.qr(np.sqrt(model.counts)[:, None] * lattice.generators)
    solver = LogitSolver(model.counts, q / np.sqrt(model.counts)[:, None])
    strides = [lattice.stride, 1][-lattice.generators.shape[1] :]
    slopes = np.array([_log_slope(table, keys, number, s) for s in strides])
    # a count of sequences is nearly exp(entropy), whose slope is minus the parameter
    value = solver.log_likelihood_at(
        np.linalg.solve(r.T, lattice.statistics(keys).astype(np.float64)), -r @ slopes
    )
    terms = np.exp(value + number + _log_scale(lattice))
    # the other half of the keys mirrors this one
    terms[2 * keys != last] *= 2.0
    return math.log(boundary_sum(model) + float(terms.sum()))


def _number_of_sequences(lattice: StatisticLattice, size: int) -> Array:
    """Label sequences with each of the first keys, times 2^(-n / 2)."""
    order = np.argsort(lattice.shifts)
    table = np.array([math.exp(-_log_scale(lattice))])
    for count, shift in zip(
        lattice.counts[order].tolist(), lattice.shifts[order].tolist(), strict=True
    ):
        longer = np.zeros(min(size, table.size + count * shift))
        for k in range(count + 1):
            part = longer[k * shift : k * shift + table.size]
            part += math.comb(count, k) * table[: part.size]
        table = longer
    return table


def _log_scale(lattice: StatisticLattice) -> float:
    return int(lattice.counts.sum()) // 2 * math.log(2.0)


def _log_slope(table: Array, keys: Integers, number: Array, stride: int) -> Array:
    """Slope of the logarithm of the table, from those neighbours that are not zero."""
    slope, sides = np.zeros(keys.size), np.zeros(keys.size)
    for sign in (1, -1):
        at = keys + sign * stride
        neighbour = table[np.clip(at, 0, table.size - 1)]
        there = (at >= 0) & (at < table.size) & (neighbour > 0)
        slope[there] += sign * (np.log(neighbour[there]) - number[there])
        sides += there
    return slope / np.maximum(sides, 1.0)


def _integers(values: Array) -> Integers | None:
    """Integers in the same ratios as the values, with no common factor."""
    unit = np.abs(values[values != 0]).min()
    ratios = [Fraction(float(v)).limit_denominator(1000) for v in values / unit]
    scale = math.lcm(*(r.denominator for r in ratios))
    if max(abs(r * scale) for r in ratios) > _LARGEST_INTEGER:
        return None
    found = np.array([int(r * scale) for r in ratios])
    wrong = np.abs(found / scale - values / unit) > _SAME * np.abs(values / unit)
    return None if wrong.any() else found // np.gcd.reduce(found)
