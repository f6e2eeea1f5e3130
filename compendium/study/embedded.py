"""Rows embedded by models of their classes, and kernels between such rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC

from memdlib import kernels, topics
from memdlib.kernels import weighted_jt_kernel
from memdlib.topics import PLSA, fisher_scores, free_energy_terms

_RIDGE = 1e-6  # in units of the spread: above the rounding of single precision
_NARROW = 1e-12  # rows that only rounding sets apart have no width
_DECIMALS = 6  # of squared distances: rows wholly of one topic are equally far
_EM_STEPS = 2000  # far more than a gain of PLSA's tolerance takes
_STEPS = 10_000_000  # then scikit-learn warns, and a run with a warning fails


class OnceFolded(PLSA):
    """pLSA that remembers the topics of the documents folded in last."""

    def transform(self, X):
        """As :meth:`memdlib.topics.PLSA.transform`."""
        seen = getattr(self, "_seen", None)
        if seen is None or seen[0] is not X:
            self._seen = seen = X, super().transform(X)
        return seen[1]


def fitted_models(X, y, n_topics: int, smoothing: float, seed: int) -> list[PLSA]:
    """One model of all rows, then one of each class.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n, d)
    y : ndarray of shape (n,)
    n_topics : int
    smoothing : float
    seed : int

    Returns
    -------
    list of PLSA
    """
    parts = [X, *(X[y == k] for k in np.unique(y))]
    model = OnceFolded(n_topics, alpha=smoothing, max_iter=_EM_STEPS, random_state=seed)
    return [clone(model).fit(part) for part in parts]


def embeddings(models: list[PLSA], prior: NDArray, X) -> dict[str, object]:
    """All eight embeddings of the same rows, each document folded in once a model.

    Parameters
    ----------
    models : list of PLSA
        As from :func:`fitted_models`.
    prior : ndarray of shape (K,)
        Shares of the classes in the training rows.
    X : {ndarray, sparse array} of shape (n, d)

    Returns
    -------
    dict
        Name to (n, size) numbers; "TOP" only for two classes.
    """
    joint, *single = models

    def stacked(parts):
        parts = list(parts)
        thin = any(sparse.issparse(part) for part in parts)
        return sparse.csr_array(sparse.hstack(parts)) if thin else np.hstack(parts)

    gradients = [fisher_scores(model, X) for model in single]
    found = {
        "MT-1": stacked(model.transform(X) for model in single),
        "MT-2": joint.transform(X),
        "FESS-1": stacked(free_energy_terms(model, X) for model in single),
        "FESS-2": free_energy_terms(joint, X),
        "LLR": stacked(gradients),
        "FS": fisher_scores(joint, X),
        "PD": topics.posterior_divergences(joint, X),
    }
    if len(single) == 2:
        odds = np.diff(posterior_logs(models, prior, X), axis=1)
        found["TOP"] = stacked([odds, -gradients[0], gradients[1]])
    return found


def posterior_logs(models: list[PLSA], prior: NDArray, X) -> NDArray[np.float64]:
    """Logarithms of prior times likelihood of each class, (n, K): the generative rule.

    Parameters
    ----------
    models : list of PLSA
    prior : ndarray of shape (K,)
    X : {ndarray, sparse array} of shape (n, d)

    Returns
    -------
    ndarray of shape (n, K)
    """
    logs = [topics.log_likelihoods(model, X) for model in models[1:]]
    return np.stack(logs, axis=1) + np.log(prior)


def measures(values):
    """Numbers of either sign as masses: positive and negative parts in cells apart.

    Parameters
    ----------
    values : {ndarray, sparse array} of shape (n, size)

    Returns
    -------
    {ndarray, csr_array} of shape (n, number of cells that hold any)
        Where no column changes its sign, the absolute values.
    """
    if sparse.issparse(values):
        both = sparse.hstack([values.maximum(0), (-values).maximum(0)], format="csc")
        return sparse.csr_array(both[:, np.diff(both.indptr) > 0])
    both = np.hstack([np.maximum(values, 0), np.maximum(-values, 0)])
    return both[:, both.any(axis=0)]


def grams(wanted, values, n_train: int) -> Iterator[tuple[tuple[str, float], NDArray]]:
    """Kernel matrices of all rows, in units of the spread of the training rows.

    Parameters
    ----------
    wanted : iterable of (str, float)
        Kernel and order. "scaled" is linear in features of training variance one; "A"
        and "B" get rows as they are, and the others rows divided by their sums: "JT",
        "Hellinger", which is linear in their roots, "RBF" and "exp JS". Widths of the
        last two are mean squared distances, and divergences, of training rows.
    values : {ndarray, sparse array} of shape (n, size)
        The training rows first.
    n_train : int

    Yields
    ------
    kernel : (str, float)
    K : ndarray of shape (n, n)
        Centred on the training rows, over which the mean of its diagonal is one.
    """
    masses = measures(values)
    total = np.asarray(masses.sum(axis=1)).ravel()
    shares = normalize(masses, "l1")
    others = ~np.eye(n_train, dtype=bool)
    weighted: dict[float, NDArray] = {}
    for kernel, order in wanted:
        if kernel == "JT":
            K = kernels.jt_kernel(shares, q=order)
        elif kernel == "Hellinger":
            K = linear_kernel(np.sqrt(shares), dense_output=True)
        elif kernel == "RBF":
            square = euclidean_distances(shares[:n_train], squared=True)
            K = rbf_kernel(shares, gamma=1.0 / max(square[others].mean(), _NARROW))
        elif kernel == "exp JS":
            divergence = np.log(2.0) - kernels.js_kernel(shares[:n_train])
            width = max(divergence[others].mean(), _NARROW)
            K = kernels.exponential_js_kernel(shares, t=1.0 / width)
        elif kernel in ("A", "B"):
            if order not in weighted:
                weighted[order] = weighted_jt_kernel(masses, q=order, version="B")
            K = weighted[order]
            # the definitions differ by this factor, which is cheaper than both
            K = K / np.add.outer(total, total) ** order if kernel == "A" else K
        else:
            rows = values
            if kernel == "scaled":
                scaler = StandardScaler(with_mean=False).fit(values[:n_train])
                rows = scaler.transform(values)
            K = linear_kernel(rows, dense_output=True)
        level = np.diag(K)[:n_train].mean()
        # distances and an SVM with an intercept need no origin, but libsvm keeps K
        # in single precision: a common part would take the digits of what differs
        middle = K[:n_train].mean(axis=0)
        centred = K - middle - middle[:, None] + middle[:n_train].mean()
        spread = np.diag(centred)[:n_train].mean()
        # a spread of rounding would be no unit
        yield (kernel, order), centred / (spread if spread > 1e-9 * level else level)


def predictions(K: NDArray, y: NDArray, classifier: str, setting) -> NDArray:
    """Classes of the rows after the training rows.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    y : ndarray of shape (n_train,)
        Of the first rows.
    classifier : {"knn", "svm"}
        Support vector machine with a millionth of the spread on the diagonal, or
        neighbours by the distance that the kernel gives: the nearest ones and all that
        are as far as the last of them; of classes with as many neighbours the first.
    setting : float or int
        Cost of an error, or number of neighbours.

    Returns
    -------
    ndarray of shape (n - n_train,)
    """
    m = len(y)
    if classifier == "svm":
        # libsvm rounds K to single precision, in which a singular matrix may have
        # negative eigenvalues, and then steps in circles
        machine = SVC(kernel="precomputed", C=setting, max_iter=_STEPS)
        return machine.fit(K[:m, :m] + _RIDGE * np.eye(m), y).predict(K[m:, :m])
    # the own square of the row that asks is the same for all
    distance = np.round(np.diag(K)[:m] - 2 * K[m:, :m], _DECIMALS)
    farthest = np.sort(distance, axis=1)[:, :setting][:, -1:]
    classes = np.unique(y)
    votes = (distance <= farthest) @ (y[:, None] == classes).astype(int)
    return classes[votes.argmax(axis=1)]
