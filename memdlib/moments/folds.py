"""Splits that depend on what a row holds, not on where it stands.

The number of features is chosen on rows that the ranking has not seen. The usual
splitters draw row *numbers*; then a row of weight two and the same row written twice
give different models, and copies of one row can land on both sides of the split. Here a
keyed hash of the row itself decides: copies stay together, order does not matter, and
weights mean copies. What is hashed is the distance of the row from the mean of all
rows, every column in units of its standard deviation: it knows neither the units, zeros
and signs of the columns nor their order, as little as the models do.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib.moments.spread import Spread, row_blocks
from memdlib.validation import sum_duplicates

Words = NDArray[np.uint64]

_BELOW_ONE = np.nextafter(1.0, 0.0)

# Bits of a distance that decide where its row stands, and that tell rows apart there.
_COARSE, _FINE = 20, 36


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
    What is hashed is 1 + q to 20 bits, where q is the sum of z^2 over the columns and
    z = (x - mean) / standard deviation; each class counts the same in these two,
    so that factors of whole classes change nothing. Columns that are constant, or
    vary by no more than rounding errors, count for nothing.

    Data in other units, with other zeros, signs or order of columns, dense or sparse,
    have the same q but for rounding. An error of a few 2^-53 of q changes its first 20
    bits with a probability of about 2^-53 / 2^-21 for every row (measured: 1e-10 to
    1e-9). The row concerned then takes another place; the others keep theirs but for
    its weight. An offset of r standard deviations rounds the values themselves, which
    makes that up to r times as probable.

    Rows that agree to 20 bits stand side by side, in the order of a hash of 36 bits;
    those that agree in these too, in the order of a hash of all values and their
    columns. Only there do units and the order of columns matter: in symmetric designs
    (nothing that is the same for every order of columns tells the rows of a full
    factorial of -1 and 1 apart), and where rows differ in columns of the same mean and
    variance only, as binary columns may.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 5.0], [2.0, 0.0], [1.0, 5.0], [4.0, 7.0]])
    >>> def at(X):
    ...     rng = np.random.RandomState(0)
    ...     return content_positions(X, np.zeros(4, dtype=int), np.ones(4), rng)
    >>> bool(at(X)[0] == at(X)[2])
    True
    >>> bool((at(X) == at(1000 * X[:, ::-1] - 3)).all())
    True
    """
    if sparse.issparse(X):
        X = sum_duplicates(X.tocsr())
    seed = np.frombuffer(random_state.bytes(8), dtype=np.uint64)
    share = weight / np.bincount(codes, weights=weight)[codes]
    keys = RowKeys.of(seed, Spread.of(X, share))
    first = keys.first(X)
    order = np.lexsort((first, codes))
    tied = _equals_last(order, first, codes)
    if tied.any():
        second = np.zeros_like(first)
        rows = np.flatnonzero(np.isin(first, first[order[tied]]))
        second[rows] = keys.second(X[rows])
        order = np.lexsort((second, first, codes))
        tied = _equals_last(order, second, first, codes)
    # groups of equal rows, class after class
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(~tied) - 1
    size = np.bincount(group, weights=weight)
    code = codes[order[~tied]]
    total = np.bincount(code, weights=size)
    before = np.cumsum(size) - 0.5 * size - (np.cumsum(total) - total)[code]
    # a sum of weights far apart may round up to one
    return np.minimum(before / total[code], _BELOW_ONE)[group]


def _equals_last(order, *keys) -> NDArray[np.bool_]:
    """Whether a row in this order agrees with the one before it."""
    equal = np.zeros(len(order), dtype=bool)
    equal[1:] = np.all([k[order[1:]] == k[order[:-1]] for k in keys], axis=0)
    return equal


