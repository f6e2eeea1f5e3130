"""Why this class: what each feature adds to the score of a row."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from memdlib._types import ArrayLike, Estimator, MatrixLike
from memdlib.generative.table import is_numeric


def contributions(
    model: Estimator, X: MatrixLike, label: object, baseline: ArrayLike | None = None
) -> tuple[float, MatrixLike]:
    """What each feature of each row adds to the score of a class.

    That is what the score gains where a baseline row takes the value of this feature,
    for a classifier whose score is a sum over features.

    Parameters
    ----------
    model : classifier with ``decision_function``
        Fitted. Of a pipeline pass the last step, and what the others make of X.
    X : {array-like, sparse matrix} of shape (n, d)
        Or a frame, as the fit had it.
    label : scalar
        One of ``classes_``. Its score is its log-odds for two classes, else its log
        posterior less the mean over the (possible) classes.
    baseline : array-like of shape (d,), default=None
        None is a row of zeros, such as a document without words, or of missing cells
        if X holds categories; sparse rows allow no other.

    Returns
    -------
    base : float
        Score of the baseline, nats.
    values : {ndarray, csr_array} of shape (n, d)
        Nats; with ``base`` they add up to the scores of the rows.

    Raises
    ------
    ValueError
        If there is no such class, or the score is no sum over features.

    Examples
    --------
    >>> from memdlib import MeMdClassifier
    >>> X, y = np.array([[3, 1], [2, 1], [0, 1], [1, 2]]), ["car", "car", "sea", "sea"]
    >>> model = MeMdClassifier(family="poisson", n_features=None).fit(X, y)
    >>> base, values = contributions(model, X[:1], "car")
    >>> round(base, 2), values.round(2).tolist()
    (-1.0, [[2.87, -0.27]])
    """
    check_is_fitted(model)
    classes = model.classes_.tolist()
    if label not in classes:
        raise ValueError(f"there is no class {label!r}; choose one of {classes}")
    k = classes.index(label)

    def score(rows):
        found = model.decision_function(as_given(rows))
        if found.ndim == 1:
            return found if k else -found
        return found[:, k] - found[:, np.isfinite(found[0])].mean(axis=1)

    as_given, nothing = lambda rows: rows, 0.0
    if hasattr(X, "iloc"):
        as_given = partial(type(X), columns=X.columns)
    if is_numeric(X):
        cells = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        X = check_array(X, accept_sparse="csr", **cells)
    else:
        X, nothing = np.array(X, dtype=object), np.nan
    if sparse.issparse(X):
        # a row for each entry, and one that is empty
        ends = np.append(np.arange(X.nnz + 1), X.nnz)
        parts = sparse.csr_array(
            (X.data, X.indices, ends), shape=(len(ends) - 1, X.shape[1])
        )
        *added, base = score(parts)
        values = sparse.csr_array((added - base, X.indices, X.indptr), X.shape)
    else:
        origin = np.empty_like(X)
        origin[:] = nothing if baseline is None else baseline
        base, values = score(origin)[0], np.zeros(X.shape)
        for s, column in enumerate(X.T):
            changed = origin.copy()
            changed[:, s] = column
            values[:, s] = score(changed) - base
    terms = abs(base) + abs(values).sum(axis=1).max()
    if not np.allclose(base + values.sum(axis=1), score(X), atol=1e-9 * terms):
        raise ValueError(
            f"the score of {type(model).__name__} is no sum over features; explain it "
            "by sklearn.inspection.permutation_importance"
        )
    return float(base), values
