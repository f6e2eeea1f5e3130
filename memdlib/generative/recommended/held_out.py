"""Rows held out in turn, the same for every candidate, and what it says of them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class HeldOut:
    """Rows of known class and weight, some of them held out at a time.

    The rows of a class that their training rows do not hold are no matter of the
    candidates, and are left out.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        Above zero.
    splits : list of (ndarray of bool, ndarray of bool), each of shape (n,)
        Training rows of two classes at least, and rows held out.
    known : ndarray of bool, shape (n,)
        Rows that were held out from others of their class.
    """

    codes: NDArray[np.intp]
    weight: Array
    splits: list[tuple[Rows, Rows]]
    known: Rows

    @classmethod
    def of(
        cls,
        codes: NDArray[np.intp],
        weight: NDArray,
        splits: Iterable[tuple[Rows, Rows]],
    ) -> "HeldOut":
        """Leave out what cannot be scored.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
        weight : ndarray of shape (n,)
        splits : iterable of (ndarray of bool, ndarray of bool)
            Training rows, and rows held out.

        Returns
        -------
        HeldOut

        Examples
        --------
        >>> fold = np.array([0, 0, 1, 1, 1])
        >>> splits = [(fold != f, fold == f) for f in range(2)]
        >>> HeldOut.of(np.array([0, 1, 0, 1, 2]), np.ones(5), splits).known.tolist()
        [True, True, True, True, False]
        """
        kept, known = [], np.zeros(len(codes), dtype=bool)
        for train, test in splits:
            present = np.unique(codes[train])
            if len(present) > 1 and test.any():
                kept.append((train, test))
                known |= test & np.isin(codes, present)
        return cls(codes, weight, kept, known)

    def log_posteriors(self, model: BaseEstimator, X: Array) -> Array:
        """Log posteriors of the known rows, each from rows without it.

        Parameters
        ----------
        model : classifier
            Is cloned.
        X : ndarray of shape (n, d)

        Returns
        -------
        ndarray of shape (number of known rows, K)
            Minus infinity for a class that the training rows do not hold.
        """
        found = np.full((len(self.codes), self.codes.max() + 1), -np.inf)
        for train, test in self.splits:
            rows = X[train], self.codes[train], self.weight[train]
            part = fit_weighted(clone(model), *rows)
            found[np.ix_(test, part.classes_)] = part.predict_log_proba(X[test])
        return found[self.known]


def fit_weighted(
    model: BaseEstimator, X: NDArray, y: NDArray, weight: Array
) -> BaseEstimator:
    """Fit a classifier, or all steps of a pipeline, to weighted rows.

    Parameters
    ----------
    model : classifier or Pipeline
        Steps that take no weights get none.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,)

    Returns
    -------
    classifier
        The model itself.
    """
    if not isinstance(model, Pipeline):
        return model.fit(X, y, sample_weight=weight)
    names = [
        name for name, step in model.steps if has_fit_parameter(step, "sample_weight")
    ]
    return model.fit(X, y, **{f"{name}__sample_weight": weight for name in names})
