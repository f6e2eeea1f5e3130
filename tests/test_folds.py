import numpy as np
from scipy.sparse import csr_array

from memdlib.folds import content_positions


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
