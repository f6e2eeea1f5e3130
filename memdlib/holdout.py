"""Splits that depend on what a row holds, not on where it stands.

The number of features is chosen on rows that the ranking has not seen. The usual
splitters draw row *numbers*; then a row of weight two and the same row written twice
give different models, and copies of one row can land on both sides of the split. Here a
keyed hash of the row itself decides: copies stay together, order does not matter, and
weights mean copies. What is hashed is the distance of the row from the mean of all
rows, every column in units of its standard deviation: it knows neither the units, zeros
and signs of the columns nor their order, as little as the models do.

For this :class:`Spread` collects range, mean and variance of every column; they add
over blocks of rows, like all moments here. Values are counted from the least one, in
powers of two, so that nothing overflows and columns far from zero keep their digits.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from memdlib._types import MatrixLike
from memdlib.validation import sum_duplicates

Array = NDArray[np.float64]

# Rows that are held out at most where that would take long: they tell ten temperatures
# and weights to a thousandth of a nat.
MOST_HELD_OUT = 10_000

# Entries that are handled at a time (a MiB of doubles stays in the cache).
_BLOCK = 2**17

# A standard deviation below this share of the values may be one of rounding errors.
_ROUNDING = 1e-13

# No value is scaled by more than 2^1000, which is a number.
_LEAST_EXPONENT = -1000


@dataclass(frozen=True)
class Spread:
    """Range, mean and sum of squares of every column.

    Parameters
    ----------
    weight : float
        Of all rows.
    low, high : ndarray of shape (d,)
        Least and largest values, in the units of the data.
    mean : ndarray of shape (d,)
        Less the least value, as a share of a power of two that the range does not
        exceed.
    square : ndarray of shape (d,)
        Weighted sum of the squares about the mean, as shares of its square.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1e300, 5.0], [3e300, 5.0]])
    >>> a, b = (Spread.of(X[[i]], np.ones(1)) for i in range(2))
    >>> origin, scale, shift = a.merge(b).standardising()
    >>> ((X / 2 - origin) * scale - shift).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    weight: float
    low: Array
    high: Array
    mean: Array
    square: Array

    @classmethod
    def of(cls, X: MatrixLike, weight: Array) -> "Spread":
        """Collect the spread of rows, in one pass.

        Parameters
        ----------
        X : ndarray or csr of shape (n, d)
            Finite; n >= 1. Sparse data without repeated entries, never densified.
        weight : ndarray of shape (n,)
            Positive.

        Returns
        -------
        Spread
        """
        of = cls._of_sparse if sparse.issparse(X) else cls._of_dense
        return reduce(cls.merge, (of(X[rows], weight[rows]) for rows in row_blocks(X)))

    @classmethod
    def _of_dense(cls, X, weight):
        low, high = (np.asarray(f(axis=0), np.float64) for f in (X.min, X.max))
        total = weight.sum()
        values = np.multiply(X, 0.5, dtype=np.float64)
        values -= low / 2
        values *= _units(low, high)
        mean = weight @ values / total
        values -= mean
        # what rounding has left of the mean
        rest = weight @ values / total
        values *= values
        return cls(total, low, high, mean + rest, weight @ values - total * rest**2)

    @classmethod
    def _of_sparse(cls, X, weight):
        n, d = X.shape
        column, data = X.indices, X.data.astype(np.float64, copy=False)
        share = np.repeat(weight, np.diff(X.indptr))
        full = np.bincount(column, minlength=d) == n
        low, high = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
        np.minimum.at(low, column, data)
        np.maximum.at(high, column, data)
        total = weight.sum()
        zeros = np.where(full, 0.0, total - np.bincount(column, share, d))
        unit = _units(low, high)
        zero = np.where(full, 0.0, -low / 2) * unit
        values = (data / 2 - low.take(column) / 2) * unit.take(column)
        mean = (np.bincount(column, share * values, d) + zeros * zero) / total
        values -= mean.take(column)
        zero -= mean
        power = share * values
        rest = (np.bincount(column, power, d) + zeros * zero) / total
        square = np.bincount(column, power * values, d) + zeros * zero**2
        return cls(total, low, high, mean + rest, square - total * rest**2)

    def merge(self, other: "Spread") -> "Spread":
        """Spread of both sets of rows together.

        Parameters
        ----------
        other : Spread
            Of the same columns.

        Returns
        -------
        Spread

        References
        ----------
        .. [1] Chan, Golub & LeVeque, Algorithms for computing the sample variance,
           American Statistician 37 (1983), equation 2.1.
        """
        low = np.minimum(self.low, other.low)
        high = np.maximum(self.high, other.high)
        unit = _units(low, high)
        factor, other_factor = (unit / _units(s.low, s.high) for s in (self, other))
        weight = self.weight + other.weight
        mean = self.mean * factor + (self.low / 2 - low / 2) * unit
        step = other.mean * other_factor + (other.low / 2 - low / 2) * unit - mean
        share = other.weight / weight
        # not by the square of a factor, which may overflow where a part is constant
        square = self.square * factor * factor
        square += other.square * other_factor * other_factor
        square += self.weight * share * step**2
        return Spread(weight, low, high, mean + share * step, square)

    def standardising(self) -> tuple[Array, Array, Array]:
        """Origin, scale and shift that give columns mean zero and variance one.

        Returns
        -------
        origin, scale, shift : ndarray of shape (d,)
            Of z = (x / 2 - origin) * scale - shift. The last two are zero for columns
            that are constant, or whose standard deviation rounding may explain, or has
            no inverse among numbers.
        """
        unit = _units(self.low, self.high)
        deviation = np.sqrt(np.maximum(self.square, 0.0) / self.weight)
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        varies = deviation / unit > _ROUNDING * largest
        deviation[~varies] = 1.0
        with np.errstate(over="ignore"):
            scale = unit / deviation
        varies &= np.isfinite(scale)
        shift = self.mean / deviation
        return self.low / 2, np.where(varies, scale, 0.0), np.where(varies, shift, 0.0)


