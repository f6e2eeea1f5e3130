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
        axis = n_levels - 1
        k[order[axis]] += 1
        while axis > 0 and k[order[axis]] == sizes[order[axis]]:
            k[order[axis]] = 0
            axis -= 1
            k[order[axis]] += 1
    return ones[:, :n].copy(), log_weight[:n].copy()


@compile_if_possible
def lengthen(shorter, binomials, shift, longer):
    """Add a level of these binomials and this shift to a table, in ``longer``."""
    for k in range(len(binomials)):
        at, number = k * shift, binomials[k]
        for i in range(min(shorter.size, longer.size - at)):
            longer[at + i] += number * shorter[i]


@compile_if_possible
def likeliest(keys, table, binomials, shift):
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
