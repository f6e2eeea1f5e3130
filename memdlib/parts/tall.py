"""Pooled second moments of no fewer rows than features, from blocks of rows.

Two passes: class means, and the d x d sums of products of the residuals about them.
Where rows are set aside, both are summed for each fold. The residuals of several folds
together lie about other means, and with delta the distance from the mean of a fold and
class to that of the class,

    sum of products about the new means = sum of those about the old + w delta delta^T:

terms of one sign, in which nothing cancels.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memdlib.generative.correlated.pooled import (
    PooledMoments,
    beyond_rounding,
    power_of_two,
)
from memdlib.generative.correlated.regularised import RangeMoments
from memdlib.moments import ClassMoments, class_moments
from memdlib.parts.work import (
    FoldMoments,
    Moments,
    Pass,
    Reader,
    Result,
)

Array = NDArray[np.float64]


class TallMoments(FoldMoments):
    """Pooled moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    reader : Reader
    unit : ndarray of shape (d,)
    moments : ClassMoments
        Of x / unit, of each fold and class.
    products : ndarray of shape (n_folds, G, d, d)
        Of the residuals, by fold; G is the number of classes or one, for all.
    ends : ndarray of shape (2, n_folds, d)
        Least and largest values.
    """

    unit: Array
    products: Array
    ends: Array
    moments: ClassMoments
    total: float

    def __init__(
        self,
        reader: Reader,
        unit: Array,
        moments: ClassMoments,
        products: Array,
        ends: Array,
    ) -> None:
        super().__init__(reader, moments)
        self.unit, self.moments, self.ends = unit, moments, ends
        self.total, self.products = moments.weight.sum(), products

    @classmethod
    def plan(
        cls, reader: Reader, *, by_class: bool = False
    ) -> Generator[Pass, Result, "TallMoments"]:
        """Collect them, in two passes."""
        work = Means(reader)
        found = yield work
        ends, moments = found["ends"], work.of_result(found)
        unit = power_of_two(np.maximum(ends[1], -ends[0]).max(axis=0))
        # by powers of two: no digit is lost
        sums, location = moments.sums / unit[:, None], moments.location / unit
        moments = ClassMoments(moments.weight, sums, location)
        total = moments.weight.sum()
        centre = _centre(moments)
        found = yield Products(reader, unit, location, centre, total, by_class)
        return cls(reader, unit, moments, found["products"], ends)

    def pooled(self, without: int = -1) -> PooledMoments:
        """Moments of the rows that are not in a fold, or of all."""
        rest = super().all_rows() if without < 0 else self.others[without]
        return self._pooled(rest, without)

    def with_ranges(self, without: int = -1) -> RangeMoments:
        """The same with the ranges of the features."""
        own = np.arange(len(self.folds)) != without
        low, high = self.ends[0, own].min(axis=0), self.ends[1, own].max(axis=0)
        return RangeMoments(**vars(self.pooled(without)), low=low, high=high)

    def all_rows(self) -> PooledMoments:
        """Moments of all rows."""
        return self.pooled()

    def other_folds(self) -> Iterator[PooledMoments | None]:
        """Moments of all rows but those of each fold that is held out, if any are."""
        for f, rest in enumerate(super().other_folds()):
            yield None if rest is None else self._pooled(rest, without=f)

    def _pooled(self, moments: ClassMoments, without: int) -> PooledMoments:
        """As :meth:`PooledMoments.of`, from sums instead of rows."""
        weight, centre = moments.weight, _centre(moments)
        means = np.where(weight[:, None] > 0, moments.location + centre, 0.0)
        share = weight / weight.sum()
        grams = np.zeros_like(self.products[0])
        for f, fold in enumerate(self.folds):
            if f != without:
                delta = fold.location - moments.location + (_centre(fold) - centre)
                grams += self.products[f] * (self.total / weight.sum())
                moved = fold.weight[:, None] / weight.sum() * delta
                if len(grams) == 1:
                    grams[0] += delta.T @ moved
                else:
                    grams += delta[:, :, None] * moved[:, None]
        products = grams.sum(axis=0)
        variance = np.diagonal(products)
        variance, between = beyond_rounding(share, means, centre, variance)
        varies = variance > 0
        scale = varies / np.sqrt(np.where(varies, variance, 1.0))
        scale = np.outer(scale, scale)
        return PooledMoments(
            weight,
            self.unit,
            means,
            np.where(weight[:, None] > 0, (moments.location - means) + centre, 0.0),
            variance,
            between,
            products * scale,
            class_grams=grams * scale if len(grams) > 1 else None,
        )


def _centre(moments: ClassMoments) -> Array:
    """Means of the classes, from their locations; zero without rows."""
    weight = np.where(moments.weight > 0, moments.weight, 1.0)
    return moments.sums[..., 0] / weight[:, None]


@dataclass(frozen=True)
class Means(Moments):
    """Sums of each fold and class, and the ends of the range of each feature.

    Parameters
    ----------
    reader : Reader
    """

    name = "means"

    def _sums(self, X, cell, n_cells, weight):
        moments = class_moments(X, cell, n_cells, order=1, sample_weight=weight)
        fold = cell // len(self.reader.classes)
        ends = np.full((2, self.reader.n_folds, X.shape[1]), np.inf)
        ends[1] = -np.inf
        for f in np.unique(fold):
            own = X[fold == f]
            ends[:, f] = own.min(axis=0), own.max(axis=0)
        return {**vars(moments), "ends": ends}

    def _add(self, a, b):
        (low, high), others = a["ends"], b["ends"]
        ends = np.array([np.minimum(low, others[0]), np.maximum(high, others[1])])
        return {**super()._add(a, b), "ends": ends}

    def of_result(self, result: Result) -> ClassMoments:
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
    by_class : bool
        Whether those of each class are summed by themselves.
    """

    reader: Reader
    unit: Array
    location: Array
    centre: Array
    total: float
    by_class: bool
    name = "products of features"

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        K = len(self.reader.classes)
        cell = fold * K + codes
        values = X / self.unit
        values -= self.location[cell]
        values -= self.centre[cell]
        values *= np.sqrt(weight / self.total)[:, None]
        d = X.shape[1]
        group = cell if self.by_class else fold
        products = np.zeros((self.reader.n_folds * (K if self.by_class else 1), d, d))
        for g in np.unique(group):
            own = values[group == g]
            products[g] = own.T @ own
        return {"products": products.reshape(self.reader.n_folds, -1, d, d)}
