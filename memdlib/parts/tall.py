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
    WhitenedMeans,
    beyond_rounding,
)
from memdlib.generative.ranking import rank
from memdlib.moments import ClassMoments, class_moments, leave_one_out
from memdlib.parts.work import HashCuts, Known, Parts, Result, checked_result

Array = NDArray[np.float64]

# Below it numbers lose digits, whatever their unit.
_LEAST_EXPONENT = -1022

# Scores that are held at a time.
_SCORES = 2**22


class TallMoments:
    """Pooled moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    parts : Parts
    known : tuple
        Estimator, classes and factors of their weights.
    cuts : HashCuts or None
        None where no row is set aside.
    n_folds : int
    """

    def __init__(self, parts: Parts, known: tuple, cuts: HashCuts | None, n_folds: int):
        self.parts, self.known, self.cuts = parts, known, cuts
        work = Means(*known, cuts, n_folds)
        found = checked_result(parts, work)
        exponent = np.frexp(np.where(found["largest"] > 0, found["largest"], 1.0))[1]
        self.unit = np.ldexp(1.0, np.maximum(exponent - 1, _LEAST_EXPONENT))
        moments = work.of_result(found)
        # by powers of two: no digit is lost
        sums = moments.sums / self.unit[:, None]
        moments = ClassMoments(moments.weight, sums, moments.location / self.unit)
        self.folds, self.total = moments.split(n_folds), moments.weight.sum()
        centre = _centre(moments)
        work = Products(
            *known, cuts, n_folds, self.unit, moments.location, centre, self.total
        )
        self.products = checked_result(parts, work)["products"]

    def all_rows(self) -> PooledMoments:
        """Moments of all rows."""
        whole = self.folds[0]
        for fold in self.folds[1:]:
            whole = whole.merge(fold)
        return self._pooled(whole, range(len(self.folds)))

    def other_folds(self, n_held_out: int) -> Iterator[PooledMoments | None]:
        """Moments of all rows but those of each fold; None if there are none."""
        training = leave_one_out(self.folds)
        for f, own in enumerate(self.folds[:n_held_out]):
            kept = [g for g in range(len(self.folds)) if g != f]
            both = own.weight.any() and training[f].weight.any()
            yield self._pooled(training[f], kept) if both else None

    def correct(self, models: list[WhitenedMeans | None], grid) -> tuple[Array, float]:
        """Weight of the rows set aside that are classified correctly, and of all."""
        found = checked_result(
            self.parts, HeldOut(*self.known, self.cuts, tuple(models), grid)
        )
        return found["correct"], found["tested"]

    def _pooled(self, moments: ClassMoments, folds) -> PooledMoments:
        """As :meth:`PooledMoments.of`, from sums instead of rows."""
        weight, centre = moments.weight, _centre(moments)
        means = np.where(weight[:, None] > 0, moments.location + centre, 0.0)
        share = weight / weight.sum()
        products = np.zeros_like(self.products[0])
        for f in folds:
            fold = self.folds[f]
            delta = fold.location - moments.location + (_centre(fold) - centre)
            products += self.products[f] * (self.total / weight.sum())
            products += delta.T @ (fold.weight[:, None] / weight.sum() * delta)
        variance = np.diagonal(products)
        variance, between = beyond_rounding(share, means, centre, variance)
        varies = variance > 0
        scale = varies / np.sqrt(np.where(varies, variance, 1.0))
        residuals = _Products(products * np.outer(scale, scale))
        return PooledMoments(weight, self.unit, means, variance, between, residuals)


def _centre(moments: ClassMoments) -> Array:
    """Means of the classes, from their locations; zero without rows."""
    weight = np.where(moments.weight > 0, moments.weight, 1.0)
    return moments.sums[..., 0] / weight[:, None]


