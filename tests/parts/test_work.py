"""Cuts found from a histogram against positions found by sorting all rows."""

from dataclasses import replace
from functools import reduce
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.validation import validate_data

from memdlib import MeMdClassifier
from memdlib.holdout import RowKeys, Spread, content_positions, folds
from memdlib.parts import work
from memdlib.parts.wide import WideMoments
from memdlib.parts.work import (
    Accuracy,
    Border,
    HashCuts,
    Hashes,
    Reader,
    Shares,
    Spreads,
)


def sorted_folds(X, codes, weight, validation, seed, most=np.inf):
    at = content_positions(X, codes, weight, np.random.RandomState(seed))
    return folds(at, validation, most)[0]


def cut_folds(parts, n_classes, validation, seed, most=np.inf):
    seed = np.frombuffer(np.random.RandomState(seed).bytes(8), dtype=np.uint64)
    codes, weight = (
        np.concatenate(values) for values in list(zip(*parts, strict=True))[1:]
    )
    estimator = MeMdClassifier()
    validate_data(estimator, parts[0][0][:1], accept_sparse=True)
    reader = Reader(estimator, np.arange(n_classes))

    def added(work):
        return reduce(work.add, [work.of(*part) for part in parts])

    even = replace(reader, by_class=1 / np.bincount(codes, weight))
    keys = RowKeys.of(seed, Spread(**added(Spreads(even))))
    histogram = added(Hashes(reader, keys))["weight"]
    shares = Shares.of_folds(validation, most / len(codes))
    border = added(Border(reader, shares.buckets(histogram), keys))
    found = HashCuts.find(keys, shares, histogram, border)
    return np.concatenate([found.folds(X, codes) for X, codes, _ in parts])


def rows(n, n_values, seed, dtype=np.float64):
    """Few values make copies of rows; tiny steps make ties of rounded distances."""
    rng = np.random.default_rng([18, 1, seed])
    X = rng.integers(n_values, size=(n, 2)) * 1.0
    X[::3] += 1e-12
    return X.astype(dtype), rng.integers(3, size=n), rng.integers(1, 4, size=n) * 1.0


@given(
    n=st.integers(3, 120),
    n_values=st.integers(1, 30),
    seed=st.integers(0, 99),
    validation=st.sampled_from([0.2, 0.5, 0.9, 2, 3, 5]),
    n_bits=st.integers(1, 12),
    most=st.sampled_from([1, 7, 20, 50, np.inf]),
)
def test_every_row_gets_the_fold_that_sorting_gives(
    n, n_values, seed, validation, n_bits, most
):
    X, codes, weight = rows(n, n_values, seed)
    codes[:3] = range(3)
    with pytest.MonkeyPatch.context() as patch:  # few buckets hold many rows
        patch.setattr(work, "N_BUCKETS", 2**n_bits)
        patch.setattr(work, "_SHIFT", np.uint64(64 - n_bits))
        parts = [(X[i::3], codes[i::3], weight[i::3]) for i in range(3)]
        found = cut_folds(parts, 3, validation, seed, most)
    order = np.concatenate([np.arange(n)[i::3] for i in range(3)])
    expected = sorted_folds(X, codes, weight, validation, seed, most)
    np.testing.assert_array_equal(found, expected[order])


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_formats_and_precisions(kind, dtype):
    X, codes, weight = rows(400, 12, 0, dtype)
    X = kind(X)
    found = cut_folds([(X, codes, weight)], 3, 0.3, 7)
    np.testing.assert_array_equal(found, sorted_folds(X, codes, weight, 0.3, 7))
    assert 0 < (found == 0).sum() < 400


def test_one_heavy_row_leaves_nothing_to_set_aside():
    X, codes = np.array([[1.0], [2.0]]), np.array([0, 1])
    weight = np.ones(2)
    assert cut_folds([(X, codes, weight)], 2, 0.2, 0).tolist() == [1, 1]
    assert cut_folds([(X, codes, weight)], 2, 0.6, 0).tolist() == [0, 0]


@given(
    n=st.integers(1, 100_000),
    validation=st.one_of(st.integers(2, 9), st.floats(0.01, 0.99)),
    most=st.one_of(st.integers(1, 20_000), st.just(np.inf)),
)
def test_as_many_folds_are_held_out_as_in_memory(n, validation, most):
    _, n_held_out = folds(np.zeros(n), validation, most)
    assert Shares.of_folds(validation, most / n).n_held_out == n_held_out


class _Everything:
    """A model that is right about all rows of the second class."""

    def correct_weight(self, X, codes, weight, grid):
        return np.full(len(grid), weight[codes == 1].sum())


def test_accuracy_is_counted_on_the_folds_that_a_model_does_not_know():
    fold = np.array([0, 1, 2, 0, 3])
    X, codes, weight = np.zeros((5, 1)), np.array([1, 0, 1, 0, 1]), np.arange(1.0, 6)
    reader = SimpleNamespace(folded=lambda *rows: (*rows, fold))
    models = (_Everything(), None, _Everything())
    found = Accuracy(reader, models, np.array([1, 2])).of(X, codes, weight)
    assert found["tested"] == 1 + 4 + 3
    assert found["correct"].tolist() == [1 + 3] * 2
    assert Accuracy(reader, models, np.array([1])).of(X, codes, 0 * weight) is None


@pytest.mark.parametrize(
    ("fold", "kept"),
    [
        ([0, 1, 0, 3], [True, True, False]),
        ([1] * 4, [False] * 3),
        ([3] * 4, [False] * 3),
    ],
)
def test_strips_are_fitted_without_each_fold_that_has_rows_and_leaves_some(fold, kept):
    moments = WideMoments(None, SimpleNamespace(cuts=None), (4, 9))
    moments.reader.cuts = SimpleNamespace(n_held_out=3)
    moments.rows = {"fold": np.array(fold)}
    moments._moments = lambda train: train.tolist()
    expected = [
        [row != f for row in fold] if has else None for f, has in enumerate(kept)
    ]
    assert list(moments.other_folds()) == expected
