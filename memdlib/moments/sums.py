"""Class moments: sufficient statistics that add.

For every class k and feature s these are the weighted power sums

    S_kj = sum_i w_i [y_i = k] (x_is - c_ks)^j,    j = 1..m,

about a location c of the class's own, among its data, so that variances keep their
digits however far the classes lie apart. They are exact sufficient statistics of every
family in the book and they *add*: over batches, over workers, over cross-validation
folds, and over the classes that make up "all but class k".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib._types import Index

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassMoments:
    """Weighted power sums of every class about a location of its own.

    Parameters
    ----------
    weight : ndarray of shape (..., K)
        Total instance weight of each class (a count, where all weights are 1).
    sums : ndarray of shape (..., K, d, m)
        Power sums of (x - location)^j, j = 1..m.
    location : ndarray of shape (..., K, d)
        Points about which the powers are taken.

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.moments import class_moments
    >>> a = class_moments(np.array([[1.0], [3.0], [5.0]]), [0, 0, 1], 2, order=1)
    >>> (a.location + a.mean[..., 0]).ravel().tolist()
    [2.0, 5.0]
    """

    weight: Array
    sums: Array
    location: Array

    @property
    def mean(self) -> Array:
        """Mean parameters E (x - location)^j, shape (..., K, d, m).

        A class without instances gets the mean of all classes: it says nothing.
        """
        if self.weight.all():
            return self.sums / self.weight[..., None, None]
        mean = self.sums / np.where(self.weight > 0, self.weight, 1.0)[..., None, None]
        for *pair, k in np.argwhere(self.weight == 0):
            classes = self._take(tuple(pair))
            everything = classes._about(classes.location[k]).sum(axis=0)
            mean[(*pair, k)] = everything / classes.weight.sum()
        return mean

    @property
    def prior(self) -> Array:
        """Class shares pi_k of the total weight, shape (..., K)."""
        return self.weight / self.weight.sum(axis=-1, keepdims=True)

    def merge(self, other: "ClassMoments") -> "ClassMoments":
        """Moments of both data sets together.

        Parameters
        ----------
        other : ClassMoments
            Same classes, features and order; each class is moved to its location here
            first, unless it has no instances here.

        Returns
        -------
        ClassMoments

        Raises
        ------
        ValueError
            If the shapes differ.
        """
        if other.sums.shape != self.sums.shape:
            raise ValueError(
                f"moments of shape {other.sums.shape} cannot be added to those of "
                f"shape {self.sums.shape}; classes, features and order must agree"
            )
        location = self.location
        if not self.weight.all():
            here = self.weight[..., None] > 0
            location = np.where(here, self.location, other.location)
        sums = self._about(location) + other._about(location)
        return type(self)(self.weight + other.weight, sums, location)

    def one_vs_rest(self) -> "ClassMoments":
        """Moments of each class beside those of all the other classes together.

        Returns
        -------
        ClassMoments
            ``weight`` (K, 2), ``sums`` (K, 2, d, m) and ``location`` (K, 2, d): class k
            first, its complement second. No second pass over the data, and no
            subtraction either: the complement is summed from the other classes, so
            nothing cancels.
        """
        classes = [self._take(slice(k, k + 1)) for k in range(len(self.weight))]
        rest = leave_one_out(classes)
        weight, sums, location = (
            np.stack([own, np.concatenate(others)], axis=1)
            for own, others in (
                (self.weight, [r.weight for r in rest]),
                (self.sums, [r.sums for r in rest]),
                (self.location, [r.location for r in rest]),
            )
        )
        return type(self)(weight, sums, location)

    def reweighted(self, prior: Array) -> "ClassMoments":
        """Moments of the same classes in other shares of the same total weight.

        Parameters
        ----------
        prior : ndarray of shape (K,)
            Shares that sum to one; a class without instances stays so.

        Returns
        -------
        ClassMoments
        """
        old = np.where(self.weight > 0, self.weight, 1.0)
        ratio = prior * self.weight.sum() / old * (self.weight > 0)
        sums = ratio[:, None, None] * self.sums
        return type(self)(ratio * self.weight, sums, self.location)

    def split(self, n_parts: int) -> "list[ClassMoments]":
        """Moments of parts that were collected as classes, part by part.

        Parameters
        ----------
        n_parts : int
            Divides the number of classes.

        Returns
        -------
        list of ClassMoments
            Views: the first K / n_parts classes, the next, ...
        """
        size = len(self.weight) // n_parts
        return [self._take(slice(p * size, (p + 1) * size)) for p in range(n_parts)]

    def select(self, features: Index) -> "ClassMoments":
        """Moments of some features, given by a mask or by indices."""
        return ClassMoments(
            self.weight, self.sums[..., features, :], self.location[..., features]
        )

    def _take(self, index) -> "ClassMoments":
        return type(self)(self.weight[index], self.sums[index], self.location[index])

    def _about(self, location: Array) -> Array:
        """Sums about other locations."""
        if location is self.location:
            return self.sums
        shift = self.location - location
        return translate(self.sums, self.weight[..., None], shift)


def leave_one_out(parts: Sequence[ClassMoments]) -> list[ClassMoments]:
    """Moments of all parts but each, from 3 K merges and no subtraction.

    Parameters
    ----------
    parts : sequence of ClassMoments
        K of them, two or more, of the same shape.

    Returns
    -------
    list of ClassMoments

    Examples
    --------
    >>> import numpy as np
    >>> from memdlib.moments import class_moments
    >>> x = np.array([[1.0], [2.0], [4.0]])
    >>> parts = class_moments(x, [0, 1, 2], 3, order=1).split(3)
    >>> rest = leave_one_out(parts)
    >>> [float((r.location + r.mean[..., 0])[0, 0]) for r in rest]
    [3.0, 2.5, 1.5]
    """
    before = list(accumulate(parts[:-1], ClassMoments.merge))
    after = list(accumulate(parts[:0:-1], ClassMoments.merge))[::-1]
    inner = [b.merge(a) for b, a in zip(before[:-1], after[1:], strict=True)]
    return [after[0], *inner, before[-1]]


def translate(sums: Array, weight: Array, shift: Array) -> Array:
    """Power sums about c, given those about c + shift (binomial theorem).

    Parameters
    ----------
    sums : ndarray of shape (..., d, m)
        Power sums j = 1..m, or mean parameters.
    weight : ndarray, broadcast against (..., d)
        Power sum j = 0: total weight, or 1 for mean parameters.
    shift : ndarray, broadcast against (..., d)

    Returns
    -------
    ndarray of shape (..., d, m)

    Examples
    --------
    >>> import numpy as np
    >>> translate(np.array([[1.0, 5.0]]), np.ones(1), np.array([10.0])).tolist()
    [[11.0, 125.0]]
    """
    if not np.any(shift):
        return sums
    moved, powers = np.empty(sums.shape), _powers(shift, sums.shape[-1])
    for j in range(1, sums.shape[-1] + 1):
        power_sum = sums[..., j - 1] + weight * powers[j]
        for i in range(1, j):
            power_sum += (comb(j, i) * powers[j - i]) * sums[..., i - 1]
        moved[..., j - 1] = power_sum
    return moved


def translate_natural(lam: ArrayLike, location: ArrayLike) -> Array:
    """Natural parameters of x, given those of x - location.

    Parameters
    ----------
    lam : array_like of shape (..., m)
    location : array_like, broadcast against (...)

    Returns
    -------
    ndarray of shape (..., m)
        Coefficients of x, ..., x^m in lambda . phi(x - location).

    Examples
    --------
    >>> translate_natural([0.0, 1.0], 3.0).tolist()
    [-6.0, 1.0]
    """
    lam = np.asarray(lam, dtype=np.float64)
    shift, m = -np.asarray(location, dtype=np.float64), lam.shape[-1]
    if not np.any(shift):
        return lam
    powers = _powers(shift, m)
    terms = [
        [comb(j, i) * powers[j - i] * lam[..., j - 1] for j in range(i, m + 1)]
        for i in range(1, m + 1)
    ]
    return np.stack([np.sum(t, axis=0) for t in terms], axis=-1)


def _powers(x: Array, highest: int) -> list[Array]:
    """Powers 0, 1, ..., highest of x by multiplication, which is faster than pow."""
    found = [1.0, x]
    while len(found) <= highest:
        found.append(found[-1] * x)
    return found
