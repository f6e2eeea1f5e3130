"""Pooled second moments of fewer rows than features, from strips of columns.

A strip has all rows and some columns. Means and variances of its columns are its own,
and the n x n products of the rows' residuals Z add up over strips,

    Z Z^T = sum over strips of Z_b Z_b^T.

Z, of shape (n, d), is nowhere as a whole: what multiplies it does so strip by strip.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from memdlib.generative.correlated.pooled import PooledMoments, WhitenedMeans
from memdlib.generative.ranking import rank
from memdlib.parts.work import HashCuts, Known, Parts, Pass, check_rows, checked_result
from memdlib.validation import labelled_data

Array = NDArray[np.float64]

# Entries of a strip: 32 MiB of doubles.
_ENTRIES = 2**22


def column_strips(n_rows: int, n_features: int) -> list[slice]:
    """Columns of strips of about four million entries.

    Parameters
    ----------
    n_rows, n_features : int

    Returns
    -------
    list of slice

    Examples
    --------
    >>> column_strips(2**20, 6)
    [slice(0, 4, None), slice(4, 6, None)]
    """
    width = max(1, _ENTRIES // n_rows)
    return [
        slice(start, min(start + width, n_features))
        for start in range(0, n_features, width)
    ]


def joined(parts: list[tuple]) -> tuple:
    """Blocks of columns of equal meaning as one; None where there is one.

    Parameters
    ----------
    parts : list of tuple
        X, labels and weights of each block, or None for these.

    Returns
    -------
    tuple
    """
    return tuple(
        None if any(part is None for part in column) else np.concatenate(column)
        for column in zip(*parts, strict=True)
    )


class WideMoments:
    """Pooled moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    parts : Parts
    known : tuple
        Estimator, classes and factors of their weights.
    cuts : HashCuts or None
        None where no row is set aside.
    shape : tuple of int
        Numbers of rows of positive weight and of features.
    """

    def __init__(self, parts: Parts, known: tuple, cuts: HashCuts | None, shape):
        self.parts, self.known, self.shape = parts, known, shape
        if cuts is not None:
            self.rows = checked_result(parts, Rows(*known, cuts))

    def all_rows(self) -> PooledMoments:
        """Moments of all rows."""
        return self._moments(np.ones(self.shape[0], dtype=bool))

    def other_folds(self, n_held_out: int) -> Iterator[PooledMoments | None]:
        """Moments of all rows but those of each fold; None if there are none."""
        for f in range(n_held_out):
            train = self.rows["fold"] != f
            kept = train.any() and not train.all()
            yield self._moments(train) if kept else None

    def correct(self, models: list[WhitenedMeans | None], grid) -> tuple[Array, float]:
        """Weight of the rows set aside that are classified correctly, and of all."""
        correct, tested = np.zeros(len(grid)), 0.0
        for f, model in enumerate(models):
            if model is not None:
                test = self.rows["fold"] == f
                codes, weight = (self.rows[name][test] for name in ("codes", "weight"))
                scores = self._scores(model, ~test, grid)
                correct += (scores.argmax(axis=2) == codes) @ weight
                tested += weight.sum()
        return correct, tested

    def _moments(self, train) -> PooledMoments:
        known = *self.known[:2], train
        found = self.parts.reduce_strips(RowProducts(*known), self.shape)
        residuals = _Residuals(self, known, found["products"], found["variance"] > 0)
        columns = (found[name] for name in RowProducts.side_by_side)
        return PooledMoments(found["weight"], *columns, residuals)

    def _scores(self, model: WhitenedMeans, train, grid) -> Array:
        """As :meth:`WhitenedMeans.scores`, of the rows that are not for training."""
        ranks = np.empty(self.shape[1], dtype=np.intp)
        ranks[rank(model.divergences)] = np.arange(self.shape[1])
        interval = np.searchsorted(grid, ranks + 1)
        known = *self.known[:2], train, model.centre, model.deviations
        work = AsideProducts(*known)
        found = self.parts.reduce_strips(work, self.shape)["product"]
        A = found @ model.root.core
        work = AsideScores(
            *known, A, model.root.diagonal, model.means, interval, len(grid)
        )
        added = self.parts.reduce_strips(work, self.shape)["scores"]
        with np.errstate(divide="ignore"):
            return np.log(model.prior) + np.cumsum(added, axis=0)


class _Residuals:
    """Z of shape (n, d), or its transpose, as what multiplies an array."""

    __array_ufunc__ = None  # leaves the product with an array to this class

    def __init__(self, moments, known, products, varies, *, transposed=False):
        self._given = moments, known, products, varies
        self._transposed = transposed
        n, d = len(products), len(varies)
        self.shape = (d, n) if transposed else (n, d)

    @property
    def T(self):
        return _Residuals(*self._given, transposed=not self._transposed)

    def any(self, axis):
        return self._given[-1]

    def __matmul__(self, other):
        return self._given[2].copy()

    def __rmatmul__(self, A):
        moments, known, *_ = self._given
        work = (TimesRows if self._transposed else TimesColumns)(*known, A)
        return moments.parts.reduce_strips(work, moments.shape)["product"]


@dataclass(frozen=True)
class Rows(Known):
    """Fold, class and weight of each row.

    Parameters
    ----------
    estimator, classes, by_class
        As for all passes over rows of known classes.
    cuts : HashCuts
    """

    cuts: HashCuts
    name = "folds"

    def _of(self, X, y, weight):
        X, codes, weight = self._rows(X, y, weight)
        return {"fold": self.cuts.folds(X, codes), "codes": codes, "weight": weight}

    def _add(self, a, b):
        return {name: np.concatenate([a[name], b[name]]) for name in a}


@dataclass(frozen=True)
class StripPass(Pass):
    """A pass over strips of columns.

    Parameters
    ----------
    estimator : estimator
        Unfitted, but for what it knows of the features.
    classes : ndarray of shape (K,)
    train : ndarray of bool of shape (n,)
        Which rows of positive weight the moments are of.
    """

    estimator: object
    classes: NDArray
    train: NDArray[np.bool_]
    # parameters that have an entry for each column
    by_column: ClassVar[tuple[str, ...]] = ()
    # results that are put side by side, while others add
    side_by_side: ClassVar[tuple[str, ...]] = ()

    def cut(self, columns: slice) -> "StripPass":
        """Pass over one strip, with what belongs to its columns."""
        own = {name: getattr(self, name)[..., columns] for name in self.by_column}
        return replace(self, **own)

    def strip(self, X, y, columns: slice) -> NDArray:
        """Some columns of a block of rows, which fits its labels."""
        check_rows(X, y)
        if sparse.issparse(X):  # says what fit says
            labelled_data(clone(self.estimator), X, None, None, sparse_too=False)
        validate_data(self.estimator, X, reset=False, skip_check_array=True)
        return np.asarray(X)[:, columns]

    def _of(self, X, y, weight):
        X, codes, weight, _ = labelled_data(
            clone(self.estimator), X, y, weight, sparse_too=False
        )
        rows = X[self.train], codes[self.train]
        moments = PooledMoments.of(*rows, len(self.classes), weight[self.train])
        return self._of_moments(moments, X[~self.train])

    @abstractmethod
    def _of_moments(self, moments: PooledMoments, test):
        """Result of one strip."""

    def _add(self, a, b):
        return {
            name: np.concatenate([a[name], b[name]], axis=-1)
            if name in self.side_by_side
            else a[name] + b[name]
            for name in a
        }


@dataclass(frozen=True)
class RowProducts(StripPass):
    """Moments of each column, and the products Z Z^T of the rows.

    Parameters
    ----------
    estimator, classes, train
        As for all passes over strips.
    """

    name = "products of rows"
    side_by_side = ("unit", "means", "variance", "between")

    def _of_moments(self, moments, test):
        found = {name: getattr(moments, name) for name in self.side_by_side}
        Z = moments.residuals
        return found | {"products": Z @ Z.T, "weight": moments.weight}

    def _add(self, a, b):
        return super()._add(a, b) | {"weight": a["weight"]}


@dataclass(frozen=True)
class TimesRows(StripPass):
    """A Z^T, of shape (m, n).

    Parameters
    ----------
    estimator, classes, train
        As for all passes over strips.
    A : ndarray of shape (m, d)
    """

    A: Array
    name = "features to rows"
    by_column = ("A",)

    def _of_moments(self, moments, test):
        return {"product": self.A @ moments.residuals.T}


@dataclass(frozen=True)
class TimesColumns(StripPass):
    """A Z, of shape (m, d).

    Parameters
    ----------
    estimator, classes, train
        As for all passes over strips.
    A : ndarray of shape (m, n)
    """

    A: Array
    name = "rows to features"
    side_by_side = ("product",)

    def _of_moments(self, moments, test):
        return {"product": self.A @ moments.residuals}


@dataclass(frozen=True)
class AsideProducts(StripPass):
    """Products of the standardised rows set aside with Z^T.

    Parameters
    ----------
    estimator, classes, train
        As for all passes over strips.
    centre, deviations : ndarray of shape (d,)
    """

    centre: Array
    deviations: Array
    name = "rows set aside to rows"
    by_column = ("centre", "deviations")

    def _standardised(self, moments, test):
        return (test / moments.unit - self.centre) / self.deviations

    def _of_moments(self, moments, test):
        return {"product": self._standardised(moments, test) @ moments.residuals.T}


@dataclass(frozen=True)
class AsideScores(AsideProducts):
    """What the coordinates of each step of the grid add to scores.

    Parameters
    ----------
    estimator, classes, train, centre, deviations
        As for the products of the rows set aside.
    A : ndarray of shape (m, n)
        Their whitened coordinates are A Z and the rows times the diagonal.
    diagonal : ndarray of shape (d,)
    means : ndarray of shape (K, d)
        Of the coordinates.
    interval : ndarray of int of shape (d,)
        Step of the grid with which each coordinate comes in.
    n_steps : int
    """

    A: Array
    diagonal: Array
    means: Array
    interval: NDArray[np.intp]
    n_steps: int
    name = "accuracy"
    by_column = ("centre", "deviations", "diagonal", "means", "interval")

    def _of_moments(self, moments, test):
        z = self._standardised(moments, test) * self.diagonal
        z += self.A @ moments.residuals
        scores = np.zeros((self.n_steps, len(z), len(self.means)))
        for step in np.unique(self.interval[self.interval < self.n_steps]):
            own = self.interval == step
            means = self.means[:, own]
            scores[step] = z[:, own] @ means.T - 0.5 * (means**2).sum(axis=1)
        return {"scores": scores}
