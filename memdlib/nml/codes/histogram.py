"""Histograms whose bins make the NML code of a sample shortest.

The unit interval is cut into G cells of equal width; coarser grids join 2, 4, 8, ..
neighbours. A histogram with K bins, whose bounds are bounds of cells, is a multinomial
of K outcomes, spread evenly over each bin. With n_b values in bin b, of width w_b, it
codes n values with

    sum_b n_b log(n w_b / n_b) + log C(K, n) + log binom(G - 1, K - 1)

nats, error, complexity and the choice of the bounds, and says before, with codes of
equal lengths, which of the grids it uses and how many bins. Errors add up over bins, so
that dynamic programming finds the best bounds for every number of bins.
"""

from dataclasses import dataclass
from math import comb, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from memdlib.nml.codes.checks import check_counts
from memdlib.nml.codes.multinomial import multinomial_complexity
from memdlib.validation import check_integer

Array = NDArray[np.float64]

# Errors of bins that are held at a time.
_ENTRIES = 2**22


@dataclass(frozen=True)
class Histogram:
    """Bins of a histogram on the unit interval, and what its code costs.

    Parameters
    ----------
    edges : ndarray of shape (K + 1,)
        Bounds of the bins, from 0 to 1.
    counts : ndarray of int, shape (K,)
        Values in each.
    codelength : float
        Of the values, in nats, as densities: negative where they are far above one.

    Examples
    --------
    >>> found = Histogram(np.array([0.0, 0.25, 1.0]), np.array([3, 0]), 0.0)
    >>> found.log_density(np.array([0.1, 0.9])).round(3).tolist()
    [1.253, -1.792]
    """

    edges: Array
    counts: NDArray[np.int64]
    codelength: float

    def log_density(self, u: ArrayLike) -> Array:
        """Log density with half a value more in each bin (Krichevsky and Trofimov).

        Parameters
        ----------
        u : array_like of shape (n,)
            In [0, 1].

        Returns
        -------
        ndarray of shape (n,)
        """
        share = (self.counts + 0.5) / (self.counts.sum() + 0.5 * len(self.counts))
        place = np.searchsorted(self.edges, u, side="right") - 1
        heights = np.log(share / np.diff(self.edges))
        return heights[np.clip(place, 0, len(heights) - 1)]


def optimal_histogram(counts: ArrayLike, max_bins: int = 16) -> Histogram:
    """Histogram of shortest code for values in the cells of a grid.

    Parameters
    ----------
    counts : array_like of int, shape (G,)
        Values in each of G cells of equal width on the unit interval.
    max_bins : int, default=16
        The largest number of bins that is tried.

    Returns
    -------
    Histogram
        Of shortest codes one with the fewest bins, on the finest of its grids.

    Raises
    ------
    ValueError
        If ``counts`` is empty or holds anything but nonnegative integers.

    Notes
    -----
    O(G^2 ``max_bins``) operations, whatever the number of values.

    References
    ----------
    .. [1] P. Kontkanen and P. Myllymaki, MDL histogram density estimation, AISTATS
       2007, whose grid is one, of the precision of the data.

    Examples
    --------
    >>> optimal_histogram([9, 9, 10, 9, 0, 0, 1, 0]).edges.tolist()
    [0.0, 0.5, 1.0]
    """
    counts = check_counts(counts, "counts")
    return optimal_histograms(counts[None], check_integer(max_bins, "max_bins"))[0]


def optimal_histograms(counts: NDArray[np.int64], max_bins: int) -> list[Histogram]:
    """Histograms of shortest code of several columns with equally many values.

    Parameters
    ----------
    counts : ndarray of int, shape (d, G)
        Of equal sums n.
    max_bins : int

    Returns
    -------
    list of d Histogram
    """
    d, G = counts.shape
    sums = np.zeros((d, G + 1), dtype=np.int64)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    grids = [np.append(np.arange(0, G, 2**r), G) for r in range(G.bit_length())]
    rows = max(1, _ENTRIES // (G + 1) ** 2)
    found = []
    for start in range(0, d, rows):
        part = sums[start : start + rows]
        tried = [_on_grid(part, bounds, len(grids), max_bins) for bounds in grids]
        total = np.array([lengths.min(axis=1) for lengths, _ in tried])
        for i, r in enumerate(total.argmin(axis=0)):
            lengths, back = tried[r]
            bounds = grids[r][_places(back, i, len(grids[r]) - 1, lengths[i].argmin())]
            inside = np.diff(part[i, bounds])
            found.append(Histogram(bounds / G, inside, float(total[r, i])))
    return found


def _on_grid(sums, bounds, n_grids: int, max_bins: int):
    """Code lengths (d, K) for each number of bins, and where the last bin begins."""
    G, n = len(bounds) - 1, int(sums[0, -1])
    most = min(max_bins, G)
    table = xlogy(np.arange(n + 1.0), np.arange(n + 1.0))
    width = (bounds[:, None] - bounds) / bounds[-1]
    # entry [j, i] is of the bin from bound i to bound j
    inside = sums[:, bounds, None] - sums[:, None, bounds]
    proper = width > 0
    inside = np.where(proper, inside, 0)
    cost = inside * np.log(np.where(proper, width, 1.0)) - table[inside]
    cost[:, ~proper] = np.inf
    least, back = cost[:, :, 0], []
    errors = [least[:, G]]
    for _ in range(1, most):
        total = least[:, None, :] + cost
        back.append(total.argmin(axis=2))
        least = np.take_along_axis(total, back[-1][..., None], axis=2)[..., 0]
        errors.append(least[:, G])
    paid = [
        multinomial_complexity(n, k) + log(comb(G - 1, k - 1))
        for k in range(1, most + 1)
    ]
    said = log(n_grids) + log(most)
    return np.stack(errors, axis=1) + table[n] + np.array(paid) + said, back


def _places(back, i: int, last: int, more: int) -> NDArray[np.intp]:
    """Which bounds the bins of column i have, one bin and some more."""
    found = [last]
    for starts in reversed(back[:more]):
        found.append(int(starts[i, found[-1]]))
    return np.array([0, *reversed(found)])
