"""Exact complexity: the sum of all maximised likelihoods, term by term.

The boundary has a closed form, so that only interior label counts need a fit; flipping
all labels turns a fit into another one, which halves them. Where the level values are
whole multiples of one unit and there are one or two parameters, many label sequences
share their sufficient statistics: their numbers are a convolution, level by level, and
one fit for each statistic remains.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.special import betaln

from memdlib._types import Array, NDArray
from memdlib.nml.boundary import (
    boundary_sum,
    on_boundary,
    rounding,
    saturated_complexity,
    saturated_rounding,
)
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import LevelModel, multiples, orthonormal_basis

Integers = NDArray[np.int64]

# Label counts held in memory at a time, and ways traced back at a time.
_BATCH, _TRACED = 2**17, 2**21
# A table counts up to 2^n sequences, from 2^(-n / 2) on: in double precision to here,
# beyond in the extended one of the machine, if it has any.
_MOST_DOUBLE = 2000
_MOST_SAMPLES = 2 * (np.finfo(np.longdouble).maxexp - 24)


def exact_way(model: LevelModel) -> tuple[str, float]:
    """The way of fewest terms, and about how many suprema it needs."""
    if model.saturated:
        return "saturated", 0.0
    vectors = math.prod(n + 1.0 for n in model.counts.tolist()) / 2
    keys = statistic_keys(model)
    # about half of the whole numbers up to the middle one are statistics
    statistics = vectors if keys is None else float(model.counts @ np.abs(keys)) / 4
    return ("table", statistics) if statistics < vectors else ("enumeration", vectors)


def exact_complexity(model: LevelModel, way: str) -> tuple[float, float]:
    """Log complexity and a bound of its error, by the way of `exact_way`, in nats."""
    if way == "saturated":
        return saturated_complexity(model), saturated_rounding(model)
    basis, counts = orthonormal_basis(model), model.counts[:, None]
    total, doubt, n_terms = 0.0, 0.0, 0
    for ones, terms in (_by_statistic if way == "table" else _by_counts)(model):
        value, _, gap = max_log_likelihoods(model, basis, counts, ones)
        terms += value
        total += float(np.exp(terms, out=terms).sum())
        doubt, n_terms = max(doubt, gap), n_terms + value.size
    value = math.log(boundary_sum(model) + 2.0 * total)
    return value, doubt + rounding(model, n_terms)


def _by_counts(model: LevelModel) -> Iterator[tuple[Array, Array]]:
    """Half of the interior label counts, and logarithms of the numbers of sequences."""
    # Those of the largest level change fastest, so that neighbours have close maxima;
    # those in the middle, which mirror themselves, count half.
    sizes = model.counts.astype(np.intp) + 1
    order, last = np.argsort(sizes)[::-1], math.prod(sizes.tolist()) - 1
    for at in range(0, last // 2 + 1, _BATCH):
        flat = rest = np.arange(at, min(at + _BATCH, last // 2 + 1))
        ones = np.empty((len(sizes), flat.size), dtype=np.intp)
        for level in order.tolist():
            # a division by one number for all is vectorised, a remainder is not
            quotient = rest // sizes[level]
            ones[level] = rest - quotient * sizes[level]
            rest = quotient
        kept = np.flatnonzero(~on_boundary(model, ones))
        flat, ones = flat.take(kept), ones.take(kept, axis=1)
        log_number = np.zeros(kept.size)
        for size, k in zip(sizes.tolist(), ones, strict=True):
            log_number += _log_binomials(size - 1).take(k)
        log_number[2 * flat == last] -= math.log(2.0)
        yield ones.astype(np.float64), log_number


def _by_statistic(model: LevelModel) -> Iterator[tuple[Array, Array]]:
    """Likely label counts for half of the interior statistics, and as `_by_counts`."""
    counts, keys = model.counts.astype(np.int64), statistic_keys(model)
    steps, last = np.abs(keys), int(counts @ np.abs(keys))
    order = np.argsort(steps)
    kind = np.float64 if counts.sum() <= _MOST_DOUBLE else np.longdouble
    # all tables end in a zero, for what is out of them
    tables = [np.array([1.0, 0.0], dtype=kind)]
    for level in order.tolist():
        step, shorter = int(steps[level]), tables[-1][:-1]
        binomials = _binomials(int(counts[level])).astype(kind)
        size = min(last // 2 + 1, shorter.size + (binomials.size - 1) * step)
        longer = np.zeros(size + 1, dtype=kind)
        for k, number in enumerate(binomials):
            part = longer[k * step : min(k * step + shorter.size, size)]
            part += number * shorter[: part.size]
        tables.append(longer)
    log_scale = int((counts // 2).sum()) * math.log(2.0)
    found = np.flatnonzero(tables[-1])
    batch = max(1024, _TRACED // (int(counts.max()) + 1))
    for at in range(0, found.size, batch):
        key = found[at : at + batch]
        log_number = np.log(tables[-1][key]).astype(np.float64) + log_scale
        log_number[2 * key == last] -= math.log(2.0)
        ones = _likely_ones(counts, steps, order, tables, key)
        # a label 1 of a negative step counts as a label 0 of a positive one
        ones[keys < 0] = counts[keys < 0, None] - ones[keys < 0]
        ones = ones.astype(np.float64)
        kept = ~on_boundary(model, ones)
        yield ones[:, kept], log_number[kept]


def _likely_ones(counts, steps, order, tables, key) -> Integers:
    """Label counts with the given keys: at each level, from the last, the likeliest."""
    ones = np.empty((len(counts), key.size), dtype=np.int64)
    for level, table in zip(order[::-1].tolist(), tables[-2::-1], strict=True):
        binomials = _binomials(int(counts[level])).astype(table.dtype)
        before = key - steps[level] * np.arange(binomials.size)[:, None]
        before[before.view(np.uint64) >= table.size] = table.size - 1
        number = table.take(before)
        number *= binomials[:, None]
        number.argmax(axis=0, out=ones[level])
        key = key - steps[level] * ones[level]
    return ones


@lru_cache(maxsize=4096)
def _binomials(n: int) -> NDArray[np.longdouble]:
    """Binomial coefficients times 2^-(n // 2)."""
    k = np.arange(n, dtype=np.longdouble)
    first = np.ldexp(np.longdouble(1.0), -(n // 2))
    return np.cumprod(np.concatenate([[first], (n - k) / (k + 1)]))


def _log_binomials(n: int) -> Array:
    """Logarithms of the binomial coefficients."""
    k = np.arange(n + 1.0)
    return -math.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)


def statistic_keys(model: LevelModel) -> Integers | None:
    """What a label 1 at each level adds to a whole number that tells the statistics."""
    if model.dimension > 2 or model.counts.sum() > _MOST_SAMPLES:
        return None
    origin = model.values[0] if model.intercept else 0.0
    x = multiples(tuple((model.values - origin).tolist()))
    if x is None:
        return None
    first = np.ones_like(x) if model.intercept else x
    if model.dimension == 1:
        return first // np.gcd.reduce(first)
    # instead of x^2, which keeps tables small
    second = first * (x - x[0])
    first, second = first // np.gcd.reduce(first), second // np.gcd.reduce(second)
    return first * (int(model.counts @ np.abs(second)) + 1) + second
