"""Why this class: what each feature adds to the score of a row."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted


def contributions(model, X, label, *, baseline=None):
    """Compute what each feature of each row adds to the score of a class.

    That is what the score gains where a baseline row takes the value of this feature,
    for a classifier whose score is a sum over features.

    Parameters
    ----------
    model : classifier with ``decision_function``
        Fitted. A pipeline is explained in the columns of its input; for those that its
        last step sees, pass that step, and what the others make of X.
    X : {array-like, sparse matrix} of shape (n, d)
        Or a frame, if the classifier was fitted to frames.
    label : scalar
        One of ``classes_``. Its score is its log-odds for two classes, else its log
        posterior less the mean over the (possible) classes.
    baseline : array-like of shape (d,), default=None
        None is a row of zeros, such as a document without words, or of missing values
        if X holds strings or categories. Sparse rows allow no other.

    Returns
    -------
    base : float
        Score of the baseline, in nats.
    values : {ndarray, csr_array} of shape (n, d)
        Contributions in nats; with ``base`` they add up to the scores of the rows.

    Raises
    ------
    ValueError
        If there is no such class, or the score is not a sum over features.

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
        return _class_score(model.decision_function(_as_frame_like(X, rows)), k)

    rows = _as_matrix(X)
    if sparse.issparse(rows):
        base, values = _sparse_contributions(score, rows)
    else:
        base, values = _dense_contributions(score, rows, baseline)
    terms = abs(base) + abs(values).sum(axis=1).max()
    if not np.allclose(base + values.sum(axis=1), score(rows), atol=1e-9 * terms):
        raise ValueError(
            f"the score of {type(model).__name__} is no sum over features; explain it "
            "by sklearn.inspection.permutation_importance"
        )
    return float(base), values


def _as_matrix(X):
    """Rows (n, d) as float64, in CSR if sparse; as objects if X holds no numbers."""
    if not sparse.issparse(X):
        # Frames of pandas have a type for each column; that of categories has kind "O".
        dtypes = X.dtypes if hasattr(X, "iloc") else [np.asarray(X).dtype]
        if any(dtype.kind in "OUSMm" for dtype in dtypes):
            cells = np.array(X, dtype=object)
            if cells.ndim != 2:
                raise ValueError(f"Expected 2D array, got shape {cells.shape} instead")
            return cells
    return check_array(
        X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
    )


def _as_frame_like(X, rows):
    """Rows (m, d) as a frame with the columns of X; as they are if X is no frame."""
    if hasattr(X, "iloc"):  # pandas
        return type(X)(rows, columns=X.columns)
    if hasattr(X, "schema"):  # polars
        return type(X)(rows, schema=X.columns, orient="row")
    return rows


def _class_score(decisions, k):
    """Score (n,) of class k from what ``decision_function`` returns, (n,) or (n, K)."""
    if decisions.ndim == 1:
        return decisions if k == 1 else -decisions
    possible = np.isfinite(decisions[0])
    return decisions[:, k] - decisions[:, possible].mean(axis=1)


def _dense_contributions(score, X, baseline):
    """Score of the baseline, and contributions (n, d) to the scores of X (n, d)."""
    if baseline is None:
        baseline = np.nan if X.dtype == object else 0.0
    origin = np.empty_like(X)
    origin[:] = baseline
    base = score(origin)[0]
    values = np.empty(X.shape)
    for s in range(X.shape[1]):
        changed = origin.copy()
        changed[:, s] = X[:, s]
        values[:, s] = score(changed) - base
    return base, values


def _sparse_contributions(score, X):
    """Score of an empty row, and contributions (n, d) to the scores of CSR rows."""
    # A row for each stored entry, and the empty row last
    indptr = np.append(np.arange(X.nnz + 1), X.nnz)
    shape = (X.nnz + 1, X.shape[1])
    *added, base = score(sparse.csr_array((X.data, X.indices, indptr), shape))
    return base, sparse.csr_array((added - base, X.indices, X.indptr), X.shape)
