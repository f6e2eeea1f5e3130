"""Exact complexity: the sum of all maximised likelihoods, term by term.

The boundary has a closed form, so only interior label counts need a fit. Flipping all
labels mirrors a fit, so only half of them do. Where the level values are whole
multiples of one unit and there are one or two parameters, many label sequences share
their sufficient statistics: a convolution, level by level, counts the sequences of each
statistic, and one fit per statistic remains.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import betaln

from memdlib._types import NDArray
from memdlib.nml.boundary import (
    boundary_sum,
    on_boundary,
    rounding,
    saturated_complexity,
    saturated_rounding,
)
from memdlib.nml.fits import max_log_likelihoods
from memdlib.nml.level_model import integer_ratios, orthonormal_basis

Integers = NDArray[np.int64]
Table = NDArray[np.floating]  # in double or extended precision

# Label counts held in memory at a time.
_BATCH = 2**17
# Statistics times label counts of one level held in memory at a time.
_TRACED_ENTRIES = 2**21
# A table counts up to 2^n sequences, from 2^(-n / 2) on: in double precision up to this
# many samples, beyond it in the extended precision of the machine, if it has any.
_MOST_DOUBLE = 2000
_MOST_SAMPLES = 2 * (np.finfo(np.longdouble).maxexp - 24)


def exact_method(model):
    """Name the exact sum of fewest terms, and say about how many fits it needs."""
    if model.saturated:
        return "saturated", 0.0
    n_label_counts = math.prod(n + 1.0 for n in model.counts.tolist()) / 2
    ids = statistic_ids(model)
    if ids is not None:
        # about half of the integers up to the middle one are statistics
        n_statistics = float(model.counts @ np.abs(ids)) / 4
        if n_statistics < n_label_counts:
            return "table", n_statistics
    return "enumeration", n_label_counts


def exact_complexity(model, method):
    """Log complexity and a bound of its error, in nats; see `exact_method`."""
    if method == "saturated":
        return saturated_complexity(model), saturated_rounding(model)
    terms = _statistic_terms(model) if method == "table" else _label_count_terms(model)
    basis = orthonormal_basis(model)
    counts = model.counts[:, None]
    interior_sum = 0.0
    error = 0.0
    n_terms = 0
    for ones, log_number in terms:
        value, _, value_error = max_log_likelihoods(model, basis, counts, ones)
        interior_sum += float(np.exp(log_number + value).sum())
        error = max(error, value_error)
        n_terms += len(value)
    # the other half of the interior label counts has the same sum
    complexity = math.log(boundary_sum(model) + 2.0 * interior_sum)
    return complexity, error + rounding(model, n_terms)


def _label_count_terms(model):
    """Enumerate half of the interior label counts, in batches.

    Yields label counts (L, B), and the logarithms (B,) of the numbers of label
    sequences that have them. Flipping all labels turns the i-th label counts into the
    last but i.
    """
    sizes = model.counts.astype(np.intp) + 1
    last = math.prod(sizes.tolist()) - 1
    # those of the largest level change fastest, so that neighbours have close maxima
    order = np.argsort(sizes)
    log_binomials = [_log_binomials(int(size) - 1) for size in sizes]
    n_half = last // 2 + 1
    for start in range(0, n_half, _BATCH):
        stop = min(start + _BATCH, n_half)
        index = np.arange(start, stop)
        ones = np.empty((len(sizes), len(index)), dtype=np.intp)
        ones[order] = np.unravel_index(index, sizes[order])
        interior = np.flatnonzero(~on_boundary(model, ones))
        index = index.take(interior)
        ones = ones.take(interior, axis=1)
        log_number = sum(map(np.take, log_binomials, ones))
        # the label counts in the middle are their own mirror image, and count half
        is_middle = 2 * index == last
        log_number[is_middle] -= math.log(2.0)
        yield ones.astype(np.float64), log_number


def _statistic_terms(model):
    """Enumerate half of the interior statistics, in batches.

    Yields label counts (L, B), one for each statistic, and the logarithms (B,) of the
    numbers of label sequences with that statistic.
    """
    ids = statistic_ids(model)
    # where a label 1 lowers the statistic, count the labels 0, which then raise it
    flipped = ids < 0
    steps = np.abs(ids)
    counts = model.counts.astype(np.int64)
    largest = int(counts @ steps)
    tables = _sequence_numbers(counts, steps, largest // 2 + 1)
    statistics, log_numbers = _log_sequence_numbers(tables[-1], counts, largest)
    n_choices = int(counts.max()) + 1
    batch_size = max(1024, _TRACED_ENTRIES // n_choices)
    for start in range(0, len(statistics), batch_size):
        batch = slice(start, start + batch_size)
        ones = _likely_ones(counts, steps, tables, statistics[batch])
        ones[flipped] = counts[flipped, None] - ones[flipped]
        interior = ~on_boundary(model, ones)
        log_number = log_numbers[batch]
        yield ones[:, interior].astype(np.float64), log_number[interior]


def _sequence_numbers(counts, steps, size):
    """Numbers of label sequences of the first 0, 1, .., L levels with each statistic.

    A label 1 at level l adds ``steps[l]`` to the statistic. Each table holds the
    numbers for the statistics 0, 1, .. below ``size``, times 2^-(n // 2) for each of
    its levels of n samples.
    """
    dtype = np.float64 if counts.sum() <= _MOST_DOUBLE else np.longdouble
    tables = [np.ones(1, dtype=dtype)]
    for n, step in zip(counts.tolist(), steps.tolist(), strict=True):
        shorter = tables[-1]
        longer = np.zeros(min(size, len(shorter) + n * step), dtype=dtype)
        for k, number in enumerate(_binomials(n).astype(dtype)):
            shifted = longer[k * step : k * step + len(shorter)]
            shifted += number * shorter[: len(shifted)]
        tables.append(longer)
    return tables


def _log_sequence_numbers(table, counts, largest):
    """Statistics (B,) of the last of `_sequence_numbers`, and log numbers (B,)."""
    statistics = np.flatnonzero(table)
    log_scale = int((counts // 2).sum()) * math.log(2.0)
    log_numbers = np.log(table[statistics]).astype(np.float64) + log_scale
    # the statistic in the middle is its own mirror image, and counts half
    log_numbers[2 * statistics == largest] -= math.log(2.0)
    return statistics, log_numbers


def _likely_ones(counts, steps, tables, statistic):
    """Label counts (L, B) with the given statistics (B,), from `_sequence_numbers`.

    From the last level to the first, each takes the number of labels 1 that the most
    sequences have.
    """
    ones = np.empty((len(counts), len(statistic)), dtype=np.int64)
    for level in range(len(counts) - 1, -1, -1):
        table = tables[level]
        n = int(counts[level])
        binomials = _binomials(n).astype(table.dtype)
        # what remains for the levels below, for every number of labels 1 at this one;
        # one at a time, as a table of all would not stay in the cache
        # no sequence has a statistic outside the table: a zero at either end says so
        padded = np.concatenate([[0.0], table, [0.0]])
        position = statistic + 1
        largest = np.full(len(statistic), -1.0, dtype=table.dtype)
        for k, binomial in enumerate(binomials):
            number = binomial * padded.take(position, mode="clip")
            ones[level][number > largest] = k
            np.maximum(largest, number, out=largest)
            position = position - steps[level]
        statistic = statistic - steps[level] * ones[level]
    return ones


@lru_cache(maxsize=4096)
def _binomials(n):
    """Binomial coefficients (n + 1,), times 2^-(n // 2)."""
    k = np.arange(n, dtype=np.longdouble)
    first = np.ldexp(np.longdouble(1.0), -(n // 2))
    return np.cumprod(np.concatenate([[first], (n - k) / (k + 1)]))


def _log_binomials(n):
    """Logarithms (n + 1,) of the binomial coefficients."""
    k = np.arange(n + 1.0)
    return -math.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)


def statistic_ids(model):
    """What a label 1 at each level (L,) adds to an integer that tells the statistics.

    Equal integers are equal sufficient statistics, and the reverse. None if there are
    too many parameters or samples, or if the level values have no common unit.
    """
    if model.dimension > 2 or model.counts.sum() > _MOST_SAMPLES:
        return None
    origin = model.values[0] if model.intercept else 0.0
    x = integer_ratios(tuple((model.values - origin).tolist()))
    if x is None:
        return None
    first = np.ones_like(x) if model.intercept else x
    first = first // np.gcd.reduce(first)
    if model.dimension == 1:
        return first
    # in place of x^2, or of x if there is an intercept: smaller, so tables are shorter
    second = first * (x - x[0])
    second = second // np.gcd.reduce(second)
    # one digit for each, in a base that no sum of the second reaches
    return first * (int(model.counts @ np.abs(second)) + 1) + second
