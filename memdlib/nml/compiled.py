"""Kernels of the exact complexities, compiled where numba is installed.

`kernels` tells whether they are; every use has a way in NumPy as well. The search for
maxima runs over the cases of many lanes side by side, one row of a table for each
quantity, so that every loop becomes vector instructions. No kernel holds the
interpreter: threads work at the same time.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

try:
    import numba
except ImportError:  # everything has a way without it
    numba = None

# Cases side by side: their rows stay in the cache of a core.
_LANES = 128
# Sum of w d^6 at which step and expansion are exact to about 1e-14.
_SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Steps, and the largest change of a logit in one that has not settled.
_STEPS, _LONGEST = 12, 5.0
# Logarithm of 2 as a sum whose first term, times an exponent, is exact.
_LOG2, _REST_OF_LOG2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# A settled slope is below 0.03, also where rounding has made the step too short.
_SLANT = 1e-10
# Beyond it the matrix of a step may be singular to rounding; no value counts there.
_LARGEST_LOGIT = 100.0
# Bits of the square root of 1/2.
_ROOT_HALF = 0x3FE6A09E667F3BCD
_T = tuple((1.0 / np.cumprod(np.arange(1.0, 14.0))).tolist())


def _compiled(function):
    """Compile at the first call; without numba leave the function as it is."""
    if numba is None:
        return function
    return numba.njit(
        nogil=True,
        error_model="numpy",
        fastmath={"contract"},
        # never in the folder of the package
        cache="NUMBA_CACHE_DIR" in os.environ,
    )(function)


@_compiled
def _clear(rows, first, last):
    for i in range(first, last):
        for j in range(_LANES):
            rows[i, j] = 0.0


@_compiled
def _add(rows, out, scale, row):
    for j in range(_LANES):
        rows[out, j] += scale * rows[row, j]


@_compiled
def _add_product(rows, out, sign, left, right):
    for j in range(_LANES):
        rows[out, j] += sign * rows[left, j] * rows[right, j]


@_compiled
def _combine(rows, out, scales, first):
    """Write the sum of rows from the first on, each times its scale."""
    for j in range(_LANES):
        rows[out, j] = scales[0] * rows[first, j]
    for i in range(1, len(scales)):
        _add(rows, out, scales[i], first + i)


@_compiled
def _exponentials(rows, bits, out, x, power):
    """Write exp(x), to about one unit in the last place."""
    for j in range(_LANES):
        t = min(max(rows[x, j], -_LARGEST_LOGIT), _LARGEST_LOGIT)
        k = np.floor(t * 1.4426950408889634 + 0.5)
        r = (t - k * _LOG2) - k * _REST_OF_LOG2
        s = r * _T[12] + _T[11]
        s = r * (r * (r * s + _T[10]) + _T[9]) + _T[8]
        s = r * (r * (r * s + _T[7]) + _T[6]) + _T[5]
        s = r * (r * (r * s + _T[4]) + _T[3]) + _T[2]
        rows[out, j] = r * (r * (r * s + _T[1]) + 1.0) + 1.0
        bits[power, j] = (np.int64(k) + 1023) << 52
    for j in range(_LANES):
        rows[out, j] *= rows[power, j]


@_compiled
def _subtract_logs(rows, bits, out, scale, x, factor, power):
    """Subtract scale * log(x), x at least 1, to about one unit in the last place."""
    for j in range(_LANES):
        exponent = (bits[x, j] - _ROOT_HALF) >> 52
        bits[factor, j] = bits[x, j] - (exponent << 52)
        rows[power, j] = exponent
    for j in range(_LANES):
        # log((1 + s) / (1 - s)) as in fdlibm
        f, k = rows[factor, j] - 1.0, rows[power, j]
        s = f / (2.0 + f)
        z = s * s
        r = z * 1.479819860511658591e-01 + 1.531383769920937332e-01
        r = z * (z * r + 1.818357216161805012e-01) + 2.222219843214978396e-01
        r = z * (z * r + 2.857142874366239149e-01) + 3.999999999940941908e-01
        r = z * (z * r + 6.666666666666735130e-01)
        half = 0.5 * f * f
        log = k * _LOG2 - ((half - (s * (half + r) + k * _REST_OF_LOG2)) - f)
        rows[out, j] -= scale * log


@_compiled
def _factorise(rows, gram, p):
    """Replace packed lower triangles by those of L D L^T, with 1 / D."""
    for c in range(p):
        diagonal = gram + c * (c + 1) // 2 + c
        for j in range(_LANES):
            rows[diagonal, j] = 1.0 / rows[diagonal, j]
        for i in range(c + 1, p):
            start = gram + i * (i + 1) // 2
            head, end = start + c, start + i
            for k in range(c + 1, i):
                _add_product(rows, start + k, -1.0, head, gram + k * (k + 1) // 2 + c)
            for j in range(_LANES):
                ratio = rows[head, j] * rows[diagonal, j]
                rows[end, j] -= rows[head, j] * ratio
                rows[head, j] = ratio


@_compiled
def _substitute(rows, gram, right, p):
    """Solve in place with the factors of `_factorise`."""
    for c in range(p):
        for i in range(c + 1, p):
            _add_product(rows, right + i, -1.0, gram + i * (i + 1) // 2 + c, right + c)
    for c in range(p - 1, -1, -1):
        diagonal = gram + c * (c + 1) // 2 + c
        for j in range(_LANES):
            rows[right + c, j] *= rows[diagonal, j]
        for k in range(c + 1, p):
            _add_product(rows, right + c, -1.0, gram + k * (k + 1) // 2 + c, right + k)


@_compiled
def _begin(rows, basis, products, ones, at, logit, weight, state, target, gram, free):
    """Statistics of the next cases, and coefficients of a least-squares fit."""
    n_levels, p = basis.shape
    n = min(_LANES, ones.shape[1] - at)
    _clear(rows, state, state + p)
    _clear(rows, target, target + p)
    _clear(rows, gram, gram + len(products))
    for level in range(n_levels):
        for j in range(n):
            k = int(ones[level, at + j])
            rows[free, j] = ones[level, at + j]
            rows[free + 1, j] = weight[level, k]
            rows[free + 2, j] = weight[level, k] * logit[level, k]
        for i in range(p):
            _add(rows, target + i, basis[level, i], free)
            _add(rows, state + i, basis[level, i], free + 2)
        for i in range(len(products)):
            _add(rows, gram + i, products[i, level], free + 1)
    _factorise(rows, gram, p)
    _substitute(rows, gram, state, p)


@_compiled
def _step(rows, bits, counts, basis, products, state, target, gram, free):
    """Move by Chebyshev's method; expand the log-likelihood where it ends.

    The rows ``free`` and ``free + 1`` become the value and the sum of w d^6.
    """
    n_levels, p = basis.shape
    reached, rest, row, other, spare = free, free + 1, free + 2, free + 3, free + 4
    slope = free + 5
    step, bend = slope + p, slope + 2 * p
    odds = slope + 3 * p
    w, a = odds + n_levels, odds + 2 * n_levels
    _clear(rows, gram, gram + len(products))
    _clear(rows, reached, rest + 1)
    _clear(rows, slope, slope + 3 * p)
    for i in range(p):
        _add_product(rows, reached, 1.0, target + i, state + i)
        _add(rows, slope + i, 1.0, target + i)
    for level in range(n_levels):
        count = counts[level]
        _combine(rows, row, basis[level], state)
        _exponentials(rows, bits, odds + level, row, other)
        u, v, s = odds + level, w + level, a + level
        for j in range(_LANES):
            rows[rest, j] += abs(rows[row, j]) > _LARGEST_LOGIT
            e = rows[u, j]
            q = 1.0 / (1.0 + e)
            rows[row, j] = -count * e * q
            rows[v, j] = count * e * q * q
            rows[s, j] = (1.0 - e) * q
            rows[other, j] = 1.0 + e
        _subtract_logs(rows, bits, reached, count, other, u, spare)
        for i in range(p):
            _add(rows, slope + i, basis[level, i], row)
        for i in range(len(products)):
            _add(rows, gram + i, products[i, level], v)
    _factorise(rows, gram, p)
    for i in range(p):
        for j in range(_LANES):
            slant = rows[slope + i, j]
            rows[step + i, j] = slant
            rows[rest, j] += _SLANT * slant * slant
    _substitute(rows, gram, step, p)
    # the second derivative corrects Newton's step, at the price of another right side
    for level in range(n_levels):
        v, s = w + level, a + level
        _combine(rows, row, basis[level], step)
        for j in range(_LANES):
            rows[row, j] *= -0.5 * rows[v, j] * rows[s, j] * rows[row, j]
        for i in range(p):
            _add(rows, bend + i, basis[level, i], row)
    _substitute(rows, gram, bend, p)
    _clear(rows, spare, spare + 1)
    for i in range(p):
        _add(rows, step + i, 1.0, bend + i)
        _add(rows, state + i, 1.0, step + i)
        _add_product(rows, reached, 1.0, slope + i, step + i)
    for level in range(n_levels):
        inverse = 1.0 / counts[level]
        v, s = w + level, a + level
        _combine(rows, row, basis[level], step)
        for j in range(_LANES):
            rows[spare, j] = max(rows[spare, j], abs(rows[row, j]))
            d, skew, part = rows[row, j], rows[s, j], rows[v, j] * inverse
            square = rows[v, j] * d * d
            high = (1.0 - 6.0 * part) / 24.0 + d * skew * (1.0 - 12.0 * part) / 120.0
            rows[reached, j] -= square * (0.5 + d * (skew / 6.0 + d * high))
            rows[rest, j] += (rows[v, j] + _LEAST) * (d * d) * (d * d) * (d * d)


@_compiled
def _maxima(counts, basis, products, ones, logit, weight):
    """Suprema of the log-likelihood of the columns of ones; nan where not settled."""
    n_levels, p = basis.shape
    n_cases = ones.shape[1]
    value = np.full(n_cases, np.nan)
    state, target, next_state, next_target = 0, p, 2 * p, 3 * p
    gram = 4 * p
    free = gram + len(products)
    rows = np.zeros((free + 5 + 3 * p + 3 * n_levels, _LANES))
    bits = rows.view(np.int64)
    case = np.full(_LANES, -1)
    age = np.zeros(_LANES, dtype=np.int64)
    begun, at = 0, 0
    while True:
        n_busy = 0
        for j in range(_LANES):
            if case[j] < 0 and at < n_cases:
                if at == begun:
                    _begin(
                        rows,
                        basis,
                        products,
                        ones,
                        at,
                        logit,
                        weight,
                        next_state,
                        next_target,
                        gram,
                        free,
                    )
                    begun += _LANES
                lane = at % _LANES
                for i in range(2 * p):
                    rows[state + i, j] = rows[next_state + i, lane]
                case[j], age[j] = at, 0
                at += 1
            n_busy += case[j] >= 0
        if n_busy == 0:
            return value
        _step(rows, bits, counts, basis, products, state, target, gram, free)
        for j in range(_LANES):
            if case[j] >= 0:
                age[j] += 1
                # a logit that is not a number leaves no number here
                if rows[free + 1, j] < _SETTLED and abs(rows[free, j]) < np.inf:
                    value[case[j]] = rows[free, j]
                    case[j] = -1
                elif age[j] == _STEPS:
                    case[j] = -1
                elif rows[free + 4, j] > _LONGEST:
                    back = _LONGEST / rows[free + 4, j] - 1.0
                    for i in range(p):
                        rows[state + i, j] += back * rows[free + 5 + p + i, j]


@_compiled
def _interior(sizes, inside, log_binomials, first, last):
    """Interior label counts from one position to another, and their log weights."""
    n_levels, n = len(sizes), 0
    ones, log_weight = np.empty((n_levels, last - first)), np.empty(last - first)
    k = np.empty(n_levels, dtype=np.int64)
    n_all, rest = 1, first
    for level in range(n_levels - 1, -1, -1):
        n_all *= sizes[level]
        k[level] = rest % sizes[level]
        rest //= sizes[level]
    for flat in range(first, last):
        pattern = 0
        for level in range(n_levels):
            pattern = 3 * pattern + (k[level] > 0) + (k[level] == sizes[level] - 1)
        if inside[pattern]:
            # the vector in the middle is its own mirror image
            log_weight[n] = -np.log(2.0) if 2 * flat == n_all - 1 else 0.0
            for level in range(n_levels):
                ones[level, n] = k[level]
                log_weight[n] += log_binomials[level, k[level]]
            n += 1
        level = n_levels - 1
        k[level] += 1
        while level > 0 and k[level] == sizes[level]:
            k[level] = 0
            level -= 1
            k[level] += 1
    return ones[:, :n].copy(), log_weight[:n].copy()


@_compiled
def _lengthen(shorter, binomials, shift, longer):
    """Add the table of the levels before, once for each label count of one more."""
    for k in range(len(binomials)):
        at, number = k * shift, binomials[k]
        for i in range(min(shorter.size, longer.size - at)):
            longer[at + i] += number * shorter[i]


@_compiled
def _likeliest(keys, table, binomials, shift):
    """Likeliest label count of the last level, by the table of those before it."""
    found = np.zeros(keys.size, dtype=np.int64)
    for i in range(keys.size):
        most = 0.0
        for k in range(len(binomials)):
            before = keys[i] - k * shift
            if 0 <= before < table.size and binomials[k] * table[before] > most:
                most = binomials[k] * table[before]
                found[i] = k
    return found


class Kernels(NamedTuple):
    """Functions that do the work of NumPy elsewhere; they take contiguous arrays.

    Parameters
    ----------
    maxima : callable
        Of counts, basis, products of its columns, label counts as floats, tables of
        the smoothed logits of all label counts and of their weights: the suprema of
        the log-likelihood, nan where a general method has to do it.
    interior : callable
        Of the numbers of label counts at each level, the interior patterns, logarithms
        of the binomial coefficients, and two positions in the grid of label counts:
        the interior ones between, as floats, and logarithms of how often they count.
    lengthen : callable
        Of a table over sufficient statistics, the binomial coefficients of one more
        level, its shift and a table of zeros, which becomes the longer one.
    likeliest : callable
        Of keys, the table without the last level, its binomial coefficients and shift:
        its likeliest label count for each key.
    """

    maxima: Callable
    interior: Callable
    lengthen: Callable
    likeliest: Callable


_KERNELS = Kernels(_maxima, _interior, _lengthen, _likeliest)


def kernels() -> Kernels | None:
    """Compiled kernels, or None where numba is not installed.

    Returns
    -------
    Kernels or None

    Examples
    --------
    >>> import importlib.util
    >>> (kernels() is None) == (importlib.util.find_spec("numba") is None)
    True
    """
    return None if numba is None else _KERNELS
