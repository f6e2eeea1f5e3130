"""Inputs that users do give, though nobody should: for estimators.

Each is a name and a change of benign data. Some say the same as the benign data in
another type or layout; ``same`` is then what the answer is compared with.
"""

import tempfile
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import sparse

PLACES = {"cell": (3, 1), "row": (3, slice(None)), "column": (slice(None), 1)}
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


@dataclass(frozen=True)
class Case:
    """A call of ``fit`` and what it is asked about afterwards.

    Parameters
    ----------
    X, y : object
        Training rows and labels.
    X_test : object, default=None
        None means X.
    weight : object, default=None
    same : Case or None, default=None
        The same in float64, contiguous: answers must agree.
    says : str, default=""
        Regular expression that the message of an error must hold.
    """

    X: object
    y: object
    X_test: object = None
    weight: object = None
    same: "Case | None" = None
    says: str = ""


def benign(n_classes: int) -> Case:
    """Counts, of other means in each class.

    Parameters
    ----------
    n_classes : int

    Returns
    -------
    Case
        60 rows, 5 columns.
    """
    rng = np.random.default_rng(7)
    y = np.arange(60) % n_classes
    means = rng.uniform(1.0, 8.0, (n_classes, 5))
    return Case(rng.poisson(means[y]).astype(float), y)


