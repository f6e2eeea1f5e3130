"""Pooled second moments of fewer rows than features, from strips of columns.

A strip has all rows and some columns. Means and variances of its columns are its own,
and the n x n products of the rows' residuals Z add up over strips,

    Z Z^T = sum over strips of Z_b Z_b^T.

Z, of shape (n, d), is nowhere as a whole: what multiplies it does so strip by strip.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from memdlib.generative.correlated.pooled import (
    PooledMoments,
    WhitenedMeans,
    standardised_residuals,
)
from memdlib.generative.ranking import rank
from memdlib.parts.work import (
    Parts,
    Pass,
    Reader,
    Result,
    check_rows,
    checked_result,
)
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
    reader : Reader
    shape : tuple of int
        Numbers of rows of positive weight and of features.
    """

    def __init__(self, parts: Parts, reader: Reader, shape: tuple[int, int]):
        self.parts, self.reader, self.shape = parts, reader, shape
        if reader.cuts is not None:
            self.rows = checked_result(parts, Folds(reader))

    def all_rows(self) -> PooledMoments:
        """Moments of all rows."""
        return self._moments(np.ones(self.shape[0], dtype=bool))

    def other_folds(self) -> Iterator[PooledMoments | None]:
        """Moments of all rows but those of each fold that is held out, if any are."""
        for f in range(self.reader.cuts.n_held_out):
            train = self.rows["fold"] != f
            kept = train.any() and not train.all()
            yield self._moments(train) if kept else None

    def correct(self, models: tuple, grid) -> tuple[Array, float]:
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

    def _added(self, kind: type["StripPass"], train, *parameters) -> Result:
        work = kind(replace(self.reader, cuts=None), train, *parameters)
        return self.parts.reduce_strips(work, self.shape)

    def _moments(self, train) -> PooledMoments:
        found = self._added(RowProducts, train)
        return PooledMoments(**found, apply=partial(self._through_rows, train))

    def _through_rows(self, train, A, core) -> Array:
        inner = self._added(TimesRows, train, A)["product"] @ core
        return self._added(TimesColumns, train, inner)["product"]

    def _scores(self, model: WhitenedMeans, train, grid) -> Array:
        """As :meth:`WhitenedMeans.scores`, of the rows that are not for training."""
        ranks = np.empty(self.shape[1], dtype=np.intp)
        ranks[rank(model.divergences)] = np.arange(self.shape[1])
        interval = np.searchsorted(grid, ranks + 1)
        scaled, root = (train, model.centre, model.deviations), model.root
        A = self._added(AsideProducts, *scaled)["product"] @ root.core
        coordinates = A, root.diagonal, model.means, interval, len(grid)
        added = self._added(AsideScores, *scaled, *coordinates)["scores"]
        with np.errstate(divide="ignore"):
            return np.log(model.prior) + np.cumsum(added, axis=0)


@dataclass(frozen=True)
class Folds(Pass):
    """Fold, class and weight of each row.

    Parameters
    ----------
    reader : Reader
    """

    reader: Reader
    name = "folds"

    def _of(self, X, y, weight):
        _, codes, weight, fold = self.reader.folded(X, y, weight)
        return {"fold": fold, "codes": codes, "weight": weight}

    def _add(self, a, b):
        return {name: np.concatenate([a[name], b[name]]) for name in a}


@dataclass(frozen=True)
class StripPass(Pass):
    """A pass over strips of columns.

    Parameters
    ----------
    reader : Reader
        Without cuts.
    train : ndarray of bool of shape (n,)
        Which rows of positive weight the moments are of.
    """

    reader: Reader
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
            labelled_data(clone(self.reader.estimator), X, None, None, sparse_too=False)
        validate_data(self.reader.estimator, X, reset=False, skip_check_array=True)
        return np.asarray(X)[:, columns]

    def _of(self, X, y, weight):
        X, codes, weight, _ = labelled_data(
            clone(self.reader.estimator), X, y, weight, sparse_too=False
        )
        weight = self.reader.weighted(codes, weight)
        rows = X[self.train], codes[self.train]
        moments, Z = standardised_residuals(
            *rows, len(self.reader.classes), weight[self.train]
        )
        return self._of_strip(Z, moments, X[~self.train])

    @abstractmethod
    def _of_strip(self, Z: Array, moments: dict[str, Array], test):
        """Result of one strip: of its residuals and moments, and rows set aside."""

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
    reader, train
        As for all passes over strips.
    """

    name = "products of rows"
    side_by_side = ("unit", "means", "variance", "between")

    def _of_strip(self, Z, moments, test):
        return moments | {"gram": Z @ Z.T}

    def _add(self, a, b):
        return super()._add(a, b) | {"weight": a["weight"]}


@dataclass(frozen=True)
class TimesRows(StripPass):
    """A Z^T, of shape (m, n).

    Parameters
    ----------
    reader, train
        As for all passes over strips.
    A : ndarray of shape (m, d)
    """

    A: Array
    name = "features to rows"
    by_column = ("A",)

    def _of_strip(self, Z, moments, test):
        return {"product": self.A @ Z.T}


@dataclass(frozen=True)
class TimesColumns(StripPass):
    """A Z, of shape (m, d).

    Parameters
    ----------
    reader, train
        As for all passes over strips.
    A : ndarray of shape (m, n)
    """

    A: Array
    name = "rows to features"
    side_by_side = ("product",)

    def _of_strip(self, Z, moments, test):
        return {"product": self.A @ Z}


@dataclass(frozen=True)
class AsideProducts(StripPass):
    """Products of the standardised rows set aside with Z^T.

    Parameters
    ----------
    reader, train
        As for all passes over strips.
    centre, deviations : ndarray of shape (d,)
    """

    centre: Array
    deviations: Array
    name = "rows set aside to rows"
    by_column = ("centre", "deviations")

    def _standardised(self, moments, test):
        return (test / moments["unit"] - self.centre) / self.deviations

    def _of_strip(self, Z, moments, test):
        return {"product": self._standardised(moments, test) @ Z.T}


@dataclass(frozen=True)
class AsideScores(AsideProducts):
    """What the coordinates of each step of the grid add to scores.

    Parameters
    ----------
    reader, train, centre, deviations
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

    def _of_strip(self, Z, moments, test):
        z = self._standardised(moments, test) * self.diagonal
        z += self.A @ Z
        scores = np.zeros((self.n_steps, len(z), len(self.means)))
        for step in np.unique(self.interval[self.interval < self.n_steps]):
            own = self.interval == step
            means = self.means[:, own]
            scores[step] = z[:, own] @ means.T - 0.5 * (means**2).sum(axis=1)
        return {"scores": scores}
