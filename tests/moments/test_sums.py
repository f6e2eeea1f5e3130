from fractions import Fraction
from functools import reduce

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from memdlib.moments import sums as moments
from memdlib.moments.sums import (
    ClassMoments,
    class_moments,
    leave_one_out,
    translate,
    translate_natural,
)


def sample(n=200, d=7, n_classes=3, seed=0):
    rng = np.random.default_rng([4, seed])
    return rng.normal(3, 2, size=(n, d)), rng.integers(n_classes, size=n)


def direct(X, y, weight, n_classes, order):
    """Raw power means, class by class."""
    return np.array(
        [
            np.stack(
                [
                    np.average(X[y == k] ** j, axis=0, weights=weight[y == k])
                    for j in range(1, order + 1)
                ],
                axis=-1,
            )
            for k in range(n_classes)
        ]
    )


def raw(m: ClassMoments):
    return translate(m.mean, np.ones(1), m.location)


@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_variance_against_fifty_digits(ratio, kind):
    mp.mp.dps = 50
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
    np.testing.assert_allclose(raw(m), direct(X, y, np.ones(40), 3, 2), atol=1e-12)
    assert split.nnz == 2 * whole.nnz  # the caller's matrix is left alone


def test_memory_map_and_blocks(tmp_path, monkeypatch):
    X, y = sample()
    whole = class_moments(X, y, 3, order=2)
    path = tmp_path / "X.npy"
    np.save(path, X)
    monkeypatch.setattr(moments, "_STRETCH", 300)
    monkeypatch.setattr(moments, "_BLOCK", 50)
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
    monkeypatch.setattr(moments, "_BLOCK", 10)
    parts = class_moments(X, y, 3, **options)
    np.testing.assert_allclose(raw(parts), raw(whole), rtol=1e-10, atol=1e-12)
    assert (parts.location == 0).all() == about_zero


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_every_block_has_its_own_rows_and_weights(monkeypatch, kind):
    monkeypatch.setattr(moments, "_STRETCH", 40)
    monkeypatch.setattr(moments, "_BLOCK", 14)
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


@given(st.lists(st.integers(1, 199), min_size=1, max_size=5, unique=True))
def test_batches_add_up_wherever_they_are_cut(cuts):
    X, y = sample()
    batches = np.split(np.arange(200), sorted(cuts))
    parts = [class_moments(X[b], y[b], 3, order=3) for b in batches]
    merged, whole = reduce(ClassMoments.merge, parts), class_moments(X, y, 3, order=3)
    np.testing.assert_allclose(raw(merged), raw(whole), rtol=1e-12)
    backwards = reduce(ClassMoments.merge, parts[::-1])
    np.testing.assert_allclose(raw(backwards), raw(whole), rtol=1e-12)


def exact_variance(x, weight=None):
    """Weighted mean and variance, in fractions."""
    x = [Fraction(float(v)) for v in x]
    w = (
        [Fraction(1)] * len(x)
        if weight is None
        else [Fraction(float(v)) for v in weight]
    )
    mean = sum(a * b for a, b in zip(w, x, strict=True)) / sum(w)
    square = sum(a * (b - mean) ** 2 for a, b in zip(w, x, strict=True)) / sum(w)
    return mean, square


def variance(m: ClassMoments):
    return m.mean[..., 1] - m.mean[..., 0] ** 2


@given(st.permutations(range(4)), st.integers(0, 99), st.sampled_from([1e8, 1e12]))
def test_parts_merged_in_any_order_keep_their_digits(order, seed, offset):
    rng = np.random.default_rng([4, 7, seed])
    y = rng.permutation(np.arange(60) % 3)
    X = rng.normal(size=(60, 2)) + np.array([0.0, 4.0, offset])[y, None]
    X[:, 1] *= -1e-3
    weight = rng.uniform(0.5, 2, 60)
    parts = [
        class_moments(X[i::4], y[i::4], 3, order=2, sample_weight=weight[i::4])
        for i in order
    ]
    chain = reduce(ClassMoments.merge, parts)
    tree = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    rest = leave_one_out(parts)
    for k in range(3):
        for s in range(2):
            mean, exact = exact_variance(X[y == k, s], weight[y == k])
            for m in (chain, tree, rest[1].merge(parts[1])):
                shift = float(mean - Fraction(float(m.location[k, s])))
                assert m.mean[k, s, 0] == pytest.approx(shift, rel=1e-12, abs=1e-13)
                assert variance(m)[k, s] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("offset", [1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-140, 1e-10, 1.0, 1e10, 1e120])
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


def test_a_class_that_comes_late_has_its_own_location():
    X, y = sample(60, 2)
    X[y == 2] += 1e12
    late, early = (class_moments(X[r], y[r], 3, order=2) for r in (y == 2, y != 2))
    for m in (early.merge(late), late.merge(early)):
        for k in range(3):
            for s in range(2):
                exact = exact_variance(X[y == k, s])[1]
                assert variance(m)[k, s] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("n_parts", [2, 3, 5])
