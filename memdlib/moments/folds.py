"""Splits that depend on what a row holds, not on where it stands.

The number of features is chosen on rows that the ranking has not seen. The usual
splitters draw row *numbers*; then a row of weight two and the same row written twice
give different models, and copies of one row can land on both sides of the split. Here a
keyed hash of the row itself decides: copies stay together, order does not matter, and
weights mean copies. It is a hash of values: the same rows dense or sparse, in single or
double precision, get the same folds.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib.validation import sum_duplicates

Words = NDArray[np.uint64]

# Entries of dense data that are hashed at a time.
_BLOCK = 2**17


def content_positions(
    X,
    codes: NDArray[np.intp],
    weight: NDArray[np.float64],
    random_state: np.random.RandomState,
) -> NDArray[np.float64]:
    """Give each row a random position in (0, 1), evenly spread within its class.

    Within a class the rows are put in the order of a keyed hash of their values; the
    position is the share of the class weight that lies before the middle of the row.
    Cutting (0, 1) into k parts gives k class-stratified folds, cutting it at 0.2 a
    stratified 20 % sample.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, d)
    codes : ndarray of shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        Positive instance weights.
    random_state : RandomState
        Draws the key of the hash.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    Values are rounded to single precision first; rows that agree then and not before
    stand side by side, in the order of a second hash.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [1.0], [3.0]])
    >>> rng = np.random.RandomState(0)
    >>> at = content_positions(X, np.zeros(4, dtype=int), np.ones(4), rng)
    >>> bool(at[0] == at[2])
    True
    """
    if sparse.issparse(X):
        X = sum_duplicates(X.tocsr())
    seed = np.frombuffer(random_state.bytes(8), dtype=np.uint64)
    first = _digests(X, seed, np.float32)
    order = np.lexsort((first, codes))
    tied = _equals_last(order, first, codes)
    second = np.zeros_like(first)
    if tied.any() and X.dtype != np.float32:
        rows = np.flatnonzero(np.isin(first, first[order[tied]]))
        second[rows] = _digests(X[rows], seed, np.float64)
        order = np.lexsort((second, first, codes))
        tied = _equals_last(order, second, first, codes)
    # groups of equal rows, class after class
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(~tied) - 1
    size = np.bincount(group, weights=weight)
    code = codes[order[~tied]]
    total = np.bincount(code, weights=size)
    before = np.cumsum(size) - 0.5 * size - (np.cumsum(total) - total)[code]
    return (before / total[code])[group]


def _equals_last(order, *keys) -> NDArray[np.bool_]:
    """Whether a row in this order agrees with the one before it."""
    equal = np.zeros(len(order), dtype=bool)
    equal[1:] = np.all([k[order[1:]] == k[order[:-1]] for k in keys], axis=0)
    return equal


@np.errstate(over="ignore")
def _digests(X, seed: Words, kind: type) -> Words:
    """Hash of each row: words of its values times keys of their columns, mixed.

    The words are the bits of the values, 32 at a time; those of zero are zero, so that
    it does not matter whether a zero is stored.

    References
    ----------
    .. [1] Lemire & Kaser, Strongly universal string hashing is fast, Computer Journal
       57 (2014), section 2 (multilinear hashing).
    .. [2] Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA
       2014, figure 4 (the mixing function).
    """
    n, d = X.shape
    per_value = np.dtype(kind).itemsize // 4
    keys = _mix(seed + np.arange(1, per_value * d + 1, dtype=np.uint64) * _GOLDEN)
    keys = keys.reshape(per_value, d)
    if sparse.issparse(X):
        words = _words(X.data, kind)
        structure = X.indices, X.indptr
        sums = [sparse.csr_array((w, *structure), X.shape) @ k
                for w, k in zip(words, keys, strict=True)]  # fmt: skip
        return _mix(np.sum(sums, axis=0, dtype=np.uint64))
    found, step = np.zeros(n, dtype=np.uint64), max(1, _BLOCK // d)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        for w, k in zip(_words(X[rows], kind), keys, strict=True):
            found[rows] += w @ k
    return _mix(found)


def _words(values, kind: type) -> list[Words]:
    # adding zero turns -0.0 into 0.0
    bits = (np.asarray(values).astype(kind, order="C") + kind(0)).view(np.uint32)
    if kind is np.float32:
        return [bits.astype(np.uint64)]
    return [bits[..., half::2].astype(np.uint64) for half in (0, 1)]


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(x: Words) -> Words:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_digests(X, seed: Words, kind: type) -> Words:
    """Keyed hash of each row, by which :func:`content_positions` orders the rows.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
        Sparse data without repeated entries.
    seed : ndarray of shape (1,)
        Key of the hash.
    kind : {np.float32, np.float64}
        Precision to which the values are rounded first.

    Returns
    -------
    ndarray of uint64 of shape (n,)
        It does not depend on the other rows.
    """
    return _digests(X, seed, kind)