@dataclass(frozen=True)
class RowKeys:
    """Keyed hashes of rows, by which :func:`content_positions` orders them.

    The hashes of a row do not depend on the other rows but through scale and shift.

    Parameters
    ----------
    seed : ndarray of shape (1,)
        Key of the hashes.
    origin, scale, shift : ndarray of shape (d,)
        Of the standardised columns, (x / 2 - origin) * scale - shift.
    of_zeros : ndarray of shape (d,)
        Squares of what they make of zero; zero where no value can be zero.
    """

    seed: Words
    origin: NDArray[np.float64]
    scale: NDArray[np.float64]
    shift: NDArray[np.float64]
    of_zeros: NDArray[np.float64]

    @classmethod
    def of(cls, seed: Words, spread: Spread) -> "RowKeys":
        """Keys of data of this spread.

        Parameters
        ----------
        seed : ndarray of shape (1,)
        spread : Spread

        Returns
        -------
        RowKeys
        """
        origin, scale, shift = spread.standardising()
        zeros = (spread.low <= 0) & (spread.high >= 0)
        of_zeros = np.where(zeros, origin * scale + shift, 0.0) ** 2
        return cls(seed, origin, scale, shift, of_zeros)

    def first(self, X) -> Words:
        """Hash of the distance of each row from the mean.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Sparse data without repeated entries.

        Returns
        -------
        ndarray of uint64 of shape (n,)
            The first half of the word hashes the distance to 20 bits, the second
            half to 36.
        """
        q = self._distances(X)
        coarse, fine = (
            _hash(_rounded(1.0 + q, b), self.seed) for b in (_COARSE, _FINE)
        )
        return (coarse >> _HALF) << _HALF | fine >> _HALF

    def second(self, X) -> Words:
        """Hash of the values of each row and their columns.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Sparse data without repeated entries.

        Returns
        -------
        ndarray of uint64 of shape (n,)
        """
        return _digests(X, self.seed)

    def _distances(self, X) -> NDArray[np.float64]:
        """Sum of the squares of the standardised columns."""
        of = self._of_sparse if sparse.issparse(X) else self._of_dense
        return np.concatenate([of(X[rows]) for rows in row_blocks(X)])

    def _of_dense(self, X):
        z = np.multiply(X, 0.5, dtype=np.float64, order="C")
        z -= self.origin
        z *= self.scale
        z -= self.shift
        z *= z
        # the sum of a row in this layout is the same wherever the row stands
        return z.sum(axis=1)

    def _of_sparse(self, X):
        z = X.data.astype(np.float64) / 2 - self.origin.take(X.indices)
        z = z * self.scale.take(X.indices) - self.shift.take(X.indices)
        more = z * z - self.of_zeros.take(X.indices)
        more = sparse.csr_array((more, X.indices, X.indptr), X.shape).sum(axis=1)
        return np.maximum(self.of_zeros.sum() + more, 0.0)


def _rounded(values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


@np.errstate(over="ignore")
def _hash(values: NDArray[np.float64], seed: Words) -> Words:
    return _mix(_mix(values.view(np.uint64)) ^ seed)


@np.errstate(over="ignore")
def _digests(X, seed: Words) -> Words:
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
    keys = _mix(seed + np.arange(1, 2 * d + 1, dtype=np.uint64) * _GOLDEN)
    keys = keys.reshape(2, d)
    if sparse.issparse(X):
        words = _words(X.data)
        structure = X.indices, X.indptr
        sums = [sparse.csr_array((w, *structure), X.shape) @ k
                for w, k in zip(words, keys, strict=True)]  # fmt: skip
        return _mix(np.sum(sums, axis=0, dtype=np.uint64))
    found = np.zeros(n, dtype=np.uint64)
    for rows in row_blocks(X):
        for w, k in zip(_words(X[rows]), keys, strict=True):
            found[rows] += w @ k
    return _mix(found)


def _words(values) -> list[Words]:
    # adding zero turns -0.0 into 0.0
    bits = (np.asarray(values).astype(np.float64, order="C") + 0.0).view(np.uint32)
    return [bits[..., half::2].astype(np.uint64) for half in (0, 1)]


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def _mix(x: Words) -> Words:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
