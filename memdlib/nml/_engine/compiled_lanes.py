"""Arithmetic on rows of cases side by side, compiled where numba is installed.

A row holds one quantity of every case, so that each loop becomes vector instructions.
Exponentials and logarithms are written out, or they would stop that.
"""

import numpy as np

from memdlib.nml._engine.compiled import compile_if_possible

# Cases side by side: their rows stay in the cache of a core.
LANES = 128
# Beyond it the matrix of a step may be singular to rounding; no value counts there.
LARGEST_LOGIT = 100.0
# Logarithm of 2 as a sum whose first term, times an exponent, is exact.
_LOG2, _REST_OF_LOG2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Bits of the square root of 1/2.
_ROOT_HALF = 0x3FE6A09E667F3BCD
_T = tuple((1.0 / np.cumprod(np.arange(1.0, 14.0))).tolist())


@compile_if_possible
def clear(rows, first, last):
    """Write zeros to the rows from the first to before the last."""
    for i in range(first, last):
        for j in range(LANES):
            rows[i, j] = 0.0


@compile_if_possible
def add(rows, out, scale, row):
    """Add a row, times a scale."""
    for j in range(LANES):
        rows[out, j] += scale * rows[row, j]


@compile_if_possible
def add_product(rows, out, sign, left, right):
    """Add the product of two rows, times a sign."""
    for j in range(LANES):
        rows[out, j] += sign * rows[left, j] * rows[right, j]


@compile_if_possible
def combine(rows, out, scales, first):
    """Write the sum of rows from the first on, each times its scale."""
    for j in range(LANES):
        rows[out, j] = scales[0] * rows[first, j]
    for i in range(1, len(scales)):
        add(rows, out, scales[i], first + i)


@compile_if_possible
def exponentials(rows, bits, out, x, power):
    """Write exp(x), to about one unit in the last place."""
    for j in range(LANES):
        t = min(max(rows[x, j], -LARGEST_LOGIT), LARGEST_LOGIT)
        k = np.floor(t * 1.4426950408889634 + 0.5)
        r = (t - k * _LOG2) - k * _REST_OF_LOG2
        s = r * _T[12] + _T[11]
        s = r * (r * (r * s + _T[10]) + _T[9]) + _T[8]
        s = r * (r * (r * s + _T[7]) + _T[6]) + _T[5]
        s = r * (r * (r * s + _T[4]) + _T[3]) + _T[2]
        rows[out, j] = r * (r * (r * s + _T[1]) + 1.0) + 1.0
        bits[power, j] = (np.int64(k) + 1023) << 52
    for j in range(LANES):
        rows[out, j] *= rows[power, j]


@compile_if_possible
def subtract_logs(rows, bits, out, scale, x, factor, power):
    """Subtract scale * log(x), x positive, to about one unit in the last place."""
    for j in range(LANES):
        exponent = (bits[x, j] - _ROOT_HALF) >> 52
        bits[factor, j] = bits[x, j] - (exponent << 52)
        rows[power, j] = exponent
    for j in range(LANES):
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
