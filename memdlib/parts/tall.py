"""Pooled second moments of no fewer rows than features, from blocks of rows.

Two passes: class means, and the d x d sums of products of the residuals about them.
Where rows are set aside, both are summed for each fold. The residuals of several folds
together lie about other means, and with delta the distance from the mean of a fold and
class to that of the class,

    sum of products about the new means = sum of those about the old + w delta delta^T:

terms of one sign, in which nothing cancels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.generative.correlated.pooled import (
    PooledMoments,
    beyond_rounding,
    power_of_two,
)
from memdlib.moments import ClassMoments, class_moments
from memdlib.parts.work import (
    FoldMoments,
    Moments,
    Parts,
    Pass,
    Reader,
    checked_result,
)

Array = NDArray[np.float64]


class TallMoments(FoldMoments):
    """Pooled moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    """

    def __init__(self, parts: Parts, reader: Reader) -> None:
        work = Means(reader)
        found = checked_result(parts, work)
        self.unit, moments = power_of_two(found["largest"]), work.of_result(found)
        # by powers of two: no digit is lost
        sums, location = moments.sums / self.unit[:, None], moments.location / self.unit
        moments = ClassMoments(moments.weight, sums, location)
        super().__init__(parts, reader, moments)
        self.total = moments.weight.sum()
        work = Products(reader, self.unit, location, _centre(moments), self.total)
        self.products = checked_result(parts, work)["products"]

    def all_rows(self) -> PooledMoments:
        """Moments of all rows."""
        return self._pooled(super().all_rows())

    def other_folds(self) -> Iterator[PooledMoments | None]:
        """Moments of all rows but those of each fold that is held out, if any are."""
        for f, rest in enumerate(super().other_folds()):
            yield None if rest is None else self._pooled(rest, without=f)

    def _pooled(
        self, moments: ClassMoments, without: int | None = None
    ) -> PooledMoments:
        """As :meth:`PooledMoments.of`, from sums instead of rows."""
        weight, centre = moments.weight, _centre(moments)
        means = np.where(weight[:, None] > 0, moments.location + centre, 0.0)
        share = weight / weight.sum()
        products = np.zeros_like(self.products[0])
        for f, fold in enumerate(self.folds):
            if f != without:
                delta = fold.location - moments.location + (_centre(fold) - centre)
                products += self.products[f] * (self.total / weight.sum())
                products += delta.T @ (fold.weight[:, None] / weight.sum() * delta)
        variance = np.diagonal(products)
        variance, between = beyond_rounding(share, means, centre, variance)
        varies = variance > 0
        scale = varies / np.sqrt(np.where(varies, variance, 1.0))
        gram = products * np.outer(scale, scale)
        return PooledMoments(weight, self.unit, means, variance, between, gram)


def _centre(moments: ClassMoments) -> Array:
    """Means of the classes, from their locations; zero without rows."""
    weight = np.where(moments.weight > 0, moments.weight, 1.0)
    return moments.sums[..., 0] / weight[:, None]


@dataclass(frozen=True)
class Means(Moments):
    """Sums of each fold and class, and the largest value of each feature.

    Parameters
    ----------
    reader : Reader
    """

    name = "means"

    def _sums(self, X, cell, n_cells, weight):
        moments = class_moments(X, cell, n_cells, order=1, sample_weight=weight)
        largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        return {**vars(moments), "largest": largest}

    def _add(self, a, b):
        largest = np.maximum(a["largest"], b["largest"])
        return {**super()._add(a, b), "largest": largest}

    def of_result(self, result):
        return ClassMoments(*(result[name] for name in ("weight", "sums", "location")))


@dataclass(frozen=True)
class Products(Pass):
    """Sums of the products of residuals about the means of each fold and class.

    Parameters
    ----------
    reader : Reader
    unit : ndarray of shape (d,)
    location, centre : ndarray of shape (n_folds * K, d)
        Means, in units, are their sums.
    total : float
        Weight of all rows.
    """

    reader: Reader
    unit: Array
    location: Array
    centre: Array
    total: float
    name = "products of features"

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        cell = fold * len(self.reader.classes) + codes
        values = X / self.unit
        values -= self.location[cell]
        values -= self.centre[cell]
        values *= np.sqrt(weight / self.total)[:, None]
        d = X.shape[1]
        products = np.zeros((self.reader.n_folds, d, d))
        for f in np.unique(fold):
            own = values[fold == f]
            products[f] = own.T @ own
        return {"products": products}
