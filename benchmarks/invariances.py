"""Which changes of the data that say nothing change a predicted label, counted.

    python -m benchmarks.invariances

Every classifier, with its default settings, is fitted to the first half of a data set
and predicts the second; then both halves are written in another way (rows in another
order, other units, other names of the classes, ...) and all of it is done again. Where
the model promises that this makes no difference, not one label may differ. Where it
does not, ``NOT_PROMISED`` says why.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from memdlib import (
    ConditionalMaxEntClassifier,
    JointMaxEntClassifier,
    MeMdClassifier,
    make_memd,
)
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    MixtureClassifier,
    MultinomialMeMdClassifier,
    RegularisedMeMdClassifier,
)
from memdlib.nml import NMLClassifier

CLASSIFIERS = {
    "MeMdClassifier": MeMdClassifier(random_state=0),
    "JointMaxEntClassifier": JointMaxEntClassifier(),
    "CorrelatedMeMdClassifier": CorrelatedMeMdClassifier(random_state=0),
    "RegularisedMeMdClassifier": RegularisedMeMdClassifier(),
    "MixtureClassifier": MixtureClassifier(random_state=0),
    "ConditionalMaxEntClassifier": ConditionalMaxEntClassifier(),
    "NMLClassifier": NMLClassifier(),
    "MultinomialMeMdClassifier": MultinomialMeMdClassifier(random_state=0),
    'make_memd("table")': make_memd("table", random_state=0),
    'make_memd("expression")': make_memd("expression", random_state=0),
    'make_memd("text")': make_memd("text", random_state=0),
}
COUNTS = ("MultinomialMeMdClassifier", 'make_memd("text")')


@dataclass(frozen=True)
class Data:
    """What a classifier is fitted to, what it predicts, and how to read its labels.

    Parameters
    ----------
    X : {ndarray, sparse array} of shape (n, d)
    y : ndarray of shape (n,)
    X_test : {ndarray, sparse array} of shape (n', d)
    weight : ndarray of shape (n,) or None, default=None
    read : callable, default=identity
        From the labels predicted to those of the data as they were.
    """

    X: object
    y: NDArray
    X_test: object
    weight: NDArray | None = None
    read: Callable[[NDArray], NDArray] = np.asarray


def _rows(data, rng):
    order, other = (rng.permutation(X.shape[0]) for X in (data.X, data.X_test))
    return Data(
        data.X[order],
        data.y[order],
        data.X_test[other],
        read=lambda labels: labels[np.argsort(other)],
    )


def _columns(data, rng):
    order = rng.permutation(data.X.shape[1])
    return _with(data, lambda X: X[:, order])


def _times(factor, data, rng):
    return _with(data, lambda X: X * factor)


def _units(data, rng):
    factor = 10.0 ** rng.integers(-3, 4, data.X.shape[1])
    return _with(data, lambda X: X * factor)


def _offset(data, rng):
    return _with(data, lambda X: X + 32.0)


def _offsets(data, rng):
    offset = rng.integers(-100, 101, data.X.shape[1])
    return _with(data, lambda X: X + offset)


def _signs(data, rng):
    sign = rng.choice([-1.0, 1.0], data.X.shape[1])
    return _with(data, lambda X: X * sign)


def _named(names, data, rng):
    classes = np.unique(data.y)
    names = np.array(names(rng, len(classes)))
    codes = np.searchsorted(classes, data.y)

    def read(labels):
        return classes[(labels[:, None] == names).argmax(axis=1)]

    return replace(data, y=names[codes], read=read)


def _sparse(form, data, rng):
    return _with(data, lambda X: sparse.coo_array(X).asformat(form))


def _dense(data, rng):
    return _with(data, lambda X: X.toarray() if sparse.issparse(X) else X)


def _weights(data, rng):
    twice = rng.random(len(data.y)) < 0.3
    return replace(data, weight=1.0 + twice)


def _copies(data, rng):
    twice = rng.random(len(data.y)) < 0.3
    rows = np.repeat(np.arange(len(data.y)), 1 + twice)
    return replace(data, X=data.X[rows], y=data.y[rows])


def _as(dtype, data, rng):
    return _with(data, lambda X: X.astype(dtype))


def _rounded(data, rng):
    return _with(data, lambda X: X.astype(np.float32).astype(np.float64))


def _unchanged(data, rng):
    return data


def _with(data, change):
    return replace(data, X=change(data.X), X_test=change(data.X_test))


@dataclass(frozen=True)
class Transformation:
    """Two ways to write the same data, drawn with the same seed.

    Parameters
    ----------
    other : callable
        Of data and a generator.
    one : callable, default=unchanged
    """

    other: Callable[[Data, np.random.Generator], Data]
    one: Callable[[Data, np.random.Generator], Data] = _unchanged


TRANSFORMATIONS = {
    "rows permuted": Transformation(_rows),
    "columns permuted": Transformation(_columns),
    "all times 2": Transformation(partial(_times, 2.0)),
    "all times 1000": Transformation(partial(_times, 1000.0)),
    "units of each column": Transformation(_units),
    "one offset": Transformation(_offset),
    "offset of each column": Transformation(_offsets),
    "all signs": Transformation(partial(_times, -1.0)),
    "signs of columns": Transformation(_signs),
    "labels as strings": Transformation(
        partial(_named, lambda rng, K: [f"class {k:03}" for k in range(K)])
    ),
    "labels in another order": Transformation(
        partial(_named, lambda rng, K: rng.permutation(K) * 10 - 5)
    ),
    "dense": Transformation(_dense),
    **{
        f"sparse, {form}": Transformation(partial(_sparse, form))
        for form in ("csr", "csc", "coo", "lil")
    },
    "weight 2 for copies": Transformation(_weights, _copies),
    "float32": Transformation(partial(_as, np.float32), _rounded),
}

_PER_COLUMN = ("units of each column", "offset of each column", "signs of columns")
_UNITS = ("all times 2", "all times 1000", "units of each column")
_OFFSETS = ("one offset", "offset of each column")
_SIGNS = ("all signs", "signs of columns")
# What a classifier does not promise, and why.
NOT_PROMISED = {
    **{
        (name, kind): "counts: zero and one have a meaning"
        for name in COUNTS
        for kind in (*_UNITS, *_OFFSETS, *_SIGNS)
    },
    **{
        ('make_memd("expression")', kind): "features measured alike: rows are ranked"
        for kind in _PER_COLUMN
    },
    **{
        ("ConditionalMaxEntClassifier", kind): "the penalty has the units of features"
        for kind in _UNITS
    },
    **{
        ("NMLClassifier", kind): "moments of levels, counted from the least"
        for kind in _SIGNS
    },
    ("NMLClassifier", "weight 2 for copies"): "takes no weights",
}


def data_sets() -> dict[str, tuple]:
    """Rows and labels by name; sparse ones are counts.

    Returns
    -------
    dict of str to (X, y)
    """
    found = {
        load.__name__.removeprefix("load_"): load(return_X_y=True)
        for load in (load_iris, load_wine, load_breast_cancer)
    }
    X, y = load_digits(return_X_y=True)
    found["digits, one in six"] = X[::6], y[::6]
    for name, size in {
        "normals, 60 x 12": {"n_samples": 60, "n_features": 12, "n_classes": 3},
        "normals, 300 x 30": {"n_samples": 300, "n_features": 30, "n_classes": 5},
        "normals, 50 x 150": {"n_samples": 50, "n_features": 150},
    }.items():
        sample = simulate_gaussian_classes(**size, seed=1)
        found[name] = sample.X, sample.y
    for n, K in ((40, 2), (200, 3), (600, 4)):
        text = simulate_text_counts(n, 300, n_classes=K, document_length=30.0, seed=1)
        found[f"texts, {n} x 300"] = text.X, text.y
    return found


def promised(name: str, kind: str) -> bool:
    """Whether a classifier promises the same labels under a transformation.

    Parameters
    ----------
    name, kind : str
        Of ``CLASSIFIERS`` and ``TRANSFORMATIONS``.

    Returns
    -------
    bool
    """
    thin = get_tags(CLASSIFIERS[name]).input_tags.sparse
    return (name, kind) not in NOT_PROMISED and (thin or not kind.startswith("sparse"))


def labels(model: BaseEstimator, data: Data) -> NDArray:
    """Fit a copy, and predict.

    Parameters
    ----------
    model : classifier or Pipeline
    data : Data

    Returns
    -------
    ndarray of shape (n',)
    """
    model = clone(model).fit(data.X, data.y, **weight_options(model, data.weight))
    return data.read(model.predict(data.X_test))


def weight_options(model: BaseEstimator, weight: NDArray | None) -> dict[str, NDArray]:
    """Options of ``fit`` by which weights reach each step of a model that takes them.

    Parameters
    ----------
    model : estimator or Pipeline
    weight : ndarray of shape (n,) or None

    Returns
    -------
    dict of str to ndarray
        Empty if there are none.
    """
    if weight is None:
        return {}
    steps = model.steps if isinstance(model, Pipeline) else [("", model)]
    return {
        f"{name}__sample_weight" if name else "sample_weight": weight
        for name, step in steps
        if has_fit_parameter(step, "sample_weight")
    }


def tried(only: dict[str, tuple], seed: int = 0) -> Iterator[tuple[str, str, str, int]]:
    """Every promise on every data set.

    Parameters
    ----------
    only : dict of str to (X, y)
        Data sets.
    seed : int, default=0

    Yields
    ------
    name, kind, data set : str
    differ : int
        Rows whose label is another.
    """
    for place, (where, (X, y)) in enumerate(only.items()):
        data = Data(X[::2], y[::2], X[1::2])
        for name, model in CLASSIFIERS.items():
            if (name in COUNTS) != sparse.issparse(X):
                continue
            if name == "NMLClassifier":
                two = data.y < 2
                data_ = replace(data, X=data.X[two], y=data.y[two])
            else:
                data_ = data
            plain = labels(model, data_)
            for number, (kind, change) in enumerate(TRANSFORMATIONS.items()):
                if not promised(name, kind):
                    continue
                one, other = (
                    way(data_, np.random.default_rng([seed, place, number]))
                    for way in (change.one, change.other)
                )
                before = plain if change.one is _unchanged else labels(model, one)
                yield name, kind, where, int((labels(model, other) != before).sum())


def main(n_seeds: int = 1) -> None:
    """Print what is promised and broken, and each case that is.

    Parameters
    ----------
    n_seeds : int, default=1
        How often the permutations, units and weights are drawn.
    """
    n_tried, broken, rows = Counter(), Counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(n_seeds):
            for name, kind, where, differ in tried(data_sets(), seed):
                n_tried[name, kind] += 1
                broken[name, kind] += differ > 0
                if differ:
                    rows.append(f"  {name}, {kind}, {where}: {differ} labels")
    width = max(map(len, CLASSIFIERS)) + 2
    print("broken of those tried, or - where nothing is promised")
    for start in range(0, len(TRANSFORMATIONS), 6):
        kinds = list(TRANSFORMATIONS)[start : start + 6]
        print(f"{'':{width}}" + "".join(f"{kind:>25}" for kind in kinds))
        for name in CLASSIFIERS:
            cells = [
                f"{broken[name, kind]} of {n_tried[name, kind]}"
                if promised(name, kind)
                else "-"
                for kind in kinds
            ]
            print(f"{name:{width}}" + "".join(f"{cell:>25}" for cell in cells))
    print("\nnot promised:")
    for (name, kind), why in NOT_PROMISED.items():
        print(f"  {name}, {kind}: {why}")
    print("\nbroken:", *rows, sep="\n")
    print(f"\n{sum(n_tried.values())} tried, {sum(broken.values())} broken")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.invariances")
    parser.add_argument("--seeds", type=int, default=1)
    main(parser.parse_args().seeds)
