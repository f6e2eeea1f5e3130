"""Roots on segments, compiled where numba is installed.

The steps are those of `segment`, for the cases of many lanes side by side.
"""

import numpy as np

from memdlib.nml._engine.compiled import compile_if_possible
from memdlib.nml._engine.compiled_lanes import (
    LANES,
    clear,
    exponentials,
    subtract_logs,
)

# Sum of w d^4 below which a step was the last that matters, and the longest last step.
_SETTLED, _CLOSE = 1e-13, 0.5
# Steps, and the longest one.
_STEPS, _LONGEST = 12, 5.0


@compile_if_possible
def _begin(rows, relation, counts, logit, weight, ones, case, lane, n_levels):
    """Label counts of a case, the ends of its segment, and where to start."""
    low, high, place = n_levels, n_levels + 1, n_levels + 2
    least, most = -np.inf, np.inf
    level_sum = square_sum = 0.0
    for i in range(n_levels):
        a, k = relation[i], ones[i, case]
        rows[i, lane] = k
        first, second = k / a, (k - counts[i]) / a
        least, most = max(least, min(first, second)), min(most, max(first, second))
        level_sum += a * logit[i, int(k)]
        square_sum += a * a / weight[i, int(k)]
    rows[low, lane], rows[high, lane] = least, most
    share = (level_sum / square_sum - least) / (most - least)
    share = min(max(share, 0.02), 0.98)
    rows[place, lane] = np.log(share / (1.0 - share))


@compile_if_possible
def _step(rows, bits, relation, counts):
    """Halley's step of all lanes; the roots they lead to, and what tells their error.

    Rows after the places: the root, the change of the place, the sum of w d^4.
    """
    n_levels = len(counts)
    low, high, place = n_levels, n_levels + 1, n_levels + 2
    root, change, rest = place + 1, place + 2, place + 3
    share, level, slope, bend = rest + 1, rest + 2, rest + 3, rest + 4
    ratio, factor, power = rest + 5, rest + 6, rest + 7
    _share_of(rows, bits, share, place, power)
    clear(rows, rest, rest + 1)
    clear(rows, level, bend + 1)
    for j in range(LANES):
        rows[root, j] = rows[low, j] + (rows[high, j] - rows[low, j]) * rows[share, j]
    for i in range(n_levels):
        a, n = relation[i], counts[i]
        for j in range(LANES):
            mean = rows[i, j] - a * rows[root, j]
            other = n - mean
            inverse = 1.0 / (mean * other)
            rows[ratio, j] = mean * mean * inverse
            total = a * n * inverse
            rows[slope, j] -= a * total
            rows[bend, j] += a * a * (mean - other) * inverse * total
            rows[rest, j] += a * total * total * total
        subtract_logs(rows, bits, level, -a, ratio, factor, power)
    for j in range(LANES):
        width = rows[high, j] - rows[low, j]
        speed = width * rows[share, j] * (1.0 - rows[share, j])
        bent = rows[bend, j] * speed + rows[slope, j] * (1.0 - 2.0 * rows[share, j])
        steep = rows[slope, j] * speed
        step = -rows[level, j] / steep
        halley = 1.0 + 0.5 * step * bent * speed / steep
        step /= min(max(halley, 0.5), 2.0)
        rows[change, j] = step
        rows[place, j] += min(max(step, -_LONGEST), _LONGEST)
    _share_of(rows, bits, share, place, power)
    for j in range(LANES):
        width = rows[high, j] - rows[low, j]
        moved = rows[low, j] + width * rows[share, j] - rows[root, j]
        rows[rest, j] *= (moved * moved) * (moved * moved)
        rows[root, j] += moved


@compile_if_possible
def _share_of(rows, bits, out, place, power):
    for j in range(LANES):
        rows[out + 1, j] = -rows[place, j]
    exponentials(rows, bits, out, out + 1, power)
    for j in range(LANES):
        rows[out, j] = 1.0 / (1.0 + rows[out, j])


@compile_if_possible
def segment_roots(counts, relation, ones, logit, weight):
    """Numbers s at which the logits of the counts ``ones - relation s`` obey it.

    Parameters
    ----------
    counts, relation : ndarray of shape (L,)
    ones : ndarray of shape (L, B)
        Labels 1 at each level, as floats.
    logit, weight : ndarray of shape (L, N)
        `newton.empirical_logits` of the label counts 0, 1, .. at each level.

    Returns
    -------
    ndarray of shape (B,)
        nan where another method has to find it.
    """
    n_levels, n_cases = ones.shape
    found = np.full(n_cases, np.nan)
    rows = np.full((n_levels + 14, LANES), 0.5)
    bits = rows.view(np.int64)
    root, change, rest = n_levels + 3, n_levels + 4, n_levels + 5
    case, age = np.full(LANES, -1), np.zeros(LANES, dtype=np.int64)
    begun = 0
    while True:
        n_busy = 0
        for j in range(LANES):
            if case[j] < 0 and begun < n_cases:
                _begin(rows, relation, counts, logit, weight, ones, begun, j, n_levels)
                case[j], age[j] = begun, 0
                begun += 1
            n_busy += case[j] >= 0
        if n_busy == 0:
            return found
        _step(rows, bits, relation, counts)
        for j in range(LANES):
            if case[j] >= 0:
                age[j] += 1
                if rows[rest, j] < _SETTLED and abs(rows[change, j]) < _CLOSE:
                    found[case[j]] = rows[root, j]
                    case[j] = -1
                elif age[j] == _STEPS or not abs(rows[change, j]) < np.inf:
                    case[j] = -1
