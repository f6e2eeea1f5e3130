"""Where the columns of data lie and how far they spread, whatever their units.

Range, mean and variance of every column add over blocks of rows, like all moments here.
Values are counted from the least one, in powers of two, so that nothing overflows and
columns far from zero keep their digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

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
    def of(cls, X, weight: Array) -> "Spread":
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


def row_blocks(X) -> Iterator[slice]:
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


def _units(low: Array, high: Array) -> Array:
    """Powers of two that scale half the range of columns to less than one."""
    exponent = np.frexp(high / 2 - low / 2)[1]
    return np.ldexp(1.0, -np.maximum(exponent, _LEAST_EXPONENT))