def row_blocks(X: MatrixLike) -> Iterator[slice]:
    """Rows of data, some at a time.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)

    Yields
    ------
    slice

    Examples
    --------
    >>> import numpy as np
    >>> [(rows.start, rows.stop) for rows in row_blocks(np.zeros((3, 2)))]
    [(0, 3)]
    """
    n, entries = X.shape[0], max(1, X.size)
    step = max(1, _BLOCK * n // entries)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def by_blocks(function: Callable[[Array], Array], X: NDArray[Any]) -> Array:
    """Values of a function of rows, computed where a few rows stay in the cache.

    Parameters
    ----------
    function : callable
        Of rows (m, d), for each by itself.
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray
        What it returns, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> by_blocks(lambda X: X.sum(axis=1), np.eye(3)).tolist()
    [1.0, 1.0, 1.0]
    """
    return np.concatenate([function(X[rows]) for rows in row_blocks(X)])


def _units(low: Array, high: Array) -> Array:
    """Powers of two that scale half the range of columns to less than one."""
    exponent = np.frexp(high / 2 - low / 2)[1]
    return np.ldexp(1.0, -np.maximum(exponent, _LEAST_EXPONENT))


Words = NDArray[np.uint64]

_BELOW_ONE = np.nextafter(1.0, 0.0)

# Bits of a distance that decide where its row stands, and that tell rows apart there.
_COARSE, _FINE = 20, 36


def content_positions(
    X: MatrixLike,
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


def folds(
    at: Array, validation: float, most: float = np.inf
) -> tuple[NDArray[np.intp], int]:
    """Which rows are held out together, and how many times some are.

    Parameters
    ----------
    at : ndarray of shape (n,)
        Positions of the rows, as of :func:`content_positions`.
    validation : float in (0, 1) or int >= 2
        A share of the rows, once, or all of them in so many folds.
    most : float, default=inf
        Of more rows than this no more are held out, and more than one fold of them
        only if all of them are needed for that.

    Returns
    -------
    fold : ndarray of int, shape (n,)
        Those of folds 0 to ``n_held_out - 1`` are held out in turn, others never.
    n_held_out : int

    Examples
    --------
    >>> import numpy as np
    >>> at = np.linspace(0.05, 0.95, 10)
    >>> folds(at, 0.2)[0].tolist(), folds(at, 2)[0].tolist()
    ([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    >>> folds(at, 5, 3)
    (array([0, 0, 1, 1, 2, 2, 2, 2, 2, 2]), 2)
    """
    once, share = validation < 1, most / len(at)
    n_parts = max(1.0 / validation if once else float(validation), 1.0 / share)
    # less a rounding error, or thirds of a third would be two
    enough = math.ceil(min(share, 1.0) * n_parts - 1e-9)
    n_held_out = 1 if once else min(int(validation), enough)
    fold = np.minimum(np.floor(at * n_parts), n_held_out)
    return fold.astype(np.intp), n_held_out


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

    def first(self, X: MatrixLike) -> Words:
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

    def second(self, X: MatrixLike) -> Words:
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
