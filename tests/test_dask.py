"""Fits from Dask collections against one fit in memory; in threads.

On worker processes, which take long to start: ``make test-nightly``.
"""

from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier, make_memd
from memdlib.dask import fit
from memdlib.generative import CorrelatedMeMdClassifier, MultinomialMeMdClassifier

ESTIMATORS = {
    "normal": MeMdClassifier(n_features=3),
    "all": MeMdClassifier(
        n_features=None, divergence="jeffreys", variance_shrinkage="auto"
    ),
    "poisson": MeMdClassifier(n_features=0.5, family="poisson", priors=[0.2, 0.3, 0.5]),
    "presence": MeMdClassifier(n_features=3, family="bernoulli"),
    "by class": MeMdClassifier(n_features=2, class_weight={0: 2.0, 1: 0.5, 2: 1.0}),
    "documents": MultinomialMeMdClassifier(n_features=4),
    "full": JointMaxEntClassifier(),
    "pooled": JointMaxEntClassifier("pooled", correlation_shrinkage=0.1),
    "diagonal": JointMaxEntClassifier("diagonal"),
}

# Rows of blocks of unequal and of zero length.
CUTS = (0, 0, 1, 40, 90, 90, 200)
SIZES = tuple(np.diff(CUTS).tolist())

FOUND = (
    "class_prior_ mean_params_ natural_params_ scores_ covariances_ "
    "correlation_shrinkage_ variance_shrinkage_"
).split()


def counts():
    """Counts of three classes in order: most blocks do not have them all."""
    rng = np.random.default_rng([18, 0])
    y = np.sort(rng.integers(3, size=200))
    rate = rng.gamma(2.0, size=(3, 6))
    return rng.poisson(rate[y]).astype(float), y


def weights():
    """Weights of the rows, some zero: all of one block."""
    weight = np.random.default_rng([18, 2]).uniform(size=200)
    weight[40:90] = 0.0
    return weight


def blocks(*columns):
    shapes = [(SIZES, *((n,) for n in v.shape[1:])) for v in columns]
    return [da.from_array(v, chunks=s) for v, s in zip(columns, shapes, strict=True)]


def unknown(values):
    """The same blocks, of lengths that are not known."""
    (found,) = blocks(values)
    found._chunks = ((np.nan,) * len(SIZES), *found.chunks[1:])
    return found


def agree(one, other, X):
    """Whether two fitted estimators are the same, but for rounding."""
    assert other.n_features_in_ == one.n_features_in_
    assert_array_equal(one.classes_, other.classes_, strict=True)
    if hasattr(one, "order_"):
        assert other.order_.tolist() == one.order_.tolist()
        assert other.n_selected_ == one.n_selected_
    for name in FOUND:
        if hasattr(one, name):
            a, b = getattr(one, name), getattr(other, name)
            atol = 1e-12 * np.abs(a).max()
            assert_allclose(b, a, rtol=1e-12, atol=atol, err_msg=name)
    found, expected = other.predict_proba(X), one.predict_proba(X)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_blocks_give_one_fit(name, weighted):
    X, y = counts()
    columns = [X, y, weights()][: 2 + weighted]
    one = clone(ESTIMATORS[name]).fit(*columns)
    other = clone(ESTIMATORS[name])
    assert fit(other, *blocks(*columns)) is other
    agree(one, other, X)
    again = fit(clone(ESTIMATORS[name]), *blocks(*columns), classes=[2, 0, 1])
    agree(one, again, X)


def test_it_goes_on_where_partial_fit_does():
    X, y = counts()
    model = fit(MeMdClassifier(n_features=3), *blocks(X, y))
    model.partial_fit(X[::2] + 1, y[::2])
    both = np.vstack([X, X[::2] + 1]), np.append(y, y[::2])
    agree(MeMdClassifier(n_features=3).fit(*both), model, X)


def test_columns_in_several_blocks_and_labels_in_memory():
    X, y = counts()
    narrow = da.from_array(X, chunks=(70, 4))
    one = MeMdClassifier(n_features=3).fit(X, y, weights())
    for labels in (y, list(y), da.from_array(y, chunks=33)):
        other = fit(MeMdClassifier(n_features=3), narrow, labels, weights())
        agree(one, other, X)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask
def test_files_of_a_folder(tmp_path):
    """Dask reads several files at a time where few of their columns are asked for."""
    X, y = counts()
    table = pd.DataFrame(X, columns=list("abcdef")).assign(label=y)
    for i in range(4):
        table[50 * i : 50 * i + 50].to_parquet(tmp_path / f"{i}.parquet", index=False)
    parts = dd.read_parquet(tmp_path)
    own = parts.drop(columns="label"), parts["label"]
    other = fit(MeMdClassifier(n_features=3), *own)
    features = table.drop(columns="label")
    agree(MeMdClassifier(n_features=3).fit(features, y), other, features)


