"""Search for maxima of the likelihood, compiled where numba is installed.

It runs over the cases of many lanes side by side, one row of a table for each quantity,
so that every loop becomes vector instructions.
"""

import numpy as np

from memdlib.nml._engine.compiled import compile_if_possible
from memdlib.nml._engine.compiled_lanes import (
    LANES,
    LARGEST_LOGIT,
    add,
    add_product,
    clear,
    combine,
    exponentials,
    subtract_logs,
)

# Sum of w d^6 at which step and expansion are exact to about 1e-14.
_SETTLED = 1e-13
# Added to the weight w, which vanishes where a step has gone to infinity.
_LEAST = 1e-6
# Twice the gain of a step, in nats, that rounding hides.
_NO_GAIN = 1e-13
# Steps, and the largest change of a logit in one that has not settled.
_STEPS, _LONGEST = 40, 10.0
# Most neighbours that are fitted one after the other, and fewest runs for each lane:
# longer ones leave lanes idle at the end.
_RUN, _RUNS_A_LANE = 16, 3
# Steps after which a start from a neighbour is given up; nearly all settle in two.
_PATIENCE = 6
# A settled slope is below 0.03, also where rounding has made the step too short.
_SLANT = 1e-10


@compile_if_possible
def _factorise(rows, gram, p):
    """Replace packed lower triangles by those of L D L^T, with 1 / D."""
    for c in range(p):
        diagonal = gram + c * (c + 1) // 2 + c
        for j in range(LANES):
            rows[diagonal, j] = 1.0 / rows[diagonal, j]
        for i in range(c + 1, p):
            start = gram + i * (i + 1) // 2
            head, end = start + c, start + i
            for k in range(c + 1, i):
                add_product(rows, start + k, -1.0, head, gram + k * (k + 1) // 2 + c)
            for j in range(LANES):
                ratio = rows[head, j] * rows[diagonal, j]
                rows[end, j] -= rows[head, j] * ratio
                rows[head, j] = ratio


@compile_if_possible
def _substitute(rows, gram, right, p):
    """Solve in place with the factors of `_factorise`."""
    for c in range(p):
        for i in range(c + 1, p):
            add_product(rows, right + i, -1.0, gram + i * (i + 1) // 2 + c, right + c)
    for c in range(p - 1, -1, -1):
        diagonal = gram + c * (c + 1) // 2 + c
        for j in range(LANES):
            rows[right + c, j] *= rows[diagonal, j]
        for k in range(c + 1, p):
            add_product(rows, right + c, -1.0, gram + k * (k + 1) // 2 + c, right + k)


@compile_if_possible
def _begin(rows, basis, products, ones, at, logit, weight, state, target, gram, free):
    """Statistics of these cases, and coefficients of a least-squares fit."""
    n_levels, p = basis.shape
    clear(rows, state, state + p)
    clear(rows, target, target + p)
    clear(rows, gram, gram + len(products))
    for level in range(n_levels):
        for j in range(len(at)):
            k = int(ones[level, at[j]])
            rows[free, j] = ones[level, at[j]]
            rows[free + 1, j] = weight[level, k]
            rows[free + 2, j] = weight[level, k] * logit[level, k]
        for i in range(p):
            add(rows, target + i, basis[level, i], free)
            add(rows, state + i, basis[level, i], free + 2)
        for i in range(len(products)):
            add(rows, gram + i, products[i, level], free + 1)
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
    clear(rows, gram, gram + len(products))
    clear(rows, reached, rest + 1)
    clear(rows, slope, slope + 3 * p)
    for i in range(p):
        add_product(rows, reached, 1.0, target + i, state + i)
        add(rows, slope + i, 1.0, target + i)
    for level in range(n_levels):
        count = counts[level]
        combine(rows, row, basis[level], state)
        exponentials(rows, bits, odds + level, row, other)
        u, v, s = odds + level, w + level, a + level
        for j in range(LANES):
            rows[rest, j] += abs(rows[row, j]) > LARGEST_LOGIT
            e = rows[u, j]
            q = 1.0 / (1.0 + e)
            rows[row, j] = -count * e * q
            rows[v, j] = count * e * q * q
            rows[s, j] = (1.0 - e) * q
            rows[other, j] = 1.0 + e
        subtract_logs(rows, bits, reached, count, other, u, spare)
        for i in range(p):
            add(rows, slope + i, basis[level, i], row)
        for i in range(len(products)):
            add(rows, gram + i, products[i, level], v)
    _factorise(rows, gram, p)
    for i in range(p):
        for j in range(LANES):
            slant = rows[slope + i, j]
            rows[step + i, j] = slant
            rows[rest, j] += _SLANT * slant * slant
    _substitute(rows, gram, step, p)
    # the second derivative corrects Newton's step, at the price of another right side
    for level in range(n_levels):
        v, s = w + level, a + level
        combine(rows, row, basis[level], step)
        for j in range(LANES):
            rows[row, j] *= -0.5 * rows[v, j] * rows[s, j] * rows[row, j]
        for i in range(p):
            add(rows, bend + i, basis[level, i], row)
    _substitute(rows, gram, bend, p)
    clear(rows, spare, spare + 1)
    for i in range(p):
        add(rows, step + i, 1.0, bend + i)
        add(rows, state + i, 1.0, step + i)
        add_product(rows, reached, 1.0, slope + i, step + i)
    for level in range(n_levels):
        inverse = 1.0 / counts[level]
        v, s = w + level, a + level
        combine(rows, row, basis[level], step)
        for j in range(LANES):
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


def longest_run(n_cases: int) -> int:
    """Most neighbours to fit one after the other, so that no lane is idle for long.

    Parameters
    ----------
    n_cases : int

    Returns
    -------
    int

    Examples
    --------
    >>> [longest_run(n) for n in (100, 1000, 100000)]
    [1, 2, 16]
    """
    return min(_RUN, max(1, n_cases // (_RUNS_A_LANE * LANES)))


@compile_if_possible
def _runs(ones, along, longest):
    """First cases of runs, where the labels 1 of one level go up by one; the end."""
    n_levels, n_cases = ones.shape
    first, n = np.empty(n_cases + 1, dtype=np.int64), 0
    for c in range(n_cases):
        goes_on = c > 0 and c - first[n - 1] < longest
        for level in range(n_levels):
            goes_on &= ones[level, c] == ones[level, c - 1] + (level == along)
        if not goes_on:
            first[n] = c
            n += 1
    first[n] = n_cases
    return first[: n + 1]


@compile_if_possible
def _longest_first(first, longest, begin, stop):
    """Write where runs begin and stop, so that all lanes come to an end together."""
    place = np.zeros(longest + 1, dtype=np.int64)
    for r in range(len(first) - 1):
        place[longest - (first[r + 1] - first[r]) + 1] += 1
    place = np.cumsum(place)
    for r in range(len(first) - 1):
        shorter = longest - (first[r + 1] - first[r])
        begin[place[shorter]], stop[place[shorter]] = first[r], first[r + 1]
        place[shorter] += 1


@compile_if_possible
def _go_on(rows, ahead, on, before, state, target, gram, spare):
    """Start the next case of some lanes, along the tangent at the maximum before.

    With two maxima before, it goes from the first of them along the tangent at the
    second, twice as far. ``on`` is how many there are, at most 2; 0 leaves a lane as it
    is.
    """
    p = len(ahead)
    for i in range(p):
        for j in range(LANES):
            rows[spare + i, j] = ahead[i]
    _substitute(rows, gram, spare, p)
    for i in range(p):
        for j in range(LANES):
            here, change = rows[state + i, j], rows[spare + i, j]
            there, last = here + change, rows[before + i, j]
            there = last + 2.0 * change if on[j] > 1.0 else there
            rows[state + i, j] = there if on[j] > 0.0 else here
            rows[before + i, j] = here if on[j] > 0.0 else last
            rows[target + i, j] += ahead[i] if on[j] > 0.0 else 0.0


@compile_if_possible
def maxima(counts, basis, products, ones, logit, weight, longest):
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
    longest : int
        Most cases that start from each other one after the other, from `longest_run`.

    Returns
    -------
    ndarray of shape (B,)
        Nats; nan where a general method has to find it.

    Notes
    -----
    Where one case has one label 1 more than the case before, at the largest level, its
    fit starts from the one before; where that leads astray, on its own.
    """
    n_levels, p = basis.shape
    n_cases = ones.shape[1]
    along = np.argmax(counts)
    first = _runs(ones, along, longest)
    n_runs = len(first) - 1
    # a case may be begun once more, and so may the case after it
    begin, stop = np.empty((2, n_runs + 2 * n_cases), dtype=np.int64)
    _longest_first(first, longest, begin, stop)
    value = np.full(n_cases, np.nan)
    state, target, next_state, next_target = 0, p, 2 * p, 3 * p
    before, gram = 4 * p, 5 * p
    free = gram + len(products)
    slope = free + 5
    rows = np.zeros((slope + 3 * p + 3 * n_levels, LANES))
    bits = rows.view(np.int64)
    case, end = np.full(LANES, -1), np.zeros(LANES, dtype=np.int64)
    age, n_done = np.zeros(LANES, dtype=np.int64), np.zeros(LANES, dtype=np.int64)
    on, batch, begun, run = np.zeros(LANES), 0, 0, 0
    while True:
        n_busy = 0
        for j in range(LANES):
            if case[j] < 0 and run < n_runs:
                if run == begun:
                    batch, begun = run, min(run + LANES, n_runs)
                    _begin(
                        rows,
                        basis,
                        products,
                        ones,
                        begin[batch:begun],
                        logit,
                        weight,
                        next_state,
                        next_target,
                        gram,
                        free,
                    )
                lane = run - batch
                for i in range(2 * p):
                    rows[state + i, j] = rows[next_state + i, lane]
                case[j], end[j], age[j], n_done[j] = begin[run], stop[run], 0, 0
                run += 1
            n_busy += case[j] >= 0
        if n_busy == 0:
            return value
        _step(rows, bits, counts, basis, products, state, target, gram, free)
        for j in range(LANES):
            on[j] = 0.0
            if case[j] >= 0:
                age[j] += 1
                if _is_settled(rows, j, p, free, _SETTLED):
                    value[case[j]] = rows[free, j]
                    n_done[j] += 1
                    case[j] += 1
                    if case[j] == end[j]:
                        case[j] = -1
                    else:
                        on[j], age[j] = min(n_done[j], 2), 0
                elif n_done[j] > 0 and (
                    age[j] == _PATIENCE or rows[free + 4, j] > _LONGEST
                ):
                    begin[n_runs], stop[n_runs] = case[j], end[j]
                    n_runs += 1
                    case[j] = -1
                elif age[j] == _STEPS:
                    if case[j] + 1 < end[j]:
                        begin[n_runs], stop[n_runs] = case[j] + 1, end[j]
                        n_runs += 1
                    case[j] = -1
                elif rows[free + 4, j] > _LONGEST:
                    back = _LONGEST / rows[free + 4, j] - 1.0
                    for i in range(p):
                        rows[state + i, j] += back * rows[slope + p + i, j]
        _go_on(rows, basis[along], on, before, state, target, gram, slope)
