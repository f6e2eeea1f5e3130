"""Rows held out in turn, the same for every candidate, and what it says of them.

Candidates that are fitted to the same rows have much in common: steps of pipelines that
learn, and moments. Each is found once.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from memdlib._types import Estimator, EstimatorT

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]


def settings(step: Estimator) -> tuple[Any, ...]:
    """What estimators have in common only if they are set alike.

    Parameters
    ----------
    step : estimator
        Not fitted.

    Returns
    -------
    tuple

    Examples
    --------
    >>> from sklearn.preprocessing import Binarizer
    >>> settings(Binarizer()) == settings(Binarizer(threshold=0.0))
    True
    """
    values = sorted(step.get_params(deep=False).items())
    return type(step), *((name, _content(value)) for name, value in values)


def _content(value) -> tuple[Any, ...] | int:
    if isinstance(value, BaseEstimator):
        return settings(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return type(value), *map(_content, value)
    return (type(value), value) if isinstance(value, Hashable) else id(value)


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
        weight: Array,
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

    def log_posteriors(
        self,
        models: Sequence[BaseEstimator],
        X: Array,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Array:
        """Log posteriors of the known rows, each from rows without it.

        Parameters
        ----------
        models : sequence of J classifiers
            Are cloned.
        X : ndarray of shape (n, d)
        n_jobs, verbose
            Of :class:`joblib.Parallel`, for the splits.

        Returns
        -------
        ndarray of shape (J, number of known rows, K)
            Minus infinity for a class that the training rows do not hold.
        """
        n, K = len(self.codes), self.codes.max() + 1
        found = np.full((len(models), n, K), -np.inf)
        scores = Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(self._of_split)(models, X, *split) for split in self.splits
        )
        for (_, test), of_models in zip(self.splits, scores, strict=True):
            found[:, test] = of_models
        return found[:, self.known]

    def _of_split(self, models, X, train: Rows, test: Rows) -> Array:
        rows = TrainingRows(X[train], self.codes[train], self.weight[train])
        found = np.full((len(models), test.sum(), self.codes.max() + 1), -np.inf)
        for own, model in zip(found, models, strict=True):
            part = rows.fit(model)
            own[:, part.classes_] = part.predict_log_proba(X[test])
        return found


class TrainingRows:
    """Rows that classifiers are fitted to, and what was found for the last of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,)
        Above zero.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from memdlib.generative import CorrelatedMeMdClassifier
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [4.0, 1.0], [6.0, 3.0]])
    >>> rows = TrainingRows(X, np.array([0, 0, 1, 1]), np.ones(4))
    >>> model = make_pipeline(StandardScaler(), CorrelatedMeMdClassifier())
    >>> rows.fit(model)[0] is rows.fit(model)[0]
    True
    """

    def __init__(self, X: NDArray[Any], y: NDArray[Any], weight: Array) -> None:
        self._X, self._y, self._weight = X, y, weight
        self._steps = []

    def fit(self, model: EstimatorT) -> EstimatorT:
        """Fit a copy of a classifier, or of all steps of a pipeline.

        Parameters
        ----------
        model : classifier or Pipeline
            Steps that take no weights get none.

        Returns
        -------
        classifier or Pipeline
            Steps are those of the model before as far as both are the same.
        """
        model = clone(model)
        steps = model.steps[:-1] if isinstance(model, Pipeline) else []
        keys = [settings(step) for _, step in steps]
        for i, (name, step) in enumerate(steps):
            model.steps[i] = name, self._fit_step(i, keys[i], step)
        self._keep(len(keys))
        last = model[-1] if isinstance(model, Pipeline) else model
        last.fit(self._prepared, self._y, **self._weights(last))
        return model

    def _fit_step(self, i: int, key: tuple[Any, ...], step):
        """The i-th step of a pipeline, fitted to what those before make of the rows."""
        if i == len(self._steps) or self._steps[i][0] != key:
            self._keep(i)
            X = self._prepared
            step.fit(X, self._y, **self._weights(step))
            self._steps.append((key, step, step.transform(X)))
        return self._steps[i][1]

    def _keep(self, n_steps: int) -> None:
        if n_steps < len(self._steps):
            del self._steps[n_steps:]

    @property
    def _prepared(self):
        return self._steps[-1][2] if self._steps else self._X

    def _weights(self, step) -> dict[Any, Any]:
        takes = has_fit_parameter(step, "sample_weight")
        return {"sample_weight": self._weight} if takes else {}