def test_lengths_that_are_not_known_but_agree():
    X, y = counts()
    other = fit(MeMdClassifier(n_features=3), unknown(X), unknown(y))
    agree(MeMdClassifier(n_features=3).fit(X, y), other, X)


CHANGES = [
    (lambda X, y: (unknown(X), y), "compute_chunk_sizes"),
    (lambda X, y: (unknown(X), da.from_array(y, chunks=50)), "compute_chunk_size"),
    (lambda X, y: (blocks(X)[0], y[1:]), "do not add up to shape"),
    (lambda X, y: (dd.from_array(X, chunksize=50), y), "many blocks as X, which has 4"),
    (lambda X, y: (blocks(X)[0], y + 0.5), "continuous"),
    (lambda X, y: (*blocks(X, y, weights() * 0),), r"classes=\[\] must hold"),
    (lambda X, y: (*blocks(X, y), None, [0, 1]), r"label 2 is not among .*\[0, 1"),
    (lambda X, y: (*blocks(X, y), None, range(4)), "no row of class 3"),
    (lambda X, y: (*blocks(X, y), weights() * 0, [0, 1]), "no row of class 0"),
    (lambda X, y: (blocks(X)[0].map_blocks(without_column, dtype=float), y), "5 feat"),
    (lambda X, y: (unknown(X), unknown(y).map_blocks(lambda b: b[1:])), "inconsistent"),
]


def without_column(block):
    return block[:, 1:]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_what_cannot_be_fitted_changes_nothing(change, message):
    model = MeMdClassifier(n_features=1).fit([[0], [1], [5], [7]], [0, 0, 1, 1])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        fit(model, *change(*counts()))
    assert vars(model) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, 'n_features="auto" needs all rows at once'),
        ({"n_features": 3, "class_weight": "balanced"}, "in partial_fit, pass"),
        ({"n_features": 0}, "n_features"),
    ],
)
def test_parameters_that_need_all_rows(options, message):
    with pytest.raises(ValueError, match=message):
        fit(MeMdClassifier(**options), *blocks(*counts()))


def test_families_by_column_are_those_of_all_blocks():
    X = np.array([[0.0, 1], [1, 2], [0, 4], [1, 7], [5, 6], [6, 8]])
    y = np.array([0, 1, 0, 1, 0, 1])
    X_blocks = da.from_array(X, chunks=(2, 2))
    with pytest.raises(ValueError, match=r"column 0 is (norm|bern).*name its family"):
        fit(MeMdClassifier(family="auto", n_features=2), X_blocks, y)
    named = MeMdClassifier(family=["normal", "normal"], n_features=2)
    agree(clone(named).fit(X, y), fit(clone(named), X_blocks, y), X)


def test_estimators_without_partial_fit_and_data_in_memory_have_another_fit():
    for model in (DivergenceRanker(), CorrelatedMeMdClassifier(), make_memd("table")):
        message = f"{type(model).__name__} is no .* with partial_fit"
        with pytest.raises(TypeError, match=message):
            fit(model, *blocks(*counts()))
    with pytest.raises(TypeError, match="X is a ndarray"):
        fit(MeMdClassifier(n_features=1), *counts())


@pytest.mark.parametrize("name", ["normal", "documents"])
def test_sparse_blocks(name):
    X, y = counts()
    parts = [dask.delayed(sparse.csr_array)(X[i:j]) for i, j in pairwise(CUTS)]
    X_blocks = da.concatenate(
        [
            da.from_delayed(p, (n, X.shape[1]), meta=sparse.csr_array((0, 0)))
            for p, n in zip(parts, SIZES, strict=True)
        ]
    )
    one = clone(ESTIMATORS[name]).fit(sparse.csr_array(X), y)
    agree(one, fit(clone(ESTIMATORS[name]), X_blocks, y), X)


@pytest.mark.parametrize("kind", [int, str])
def test_data_frames(kind):
    X, y = counts()
    labels = y if kind is int else np.array(["ape", "bee", "cow"])[y]
    table = pd.DataFrame(X, columns=list("abcdef")).assign(label=labels, w=weights())
    features = table[list("abcdef")]
    one = MeMdClassifier(n_features=3).fit(features, table["label"], table["w"])
    parts = dd.from_pandas(table, npartitions=4, sort=False)
    own = parts[list("abcdef")], parts["label"], parts["w"]
    other = fit(MeMdClassifier(n_features=3), *own)
    assert other.feature_names_in_.tolist() == list("abcdef")
    agree(one, other, features)
    other = fit(MeMdClassifier(n_features=3), own[0].to_dask_array(), *own[1:])
    assert not hasattr(other, "feature_names_in_")
    agree(clone(one).fit(X, table["label"], weights()), other, X)
