"""Posteriors of make_memd on random problems: log-loss beside that of named peers.

A problem is a training set and a large test set of one truth, of one of these kinds:
normal classes with one covariance or one each, with a third class far away, with a rare
class, with many classes; halves of real tables; simulated texts. "T = 1" is the model
of largest weight, not calibrated, and for texts the multinomial marginals, since scores
of the discriminant are no log posteriors at any temperature known beforehand. No
posterior is clipped, of anyone: peers are scored by their decision functions, whose
softmax does not round to zero.
"""

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from memdlib import MeMdClassifier, make_memd
from memdlib.datasets import simulate_text_counts
from memdlib.generative import DivergenceWeighter

N_TEST = 2000
# How many problems of each kind: two hundred.
KINDS = {
    "equal covariances": 40,
    "unequal covariances": 40,
    "far class": 30,
    "rare class": 20,
    "many classes": 20,
    "real halves": 15,
    "texts": 35,
}
# Kinds where all classes are normal with one covariance, the model of LDA.
LINEAR = ("equal covariances", "far class", "rare class", "many classes")
REAL = (load_iris, load_wine, load_breast_cancer)
RULES = ("memd", "T = 1", "LDA", "QDA", "logistic", "shares")


class Problem(NamedTuple):
    """A training set and a test set of the same truth.

    Parameters
    ----------
    name, kind : str
    X_train : {ndarray, csr_array} of shape (n, d)
    y_train : ndarray of shape (n,)
    X_test : {ndarray, csr_array} of shape (n', d)
    y_test : ndarray of shape (n',)
    """

    name: str
    kind: str
    X_train: object
    y_train: NDArray
    X_test: object
    y_test: NDArray


def problems(kind: str, count: int) -> Iterator[Problem]:
    """Random problems of a kind, each with a seed of its own.

    Parameters
    ----------
    kind : str
        Of ``KINDS``.
    count : int

    Yields
    ------
    Problem
    """
    number = list(KINDS).index(kind)
    make = {"texts": _texts, "real halves": _real}.get(kind, _normals)
    for seed in range(count):
        rng = np.random.default_rng([30, number, seed])
        about, *data = make(rng, kind, seed)
        yield Problem(f"{kind} {seed}: {about}", kind, *data)


def _normals(rng, kind, seed):
    """Normal classes whose means are drawn in units of the common covariance."""
    far, many = kind == "far class", kind == "many classes"
    K = 3 if far else int(rng.integers(10, 101) if many else rng.integers(2, 9))
    d = int(rng.integers(1, 31))
    few = bool(rng.integers(2))
    rows = np.full(K, 10 if few else 30 if many else 300)
    if kind == "rare class":
        rows[-1] = max(3, round(rng.uniform(0.01, 0.03) * rows.sum()))
    roots = np.array([_root(rng, d)] * K)
    if kind == "unequal covariances":
        roots = np.array([_root(rng, d) for _ in range(K)])
    # two classes lie about this many standard deviations apart
    apart = rng.uniform(0.5, 6.0)
    means = rng.normal(size=(K, d)) * apart / np.sqrt(2 * d) @ roots.mean(axis=0).T
    about = f"K = {K}, d = {d}, rows {rows.min()} to {rows.max()}"
    if far:
        direction, distance = rng.normal(size=d), 10 ** rng.uniform(2.0, 8.0)
        means[2] = distance * direction / np.linalg.norm(direction)
        about += f", distance {distance:.2g}"
    sets = []
    for y in (
        np.repeat(np.arange(K), rows),
        rng.choice(K, N_TEST, p=rows / rows.sum()),
    ):
        noise = np.einsum("nij,nj->ni", roots[y], rng.normal(size=(len(y), d)))
        sets += [means[y] + noise, y]
    return about, *sets


def _root(rng, d):
    """Root of a covariance, of independent features or of dependent ones."""
    if rng.integers(2):
        return np.diag(rng.uniform(0.5, 2.0, d))
    return np.eye(d) * 0.3 + rng.normal(size=(d, d)) / np.sqrt(d)


def _real(rng, kind, seed):
    load = REAL[seed % len(REAL)]
    X, y = load(return_X_y=True)
    # the halves hold every class alike
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    half, other = order[::2], order[1::2]
    return load.__name__.removeprefix("load_"), X[half], y[half], X[other], y[other]


def _texts(rng, kind, seed):
    n = int(round(10 ** rng.uniform(1.0, 3.0)))
    K = int(rng.integers(2, 5))
    length, lift = rng.choice([20.0, 100.0]), rng.uniform(2.0, 8.0)
    text = simulate_text_counts(
        n + N_TEST,
        n_words=1000,
        n_informative=40,
        n_classes=K,
        document_length=length,
        lift=lift,
        random_state=seed,
    )
    # the first documents of each class in turn: none is missing
    place = np.zeros(len(text.y), dtype=int)
    for k in range(K):
        place[text.y == k] = np.arange((text.y == k).sum())
    order = np.lexsort((text.y, place))
    train, test = order[:n], order[n:]
    about = f"{n} documents of {length:.0f} words, K = {K}, lift {lift:.1f}"
    return about, text.X[train], text.y[train], text.X[test], text.y[test]


def log_loss(log_p, classes, y) -> float:
    """Mean of minus the log posterior of the true class, in nats.

    Parameters
    ----------
    log_p : ndarray of shape (n, K)
    classes : ndarray of shape (K,)
        Ascending, the columns of ``log_p``.
    y : ndarray of shape (n,)

    Returns
    -------
    float
    """
    return float(-log_p[np.arange(len(y)), np.searchsorted(classes, y)].mean())


def losses(problem: Problem) -> dict[str, float]:
    """Log-loss of each rule on the test set; nan for peers that no texts can have.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    dict
        Of ``RULES``.
    """
    _, kind, X, y, X_test, y_test = problem
    classes, count = np.unique(y, return_counts=True)

    def of(log_p):
        return log_loss(log_p, classes, y_test)

    text = kind == "texts"
    memd = make_memd("text" if text else "table", random_state=0).fit(X, y)
    if text:
        plain = MeMdClassifier(family="multinomial", n_features=None).fit(X, y)
        peers = {"logistic": make_pipeline(DivergenceWeighter(power=0), _logistic())}
    else:
        # "table" prepares nothing
        table, members = memd[-1].cv_results_, memd[-1].named_estimators_
        plain = members.get(table["name"][table["weight"][:-1].argmax()], memd)
        peers = {
            "LDA": LinearDiscriminantAnalysis(),
            "QDA": _quadratic(count.min() <= X.shape[1] + 1),
            "logistic": make_pipeline(StandardScaler(), _logistic()),
        }
    found = dict.fromkeys(RULES, np.nan)
    found["memd"] = of(memd.predict_log_proba(X_test))
    found["T = 1"] = of(plain.predict_log_proba(X_test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers' collinear features and steps
        for name, peer in peers.items():
            scores = peer.fit(X, y).decision_function(X_test)
            if scores.ndim == 1:
                scores = np.column_stack([np.zeros(len(scores)), scores])
            found[name] = of(log_softmax(scores, axis=1))
    shares = np.log(count / count.sum())
    found["shares"] = of(np.broadcast_to(shares, (len(y_test), len(classes))))
    return found


def _quadratic(singular):
    if singular:
        return QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1)
    return QuadraticDiscriminantAnalysis(tol=0.0)


def _logistic():
    return LogisticRegression(C=1.0, max_iter=1000)
