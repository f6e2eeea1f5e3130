"""Fits on a cluster of two processes against one fit in memory."""

import os
import weakref
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy import sparse
from sklearn.base import clone

from memdlib import (
    DivergenceRanker,
    JointMaxEntClassifier,
    MeMdClassifier,
    make_memd,
)
from memdlib.parts import fit_chunks, mixed, wide
from memdlib.parts.dask import _Blocks, fit_distributed, predict_blocks
from memdlib.parts.work import Pass
from tests.parts.comparing import (
    CORRELATED,
    CUTS,
    ESTIMATORS,
    agree,
    correlated,
    counts,
    in_parts,
)

SIZES = tuple(np.diff(CUTS).tolist())


@pytest.fixture(scope="session")
def client():
    """Two worker processes of one thread each, started again when they die."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit=None,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def blocks(*columns):
    """Arrays in uneven blocks, one of no rows at all."""
    return [
        da.from_array(v, chunks=(SIZES, *((n,) for n in v.shape[1:]))) for v in columns
    ]


def sparse_blocks(X):
    parts = [dask.delayed(sparse.csr_array)(part) for (part,) in in_parts(X)]
    return da.concatenate(
        [
            da.from_delayed(p, (n, X.shape[1]), meta=sparse.csr_array((0, 0)))
            for p, n in zip(parts, SIZES, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ["fixed", "auto", "folds", "balanced", "pooled"])
def test_arrays_in_uneven_blocks(client, name):
    X, y = counts()
    one = clone(ESTIMATORS[name]).fit(X, y)
    other = fit_distributed(clone(ESTIMATORS[name]), *blocks(X, y), client=client)
    agree(one, other, X)


@pytest.mark.parametrize("name", ["auto", "full", "ranker"])
def test_weights(client, name):
    X, y = counts()
    weight = np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0
    one = clone(ESTIMATORS[name]).fit(X, y, weight)
    other = fit_distributed(clone(ESTIMATORS[name]), *blocks(X, y, weight))
    agree(one, other, X)


@pytest.mark.parametrize(
    ("name", "d", "weighted"),
    [
        ("all", 20, True),
        ("all", 250, False),
        ("variances", 20, False),
        ("variances", 250, True),
        ("folds", 20, False),
        ("share", 20, True),
        ("share", 250, True),
    ],
)
def test_correlations(client, name, d, weighted):
    X, y = correlated(d=d)
    columns = [X, y]
    if weighted:
        columns.append(np.random.default_rng([18, 2]).integers(4, size=len(y)) * 1.0)
    one = clone(CORRELATED[name]).fit(*columns)
    other = clone(CORRELATED[name])
    agree(one, fit_distributed(other, *blocks(*columns), client=client), X)
    found = predict_blocks(other, blocks(X)[0]).compute()
    np.testing.assert_array_equal(found, one.predict(X))


@pytest.mark.parametrize("kind", ["table", "expression"])
def test_mixtures(client, monkeypatch, kind):
    """What was learnt from rows that are gathered travels with the passes."""
    monkeypatch.setattr(mixed, "_IN_MEMORY", 0)
    monkeypatch.setattr(mixed, "MOST_HELD_OUT", 60)
    X, y = correlated(d=5)
    one = fit_chunks(make_memd(kind, random_state=0), in_parts(X, y))
    other = make_memd(kind, random_state=0)
    fit_distributed(other, *blocks(X, y), client=client)
    agree(one[-1], other[-1], X)


@pytest.mark.parametrize(
    ("name", "chunks"),
    [
        ("fixed", (200, 90)),
        ("fixed", (200, 250)),
        ("fixed", (70, 99)),
        ("folds", (70, 99)),
    ],
)
def test_correlations_of_columns_in_blocks(client, monkeypatch, name, chunks):
    monkeypatch.setattr(wide, "_ENTRIES", 20_000)
    X, y = correlated(d=250)
    X_blocks = da.from_array(X, chunks=chunks)
    other = fit_distributed(clone(CORRELATED[name]), X_blocks, y, client=client)
    agree(clone(CORRELATED[name]).fit(X, y), other, X)


def test_columns_need_blocks_of_known_lengths_of_dense_rows(client):
    X, y = correlated(d=250)
    model = clone(CORRELATED["all"])
    frames = [
        dd.from_pandas(part(v), npartitions=3)
        for part, v in ((pd.DataFrame, X), (pd.Series, y))
    ]
    for columns in (frames, (unknown(X), unknown(y))):
        with pytest.raises(ValueError, match=r"compute_chunk_sizes.*to_dask_array"):
            fit_distributed(model, *columns, client=client)
    for rows in (200, 300):
        with pytest.raises(TypeError, match="needs dense"):
            fit_distributed(model, sparse_blocks(X[:, :rows]), y)


def test_few_results_are_held_at_a_time():
    held, most = weakref.WeakSet(), []

    class Sized(np.ndarray):
        __hash__ = object.__hash__

        def __array_finalize__(self, _):
            held.add(self)
            most.append(len(held))

    class Rows(Pass):
        def _of(self, X, y, weight):
            return {"rows": np.full(3, len(y)).view(Sized)}

    X, y = (da.zeros(shape, chunks=2) for shape in ((2 * 67, 2), 2 * 67))
    with dask.config.set(scheduler="synchronous"):
        found = _Blocks(X, y, None, None).reduce(Rows())
    assert found["rows"].tolist() == [134] * 3
    # one that is added, both sums, and the chains that wait: nine of them, in pairs
    assert max(most) <= 3 + 4


def test_the_scheduler_of_one_process_does_too():
    X, y = counts()
    with dask.config.set(scheduler="synchronous"):
        other = fit_distributed(MeMdClassifier(random_state=0), *blocks(X, y))
    agree(MeMdClassifier(random_state=0).fit(X, y), other, X)


def test_columns_in_several_blocks_and_labels_in_memory(client):
    X, y = counts()
    narrow = da.from_array(X, chunks=(70, 4))
    one = MeMdClassifier(random_state=0).fit(X, y)
    for labels in (y, list(y), da.from_array(y, chunks=33)):
        agree(one, fit_distributed(MeMdClassifier(random_state=0), narrow, labels), X)


@pytest.mark.parametrize("name", ["fixed", "auto", "documents"])
def test_sparse_blocks(client, name):
    X, y = counts(d=12)
    one = clone(ESTIMATORS[name]).fit(sparse.csr_array(X), y)
    X_blocks = sparse_blocks(X)
    other = fit_distributed(clone(ESTIMATORS[name]), X_blocks, y, client=client)
    agree(one, other, X)
    found = predict_blocks(one, X_blocks).compute()
    np.testing.assert_array_equal(found, one.predict(X))


@pytest.mark.parametrize("kind", [int, str])
def test_data_frames(client, kind):
    X, y = counts()
    labels = y if kind is int else np.array(["ape", "bee", "cow"])[y]
    table = pd.DataFrame(X, columns=list("abcdef")).assign(label=labels)
    one = MeMdClassifier(random_state=0).fit(table[list("abcdef")], table["label"])
    parts = dd.from_pandas(table, npartitions=4, sort=False)
    parts = dd.concat([parts.partitions[:2], parts.partitions[:1].loc[1:0], parts])
    parts = parts.partitions[2:]  # the first is empty
    features = parts[list("abcdef")]
    other = fit_distributed(
        MeMdClassifier(random_state=0), features, parts["label"], client=client
    )
    assert other.feature_names_in_.tolist() == list("abcdef")
    assert other.classes_.tolist() == one.classes_.tolist()
    np.testing.assert_array_equal(other.order_, one.order_)
    assert other.n_selected_ == one.n_selected_
    np.testing.assert_allclose(
        other.feature_divergences_, one.feature_divergences_, rtol=1e-12
    )
    for method in ("predict", "predict_proba"):
        found = predict_blocks(other, features, method).compute()
        expected = getattr(other, method)(table[list("abcdef")])
        if method == "predict":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("auto", [False, True])
def test_a_worker_that_dies_is_replaced(client, tmp_path, auto):
    X, y = counts()
    mark = tmp_path / "died"

    def die_once(block, block_info=None):
        place = block_info[0]["chunk-location"][0] if block_info else None
        if place == 4 and not mark.exists():
            Path(mark).touch()
            os._exit(1)
        return block

    X_blocks, y_blocks = blocks(X, y)
    deadly = X_blocks.map_blocks(die_once, dtype=X.dtype, meta=np.empty((0, 0)))
    model = MeMdClassifier(n_features="auto" if auto else 3, random_state=0)
    other = fit_distributed(clone(model), deadly, y_blocks, client=client)
    assert mark.exists()
    agree(model.fit(X, y), other, X)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_block_by_block(client, method):
    X, y = counts()
    model = MeMdClassifier(n_features=3).fit(X, y)
    found = predict_blocks(model, blocks(X)[0], method)
    expected = getattr(model, method)(X)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert found.chunks[0] == tuple(n for n in SIZES if n)
    np.testing.assert_allclose(client.compute(found, sync=True), expected, rtol=1e-12)


def test_the_ranker_transforms_block_by_block(client):
    X, y = counts()
    ranker = DivergenceRanker(n_features=2).fit(X, y)
    found = predict_blocks(ranker, blocks(X)[0], "transform")
    expected = ranker.transform(X)
    np.testing.assert_array_equal(found.compute(), expected)
    # blocks of an array are arrays, whatever set_output says
    found = predict_blocks(
        ranker.set_output(transform="pandas"), blocks(X)[0], "transform"
    )
    np.testing.assert_array_equal(found.compute(), expected)


def unknown(values):
    """The same blocks, of lengths that are not known."""
    found = blocks(values)[0].copy()
    found._chunks = ((np.nan,) * len(SIZES), *found.chunks[1:])
    return found


def test_lengths_that_are_not_known_but_agree(client):
    X, y = counts()
    one = MeMdClassifier(random_state=0).fit(X, y)
    for X_blocks, labels in (
        (unknown(X), unknown(y)),
        (unknown(X), blocks(y)[0]),
        (blocks(X)[0], unknown(y)),
    ):
        model = MeMdClassifier(random_state=0)
        agree(one, fit_distributed(model, X_blocks, labels, client=client), X)
    found = predict_blocks(one, unknown(X))
    np.testing.assert_array_equal(found.compute(), one.predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (unknown(X), y), "are not known, so that y in memory"),
        (
            lambda X, y: (unknown(X), da.from_array(y, chunks=50)),
            "4 blocks and X in 6, and their lengths are not known",
        ),
        (lambda X, y: (blocks(X)[0], y[1:]), "y has 199 rows and X 200"),
        (lambda X, y: (blocks(X)[0], X), "y has 2 dimensions"),
        (lambda X, y: (da.from_array(y), y), "X has 1 dimensions"),
        (lambda X, y: (blocks(X)[0], y + 0.5), "continuous"),
        (lambda X, y: (blocks(X)[0], y * np.nan), "NaN"),
        (lambda X, y: (blocks(X * np.nan)[0], y), "NaN"),
        (lambda X, y: (blocks(X)[0], y * 0), "one class only"),
        (
            lambda X, y: (
                blocks(X)[0],
                unknown(y).map_blocks(lambda b: b[1:] if len(b) > 99 else b),
            ),
            "110 rows of X and 109 labels",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_what_cannot_be_fitted(client, change, message):
    model = MeMdClassifier(n_features=1).fit([[0], [1], [5], [7]], [0, 0, 1, 1])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        fit_distributed(model, *change(*counts()), client=client)
    assert vars(model) == before


def test_blocks_of_another_number_of_columns(client):
    X, y = counts()
    wrong = blocks(X)[0].map_blocks(
        lambda b: b[:, 1:] if len(b) == 50 else b, meta=np.empty((0, 0))
    )
    for n_features in (3, "auto"):
        model = MeMdClassifier(n_features=n_features)
        with pytest.raises(ValueError, match="5 features"):
            fit_distributed(model, wrong, y, client=client)
        assert not hasattr(model, "n_features_in_")


def test_columns_that_are_not_known(client):
    X, y = counts()
    wide = blocks(X)[0]
    wide._chunks = (wide.chunks[0], (np.nan,))
    with pytest.raises(ValueError, match="number of columns of X is not known"):
        fit_distributed(MeMdClassifier(), wide, y)


def test_data_in_memory_have_a_fit_of_their_own():
    X, y = counts()
    with pytest.raises(TypeError, match="X is a ndarray"):
        fit_distributed(MeMdClassifier(), X, y)
    with pytest.raises(TypeError, match="needs dense"):
        fit_distributed(JointMaxEntClassifier(), sparse_blocks(X), y)
