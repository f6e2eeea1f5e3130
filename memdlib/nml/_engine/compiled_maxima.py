"""Search for maxima of the likelihood, compiled where numba is installed.

It runs over the cases of many lanes side by side, one row of a table for each quantity,
so that every loop becomes vector instructions.
"""

import numpy as np

from memdlib.nml._engine.compiled import compile_if_possible

# Cases side by side: their rows stay in the cache of a core.
_LANES = 128
# Sum of w d^6 at which step and expansion are exact to about 1e-14.
_SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Twice the gain of a step, in nats, that rounding hides.
_NO_GAIN = 1e-13
# Steps, and the largest change of a logit in one that has not settled.
_STEPS, _LONGEST = 40, 10.0
# Logarithm of 2 as a sum whose first term, times an exponent, is exact.
_LOG2, _REST_OF_LOG2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# A settled slope is below 0.03, also where rounding has made the step too short.
_SLANT = 1e-10
# Beyond it the matrix of a step may be singular to rounding; no value counts there.
_LARGEST_LOGIT = 100.0
# Bits of the square root of 1/2.
_ROOT_HALF = 0x3FE6A09E667F3BCD
_T = tuple((1.0 / np.cumprod(np.arange(1.0, 14.0))).tolist())


@compile_if_possible
def _clear(rows, first, last):
    for i in range(first, last):
        for j in range(_LANES):
            rows[i, j] = 0.0


@compile_if_possible
def _add(rows, out, scale, row):
    for j in range(_LANES):
        rows[out, j] += scale * rows[row, j]


@compile_if_possible
def _add_product(rows, out, sign, left, right):
    for j in range(_LANES):
        rows[out, j] += sign * rows[left, j] * rows[right, j]


@compile_if_possible
def _combine(rows, out, scales, first):
    """Write the sum of rows from the first on, each times its scale."""
    for j in range(_LANES):
        rows[out, j] = scales[0] * rows[first, j]
    for i in range(1, len(scales)):
        _add(rows, out, scales[i], first + i)


@compile_if_possible
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


@compile_if_possible
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


@compile_if_possible
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


@compile_if_possible
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


@compile_if_possible
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


@compile_if_possible
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


@compile_if_possible
def _is_settled(rows, j, p, free, largest_rest):
    """Whether the step of a lane was the last that matters.

    A correction that cancels Newton's step leaves a small step far from the maximum. It
    does not where both gain at least half of what Newton's step alone does: by Cauchy
    and Schwarz Newton's step is then at most twice as long.
    """
    slope, step, bend = free + 5, free + 5 + p, free + 5 + 2 * p
    both = newton = 0.0
    for i in range(p):
        both += rows[slope + i, j] * rows[step + i, j]
        newton += rows[slope + i, j] * (rows[step + i, j] - rows[bend + i, j])
    # a logit that is not a number leaves no number here
    known = abs(rows[free, j]) < np.inf
    return known and rows[free + 1, j] < largest_rest and newton <= 2 * both + _NO_GAIN


@compile_if_possible
def maxima(counts, basis, products, ones, logit, weight):
    """Suprema of the log-likelihood of interior label counts.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    basis : ndarray of shape (L, p)
        Basis of the logits.
    products : ndarray of shape (p * (p + 1) / 2, L)
        Products of its columns, from `newton.pairs`.
    ones : ndarray of shape (L, B)
        Labels 1 at each level, as floats.
    logit, weight : ndarray of shape (L, N)
        `newton.empirical_logits` of the label counts 0, 1, .. at each level.

    Returns
    -------
    ndarray of shape (B,)
        Nats; nan where a general method has to find it.
    """
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
                if _is_settled(rows, j, p, free, _SETTLED):
                    value[case[j]] = rows[free, j]
                    case[j] = -1
                elif age[j] == _STEPS:
                    case[j] = -1
                elif rows[free + 4, j] > _LONGEST:
                    back = _LONGEST / rows[free + 4, j] - 1.0
                    for i in range(p):
                        rows[state + i, j] += back * rows[free + 5 + p + i, j]