def test_parts_but_one(n_parts):
    X, y = sample()
    part = np.random.default_rng([4, 9]).integers(n_parts, size=200)
    part[y == 2] = 1  # a class that lies in one part
    parts = class_moments(X, part * 3 + y, n_parts * 3, order=2).split(n_parts)
    for p, m in enumerate(leave_one_out(parts)):
        rows = part != p
        np.testing.assert_array_equal(m.weight, np.bincount(y[rows], minlength=3))
        seen = m.weight > 0
        expected = class_moments(X[rows], y[rows], 3, order=2)
        np.testing.assert_allclose(raw(m)[seen], raw(expected)[seen], rtol=1e-12)
        assert np.isfinite(raw(m)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_one_vs_rest_is_the_union_of_the_others(n_classes):
    X, y = sample(n_classes=n_classes)
    pair = class_moments(X, y, n_classes, order=2).one_vs_rest()
    assert pair.sums.shape == (n_classes, 2, 7, 2)
    for k in range(n_classes):
        for side, rows in enumerate((y == k, y != k)):
            expected = np.stack([X[rows].mean(0), (X[rows] ** 2).mean(0)], axis=-1)
            found = translate(pair.mean[k, side], np.ones(1), pair.location[k, side])
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            assert pair.weight[k, side] == rows.sum()


def test_complement_does_not_cancel():
    # the class of large values would leave its rounding error behind if subtracted
    X = np.r_[np.full(50, 1e8), 1.0 + np.arange(50) % 2][:, None]
    y = np.repeat([0, 1], 50)
    pair = class_moments(X, y, 2, order=2).one_vs_rest()
    assert variance(pair)[0, 1, 0] == pytest.approx(0.25, rel=1e-15)


def test_an_empty_class_says_what_all_say():
    X, y = sample(n_classes=2)
    for m in (
        class_moments(X, y, 3, order=2),
        class_moments(X[y == 0], y[y == 0], 3, order=2).merge(
            class_moments(X[y == 1], y[y == 1], 3, order=2)
        ),
    ):
        assert m.prior[2] == 0
        np.testing.assert_allclose(raw(m)[2, :, 0], X.mean(axis=0))
        np.testing.assert_allclose(raw(m)[2, :, 1], (X**2).mean(axis=0))
        np.testing.assert_array_equal(m.sums[2], 0)
        rest = m.one_vs_rest()
        np.testing.assert_array_equal(rest.weight[:, 1], [*m.weight[1::-1], 200])
        found = translate(rest.mean[2, 0], np.ones(1), rest.location[2, 0])
        np.testing.assert_allclose(found[:, 0], X.mean(axis=0))


def test_translate_expands_the_binomial():
    x = np.array([[0.5], [2.0], [4.0]])
    powers = [np.mean((x - 1) ** j) for j in (1, 2, 3, 4)]
    moved = translate(np.array([powers]), np.ones(1), np.array([1 - 3.0]))
    expected = [np.mean((x - 3) ** j) for j in (1, 2, 3, 4)]
    np.testing.assert_allclose(moved[0], expected, rtol=1e-13)


KINDS = pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, sparse.csc_matrix]
)


@KINDS
def test_powers_beyond_all_numbers_are_refused(kind):
    X, y = sample(10)
    X[3, 5] = 1e200
    with pytest.raises(ValueError, match=r"feature 5 overflow; rescale"):
        class_moments(kind(X), y, 3, order=2)
    far = [class_moments(kind(X[:, :1] + c), y, 3, order=2) for c in (0.0, 1e200)]
    with pytest.raises(ValueError, match=r"feature 0 overflow; rescale"):
        far[0].merge(far[1])


@KINDS
@pytest.mark.parametrize("scale", [1e-160, 1e-200, 1e-300])
@pytest.mark.parametrize("values", [[3, 4, 7, 8], [1, 3, 2, 2], [-1, 1, 0, 0]])
def test_squares_below_all_numbers_are_refused(kind, scale, values):
    X = np.column_stack([np.arange(8) % 3, np.tile(values, 2) * scale])
    y = np.repeat([0, 1], 4)
    with pytest.raises(ValueError, match=r"feature 1 underflow; rescale it \(for"):
        class_moments(kind(X), y, 2, order=2)
    X[:4, 1], X[4:, 1] = 0, scale  # constant in each class
    m = class_moments(kind(X), y, 2, order=2)
    np.testing.assert_array_equal(m.sums[:, 1], 0)
    X[:4, 1] = 7 * np.arange(4)
    class_moments(kind(X), y, 2, order=2)


def test_moments_of_other_shapes_do_not_add():
    with pytest.raises(ValueError, match=r"\(3, 2, 1\) cannot be added .*\(3, 7, 2\)"):
        class_moments(*sample(), 3, order=2).merge(
            class_moments(*sample(d=2), 3, order=1)
        )


def test_translate_natural_expands_any_power():
    lam = np.array([[0.5, -2.0, 3.0]])
    raw = translate_natural(lam, np.array([1.5]))[0]
    x = np.linspace(-2, 2, 5)
    about = sum(lam[0, j] * ((x - 1.5) ** (j + 1)) for j in range(3))
    ours = sum(raw[j] * x ** (j + 1) for j in range(3))
    np.testing.assert_allclose(ours - ours[2], about - about[2], atol=1e-12)
