"""Classifiers on generative embeddings: every choice made inside the training rows."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from compendium.study import embedded
from compendium.study.embedded import fitted_models, grams, predictions
from compendium.study.protocols import stratified_folds

EMBEDDINGS = ("MT-1", "MT-2", "FESS-1", "FESS-2", "LLR", "FS", "TOP", "PD")
DATA = "data"  # the rows themselves, without an embedding
GENERATIVE = "pLSA"  # Bayes' rule with one model a class
ORDERS = (0.5, 1.0, 1.5, 2.0)
# What may be chosen under each name: a kernel and its order.
KERNELS = {
    "linear": (("linear", 0.0),),
    "scaled": (("scaled", 0.0),),
    "JS": (("JT", 1.0),),
    "JT": tuple(("JT", q) for q in ORDERS),
    "A": tuple(("A", q) for q in ORDERS),
    "B": tuple(("B", q) for q in ORDERS),
    "l1": (("JT", 2.0),),  # half the inner product of rows divided by their sums
    "Hellinger": (("Hellinger", 0.0),),
    "RBF": (("RBF", 0.0),),
    "exp JS": (("exp JS", 0.0),),
}
# Rows divided by their sums, as JS has them, without an entropy.
WITHOUT_ENTROPY = ("l1", "Hellinger", "RBF")
# Neighbours, and costs of an error.
SETTINGS = {"knn": (1, 3, 5, 9), "svm": (1.0, 30.0)}


@dataclass(frozen=True)
class Choice:
    """Everything that is chosen for one classifier.

    Parameters
    ----------
    embedding, kernel, classifier : str
    order : float
        Of the kernel; 0 for a linear one.
    topics : int
        Of each model; 0 without an embedding.
    setting : float
        Neighbours or cost.
    """

    embedding: str
    kernel: str
    classifier: str
    order: float
    topics: int
    setting: float


@dataclass(frozen=True)
class Task:
    """Training rows and rows to classify, and how they are embedded.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n, d)
        The training rows first.
    y : ndarray of shape (n_train,)
    smoothing : float
    seed : int
    n_features : int
        Columns of largest variance over the training rows that are kept.
    """

    X: object
    y: NDArray
    smoothing: float
    seed: int
    n_features: int

    def embedded(self, n_topics: int) -> tuple[dict[str, object], NDArray]:
        """Embeddings of all rows, and what the generative rule says of the last."""
        X, m = self.kept(), len(self.y)
        prior = np.unique(self.y, return_counts=True)[1] / m
        models = fitted_models(X[:m], self.y, n_topics, self.smoothing, self.seed)
        best = embedded.posterior_logs(models, prior, X)[m:].argmax(axis=1)
        return embedded.embeddings(models, prior, X), np.unique(self.y)[best]

    def kept(self):
        """Columns of largest variance over the training rows, in their order."""
        train = self.X[: len(self.y)]
        square = train.multiply(train) if sparse.issparse(train) else train**2
        mean = np.asarray(train.mean(axis=0)).ravel()
        variance = np.asarray(square.mean(axis=0)).ravel() - mean**2
        best = np.sort(np.argsort(-variance, kind="stable")[: self.n_features])
        if sparse.issparse(train):
            return sparse.csr_array(self.X)[:, best]
        return np.ascontiguousarray(self.X[:, best])


def outcomes(
    task: Task, topics, only: Container[Choice] | None = None
) -> Iterator[tuple[Choice, NDArray]]:
    """Predictions of candidates for the rows after the training rows.

    Parameters
    ----------
    task : Task
    topics : sequence of int
        Numbers of topics to try.
    only : container of Choice, default=None
        Which candidates; None means all.

    Yields
    ------
    choice : Choice
        The generative rule has the embedding :data:`GENERATIVE`, and "bayes".
    predicted : ndarray
    """
    kernels = dict.fromkeys(sum(KERNELS.values(), ()))
    settings = [(c, setting) for c, all_ in SETTINGS.items() for setting in all_]
    for n_topics in topics:
        table, generative = task.embedded(n_topics)
        rule = Choice(GENERATIVE, "", "bayes", 0.0, n_topics, 0.0)
        if only is None or rule in only:
            yield rule, generative
        if n_topics == topics[0]:
            table[DATA] = task.kept()
        for name, values in table.items():
            n, wanted = 0 if name == DATA else n_topics, {}
            for (kernel, order), (c, setting) in product(kernels, settings):
                choice = Choice(name, kernel, c, order, n, setting)
                if only is None or choice in only:
                    wanted.setdefault((kernel, order), []).append(choice)
            for kernel, K in grams(wanted, values, len(task.y)):
                for choice in wanted[kernel]:
                    answer = predictions(K, task.y, choice.classifier, choice.setting)
                    yield choice, answer


def candidates(
    choices: Iterable[Choice], rows: Iterable[str], kernels, classifiers
) -> list[Choice]:
    """Those of many choices with one of some embeddings, kernels and classifiers.

    Parameters
    ----------
    choices : iterable of Choice
    rows : iterable of str
        Embeddings, or :data:`DATA`.
    kernels : iterable of (str, float)
        Each with its order.
    classifiers : iterable of str

    Returns
    -------
    list of Choice
    """
    asked = [c for c in choices if c.embedding in rows and c.classifier in classifiers]
    return [c for c in asked if (c.kernel, c.order) in kernels]


def groups(n_classes: int) -> dict[str, Callable]:
    """What is compared: every cell of the table, the generative rule, and free choices.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    dict
        Name to a function as :func:`nested` wants it. A cell is called
        "embedding kernel classifier". The free choices are "any": any embedding, kernel
        and classifier; "any linear" and "any information": of the linear kernels only,
        and of JT, A and B; "any normalised": of :data:`WITHOUT_ENTROPY`; "data linear",
        "data information" and "data normalised": likewise, without an embedding.
    """
    rows = [name for name in EMBEDDINGS if name != "TOP" or n_classes == 2]
    linear = [*KERNELS["linear"], *KERNELS["scaled"]]
    information = [*KERNELS["JT"], *KERNELS["A"], *KERNELS["B"]]
    normalised = [kernel for name in WITHOUT_ENTROPY for kernel in KERNELS[name]]
    kinds = {"linear": linear, "information": information, "normalised": normalised}
    found = {
        f"{row} {kernel} {classifier}": ([row], allowed, [classifier])
        for row in (*rows, DATA)
        for kernel, allowed in KERNELS.items()
        for classifier in SETTINGS
    }
    found[GENERATIVE] = ([GENERATIVE], [("", 0.0)], ["bayes"])
    for name, part in (("any", rows), (DATA, [DATA])):
        for kind, allowed in kinds.items():
            found[f"{name} {kind}"] = (part, allowed, list(SETTINGS))
    found["any"] = (rows, linear + information, list(SETTINGS))
    return {
        name: partial(candidates, rows=row, kernels=kernels, classifiers=classifiers)
        for name, (row, kernels, classifiers) in found.items()
    }


def nested(
    X,
    y: NDArray,
    groups: dict[str, Callable],
    *,
    topics,
    smoothing: float,
    n_features: int,
    n_splits: int,
    inner: int,
    repeats: int,
    first_seed: int = 0,
) -> dict[str, dict]:
    """Repeated cross-validation of groups of candidates, chosen in folds of each fold.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n, d)
    y : ndarray of shape (n,)
    groups : dict
        Name to a function that gets all choices and gives those of the group, in the
        order in which the first of the equally good is taken; as :func:`groups`.
    topics : sequence of int
    smoothing : float
    n_features : int
    n_splits, inner : int
        Folds, and folds of the training rows of each.
    repeats : int
        Times that the folds are drawn anew; repeat r uses seed first_seed + r.
    first_seed : int, default=0

    Returns
    -------
    dict
        Name to ``correct`` and ``tested``, (repeats, n_splits), and ``chosen``, the
        choice in each fold.
    """
    shape = (repeats, n_splits)
    counts = "correct", "tested"
    found = {
        name: {count: np.zeros(shape, int) for count in counts} | {"chosen": []}
        for name in groups
    }
    for r in range(repeats):
        seed = first_seed + r
        for f, (train, test) in enumerate(stratified_folds(y, n_splits, seed)):
            right: dict[Choice, int] = {}
            for a, b in stratified_folds(y[train], inner, seed):
                a, b = train[a], train[b]
                task = Task(X[np.r_[a, b]], y[a], smoothing, seed, n_features)
                for choice, predicted in outcomes(task, topics):
                    hits = int((predicted == y[b]).sum())
                    right[choice] = right.get(choice, 0) + hits
            task = Task(X[np.r_[train, test]], y[train], smoothing, seed, n_features)
            picked = {
                name: max(group(right), key=right.get) for name, group in groups.items()
            }
            chosen = set(picked.values())
            needed = [t for t in topics if t in {choice.topics for choice in chosen}]
            hits = {
                choice: int((predicted == y[test]).sum())
                for choice, predicted in outcomes(task, needed or topics[:1], chosen)
            }
            for name, choice in picked.items():
                found[name]["correct"][r, f] = hits[choice]
                found[name]["tested"][r, f] = len(test)
                found[name]["chosen"].append(choice)
    return found