def fits(base: Case) -> dict[str, Case]:
    """Hostile data for ``fit``.

    Parameters
    ----------
    base : Case

    Returns
    -------
    dict of str to Case
    """
    X, y = base.X, base.y
    n, d = X.shape
    found = {
        "no rows": Case(X[:0], y[:0]),
        "no columns": Case(X[:, :0], y),
        "one row": Case(X[:1], y[:1]),
        "two rows": Case(X[:2], y[:2]),
        "one row a class": Case(X[: y.max() + 1], y[: y.max() + 1]),
        "two rows a class": Case(X[: 2 * y.max() + 2], y[: 2 * y.max() + 2]),
        "one class": Case(X, np.zeros_like(y)),
        "a class of one row": Case(
            X, np.where(np.arange(n) == 5, y.max(), y * (y < 1))
        ),
        "more classes than rows of each": Case(X, np.arange(n)),
        "one column": Case(X[:, :1], y),
        "X of one axis": Case(X[:, 0], y),
        "X of three axes": Case(X[None], y),
        "X a number": Case(3.0, y),
        "X None": Case(None, y),
        "X a string": Case("data.csv", y),
        "X a dict": Case({"a": [1, 2]}, y[:2]),
        "X ragged": Case([[1.0, 2.0], [3.0]], y[:2]),
        "X strings": Case(np.array([["a", "b"]] * n), y),
        "X documents": Case(["to be or not", "to be that is"] * (n // 2), y),
        "X objects": Case(np.array([[object()] * d] * n), y),
        "X dates": Case(np.full((n, d), np.datetime64("2020-01-01")), y),
        "X complex": Case(X + 1j, y),
        "y None": Case(X, None),
        "y short": Case(X, y[:-1]),
        "y one-hot": Case(X, np.eye(y.max() + 1)[y]),
        "y nan": Case(X, np.where(np.arange(n) == 3, np.nan, y)),
        "y inf": Case(X, np.where(np.arange(n) == 3, np.inf, y)),
        "y continuous": Case(X, np.random.default_rng(0).normal(size=n)),
        "y mixed": Case(X, np.array([1, "a", None] * (n // 3), dtype=object)),
        "y with None": Case(X, np.where(y > 0, "a", None)),
        "frame with NA": Case(
            pd.DataFrame(X, columns=list("abcde")).astype("Int64").mask(X > 9), y
        ),
        "frame with categories": Case(
            pd.DataFrame({"a": pd.Categorical(["u", "v"] * (n // 2)), "b": X[:, 0]}),
            y,
            says="convert string",
        ),
        "all constant": Case(np.ones_like(X), y),
        "all zero": Case(np.zeros_like(X), y),
        "a constant column": Case(np.where(np.arange(d) == 1, 3.0, X), y),
        "a zero column": Case(np.where(np.arange(d) == 1, 0.0, X), y),
        "duplicated columns": Case(np.hstack([X, X]), y),
        "a column of two scales": Case(np.hstack([X, X * 1e-200, X * 1e100]), y),
        "labels in a column": Case(np.column_stack([X, y]), y),
        "duplicated rows": Case(np.repeat(X[:3], n // 3, axis=0), y),
        "wide": Case(np.tile(X[:9], (1, 40)), y[:9]),
    }
    for value in (np.nan, np.inf, -np.inf, -1.0):
        says = "mput" if np.isnan(value) else ""
        for where in PLACES:
            found[f"{value} in a {where}"] = Case(_put(X, where, value), y, says=says)
    for value in (1e308, -1e308, 1.7e308, 1e200, 1e150, 1e15, 1e-308, 5e-324, 1e-170):
        for where in PLACES:
            found[f"{value:g} in a {where}"] = Case(_put(X, where, value), y)
        with np.errstate(over="ignore"):
            scaled = np.clip(X * value, -1.79e308, 1.79e308)
            shifted = np.clip(X + value, -1.79e308, 1.79e308)
        found[f"times {value:g}"] = Case(scaled, y)
        found[f"plus {value:g}"] = Case(shifted, y)
    found["plus 1e6"] = Case(X + 1e6, y)
    found["plus 1e6, sparse"] = Case(
        sparse.csr_array(X + 1e6), y, same=Case(X + 1e6, y)
    )
    return found | _weights(base) | _alike(base)


def _put(X, where, value):
    X = X.copy()
    X[PLACES[where]] = value
    return X


def _weights(base):
    y = base.y
    n, one = len(y), np.ones(len(y))
    spread = np.random.default_rng(1).uniform(0.5, 2.0, n)
    values = {
        "zero": 0 * one,
        "zero but for one": 1.0 * (np.arange(n) == 4),
        "zero in a class": 1.0 * (y > 0),
        "negative": np.where(np.arange(n) == 4, -1.0, 1.0),
        "nan": np.where(np.arange(n) == 4, np.nan, 1.0),
        "inf": np.where(np.arange(n) == 4, np.inf, 1.0),
        "short": one[:-1],
        "of two axes": np.ones((n, 2)),
        "strings": np.array(["a"] * n),
        "None inside": np.array([None] * n),
        "a number": 2.0,
        "complex": one + 1j,
    }
    for value in (1e15, 1e100, 1e300, 1e308, 1e-15, 1e-300, 1e-308, 5e-324):
        values[f"all {value:g}"] = value * one
        values[f"{value:g} once"] = np.where(np.arange(n) == 4, value, 1.0)
        values[f"{value:g} in a class"] = np.where(y == 0, value, 1.0)
        values[f"around {value:g}"] = np.minimum(spread, 1.7e308 / value) * value
    found = {f"weights {name}": replace(base, weight=w) for name, w in values.items()}
    plain = replace(base, weight=spread.astype(np.float32).astype(float))
    whole = replace(base, weight=np.arange(n) % 3 + 1.0)
    alike = {
        "float32": (spread.astype(np.float32), plain),
        "a list": (plain.weight.tolist(), plain),
        "a series": (pd.Series(plain.weight), plain),
        "integers": (np.arange(n) % 3 + 1, whole),
        "uint8": ((np.arange(n) % 3 + 1).astype(np.uint8), whole),
        "strided": (np.repeat(plain.weight, 2)[::2], plain),
        "bool": (
            np.arange(n) % 3 > 0,
            replace(base, weight=1.0 * (np.arange(n) % 3 > 0)),
        ),
    }
    return found | {
        f"weights {name}": replace(base, weight=w, same=same)
        for name, (w, same) in alike.items()
    }


def _alike(base):
    X, y = base.X, base.y
    names = np.array([f"class {k}" for k in range(y.max() + 1)])
    found = {f"X {kind}": replace(base, X=Z) for kind, Z in layouts(X).items()}
    found |= {
        f"y {kind}": replace(base, y=labels)
        for kind, labels in {
            "strings": names[y],
            "objects": names[y].astype(object),
            "floats": y.astype(float),
            "a list": y.tolist(),
            "a column": y[:, None],
            "uint8": y.astype(np.uint8),
            "a series": pd.Series(names[y]),
            "categories": pd.Series(pd.Categorical(names[y])),
            "float16": y.astype(np.float16),
            "large integers": y + 2**53,
            "negative": y - 7,
        }.items()
    }
    found = {name: replace(case, same=base) for name, case in found.items()}
    few = X > X.mean()
    found["X bool"] = replace(base, X=few, same=replace(base, X=few.astype(float)))
    half = (X / 7).astype(np.float16)
    found["X float16"] = replace(base, X=half, same=replace(base, X=half.astype(float)))
    if y.max() == 1:
        found["y bool"] = replace(base, y=y == 1, same=base)
    return found


def layouts(X) -> dict[str, object]:
    """The same table of small whole numbers in other types and layouts.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64

    Returns
    -------
    dict of str to object
    """
    read_only = X.copy()
    read_only.flags.writeable = False
    with tempfile.TemporaryFile() as file:
        X.tofile(file)
        mapped = np.memmap(file, X.dtype, "r", shape=X.shape)
    csr = sparse.csr_array(X)
    # an entry in two halves, indices backwards, zeros stored
    rows, columns = np.nonzero(X > -1)
    halves = np.concatenate([rows, rows]), np.concatenate([columns, columns])
    twice = np.concatenate([X.ravel(), X.ravel()]) / 2
    backwards = csr.copy()
    for i in range(X.shape[0]):
        part = slice(*backwards.indptr[i : i + 2])
        backwards.indices[part] = backwards.indices[part][::-1].copy()
        backwards.data[part] = backwards.data[part][::-1].copy()
    backwards.has_sorted_indices = False
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = (
        a.astype(np.int64) for a in (wide.indices, wide.indptr)
    )
    return {
        "int64": X.astype(np.int64),
        "int8": X.astype(np.int8),
        "uint8": X.astype(np.uint8),
        "float32": X.astype(np.float32),
        "long double": X.astype(np.longdouble),
        "big-endian": X.astype(">f8"),
        "objects of floats": X.astype(object),
        "a list": X.tolist(),
        "a tuple of arrays": tuple(X),
        "Fortran": np.asfortranarray(X),
        "strided": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
        "reversed": X[::-1].copy()[::-1],
        "read-only": read_only,
        "mapped": mapped,
        "a frame": pd.DataFrame(X),
        "a frame of columns a, b": pd.DataFrame(X).add_prefix("c"),
        "a frame of Int64": pd.DataFrame(X).astype("Int64"),
        "a frame of float32 and ints": pd.DataFrame(X).astype({0: "f4", 1: "i8"}),
        **{form: csr.asformat(form) for form in FORMATS},
        "csr matrix": sparse.csr_matrix(X),
        "csr of int64": csr.astype(np.int64),
        "csr of float32": csr.astype(np.float32),
        "csr, indices of 64 bits": wide,
        "csr, unsorted": backwards,
        "coo, entries in halves": sparse.coo_array((twice, halves), X.shape),
        "csr, zeros stored": sparse.csr_array(
            (X.ravel(), columns, np.arange(0, X.size + 1, X.shape[1])), X.shape
        ),
    }


def asked(base: Case) -> dict[str, Case]:
    """Hostile rows to predict or transform, after a benign fit.

    Parameters
    ----------
    base : Case

    Returns
    -------
    dict of str to Case
    """
    X = base.X
    found = {
        "no rows": X[:0],
        "one column fewer": X[:, 1:],
        "one column more": np.hstack([X, X[:, :1]]),
        "one axis": X[0],
        "None": None,
        "strings": np.array([["a"] * X.shape[1]]),
        "zeros": np.zeros((1, X.shape[1])),
        "one row": X[:1],
        "complex": X + 1j,
    }
    for value in (np.nan, np.inf, -1.0, 1e308, -1e308, 1e200, 1e100, 1e15, 5e-324):
        for where in PLACES:
            found[f"{value:g} in a {where}"] = _put(X, where, value)
    cases = {f"asked {name}": replace(base, X_test=Z) for name, Z in found.items()}
    return cases | {
        f"asked X {kind}": replace(base, X_test=Z, same=base)
        for kind, Z in layouts(X).items()
        if not kind.startswith("a frame of columns")
    }
