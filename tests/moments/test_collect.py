from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import sparse

from memdlib.moments import collect
from memdlib.moments.collect import class_moments
from tests.moments.reference import direct, exact_variance, raw, sample, variance


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_variance_against_fifty_digits(ratio, kind):
    rng = np.random.default_rng([4, 1])
    X = ratio + rng.standard_normal((400, 2))
    X = X.astype(np.float32) if kind is np.float32 else X
    y = np.arange(400) % 2
    data = X if kind is np.float32 else kind(X)
    m = class_moments(data, y, 2, order=2).mean
    for k in range(2):
        for s in range(2):
            x = [mp.mpf(float(v)) for v in X[y == k, s]]
            centre = mp.fsum(x) / len(x)
            exact = mp.fsum((v - centre) ** 2 for v in x) / len(x)
            found = m[k, s, 1] - m[k, s, 0] ** 2
            assert found == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.csc_array,
        sparse.csr_matrix,
        sparse.csc_matrix,
    ],
)
def test_every_container_gives_the_class_means(make, order):
    X, y = sample()
    X[X < 2] = 0
    weight = np.random.default_rng([4, 2]).uniform(0.5, 2, len(y))
    m = class_moments(make(X), y, 3, order=order, sample_weight=weight)
    np.testing.assert_allclose(raw(m), direct(X, y, weight, 3, order), rtol=1e-10)
    np.testing.assert_allclose(m.prior, np.bincount(y, weight) / weight.sum())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(("n", "d"), [(60, 9), (2500, 1), (4000, 2)])
@pytest.mark.parametrize("weighing", ["none", "tenth", "uneven"])
def test_a_class_that_is_constant_has_no_variance(kind, n, d, weighing):
    # a plain sum of equal terms is off by up to n ulp, always to the same side
    rng = np.random.default_rng([4, n, d])
    X, y = rng.normal(size=(n, d)), np.arange(n) % 8 // 7
    X[y == 0] = rng.uniform(-10, 10, d)
    weight = {"none": None, "tenth": np.full(n, 0.1), "uneven": rng.uniform(1, 2, n)}
    m = class_moments(kind(X), y, 2, order=2, sample_weight=weight[weighing])
    np.testing.assert_array_equal(m.sums[0], 0)
    np.testing.assert_array_equal(m.location[0], X[0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_integer_types_of_codes_and_data(kind):
    rng = np.random.default_rng([4, 5])
    X, y = rng.integers(0, 3, size=(90, 150)), rng.integers(3, size=90)
    expected = direct(X.astype(float), y, np.ones(90), 3, 2)
    for data in (X, X.astype(np.int8), X.astype(np.float32)):
        for codes in (y, y.astype(np.uint8), y.astype(np.uint64), y.tolist()):
            m = class_moments(kind(data), codes, 3, order=2)
            np.testing.assert_allclose(raw(m), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(TypeError, match="Cannot cast"):
        class_moments(kind(X), y.astype(float), 3, order=2)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_an_entry_stored_in_parts_is_their_sum(kind):
    X, y = sample(40, 5)
    X[X < 3] = 0
    whole = sparse.coo_array(X)
    split = sparse.coo_array(
        (np.r_[whole.data - 9, np.full(whole.nnz, 9.0)], np.hstack([whole.coords] * 2)),
        shape=X.shape,
    )
    if kind is sparse.csr_array:  # a conversion would sum
        order = np.argsort(split.coords[0], kind="stable")
        ends = np.cumsum(np.bincount(split.coords[0], minlength=40))
        split = kind((split.data[order], split.coords[1][order], np.r_[0, ends]))
    elif kind is sparse.csc_array:
        order = np.argsort(split.coords[1], kind="stable")
        ends = np.cumsum(np.bincount(split.coords[1], minlength=5))
        split = kind((split.data[order], split.coords[0][order], np.r_[0, ends]))
    m = class_moments(split, y, 3, order=2)
    np.testing.assert_allclose(
        raw(m), direct(X, y, np.ones(40), 3, 2), rtol=0, atol=1e-12
    )
    assert split.nnz == 2 * whole.nnz  # the caller's matrix is left alone


def test_memory_map_and_blocks(tmp_path, monkeypatch):
    X, y = sample()
    whole = class_moments(X, y, 3, order=2)
    path = tmp_path / "X.npy"
    np.save(path, X)
    monkeypatch.setattr(collect, "_STRETCH", 300)
    monkeypatch.setattr(collect, "_BLOCK", 50)
    mapped = class_moments(np.load(path, mmap_mode="r"), y, 3, order=2)
    np.testing.assert_allclose(raw(mapped), raw(whole), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("about_zero", [True, False])
def test_sparse_data_in_parts(monkeypatch, order, about_zero):
    rng = np.random.default_rng([3, 17])
    X = sparse.random_array((150, 7), density=0.4, rng=rng, format="csr")
    X = sparse.csr_array(sparse.vstack([X, sparse.csr_array((3, 7))]))
    y, weight = rng.integers(3, size=153), rng.uniform(0.5, 2, size=153)
    X = sparse.csr_array(sparse.hstack([X, np.full((153, 1), 5.0)]))
    options = {"order": order, "sample_weight": weight, "about_zero": about_zero}
    whole = class_moments(X.toarray(), y, 3, **options)
    monkeypatch.setattr(collect, "_BLOCK", 10)
    parts = class_moments(X, y, 3, **options)
    np.testing.assert_allclose(raw(parts), raw(whole), rtol=1e-10, atol=1e-12)
    assert (parts.location == 0).all() == about_zero


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_every_block_has_its_own_rows_and_weights(monkeypatch, kind):
    monkeypatch.setattr(collect, "_STRETCH", 40)
    monkeypatch.setattr(collect, "_BLOCK", 14)
    X, y = sample()
    weight = np.random.default_rng([4, 3]).uniform(0.5, 2, len(y))
    m = class_moments(kind(X), y, 3, order=2, sample_weight=weight)
    np.testing.assert_allclose(raw(m), direct(X, y, weight, 3, 2), rtol=1e-12)


def test_weight_two_is_the_row_twice():
    X, y = sample(60)
    twice = np.arange(60) % 4 == 0
    a = class_moments(X, y, 3, order=2, sample_weight=1.0 + twice)
    b = class_moments(np.vstack([X, X[twice]]), np.r_[y, y[twice]], 3, order=2)
    np.testing.assert_allclose(raw(a), raw(b), rtol=1e-12)
    np.testing.assert_array_equal(a.weight, b.weight)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-90, 1e-10, 1.0, 1e10, 1e87])
def test_classes_far_apart_keep_their_variances(kind, offset, scale):
    rng = np.random.default_rng([4, 8])
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + np.array([0.0, 4.0, offset])[y, None]
    X[:, 1] = np.round(X[:, 1])  # with zeros that are not stored
    X *= scale
    m = class_moments(kind(X), y, 3, order=2)
    pair = m.one_vs_rest()
    for k in range(3):
        for s in range(2):
            for found, rows in (
                (variance(m)[k], y == k),
                (variance(pair)[k, 0], y == k),
                (variance(pair)[k, 1], y != k),
            ):
                exact = exact_variance(X[rows, s])[1]
                assert found[s] == pytest.approx(float(exact), rel=1e-12)


KINDS = pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, sparse.csc_matrix]
)


