import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix

from memdlib.moments import folds
from memdlib.moments.folds import content_positions


def positions(X, codes, weight=None, seed=0):
    weight = np.ones(len(codes)) if weight is None else weight
    rng = np.random.RandomState(seed)
    return content_positions(X, codes, weight, rng)


def rows(n=300, seed=0):
    rng = np.random.default_rng([6, seed])
    return rng.normal(size=(n, 3)), rng.integers(3, size=n)


def test_positions_cut_every_class_evenly():
    X, y = rows()
    fold = (positions(X, y) * 5).astype(int)
    for k in range(3):
        sizes = np.bincount(fold[y == k], minlength=5)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_a_cut_takes_that_share_of_every_class_weight(share):
    X, y = rows()
    weight = np.random.default_rng([6, 3]).integers(1, 5, 300).astype(float)
    taken = positions(X, y, weight) < share
    for k in range(3):
        asked = share * weight[y == k].sum()
        assert abs(weight[taken & (y == k)].sum() - asked) <= weight.max()


def test_positions_lie_inside_and_are_spread_within_the_class():
    X, y = rows()
    at = positions(X, y)
    for k in range(3):
        n = np.sum(y == k)
        expected = (np.arange(n) + 0.5) / n
        np.testing.assert_allclose(np.sort(at[y == k]), expected, rtol=1e-12)
    np.testing.assert_array_equal(at, positions(X, y))


KINDS = (np.asarray, np.asfortranarray, csr_array, csr_matrix, csc_array)


def test_number_types_and_formats_do_not_matter():
    X = np.random.default_rng([6, 4]).poisson(0.8, size=(60, 5))
    y = np.arange(60) % 2
    expected = positions(X, y)
    for kind in KINDS:
        for dtype in (int, np.float64, np.float32):
            found = positions(kind(X.astype(dtype)), y)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_values_rounded_to_single_precision_get_the_same_folds(scale):
    X, y = rows()
    X[np.abs(X) < 0.5] = 0
    X *= scale
    expected = positions(X, y)
    for kind in KINDS:
        for data in (X, X.astype(np.float32), X.astype(np.float32).astype(float)):
            np.testing.assert_array_equal(positions(kind(data), y), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values", [1e9 + np.arange(-3.0, 4), 1e300 * np.arange(1, 8), np.arange(7) * 1e-60]
)
def test_rows_that_agree_in_single_precision_are_told_apart(kind, values):
    X = np.column_stack([np.tile(values, 5), np.ones(35)])
    at = positions(kind(X), np.zeros(35, dtype=int))
    assert len(set(at)) == 7
    for value in values:
        assert len(set(at[X[:, 0] == value])) == 1
    # and stand side by side where the rest is the same
    Y = np.vstack([X[:7], np.random.default_rng([6, 5]).normal(size=(30, 2))])
    at = positions(kind(Y), np.zeros(37, dtype=int))
    assert np.ptp(at[:7]) == pytest.approx(6 / 37)


def test_blocks_do_not_matter(monkeypatch):
    X, y = rows()
    whole = positions(X, y)
    monkeypatch.setattr(folds, "_BLOCK", 7)
    np.testing.assert_array_equal(positions(X, y), whole)


def test_every_value_and_its_column_count():
    rng = np.random.default_rng([6, 8])
    counts = rng.integers(0, 2, size=(2000, 24)).astype(float)
    counts = np.unique(counts, axis=0)
    y = np.zeros(len(counts), dtype=int)
    assert len(set(positions(counts, y))) == len(counts)
    swapped = positions(counts[:, ::-1], y)
    assert np.abs(swapped - positions(counts, y)).max() > 0.5
    # halves drawn by the hash are as good as random: no column stands out
    half = positions(counts, y) < 0.5
    z = (counts[half].mean(0) - counts[~half].mean(0)) * np.sqrt(len(counts))
    assert np.abs(z).max() < 4.5


def test_order_does_not_matter_and_seeds_do():
    X, y = rows()
    shuffled = np.random.default_rng([6, 1]).permutation(300)
    np.testing.assert_array_equal(
        positions(X, y)[shuffled], positions(X[shuffled], y[shuffled])
    )
    assert np.abs(positions(X, y) - positions(X, y, seed=1)).max() > 0.5


def test_copies_stay_together_and_weights_are_copies():
    X, y = rows(80)
    weight = np.random.default_rng([6, 2]).integers(1, 4, 80)
    repeated = positions(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        repeated, np.repeat(positions(X, y, weight.astype(float)), weight), rtol=1e-12
    )


def test_zeros_count_for_nothing_stored_or_not():
    X, y = rows(50)
    X[np.abs(X) < 0.7] = 0
    tidy = csr_array(X)
    untidy = csr_array(
        (
            np.r_[tidy.data, 0.0],
            np.r_[tidy.indices, 0],
            np.r_[tidy.indptr[:-1], tidy.nnz + 1],
        ),
        shape=X.shape,
    )
    np.testing.assert_array_equal(positions(tidy, y), positions(untidy, y))
    assert untidy.nnz == tidy.nnz + 1
    negative_zero = np.where(X == 0, -0.0, X)
    for kind in (np.asarray, csr_array):
        found = positions(kind(negative_zero), y)
        np.testing.assert_array_equal(found, positions(tidy, y))
    split = csr_array(
        (np.repeat(tidy.data / 2, 2), np.repeat(tidy.indices, 2), 2 * tidy.indptr),
        shape=X.shape,
    )
    np.testing.assert_array_equal(positions(split, y), positions(X, y))
    assert split.nnz == 2 * tidy.nnz
