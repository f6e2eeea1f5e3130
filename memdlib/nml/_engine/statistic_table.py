"""Exact complexity by a table over the sufficient statistics, for one or two of them.

Where the level values are integers, up to a common scale, many label sequences share
their sufficient statistics. The table of their numbers is a convolution, level by
level, and one fit for each interior statistic remains.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine.boundary import boundary_sum
from memdlib.nml._engine.fits import FullSteps, LogitSolver, maximise
from memdlib.nml._engine.level_model import LevelModel
from memdlib.nml._engine.saturated import rounding

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# The table counts up to 2^n sequences, from 2^(-n / 2) on: in double precision to here,
# beyond in the extended one of the machine, if it has any.
_MOST_DOUBLE = 2000
_MOST_SAMPLES = 2 * (np.finfo(np.longdouble).maxexp - 24)
# Rough time of a core for an addition, and how much longer an extended one takes.
_SECONDS_A_SUM, _EXTENDED = 8e-10, 4.0
_LARGEST_INTEGER = 10**4
_SAME = 1e-13
# Keys from which on a rough start for most of them saves time.
_MANY = 20000
# Keys traced back at a time.
_BATCH = 1024


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


class _Tables(NamedTuple):
    """Numbers of label sequences with each key, times 2^(-n / 2).

    The first table is for no level, each further one has a level more, in the ``order``
    of their shifts. All end in a zero, for keys out of the table.
    """

    numbers: list[Array]
    order: Integers
    binomials: list[Array]

    @property
    def last(self) -> Array:
        """Table of all levels, a view."""
        return self.numbers[-1][:-1]


def statistic_lattice(model: LevelModel) -> StatisticLattice | None:
    """Lattice of the sufficient statistics of a model, if a table can hold it.

    Parameters
    ----------
    model : LevelModel

    Returns
    -------
    StatisticLattice or None
        None for more than two statistics, a saturated model, more than 2000 samples
        (32,720 where the machine has extended precision), or level values that no
        scale makes small integers.

    Notes
    -----
    The second statistic is x (x - x_1), divided by what all its values have in common,
    instead of x^2, which keeps the table small. A level whose generator is negative
    has its two labels exchanged, which changes no likelihood.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> counts = np.array([8, 8, 8, 7, 7])
    >>> model = level_model(counts, np.arange(0.5, 3.0, 0.5), 2, intercept=False)
    >>> statistic_lattice(model).generators.T.tolist()
    [[1, 2, 3, 4, 5], [0, 1, 3, 6, 10]]
    """
    n = int(model.counts.sum())
    if model.saturated or model.dimension > 2 or n > _MOST_SAMPLES:
        return None
    origin = model.values[0] if model.intercept else 0.0
    x = _integers(tuple((model.values - origin).tolist()))
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


def table_seconds(lattice: StatisticLattice) -> float:
    """Rough time of the table on one core.

    Parameters
    ----------
    lattice : StatisticLattice

    Returns
    -------
    float

    Examples
    --------
    >>> table_seconds(StatisticLattice(np.array([2, 2]), np.array([[1], [2]]), 1)) < 1
    True
    """
    extended = lattice.counts.sum() > _MOST_DOUBLE
    return table_work(lattice) * _SECONDS_A_SUM * (_EXTENDED if extended else 1.0)


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

    Raises
    ------
    ValueError
        If a maximum cannot be found and certified.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 1, intercept=False)
    >>> print(f"{tabulated_complexity(model, statistic_lattice(model)):.10f}")
    3.0330967090
    """
    return tabulate(model, lattice)[0]


def tabulate(model: LevelModel, lattice: StatisticLattice) -> tuple[float, float]:
    """Log complexity as in `tabulated_complexity`, and its uncertainty.

    Parameters
    ----------
    model : LevelModel
    lattice : StatisticLattice

    Returns
    -------
    log_complexity, uncertainty : float
        Nats; the second from rounding and the certificates of the fits.

    Examples
    --------
    >>> from memdlib.nml.exact import level_model
    >>> model = level_model(np.full(5, 40), np.arange(1.0, 6.0), 1, intercept=False)
    >>> tabulate(model, statistic_lattice(model))[1] < 1e-12
    True
    """
    last = lattice.last_key
    middle = last // 2
    tables = _numbers_of_sequences(lattice, middle + lattice.stride + 1)
    table = tables.last
    boundary = lattice.boundary_keys()
    table[boundary[boundary < table.size]] = 0.0
    keys = np.flatnonzero(table[: middle + 1])
    number = np.log(table[keys]).astype(np.float64)
    value, doubt = _log_likelihood(model, lattice, tables, keys)
    terms = np.exp(value + number + _log_scale(lattice))
    # the other half of the keys mirrors this one
    terms[2 * keys != last] *= 2.0
    total = boundary_sum(model) + float(terms.sum())
    # each number of sequences is a sum of positive terms, one more for each sample
    return math.log(total), doubt + rounding(model, keys.size)


