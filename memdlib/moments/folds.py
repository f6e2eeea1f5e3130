"""Splits that depend on what a row holds, not on where it stands.

The number of features is chosen on rows that the ranking has not seen. The usual
splitters draw row *numbers*; then a row of weight two and the same row written twice
give different models, and copies of one row can land on both sides of the split. Here a
keyed hash of the row itself decides: copies stay together, order does not matter, and
weights mean copies.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def content_positions(
    X,
    codes: NDArray[np.intp],
    weight: NDArray[np.float64],
    random_state: np.random.RandomState,
) -> NDArray[np.float64]:
    """Give each row a random position in (0, 1), evenly spread within its class.

    Within a class the rows are put in the order of a keyed hash of their bytes; the
    position is the share of the class weight that lies before the middle of the row.
    Cutting (0, 1) into k parts gives k class-stratified folds, cutting it at 0.2 a
    stratified 20 % sample.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    codes : ndarray of shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        Positive instance weights.
    random_state : RandomState
        Draws the key of the hash.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [1.0], [3.0]])
    >>> rng = np.random.RandomState(0)
    >>> at = content_positions(X, np.zeros(4, dtype=int), np.ones(4), rng)
    >>> bool(at[0] == at[2])
    True
    """
    key = random_state.bytes(16)
    digest = np.array([_digest(row, key) for row in _rows(X)])
    position = np.empty(len(codes))
    for k in np.unique(codes):
        member = np.flatnonzero(codes == k)
        _, group = np.unique(digest[member], return_inverse=True)
        size = np.bincount(group, weights=weight[member])
        position[member] = ((np.cumsum(size) - 0.5 * size) / size.sum())[group]
    return position


def _rows(X):
    """Yield the bytes that determine each row, the same for equal rows."""
    if sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        data, indices = X.data.astype(np.float64), X.indices.astype(np.int64)
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            yield indices[start:stop].tobytes() + data[start:stop].tobytes()
    else:
        for row in X:
            # adding zero turns -0.0 into 0.0
            yield (np.asarray(row, dtype=np.float64) + 0.0).tobytes()


def _digest(row: bytes, key: bytes) -> int:
    digest = hashlib.blake2b(row, key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
