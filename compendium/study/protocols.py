"""How accuracies are estimated: repeated cross-validation, choices inside the fold."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from compendium.beside import load_beside


def stratified_folds(y, n_splits: int, seed: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Training and test rows of each fold, the rows of a class dealt out in turn.

    The folds differ by at most one row, in all and of each class. A class may have
    fewer rows than there are folds: some then test none of them.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes.
    n_splits : int
        Folds.
    seed : int
        Of the order in which the rows of a class are dealt.

    Yields
    ------
    train, test : ndarray of int, increasing

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 0, 1, 1])
    >>> [y[test].tolist() for _, test in stratified_folds(y, 3, seed=0)]
    [[0, 0], [0, 1], [0, 1]]
    """
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), int)
    fold[order] = np.arange(len(y)) % n_splits
    for f in range(n_splits):
        yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """The estimator unfitted, everything in it that draws with a seed."""
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name.endswith("random_state")]
    return model.set_params(**dict.fromkeys(seeds, seed))


def repeated_accuracy(
    estimators: dict, X, y, *, n_splits: int, repeats: int, first_seed: int = 0
) -> dict[str, dict[str, NDArray]]:
    """Accuracy of several classifiers over the same repeated stratified folds.

    Parameters
    ----------
    estimators : dict
        Name to unfitted estimator; whatever it chooses, it chooses in its ``fit``,
        which sees the training rows only.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    n_splits : int
        Folds.
    repeats : int
        Times that the folds are drawn anew; repeat r uses seed first_seed + r.
    first_seed : int, default=0

    Returns
    -------
    dict
        Name to ``{"correct": (repeats, n_splits), "tested": (repeats, n_splits),
        "n_features": (repeats, n_splits)}``: counts, and the number of features kept
        (those of X for a classifier that does not choose).
    """
    shape = (repeats, n_splits)
    found = {
        name: {k: np.zeros(shape, int) for k in ("correct", "tested", "n_features")}
        for name in estimators
    }
    for r in range(repeats):
        folds = stratified_folds(y, n_splits, first_seed + r)
        for f, (train, test) in enumerate(folds):
            for name, estimator in estimators.items():
                model = seeded(estimator, first_seed + r).fit(X[train], y[train])
                last = model[-1] if isinstance(model, Pipeline) else model
                part = found[name]
                part["correct"][r, f] = (model.predict(X[test]) == y[test]).sum()
                part["tested"][r, f] = len(test)
                part["n_features"][r, f] = getattr(last, "n_selected_", X.shape[1])
    return found


def accuracy_by_repeat(part: dict[str, NDArray]) -> NDArray[np.float64]:
    """Share of all rows classified rightly in each repeat, in per cent."""
    return 100.0 * part["correct"].sum(axis=1) / part["tested"].sum(axis=1)


def corrected_interval(
    first: dict[str, NDArray], second: dict[str, NDArray]
) -> dict[str, float]:
    """Difference of two accuracies with the corrected resampled t interval.

    Parameters
    ----------
    first, second : dict
        Of the same folds, as :func:`repeated_accuracy` returns them.

    Returns
    -------
    dict
        ``difference``, ``low``, ``high`` in per cent; ``p``, the two-sided p-value of
        no difference, by ``rules.py`` beside the notebooks.
    """
    shares = [part["correct"] / part["tested"] for part in (first, second)]
    gaps = 100.0 * np.subtract(*shares)
    return load_beside("rules").corrected_interval(gaps, gaps.shape[1])


def paired_test(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> dict:
    """Exact test of whether two classifiers are right on the same rows equally often.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Whether each is right on each of the same test rows.

    Returns
    -------
    dict
        ``first`` and ``second``: rows that only the one and only the other has right;
        ``p``: probability of a split of these rows that is at least as uneven, if each
        falls to either side with probability 1/2.

    References
    ----------
    .. [1] McNemar, Note on the sampling error of the difference between correlated
       proportions or percentages, Psychometrika 12 (1947); its exact, binomial form.

    Examples
    --------
    >>> import numpy as np
    >>> right, other = np.ones(8, bool), np.arange(8) < 3
    >>> paired_test(right, other)
    {'first': 5, 'second': 0, 'p': 0.0625}
    """
    one, two = int((first & ~second).sum()), int((second & ~first).sum())
    p = stats.binomtest(one, one + two).pvalue if one + two else 1.0
    return {"first": one, "second": two, "p": float(p)}


def growing_samples(y, largest: int, seed: int) -> tuple[NDArray, NDArray]:
    """Rows in an order whose beginnings are samples, and the rows left for the test.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes.
    largest : int
        Rows of the largest sample.
    seed : int

    Returns
    -------
    order : ndarray of int, shape (largest,)
        Each beginning has the classes in proportion, up to rounding.
    rest : ndarray of int

    Examples
    --------
    >>> y = np.repeat([0, 1], [40, 20])
    >>> order, rest = growing_samples(y, 30, seed=0)
    >>> np.bincount(y[order[:12]]).tolist(), len(rest)
    ([8, 4], 30)
    """
    shuffled = np.random.default_rng(seed).permutation(len(y))
    place = np.empty(len(y))
    for one in np.unique(y):
        rows = shuffled[y[shuffled] == one]
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    order = shuffled[np.argsort(place[shuffled], kind="stable")]
    return order[:largest], order[largest:]