@KINDS
def test_powers_beyond_all_numbers_are_refused(kind):
    X, y = sample(10)
    X[3, 5] = 1e200
    with pytest.raises(ValueError, match=r"feature 5 overflow; rescale"):
        class_moments(kind(X), y, 3, order=2)


@pytest.mark.parametrize("block", [1, 3, 7, 10**9])
@pytest.mark.parametrize("n", [1, 5, 6])
def test_sparse_rows_are_added_whatever_the_block(monkeypatch, block, n):
    """Also where the last of the rows is alone in its block."""
    X = np.arange(1.0, 3 * n + 1).reshape(n, 3)
    monkeypatch.setattr(collect, "_BLOCK", block)
    found = class_moments(sparse.csr_array(X), np.zeros(n, int), 1, order=2)
    expected = class_moments(X, np.zeros(n, int), 1, order=2)
    np.testing.assert_allclose(raw(found), raw(expected), rtol=1e-12)


@pytest.mark.parametrize("about_zero", [True, False])
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_sums_are_those_of_fractions(kind, order, about_zero):
    """Unequal classes, one without rows, and whole numbers as weights in a list."""
    rng = np.random.default_rng([4, 13, order])
    X = rng.integers(-8, 9, size=(23, 3)) / 8 * (rng.random((23, 3)) < [0.5, 1, 1])
    y = rng.choice(4, size=23, p=[0.5, 0.0, 0.2, 0.3])
    weight = rng.integers(1, 5, 23).tolist()
    data = kind(X)
    m = class_moments(
        data, y.tolist(), 4, order=order, sample_weight=weight, about_zero=about_zero
    )
    assert m.sums.shape == (4, 3, order)
    assert m.sums.dtype == m.weight.dtype == m.location.dtype == np.float64
    np.testing.assert_array_equal(m.weight, np.bincount(y, weight, 4))
    for k in range(4):
        for s in range(3):
            at = Fraction(m.location[k, s])
            rows = [
                (w, Fraction(float(x)) - at)
                for w, x, c in zip(weight, X[:, s], y, strict=True)
                if c == k
            ]
            for j in range(order):
                exact = sum(w * x ** (j + 1) for w, x in rows)
                assert m.sums[k, s, j] == pytest.approx(float(exact), abs=1e-12)
    if about_zero:
        assert not m.location.any()
    elif not sparse.issparse(data):
        for k in range(4):
            of_class = X[y == k] if k != 1 else X
            assert (of_class == m.location[k]).all(axis=1).any()
    else:
        for k in range(4):
            for s in range(3):
                values = X[y == k, s]
                stored = len(values) and values.all()
                assert m.location[k, s] in (values if stored else [0.0])