def _log_likelihood(
    model: LevelModel, lattice: StatisticLattice, tables: _Tables, keys: Integers
) -> tuple[Array, float]:
    """Suprema of the log-likelihood at the given keys, and the doubt about them."""
    value, left = np.empty(keys.size), np.arange(keys.size)
    if keys.size > _MANY and model.moderate:
        root = np.sqrt(model.counts)[:, None]
        q, r = np.linalg.qr(root * lattice.generators)
        strides = [lattice.stride, 1][-lattice.generators.shape[1] :]
        slopes = np.array([_log_slope(tables.last, keys, s) for s in strides])
        smooth = np.isfinite(slopes).all(axis=0)
        # the log of such a count is nearly the entropy, whose slope is -parameter
        start = -r @ slopes[:, smooth]
        statistics = lattice.statistics(keys[smooth]).astype(np.float64)
        value[smooth], _, rest = maximise(
            FullSteps(model.counts[:, None], q / root),
            np.linalg.solve(r.T, statistics),
            lambda rough, at: start[:, at].astype(np.float32),
        )
        left = np.concatenate([left[~smooth], left[smooth][rest]])
    # label counts that differ by one at the largest level come one after the other
    step = lattice.shifts[np.argmax(model.counts)]
    left = left[np.argsort(keys[left] % step, kind="stable")]
    ones = _likely_ones(lattice, tables, keys[left]).astype(np.float64)
    if not model.intercept:
        # their generators were negative, and so their labels were exchanged
        turned = model.values < 0
        ones[turned] = model.counts[turned, None] - ones[turned]
    value[left], _, doubt = LogitSolver(model).suprema(ones)
    return value, doubt


def _numbers_of_sequences(lattice: StatisticLattice, size: int) -> _Tables:
    """Label sequences with each of the first keys, times 2^(-n / 2)."""
    order, n = np.argsort(lattice.shifts), int(lattice.counts.sum())
    # the numbers of each level bring their own share of the scale
    odd = n // 2 - int((lattice.counts // 2).sum())
    kind = np.longdouble if n > _MOST_DOUBLE else np.float64
    tables = _Tables([np.array([0.5**odd, 0.0], dtype=kind)], order, [])
    for level in order:
        shift, shorter = lattice.shifts[level], tables.numbers[-1][:-1]
        binomials = _binomials(int(lattice.counts[level])).astype(kind)
        last = min(size, shorter.size + (binomials.size - 1) * shift)
        longer = np.zeros(last + 1, dtype=kind)
        for k, number in enumerate(binomials):
            part = longer[k * shift : min(k * shift + shorter.size, last)]
            part += number * shorter[: part.size]
        tables.numbers.append(longer)
        tables.binomials.append(binomials)
    return tables


def _likely_ones(
    lattice: StatisticLattice, tables: _Tables, keys: Integers
) -> Integers:
    """Label counts with the given keys: at each level, from the last, the likeliest."""
    ones = np.empty((len(lattice.counts), keys.size), dtype=np.int64)
    levels = list(zip(*tables, strict=False))
    for at in range(0, keys.size, _BATCH):
        part = keys[at : at + _BATCH]
        for table, level, binomials in levels[::-1]:
            before = part - lattice.shifts[level] * np.arange(binomials.size)[:, None]
            # what is out of the table, on either side, is the zero at its end
            before[before.view(np.uint64) >= table.size] = table.size - 1
            number = table.take(before)
            number *= binomials[:, None]
            likely = ones[level, at : at + _BATCH]
            number.argmax(axis=0, out=likely)
            part = part - lattice.shifts[level] * likely
    return ones


@lru_cache(maxsize=4096)
def _binomials(n: int) -> Array:
    """Binomial coefficients times 2^-(n // 2), extended where doubles overflow."""
    if n <= _MOST_DOUBLE:
        return np.array([math.comb(n, k) / 2 ** (n // 2) for k in range(n + 1)])
    k = np.arange(n, dtype=np.longdouble)
    first = np.ldexp(np.longdouble(1.0), -(n // 2))
    return np.cumprod(np.concatenate([[first], (n - k) / (k + 1)]))


def _log_scale(lattice: StatisticLattice) -> float:
    return int(lattice.counts.sum()) // 2 * math.log(2.0)


def _log_slope(table: Array, keys: Integers, stride: int) -> Array:
    """Slope of the logarithm of the table; not finite next to a zero."""
    below = table[np.maximum(keys - stride, 0)]
    below[keys < stride] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (np.log(table[keys + stride]) - np.log(below)) / 2.0
    return slope.astype(np.float64)


@lru_cache(maxsize=1024)
def _integers(given: tuple[float, ...]) -> Integers | None:
    """Integers in the same ratios as the values, with no common factor."""
    values = np.array(given)
    unit = np.abs(values[values != 0]).min()
    ratios = [Fraction(float(v)).limit_denominator(1000) for v in values / unit]
    scale = math.lcm(*(r.denominator for r in ratios))
    if max(abs(r * scale) for r in ratios) > _LARGEST_INTEGER:
        return None
    found = np.array([int(r * scale) for r in ratios])
    wrong = np.abs(found / scale - values / unit) > _SAME * np.abs(values / unit)
    return None if wrong.any() else found // np.gcd.reduce(found)
