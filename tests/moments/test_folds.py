import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix

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


def test_number_types_and_sparse_formats_do_not_matter():
    X = np.random.default_rng([6, 4]).poisson(0.8, size=(60, 5))
    y = np.arange(60) % 2
    for kinds in (
        [X, X.astype(float), X.astype(np.float32), np.asfortranarray(X)],
        [kind(X) for kind in (csr_array, csr_matrix, csc_array)],
    ):
        for data in kinds[1:]:
            np.testing.assert_array_equal(positions(kinds[0], y), positions(data, y))


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


def test_the_bytes_of_a_sparse_row_are_those_of_its_values():
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
    np.testing.assert_array_equal(positions(X, y), positions(negative_zero, y))
