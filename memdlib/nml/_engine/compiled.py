"""Loops over label counts, compiled where numba is installed.

`available` tells whether they are; every use has a way in NumPy as well. Kernels take
contiguous arrays and release the interpreter lock, so that threads run side by side.
"""

import os

import numpy as np

try:
    import numba
except ImportError:  # everything has a way without it
    numba = None


def available() -> bool:
    """Whether numba is installed, so that the kernels are compiled."""
    return numba is not None


def compile_if_possible(function):
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


@compile_if_possible
def interior(sizes, order, inside, log_binomials, first, last):
    """Interior label counts from one position of their grid to another.

    Parameters
    ----------
    sizes : ndarray of shape (L,)
        Numbers of label counts at each level.
    order : ndarray of shape (L,)
        The levels of the grid, the last of which changes fastest.
    inside : ndarray of shape (3 ** L,)
        Which patterns of pure and mixed levels are in the interior.
    log_binomials : ndarray of shape (L, N)
        Logarithms of the binomial coefficients of each level.
    first, last : int
        Positions; the last is not included.

    Returns
    -------
    ones : ndarray of shape (L, B)
        As floats.
    log_weight : ndarray of shape (B,)
        Logarithms of how often they count.
    """
    n_levels, n = len(sizes), 0
    ones, log_weight = np.empty((n_levels, last - first)), np.empty(last - first)
    k = np.empty(n_levels, dtype=np.int64)
    n_all, rest = 1, first
    for level in order[::-1]:
        n_all *= sizes[level]
        k[level] = rest % sizes[level]
        rest //= sizes[level]
    fast, flat = order[-1], first
    place = 3 ** (n_levels - 1 - fast)
    while flat < last:
        pattern, log_others = 0, 0.0
        for level in range(n_levels):
            kind = int(k[level] > 0) + (k[level] == sizes[level] - 1)
            pattern = 3 * pattern + (kind if level != fast else 0)
            log_others += log_binomials[level, k[level]] if level != fast else 0.0
        end = min(last, flat + sizes[fast] - k[fast])
        for position in range(flat, end):
            own = k[fast] + position - flat
            kind = int(own > 0) + (own == sizes[fast] - 1)
            if inside[pattern + place * kind]:
                # the vector in the middle is its own mirror image
                half = -np.log(2.0) if 2 * position == n_all - 1 else 0.0
                log_weight[n] = half + log_others + log_binomials[fast, own]
                for level in range(n_levels):
                    ones[level, n] = k[level]
                ones[fast, n] = own
                n += 1
        k[fast], axis, flat = 0, n_levels - 2, end
        k[order[axis]] += 1
        while axis > 0 and k[order[axis]] == sizes[order[axis]]:
            k[order[axis]] = 0
            axis -= 1
            k[order[axis]] += 1
    return ones[:, :n].copy(), log_weight[:n].copy()


@compile_if_possible
def fill_tables(tables, ends, binomials, counts, shifts):
    """Lengthen a table by one level after the other.

    Parameters
    ----------
    tables : ndarray of shape (T,)
        One after the other; all but the first are zero.
    ends : ndarray of shape (L + 1,)
        Where each of them ends.
    binomials : ndarray of shape (L, N)
        Binomial coefficients of each level.
    counts, shifts : ndarray of shape (L,)
        Samples at each level, and what one label 1 adds to the key.

    Returns
    -------
    None
        The numbers are added to ``tables``.
    """
    start = 0
    for level in range(len(counts)):
        middle, end = ends[level], ends[level + 1]
        for k in range(counts[level] + 1):
            at, number = middle + k * shifts[level], binomials[level, k]
            for i in range(min(middle - start, end - at)):
                tables[at + i] += number * tables[start + i]
        start = middle


@compile_if_possible
def likeliest(keys, tables, ends, binomials, counts, shifts):
    """Likeliest label count of each level with these keys, from the last level on.

    Parameters
    ----------
    keys : ndarray of shape (B,)
    tables, ends, binomials, counts, shifts
        As `fill_tables` leaves them.

    Returns
    -------
    ndarray of shape (L, B)
    """
    n_levels = len(counts)
    found, rest = np.zeros((n_levels, keys.size), dtype=np.int64), keys.copy()
    for level in range(n_levels - 1, -1, -1):
        table = tables[ends[level - 1] if level else 0 : ends[level]]
        n, shift, numbers = counts[level], shifts[level], binomials[level]
        for i in range(keys.size):
            most, likely = 0.0, 0
            for k in range(n + 1):
                before = rest[i] - k * shift
                if 0 <= before < table.size and numbers[k] * table[before] > most:
                    most, likely = numbers[k] * table[before], k
            found[level, i] = likely
            rest[i] -= shift * likely
    return found
