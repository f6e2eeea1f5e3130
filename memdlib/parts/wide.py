"""Pooled second moments of fewer rows than features, from strips of columns.

A strip has all rows and some columns. Means and variances of its columns are its own,
and the n x n products of the rows' residuals Z add up over strips,

    Z Z^T = sum over strips of Z_b Z_b^T.

Z, of shape (n, d), is nowhere as a whole: what multiplies it does so strip by strip.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
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

# Results of strips that are put side by side, while others add.
_SIDE_BY_SIDE = ("unit", "means", "rest", "variance", "between", "features")


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


def joined(blocks: Sequence[Any] | None) -> Array | None:
    """Blocks of labels, of weights or of a strip as one.

    Parameters
    ----------
    blocks : sequence of array-like, or of None

    Returns
    -------
    ndarray, or None
        None where one of them is.
    """
    if any(block is None for block in blocks):
        return None
    return np.concatenate([np.asarray(block) for block in blocks])


class WideMoments:
    """Pooled moments of all rows, and of all but those of each fold.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    shape : tuple of int
        Numbers of rows of positive weight and of features.
    """

    parts: Parts
    reader: Reader
    rows: Result
    shape: tuple[int, int]

    def __init__(self, parts: Parts, reader: Reader, shape: tuple[int, int]) -> None:
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

    def correct(
        self, parts: Parts, models: tuple[Any, ...], grid
    ) -> tuple[Array, float]:
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

    def _added(
        self, of_strip: Callable[..., Any], train, by_column=None, **whole
    ) -> Result:
        reader = replace(self.reader, cuts=None)
        work = StripPass(reader, train, of_strip, by_column or {}, whole)
        return self.parts.reduce_strips(work, self.shape)

    def _moments(self, train) -> PooledMoments:
        found = self._added(products_of_rows, train)
        return PooledMoments(**found, apply=partial(self._through_rows, train))

    def _through_rows(self, train, A, core) -> Array:
        inner = self._added(features_to_rows, train, {"A": A})["rows"] @ core
        return self._added(rows_to_features, train, A=inner)["features"]

    def _scores(self, model: WhitenedMeans, train, grid) -> Array:
        """As :meth:`WhitenedMeans.scores`, of the rows that are not for training."""
        ranks = np.empty(self.shape[1], dtype=np.intp)
        ranks[rank(model.divergences)] = np.arange(self.shape[1])
        scaled = {"centre": model.centre, "deviations": model.deviations}
        inner = self._added(rows_set_aside_to_rows, train, scaled)["rows"]
        coordinates = {
            "diagonal": model.root.diagonal,
            "means": model.means,
            "step": np.searchsorted(grid, ranks + 1),
        }
        added = self._added(
            accuracy,
            train,
            scaled | coordinates,
            A=inner @ model.root.core,
            n_steps=len(grid),
        )["scores"]
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
    of_strip : callable
        Makes a result of residuals Z, moments as
        :func:`memdlib.generative.correlated.pooled.standardised_residuals` finds them,
        the rows that are not for training, and the parameters that follow.
    by_column : dict of ndarray
        Parameters that have an entry for each column.
    whole : dict
        The other parameters.
    """

    reader: Reader
    train: NDArray[np.bool_]
    of_strip: Callable[..., Result]
    by_column: dict[str, Array]
    whole: dict

    @property
    def name(self) -> str:
        return self.of_strip.__name__.replace("_", " ")

    def cut(self, columns: slice) -> "StripPass":
        """Pass over one strip, with what belongs to its columns."""
        own = {name: values[..., columns] for name, values in self.by_column.items()}
        return replace(self, by_column=own)

    def strip(self, X: Any, y: ArrayLike, columns: slice) -> Array:
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
        weight, train = self.reader.weighted(codes, weight), self.train
        moments, Z = standardised_residuals(
            X[train], codes[train], len(self.reader.classes), weight[train]
        )
        return self.of_strip(Z, moments, X[~train], **self.by_column, **self.whole)

    def _add(self, a, b):
        return {
            name: np.concatenate([a[name], b[name]], axis=-1)
            if name in _SIDE_BY_SIDE
            else a[name]
            if name == "weight"
            else a[name] + b[name]
            for name in a
        }


def products_of_rows(Z: Array, moments: Result, test: Array) -> Result:
    """Moments of each column, and Z Z^T."""
    return moments | {"gram": Z @ Z.T}


def features_to_rows(Z: Array, moments: Result, test: Array, A: Array) -> Result:
    """A Z^T, with A of shape (m, d)."""
    return {"rows": A @ Z.T}


def rows_to_features(Z: Array, moments: Result, test: Array, A: Array) -> Result:
    """A Z, with A of shape (m, n)."""
    return {"features": A @ Z}


def rows_set_aside_to_rows(
    Z: Array, moments: Result, test: Array, centre: Array, deviations: Array
) -> Result:
    """Products of the standardised rows set aside with Z^T."""
    return {"rows": _standardised(moments, test, centre, deviations) @ Z.T}


def accuracy(
    Z: Array,
    moments: Result,
    test: Array,
    centre: Array,
    deviations: Array,
    diagonal: Array,
    means: Array,
    step: NDArray[np.intp],
    A: Array,
    n_steps: int,
) -> Result:
    """What the coordinates of each step of the grid add to scores of rows set aside.

    Their whitened coordinates are A Z and the standardised rows times the diagonal.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Standardised rows of a strip of columns.
    moments : PooledMoments
    test : ndarray of shape (n_test, d)
        Rows set aside.
    centre, deviations : ndarray of shape (d,)
    diagonal : ndarray of shape (d,)
    means : ndarray of shape (K, d)
        Whitened.
    step : ndarray of int, shape (d,)
        Step of the grid at which each coordinate comes in.
    A : ndarray of shape (n_test, n)
    n_steps : int

    Returns
    -------
    Result
        Scores of shape (n_steps, n_test, K).
    """
    z = _standardised(moments, test, centre, deviations) * diagonal
    z += A @ Z
    scores = np.zeros((n_steps, len(z), len(means)))
    for g in np.unique(step[step < n_steps]):
        own = step == g
        scores[g] = z[:, own] @ means[:, own].T - 0.5 * (means[:, own] ** 2).sum(axis=1)
    return {"scores": scores}


def _standardised(moments, test, centre, deviations) -> Array:
    return (test / moments["unit"] - centre) / deviations
