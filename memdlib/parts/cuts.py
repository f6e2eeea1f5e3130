"""Rows set aside by their keyed hash, where nobody holds all rows at once.

In memory the rows of a class are put in the order of their hash, and cut at given
shares of the weight (:func:`memdlib.moments.content_positions`). The same cuts are
found here without sorting all rows: a histogram of the hashes says in which narrow
bucket each cut lies, and the few hashes of these buckets say where. A row then knows
its fold by itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.moments.folds import RowKeys

Array = NDArray[np.float64]
Words = NDArray[np.uint64]

# Of the hashes, by their first 12 bits.
N_BUCKETS, _SHIFT = 2**12, np.uint64(52)

# Where no row lies beyond a cut; a row has this hash with probability 2^-128.
_END = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class Shares:
    """Where each class is cut: at shares of its weight.

    Parameters
    ----------
    scale : float
    thresholds : tuple of float
        A row at position p lies beyond those cuts whose threshold p * scale reaches.

    Examples
    --------
    >>> Shares.of(0.2), Shares.of(3)
    (Shares(scale=1.0, thresholds=(0.2,)), Shares(scale=3, thresholds=(1, 2)))
    """

    scale: float
    thresholds: tuple[float, ...]

    @classmethod
    def of(cls, validation: float) -> "Shares":
        """Cuts of the parameter ``validation``: one share, or folds."""
        if validation < 1:
            return cls(1.0, (validation,))
        return cls(int(validation), tuple(range(1, int(validation))))

    @property
    def n_folds(self) -> int:
        """One more than there are cuts."""
        return len(self.thresholds) + 1

    def buckets(self, histogram: Array) -> NDArray[np.intp]:
        """Buckets in which the cuts lie.

        Parameters
        ----------
        histogram : ndarray of shape (K, N_BUCKETS)
            Weight of the rows of each class by :func:`bucket`.

        Returns
        -------
        ndarray of shape (K, B)
        """
        upto = np.cumsum(histogram, axis=1)
        reached = upto / upto[:, -1:] * self.scale
        at = [(reached >= t).argmax(axis=1) for t in self.thresholds]
        return np.stack(at, axis=1)


@dataclass(frozen=True)
class HashCuts:
    """Hashes at which the rows of each class are cut into folds.

    Parameters
    ----------
    keys : RowKeys
        Hashes of the rows.
    first, second : ndarray of shape (K, B)
        A row lies beyond a cut if its two hashes do, in lexicographic order.
    """

    keys: RowKeys
    first: Words
    second: Words

    @classmethod
    def find(
        cls, keys: RowKeys, shares: Shares, histogram: Array, border: dict[str, NDArray]
    ) -> "HashCuts":
        """Cuts from the weights of the buckets and the rows in those that matter.

        Parameters
        ----------
        keys : RowKeys
        shares : Shares
        histogram : ndarray of shape (K, N_BUCKETS)
        border : dict of ndarray of shape (g,)
            "code", "first", "second" and "size": class, hashes and weight of the
            groups of equal rows in the buckets of the cuts, in this order.

        Returns
        -------
        HashCuts
        """
        upto = np.cumsum(histogram, axis=1)
        buckets = shares.buckets(histogram)
        found = np.full((2, *buckets.shape), _END, dtype=np.uint64)
        for (k, b), j in np.ndenumerate(buckets):
            own = (border["code"] == k) & (bucket(border["first"]) == j)
            size = border["size"][own]
            before = np.cumsum(size) - 0.5 * size + (upto[k, j - 1] if j else 0.0)
            beyond = before / upto[k, -1] * shares.scale >= shares.thresholds[b]
            if beyond.any():
                at = np.flatnonzero(own)[beyond.argmax()]
                found[:, k, b] = border["first"][at], border["second"][at]
            elif j + 1 < N_BUCKETS:  # the next bucket begins beyond the cut
                found[:, k, b] = np.uint64(j + 1) << _SHIFT, 0
        return cls(keys, *found)

    def folds(self, X, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Fold of each row.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Observed rows.
        codes : ndarray of shape (n,)

        Returns
        -------
        ndarray of int of shape (n,)
        """
        first = self.keys.first(X)
        cut = self.first[codes]
        beyond = first[:, None] > cut
        equal = first[:, None] == cut
        rows = np.flatnonzero(equal.any(axis=1))
        if rows.size:
            second = self.keys.second(X[rows])
            beyond[rows] |= equal[rows] & (second[:, None] >= self.second[codes[rows]])
        return beyond.sum(axis=1)


def bucket(first: Words) -> NDArray[np.intp]:
    """Bucket of a first hash."""
    return (first >> _SHIFT).astype(np.intp)


def hash_histogram(X, codes, weight, n_classes: int, keys: RowKeys) -> Array:
    """Weight of the rows of each class in each bucket.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
        Observed rows.
    codes : ndarray of shape (n,)
    weight : ndarray of shape (n,)
    n_classes : int
    keys : RowKeys

    Returns
    -------
    ndarray of shape (n_classes, N_BUCKETS)
    """
    cell = codes * N_BUCKETS + bucket(keys.first(X))
    size = n_classes * N_BUCKETS
    return np.bincount(cell, weights=weight, minlength=size).reshape(-1, N_BUCKETS)


def border_rows(X, codes, weight, buckets, keys: RowKeys) -> dict[str, NDArray]:
    """Hashes and weights of the rows in the buckets of the cuts.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
        Observed rows.
    codes : ndarray of shape (n,)
    weight : ndarray of shape (n,)
    buckets : ndarray of shape (K, B)
        Those of each class.
    keys : RowKeys

    Returns
    -------
    dict of ndarray
        As :meth:`HashCuts.find` takes it.
    """
    first = keys.first(X)
    rows = (bucket(first)[:, None] == buckets[codes]).any(axis=1)
    return merged_groups(
        {
            "code": codes[rows],
            "first": first[rows],
            "second": keys.second(X[rows]),
            "size": weight[rows],
        }
    )


def merged_groups(border: dict[str, NDArray]) -> dict[str, NDArray]:
    """Rows of equal class and hashes as one, in the order of these.

    Parameters
    ----------
    border : dict of ndarray
        Of rows, or of groups of rows.

    Returns
    -------
    dict of ndarray
    """
    keys = [border[name] for name in ("second", "first", "code")]
    order = np.lexsort(keys)
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    found = {name: values[order][new] for name, values in border.items()}
    group = np.cumsum(new) - 1
    found["size"] = np.bincount(group, border["size"][order], len(found["code"]))
    return found