class _Products:
    """Residuals Z of which only Z^T Z is known."""

    def __init__(self, products: Array):
        self.products, self.shape, self.T = products, products.shape, self

    def any(self, axis):
        return np.diagonal(self.products) > 0

    def __matmul__(self, other):
        return self.products.copy()


@dataclass(frozen=True)
class _Folded(Known):
    """A pass over rows in folds.

    Parameters
    ----------
    estimator, classes, by_class
        As for all passes over rows of known classes.
    cuts : HashCuts or None
        Into folds.
    """

    cuts: HashCuts | None

    def _fold(self, X, codes):
        if self.cuts is None:
            return np.zeros(len(codes), dtype=np.intp)
        return self.cuts.folds(X, codes)


@dataclass(frozen=True)
class Means(_Folded):
    """Sums of each fold and class, and the largest value of each feature.

    Parameters
    ----------
    estimator, classes, by_class, cuts
        As for all passes over rows in folds.
    n_folds : int
    """

    n_folds: int
    name = "means"

    def _of(self, X, y, weight):
        X, codes, weight = self._rows(X, y, weight)
        cell = self._fold(X, codes) * len(self.classes) + codes
        n_cells = self.n_folds * len(self.classes)
        moments = class_moments(X, cell, n_cells, order=1, sample_weight=weight)
        largest = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        return {**vars(moments), "largest": largest}

    def _add(self, a, b):
        moments = self.of_result(a).merge(self.of_result(b))
        return {**vars(moments), "largest": np.maximum(a["largest"], b["largest"])}

    def of_result(self, result: Result) -> ClassMoments:
        """Moments that a result holds."""
        return ClassMoments(*(result[name] for name in ("weight", "sums", "location")))


@dataclass(frozen=True)
class Products(_Folded):
    """Sums of the products of residuals about the means of each fold and class.

    Parameters
    ----------
    estimator, classes, by_class, cuts
        As for all passes over rows in folds.
    n_folds : int
    unit : ndarray of shape (d,)
    location, centre : ndarray of shape (n_folds * K, d)
        Means, in units, are their sums.
    total : float
        Weight of all rows.
    """

    n_folds: int
    unit: Array
    location: Array
    centre: Array
    total: float
    name = "products of features"

    def _of(self, X, y, weight):
        X, codes, weight = self._rows(X, y, weight)
        fold = self._fold(X, codes)
        cell = fold * len(self.classes) + codes
        values = X / self.unit
        values -= self.location[cell]
        values -= self.centre[cell]
        values *= np.sqrt(weight / self.total)[:, None]
        d = X.shape[1]
        products = np.zeros((self.n_folds, d, d))
        for f in np.unique(fold):
            own = values[fold == f]
            products[f] = own.T @ own
        return {"products": products}


@dataclass(frozen=True)
class HeldOut(_Folded):
    """Weight of the rows set aside, and of those classified correctly.

    Parameters
    ----------
    estimator, classes, by_class, cuts
        As for all passes over rows in folds.
    models : tuple of WhitenedMeans or None
        Entry f does not know fold f; None where that is not to be tested.
    grid : ndarray of int of shape (G,)
    """

    models: tuple[WhitenedMeans | None, ...]
    grid: NDArray[np.intp]
    name = "accuracy"

    def _of(self, X, y, weight):
        X, codes, weight = self._rows(X, y, weight)
        fold = self._fold(X, codes)
        correct, tested = np.zeros(len(self.grid)), np.float64(0.0)
        step = max(1, _SCORES // (len(self.grid) * len(self.classes) + X.shape[1]))
        for f, model in enumerate(self.models):
            test = np.flatnonzero(fold == f)
            if model is None or not test.size:
                continue
            order = rank(model.divergences)
            for start in range(0, test.size, step):
                own = test[start : start + step]
                scores = model.scores(X[own], order, self.grid)
                correct += (scores.argmax(axis=2) == codes[own]) @ weight[own]
            tested += weight[test].sum()
        return {"correct": correct, "tested": tested}
